"""Memory over real gRPC, the real ingest child and the real store, through the Python client."""

import uuid
from dataclasses import replace

import pytest
from planner_server import RealPlanner
from telha_client import Artifact, Clarification, Document, Edge, InvalidRequest, Node, NotFound, PermissionDenied, Span

TEXT = "# Trams\n\nThe first tram leaves at 05:12.\n\nשלום 🧑‍🚀 你好\n"
INSTANT = 1_600_000_000_000_000


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("memory")) as planner:
        yield planner


@pytest.fixture
def tenant():
    """Every test has a tenant of its own."""
    return f"tenant-{uuid.uuid4()}"


@pytest.fixture
def client(planner, tenant):
    with planner.client(tenant) as client:
        yield client


def ingest(client, name="trams.md", content=TEXT, **fields):
    return client.memory.ingest([Document(name=name, content=content, **fields)]).documents[0]


def new_id():
    return str(uuid.uuid4())


def test_a_document_is_created_unchanged_updated(client):
    """M2: idempotent by content; a change keeps what stayed."""
    created = ingest(client)
    assert (created.outcome, created.nodes_opened > 0) == ("created", True)
    unchanged = ingest(client)
    assert (unchanged.outcome, unchanged.source_version_tx) == ("unchanged", created.source_version_tx)
    updated = ingest(client, content=TEXT.replace("05:12", "06:00"))
    assert (updated.outcome, updated.source_id) == ("updated", created.source_id)
    assert updated.source_version_tx > created.source_version_tx
    assert updated.nodes_kept > 0


def test_a_page_is_read_as_it_is_shown(client):
    """M2: HTML by the ending of the name; what is served back is what is shown, and offsets count in it."""
    html = "<title>Lines</title><script>no()</script><h1>Trams</h1><p>The <b>first</b>\n tram leaves at 05:12."
    document = ingest(client, "trams.html", html)
    assert client.memory.source(document.source_id, include_text=True).text == (
        "Trams\n\nThe first tram leaves at 05:12."
    )
    planned = max(client.plan("first tram").spans, key=lambda planned: planned.weight)
    assert planned.text.endswith("The first tram leaves at 05:12.")


def test_a_turn_is_found_since_it_was_said(client):
    """M1, M2: a conversation by its media type; each turn is true since its own time."""
    turns = (
        '{"speaker": "Ana", "text": "The depot opens at six.", "time": 1600000000000000}\n'
        '{"speaker": "Ben", "text": "The depot has a new roof.", "time": "2020-10-01T00:00:00+02:00"}\n'
    )
    document = ingest(client, "chat", turns, media_type="application/x-ndjson")
    assert client.memory.source(document.source_id).source.valid_from == INSTANT
    then = client.memory.context("depot", valid_time=INSTANT + 1)
    assert [item.text for item in then.items] == ["Ana: The depot opens at six."]
    assert "Ben: The depot has a new roof." in client.memory.context("Ben depot roof").items[0].text


def test_a_conversation_without_offsets_is_refused_by_line(client):
    """M1: naive times are refused with field and line, and nothing is written."""
    turn = '{"speaker": "Ana", "text": "x", "time": "2020-10-01T00:00:00"}'
    with pytest.raises(InvalidRequest) as caught:
        ingest(client, "chat.jsonl", turn)
    assert caught.value.field == "documents[0].content"
    assert caught.value.rule.startswith("line 1: time must say its offset from UTC")
    assert client.memory.sources().items == ()


def test_a_plan_sees_a_write_at_once(client):
    """M1: read your writes: the answer to a write means that the next plan sees it."""
    document = ingest(client)
    plan = client.plan("first tram")
    assert {planned.span.source_id for planned in plan.spans} == {document.source_id}


def test_a_source_is_read_with_its_text(client):
    """M1: the canonical text, by version and by instant."""
    first = ingest(client, uri="https://example.org/trams", valid_from=INSTANT)
    second = ingest(client, content="# Other\n", uri="https://example.org/trams")
    found = client.memory.source(first.source_id, include_text=True)
    assert (found.text, found.source.source_version_tx) == ("# Other\n", second.source_version_tx)
    old = client.memory.source(first.source_id, version=first.source_version_tx, include_text=True)
    assert (old.text, old.source.length) == (TEXT, len(TEXT.encode()))
    assert (old.source.valid_from, old.source.uri) == (INSTANT, "https://example.org/trams")
    assert (old.source.space, old.source.name) == ("main", "trams.md")
    assert old.source.content_hash.startswith("b3:")
    as_known_then = client.memory.source(first.source_id, tx_time=first.source_version_tx)
    assert (as_known_then.source, as_known_then.text) == (old.source, None)
    with pytest.raises(NotFound):
        client.memory.source(first.source_id, tx_time=first.source_version_tx - 1)


