"""Ingestion, graph writes, sources and traces through the gateway."""

import base64

import pytest
from google.protobuf import struct_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2
from telha.trace.v1 import traces_pb2

SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
OTHER = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e11"
TEXT = "# 部署\n\nשלום 🧑‍🚀\n"

HASH = "b3:" + "00" * 32


def refusal(answer):
    problem = answer.json()
    assert answer.status_code == 400
    assert problem["code"] == "INVALID_REQUEST"
    return problem["pointer"], problem["detail"]


def test_documents_arrive_byte_for_byte(rest, script):
    """M2: a document's bytes are the caller's, as text or as base64; the answer says what became of each."""
    script.answers["Ingest"] = memory_pb2.IngestResponse(
        documents=[
            memory_pb2.IngestedDocument(
                source_id=SOURCE,
                source_version_tx=7,
                outcome=memory_pb2.INGEST_OUTCOME_CREATED,
                spans=3,
                nodes_opened=4,
                nodes_closed=5,
                nodes_kept=6,
            ),
            memory_pb2.IngestedDocument(source_id=OTHER, outcome=memory_pb2.INGEST_OUTCOME_UNCHANGED),
        ],
        tx_us=7,
    )
    documents = [
        {
            "sourceId": SOURCE,
            "name": "a.md",
            "uri": "file:///a.md",
            "space": "team",
            "mediaType": "text/markdown",
            "text": TEXT,
            "validFrom": "2026-06-01T12:00:00Z",
        },
        {"name": "b.txt", "contentBase64": base64.b64encode(TEXT.encode()).decode()},
    ]
    answer = rest.post("/v1/memory/sources", json={"documents": documents})
    assert answer.status_code == 200
    assert answer.json() == {
        "documents": [
            {
                "sourceId": SOURCE,
                "sourceVersionTx": 7,
                "outcome": "created",
                "spans": 3,
                "nodesOpened": 4,
                "nodesClosed": 5,
                "nodesKept": 6,
            },
            {
                "sourceId": OTHER,
                "sourceVersionTx": 0,
                "outcome": "unchanged",
                "spans": 0,
                "nodesOpened": 0,
                "nodesClosed": 0,
                "nodesKept": 0,
            },
        ],
        "txTime": 7,
    }
    assert script.asked["Ingest"] == memory_pb2.IngestRequest(
        documents=[
            memory_pb2.Document(
                source_id=SOURCE,
                name="a.md",
                uri="file:///a.md",
                space="team",
                media_type="text/markdown",
                content=TEXT.encode(),
                valid_from_us=1780315200000000,
            ),
            memory_pb2.Document(name="b.txt", content=TEXT.encode()),
        ]
    )


@pytest.mark.parametrize(
    ("document", "pointer", "rule"),
    [
        ({"name": "a"}, "/documents/1/text", "or contentBase64 is required"),
        ({"name": "a", "text": "x", "contentBase64": "eA=="}, "/documents/1/contentBase64", "absent beside text"),
        ({"name": "a", "contentBase64": "eA"}, "/documents/1/contentBase64", "base64"),
        ({"name": "a", "contentBase64": "e A=="}, "/documents/1/contentBase64", "base64"),
        ({"name": "a", "contentBase64": "é"}, "/documents/1/contentBase64", "base64"),
        ({"text": "x"}, "/documents/1/name", "is required"),
        ({"name": "a", "text": "x", "validFrom": "2026-06-01"}, "/documents/1/validFrom", "RFC 3339"),
        ({"name": "a", "text": "x", "txFrom": 1}, "/documents/1/txFrom", "is not a known field"),
    ],
)
def test_a_bad_document_refuses_the_batch_with_its_index(rest, script, document, pointer, rule):
    """M3: a batch is all or nothing, and the refusal names the bad item."""
    answer = rest.post("/v1/memory/sources", json={"documents": [{"name": "ok", "text": "fine"}, document]})
    place, detail = refusal(answer)
    assert place == pointer
    assert rule in detail
    assert script.asked == {}


