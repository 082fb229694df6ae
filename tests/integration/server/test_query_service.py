"""Structured queries over real gRPC: Query, and conditions in Plan and Context."""

import asyncio
import math
import uuid

import grpc
import pytest
from google.protobuf import struct_pb2
from planner_server import RealPlanner
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha_client import (
    AsyncClient,
    Clarification,
    Document,
    InsufficientEvidence,
    InvalidRequest,
    Node,
    PermissionDenied,
    Span,
)

TEXT = "# Trams\n\nThe first tram leaves at 05:12.\n\nThe last tram leaves at 23:40.\n\nשלום 🧑‍🚀 你好\n"


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("query")) as planner:
        yield planner


@pytest.fixture
def tenant():
    """Every test has a tenant of its own."""
    return f"tenant-{uuid.uuid4()}"


@pytest.fixture
def client(planner, tenant):
    with planner.client(tenant) as client:
        yield client


def new_id():
    return str(uuid.uuid4())


def put(client, *properties, **fields):
    """New nodes with these properties; their ids, in that order."""
    nodes = [Node(node_id=new_id(), type="fact", properties=held, **fields) for held in properties]
    client.memory.put_nodes(nodes)
    return [node.node_id for node in nodes]


def ids(page):
    return [node.node_id for node in page.nodes]


def test_nodes_come_with_all_that_they_say(client):
    """M4: id, type, space, properties, validity and provenance."""
    document = client.memory.ingest([Document(name="trams.md", content=TEXT)]).documents[0]
    span = Span(document.source_id, document.source_version_tx, 9, 41)
    held = {
        "name": "first",
        "time": 5.2,
        "stops": 12,
        "open": True,
        "note": None,
        "tags": ["a", {"b": []}],
        "名": "你好",
    }
    (one,) = put(client, held, provenance=[span], valid_from=5, valid_to=2**52)
    (node,) = client.memory.query("fact", {"stops": {"eq": 12}}).nodes
    assert (node.node_id, node.type, node.space) == (one, "fact", "main")
    assert node.properties == held
    assert (type(node.properties["stops"]), type(node.properties["time"])) == (int, float)
    assert (node.valid_from, node.valid_to) == (5, 2**52)
    assert node.provenance == (span,)
    assert node.pending_clarification is None


def test_pages_are_read_at_the_instants_of_the_first(client):
    """M4: a write between two pages neither adds, drops nor repeats a node."""
    before = sorted(put(client, *({"n": number} for number in range(7))))
    where = {"n": {"gte": 0}}
    page = client.memory.query("fact", where, page_size=3)
    window = page.window
    seen = ids(page)
    while page.next_page_token:
        put(client, {"n": 1}, {"n": 2})
        client.memory.put_nodes([Node(node_id=before[-1], type="fact", properties={"n": -1})])
        page = client.memory.query("fact", where, page_size=3, page_token=page.next_page_token)
        assert page.window == window
        seen += ids(page)
    assert seen == before
    later = client.memory.query("fact", where, tx_time=window.tx_time, valid_time=window.valid_time)
    assert ids(later) == before
    assert before[-1] not in ids(client.memory.query("fact", where))


def test_a_page_of_large_nodes_fits_a_message(client):
    """M4, A1: fewer nodes to a page, none left out."""
    held = sorted(put(client, *({"text": "你" * 20_000, "numbers": [1] * 2000} for _ in range(40))))
    seen, token, pages = [], "", 0
    while True:
        page = client.memory.query("fact", {"text": {"exists": True}}, page_size=1000, page_token=token)
        seen, pages, token = seen + ids(page), pages + 1, page.next_page_token
        if not token:
            break
    assert seen == held
    assert pages > 1


def test_a_page_token_is_bound_to_its_query(client):
    """M4: a page token is bound to its query."""
    put(client, {"n": 1}, {"n": 2})
    token = client.memory.query("fact", {"n": {"gte": 0}}, page_size=1).next_page_token
    for find, where, spaces in (("other", {"n": {"gte": 0}}, ()), ("fact", {"n": {"gte": 1}}, ()), ("fact", None, "*")):
        with pytest.raises(InvalidRequest, match="page_token"):
            client.memory.query(find, where, spaces=list(spaces), page_token=token)
    with pytest.raises(InvalidRequest, match="page_token"):
        client.memory.query("fact", {"n": {"gte": 0}}, page_token=token[:-8])


