"""Idempotency keys over real gRPC, with a child that is killed and callers that give up."""

import os
import signal
import threading
import time
import uuid

import grpc
import pytest
from planner_server import RealPlanner
from telha.memory.v1 import memory_pb2, memory_pb2_grpc
from telha_client import (
    Clarification,
    Client,
    Document,
    Edge,
    IdempotencyKeyReused,
    InvalidRequest,
    Node,
    TelhaError,
    Unavailable,
)

TEXT = "# Trams\n\nThe first tram leaves at 05:12.\n"


@pytest.fixture(scope="module")
def planner(tmp_path_factory, lasting_store_url):
    with RealPlanner(tmp_path_factory.mktemp("idempotent"), url=lasting_store_url) as planner:
        yield planner


@pytest.fixture
def tenant():
    return f"tenant-{uuid.uuid4()}"


@pytest.fixture
def client(planner, tenant):
    with planner.client(tenant) as client:
        yield client


def a_document(content=TEXT):
    return Document(name="trams.md", content=content)


def test_every_write_takes_a_key(client):
    """M8: each kind of write, sent twice under one key, is carried out once and answered alike."""
    one, other, edge, question = (str(uuid.uuid4()) for _ in range(4))
    source = client.memory.ingest([a_document()]).documents[0].source_id
    nodes = [
        Node(node_id=one, type="fact", properties={"b": {"y": 1, "x": 2}, "a": [1]}),
        Node(node_id=other, type="fact"),
    ]
    reordered = [
        Node(node_id=one, type="fact", properties={"a": [1], "b": {"x": 2, "y": 1}}),
        Node(node_id=other, type="fact"),
    ]
    edges = [Edge(edge_id=edge, from_node_id=one, to_node_id=other, type="near")]
    asked = [Clarification(clarification_id=question, node_id=one, state="pending", question="?")]
    memory = client.memory
    for name, write, again in [
        ("ingest", lambda key: memory.ingest([a_document("x")], idempotency_key=key), None),
        (
            "nodes",
            lambda key: memory.put_nodes(nodes, idempotency_key=key),
            lambda key: memory.put_nodes(reordered, idempotency_key=key),
        ),
        ("edges", lambda key: memory.put_edges(edges, idempotency_key=key), None),
        ("questions", lambda key: memory.put_clarifications(asked, idempotency_key=key), None),
        ("erase", lambda key: memory.erase_source(source, idempotency_key=key), None),
    ]:
        first, second = write(name), (again or write)(name)
        assert (first.replayed, second.replayed, second.tx) == (False, True, first.tx)
    with pytest.raises(IdempotencyKeyReused) as refusal:
        client.memory.ingest([a_document("y")], idempotency_key="nodes")
    assert (refusal.value.field, refusal.value.code) == ("idempotency_key", "FAILED_PRECONDITION")


@pytest.mark.parametrize("key", ["with space", "tab\t", "ä", "x" * 256, "\x7f"])
def test_a_key_is_of_visible_ascii(client, key):
    """M8: anything else is refused by name, and nothing is written."""
    with pytest.raises(InvalidRequest) as refusal:
        client.memory.ingest([a_document()], idempotency_key=key)
    assert refusal.value.field == "idempotency_key"
    assert client.memory.sources().items == ()


def test_the_longest_key_and_none(client):
    """M8: 255 characters are a key; whoever gives none writes each time."""
    key = "!~" * 127 + "x"
    assert client.memory.ingest([a_document()], idempotency_key=key).replayed is False
    assert client.memory.ingest([a_document()], idempotency_key=key).replayed is True
    assert client.memory.ingest([a_document()], idempotency_key=None).replayed is False


def test_a_key_of_other_spaces_learns_nothing(planner, tenant, client):
    """M8, M7: two callers of one tenant may use the same key; neither sees the other's answer."""
    mine = client.memory.ingest([a_document()], idempotency_key="k").documents[0]
    with planner.client(tenant, ["private"]) as limited:
        theirs = limited.memory.ingest([a_document()], idempotency_key="k")
        assert (theirs.replayed, theirs.documents[0].source_id != mine.source_id) == (False, True)
        first = limited.memory.erase_source(theirs.documents[0].source_id, idempotency_key="e")
        again = limited.memory.erase_source(theirs.documents[0].source_id, idempotency_key="e")
        assert (again.replayed, again.tx, again.spans) == (True, first.tx, first.spans)
    renewed = Client(planner.address, planner.key(tenant, None, ("read", "write")))
    with renewed:
        assert renewed.memory.ingest([a_document()], idempotency_key="k").replayed is True


def test_two_calls_at_once_write_once(client):
    """M8: of calls with one key at the same time, one writes and all get the same answer."""
    barrier, answers = threading.Barrier(6), []

    def write():
        barrier.wait()
        answers.append(client.memory.ingest([a_document()], idempotency_key="k"))

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(answer.tx, answer.documents) for answer in answers}) == 1
    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 5


def test_a_caller_that_gave_up_gets_the_answer_later(planner, tenant, client):
    """M8: the call was cancelled while it was carried out; under its key its answer is there."""
    client.memory.ingest([Document(name="first.md", content=b"tram " * 30_000)])  # starts the child for large documents
    channel = grpc.insecure_channel(planner.address)
    stub = memory_pb2_grpc.MemoryStub(channel)
    large = b"# Trams\n\n" + b"\n\n".join(b"Tram number %d leaves at noon." % number for number in range(20_000))
    request = memory_pb2.IngestRequest(
        documents=[memory_pb2.Document(name="trams.md", content=large)], idempotency_key="late"
    )
    metadata = [("authorization", f"Bearer {planner.key(tenant)}")]
    call = stub.Ingest.future(request, timeout=60, metadata=metadata)
    while not planner.waiting_writes():
        time.sleep(0.001)
    call.cancel()
    with pytest.raises(grpc.FutureCancelledError):
        call.result()
    answer = stub.Ingest(request, timeout=60, metadata=metadata)
    assert answer.replayed
    again = client.memory.ingest([Document(name="trams.md", content=large)], idempotency_key="late")
    assert (again.replayed, again.tx) == (True, answer.tx_us)
    assert again.documents[0].outcome == "created"
    channel.close()


def test_a_killed_child_leaves_the_answer_or_nothing(planner, client):
    """M8: whenever the child is killed, the call sent again under its key is carried out exactly once in all."""
    written = client.memory.ingest([a_document("0")]).tx
    for round_, pause in enumerate([0.002, 0.02, 0.06]):
        documents = [Document(name=f"{number}.md", content=f"# {round_}\n\nText {number}.") for number in range(40)]

        def kill():
            os.kill(planner._ingest.pid, signal.SIGKILL)

        timer = threading.Timer(pause, kill)
        timer.start()
        answer = None
        for _ in range(20):
            try:
                answer = client.memory.ingest(documents, idempotency_key=f"round-{round_}")
                break
            except Unavailable:
                continue
            except TelhaError as error:
                raise AssertionError(str(error)) from error
        timer.join()
        assert answer is not None
        outcomes = {document.outcome for document in answer.documents}
        assert outcomes == {"created" if round_ == 0 else "updated"}, "a second write would find them unchanged"
        assert {document.source_version_tx for document in answer.documents} == {answer.tx}
        assert answer.tx > written
        written = answer.tx
