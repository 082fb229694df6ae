"""
`Memory`: writes go to the ingest process, reads are answered on the plan thread.

Rule 1: the caller is established first; tenant and spaces come from the key. Every write, erasure included, needs the
right `write`; every read needs `read`. A write may wait for long, so its key is looked at again when it commits; that
of a stream also before anything of it is parsed.
Rule 2: for a key that is limited to spaces, what lies outside them does not exist: it can be neither read, nor linked
to, nor asked about, nor erased.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from google.protobuf.message import Message
from telha.memory.v1 import memory_pb2

from telha_planner.caller import Caller
from telha_planner.core.errors import NotFound, PermissionDenied
from telha_planner.core.request import INT64_MAX, INT64_MIN, check_spaces, check_window
from telha_planner.core.value import check_range, parse_uuid
from telha_planner.ingest.document import DocumentHeader, DocumentInput
from telha_planner.memory.reads import StoredSource
from telha_planner.memory.records import IdempotencyKey

from . import page_token
from .call import Call, Service
from .dispatch import PlanThread
from .idempotency import read_key
from .ports import Documents, Ingest, Planning, Sources
from .quota import Quota
from .translate_memory import (
    artifacts_response,
    erase_response,
    ingest_response,
    read_artifacts,
    read_clarifications,
    read_documents,
    read_edges,
    read_erasure,
    read_header,
    read_nodes,
    read_part,
    read_reembed,
    reembed_response,
    source_message,
    stream_response,
)
from .translate_plan import read_window
from .translate_query import query_response, read_query
from .uploads import Uploads, without_long_pauses
from .wire import decode

DEFAULT_PAGE = 100
LARGEST_PAGE = 1000
_ID_BYTES, _NUMBER_BYTES = 16, 8

M = TypeVar("M", bound=Message)
T = TypeVar("T")


class MemorySurface:
    """
    Serves `telha.memory.v1.Memory`.

    Args:
        quota: Writes of each key, those of `Administration` included.
    """

    def __init__(
        self,
        planning: Planning,
        thread: PlanThread,
        ingest: Ingest,
        documents: Documents,
        sources: Sources,
        uploads: Uploads,
        quota: Quota,
    ) -> None:
        self._planning = planning
        self._thread = thread
        self._ingest = ingest
        self._documents = documents
        self._sources = sources
        self._uploads = uploads
        self._quota = quota

    def service(self) -> Service:
        """The service for the listener."""
        return Service(
            "telha.memory.v1.Memory",
            {
                "Ingest": self.ingest,
                "PutNodes": self.put_nodes,
                "PutEdges": self.put_edges,
                "PutClarifications": self.put_clarifications,
                "PutArtifacts": self.put_artifacts,
                "GetSource": self.get_source,
                "ListSources": self.list_sources,
                "EraseSource": self.erase_source,
                "Query": self.query,
                "Reembed": self.reembed,
            },
            {"IngestStream": self.ingest_stream},
        )

    async def ingest(self, raw: bytes, call: Call) -> memory_pb2.IngestResponse:
        """Ingest documents."""

        def read(request: memory_pb2.IngestRequest, caller: Caller) -> list[DocumentInput]:
            return read_documents(request, caller, self._uploads.max_document)

        caller, key, documents = await self._write(call, memory_pb2.IngestRequest, raw, read)
        return ingest_response(
            await self._documents.ingest(caller.tenant, caller.tenant_name, documents, key=key, by=caller.key_id)
        )

    async def ingest_stream(self, messages: AsyncIterator[bytes], call: Call) -> memory_pb2.IngestStreamResponse:
        """Ingest one document that comes in pieces."""
        call.need_credential()
        messages = without_long_pauses(messages)
        first = await anext(messages, b"")

        def read(caller: Caller) -> tuple[memory_pb2.IngestStreamHeader, DocumentHeader]:
            sent = read_part(first, "header").header
            read_key(sent, call.method, caller)
            return sent, read_header(sent, caller)

        caller, (sent, header) = await self._as_caller(call, "write", read)
        first = b""  # however large it was, it is not kept while the content comes
        announced = sent.content_bytes if sent.HasField("content_bytes") else None
        with self._uploads.opened(caller.tenant, announced) as upload:
            async for message in messages:
                await upload.add(read_part(message, "chunk").chunk)
            key = read_key(sent, call.method, caller, upload.digest())
            # Not on the plan thread: if that is busy, it would refuse what has been sent already.
            await asyncio.to_thread(self._planning.caller, call.credential)
            done = await self._documents.ingest_file(
                caller.tenant, caller.tenant_name, header, upload.file.fileno(), upload.size, key=key, by=caller.key_id
            )
        return stream_response(done)

    async def put_nodes(self, raw: bytes, call: Call) -> memory_pb2.PutNodesResponse:
        """Write nodes."""
        caller, key, nodes = await self._write(call, memory_pb2.PutNodesRequest, raw, read_nodes)
        done = await self._ingest.put_nodes(caller.tenant, nodes, key=key, by=caller.key_id)
        return memory_pb2.PutNodesResponse(tx_us=done.tx, replayed=done.replayed)

    async def put_edges(self, raw: bytes, call: Call) -> memory_pb2.PutEdgesResponse:
        """Write edges."""
        caller, key, edges = await self._write(call, memory_pb2.PutEdgesRequest, raw, read_edges)
        done = await self._ingest.put_edges(caller.tenant, edges, spaces=caller.spaces, key=key, by=caller.key_id)
        return memory_pb2.PutEdgesResponse(tx_us=done.tx, replayed=done.replayed)

    async def put_clarifications(self, raw: bytes, call: Call) -> memory_pb2.PutClarificationsResponse:
        """Write clarifications."""
        caller, key, records = await self._write(call, memory_pb2.PutClarificationsRequest, raw, read_clarifications)
        done = await self._ingest.put_clarifications(
            caller.tenant, records, spaces=caller.spaces, key=key, by=caller.key_id
        )
        return memory_pb2.PutClarificationsResponse(tx_us=done.tx, replayed=done.replayed)

    async def put_artifacts(self, raw: bytes, call: Call) -> memory_pb2.PutArtifactsResponse:
        """Write derived artifacts."""
        caller, key, artifacts = await self._write(call, memory_pb2.PutArtifactsRequest, raw, read_artifacts)
        return artifacts_response(await self._ingest.put_artifacts(caller.tenant, artifacts, key=key, by=caller.key_id))

    async def erase_source(self, raw: bytes, call: Call) -> memory_pb2.EraseSourceResponse:
        """Remove a source with all that came from it."""
        caller, key, source_id = await self._write(call, memory_pb2.EraseSourceRequest, raw, read_erasure)
        return erase_response(
            await self._ingest.erase_source(caller.tenant, source_id, spaces=caller.spaces, key=key, by=caller.key_id)
        )

    async def get_source(self, raw: bytes, call: Call) -> memory_pb2.GetSourceResponse:
        """Read one source."""

        def read(caller: Caller) -> memory_pb2.GetSourceResponse:
            request = decode(memory_pb2.GetSourceRequest, raw)
            source_id = parse_uuid("source_id", request.source_id)
            version = request.source_version_tx if request.HasField("source_version_tx") else None
            check_range("source_version_tx", version, INT64_MIN, INT64_MAX)
            window = read_window(request.window)
            check_window(window)
            found = self._sources.get(caller.tenant, caller.spaces, source_id, version, window)
            if found is None:
                raise NotFound(resource="source")
            response = memory_pb2.GetSourceResponse(source=source_message(found))
            if request.include_text:
                response.text = self._sources.text(caller.tenant, found, request.text_start, request.text_limit)
            return response

        return (await self._as_caller(call, "read", read))[1]

    async def list_sources(self, raw: bytes, call: Call) -> memory_pb2.ListSourcesResponse:
        """List sources by id."""

        def read(caller: Caller) -> memory_pb2.ListSourcesResponse:
            request = decode(memory_pb2.ListSourcesRequest, raw)
            asked = tuple(request.spaces)
            check_spaces(asked)
            spaces = caller.readable(asked)
            size = page_token.page_size(request.page_size, DEFAULT_PAGE, LARGEST_PAGE)
            filters = "\0".join(asked).encode()
            after = _position(page_token.read(request.page_token, filters)) if request.page_token else None
            found = self._sources.page(caller.tenant, spaces, after, size + 1)
            more = len(found) > size
            return memory_pb2.ListSourcesResponse(
                sources=[source_message(source) for source in found[:size]],
                next_page_token=page_token.write(_written(found[size - 1]), filters) if more else "",
            )

        return (await self._as_caller(call, "read", read))[1]

    async def query(self, raw: bytes, call: Call) -> memory_pb2.QueryResponse:
        """Find nodes by type and by what they say."""

        def read(_: Caller) -> memory_pb2.QueryResponse:
            request, filters = read_query(decode(memory_pb2.QueryRequest, raw))
            return query_response(self._planning.query(call.credential, request), request.after, filters)

        return (await self._as_caller(call, "read", read))[1]

    async def reembed(self, raw: bytes, call: Call) -> memory_pb2.ReembedResponse:
        """Go on with the move to the configured model."""

        def read(caller: Caller) -> int | None:
            if caller.spaces is not None:
                raise PermissionDenied(right="access to every space")
            return read_reembed(decode(memory_pb2.ReembedRequest, raw))

        caller, after = await self._as_caller(call, "admin", read)
        return reembed_response(await self._ingest.reembed(caller.tenant, after, by=caller.key_id))

    async def _as_caller(self, call: Call, right: str, work: Callable[[Caller], T]) -> tuple[Caller, T]:
        credential = call.admitted(self._quota) if right == "write" else call.need_credential()

        def run() -> tuple[Caller, T]:
            caller = self._planning.caller(credential)
            caller.need(right)
            return caller, work(caller)

        caller, result = await self._thread.run(run, call.deadline, call.holder)
        call.tenant = caller.tenant_name
        return caller, result

    async def _write(
        self, call: Call, request_type: type[M], raw: bytes, read: Callable[[M, Caller], T]
    ) -> tuple[Caller, IdempotencyKey | None, T]:
        def work(caller: Caller) -> tuple[IdempotencyKey | None, T]:
            request = decode(request_type, raw)
            return read_key(request, call.method, caller), read(request, caller)

        caller, (key, items) = await self._as_caller(call, "write", work)
        return caller, key, items


def _written(last: StoredSource) -> bytes:
    return last.source_id + last.source_no.to_bytes(_NUMBER_BYTES, "big")


def _position(raw: bytes) -> tuple[bytes, int]:
    if len(raw) != _ID_BYTES + _NUMBER_BYTES or raw[_ID_BYTES] > INT64_MAX >> 56:
        raise page_token.invalid()
    return raw[:_ID_BYTES], int.from_bytes(raw[_ID_BYTES:], "big")
