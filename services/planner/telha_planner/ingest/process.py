"""
The planner's side of the ingest child: every write goes through here, so that plans never wait for a parser.

Rule 1: calls are answered one at a time, in a line that is fair between tenants (`telha_runtime.line`) and in the order
they come for each; at most `max_waiting` wait, and who would be one too many is `Overloaded`.
Rule 2: errors of `core.errors` cross the border as they are. If the child dies, the calls in flight fail with
`Unavailable`, and the next call starts another child. Whether a write that was in flight came to pass is not known
then; since ids are the caller's, the same call may be made again, and under its idempotency key it is answered as the
first one would have been.
Rule 3: whose key has ended by the time the transaction begins gets `Unauthenticated`, however long the call waited.
Rule 4: a caller that gives up (cancellation, deadline) gives its place back at that moment, and its call is not begun.
If it runs, the child is told, and ends it before its next step, never in the middle of a transaction; but under an
idempotency key it goes to its end, since its caller will ask again and could else never be served. Until the child has
answered, the next call waits here and not in the pipe.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import structlog
from telha_runtime import logs
from telha_runtime.line import Holder
from telha_runtime.turns import LineFull, Turns

from telha_planner.config import EmbeddingSettings
from telha_planner.core.errors import DeadlineExceeded, Overloaded, Unavailable
from telha_planner.memory.idempotency import DEFAULT_KEEP_US
from telha_planner.memory.receipts import Deletion, SpaceReceipt
from telha_planner.memory.records import (
    ClarificationRecord,
    Committed,
    EdgeRecord,
    ErasureReceipt,
    IdempotencyKey,
    NodeRecord,
    Reembedded,
)
from telha_planner.memory.writes import Spaces

from .artifact import ArtifactInput
from .child import PART, Body, By, Child, IngestFault
from .document import DocumentHeader, DocumentInput
from .worker import Start

_OWN = Holder("", "upkeep")

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Waiting:
    """The caller of one call."""

    has_turn: bool = False
    has_given_up: bool = False


class IngestProcess:
    """
    Owns the ingest child.

    Must be used from one event loop, whose thread lives as long as the process (the kernel ties the child's life to
    the thread that starts it).

    Args:
        store_url, busy_timeout_ms: As `Store.open` takes them.
        keep_us: How long the outcome of a call with an idempotency key is kept.
        log_level, log_format: As `telha_runtime.logs.configure` takes them.
        embedding: Which embedder the child uses; none by default.
        max_waiting: Most calls that wait for the one that runs.
        drain_seconds: How long `close` waits for the call that runs.
    """

    def __init__(
        self,
        store_url: str,
        *,
        busy_timeout_ms: int,
        keep_us: int = DEFAULT_KEEP_US,
        log_level: logs.Level = "info",
        log_format: logs.Format = "json",
        embedding: EmbeddingSettings | None = None,
        max_waiting: int = 32,
        drain_seconds: float = 30.0,
    ) -> None:
        start = Start(store_url, busy_timeout_ms, keep_us, log_level, log_format, embedding or EmbeddingSettings())
        self._child = Child(start, drain_seconds)
        self._turns = Turns(1, max_waiting)
        self._calls: set[asyncio.Task[object]] = set()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        return self._child.pid

    @property
    def held(self) -> int:
        """Calls that run or wait."""
        return len(self._calls)

    @property
    def waiting(self) -> int:
        """Calls that wait for the one that runs."""
        return self._turns.waiting

    async def start(self) -> None:
        """
        Start the child and wait until it can write; calls do so themselves if need be.

        Raises:
            Unavailable: It ended at once.
            IngestFault: It cannot open the store.
        """
        async with self._turns.turn(_OWN):
            await self._child.ensure()

    async def close(self) -> None:
        """Refuse new calls, let the accepted ones end, stop the child."""
        self._closed = self._child.is_ending = True
        if self._calls:
            await asyncio.wait(self._calls)
        await self._child.close()

    async def ingest(
        self,
        tenant: int,
        tenant_name: str,
        documents: Sequence[DocumentInput],
        *,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> Committed:
        """
        Parse *documents* and write them in one transaction.

        Raises:
            RequestInvalid: A document breaks a rule; the field begins with `documents[i]`.
            IdempotencyKeyReused: *key* is that of another request.
            Unavailable: The child died, the embedder fails, or the store is locked or broken.
            Overloaded: Too many calls wait.
        """
        return cast("Committed", await self._call("ingest", tenant, tenant_name, tuple(documents), key, by=by))

    async def ingest_file(
        self,
        tenant: int,
        tenant_name: str,
        header: DocumentHeader,
        descriptor: int,
        size: int,
        *,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> Committed:
        """
        Parse and write the document whose *size* bytes of content lie in the open file *descriptor*.

        The file is read in pieces, so that this process never holds the document. Errors as `ingest`; fields begin with
        `header`, or are `chunk` where the content is at fault.
        """
        body = Body(descriptor, size)
        return cast("Committed", await self._call("ingest_file", tenant, tenant_name, header, key, body=body, by=by))

    async def put_artifacts(
        self, tenant: int, artifacts: Sequence[ArtifactInput], *, key: IdempotencyKey | None = None, by: By = None
    ) -> Committed:
        """Write derived artifacts; errors as `ingest`, fields as `Writer.put_artifacts` has them."""
        return cast("Committed", await self._call("put_artifacts", tenant, tuple(artifacts), key, by=by))

    async def put_nodes(
        self, tenant: int, records: Sequence[NodeRecord], *, key: IdempotencyKey | None = None, by: By = None
    ) -> Committed:
        """Write nodes; errors as `ingest`, fields as `Writer.put_nodes` has them."""
        return cast("Committed", await self._call("put_nodes", tenant, tuple(records), key, by=by))

    async def put_edges(
        self,
        tenant: int,
        records: Sequence[EdgeRecord],
        *,
        spaces: Spaces = None,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> Committed:
        """Write edges; errors as `ingest`, fields as `Writer.put_edges` has them."""
        return cast("Committed", await self._call("put_edges", tenant, tuple(records), spaces, key, by=by))

    async def put_clarifications(
        self,
        tenant: int,
        records: Sequence[ClarificationRecord],
        *,
        spaces: Spaces = None,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> Committed:
        """Write clarifications; errors as `ingest`, fields as `Writer.put_clarifications` has them."""
        return cast("Committed", await self._call("put_clarifications", tenant, tuple(records), spaces, key, by=by))

    async def erase_source(
        self,
        tenant: int,
        source_id: bytes,
        *,
        spaces: Spaces = None,
        key: IdempotencyKey | None = None,
        by: By = None,
    ) -> ErasureReceipt:
        """
        Erase a source with all that came from it; errors as `ingest`.

        Raises:
            NotFound: The tenant has no such source in *spaces*.
        """
        return cast("ErasureReceipt", await self._call("erase_source", tenant, source_id, spaces, key, by=by))

    async def erase_space(self, tenant: int, name: str, *, by: By = None) -> SpaceReceipt:
        """
        Erase a space with all that it holds.

        Raises:
            NotFound: The tenant has no such space.
        """
        return cast("SpaceReceipt", await self._call("erase_space", tenant, name, by=by))

    async def delete_tenant(self, tenant: int, deletion_id: bytes, *, by: By = None) -> Deletion:
        """
        Delete a tenant with all that is its.

        Raises:
            NotFound: There is no such tenant.
        """
        return cast("Deletion", await self._call("delete_tenant", tenant, deletion_id, by=by))

    async def reembed(self, tenant: int, after: int | None, *, by: By = None) -> Reembedded:
        """
        Go on with the move of *tenant* to the configured model; errors as `ingest`.

        Raises:
            VectorLegUnavailable: No embedder is configured.
        """
        return cast("Reembedded", await self._call("reembed", tenant, after, by=by))

    async def _call(
        self, method: str, tenant: int, *arguments: object, body: Body | None = None, by: By = None
    ) -> object:
        if self._closed:
            raise Unavailable(part=PART)
        caller = _Waiting()
        call = asyncio.create_task(self._in_turn(caller, method, tenant, *arguments, body=body, by=by))
        self._calls.add(call)
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            if caller.has_turn:
                if not any(isinstance(argument, IdempotencyKey) for argument in arguments):
                    caller.has_given_up = True
                    self._child.tell_given_up()
                call.add_done_callback(_look)
            else:
                call.cancel()
            raise
        finally:
            self._calls.discard(call)

    async def _in_turn(
        self, caller: "_Waiting", method: str, tenant: int, *arguments: object, body: Body | None, by: By
    ) -> object:
        copy = Body(os.dup(body.descriptor), body.size) if body else None
        try:
            async with self._turns.turn(Holder(tenant, by)):
                caller.has_turn = True
                try:
                    await self._child.ensure()
                except IngestFault as fault:
                    # The first child could open the store, so this is how the store is at the moment.
                    _log.error("ingest_not_started", reason=str(fault))
                    raise Unavailable(part=PART) from None
                while True:
                    try:
                        return await self._child.exchange(method, (tenant, *arguments), copy, by)
                    except DeadlineExceeded:
                        if caller.has_given_up:
                            raise
                        # The word that the call before was given up came when that had just ended: this one is meant
                        # by nobody, and nothing of it was written.
        except LineFull:
            raise Overloaded from None
        finally:
            if copy is not None:
                os.close(copy.descriptor)


def _look(call: "asyncio.Task[object]") -> None:
    if not call.cancelled():
        call.exception()  # nobody waits for it any more
