"""
Answers planners over gRPC: one trace, pages of traces, which records are settled; deletes one, or all of a tenant.

Rule 1: every call but health needs the internal credential; it names the tenant, which the planner took from the
caller's key. Rule 2: "not found" is said only when neither store nor stream nor another planner's spool can have the
trace.
"""

import asyncio
import hmac
import logging
from collections.abc import Sequence
from typing import Any, Final, NoReturn
from uuid import UUID

import grpc
from google.protobuf import any_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from telha.trace.v1 import trace_store_pb2, trace_store_pb2_grpc, traces_pb2
from telha_runtime.redis import AWAY

from . import deadletter, pages
from .pages import TokenInvalid
from .record import RecordMalformed, Row, as_json, is_name, row_of
from .spools import Report, Spools
from .store import Filters, Store, StoreFailed
from .stream import BacklogTooLong, Stream

CREDENTIAL_KEY: Final = "telha-internal"
_SERVICE: Final = trace_store_pb2.DESCRIPTOR.services_by_name["TraceStore"].full_name
_DOMAIN: Final = "telha.dev"
_RETRY_MS: Final = 500
_MOST_ASKED: Final = 10_000
_ALL_SPACES: Final = "*"
_log = logging.getLogger(__name__)
_Context = grpc.aio.ServicerContext[Any, Any]