def test_nodes_edges_and_clarifications_arrive_whole(rest, script):
    """M3: every field of the graph writes reaches the planner."""
    script.answers["PutNodes"] = memory_pb2.PutNodesResponse(tx_us=1)
    script.answers["PutEdges"] = memory_pb2.PutEdgesResponse(tx_us=2)
    script.answers["PutClarifications"] = memory_pb2.PutClarificationsResponse(tx_us=3)
    properties = {"name": "checkout", "tier": 1, "tags": ["a", None, True], "nested": {"load": 0.5}}
    node = {
        "nodeId": SOURCE,
        "space": "team",
        "type": "service",
        "properties": properties,
        "validFrom": 5,
        "validTo": "2026-06-01T12:00:00Z",
        "provenance": [{"sourceId": OTHER, "sourceVersionTx": 9, "start": 0, "end": 4}],
        "vector": {"model": "m", "values": [0.5, 0.25]},
    }
    edge = {
        "edgeId": SOURCE,
        "fromNodeId": SOURCE,
        "toNodeId": OTHER,
        "type": "depends_on",
        "confidence": 0.5,
        "validFrom": 1,
        "validTo": 2,
    }
    question = {"clarificationId": SOURCE, "nodeId": OTHER, "state": "pending", "question": "Who?"}
    assert rest.post("/v1/memory/nodes", json={"nodes": [node]}).json() == {"txTime": 1}
    assert rest.post("/v1/memory/edges", json={"edges": [edge]}).json() == {"txTime": 2}
    assert rest.post("/v1/memory/clarifications", json={"clarifications": [question]}).json() == {"txTime": 3}
    struct = struct_pb2.Struct()
    struct.update(properties)
    assert script.asked["PutNodes"] == memory_pb2.PutNodesRequest(
        nodes=[
            memory_pb2.Node(
                node_id=SOURCE,
                space="team",
                type="service",
                properties=struct,
                valid_from_us=5,
                valid_to_us=1780315200000000,
                provenance=[plan_pb2.SpanRef(source_id=OTHER, source_version_tx=9, start=0, end=4)],
                vector=memory_pb2.NodeVector(model="m", values=[0.5, 0.25]),
            )
        ]
    )
    assert script.asked["PutEdges"] == memory_pb2.PutEdgesRequest(
        edges=[
            memory_pb2.Edge(
                edge_id=SOURCE,
                from_node_id=SOURCE,
                to_node_id=OTHER,
                type="depends_on",
                confidence=0.5,
                valid_from_us=1,
                valid_to_us=2,
            )
        ]
    )
    assert script.asked["PutClarifications"] == memory_pb2.PutClarificationsRequest(
        clarifications=[
            memory_pb2.Clarification(clarification_id=SOURCE, node_id=OTHER, state="pending", question="Who?")
        ]
    )


def test_a_property_that_float64_would_change_is_refused(rest, script):
    """M3: nothing is silently rounded on the way in."""
    node = {"nodeId": SOURCE, "type": "t", "properties": {"ok": 1, "big": [2**53 + 1]}}
    pointer, _ = refusal(rest.post("/v1/memory/nodes", json={"nodes": [node]}))
    assert pointer == "/nodes/0/properties/big/0"
    assert script.asked == {}


def a_source(**changes):
    return memory_pb2.Source(
        **{
            "source_id": SOURCE,
            "name": "a.md",
            "space": "main",
            "source_version_tx": 9,
            "length": 20,
            "content_hash": HASH,
            "valid_from_us": 5,
            "span_class": plan_pb2.SPAN_CLASS_CACHE,
            **changes,
        }
    )


SOURCE_JSON = {
    "sourceId": SOURCE,
    "name": "a.md",
    "space": "main",
    "sourceVersionTx": 9,
    "length": 20,
    "contentHash": HASH,
    "validFrom": 5,
    "class": "cache",
}


