"""
Idempotency keys: the outcome of a write is stored with the write, so that the same call is answered, not repeated.

Rule 1: the row is written in the write's own transaction, under the tenant's lock. So of two calls with one key one
writes and the other reads, and a process killed after the commit leaves the answer behind.
Rule 2: a call that fails stores nothing; it may be mended and sent again under its key.
Rule 3: a row tells ids, counts and instants, never a text. Key and request are hashed together with the caller's own
key, which is not stored, so that a row does not even confirm a guess at what was sent.
Rule 4: a row is good for `keep_us`; later writes with keys remove what is older, at most `MOST_PRUNED` rows each.
"""

from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec
import sqlalchemy as sa
from blake3 import blake3

from telha_planner.core.errors import IdempotencyKeyReused

from .records import Committed, ErasureReceipt, IdempotencyKey
from .tables import idempotency

MOST_PRUNED = 100
"""Old rows that one write removes; a write adds one, so the table shrinks to what is still good."""

DEFAULT_KEEP_US = 24 * 3_600_000_000

Outcome = TypeVar("Outcome", Committed, ErasureReceipt)


def key_of(given: str, spaces: tuple[str, ...] | None, method: str, request: bytes) -> IdempotencyKey:
    """
    What is stored for the caller's key *given*.

    Args:
        spaces: Those that the caller's API key is limited to. They are part of the key: callers who see different
            spaces cannot meet under one key, while a renewed API key of the same scope still can.
        method: The method called.
        request: All that it was given, in one spelling.
    """
    scope = [given, "*"] if spaces is None else [given, "", *spaces]
    secret = blake3(b"idempotency 1\0" + given.encode()).digest()
    request_hash = blake3(method.encode() + b"\0" + request, key=secret).digest()
    return IdempotencyKey(blake3("\0".join(scope).encode()).hexdigest(), request_hash)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """
    The stored outcomes of one tenant, inside one transaction.

    Attributes:
        now: The wall clock, µs since 1970 UTC.
        keep_us: How long a row is good.
    """

    connection: sa.Connection
    tenant: int
    now: int
    keep_us: int

    def stored(self, key: IdempotencyKey, outcome_type: type[Outcome]) -> Outcome | None:
        """
        The outcome that is kept under *key*, None if there is none.

        Raises:
            IdempotencyKeyReused: It is that of another request.
        """
        columns = idempotency.c
        row = self.connection.execute(
            sa.select(columns.request_hash, columns.outcome).where(
                columns.tenant == self.tenant, columns.key == key.key, columns.created_us > self.now - self.keep_us
            )
        ).one_or_none()
        if row is None:
            return None
        if row.request_hash != key.request_hash:
            raise IdempotencyKeyReused
        return replace(msgspec.json.decode(row.outcome, type=outcome_type), replayed=True)

    def store(self, key: IdempotencyKey, outcome: Committed | ErasureReceipt) -> None:
        """Keep *outcome* under *key*, and remove some of what is too old."""
        columns = idempotency.c
        expired = (
            sa.select(columns.key)
            .where(columns.tenant == self.tenant, columns.created_us <= self.now - self.keep_us)
            .order_by(columns.created_us)
            .limit(MOST_PRUNED)
        )
        gone = {key.key, *self.connection.execute(expired).scalars()}
        self.connection.execute(sa.delete(idempotency).where(columns.tenant == self.tenant, columns.key.in_(gone)))
        self.connection.execute(
            sa.insert(idempotency).values(
                tenant=self.tenant,
                key=key.key,
                request_hash=key.request_hash,
                outcome=msgspec.json.encode(outcome),
                created_us=self.now,
            )
        )
