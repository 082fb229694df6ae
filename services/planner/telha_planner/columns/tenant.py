"""
Which tenants have columns in memory, and how they keep up with the store.

Rule 1: a request's columns hold at least the commit that its key check saw: read-your-writes on every replica.
Rule 2: an erasure drops everything that was read before it. Rule 3: the least recently used tenants leave when the
memory ceiling is passed; the one being asked never does, nor one that is being read in slices: else a busy neighbour
could send it back to its first slice for ever.
Rule 4: a lock per tenant; loading one tenant does not hold up another thread's tenant.
Rule 5: whoever shares a thread with other tenants gives `most_rows`. What is more than that is not read by `at`, which
raises `Behind`, but slice by slice in `advance`, with other work in between.
"""

import gc
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from telha_planner.core.request import OPEN_END
from telha_planner.memory import projection
from telha_planner.memory.properties import read_properties
from telha_planner.memory.store import Store

from .projected import TenantColumns
from .snapshot import Snapshot, Views

_MOST_ROWS = 1 << 16
_MEASURE_EVERY = 64
"""Requests of a tenant between two measurements of its memory; views grow without the store changing."""


class Behind(Exception):
    """
    A tenant's columns lack more than may be read in one go: call `Columns.advance` until it is done, then ask again.

    Attributes:
        tenant: The tenant.
    """

    def __init__(self, tenant: int) -> None:
        super().__init__(tenant)
        self.tenant = tenant


@dataclass(frozen=True, slots=True)
class _Advance:
    """Columns on their way to a newer mark: new ones if *slices* are whole, else the tenant's own."""

    slices: projection.Slices
    columns: TenantColumns


class _Tenant:
    def __init__(self, number: int) -> None:
        self.number = number
        self.requests = 0
        self.lock = threading.Lock()
        self.is_advancing = False
        self.columns: TenantColumns | None = None
        self.advance: _Advance | None = None
        self.views = Views()
        self.nbytes = 0


class Columns:
    """
    The columns of the tenants in use.

    Args:
        store: The system of record.
        memory_limit_bytes: Ceiling over all tenants; one tenant alone may exceed it.
        most_rows: Most rows that one call reads; None sets no limit.
    """

    def __init__(self, store: Store, memory_limit_bytes: int, most_rows: int | None = None) -> None:
        self._store = store
        self._limit = memory_limit_bytes
        self._most_rows = most_rows
        self._lock = threading.Lock()
        self._tenants: OrderedDict[int, _Tenant] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Bytes held, as last measured per tenant."""
        with self._lock:
            return sum(tenant.nbytes for tenant in self._tenants.values())

    @property
    def tenants(self) -> tuple[int, ...]:
        """Tenants in memory, the least recently used first."""
        with self._lock:
            return tuple(self._tenants)

    def at(self, tenant: int, last_tx: int) -> Snapshot:
        """
        *tenant* as of its commit *last_tx*; loads or tails the columns as needed.

        Raises:
            TenantDeleted: It was deleted meanwhile; nothing of it is held any more.
            Unavailable: The store cannot be read at this moment.
            Behind: They lack more than `most_rows`.
        """
        held = self._held(tenant)
        with held.lock:
            columns = held.columns
            if columns is None or columns.mark.last_tx < last_tx:
                columns = self._advanced(held)
            elif held.requests % _MEASURE_EVERY == 0:
                self._make_room(held, columns)
            held.requests += 1
            return Snapshot(columns, held.views, last_tx, partial(read_properties, self._store, tenant))

    def advance(self, tenant: int) -> bool:
        """
        Read the next slice of what the columns of *tenant* lack.

        Returns:
            Whether they hold by now all that was in the store when the first slice was read. True for a tenant that
            was deleted meanwhile, of which nothing is held any more.

        Raises:
            Unavailable: The store cannot be read at this moment; the next call tries again.
        """
        try:
            return self._next_slice(self._held(tenant))
        except projection.TenantDeleted:
            self.drop(tenant)
            return True

    def drop(self, tenant: int) -> None:
        """Forget *tenant*; the next request loads it again."""
        with self._lock:
            self._tenants.pop(tenant, None)

    def drop_erased(self, erasures: Mapping[int, int]) -> None:
        """Forget tenants that are not in *erasures*, or whose newest one there is newer than what is held of them."""
        with self._lock:
            held = list(self._tenants.items())
        for number, tenant in held:
            seen = 0 if tenant.columns is None else tenant.columns.mark.erased_tx
            if erasures.get(number, OPEN_END) > seen:
                self.drop(number)

    def _next_slice(self, held: _Tenant) -> bool:
        with held.lock, _collector_paused():
            held.is_advancing = True
            try:
                is_last = self._read_slice(held)
            except BaseException:
                held.is_advancing = False  # nobody may come back for the rest
                raise
            held.is_advancing = not is_last
            return is_last

    def _read_slice(self, held: _Tenant) -> bool:
        if held.advance is None:
            since = None if held.columns is None else held.columns.mark
            slices = projection.Slices(self._store, held.number, since, self._most_rows or _MOST_ROWS)
            own = None if slices.whole else held.columns
            held.advance = _Advance(slices, own or TenantColumns())
        try:
            part, is_last = held.advance.slices.next()
        except projection.Erased:
            held.advance = held.columns = None  # the tenant's own columns may hold a part of what is gone
            return False
        columns = held.advance.columns
        columns.apply(part)
        if is_last:
            self._hold(held, columns)
        else:
            self._make_room(held, columns)
        return is_last

    def _held(self, tenant: int) -> _Tenant:
        with self._lock:
            held = self._tenants.setdefault(tenant, _Tenant(tenant))
            self._tenants.move_to_end(tenant)
        return held

    def _advanced(self, held: _Tenant) -> TenantColumns:
        if held.advance is not None:
            raise Behind(held.number)
        columns = held.columns
        with _collector_paused():
            since = None if columns is None else columns.mark
            try:
                changes = projection.changes(self._store, held.number, since, self._most_rows)
            except projection.TenantDeleted:
                self.drop(held.number)
                raise
            if changes is None:
                raise Behind(held.number)
            if columns is None or changes.whole:
                columns = TenantColumns()
            columns.apply(changes)
        self._hold(held, columns)
        return columns

    def _hold(self, held: _Tenant, columns: TenantColumns) -> None:
        if held.columns is not columns:
            held.columns, held.views = columns, Views()
        held.advance = None
        self._make_room(held, columns)

    def _make_room(self, asked: _Tenant, columns: TenantColumns) -> None:
        asked.nbytes = columns.nbytes + asked.views.nbytes
        with self._lock:
            total = sum(tenant.nbytes for tenant in self._tenants.values())
            for number, tenant in list(self._tenants.items()):
                if total <= self._limit:
                    return
                if tenant is not asked and not tenant.is_advancing:
                    total -= tenant.nbytes
                    del self._tenants[number]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A load makes a million tuples that live until its end; searching them for cycles costs a third of its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