class TraceStoreServicer(trace_store_pb2_grpc.TraceStoreServicer):
    """The calls of `TraceStore`."""

    def __init__(self, store: Store, stream: Stream, spools: Spools, internal_token: str) -> None:
        """Serve *store*, what is still in *stream* and what *spools* report to whoever shows *internal_token*."""
        self._store = store
        self._stream = stream
        self._spools = spools
        self._token = internal_token.encode()

    async def Fetch(self, request: trace_store_pb2.FetchRequest, context: _Context) -> trace_store_pb2.FetchResponse:  # noqa: N802  # gRPC's name
        """Read one trace."""
        await self._authenticate(context)
        trace_id = request.trace_id
        if not _is_uuid(trace_id):
            await _refuse_field(context, "trace_id", "must be a lower-case UUID")
        row, pending = None, False
        try:
            # What is settled before the search is in the store by then.
            pending = await asyncio.to_thread(self._spools.may_hold, trace_id, list(request.searched_spools))
            # What the caller may not see is looked for as what is absent is, to the last question.
            row = await self._from_store(request) or await self._from_stream(request)
            # It may have moved from the stream into the store between the two questions.
            row = row or await self._from_store(request)
        except (*AWAY, BacklogTooLong, StoreFailed):
            pending = True
        if row is None and pending:
            metadata = {"trace_id": trace_id}
            message = f"trace {trace_id} cannot be read at this moment; try again"
            await _refuse(context, grpc.StatusCode.UNAVAILABLE, "TRACE_PENDING", message, metadata, retry=True)
        if row is None:
            metadata = {"resource": "trace"}
            await _refuse(context, grpc.StatusCode.NOT_FOUND, "NOT_FOUND", "no such trace", metadata)
        if request.as_written:
            return trace_store_pb2.FetchResponse(record=row.record)
        # The pool of a Select has up to 100,000 rows; other calls go on meanwhile.
        return trace_store_pb2.FetchResponse(trace=await asyncio.to_thread(_trace, row))

    async def Browse(self, request: trace_store_pb2.BrowseRequest, context: _Context) -> trace_store_pb2.BrowseResponse:  # noqa: N802  # gRPC's name
        """List a page of traces, newest first."""
        await self._authenticate(context)
        asked = request.list
        if asked.page_size < 0:
            await _refuse_field(context, "page_size", "must be at least 0")
        filters = Filters(
            allowed=tuple(request.allowed_spaces) or None,
            key_id=request.key_id or None,
            kind=asked.kind if asked.HasField("kind") else None,
            space=asked.space if asked.HasField("space") else None,
            from_us=asked.from_us if asked.HasField("from_us") else None,
            to_us=asked.to_us if asked.HasField("to_us") else None,
            min_used_share=asked.min_used_share if asked.HasField("min_used_share") else None,
            max_used_share=asked.max_used_share if asked.HasField("max_used_share") else None,
            stranded=asked.stranded if asked.HasField("stranded") else None,
        )
        size = pages.size_of(asked.page_size)
        rows: list[Row] = []
        goes_on = None
        try:
            before = pages.position(asked.page_token, request.tenant, filters)
            rows, goes_on = await asyncio.to_thread(self._store.page, request.tenant, filters, before, size + 1)
        except TokenInvalid as fault:
            await _refuse_field(context, "page_token", str(fault))
        except StoreFailed:
            await _refuse_store(context)
        page = traces_pb2.ListResponse(traces=map(_summary, rows[:size]))
        if len(rows) > size:
            goes_on = (rows[size - 1].recorded_us, rows[size - 1].trace_id)
        if goes_on is not None:
            page.next_page_token = pages.token(request.tenant, filters, goes_on)
        return trace_store_pb2.BrowseResponse(page=page)

    async def Persisted(  # noqa: N802  # gRPC's name
        self, request: trace_store_pb2.PersistedRequest, context: _Context
    ) -> trace_store_pb2.PersistedResponse:
        """Say which traces are settled: stored, or kept as dead letters; and hear how far spools are."""
        await self._authenticate(context)
        for field, sent in (("trace_ids", request.trace_ids), ("spools", request.spools)):
            if len(sent) > _MOST_ASKED:
                await _refuse_field(context, field, f"must hold at most {_MOST_ASKED:,} elements")
        for index, trace_id in enumerate(request.trace_ids):
            if not _is_uuid(trace_id):
                await _refuse_field(context, f"trace_ids[{index}]", "must be a lower-case UUID")
        for index, state in enumerate(request.spools):
            if not _is_uuid(state.spool):
                await _refuse_field(context, f"spools[{index}].spool", "must be a lower-case UUID")
        settled: list[str] = []
        reports = [Report(state.spool, state.settled_before_us, state.gone) for state in request.spools]
        try:
            if reports:
                await asyncio.to_thread(self._spools.report, reports)
            settled = await asyncio.to_thread(self._store.persisted, list(request.trace_ids))
        except StoreFailed:
            await _refuse_store(context)
        return trace_store_pb2.PersistedResponse(trace_ids=settled)

    async def DeleteTenant(  # noqa: N802  # gRPC's name
        self, request: trace_store_pb2.DeleteTenantRequest, context: _Context
    ) -> trace_store_pb2.DeleteTenantResponse:
        """Delete what a tenant recorded until an instant, in the store and among the dead letters of the stream."""
        await self._authenticate(context)
        tenant, deleted_us = request.tenant, request.deleted_us
        if not is_name(tenant):
            await _refuse_field(context, "tenant", "must name a tenant")
        try:
            # The store first: from then on, what is still under way is dropped.
            gone = await asyncio.to_thread(self._store.delete_tenant, tenant, deleted_us)
            announced = await deadletter.forget(self._stream, tenant, deleted_us)
        except (*AWAY, StoreFailed) as fault:
            _log.warning("the traces of a tenant are not all deleted: %s", fault)
            await _refuse_store(context)
        counts = (gone.traces, gone.dead_letters, announced, gone.dropped)
        _log.info("deleted a tenant: %d traces, %d dead letters, %d of them announced, %d late", *counts)
        return trace_store_pb2.DeleteTenantResponse(
            traces=gone.traces, dead_letters=gone.dead_letters, dropped=gone.dropped
        )

    async def DeleteTrace(  # noqa: N802  # gRPC's name
        self, request: trace_store_pb2.DeleteTraceRequest, context: _Context
    ) -> trace_store_pb2.DeleteTraceResponse:
        """Delete one trace, in the store and among the dead letters of the stream, and drop it if it comes later."""
        await self._authenticate(context)
        tenant, trace_id = request.tenant, request.trace_id
        if not is_name(tenant):
            await _refuse_field(context, "tenant", "must name a tenant")
        if not _is_uuid(trace_id):
            await _refuse_field(context, "trace_id", "must be a lower-case UUID")
        stored = False
        try:
            # The stream's copy first: as long as the store has the trace, the call can be made again.
            await deadletter.forget_trace(self._stream, tenant, trace_id)
            stored = await asyncio.to_thread(self._store.erase, tenant, trace_id)
        except (*AWAY, StoreFailed) as fault:
            _log.warning("a trace is not deleted: %s", fault)
            await _refuse_store(context)
        _log.info("deleted trace %s", trace_id)
        return trace_store_pb2.DeleteTraceResponse(stored=stored)

    async def _authenticate(self, context: _Context) -> None:
        shown = b""
        for key, value in context.invocation_metadata() or ():
            if key == CREDENTIAL_KEY:
                shown = value.encode() if isinstance(value, str) else value
        if not hmac.compare_digest(shown, self._token):
            message = "the internal credential is required"
            await _refuse(context, grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED", message, {})

    async def _from_store(self, request: trace_store_pb2.FetchRequest) -> Row | None:
        row = await asyncio.to_thread(self._store.fetch, request.tenant, request.trace_id)
        return row if row is not None and _may_see(request, row) else None

    async def _from_stream(self, request: trace_store_pb2.FetchRequest) -> Row | None:
        tenant = request.tenant
        found = await self._stream.find(tenant, request.trace_id)
        if found is None:
            return None
        try:
            row = row_of(found)
        except RecordMalformed:
            return None
        if not _may_see(request, row):
            return None
        # What was deleted is still in the stream until it is delivered, and dropped then.
        return None if await asyncio.to_thread(self._store.is_gone, row) else row


class Listener:
    """The gRPC server of the writer: `TraceStore` and health."""

    def __init__(self, address: str, servicer: TraceStoreServicer) -> None:
        """
        Prepare to listen.

        Args:
            address: `host:port` or `unix:/path`.
            servicer: What answers.
        """
        self._address = address
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined]  # the stubs lack aio
        # Records of large pools exceed gRPC's default; both sides are ours.
        options = (("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0))
        self._server = grpc.aio.server(options=options)
        trace_store_pb2_grpc.add_TraceStoreServicer_to_server(servicer, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)

    async def start(self) -> int:
        """
        Listen and say SERVING.

        Returns:
            The port; 1 for a unix socket.

        Raises:
            OSError: The address cannot be had.
        """
        try:
            port = self._server.add_insecure_port(self._address)
        except RuntimeError as fault:
            raise OSError(f"the trace writer cannot listen on {self._address}") from fault
        await self._server.start()
        for name in ("", _SERVICE):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        return int(port)

    async def stop(self, grace_s: float) -> None:
        """Say NOT_SERVING, then end within *grace_s*."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_s)


def _may_see(request: trace_store_pb2.FetchRequest, row: Row) -> bool:
    if not request.allowed_spaces:
        return True
    if row.spaces is None:
        return False
    return set(row.spaces) <= set(request.allowed_spaces) if row.spaces else row.key_id == request.key_id


def _trace(row: Row) -> traces_pb2.GetResponse:
    record = Struct()
    record.update(as_json(row.record))
    return traces_pb2.GetResponse(summary=_summary(row), record=record)


def _summary(row: Row) -> traces_pb2.TraceSummary:
    return traces_pb2.TraceSummary(
        trace_id=row.trace_id,
        kind=row.kind,
        recorded_us=row.recorded_us,
        spaces=[_ALL_SPACES] if row.spaces is None else row.spaces,
        plan_hash=row.plan_hash or "",
        budget=row.budget,
        used=row.used,
        items=row.items,
        stranded=row.stranded,
    )


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


async def _refuse_field(context: _Context, field: str, rule: str) -> NoReturn:
    violation = error_details_pb2.BadRequest.FieldViolation(field=field, description=rule)
    details = [error_details_pb2.BadRequest(field_violations=[violation])]
    code = grpc.StatusCode.INVALID_ARGUMENT
    await _refuse(context, code, "INVALID_REQUEST", f"{field} {rule}", {"field": field, "rule": rule}, details)


async def _refuse_store(context: _Context) -> NoReturn:
    message = "the trace store is not available; try again"
    await _refuse(context, grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", message, {"part": "the trace store"}, retry=True)


async def _refuse(
    context: _Context,
    code: grpc.StatusCode,
    reason: str,
    message: str,
    metadata: dict[str, str],
    details: Sequence[Message] = (),
    *,
    retry: bool = False,
) -> NoReturn:
    info: list[Message] = [error_details_pb2.ErrorInfo(reason=reason, domain=_DOMAIN, metadata=metadata), *details]
    if retry:
        delay = Duration()
        delay.FromMilliseconds(_RETRY_MS)
        info.append(error_details_pb2.RetryInfo(retry_delay=delay))
    packed = []
    for detail in info:
        packed.append(any_pb2.Any())
        packed[-1].Pack(detail)
    number: int = code.value[0]
    status = rpc_status.to_status(status_pb2.Status(code=number, message=message, details=packed))
    await context.abort_with_status(status)  # type: ignore[attr-defined]  # the stubs lack it
    raise AssertionError("abort_with_status raises")
