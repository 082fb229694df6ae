"""The client for asynchronous code; it belongs to the event loop in which it is made."""

# ruff: noqa: ASYNC109  (a timeout is also sent to the server, as the deadline of the call)

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import grpc
import grpc.aio

from . import requests
from .administration import AsyncAdministration
from .connection import DEFAULT_TIMEOUT_S, Tls, channel_options, pause_before_repeating, target
from .errors import from_rpc
from .inputs import Artifact, Clarification, Document, Edge, Fragment, Instant, Node
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
    Source,
    SourceText,
    Trace,
    TraceSummary,
    WrittenArtifacts,
)

T = TypeVar("T")


class AsyncClient:
    """
    Calls the planner.

    Args:
        address: `host:port` or `unix:…`; default `TELHA_ADDRESS`, else 127.0.0.1:7340.
        key: API key; default `TELHA_KEY`.
        tls: How to use TLS; None is plain text.
        timeout: Seconds for one call, repetitions included.

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
    ) -> None:
        self._target = target(address, key, tls, timeout)
        options = channel_options(self._target.address)
        if tls is None:
            self._channel = grpc.aio.insecure_channel(self._target.address, options=options)
        else:
            self._channel = grpc.aio.secure_channel(self._target.address, tls.credentials(), options=options)
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
        return await self.call(requests.trace(trace_id, timeout))

    async def traces(
        self,
        *,
        kind: str | None = None,
        space: str | None = None,
        recorded_from: Instant | None = None,
        recorded_to: Instant | None = None,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> Page[TraceSummary]:
        """List traces, newest first, one page at a time."""
        asked = requests.traces(kind, space, recorded_from, recorded_to, page_size, page_token, timeout)
        return await self.call(asked)

    async def call(self, prepared: Prepared[T]) -> T:
        """Send a prepared call, and repeat it while the server says that this helps and it is safe."""
        deadline = time.monotonic() + (self._target.timeout if prepared.timeout is None else prepared.timeout)
        method = self._channel.unary_unary(prepared.method, bytes, bytes)
        message = prepared.message.SerializeToString()
        attempt = 1
        while True:
            try:
                left = max(0.0, deadline - time.monotonic())
                return prepared.read(await method(message, timeout=left, metadata=self._target.metadata))
            except grpc.RpcError as failure:
                error = from_rpc(failure)
            left = deadline - time.monotonic()
            pause = pause_before_repeating(error, repeatable=prepared.repeatable, attempt=attempt, left=left)
            if pause is None:
                raise error
            await asyncio.sleep(pause)
            attempt += 1

    async def close(self) -> None:
        """Close the connection."""
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
        """Ingest documents, or files by path, in one transaction; *space* is for those that name none."""
        return await self._client.call(requests.ingest(documents, space, idempotency_key, timeout))

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
        return await self._client.call(requests.source(source_id, version, valid_time, tx_time, include_text, timeout))

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
