"""
What is erased leaves something outside of the store, and here it goes: columns, texts and spool files here, traces.

    DeleteTenant ──► store (ingest child) ──► this process drops what it holds ──► the trace writer deletes its traces
                                                            ▲                                    ▲
                     deletions of other processes ──────────┴──── a round every few seconds ─────┘

Rule 1: a deletion whose traces are still there stays unfinished in the store, and every planner asks the trace writer
again until it has answered; the writer deletes once, however often it is asked. Nothing is left in silence.
Rule 2: what other processes erase (a replica, the command on the store) is dropped here within a round, whether
anybody asks about that tenant or not.
Rule 3: traces are deleted up to a minute after the deletion: calls that had begun before may still record.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable

import structlog

from telha_planner.core.errors import Overloaded, TelhaError
from telha_planner.memory.receipts import Deletion
from telha_planner.memory.tenants import NAME_RESTS_US

from .dispatch import PlanThread, WorkThread
from .ports import Directory, TraceStore

ROUND_S = 15.0
_STORE_S = 60.0
_BUSY_S = 0.05
_LOOK_BACK_US = 600_000_000
"""A deletion that another process has committed may carry an instant before the last round."""

_log = structlog.get_logger(__name__)


class Deletions:
    """
    Finishes deletions; belongs to one event loop.

    Args:
        thread: The plan thread, to which columns and texts belong.
        writes: The thread of the writes of the directory.
        drop: Forgets what this process holds of a tenant, by number; runs on the plan thread.
        drop_erased: Forgets what this process read before an erasure of a source or a space; runs on the plan thread.
        roll: Begins another file of the spool, so that the one at hand goes when all in it is settled.
        writer: Deletes traces.
        now: The wall clock, µs.
    """

    def __init__(
        self,
        directory: Directory,
        thread: PlanThread,
        writes: WorkThread,
        drop: Callable[[int], None],
        drop_erased: Callable[[], None],
        roll: Callable[[], None],
        writer: TraceStore,
        now: Callable[[], int],
        *,
        round_s: float = ROUND_S,
    ) -> None:
        self._directory = directory
        self._thread = thread
        self._writes = writes
        self._drop = drop
        self._drop_erased = drop_erased
        self._roll = roll
        self._writer = writer
        self._now = now
        self._round_s = round_s
        self._dropped: set[int] = set()
        self._rolled: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin the rounds; the first one is at once."""
        self._task = asyncio.create_task(self._rounds())

    async def stop(self) -> None:
        """End the rounds."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def drop(self, deletion: Deletion) -> None:
        """Forget what this process holds of the deleted tenant; returns when that is done."""
        while deletion.number not in self._dropped:
            try:
                await self._thread.run(lambda: self._drop(deletion.number), time.monotonic() + _STORE_S)
            except Overloaded:
                await asyncio.sleep(_BUSY_S)
            else:
                self._dropped.add(deletion.number)
                self._roll()

    async def finish(self, deletion: Deletion) -> Deletion:
        """
        Have the traces deleted, and note it in the receipt.

        Raises:
            TelhaError: The trace writer or the store is away; a later round tries again.
        """
        if deletion.traces is not None:
            return deletion
        traces = await self._writer.delete_tenant(deletion.name, deletion.deleted_us + NAME_RESTS_US)
        return await self._writes.run(
            lambda: self._directory.traces_gone(deletion, traces), time.monotonic() + _STORE_S
        )

    def _roll_late(self, deletion: Deletion) -> None:
        # Calls that had begun before may have recorded since, into the file of after the deletion.
        if deletion.number not in self._rolled and deletion.deleted_us + NAME_RESTS_US <= self._now():
            self._rolled.add(deletion.number)
            self._roll()

    async def _rounds(self) -> None:
        since_us = self._now() - _LOOK_BACK_US
        failing = False
        while True:
            try:
                started_us = self._now()
                failing = await self._round(since_us, failing=failing)
                since_us = started_us - _LOOK_BACK_US
            except TelhaError as fault:
                _log.warning("deletions cannot be looked at", cause=str(fault))
            except Exception:  # noqa: BLE001 the outermost frame: a fault of ours must not end the rounds
                _log.exception("a round of deletions failed")
            await asyncio.sleep(self._round_s)

    async def _round(self, since_us: int, *, failing: bool) -> bool:
        deadline = time.monotonic() + _STORE_S
        with contextlib.suppress(Overloaded):  # who is busy with plans comes to it in the next round
            await self._thread.run(self._drop_erased, deadline)
        found = await self._writes.run(lambda: self._directory.unfinished(since_us), deadline)
        failed = False
        for deletion in found:
            await self.drop(deletion)
            self._roll_late(deletion)
            try:
                finished = await self.finish(deletion)
            except TelhaError as fault:
                failed = True
                if not failing:
                    _log.warning("traces of a deleted tenant are still there", tenant=deletion.name, cause=str(fault))
            else:
                if deletion.traces is None:
                    _log.info("traces of a deleted tenant are gone", tenant=deletion.name, traces=finished.traces)
        return failed
