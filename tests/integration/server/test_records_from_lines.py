"""`telha ingest --as records`: JSON lines as nodes, edges and clarifications, over real gRPC."""

import json
import uuid
from pathlib import Path

import pytest
from planner_server import RealPlanner
from telha_cli import records
from telha_cli.calls import Service
from telha_cli.problems import Problem, UsageInvalid
from telha_cli.remember import Keys
from telha_client import Document

ANA, BEN, KNOWS, DOUBT = (str(uuid.uuid4()) for _ in range(4))
NODES = {
    "nodes": [
        {"nodeId": ANA, "type": "person", "properties": {"name": "Ana"}, "validFrom": "2026-06-30T12:00:00+01:00"},
        {"nodeId": BEN, "type": "person", "validFrom": 5, "validTo": 6_000_000},
    ]
}
EDGES = {"edges": [{"edgeId": KNOWS, "fromNodeId": ANA, "toNodeId": BEN, "type": "knows", "confidence": 0.5}]}
DOUBTS = {
    "clarifications": [{"clarificationId": DOUBT, "nodeId": ANA, "state": "pending", "question": "Which Ana?"}],
}


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("records")) as planner:
        yield planner


@pytest.fixture
def client(planner):
    with planner.client(f"tenant-{uuid.uuid4()}") as client:
        yield client


def lines(folder: Path, *bodies: object) -> Path:
    path = folder / "records.jsonl"
    path.write_text("\n\n".join(body if isinstance(body, str) else json.dumps(body) for body in bodies), "utf-8")
    return path


def test_lines_are_written_in_order_and_again_change_nothing(client, tmp_path):
    """M3: each line is a transaction; what stands already is no news."""
    read = records.read([lines(tmp_path, NODES, EDGES, DOUBTS)], None)
    told = records.write(Service(client), read, Keys(None))["records"]
    assert [each.get("nodes", each.get("edges", each.get("clarifications"))) for each in told] == [2, 1, 1]
    assert [each["line"].rpartition(" ")[2] for each in told] == ["1", "3", "5"]
    assert sorted({each["txTime"] for each in told}) == [each["txTime"] for each in told]
    again = records.write(Service(client), read, Keys(None))["records"]
    assert {each["txTime"] for each in again} == {told[-1]["txTime"]}


def test_a_refused_line_is_named_and_those_before_it_stay(client, tmp_path):
    """M3: an edge to nowhere."""
    dangling = {"edges": [{**EDGES["edges"][0], "toNodeId": str(uuid.uuid4())}]}
    with pytest.raises(Problem, match=r"records\.jsonl line 3: edges\[0\]\.to_node_id") as caught:
        records.write(Service(client), records.read([lines(tmp_path, NODES, dangling)], None), Keys(None))
    assert caught.value.hint == "the lines before it are written; sending them again changes nothing"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{", r"line 1: Input data was truncated"),
        ({"node": []}, r"line 1: Object contains unknown field `node`"),
        ({}, r"line 1: must hold exactly one kind of record"),
        (NODES | EDGES, r"line 1: must hold exactly one kind of record"),
        ({"nodes": [{"nodeId": ANA}]}, r"line 1: Object missing required field `type` - at `\$\.nodes\[0\]`"),
        (
            {"nodes": [{"nodeId": ANA, "type": "p", "validFrom": "2026-06-30"}]},
            r"line 1: nodes\[0\]\.validFrom must say its offset from UTC",
        ),
        ({"clarifications": [{**DOUBTS["clarifications"][0], "state": "open"}]}, r"line 1: Invalid enum value 'open'"),
    ],
)
def test_nothing_is_sent_when_a_line_is_malformed(tmp_path, body, told):
    """M3: file, line and field are named."""
    with pytest.raises(Problem, match=told):
        records.read([lines(tmp_path, body)], None)


def test_a_missing_file_is_refused(tmp_path):
    """A3: before anything is read."""
    with pytest.raises(UsageInvalid, match="cannot be read"):
        records.read([tmp_path / "nowhere.jsonl"], None)


def test_a_space_is_given_to_nodes_that_name_none(tmp_path):
    """M7: a node's own space wins."""
    body = {"nodes": [{"nodeId": ANA, "type": "p"}, {"nodeId": BEN, "type": "p", "space": "own"}]}
    (batch,) = records.read([lines(tmp_path, body)], "given")
    assert [node.space for node in batch.records] == ["given", "own"]


def test_artifacts_come_one_a_line(client, tmp_path):
    """M3, R7, M8: `--as artifacts`; under a key the run is carried out once."""
    source = client.memory.ingest([Document(name="a.md", content="Ana is in Lima.")]).documents[0].source_id
    artifacts = [
        {"artifactId": ANA, "name": "one", "text": "Ana: Lima.", "derivedFrom": [source], "validFrom": 5},
        {"artifactId": BEN, "name": "two", "text": "你好", "derivedFrom": [source, ANA]},
    ]
    path = lines(tmp_path, *artifacts)
    first = records.write(Service(client), records.read([path], None, artifacts=True), Keys("k"))["records"]
    assert [(each["artifacts"], each["line"].rpartition(" ")[2]) for each in first] == [(1, "1"), (1, "3")]
    assert client.memory.source(BEN).source.span_class == "cache"
    client.memory.erase_source(BEN)
    again = records.write(Service(client), records.read([path], None, artifacts=True), Keys("k"))["records"]
    assert [each["txTime"] for each in again] == [each["txTime"] for each in first]
    whole = lines(tmp_path, {"artifacts": artifacts})
    (told,) = records.write(Service(client), records.read([whole], None), Keys(None))["records"]
    assert told["artifacts"] == 2
    for wrong in ({**artifacts[0], "more": 1}, {"artifacts": artifacts}, {**artifacts[0], "validFrom": "noon"}):
        with pytest.raises(Problem, match="line 1: "):
            records.read([lines(tmp_path, wrong)], None, artifacts=True)
