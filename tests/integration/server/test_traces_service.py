"""Traces over gRPC with a real trace writer behind the planner."""

import socket
import tempfile
import time
from uuid import uuid4

import pytest
from planner_server import RealPlanner
from redis import Redis
from running_writer import running_writer
from telha.trace.v1 import traces_pb2
from telha_client import Fragment, InvalidRequest, NotFound, PermissionDenied, Span, TelhaError, Unavailable
from telha_planner.config import PlannerConfig, ServerSettings
from telha_planner.server.translate_trace import shorten, trace_message
from telha_planner.trace.settlement import Settled
from telha_runtime import frame
from telha_runtime.frame import Frame
from trace_path import STREAM, TOKEN, a_record, an_entry


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("t")


@pytest.fixture
def planner(folder, valkey_server):
    with (
        running_writer(folder, valkey_server.url) as address,
        RealPlanner(folder, writer=address, token=TOKEN) as planner,
    ):
        yield planner


def store(valkey_server, client, count=1, **changes):
    """Put *count* traces into the stream and wait until the writer has them."""
    trace_ids = [str(uuid4()) for _ in range(count)]
    with Redis.from_url(valkey_server.url) as redis:
        for trace_id in trace_ids:
            redis.xadd(STREAM, an_entry(trace_id, **changes))
    until_stored(client, trace_ids)
    return trace_ids


def until_stored(client, trace_ids):
    """Wait until the writer lists the last of *trace_ids*."""
    deadline = time.monotonic() + 60
    while {trace.trace_id for trace in client.traces(page_size=1000).items}.isdisjoint(trace_ids[-1:]):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_persisted_trace_is_read_and_listed(planner, valkey_server):
    """X4: by id and in lists, newest first, page by page."""
    planner.key()
    with planner.client() as client:
        ids = store(valkey_server, client, 5)
        trace = client.trace(ids[0])
        assert (trace.summary.kind, trace.summary.used) == ("context", 700)
        assert trace.record["request"]["question"].startswith("o que mudou?")
        seen, token = [], ""
        while True:
            page = client.traces(page_size=2, page_token=token)
            seen += [summary.trace_id for summary in page.items]
            if not (token := page.next_page_token):
                break
        assert seen == ids[::-1]
        assert client.traces(kind="plan").items == ()
        first = client.traces(page_size=2)
        with pytest.raises(InvalidRequest) as refusal:
            client.traces(kind="context", page_token=first.next_page_token)
        assert refusal.value.field == "page_token"


def test_tenants_and_spaces_are_walls(planner, valkey_server):
    """A6, M7: foreign and absent get the same answer."""
    with planner.client() as client:
        (main,) = store(valkey_server, client)
        (private,) = store(valkey_server, client, spaces=["private"])
        (everything,) = store(valkey_server, client, spaces=None)
        (select,) = store(valkey_server, client, kind="select", spaces=[])
        with pytest.raises(NotFound) as absent:
            client.trace(str(uuid4()))
    with planner.client("other") as other, pytest.raises(NotFound) as foreign:
        other.trace(main)
    assert foreign.value.message == absent.value.message
    with planner.client(spaces=["private"]) as limited:
        assert limited.trace(private).summary.spaces == ("private",)
        for hidden in (main, everything, select):
            with pytest.raises(NotFound):
                limited.trace(hidden)
        key_id = planner.key_id(spaces=["private"])
        (own,) = store(valkey_server, limited, kind="select", spaces=[], key_id=key_id)
        assert [trace.trace_id for trace in limited.traces().items] == [own, private]
        assert [trace.trace_id for trace in limited.traces(space="private").items] == [private]
        assert [trace.trace_id for trace in limited.traces(kind="select").items] == [own]
        with pytest.raises(PermissionDenied):
            limited.traces(space="main")
        with pytest.raises(InvalidRequest):
            limited.traces(space="*")
    with planner.client(spaces=["private"], rights=["read"]) as another:
        assert [trace.trace_id for trace in another.traces().items] == [private]


def test_a_writer_that_is_away_is_never_an_absent_trace(tmp_path, one_attempt):
    """X3, X4: TRACE_PENDING with RetryInfo, never NOT_FOUND."""
    with RealPlanner(tmp_path) as planner, planner.client() as client:
        with pytest.raises(Unavailable) as refusal:
            client.trace(str(uuid4()))
        assert (refusal.value.reason, refusal.value.retry_after) == ("TRACE_PENDING", 0.5)
        with pytest.raises(Unavailable) as refusal:
            client.traces()
        assert refusal.value.reason == "UNAVAILABLE"


