"""Dead letters in the store: looked at, read again, removed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgpack
import sqlalchemy as sa
from telha_runtime import frame
from telha_runtime.frame import FrameMalformed, FrameUnknown

from .record import RecordMalformed, row_of
from .store import Buried, Store, this_letter
from .tables import trace_dead_letter

_letter = trace_dead_letter.c
_KNOWN = (_letter.entry_id, _letter.tenant, _letter.trace_id, _letter.recorded_us, _letter.buried_us, _letter.reason)


@dataclass(frozen=True, slots=True)
class Summary:
    """A dead letter without its content: *size* is that of its fields, packed."""

    entry_id: str
    tenant: str
    trace_id: str | None
    recorded_us: int
    buried_us: int
    reason: str
    size: int


def listed(store: Store) -> list[Summary]:
    """
    Every dead letter, oldest first.

    Raises:
        StoreFailed: They cannot be read now.
    """
    statement = sa.select(*_KNOWN, sa.func.length(_letter.fields))
    with store.transaction() as connection:
        found = [Summary(row[0], row[1], _uuid(row[2]), *row[3:]) for row in connection.execute(statement)]
    return sorted(found, key=lambda letter: _order(letter.entry_id))


def with_content(store: Store, entry_ids: Iterable[str] | None = None) -> Iterator[Buried]:
    """
    The dead letters *entry_ids*, None all, one at a time, oldest first.

    Raises:
        StoreFailed: They cannot be read now.
    """
    wanted = None if entry_ids is None else set(entry_ids)
    for summary in listed(store):
        if wanted is None or summary.entry_id in wanted:
            this = (_letter.tenant == summary.tenant, _letter.entry_id == summary.entry_id)
            with store.transaction() as connection:
                row = connection.execute(sa.select(*_KNOWN, _letter.fields).where(*this)).first()
            if row is not None:
                yield Buried(row[0], row[1], _uuid(row[2]), *row[3:])


def count(store: Store) -> int:
    """
    How many there are.

    Raises:
        StoreFailed: It cannot be told now.
    """
    with store.transaction() as connection:
        return int(connection.execute(sa.select(sa.func.count()).select_from(trace_dead_letter)).scalar_one())


def redrive(store: Store, letter: Buried) -> str | None:
    """
    Read *letter* again, as this version of the program reads; if it is a trace now, store it and remove the letter.

    Returns:
        None if it was stored; else why it still cannot be.

    Raises:
        StoreFailed: The letter is as it was.
    """
    try:
        row = row_of(frame.decode(msgpack.unpackb(letter.fields)))
    except (FrameMalformed, FrameUnknown, RecordMalformed) as fault:
        return str(fault)
    store.revive(letter, row)
    return None


def drop(store: Store, letter: Buried) -> None:
    """
    Remove *letter* for good.

    Raises:
        StoreFailed: It is as it was.
    """
    with store.transaction(writes=True) as connection:
        connection.execute(sa.delete(trace_dead_letter).where(this_letter(letter)))


def _uuid(found: Any) -> str | None:  # noqa: ANN401  # bytes on both engines
    return None if found is None else str(UUID(bytes=found))


def _order(entry_id: str) -> tuple[int, ...]:
    return tuple(map(int, entry_id.split("-")))