def test_sources_are_listed_page_by_page(client):
    """M1: a list is complete, ordered by id, and its tokens are bound to their filter."""
    ids = {ingest(client, name=f"{number}.md").source_id for number in range(5)}
    seen, token = [], ""
    while True:
        page = client.memory.sources(page_size=2, page_token=token)
        seen += [source.source_id for source in page.items]
        token = page.next_page_token
        if not token:
            break
    assert (seen, set(seen)) == (sorted(seen), ids)
    token = client.memory.sources(page_size=2).next_page_token
    with pytest.raises(InvalidRequest) as refusal:
        client.memory.sources(["main"], page_size=2, page_token=token)
    assert refusal.value.field == "page_token"


def test_foreign_and_absent_sources_get_the_same_answer(planner, tenant, client):
    """A6, M7: tenant and spaces of the key are the world."""
    document = ingest(client)
    with planner.client(f"{tenant}-other") as other, planner.client(tenant, ["private"]) as limited:
        answers = []
        for asker, source_id in [(other, document.source_id), (limited, document.source_id), (client, new_id())]:
            for ask in (asker.memory.source, asker.memory.erase_source):
                with pytest.raises(NotFound) as refusal:
                    ask(source_id)
                answers.append((refusal.value.message, refusal.value.metadata))
        assert len({str(answer) for answer in answers}) == 1
        assert other.memory.sources().items == limited.memory.sources().items == ()
    assert client.memory.source(document.source_id).source.source_id == document.source_id


def test_a_limited_key_writes_and_reads_its_own_space(planner, tenant, client):
    """M7: an empty space is the key's only one; another is refused."""
    with planner.client(tenant, ["private"]) as limited:
        document = ingest(limited)
        assert limited.memory.source(document.source_id).source.space == "private"
        with pytest.raises(PermissionDenied):
            ingest(limited, space="main")
        with pytest.raises(PermissionDenied):
            limited.memory.sources(["main"])
    assert client.memory.sources().items == ()
    assert [source.source_id for source in client.memory.sources(["*"]).items] == [document.source_id]


def test_nodes_edges_and_questions_come_back_in_context(client):
    """M3, C5: written by API, found by a plan, with their open question."""
    document = ingest(client)
    rests_on = Span(document.source_id, document.source_version_tx, 0, len("# Trams"))
    fact, other, question = new_id(), new_id(), new_id()
    nodes = [Node(node_id=fact, type="fact", properties={"n": 1}, provenance=[rests_on]), Node(node_id=other, type="x")]
    first = client.memory.put_nodes(nodes)
    edge = Edge(edge_id=new_id(), from_node_id=fact, to_node_id=other, type="about", confidence=0.5)
    second = client.memory.put_edges([edge])
    asked = Clarification(clarification_id=question, node_id=fact, state="conflicted", question="05:12 or 06:00?")
    third = client.memory.put_clarifications([asked])
    assert document.source_version_tx < first.tx < second.tx < third.tx
    context = client.memory.context(find="fact")
    (item,) = [item for item in context.items if item.source.start == 0 and item.source.end == rests_on.end]
    assert item.text == "# Trams"
    assert item.pending_clarification.state == "conflicted"
    assert [(q.clarification_id, q.question) for q in context.open_questions] == [(question, "05:12 or 06:00?")]
    assert client.memory.context(find="fact", open_questions=False).open_questions == ()