def test_a_source_is_read_as_of_any_instant(rest, script):
    """M1: version, valid time and transaction time are the caller's to choose; the text comes only when asked for."""
    script.answers["GetSource"] = memory_pb2.GetSourceResponse(source=a_source(uri="file:///a"), text=TEXT)
    answer = rest.get(
        f"/v1/memory/sources/{SOURCE}",
        params={"includeText": "true", "version": "9", "validTime": "2026-06-01T14:00:00+02:00", "txTime": "-7"},
    )
    assert answer.json() == {**SOURCE_JSON, "uri": "file:///a", "text": TEXT}
    assert script.asked["GetSource"] == memory_pb2.GetSourceRequest(
        source_id=SOURCE,
        source_version_tx=9,
        window=plan_pb2.Window(valid_time_us=1780315200000000, tx_time_us=-7),
        include_text=True,
    )
    script.answers["GetSource"] = memory_pb2.GetSourceResponse(source=a_source())
    assert rest.get(f"/v1/memory/sources/{SOURCE}").json() == SOURCE_JSON


def test_sources_are_listed_page_by_page(rest, script):
    """A2: pages by opaque token; the last page has none."""
    script.answers["ListSources"] = memory_pb2.ListSourcesResponse(sources=[a_source()], next_page_token="t2")
    answer = rest.get("/v1/memory/sources", params={"spaces": ["a", "b"], "pageSize": 1, "pageToken": "t1"})
    assert answer.json() == {"sources": [SOURCE_JSON], "nextPageToken": "t2"}
    assert script.asked["ListSources"] == memory_pb2.ListSourcesRequest(spaces=["a", "b"], page_size=1, page_token="t1")
    script.answers["ListSources"] = memory_pb2.ListSourcesResponse()
    assert rest.get("/v1/memory/sources").json() == {"sources": []}


def test_erasing_gives_a_receipt(rest, script):
    """M5: the receipt says what was removed."""
    script.answers["EraseSource"] = memory_pb2.EraseSourceResponse(
        source_id=SOURCE, tx_us=1, versions=2, spans=3, nodes=4, edges=5, vectors=6, artifacts=7
    )
    assert rest.delete(f"/v1/memory/sources/{SOURCE}").json() == {
        "sourceId": SOURCE,
        "txTime": 1,
        "versions": 2,
        "spans": 3,
        "nodes": 4,
        "edges": 5,
        "vectors": 6,
        "artifacts": 7,
    }
    assert script.asked["EraseSource"].source_id == SOURCE


