"""
The trace writer, as the planner reaches it: one channel, one internal credential.

Rule: the writer's own refusals of a caller's field pass on as they are; whatever else goes wrong there is `Unavailable`
or `TracePending` to the caller, and one line in the log.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import grpc
import grpc.aio
import structlog
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from telha.trace.v1 import trace_store_pb2, trace_store_pb2_grpc, traces_pb2

from telha_planner.core.errors import DeadlineExceeded, RequestInvalid, TelhaError, TracePending, Unavailable
from telha_planner.trace.settlement import Settled

from .status import DETAILS_KEY

MAX_ANSWER_BYTES = 64 * 1024 * 1024
CREDENTIAL_KEY = "telha-internal"
"""Metadata key of the internal credential."""
PERSISTED_TIMEOUT_S = 10.0
FETCH_TIMEOUT_S = 5.0
"""How long one trace may take; beyond, the writer hangs, and the caller is told to try again."""
FETCH_SHARE = 0.8
"""Of the time that the caller waits, so that our answer still reaches it."""
DELETE_TIMEOUT_S = 120.0
"""A tenant's traces go in one transaction, however many they are."""
_PART = "the trace writer"
_log = structlog.get_logger(__name__)


class TraceWriter:
    """
    A client of `telha.trace.v1.TraceStore`; belongs to one event loop.

    Args:
        address: `host:port` or `unix:…`.
        token: The internal credential; both sides are configured with it.
    """

    def __init__(self, address: str, token: str) -> None:
        options = (
            ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
            ("grpc.enable_http_proxy", 0),  # a proxy has no say between parts, and must not see the credential
            # The writer may be down for long; the first call after its return must not wait for a minute's backoff.
            ("grpc.max_reconnect_backoff_ms", 1000),
        )
        self._channel = grpc.aio.insecure_channel(address, options=options)
        self._stub = trace_store_pb2_grpc.TraceStoreStub(self._channel)
        self._metadata = ((CREDENTIAL_KEY, token),)

    async def fetch(
        self,
        tenant: str,
        allowed: tuple[str, ...],
        key_id: str,
        trace_id: str,
        searched: Iterable[str],
        deadline: float,
    ) -> traces_pb2.GetResponse | None:
        """
        One trace of *tenant*, persisted or in the stream; None if there is none that the caller may see.

        Args:
            tenant, allowed, key_id: As in `browse`.
            trace_id: The trace.
            searched: Spools that do not have it.
            deadline: Until when the caller waits (`time.monotonic()`); what is left after the writer's time is for us.

        Raises:
            TracePending: The writer cannot tell at this moment, or does not answer in time.
        """
        found = await self._fetch(tenant, allowed, key_id, trace_id, searched, deadline, as_written=False)
        return None if found is None else found.trace

    async def fetch_as_written(
        self,
        tenant: str,
        allowed: tuple[str, ...],
        key_id: str,
        trace_id: str,
        searched: Iterable[str],
        deadline: float,
    ) -> bytes | None:
        """As `fetch`: the record as it was written."""
        found = await self._fetch(tenant, allowed, key_id, trace_id, searched, deadline, as_written=True)
        return None if found is None else found.record

    async def _fetch(
        self,
        tenant: str,
        allowed: tuple[str, ...],
        key_id: str,
        trace_id: str,
        searched: Iterable[str],
        deadline: float,
        *,
        as_written: bool,
    ) -> trace_store_pb2.FetchResponse | None:
        request = trace_store_pb2.FetchRequest(
            tenant=tenant,
            trace_id=trace_id,
            searched_spools=searched,
            allowed_spaces=allowed,
            key_id=key_id,
            as_written=as_written,
        )
        within_s = min(FETCH_TIMEOUT_S, _left(deadline) * FETCH_SHARE)
        try:
            return await self._stub.Fetch(request, timeout=within_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as failure:
            if failure.code() == grpc.StatusCode.NOT_FOUND:
                return None
            if failure.code() == grpc.StatusCode.DEADLINE_EXCEEDED or _reason(failure) == TracePending.reason:
                raise TracePending(trace_id=trace_id) from failure
            raise self._meaning(failure, TracePending(trace_id=trace_id)) from failure

    async def browse(
        self, tenant: str, allowed: tuple[str, ...], key_id: str, request: traces_pb2.ListRequest, deadline: float
    ) -> traces_pb2.ListResponse:
        """
        A page of *tenant*'s traces.

        Args:
            tenant: Name of the tenant.
            allowed: Spaces that the caller may see; empty is all.
            key_id: The caller's key: one that is limited to spaces also sees what it asked without reading memory.
            request: Filters and page.
            deadline: As in `fetch`.

        Raises:
            RequestInvalid: The page token does not hold.
            Unavailable: The writer is away.
        """
        browse = trace_store_pb2.BrowseRequest(tenant=tenant, allowed_spaces=allowed, key_id=key_id, list=request)
        try:
            found = await self._stub.Browse(browse, timeout=_left(deadline), metadata=self._metadata)
        except grpc.aio.AioRpcError as failure:
            raise self._meaning(failure, Unavailable(part=_PART)) from failure
        return found.page

    async def persisted(self, trace_ids: Iterable[str], spools: Iterable[Settled] = ()) -> list[str]:
        """
        Those of *trace_ids* (at most 10,000) that the writer has for good; *spools* are reported on the way.

        Raises:
            Unavailable: The writer is away.
        """
        states = (
            trace_store_pb2.SpoolState(spool=state.spool, settled_before_us=state.before_us, gone=state.gone)
            for state in spools
        )
        request = trace_store_pb2.PersistedRequest(trace_ids=list(trace_ids), spools=states)
        try:
            found = await self._stub.Persisted(request, timeout=PERSISTED_TIMEOUT_S, metadata=self._metadata)
        except grpc.aio.AioRpcError as failure:
            if failure.code() == grpc.StatusCode.UNAUTHENTICATED:
                # Asked in the background, so nobody else would notice, and no record would ever leave the spool.
                _log.error("the trace writer refuses the internal credential; trace.internal_token differs there")
            raise Unavailable(part=_PART) from failure
        return list(found.trace_ids)

    async def delete_tenant(self, tenant: str, deleted_us: int) -> int:
        """
        Delete what was recorded of *tenant* at or before *deleted_us* (µs), and have dropped what of it arrives later.

        Calling it again with the same instant answers alike, so a failed call is simply repeated.

        Returns:
            How many traces were deleted.

        Raises:
            Unavailable: The writer, its store or its stream is away; perhaps not all is gone.
        """
        request = trace_store_pb2.DeleteTenantRequest(tenant=tenant, deleted_us=deleted_us)
        try:
            gone = await self._stub.DeleteTenant(request, timeout=DELETE_TIMEOUT_S, metadata=self._metadata)
        except grpc.aio.AioRpcError as failure:
            _log.warning("traces of a tenant not deleted", code=failure.code().name, details=failure.details())
            raise Unavailable(part=_PART) from failure
        return int(gone.traces)

    async def delete_trace(self, tenant: str, trace_id: str, deadline: float) -> None:
        """
        Delete one trace of *tenant*, and have it dropped if it arrives later; repeating it changes nothing.

        Raises:
            Unavailable: The writer, its store or its stream is away.
        """
        request = trace_store_pb2.DeleteTraceRequest(tenant=tenant, trace_id=trace_id)
        try:
            await self._stub.DeleteTrace(request, timeout=_left(deadline), metadata=self._metadata)
        except grpc.aio.AioRpcError as failure:
            raise self._meaning(failure, Unavailable(part=_PART)) from failure

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close(None)

    def _meaning(self, failure: grpc.aio.AioRpcError, otherwise: TelhaError) -> TelhaError:
        if failure.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlineExceeded()
        violation = _violation(failure) if failure.code() == grpc.StatusCode.INVALID_ARGUMENT else None
        if violation is not None:
            return RequestInvalid(field=violation.field, rule=violation.description)
        _log.warning("trace writer failed", code=failure.code().name, details=failure.details())
        return otherwise


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def _violation(failure: grpc.aio.AioRpcError) -> error_details_pb2.BadRequest.FieldViolation | None:
    bad = error_details_pb2.BadRequest()
    for detail in _details(failure):
        if detail.Unpack(bad) and bad.field_violations:
            return bad.field_violations[0]
    return None


def _reason(failure: grpc.aio.AioRpcError) -> str:
    info = error_details_pb2.ErrorInfo()
    return next((info.reason for detail in _details(failure) if detail.Unpack(info)), "")


def _details(failure: grpc.aio.AioRpcError) -> Sequence[any_pb2.Any]:
    trailers: Any = failure.trailing_metadata()  # pairs, which the stubs do not say
    status = status_pb2.Status.FromString(dict(trailers or ()).get(DETAILS_KEY, b""))
    return list(status.details)
