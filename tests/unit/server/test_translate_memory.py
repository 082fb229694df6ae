import math

import pytest
from google.protobuf import struct_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2
from telha_planner.caller import Caller
from telha_planner.core.errors import DocumentTooLarge, PermissionDenied, RequestInvalid
from telha_planner.memory.records import ClarificationRecord, EdgeRecord, VectorRecord
from telha_planner.server import page_token
from telha_planner.server.translate_memory import read_clarifications, read_documents, read_edges, read_nodes
from telha_planner.server.translate_properties import read_properties

ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
RIGHTS = frozenset({"read", "write"})
ANYWHERE = Caller(1, "acme", "k", RIGHTS, None)
LIMITED = Caller(1, "acme", "k", RIGHTS, ("own",))


def struct(**values):
    built = struct_pb2.Struct()
    built.update(values)
    return built


def node(**changes):
    return memory_pb2.Node(**{"node_id": ID, "type": "fact", **changes})


def edge(**changes):
    return memory_pb2.Edge(**{"edge_id": ID, "from_node_id": ID, "to_node_id": ID, "type": "t", **changes})


def clarification(**changes):
    fields = {"clarification_id": ID, "node_id": ID, "state": "pending", "question": "?"}
    return memory_pb2.Clarification(**{**fields, **changes})


def document(**changes):
    return memory_pb2.Document(**{"name": "a.md", "content": b"text", **changes})


def refusal(read, *arguments):
    with pytest.raises(RequestInvalid) as caught:
        read(*arguments)
    return caught.value


def test_a_document_goes_to_the_space_of_the_key():
    """M7: an empty space is the key's only space, or main."""
    message = memory_pb2.IngestRequest(documents=[document(), document(name="b", space="own", valid_from_us=-1)])
    assert [read.space for read in read_documents(message, ANYWHERE, 1000)] == ["main", "own"]
    first, second = read_documents(message, LIMITED, 1000)
    assert (first.space, second.space, first.valid_from, second.valid_from) == ("own", "own", None, -1)
    assert (first.source_id, first.uri, first.media_type) == (None, None, None)
    with pytest.raises(PermissionDenied):
        read_documents(memory_pb2.IngestRequest(documents=[document(space="main")]), LIMITED, 1000)


def test_a_document_above_the_limit_is_refused_by_name():
    """M8: the limit of a document holds in one message too."""
    message = memory_pb2.IngestRequest(documents=[document(), document(name="b", content=b"x" * 1001)])
    with pytest.raises(DocumentTooLarge) as caught:
        read_documents(message, ANYWHERE, 1000)
    assert caught.value.fields["field"] == "documents[1].content"
    assert "1,000 bytes" in caught.value.fields["rule"]


def test_a_node_is_read_with_properties_as_canonical_json():
    """M3: equal properties are equal text."""
    message = node(
        properties=struct(b=1, a=[None, True, {"é": 0.5}]),
        provenance=[plan_pb2.SpanRef(source_id=ID, source_version_tx=1, start=2, end=3)],
        vector=memory_pb2.NodeVector(model="mini", values=[0.5]),
        valid_to_us=5,
    )
    (read,) = read_nodes(memory_pb2.PutNodesRequest(nodes=[message]), ANYWHERE)
    assert read.properties == '{"a":[null,true,{"é":0.5}],"b":1}'
    assert (read.space, read.valid_from, read.valid_to) == ("main", None, 5)
    assert read.provenance[0][1:] == (1, 2, 3)
    assert read.vector == VectorRecord("mini", (0.5,))
    assert read_nodes(memory_pb2.PutNodesRequest(nodes=[node()]), ANYWHERE)[0].properties == "{}"


