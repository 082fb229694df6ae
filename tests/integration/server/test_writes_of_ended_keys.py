"""Writes that wait while their key is revoked: none commits, on any method."""

import threading
import time
from uuid import uuid4

import pytest
from fixtures.stores import ENGINES
from memory_builders import rows_of
from planner_server import RealPlanner
from telha_client import Artifact, Clarification, Document, Edge, Node, TelhaError, Unauthenticated
from telha_planner.memory import keys


@pytest.fixture(scope="module", params=ENGINES)
def planner(request, tmp_path_factory):
    url = None
    if request.param == "postgres":
        server = request.getfixturevalue("postgres")
        url = server.url(server.create())
    with RealPlanner(tmp_path_factory.mktemp("ended"), url=url) as planner:
        yield planner


def writes(source, node):
    """A write by each method, that would change something."""
    question = Clarification(clarification_id=str(uuid4()), node_id=node, state="pending", question="is it?")
    edge = Edge(edge_id=str(uuid4()), from_node_id=node, to_node_id=node, type="t")
    artifact = Artifact(artifact_id=str(uuid4()), name="digest", text="told", derived_from=[source])
    return {
        "Ingest": lambda client: client.memory.ingest([Document(name="new.md", content="late words")]),
        "Ingest, large": lambda client: client.memory.ingest(
            [Document(name="l.md", content="late words\n\n" * 20_000)]
        ),
        "PutNodes": lambda client: client.memory.put_nodes([Node(node_id=str(uuid4()), type="fact")]),
        "PutEdges": lambda client: client.memory.put_edges([edge]),
        "PutClarifications": lambda client: client.memory.put_clarifications([question]),
        "PutArtifacts": lambda client: client.memory.put_artifacts([artifact]),
        "EraseSource": lambda client: client.memory.erase_source(source),
        "EraseSpace": lambda client: client.administration.erase_space("main"),
        "DeleteTenant": lambda client: client.administration.delete_tenant("late"),
        "CreateKey": lambda client: client.administration.create_key("another", ["read"]),
    }


def test_what_waits_when_its_key_is_revoked_is_not_written(planner):
    """A6: ten calls are let in and wait for the store; the key ends; none of them changes anything."""
    with planner.client("late") as client:
        source = client.memory.ingest([Document(name="old.md", content="remembered")]).documents[0].source_id
        node = str(uuid4())
        client.memory.put_nodes([Node(node_id=node, type="fact")])
    tenant = planner.caller(planner.key("late")).tenant
    before = rows_of(planner.store, tenant)
    asked = writes(source, node)
    outcomes = {}

    def call(name):
        with planner.client("late") as client:
            try:
                outcomes[name] = asked[name](client)
            except TelhaError as refusal:
                outcomes[name] = refusal

    threads = [threading.Thread(target=call, args=(name,)) for name in asked]
    # Whoever revokes has the key's row, and on SQLite the file; what was let in before waits for that.
    with planner.store.writing() as connection:
        keys.end(connection, planner.key_id("late"), 1)
        deadline = time.monotonic() + 30
        for let_in, thread in enumerate(threads, 1):
            thread.start()
            # One by one, since few may wait for the plan thread, which looks at each key first.
            while planner.waiting_writes() < let_in and time.monotonic() < deadline:
                time.sleep(0.005)
        assert planner.waiting_writes() == len(asked), outcomes
        assert not outcomes
    for thread in threads:
        thread.join(60)
    assert {name: type(outcome) for name, outcome in outcomes.items()} == dict.fromkeys(asked, Unauthenticated)
    assert rows_of(planner.store, tenant) == before
