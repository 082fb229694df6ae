"""Every kind of bad write over REST, behind good ones in its batch: refused whole with its place, nothing written."""

import base64
import json
import sqlite3
from uuid import UUID, uuid4

import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from rest_contract import check

A, B = str(uuid4()), str(uuid4())
TEXT = "# Olá\n\nO elétrico 🧑‍🚀 parte às 05:12. 你好 שלום\n"
SURROGATE, NUL = "\ud800", "a\0b"
INSTANTS = {
    "naive": "2026-06-30T12:00:00",
    "a date": "2026-06-30",
    "sub-microsecond": "2026-06-30T12:00:00.1234567Z",
    "off the calendar": "2026-02-30T00:00:00Z",
    "off the clock": "2026-06-30T25:00:00Z",
    "a leap second": "2026-06-30T23:59:60Z",
    "the open end": 2**63 - 1,
    "beyond 64 bits": -(2**63) - 1,
    "a fraction": 1.5,
    "digits in words": "12345",
    "nothing": "",
    "the wrong type": True,
}


class Stored:
    """A planner with one document and two nodes, a gateway before it, and what must not change."""

    def __init__(self, planner, rest):
        self.planner, self.rest = planner, rest
        document = self.sent("sources", {"documents": [{"name": "a.md", "text": TEXT}]}).json()["documents"][0]
        self.source, self.version = document["sourceId"], document["sourceVersionTx"]
        nodes = [
            {"nodeId": A, "type": "fact", "vector": {"model": "mini", "values": [1, 0.5, 0.25]}},
            {"nodeId": B, "type": "fact"},
        ]
        assert self.sent("nodes", {"nodes": nodes}).status_code == httpx.codes.OK

    def sent(self, path, body):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        return self.rest.post(f"/v1/memory/{path}", content=raw, headers=headers)

    def rows(self):
        with sqlite3.connect(f"file:{self.planner.folder / 'memory.db'}?mode=ro", uri=True) as connection:
            rows = tuple(connection.iterdump())
        connection.close()
        return rows


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("bad")) as planner:
        headers = {"authorization": f"Bearer {planner.key()}"}
        with (
            running(Script(), planner=planner.address) as url,
            httpx.Client(base_url=url, headers=headers, timeout=20, event_hooks={"response": [check]}) as rest,
        ):
            yield Stored(planner, rest)


def node(**changes):
    return {"nodeId": str(uuid4()), "type": "t", **changes}


def edge(**changes):
    return {"edgeId": str(uuid4()), "fromNodeId": A, "toNodeId": B, "type": "t", **changes}


def clarification(**changes):
    return {"clarificationId": str(uuid4()), "nodeId": A, "state": "pending", "question": "?", **changes}


def document(**changes):
    return {"name": f"{uuid4()}.txt", "text": "hello", **changes}


def deep(levels):
    inner = {}
    for _ in range(levels):
        inner = {"a": inner}
    return inner


def vector(*values, model="mini"):
    return {"vector": {"model": model, "values": list(values)}}


ITEMS = {"nodes": node, "edges": edge, "clarifications": clarification, "documents": document}
PATHS = {"nodes": "nodes", "edges": "edges", "clarifications": "clarifications", "documents": "sources"}