def test_a_writer_that_hangs_is_never_an_absent_trace(tmp_path, one_attempt):
    """X4: one that accepts and does not answer is told as TRACE_PENDING while the caller still listens."""
    with socket.socket(socket.AF_UNIX) as hole, tempfile.TemporaryDirectory(prefix="th-") as short:
        hole.bind(f"{short}/w")
        hole.listen()
        with RealPlanner(tmp_path, writer=f"unix:{short}/w") as planner, planner.client() as client:
            with pytest.raises(Unavailable) as refusal:
                client.trace(str(uuid4()), timeout=5)
            assert (refusal.value.reason, refusal.value.retry_after) == ("TRACE_PENDING", 0.5)


def test_a_trace_in_the_spool_of_another_planner_is_pending(planner, valkey_server, tmp_path, one_attempt):
    """X4: until that planner reports its instant settled; then an id that was never made is absent, as on its own."""
    url = f"sqlite:///{planner.folder / 'memory.db'}"
    with (
        RealPlanner(tmp_path, url=url, writer=planner.writer_address, token=TOKEN) as other,
        planner.client() as client,
        other.client() as elsewhere,
    ):
        made = client.select(a_pool(3), max_tokens=20).trace_id
        never = made[:14] + "7" + made[15:24] + "00000000" + made[32:]
        assert client.trace(made).summary.trace_id == made
        before = time.time_ns() // 1000 - 3_600_000_000
        planner.run(planner.writer.persisted((), [Settled(planner.spool.name, before)]))
        for trace_id in (made, never):
            with pytest.raises(Unavailable) as refusal:
                elsewhere.trace(trace_id)
            assert (refusal.value.reason, refusal.value.retry_after) == ("TRACE_PENDING", 0.5)
        with pytest.raises(NotFound):
            client.trace(never)
        persist(planner, valkey_server, client, [made])
        assert elsewhere.trace(made).summary.trace_id == made
        with pytest.raises(Unavailable):
            elsewhere.trace(never)
        planner.run(planner.writer.persisted((), [Settled(planner.spool.name, time.time_ns() // 1000)]))
        with pytest.raises(NotFound) as absent:
            elsewhere.trace(never)
        with planner.client("rival") as rival, pytest.raises(NotFound) as foreign:
            rival.trace(made)
        assert foreign.value.message == absent.value.message


def test_a_wrong_internal_credential_is_the_operators_fault(folder, valkey_server, one_attempt):
    """A6: the caller learns nothing of it, and above all not that its own key is wrong."""
    with (
        running_writer(folder, valkey_server.url) as address,
        RealPlanner(folder, writer=address, token="wrong") as planner,
        planner.client() as client,
        pytest.raises(TelhaError) as refusal,
    ):
        client.trace(str(uuid4()))
    assert refusal.value.reason == "TRACE_PENDING"


def persist(planner, valkey_server, client, trace_ids):
    """Move the records of *trace_ids* from the planner's spool to the writer."""
    with Redis.from_url(valkey_server.url) as redis:
        for trace_id in trace_ids:
            sent = Frame(str(uuid4()), 1, trace_id, "acme", planner.spool.get("acme", trace_id))
            redis.xadd(STREAM, {frame.FIELD: frame.encode(sent)})
    until_stored(client, trace_ids)
    planner.spool.persisted(trace_ids)
    assert planner.spool.depth == 0


def a_pool(count):
    """Fragments of one source, in the order of their offsets."""
    source_id = str(uuid4())
    return [
        Fragment(span=Span(source_id, 1, 5 * row, 5 * row + 5), tokens=3, score=1.0 + row / 7) for row in range(count)
    ]


def the_rows(pool, count):
    return [[f.span.source_id, 1, f.span.start, f.span.end, "body", 0] for f in pool[:count]]


@pytest.mark.parametrize("stored", [False, True])
def test_the_trace_of_a_pool_too_large_for_one_message_is_read_shortened(folder, valkey_server, stored):
    """X4, A1: from the spool and from the writer alike, as many rows as fit, and the count of the rest."""
    limit = 64 * 1024
    config = PlannerConfig(server=ServerSettings(max_message_bytes=limit))
    pool = a_pool(400), a_pool(900)
    with (
        running_writer(folder, valkey_server.url) as address,
        RealPlanner(folder, config, writer=address, token=TOKEN) as planner,
        planner.client() as client,
    ):
        plans = [client.select(fragments, max_tokens=60) for fragments in pool]
        if stored:
            persist(planner, valkey_server, client, [plan.trace_id for plan in plans])
        whole, cut = (client.trace(plan.trace_id) for plan in plans)
        assert (len(whole.record["pool"]), whole.pool_left_out) == (400, 0)
        shown = cut.record["pool"]
        assert [row[:6] for row in shown] == the_rows(pool[1], len(shown))
        assert len(shown) + cut.pool_left_out == 900
        assert 450 < len(shown) < 900
        assert (cut.summary.plan_hash, len(cut.record["item_coords"])) == (plans[1].plan_hash, 8)


def test_a_shortened_trace_has_at_most_the_bytes_allowed():
    """A1: for any limit: never more, and no row less than needed."""
    pool = [[str(uuid4()), 1, row, row + 1, "bödy" * (row % 40), 0, 2**62 + row, 3] for row in range(300)]
    whole = trace_message(a_record(str(uuid4()), kind="select", pool=pool))
    for limit in range(whole.ByteSize() // 3, whole.ByteSize() + 100, 997):
        cut = traces_pb2.GetResponse()
        cut.CopyFrom(whole)
        shorten(cut, limit)
        assert cut.ByteSize() <= limit
        rows = cut.record.fields["pool"].list_value.values
        assert len(rows) + cut.pool_left_out == 300
        if cut.pool_left_out:
            next_row = whole.record.fields["pool"].list_value.values[len(rows)]
            assert cut.ByteSize() + next_row.ByteSize() + 40 > limit


def test_what_was_explained_is_shortened_only_where_the_pool_is_not_enough():
    """A1, X1: the rows of an explanation are left out last, and counted apart."""
    pool = [[str(uuid4()), 1, row, row + 1, "body", 0, 2**62 + row, 3] for row in range(100)]
    rows = [[str(uuid4()), 1, row, row + 1, "bödy" * (row % 9), 0, 0.5, 3, "budget"] for row in range(200)]
    trace = a_record(str(uuid4()), kind="select", pool=pool, explained={"rows": rows, "leftOut": 7, "sourceCap": 40})
    whole = trace_message(trace)
    without_pool = whole.ByteSize() - whole.record.fields["pool"].ByteSize()
    for limit in range(whole.ByteSize() // 3, whole.ByteSize() + 100, 997):
        cut = traces_pb2.GetResponse()
        cut.CopyFrom(whole)
        shorten(cut, limit)
        assert cut.ByteSize() <= limit
        kept = cut.record.fields["explained"].struct_value.fields
        shown = kept["rows"].list_value.values
        assert len(shown) + cut.explained_left_out == 200
        assert len(cut.record.fields["pool"].list_value.values) + cut.pool_left_out == 100
        assert cut.pool_left_out == 100 or not cut.explained_left_out
        assert not cut.explained_left_out or limit < without_pool + 100
        assert kept["leftOut"].number_value == 7
    nothing = trace_message(a_record(str(uuid4()), explained=None, padding="x" * 2000))
    shorten(nothing, 1000)
    assert all(nothing.record.fields[name].HasField("null_value") for name in ("explained", "pool"))


def test_traces_are_listed_by_what_their_plans_used(planner, valkey_server):
    """X7: shares and stranding filter; tokens belong to their filters; what is no share is refused with its place."""
    with planner.client() as client:
        used = [
            store(valkey_server, client, budget={"applied": 100, "used": n, "stranded": n % 2})[0]
            for n in (29, 57, 100)
        ]
        shown = [trace.trace_id for trace in client.traces(min_used_share=0.57).items]
        assert shown == used[:0:-1]
        assert [trace.trace_id for trace in client.traces(max_used_share=0.57, stranded=True).items] == used[1::-1]
        assert [trace.trace_id for trace in client.traces(stranded=False).items] == used[2:]
        first = client.traces(min_used_share=0.0, page_size=1)
        rest = client.traces(min_used_share=0.0, page_size=5, page_token=first.next_page_token)
        assert [trace.trace_id for trace in rest.items] == used[1::-1]
        for changed in ({"min_used_share": 0.1}, {"min_used_share": 0.0, "stranded": True}, {}):
            with pytest.raises(InvalidRequest) as refused:
                client.traces(**changed, page_token=first.next_page_token)
            assert refused.value.field == "page_token"
        for field, filters in (
            ("min_used_share", {"min_used_share": -0.1}),
            ("min_used_share", {"min_used_share": float("nan")}),
            ("max_used_share", {"max_used_share": float("inf")}),
            ("max_used_share", {"min_used_share": 0.5, "max_used_share": 0.25}),
        ):
            with pytest.raises(InvalidRequest) as refused:
                client.traces(**filters)
            assert refused.value.field == field
