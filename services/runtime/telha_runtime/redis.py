"""
Connections to Redis or Valkey, and what to warn about before trusting one with records.

Rule 1: no hidden retries. Whoever sends decides when to send again, because a repeated XADD is a second entry.
Rule 2: replies are bytes; ids and fields of a stream are not text.
"""

from typing import Final, cast

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

__all__ = ["AWAY", "UrlInvalid", "connect", "durability_warnings"]

AWAY: Final = (RedisError, OSError, TimeoutError)
"""What a command raises while Redis is away, refuses or is too slow."""

_CONNECT_S: Final = 2.0


class UrlInvalid(Exception):
    """The URL names no Redis; the message does not repeat it, since it may hold a password."""


def connect(url: str, *, reply_within_s: float = 5.0) -> Redis:
    """
    A client for *url*; the connection is made at the first command.

    Args:
        url: `redis://host:port/db`, `rediss://…` (TLS) or `unix:///path?db=0`.
        reply_within_s: Longest wait for one reply. A blocking read needs more than it blocks.

    Raises:
        UrlInvalid: Another scheme, or a malformed URL.
    """
    try:
        return Redis.from_url(
            url,
            protocol=2,
            socket_timeout=reply_within_s,
            socket_connect_timeout=_CONNECT_S,
            retry=Retry(NoBackoff(), 0),
            decode_responses=False,
        )
    except ValueError as fault:
        raise UrlInvalid("the Redis URL must begin with redis://, rediss:// or unix:// and be well formed") from fault


async def durability_warnings(client: Redis) -> list[str]:
    """
    Why records in this Redis may be lost before they are persisted, one sentence each; empty if nothing is wrong.

    Raises:
        RedisError, OSError: Redis is away.
    """
    # INFO, not CONFIG GET: managed services forbid the latter.
    memory = cast("dict[str, object]", await client.info("memory"))
    persistence = cast("dict[str, object]", await client.info("persistence"))
    warnings = []
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        warnings.append(f"maxmemory-policy is {policy}: Redis may evict the stream; set noeviction")
    if not persistence.get("aof_enabled"):
        warnings.append("the append-only file is off: a restart of Redis empties the stream; set appendonly yes")
    return warnings