def test_a_query_sees_its_tenant_and_its_spaces_alone(planner, client, tenant):
    """A6, M7: nothing crosses tenants, and a key's spaces are all there is."""
    (mine,) = put(client, {"n": 1})
    (elsewhere,) = put(client, {"n": 1}, space="other")
    with planner.client(f"{tenant}-b") as stranger:
        (theirs,) = put(stranger, {"n": 1})
        assert ids(stranger.memory.query("fact", {"n": {"eq": 1}}, spaces=["*"])) == [theirs]
        assert ids(stranger.memory.query("fact", {"@id": {"in": [mine, elsewhere]}}, spaces=["*"])) == []
    with planner.client(tenant, spaces=["other"]) as limited:
        assert ids(limited.memory.query("fact", {"n": {"eq": 1}})) == [elsewhere]
        assert ids(limited.memory.query("fact", spaces=["*"])) == [elsewhere]
        with pytest.raises(PermissionDenied):
            limited.memory.query("fact", spaces=["main"])
    assert ids(client.memory.query("fact", {"n": {"eq": 1}})) == [mine]
    assert ids(client.memory.query("fact", spaces=["*"])) == sorted([mine, elsewhere])


def test_a_token_gives_no_other_space(planner, client, tenant):
    """A6: the scope of each page comes from the key."""
    put(client, {"n": 1}, {"n": 2})
    (there,) = put(client, {"n": 3}, space="other")
    token = client.memory.query("fact", spaces=["*"], page_size=1).next_page_token
    with planner.client(tenant, spaces=["other"]) as limited:
        assert set(ids(limited.memory.query("fact", spaces=["*"], page_token=token))) <= {there}


def test_a_caveat_is_shown_exactly_when_context_asks_the_question(client):
    """M4, C5: conflicted before pending, then the lowest id, as of tx_t; never a resolved one."""
    document = client.memory.ingest([Document(name="trams.md", content=TEXT)]).documents[0]
    spans = [Span(document.source_id, document.source_version_tx, 9, 41)]
    (node,) = put(client, {"n": 1}, provenance=spans)
    low, high, conflicted = sorted(new_id() for _ in range(3))

    def ask(clarification, state):
        asked = Clarification(clarification_id=clarification, node_id=node, state=state, question="Really?")
        return client.memory.put_clarifications([asked]).tx

    steps = [
        (client.memory.query("fact").window.tx_time, None),
        (ask(high, "pending"), (high, "pending")),
        (ask(low, "pending"), (low, "pending")),
        (ask(conflicted, "conflicted"), (conflicted, "conflicted")),
        (ask(conflicted, "resolved"), (low, "pending")),
        (ask(low, "resolved"), (high, "pending")),
        (ask(high, "resolved"), None),
    ]
    for tx, caveat in steps:
        (found,) = client.memory.query("fact", {"n": {"eq": 1}}, tx_time=tx).nodes
        pending = found.pending_clarification
        assert (None if pending is None else (pending.clarification_id, pending.state)) == caveat
        context = client.memory.context(find="fact", where={"n": {"eq": 1}}, expand_depth=0, tx_time=tx)
        (item,) = context.items
        assert item.pending_clarification == pending
        assert (pending is None) == (context.open_questions == ())
        assert pending is None or pending.clarification_id in [one.clarification_id for one in context.open_questions]


