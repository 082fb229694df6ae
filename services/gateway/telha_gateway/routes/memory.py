"""Writing memory and reading its sources."""

from collections.abc import AsyncIterator

import msgspec
from telha.memory.v1 import memory_pb2

from telha_gateway.dto import artifacts, graph, ingest, sources, upload
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation, an_id

_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
_SOURCE_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e15"
_ARTIFACT_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e16"
_OTHER_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e11"
_EDGE_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e14"
_CLARIFICATION_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e12"
_SOURCE_RENAMES = {
    "source_id": "id",
    "source_version_tx": "version",
    "window.valid_time_us": "valid_time",
    "window.tx_time_us": "tx_time",
}


_UPLOAD_RENAMES = {"header.content_bytes": "", "header": "", "chunk": "", "content": ""}


async def _ingest(exchange: Exchange) -> msgspec.Struct:
    body = await exchange.body(ingest.IngestRequest)
    message = ingest.ingest_message(body, exchange.idempotency_key)
    return ingest.ingest_answer(
        await exchange.call(exchange.upstream.memory.Ingest, message, ingest.content_renames(body))
    )


async def _upload(exchange: Exchange) -> msgspec.Struct:
    parameters = exchange.parameters(upload.UploadParameters)
    media_type = exchange.media_type(upload.MEDIA_TYPES)
    header = upload.header_message(parameters, media_type, exchange.announced_bytes, exchange.idempotency_key)

    async def messages() -> AsyncIterator[memory_pb2.IngestStreamRequest]:
        yield header
        async for piece in exchange.pieces():
            yield memory_pb2.IngestStreamRequest(chunk=piece)

    answer = await exchange.send(exchange.upstream.memory.IngestStream, messages(), _UPLOAD_RENAMES)
    return upload.upload_answer(answer)


async def _nodes(exchange: Exchange) -> msgspec.Struct:
    message = graph.nodes_message(await exchange.body(graph.PutNodesRequest), exchange.idempotency_key)
    answer = await exchange.call(exchange.upstream.memory.PutNodes, message)
    return graph.committed(answer)


async def _edges(exchange: Exchange) -> msgspec.Struct:
    message = graph.edges_message(await exchange.body(graph.PutEdgesRequest), exchange.idempotency_key)
    answer = await exchange.call(exchange.upstream.memory.PutEdges, message)
    return graph.committed(answer)


async def _clarifications(exchange: Exchange) -> msgspec.Struct:
    message = graph.clarifications_message(
        await exchange.body(graph.PutClarificationsRequest), exchange.idempotency_key
    )
    answer = await exchange.call(exchange.upstream.memory.PutClarifications, message)
    return graph.committed(answer)


async def _artifacts(exchange: Exchange) -> msgspec.Struct:
    message = artifacts.artifacts_message(await exchange.body(artifacts.PutArtifactsRequest), exchange.idempotency_key)
    return artifacts.artifacts_answer(await exchange.call(exchange.upstream.memory.PutArtifacts, message))


async def _reembed(exchange: Exchange) -> msgspec.Struct:
    message = memory_pb2.ReembedRequest(cursor=(await exchange.body(artifacts.ReembedRequest)).cursor or "")
    return artifacts.reembed_answer(await exchange.call(exchange.upstream.memory.Reembed, message))


async def _sources(exchange: Exchange) -> msgspec.Struct:
    message = sources.list_message(exchange.parameters(sources.SourceListParameters))
    return sources.page_answer(await exchange.call(exchange.upstream.memory.ListSources, message))


async def _source(exchange: Exchange) -> msgspec.Struct:
    message = sources.get_message(exchange.path_value, exchange.parameters(sources.SourceParameters))
    return sources.detail_answer(await exchange.call(exchange.upstream.memory.GetSource, message, _SOURCE_RENAMES))