def test_edges_and_clarifications_are_read():
    """M3: edges and clarifications are read."""
    key = bytes.fromhex(ID.replace("-", ""))
    (first, second) = read_edges(
        memory_pb2.PutEdgesRequest(edges=[edge(), edge(confidence=0.25, valid_from_us=3)]), ANYWHERE
    )
    assert first == EdgeRecord(key, key, key, "t", 1.0)
    assert second == EdgeRecord(key, key, key, "t", 0.25, 3)
    message = memory_pb2.PutClarificationsRequest(clarifications=[clarification()])
    assert read_clarifications(message, ANYWHERE) == [ClarificationRecord(key, key, "pending", "?")]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"node_id": "x"}, "node_id"),
        ({"type": ""}, "type"),
        ({"type": "t" * 129}, "type"),
        ({"space": "*"}, "space"),
        ({"valid_from_us": 5, "valid_to_us": 5}, "valid_to_us"),
        ({"valid_from_us": 2**63 - 1}, "valid_from_us"),
        ({"properties": struct(a=[1, math.nan])}, "properties.a[1]"),
        ({"properties": struct(a={"b": "\0"})}, "properties.a.b"),
        ({"properties": struct(**{"\0": 1})}, "properties"),
        ({"properties": struct_pb2.Struct(fields={"a": struct_pb2.Value()})}, "properties.a"),
        ({"properties": struct(a="x" * 70_000)}, "properties"),
        ({"provenance": [plan_pb2.SpanRef(source_id=ID, start=3, end=3)]}, "provenance[0].end"),
        ({"provenance": [plan_pb2.SpanRef(source_id="?", end=3)]}, "provenance[0].source_id"),
        ({"provenance": [plan_pb2.SpanRef(source_id=ID, end=3)] * 257}, "provenance"),
        ({"vector": memory_pb2.NodeVector(model="m")}, "vector.values"),
        ({"vector": memory_pb2.NodeVector(values=[1])}, "vector.model"),
        ({"vector": memory_pb2.NodeVector(model="m", values=[math.inf])}, "vector.values[0]"),
    ],
)
def test_a_bad_node_is_refused_with_its_index(changed, field):
    """M3: the index of the bad item."""
    fault = refusal(read_nodes, memory_pb2.PutNodesRequest(nodes=[node(), node(**changed)]), ANYWHERE)
    assert fault.field == f"nodes[1].{field}"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"edge_id": ""}, "edge_id"),
        ({"from_node_id": "a"}, "from_node_id"),
        ({"to_node_id": "b"}, "to_node_id"),
        ({"type": "\n"}, "type"),
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"valid_from_us": 2, "valid_to_us": 1}, "valid_to_us"),
    ],
)
def test_a_bad_edge_is_refused_with_its_index(changed, field):
    """M3: a bad edge is refused with its index."""
    fault = refusal(read_edges, memory_pb2.PutEdgesRequest(edges=[edge(**changed)]), ANYWHERE)
    assert fault.field == f"edges[0].{field}"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"clarification_id": "x"}, "clarification_id"),
        ({"node_id": "x"}, "node_id"),
        ({"state": "open"}, "state"),
        ({"question": " "}, "question"),
        ({"question": "é" * 2049}, "question"),
        ({"question": "a\0"}, "question"),
    ],
)
def test_a_bad_clarification_is_refused_with_its_index(changed, field):
    """M3: a bad clarification is refused with its index."""
    message = memory_pb2.PutClarificationsRequest(clarifications=[clarification(**changed)])
    assert refusal(read_clarifications, message, ANYWHERE).field == f"clarifications[0].{field}"


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"source_id": "x"}, "source_id"),
        ({"name": ""}, "name"),
        ({"name": "n" * 1025}, "name"),
        ({"uri": "u" * 2049}, "uri"),
        ({"media_type": "application/pdf"}, "media_type"),
        ({"content": b""}, "content"),
        ({"content": b" \n"}, "content"),
        ({"content": b"\xff"}, "content"),
        ({"content": b"a\0b"}, "content"),
        ({"valid_from_us": 2**63 - 1}, "valid_from_us"),
    ],
)
def test_a_bad_document_is_refused_with_its_index(changed, field):
    """M2: nothing is written when one document is bad."""
    message = memory_pb2.IngestRequest(documents=[document(), document(**changed)])
    assert refusal(read_documents, message, ANYWHERE, 1000).field == f"documents[1].{field}"


@pytest.mark.parametrize("count", [0, 1001])
def test_a_batch_holds_1_to_1000_items(count):
    """M3: a batch holds 1 to 1000 items."""
    assert refusal(read_edges, memory_pb2.PutEdgesRequest(edges=[edge()] * count), ANYWHERE).field == "edges"


def test_a_property_of_minus_zero_is_zero():
    """S10: −0.0 becomes +0.0."""
    assert read_properties("p", struct(a=-0.0)) == '{"a":0}'


def test_a_page_token_is_bound_to_its_filters():
    """M3: a page token is bound to its filters."""
    token = page_token.write(b"position", b"filters")
    assert page_token.read(token, b"filters") == b"position"
    for text, filters in [
        (token, b"other"),
        ("", b"filters"),
        ("?", b"filters"),
        ("é", b"filters"),
        (token[:-3], b"x"),
    ]:
        assert refusal(page_token.read, text, filters).field == "page_token"


def test_a_page_size_has_a_default_and_a_ceiling():
    """M3: a page size has a default and a ceiling."""
    assert [page_token.page_size(asked, 100, 1000) for asked in (0, 1, 5000)] == [100, 1, 1000]
    assert refusal(page_token.page_size, -1, 100, 1000).field == "page_size"