def test_a_limited_key_cannot_link_to_what_it_cannot_see(planner, tenant, client):
    """M7: foreign nodes and spans are absent, in writes too."""
    document = ingest(client)
    foreign = new_id()
    client.memory.put_nodes([Node(node_id=foreign, type="fact")])
    with planner.client(tenant, ["private"]) as limited:
        own = new_id()
        limited.memory.put_nodes([Node(node_id=own, type="fact")])
        edge = Edge(edge_id=new_id(), from_node_id=own, to_node_id=foreign, type="t")
        span = Span(document.source_id, document.source_version_tx, 0, 3)
        question = Clarification(clarification_id=new_id(), node_id=foreign, state="pending", question="?")
        for write, field in [
            (lambda: limited.memory.put_edges([edge]), "edges[0].to_node_id"),
            (lambda: limited.memory.put_clarifications([question]), "clarifications[0].node_id"),
            (
                lambda: limited.memory.put_nodes([Node(node_id=new_id(), type="t", provenance=[span])]),
                "nodes[0].provenance[0]",
            ),
        ]:
            with pytest.raises(InvalidRequest) as refusal:
                write()
            assert refusal.value.field == field


def test_an_erased_source_is_gone(client):
    """M5: text, spans and nodes go; a receipt says how many; a plan finds nothing."""
    document = ingest(client)
    receipt = client.memory.erase_source(document.source_id)
    assert (receipt.source_id, receipt.versions, receipt.spans) == (document.source_id, 1, document.spans)
    assert receipt.nodes == document.nodes_opened
    assert receipt.tx > document.source_version_tx
    for ask in (client.memory.source, client.memory.erase_source):
        with pytest.raises(NotFound):
            ask(document.source_id)
    assert client.plan("first tram", allow_ungrounded=True).spans == ()


def test_artifacts_are_written_read_and_erased_with_their_origin(planner, tenant, client):
    """M3, R7, M7: by API, in a batch; of class cache; gone with what they were made from; walled by space."""
    document = ingest(client)
    first, second = (
        Artifact(artifact_id=new_id(), name="summary", text=text, derived_from=[document.source_id])
        for text in ("Ferries sail on Sundays.", "שלום 你好 🧑‍🚀")
    )
    written = client.memory.put_artifacts([first, second], idempotency_key="a")
    assert [done.outcome for done in written.artifacts] == ["created", "created"]
    assert [done.artifact_id for done in written.artifacts] == [first.artifact_id, second.artifact_id]
    again = client.memory.put_artifacts([first, second], idempotency_key="a")
    assert (again.replayed, again.artifacts, again.tx) == (True, written.artifacts, written.tx)
    found = client.memory.source(second.artifact_id, include_text=True)
    assert (found.source.span_class, found.text) == ("cache", second.text)
    classes = {source.source_id: source.span_class for source in client.memory.sources().items}
    assert classes == {document.source_id: "truth", first.artifact_id: "cache", second.artifact_id: "cache"}
    (item,) = client.memory.context("Ferries Sundays").items
    assert (item.text, item.span_class) == (first.text, "cache")
    with planner.client(tenant, ["private"]) as limited:
        with pytest.raises(InvalidRequest) as refusal:
            limited.memory.put_artifacts([first])
        assert refusal.value.field == "artifacts[0].derived_from[0]"
        with pytest.raises(PermissionDenied):
            limited.memory.put_artifacts([replace(first, space="main")])
    receipt = client.memory.erase_source(document.source_id)
    assert receipt.artifacts == 2
    assert client.memory.sources().items == ()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"artifact_id": "X"}, "artifact_id"),
        ({"name": ""}, "name"),
        ({"text": " \u2003\n"}, "text"),
        ({"text": "a\0b"}, "text"),
        ({"text": "ä" * 32_769}, "text"),
        ({"derived_from": []}, "derived_from"),
        ({"derived_from": ["x"]}, "derived_from[0]"),
        ({"derived_from": [new_id()] * 2}, "derived_from[1]"),
        ({"derived_from": [new_id() for _ in range(257)]}, "derived_from"),
        ({"derived_from": [new_id()]}, "derived_from[0]"),
        ({"valid_from": 2**63 - 1}, "valid_from_us"),
        ({"space": "*"}, "space"),
    ],
)
def test_a_bad_artifact_is_refused_with_its_place(client, changes, field):
    """M3: nothing of its batch is written."""
    document = ingest(client)
    good = Artifact(artifact_id=new_id(), name="n", text="t", derived_from=[document.source_id])
    with pytest.raises(InvalidRequest) as refusal:
        client.memory.put_artifacts([good, replace(good, **{"artifact_id": new_id(), **changes})])
    assert refusal.value.field == f"artifacts[1].{field}"
    assert len(client.memory.sources().items) == 1
