"""Writing memory and reading its sources."""

import msgspec

from telha_gateway.dto import graph, ingest, sources
from telha_gateway.exchange import Exchange
from telha_gateway.operations import Operation, an_id

_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
_OTHER_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e11"
_EDGE_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e14"
_CLARIFICATION_ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e12"
_SOURCE_RENAMES = {
    "source_id": "id",
    "source_version_tx": "version",
    "window.valid_time_us": "valid_time",
    "window.tx_time_us": "tx_time",
}


async def _ingest(exchange: Exchange) -> msgspec.Struct:
    body = await exchange.body(ingest.IngestRequest)
    message = ingest.ingest_message(body)
    return ingest.ingest_answer(
        await exchange.call(exchange.upstream.memory.Ingest, message, ingest.content_renames(body))
    )


async def _nodes(exchange: Exchange) -> msgspec.Struct:
    message = graph.nodes_message(await exchange.body(graph.PutNodesRequest))
    answer = await exchange.call(exchange.upstream.memory.PutNodes, message)
    return graph.Committed(tx_time=answer.tx_us)


async def _edges(exchange: Exchange) -> msgspec.Struct:
    message = graph.edges_message(await exchange.body(graph.PutEdgesRequest))
    answer = await exchange.call(exchange.upstream.memory.PutEdges, message)
    return graph.Committed(tx_time=answer.tx_us)


async def _clarifications(exchange: Exchange) -> msgspec.Struct:
    message = graph.clarifications_message(await exchange.body(graph.PutClarificationsRequest))
    answer = await exchange.call(exchange.upstream.memory.PutClarifications, message)
    return graph.Committed(tx_time=answer.tx_us)


async def _sources(exchange: Exchange) -> msgspec.Struct:
    message = sources.list_message(exchange.parameters(sources.SourceListParameters))
    return sources.page_answer(await exchange.call(exchange.upstream.memory.ListSources, message))


async def _source(exchange: Exchange) -> msgspec.Struct:
    message = sources.get_message(exchange.path_value, exchange.parameters(sources.SourceParameters))
    return sources.detail_answer(await exchange.call(exchange.upstream.memory.GetSource, message, _SOURCE_RENAMES))


async def _erase(exchange: Exchange) -> msgspec.Struct:
    message = sources.erase_message(exchange.path_value)
    return sources.erasure_answer(await exchange.call(exchange.upstream.memory.EraseSource, message, _SOURCE_RENAMES))


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/memory/sources",
        id="ingestSources",
        tag="Memory",
        summary="Ingest documents",
        description="Splits documents into spans, nodes and edges, in one transaction: all or nothing. Sending the "
        "same content again changes nothing; changed content makes a new version.",
        body=ingest.IngestRequest,
        answer=ingest.Ingested,
        run=_ingest,
        leads_to={"getSource": ("id", "/documents/0/sourceId"), "eraseSource": ("id", "/documents/0/sourceId")},
        example={"documents": [{"name": "runbook.md", "text": "# Deploys\n\nDeploys to eu-west need a sign-off.\n"}]},
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
)