async def _erase(exchange: Exchange) -> msgspec.Struct:
    message = sources.erase_message(exchange.path_value, exchange.idempotency_key)
    return sources.erasure_answer(await exchange.call(exchange.upstream.memory.EraseSource, message, _SOURCE_RENAMES))


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/memory/sources",
        id="ingestSources",
        idempotent=True,
        tag="Memory",
        summary="Ingest documents",
        description="Splits documents into spans, nodes and edges, in one transaction: all or nothing. Sending the "
        "same content again changes nothing; changed content makes a new version.",
        body=ingest.IngestRequest,
        answer=ingest.Ingested,
        run=_ingest,
        leads_to={"getSource": ("id", "/documents/0/sourceId"), "eraseSource": ("id", "/documents/0/sourceId")},
        example={
            "documents": [
                {
                    "sourceId": _SOURCE_ID,
                    "name": "runbook.md",
                    "text": "# Deploys\n\nDeploys to eu-west need a sign-off.\n",
                }
            ]
        },
    ),
    Operation(
        method="POST",
        path="/v1/memory/documents",
        id="uploadDocument",
        idempotent=True,
        tag="Memory",
        summary="Ingest one document, sent as it is",
        description="For documents that are larger than a JSON body may be; passed on while it comes. `content-type` "
        "says what it is, `application/octet-stream` leaves that to the ending of the name.",
        raw_types=upload.MEDIA_TYPES,
        parameters=upload.UploadParameters,
        answer=upload.Uploaded,
        run=_upload,
        leads_to={"getSource": ("id", "/document/sourceId")},
    ),
    Operation(
        method="GET",
        path="/v1/memory/sources",
        id="listSources",
        tag="Memory",
        summary="List sources, by id",
        parameters=sources.SourceListParameters,
        answer=sources.SourcePage,
        run=_sources,
    ),
    Operation(
        method="GET",
        path="/v1/memory/sources/{id}",
        id="getSource",
        tag="Memory",
        summary="Read one source, as of any instant",
        path_parameter=an_id("The source."),
        parameters=sources.SourceParameters,
        answer=sources.SourceDetail,
        run=_source,
        statuses=(404,),
    ),
    Operation(
        method="DELETE",
        path="/v1/memory/sources/{id}",
        id="eraseSource",
        idempotent=True,
        tag="Memory",
        summary="Erase a source, all its versions and all that was derived from it",
        path_parameter=an_id("The source."),
        answer=sources.ErasureReceipt,
        run=_erase,
        statuses=(404,),
    ),
    Operation(
        method="POST",
        path="/v1/memory/nodes",
        id="putNodes",
        idempotent=True,
        tag="Memory",
        summary="Write nodes",
        body=graph.PutNodesRequest,
        answer=graph.Committed,
        run=_nodes,
        example={
            "nodes": [
                {"nodeId": _ID, "type": "service", "properties": {"name": "checkout", "tier": 1}},
                {"nodeId": _OTHER_ID, "type": "service", "properties": {"name": "payments", "tier": 1}},
            ]
        },
    ),
    Operation(
        method="POST",
        path="/v1/memory/edges",
        id="putEdges",
        idempotent=True,
        tag="Memory",
        summary="Write edges",
        body=graph.PutEdgesRequest,
        answer=graph.Committed,
        run=_edges,
        example={
            "edges": [
                {"edgeId": _EDGE_ID, "fromNodeId": _ID, "toNodeId": _OTHER_ID, "type": "depends_on", "confidence": 0.9}
            ]
        },
    ),
    Operation(
        method="POST",
        path="/v1/memory/clarifications",
        id="putClarifications",
        idempotent=True,
        tag="Memory",
        summary="Write clarifications",
        body=graph.PutClarificationsRequest,
        answer=graph.Committed,
        run=_clarifications,
        example={
            "clarifications": [
                {
                    "clarificationId": _CLARIFICATION_ID,
                    "nodeId": _OTHER_ID,
                    "state": "pending",
                    "question": "Who signs off deploys?",
                }
            ]
        },
    ),
    Operation(
        method="POST",
        path="/v1/memory/artifacts",
        id="putArtifacts",
        idempotent=True,
        tag="Memory",
        summary="Write derived artifacts: summaries and other texts made from sources",
        description="They may be planned as spans of class `cache`, at a discount; erasing what one was made from "
        "erases it.",
        body=artifacts.PutArtifactsRequest,
        answer=artifacts.WrittenArtifacts,
        run=_artifacts,
        leads_to={"getSource": ("id", "/artifacts/0/artifactId")},
        example={
            "artifacts": [
                {
                    "artifactId": _ARTIFACT_ID,
                    "name": "Deploys, in short",
                    "text": "Deploys to eu-west need a sign-off.",
                    "derivedFrom": [_SOURCE_ID],
                }
            ]
        },
    ),
    Operation(
        method="POST",
        path="/v1/memory/reembed",
        id="reembed",
        tag="Memory",
        summary="Go on with the move to the configured embedding model",
        description="Each call writes one batch of vectors beside the old ones, or makes the model active; repeat it "
        "until `finished`. Needs `admin` and a key that is not limited to spaces.",
        body=artifacts.ReembedRequest,
        answer=artifacts.Reembedded,
        run=_reembed,
        statuses=(422,),
        example={"cursor": None},
    ),
)