def test_conditions_decide_what_the_structured_leg_finds(client):
    """R1, R2, C1: on Plan and Context alike, and by node id up to the limit."""
    client.memory.ingest([Document(name="trams.md", content=f"{TEXT}\n```\ncode\n```\n\n# Other\n\nOne.\n")])
    passages = client.memory.query("passage").nodes
    assert len(passages) == 5
    where = {"path": {"contains": "Trams"}, "kind": {"eq": "paragraph"}}
    wanted = [
        node for node in passages if "Trams" in node.properties["path"] and node.properties["kind"] == "paragraph"
    ]
    assert len(wanted) == 3
    plan = client.plan(find="passage", where=where, expand_depth=0, max_tokens=500)
    assert plan.stats.recall.legs.query == len(wanted)
    spans = [planned.span for planned in plan.spans]
    assert spans == sorted(span for node in wanted for span in node.provenance)
    context = client.memory.context(find="passage", where=where, expand_depth=0, max_tokens=500)
    assert context.plan_hash == plan.plan_hash
    one = client.plan(find="passage", where=where, find_limit=1, expand_depth=0)
    assert [planned.span for planned in one.spans] == list(wanted[0].provenance)
    with pytest.raises(InsufficientEvidence):
        client.plan(find="passage", where={"path": {"contains": "Buses"}})
    assert client.memory.context(find="passage", where={"path": {"contains": "Buses"}}).items == ()


def test_a_plan_with_conditions_is_repeatable_as_of_its_instants(client):
    """R3: what is written later, and what it makes true, changes no earlier plan."""
    client.memory.ingest([Document(name="trams.md", content=TEXT)])
    asked = {"find": "passage", "where": {"kind": {"in": ["paragraph", "code"]}}, "max_tokens": 500}
    first = client.plan("tram", **asked)
    client.memory.ingest(
        [Document(name="trams.md", content=TEXT + "\n    code\n"), Document(name="b.md", content=TEXT)]
    )
    instants = {"valid_time": first.window.valid_time, "tx_time": first.window.tx_time}
    again = client.plan("tram", **asked, **instants)
    assert again.plan_hash == first.plan_hash
    assert client.plan("tram", **asked).plan_hash != first.plan_hash


def test_the_trace_holds_the_conditions(planner, client):
    """X1: all that a replay needs."""
    client.memory.ingest([Document(name="trams.md", content=TEXT)])
    where = {"or": [{"kind": {"eq": "paragraph"}}, {"level": {"gte": 1.5}}], "not": {"a.b": {"exists": True}}}
    plan = client.plan(find="passage", where=where)
    assert client.trace(plan.trace_id).record["request"]["query"] == {"find": "passage", "where": where}


def test_erased_nodes_satisfy_nothing(client):
    """M5: after an erasure neither a node nor what was remembered about it is found."""
    kept = client.memory.ingest([Document(name="kept.md", content="# Kept\n\nOne.\n")]).documents[0]
    gone = client.memory.ingest([Document(name="gone.md", content="# Gone\n\nTwo.\n")]).documents[0]
    where = {"kind": {"eq": "paragraph"}}
    sources = {span.source_id for node in client.memory.query("passage", where).nodes for span in node.provenance}
    assert sources == {kept.source_id, gone.source_id}
    client.plan(find="passage", where=where)
    client.memory.erase_source(gone.source_id)
    sources = {span.source_id for node in client.memory.query("passage", where).nodes for span in node.provenance}
    assert sources == {kept.source_id}
    assert {planned.span.source_id for planned in client.plan(find="passage", where=where).spans} == sources


def struct(value):
    message = struct_pb2.Struct()
    message.update(value)
    return message


BAD = {
    "bare value": ({"price": 5}, "where.price"),
    "unknown operator": ({"and": [{"price": {"eq": 1}}, {"price": {"near": 1}}]}, "where.and[1].price.near"),
    "odd name": ({"unit price": {"gt": True}}, 'where["unit price"].gt'),
    "empty": ({}, "where"),
    "empty list": ({"price": {"in": []}}, "where.price.in"),
    "NaN": ({"price": {"eq": math.nan}}, "where.price.eq"),
    "U+0000": ({"price": {"eq": "\0"}}, "where.price.eq"),
    "no word": ({"name": {"match": " … "}}, "where.name.match"),
}


def depth_bomb(levels):
    return {"price": {"eq": 1}} if levels == 0 else {"and": [depth_bomb(levels - 1)]}


