"""
Faults of the machine: slow disks, full disks, a clock that steps.

A full disk is shown in two ways: by the kernel, which refuses every write of a process (RLIMIT_FSIZE, EFBIG), and
by the preloaded shim, which answers as a full device does (ENOSPC).
"""

import resource
from collections.abc import Callable

from fault.field import ENDED, UNSTORED, Field, NotHere, back
from fault.part import Part
from fault.system import STREAM

_HOUR_S = 3600


def slow_disk(field: Field) -> None:
    """Every sync of planners and writers takes 150 ms more, for 8 s: spools, SQLite files (shim)."""
    _told(field, 8, [], sync_delay_us=150_000)


def clock_back(field: Field) -> None:
    """The wall clock of planners and writers steps an hour back, a planner starts then, and forward again (shim)."""

    def restarts(field: Field, seconds: float) -> None:
        planner = field.dice.choice(field.system.planners)
        field.pause(seconds)
        planner.kill()
        back([planner])
        field.pause(seconds / 2)

    _told(field, 4, [], restarts, clock_offset_s=-_HOUR_S)


def disk_full_planner(field: Field) -> None:
    """Every write of a planner and its ingest children fails with ENOSPC for 5 s: spool, memory (shim)."""
    _told(field, 5, [field.dice.choice(field.system.planners)], disk_full=1)


def disk_full_writer(field: Field) -> None:
    """Every write of both trace writers fails with ENOSPC for 5 s: the trace store (shim)."""
    _told(field, 5, field.system.writers, _stores_nothing, disk_full=1)


def file_limit_planner(field: Field) -> None:
    """Every write of a planner and its ingest children fails with EFBIG for 5 s: spool, memory (kernel)."""
    planner = field.dice.choice(field.system.planners)
    _limited(field, [planner], [planner.pid, *(child.pid for child in planner.children())])


def file_limit_writer(field: Field) -> None:
    """Every write of both trace writers fails with EFBIG for 5 s: the trace store (kernel)."""
    writers = field.system.writers
    _limited(field, writers, [writer.pid for writer in writers], _stores_nothing)


def file_limit_valkey(field: Field) -> None:
    """Every write of Valkey fails with EFBIG: it ends, as it must, and is started again after 5 s (kernel)."""
    valkey = field.system.parts["valkey"]

    def ends(field: Field, seconds: float) -> None:
        field.pause(seconds)
        field.met[ENDED] += not valkey.runs

    _limited(field, [valkey], [valkey.pid], ends)


Lasting = Callable[[Field, float], None]


def _stores_nothing(field: Field, seconds: float) -> None:
    """Last, and see that no trace is stored meanwhile."""
    if field.system.stores.name != "SQLite":  # its files are the server's, not the writers'
        field.pause(seconds)
        return
    field.pause(seconds / 4)  # what was being committed
    before, made = _counts(field)
    field.pause(seconds * 3 / 4)
    after, made_since = _counts(field)
    field.met[UNSTORED] += made_since - made
    if after != before:
        field.wrong.append(f"{after - before} traces were stored on a full disk")


def _counts(field: Field) -> tuple[int, int]:
    stored = field.system.stores.rows("traces", "SELECT count(*) FROM trace")[0][0]
    with field.system.redis() as client:
        return stored, client.xlen(STREAM)


def _told(field: Field, seconds: float, parts: list[Part], last: Lasting = Field.pause, **values: int) -> None:
    """Tell the shim of *parts*, or of all that have one, *values* while the fault lasts."""
    if field.system.without_shim:
        raise NotHere(field.system.without_shim)
    controls = [field.system.controls[part.name] for part in parts] or list(field.system.controls.values())
    for control in controls:
        control.set(**values)
    try:
        last(field, seconds)
    finally:
        for control in controls:
            control.set(**dict.fromkeys(values, 0))
    back(parts)


def _limited(field: Field, parts: list[Part], pids: list[int], last: Lasting = Field.pause) -> None:
    """Have the kernel refuse every write of *pids* to a file while the fault lasts."""
    if not hasattr(resource, "prlimit"):
        raise NotHere("this system cannot limit a process that runs")
    for pid in pids:
        _limit(pid, 0)
    try:
        last(field, 5)
    finally:
        for pid in pids:
            _limit(pid, resource.RLIM_INFINITY)
    back(parts)


def _limit(pid: int, size: int) -> None:
    try:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    except ProcessLookupError:
        return  # it has ended of it
