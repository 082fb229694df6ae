"""Builders for tests of the trace store: rows as the writer stores them, and what a store holds."""

from typing import Any
from uuid import UUID, uuid4

from telha_runtime.frame import Frame
from telha_trace_writer.record import Row, row_of
from telha_trace_writer.store import Filters, Store
from trace_path import a_record

T = 1_790_000_000_000_000
"""Some instant, µs."""


def a_row(number: int = 0, tenant: str = "acme", trace_id: str | None = None, **changes: Any) -> Row:
    """A row recorded *number* µs after `T`."""
    trace_id = trace_id or str(uuid4())
    record = a_record(trace_id, tenant, **{"recorded_us": T + number} | changes)
    return row_of(Frame("s", 1, trace_id, tenant, record))


def a_uuid7(recorded_us: int) -> str:
    """An id that says when it was made."""
    random = uuid4().int & ((1 << 80) - 1)
    number = (recorded_us // 1000) << 80 | random
    return str(UUID(int=number & ~(0xF << 76) | 7 << 76))


def ids(store: Store, tenant: str = "acme", **filters: Any) -> list[str]:
    """Ids of *tenant*, newest first."""
    return [row.trace_id for row in store.browse(tenant, Filters(**filters), None, 10_000)]