@pytest.mark.parametrize("case", BAD)
def test_bad_conditions_are_refused_at_their_place_on_every_surface(client, case):
    """M4, C7: one grammar, and the same place below the field that holds it."""
    where, place = BAD[case]
    for ask, prefix in (
        (lambda: client.memory.query("fact", where), ""),
        (lambda: client.plan("q", find="fact", where=where), "query."),
        (lambda: client.memory.context("q", find="fact", where=where), "query."),
    ):
        with pytest.raises(InvalidRequest) as refused:
            ask()
        assert refused.value.field == prefix + place
        assert refused.value.reason == ("CONTEXT_INVALID" if "context" in ask.__code__.co_names else "INVALID_REQUEST")


def test_where_without_find_is_refused(client):
    """M4: at `where`."""
    for ask in (client.plan, client.memory.context):
        with pytest.raises(InvalidRequest, match="without find") as refused:
            ask("q", where={"price": {"eq": 1}})
        assert refused.value.field == "query.where"
    with pytest.raises(InvalidRequest, match="without find") as refused:
        client.memory.query("", {"price": {"eq": 1}})
    assert refused.value.field == "where"


@pytest.mark.parametrize("levels", [16, 18, 40, 900])
def test_a_depth_bomb_is_refused(client, levels):
    """M4: beyond the ceiling, and beyond what protobuf parses at all."""
    with pytest.raises(InvalidRequest) as refused:
        client.memory.query("fact", depth_bomb(levels))
    assert refused.value.field in ("where" + ".and[0]" * 16, "request", "where")
    assert levels > 18 or refused.value.field != "request"
    client.memory.query("fact", depth_bomb(15))


def test_ceilings_of_results_are_errors(client):
    """M4: no clamp."""
    with pytest.raises(InvalidRequest, match="between 1 and 1,000"):
        client.memory.query("fact", page_size=1001)
    with pytest.raises(InvalidRequest, match="between 1 and 1,000"):
        client.memory.query("fact", page_size=-1)
    with pytest.raises(InvalidRequest, match="between 1 and 1,000"):
        client.plan(find="fact", where={"a": {"eq": 1}}, find_limit=1001)


def test_a_value_without_a_kind_is_refused(planner, tenant):
    """M4: a Struct can hold a value that is none."""
    where = struct_pb2.Struct(fields={"price": struct({"eq": 1}).fields["eq"], "name": struct_pb2.Value()})
    messages = {
        "memory.v1.Memory/Query": memory_pb2.QueryRequest(find="t", where=where),
        "planner.v1.Planner/Plan": planner_pb2.PlanRequest(query=plan_pb2.NodeQuery(find="t", where=where)),
    }
    metadata = (("authorization", f"Bearer {planner.key(tenant)}"),)
    for method, message in messages.items():
        with grpc.insecure_channel(planner.address) as channel, pytest.raises(grpc.RpcError) as refused:
            channel.unary_unary(f"/telha.{method}")(message.SerializeToString(), timeout=20, metadata=metadata)
        assert "where.name must have a value" in refused.value.details()


def test_the_asynchronous_client_asks_the_same(planner, client, tenant):
    """A5: one answer from both clients."""
    put(client, {"n": 1}, {"n": 2})
    where = {"n": {"gte": 2}}
    page = client.memory.query("fact", where)
    instants = {"valid_time": page.window.valid_time, "tx_time": page.window.tx_time}

    async def ask():
        async with AsyncClient(planner.address, planner.key(tenant)) as other:
            return await other.memory.query("fact", where, **instants)

    assert asyncio.run(ask()) == page
    assert len(page.nodes) == 1


def test_a_number_that_no_double_holds_never_leaves_the_client(client):
    """M4, M1: an integer is refused before it becomes another one on the wire."""
    for send, field in (
        (lambda: client.memory.query("fact", {"n": {"in": [1, 2**53]}}), "where"),
        (lambda: client.plan(find="fact", where={"n": {"eq": -(2**53)}}), "query.where"),
        (lambda: put(client, {"n": 2**53}), "nodes[0].properties"),
    ):
        with pytest.raises(InvalidRequest, match="2\\^53") as refused:
            send()
        assert refused.value.field == field