BAD = {
    "nodes": [
        ({"nodeId": "x"}, "/nodeId"),
        ({"nodeId": A.upper()}, "/nodeId"),
        ({"space": "*"}, "/space"),
        ({"space": NUL}, "/space"),
        ({"space": SURROGATE}, "/space"),
        ({"type": ""}, "/type"),
        ({"type": "a\nb"}, "/type"),
        ({"type": NUL}, "/type"),
        ({"type": SURROGATE}, "/type"),
        ({"type": "家" * 43}, "/type"),
        ({"type": 7}, "/type"),
        ({"bogus": 1}, "/bogus"),
        ({"properties": {"a": {"b": [SURROGATE]}}}, "/properties/a/b/0"),
        ({"properties": {"a": [NUL]}}, "/properties/a/0"),
        ({"properties": {NUL: 1}}, "/properties"),
        ({"properties": {"x": "y" * 70_000}}, "/properties"),
        ({"properties": deep(200)}, "/properties" + "/a" * 24),
        (vector(1, 2), "/vector/values"),
        (vector(0, 0, 0), "/vector/values"),
        (vector(1e-50, 0, 0), "/vector/values"),
        (vector(), "/vector/values"),
        (vector(1, 1e39, 1), "/vector/values/1"),
        (vector(1, 1, 1, model=""), "/vector/model"),
        ({"validFrom": 5, "validTo": 5}, "/validTo"),
    ],
    "edges": [
        ({"edgeId": "x"}, "/edgeId"),
        ({"toNodeId": str(uuid4())}, "/toNodeId"),
        ({"fromNodeId": str(uuid4())}, "/fromNodeId"),
        ({"type": " "}, "/type"),
        ({"type": SURROGATE}, "/type"),
        ({"confidence": 0}, "/confidence"),
        ({"confidence": -1}, "/confidence"),
        ({"confidence": 1.0001}, "/confidence"),
        ({"validFrom": 5, "validTo": 4}, "/validTo"),
        ({"bogus": 1}, "/bogus"),
    ],
    "clarifications": [
        ({"clarificationId": "x"}, "/clarificationId"),
        ({"nodeId": str(uuid4())}, "/nodeId"),
        ({"state": "unsure"}, "/state"),
        ({"question": " \t"}, "/question"),
        ({"question": NUL}, "/question"),
        ({"question": SURROGATE}, "/question"),
        ({"question": "家" * 1366}, "/question"),
        ({"bogus": 1}, "/bogus"),
    ],
    "documents": [
        ({"sourceId": "x"}, "/sourceId"),
        ({"name": ""}, "/name"),
        ({"name": NUL}, "/name"),
        ({"name": SURROGATE}, "/name"),
        ({"name": "n" * 1025}, "/name"),
        ({"uri": ""}, "/uri"),
        ({"uri": NUL}, "/uri"),
        ({"uri": "u" * 2049}, "/uri"),
        ({"space": "*"}, "/space"),
        ({"space": SURROGATE}, "/space"),
        ({"mediaType": "application/pdf"}, "/mediaType"),
        ({"text": ""}, "/text"),
        ({"text": " \n"}, "/text"),
        ({"text": NUL}, "/text"),
        ({"text": SURROGATE}, "/text"),
        ({"text": None}, "/text"),
        ({"contentBase64": "aGk="}, "/contentBase64"),
        ({"text": None, "contentBase64": "!!"}, "/contentBase64"),
        ({"text": None, "contentBase64": base64.b64encode(b"a\xed\xa0\x80").decode()}, "/contentBase64"),
        ({"bogus": 1}, "/bogus"),
    ],
}
for _instant in INSTANTS.values():
    for _kind in ("nodes", "edges", "documents"):
        BAD[_kind].append(({"validFrom": _instant}, "/validFrom"))
    BAD["nodes"].append(({"validTo": _instant}, "/validTo"))

CASES = [(kind, changes, place) for kind, cases in BAD.items() for changes, place in cases]


def refused(stored, path, body, pointer):
    before = stored.rows()
    answer = stored.sent(path, body)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["pointer"]) == (400, "INVALID_REQUEST", pointer), problem
    assert problem["detail"].removeprefix(pointer).strip()
    assert stored.rows() == before


@pytest.mark.parametrize(("kind", "changes", "place"), CASES, ids=str)
def test_a_bad_item_refuses_its_batch_whole(stored, kind, changes, place):
    """M1, M3, S10, A2: the last of three breaks a rule: its index and its field are told, and nothing is written."""
    make = ITEMS[kind]
    refused(stored, PATHS[kind], {kind: [make(), make(), make(**changes)]}, f"/{kind}/2{place}")


