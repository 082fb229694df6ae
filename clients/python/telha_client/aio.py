"""The client for asynchronous code; it belongs to the event loop in which it is made."""

# ruff: noqa: ASYNC109  (a timeout is also sent to the server, as the deadline of the call)

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar, Unpack

import grpc
import grpc.aio

from . import requests, trace_calls
from .administration import AsyncAdministration
from .comparison import Replay, TraceDifference
from .connection import (
    DEFAULT_TIMEOUT_S,
    Tls,
    channel_options,
    channel_target,
    opened_channel,
    pause_before_repeating,
    target,
)
from .errors import from_rpc
from .inputs import Artifact, Clarification, Document, Edge, Fragment, Instant, Node, WhyNot
from .options import ContextOptions, PlanOptions, SelectOptions
from .requests import Prepared
from .results import (
    Committed,
    Context,
    Erasure,
    Ingestion,
    Page,
    Plan,
    QueryPage,
    Reembedding,
    Source,
    SourceText,
    Trace,
    TraceSummary,
    WrittenArtifacts,
)
from .uploads import PreparedUpload

T = TypeVar("T")


class AsyncClient:
    """
    Calls the planner.

    Args:
        address: `host:port`, several IP addresses with commas between, or `unix:…`; default `TELHA_ADDRESS`, else
            127.0.0.1:7340.
        key: API key; default `TELHA_KEY`.
        tls: How to use TLS; None is plain text.
        timeout: Seconds for one call, repetitions included.
        affinity: With several planners behind a balancer, calls of one affinity go to one of them, which is quicker; a
            good value for several keys of one tenant is its name. Default: one of the key's own.

    Attributes:
        memory: Ask and write memory.
        administration: Keys, tenants, and removal for good.
    """

    def __init__(
        self,
        address: str | None = None,
        key: str | None = None,
        *,
        tls: Tls | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        affinity: str | None = None,
    ) -> None:
        self._target = target(address, key, tls, timeout, affinity=affinity)
        options = channel_options(self._target.address)
        if tls is None:
            self._channel = grpc.aio.insecure_channel(channel_target(self._target.address), options=options)
        else:
            self._channel = grpc.aio.secure_channel(
                channel_target(self._target.address), tls.credentials(), options=options
            )
        self._uploads: grpc.Channel | None = None
        self.memory = AsyncMemory(self)
        self.administration = AsyncAdministration(self)

    async def plan(self, question: str | None = None, **options: Unpack[PlanOptions]) -> Plan:
        """Plan the evidence for *question*; raises `InsufficientEvidence` if memory holds none."""
        return await self.call(requests.plan(question, options))

    async def select(self, pool: Iterable[Fragment], **options: Unpack[SelectOptions]) -> Plan:
        """Select from a pool of your own, without reading memory."""
        return await self.call(requests.select(pool, options))

    async def trace(self, trace_id: str, *, timeout: float | None = None) -> Trace:
        """Read one trace."""
        return await self.call(trace_calls.trace(trace_id, timeout))

    async def delete_trace(self, trace_id: str, *, timeout: float | None = None) -> TraceSummary:
        """Erase one trace for good, its question with it; needs the right `admin`. What was listed of it."""
        return await self.call(trace_calls.delete(trace_id, timeout))

    async def replay(
        self, trace_id: str, *, explain: bool = False, why_not: Sequence[WhyNot] = (), timeout: float | None = None
    ) -> Replay:
        """
        Make the plan of a trace anew, and compare; leaves no trace.

        Args:
            explain, why_not: Explain the plan as made anew, as with `plan`.
        """
        return await self.call(trace_calls.replay(trace_id, explain, why_not, timeout))

    async def diff(self, trace_id: str, other_trace_id: str, *, timeout: float | None = None) -> TraceDifference:
        """Compare the plans of two traces, from their records alone."""
        return await self.call(trace_calls.diff(trace_id, other_trace_id, timeout))

    async def traces(
        self,
        *,
        kind: str | None = None,
        space: str | None = None,
        recorded_from: Instant | None = None,
        recorded_to: Instant | None = None,
        min_used_share: float | None = None,
        max_used_share: float | None = None,
        stranded: bool | None = None,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> Page[TraceSummary]:
        """
        List traces, newest first, one page at a time.

        Args:
            min_used_share, max_used_share: Of the budget, in [0, 1]. With these or *stranded*, a page may hold fewer
                traces than asked for, or none, and not be the last.
            stranded: Only traces of which the source cap stranded tokens; False: only the others.
        """
        asked = trace_calls.traces(
            kind,
            space,
            recorded_from,
            recorded_to,
            min_used_share,
            max_used_share,
            stranded,
            page_size,
            page_token,
            timeout,
        )
        return await self.call(asked)

    async def call(self, prepared: Prepared[T]) -> T:
        """Send a prepared call, and repeat it while the server says that this helps and it is safe."""
        method = self._channel.unary_unary(prepared.method, bytes, bytes)
        message = prepared.message.SerializeToString()
        seconds = self._target.timeout if prepared.timeout is None else prepared.timeout

        async def send(left: float) -> bytes:
            return bytes(await method(message, timeout=left, metadata=self._target.metadata))

        return prepared.read(await self._repeated(send, seconds, repeatable=prepared.repeatable))

    async def upload(self, prepared: PreparedUpload[T]) -> T:
        """Send a prepared upload, and repeat it as `call` does if its content can be read again."""

        async def send(left: float) -> bytes:
            try:
                return await self._streamed(prepared, left)
            except grpc.RpcError:
                if prepared.content.fault is not None:
                    raise prepared.content.fault from None
                raise

        seconds = prepared.seconds(self._target.timeout)
        again = prepared.content.rewinds
        answer = await self._repeated(send, seconds, repeatable=prepared.repeatable and again, again=again)
        return prepared.read(answer)

    async def _streamed(self, prepared: PreparedUpload[T], left: float) -> bytes:
        # Not over `grpc.aio`: where the server ends a stream early, that may put INTERNAL in the place of its status.
        if self._uploads is None:
            self._uploads = opened_channel(self._target)
        method = self._uploads.stream_unary(prepared.method, bytes, bytes)
        running: Any = method.future(prepared.messages(), timeout=left, metadata=self._target.metadata)
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def tell(_: object) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is gone, and whoever waited with it
                loop.call_soon_threadsafe(ended.set)

        running.add_done_callback(tell)
        try:
            await ended.wait()
        finally:
            running.cancel()  # once it has ended this does nothing
        return bytes(running.result())

    async def _repeated(
        self, send: Callable[[float], Awaitable[bytes]], seconds: float, *, repeatable: bool, again: bool = True
    ) -> bytes:
        deadline = time.monotonic() + seconds
        attempt = 1
        while True:
            try:
                return await send(max(0.0, deadline - time.monotonic()))
            except grpc.RpcError as failure:
                error = from_rpc(failure)
            left = deadline - time.monotonic()
            pause = pause_before_repeating(error, repeatable=repeatable, attempt=attempt, left=left)
            if pause is None or not again:
                raise error
            await asyncio.sleep(pause)
            attempt += 1

    async def close(self) -> None:
        """Close the connection."""
        if self._uploads is not None:
            self._uploads.close()
        await self._channel.close(None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncClient {self._target.address}>"


class AsyncMemory:
    """
    Asks and writes memory; reached as `client.memory`.

    A write with an *idempotency_key* (1 to 255 visible ASCII characters) is carried out once; sent again, it is
    answered as it was, with `replayed` set. Only such writes are repeated by the client itself when the server is away.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def context(self, question: str | None = None, **options: Unpack[ContextOptions]) -> Context:
        """What to remember before acting: items by score; an empty answer is no error."""
        return await self._client.call(requests.context(question, options))

    async def ingest(
        self,
        documents: Iterable[Document | str | Path],
        *,
        space: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Ingestion:
        """
        Ingest documents, or files by path, in one transaction; *space* is for those that name none.

        A single document of more than 2 MiB is streamed.
        """
        given = [*documents]
        if requests.is_large(given):
            return await self.ingest_stream(given[0], space=space, idempotency_key=idempotency_key, timeout=timeout)
        return await self._client.call(requests.ingest(given, space, idempotency_key, timeout))

    async def ingest_stream(
        self,
        document: Document | str | Path | BinaryIO,
        *,
        space: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Ingestion:
        """
        Ingest one document of any size: as such, a file by path, or an open file with a `name`.

        The default time limit is the client's, and a second more for each 128 KiB.

        Raises:
            OSError: The file cannot be read.
        """
        return await self._client.upload(requests.upload(document, space, idempotency_key, timeout))

    async def put_artifacts(
        self, artifacts: Iterable[Artifact], *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> WrittenArtifacts:
        """Write derived artifacts in one transaction; each is a source of its own, of class `cache`."""
        return await self._client.call(requests.put_artifacts(artifacts, idempotency_key, timeout))

    async def put_nodes(
        self, nodes: Iterable[Node], *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> Committed:
        """Write nodes in one transaction."""
        return await self._client.call(requests.put_nodes(nodes, idempotency_key, timeout))

    async def put_edges(
        self, edges: Iterable[Edge], *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> Committed:
        """Write edges in one transaction."""
        return await self._client.call(requests.put_edges(edges, idempotency_key, timeout))

    async def put_clarifications(
        self,
        clarifications: Iterable[Clarification],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Committed:
        """Write clarifications in one transaction."""
        return await self._client.call(requests.put_clarifications(clarifications, idempotency_key, timeout))

    async def source(
        self,
        source_id: str,
        *,
        version: int | None = None,
        valid_time: Instant | None = None,
        tx_time: Instant | None = None,
        include_text: bool = False,
        timeout: float | None = None,
    ) -> SourceText:
        """Read one source; *version* names one of its versions, else the newest as of the instants."""
        asked = requests.source(source_id, version, valid_time, tx_time, include_text, timeout)
        found = await self._client.call(asked)
        if found.text is None:
            return found
        pieces, size, whole = [found.text], len(found.text.encode()), found.source
        while size < whole.length:
            version = whole.source_version_tx
            asked = requests.source(source_id, version, None, None, include_text, timeout, text_start=size)
            piece = (await self._client.call(asked)).text or ""
            pieces.append(piece)
            size += len(piece.encode())
        return SourceText(whole, "".join(pieces))

    async def sources(
        self,
        spaces: Sequence[str] = (),
        *,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> Page[Source]:
        """List sources by id, one page at a time."""
        return await self._client.call(requests.sources(spaces, page_size, page_token, timeout))

    async def query(
        self,
        find: str,
        where: Mapping[str, Any] | None = None,
        *,
        valid_time: Instant | None = None,
        tx_time: Instant | None = None,
        spaces: Sequence[str] = (),
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> QueryPage:
        """Find nodes of type *find* that satisfy *where*, by id, one page at a time."""
        asked = requests.query(find, where, valid_time, tx_time, spaces, page_size, page_token, timeout)
        return await self._client.call(asked)

    async def erase_source(
        self, source_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> Erasure:
        """Remove a source, all its versions and all that was derived from it."""
        return await self._client.call(requests.erase_source(source_id, idempotency_key, timeout))

    async def reembed(self, cursor: str = "", *, timeout: float | None = None) -> Reembedding:
        """Go on with the move to the configured embedding model; repeat with `next_cursor` until `finished`."""
        return await self._client.call(requests.reembed(cursor, timeout))