@pytest.mark.parametrize(
    ("path", "pointer", "rule"),
    [
        (f"/v1/memory/sources/{SOURCE}?include_text=true", "/include_text", "is not a known field"),
        (f"/v1/memory/sources/{SOURCE}?includeText=maybe", "/includeText", "must be true or false"),
        (f"/v1/memory/sources/{SOURCE}?version=1.5", "/version", "must be an integer"),
        (f"/v1/memory/sources/{SOURCE}?version=null", "/version", "must be an integer"),
        (f"/v1/memory/sources/{SOURCE}?version=1e3", "/version", "must be an integer"),
        (f"/v1/memory/sources/{SOURCE}?version=", "/version", "must be an integer"),
        (f"/v1/memory/sources/{SOURCE}?includeText=null", "/includeText", "must be true or false"),
        (f"/v1/memory/sources/{SOURCE}?includeText=TRUE", "/includeText", "must be true or false"),
        (f"/v1/memory/sources/{SOURCE}?version=99999999999999999999", "/version", "must"),
        (f"/v1/memory/sources/{SOURCE}?version=1&version=2", "/version", "must not be given twice"),
        (f"/v1/memory/sources/{SOURCE}?txTime=2026-06-01T12:00:00", "/txTime", "offset"),
        (f"/v1/memory/sources/{SOURCE}?txTime=2026-06-01T14:00:00+02:00", "/txTime", "RFC 3339"),
        ("/v1/memory/sources?pageSize=-1", "/pageSize", "must be at least 0"),
        ("/v1/memory/sources?pageSize=9999999999", "/pageSize", "must be at most"),
        ("/v1/memory/sources?pageToken=%ff", "", "UTF-8"),
        ("/v1/traces?from=yesterday", "/from", "RFC 3339"),
        ("/v1/traces?limit=5", "/limit", "is not a known field"),
        (f"/v1/trace/{SOURCE}?full=1", "/full", "is not a known field"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(rest, script, path, pointer, rule):
    """A2: query parameters are as strict as bodies."""
    place, detail = refusal(rest.get(path))
    assert place == pointer
    assert rule in detail
    assert script.asked == {}


def test_a_misspelt_parameter_never_erases(rest, script):
    """A2: a misspelt parameter never erases."""
    place, _ = refusal(rest.delete(f"/v1/memory/sources/{SOURCE}?dryRun=true"))
    assert place == "/dryRun"
    assert script.asked == {}


def test_a_path_id_goes_through_as_it_is(rest, script):
    """A2: the planner alone judges ids, so that REST and gRPC refuse the same ones."""
    script.answers["GetSource"] = memory_pb2.GetSourceResponse(source=a_source())
    rest.get("/v1/memory/sources/Not%20an%20id%00")
    assert script.asked["GetSource"].source_id == "Not an id\0"


SUMMARY = traces_pb2.TraceSummary(
    trace_id=OTHER,
    kind="plan",
    recorded_us=11,
    spaces=["main"],
    plan_hash=HASH,
    budget=100,
    used=90,
    items=2,
    stranded=3,
)
SUMMARY_JSON = {
    "traceId": OTHER,
    "kind": "plan",
    "recorded": 11,
    "spaces": ["main"],
    "planHash": HASH,
    "budget": 100,
    "used": 90,
    "items": 2,
    "stranded": 3,
}


def test_a_trace_is_summary_and_record(rest, script):
    """X4: the record comes whole, numbers that are whole as integers."""
    record = struct_pb2.Struct()
    record.update({"v": 1, "kind": "plan", "window": {"txTime": 1780315200000001}, "weights": [0.5, 2.0], "x": None})
    script.answers["Get"] = traces_pb2.GetResponse(summary=SUMMARY, record=record)
    answer = rest.get(f"/v1/trace/{OTHER}")
    assert answer.json() == {
        **SUMMARY_JSON,
        "record": {"v": 1, "kind": "plan", "window": {"txTime": 1780315200000001}, "weights": [0.5, 2], "x": None},
    }
    assert '"v":1,' in answer.text
    assert '"txTime":1780315200000001' in answer.text
    assert script.asked["Get"].trace_id == OTHER


def test_traces_are_listed_by_filter_and_page(rest, script):
    """X4: listing by time, kind and space, with page tokens."""
    script.answers["List"] = traces_pb2.ListResponse(
        traces=[SUMMARY, traces_pb2.TraceSummary(trace_id=SOURCE, kind="dream")], next_page_token="n"
    )
    answer = rest.get(
        "/v1/traces",
        params={
            "kind": "plan",
            "space": "main",
            "from": "1970-01-01T00:00:01Z",
            "to": "2000000",
            "minUsedShare": "0.25",
            "maxUsedShare": "1",
            "stranded": "false",
            "pageSize": "2",
            "pageToken": "p",
        },
    )
    unknown = {"traceId": SOURCE, "kind": "dream", "recorded": 0, "spaces": []}
    unknown |= {"budget": 0, "used": 0, "items": 0, "stranded": 0}
    assert answer.json() == {"traces": [SUMMARY_JSON, unknown], "nextPageToken": "n"}
    assert script.asked["List"] == traces_pb2.ListRequest(
        kind="plan",
        space="main",
        from_us=1_000_000,
        to_us=2_000_000,
        page_size=2,
        page_token="p",
        min_used_share=0.25,
        max_used_share=1.0,
        stranded=False,
    )
    for parameter, value in (("minUsedShare", "much"), ("maxUsedShare", "0x1"), ("stranded", "yes")):
        refused = rest.get("/v1/traces", params={parameter: value})
        assert (refused.status_code, refused.json()["pointer"]) == (400, f"/{parameter}")