@pytest.mark.parametrize("kind", ITEMS)
def test_the_same_twice_in_one_batch_is_refused(stored, kind):
    """M3: duplicate ids, with the place of the second."""
    item, (name, *_) = ITEMS[kind](), ITEMS[kind]()
    if kind == "documents":
        item, name = document(sourceId=str(uuid4())), "sourceId"
    refused(stored, PATHS[kind], {kind: [item, ITEMS[kind](), item]}, f"/{kind}/2/{name}")


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("count", [0, 1001])
def test_a_batch_holds_1_to_1000_items(stored, kind, count):
    """M3, A1: neither none nor too many."""
    refused(stored, PATHS[kind], {kind: [ITEMS[kind]() for _ in range(count)]}, f"/{kind}")


@pytest.mark.parametrize(
    ("start", "end", "place"),
    [
        (0, len(TEXT.encode()) + 1, "/end"),
        (3, 3, "/end"),
        (5, 3, "/end"),
        (-1, 3, "/start"),
        (0, 2**53, "/end"),
        (0, len(b"# Ol") + 1, "/end"),
        (len("# Olá\n\nO elétrico ".encode()) + 2, len(TEXT.encode()), "/start"),
    ],
)
def test_a_span_that_is_none_refuses_its_batch(stored, start, end, place):
    """M1, S10: beyond the end, empty, backwards, before the start, inside a character."""
    good = {"sourceId": stored.source, "sourceVersionTx": stored.version, "start": 0, "end": 2}
    spans = [good, {**good, "start": start, "end": end}]
    refused(stored, "nodes", {"nodes": [node(), node(provenance=spans)]}, f"/nodes/1/provenance/1{place}")
    for odd in ({"sourceVersionTx": stored.version + 1}, {"sourceId": A}):
        spans = [{**good, **odd}]
        refused(stored, "nodes", {"nodes": [node(), node(provenance=spans)]}, "/nodes/1/provenance/0")
    refused(stored, "nodes", {"nodes": [node(provenance=[good, good])]}, "/nodes/0/provenance/1")
    refused(stored, "nodes", {"nodes": [node(space="other", provenance=[good])]}, "/nodes/0/provenance/0")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_refuses_its_batch(stored, number):
    """S10, M3: in vectors, confidences and properties."""
    for kind, changes, place in (
        ("nodes", vector(1, "X", 1), "/vector/values/1"),
        ("nodes", {"properties": {"a": ["X"]}}, "/properties/a/0"),
        ("edges", {"confidence": "X"}, "/confidence"),
    ):
        raw = json.dumps({kind: [ITEMS[kind](), ITEMS[kind](**changes)]}).replace('"X"', number).encode()
        refused(stored, kind, raw, f"/{kind}/1{place}")


def test_the_first_vectors_of_a_model_must_agree_with_each_other(stored):
    """M1: the dimension that the first fixes holds for the rest of its own batch, and falls with it."""
    batch = {"nodes": [node(**vector(1, 2, 3, model="new")), node(**vector(1, 2, model="new"))]}
    refused(stored, "nodes", batch, "/nodes/1/vector/values")


def test_what_ingestion_made_is_not_written_by_api(stored):
    """M3: a node of a document belongs to the document."""
    with sqlite3.connect(f"file:{stored.planner.folder / 'memory.db'}?mode=ro", uri=True) as connection:
        (derived,) = connection.execute(
            "SELECT lower(hex(node_id)) FROM node WHERE source_no NOTNULL LIMIT 1"
        ).fetchone()
    connection.close()
    refused(stored, "nodes", {"nodes": [node(), node(nodeId=str(UUID(derived)))]}, "/nodes/1/nodeId")


def test_bytes_that_are_no_utf_8_are_refused(stored):
    """S10: the body as a whole, before anything is read of it."""
    refused(stored, "sources", b'{"documents":[{"name":"a","text":"\xff"}]}', "")
