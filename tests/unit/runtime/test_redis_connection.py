"""Connections to Redis, against a real Valkey."""

import asyncio
from pathlib import Path

import pytest
from fixtures.valkey import ValkeyServer
from telha_runtime import redis
from telha_runtime.backoff import LONGEST_S, Backoff


@pytest.mark.parametrize("url", ["http://secret@host", "host:6379", "redis://host:port", ""])
def test_a_wrong_url_is_refused_without_being_shown(url: str) -> None:
    """X2: a wrong url is refused without being shown."""
    with pytest.raises(redis.UrlInvalid) as refused:
        redis.connect(url)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is not None


def test_a_command_while_redis_is_away_fails_at_once(tmp_path: Path) -> None:
    """X3: no hidden retries; whoever sends decides when to send again."""

    async def test() -> None:
        client = redis.connect(f"unix://{tmp_path / 'nobody'}")
        started = asyncio.get_running_loop().time()
        with pytest.raises(redis.AWAY):
            await client.ping()
        assert asyncio.get_running_loop().time() - started < 1
        await client.aclose()

    asyncio.run(test())


def test_a_redis_that_may_lose_the_stream_is_warned_about(own_valkey: ValkeyServer) -> None:
    """X2: eviction and a missing append-only file are said at the start."""

    async def test() -> None:
        client = redis.connect(own_valkey.url)
        assert await redis.durability_warnings(client) == []
        await client.config_set("maxmemory-policy", "allkeys-lru")
        await client.config_set("appendonly", "no")
        warnings = await redis.durability_warnings(client)
        assert [warning.split()[0] for warning in warnings] == ["maxmemory-policy", "the"]
        await client.aclose()

    asyncio.run(test())


def test_pauses_double_up_to_a_bound_and_end_with_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """X2: pauses double up to a bound and end with the service."""
    paused: list[float] = []

    async def record(seconds: float, _: asyncio.Event) -> None:
        paused.append(seconds)

    async def test() -> None:
        stop = asyncio.Event()
        backoff = Backoff(stop)
        assert not backoff.failing
        with monkeypatch.context() as patched:
            patched.setattr("telha_runtime.backoff.sleep", record)
            for _ in range(9):
                await backoff.pause()
        assert paused[:3] == [0.05, 0.1, 0.2]
        assert paused[-1] == LONGEST_S
        assert backoff.failing
        stop.set()
        async with asyncio.timeout(1):
            await backoff.pause()
        backoff.reset()
        assert not backoff.failing

    asyncio.run(test())
