"""Traces.Delete over the wire: wherever the record is, it goes, its question with it, and does not come back."""

import time

import pytest
from erasure_scan import in_files
from planner_server import RealPlanner
from redis import Redis
from running_writer import running_writer
from shipping import shipping
from telha_client import Fragment, NotFound, PermissionDenied, Span, Unavailable
from telha_planner.core.errors import TracePending
from telha_runtime import frame
from telha_runtime.frame import Frame
from trace_path import STREAM, TOKEN

POOL = [Fragment(span=Span("5d2f0c3b-0000-4000-8000-000000000001", 1, 0, 5), text="the night tram", kind="body")]
QUESTION = "who is zq-秘密-tram 🧑‍🚀?"


@pytest.fixture
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("d")


@pytest.fixture
def planner(folder, valkey_server):
    with (
        running_writer(folder, valkey_server.url) as address,
        RealPlanner(folder, writer=address, token=TOKEN) as planner,
    ):
        yield planner


def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def asked(planner, client):
    """A call with the question, and its record."""
    trace_id = client.plan(QUESTION, allow_ungrounded=True).trace_id
    return trace_id, planner.spool.get("acme", trace_id)


def left(folder):
    """Files that hold the question."""
    return list(in_files(folder, [QUESTION.encode()]))


def test_a_stored_trace_goes_and_stays_away(planner, folder, valkey_server):
    """X1: out of the store's files too; delivered once more it is dropped, and its planner told so."""
    with planner.client() as client:
        trace_id, record = asked(planner, client)
        kept = client.plan("what else?", allow_ungrounded=True).trace_id
        with shipping(planner, valkey_server.url):
            until(lambda: planner.spool.depth == 0)
        told = client.trace(trace_id).summary
        assert client.delete_trace(trace_id) == told
        for again in (client.trace, client.delete_trace):
            with pytest.raises(NotFound):
                again(trace_id)
        assert [trace.trace_id for trace in client.traces().items] == [kept]
        with Redis.from_url(valkey_server.url) as redis:
            entry = frame.encode(Frame(planner.spool.name, 9, trace_id, "acme", record))
            redis.xadd(STREAM, {frame.FIELD: entry})
            until(lambda: redis.xlen(STREAM) == 0)
        assert planner.run(planner.writer.persisted([trace_id])) == [trace_id]
        with pytest.raises(NotFound):
            client.trace(trace_id)
        assert client.trace(kept).summary.trace_id == kept
        until(lambda: left(folder) == [])


def test_a_trace_that_waits_in_the_spool_is_never_stored(planner, folder, valkey_server):
    """X1: not shown from that moment on, dropped when it would come, and the spool's file goes with the rest of it."""
    with planner.client() as client:
        trace_id, _ = asked(planner, client)
        beside = client.plan("what else?", allow_ungrounded=True).trace_id
        assert left(folder)
        assert client.delete_trace(trace_id).trace_id == trace_id
        with pytest.raises(NotFound):
            client.trace(trace_id)
        assert client.trace(beside).summary.trace_id == beside
        with shipping(planner, valkey_server.url):
            until(lambda: planner.spool.depth == 0)
        assert [trace.trace_id for trace in client.traces().items] == [beside]
        until(lambda: left(folder) == [])


def test_spaces_and_rights_are_walls(planner):
    """A6, M7: `admin` alone may, and a limited key only what it may read; a foreign trace is an absent one."""
    with planner.client() as client:
        main, _ = asked(planner, client)
    for rights in (("read",), ("write",), ("operator",)):
        with planner.client("acme", None, rights) as other, pytest.raises(PermissionDenied, match="administer"):
            other.delete_trace(main)
    with planner.client("acme", ["private"], ("read", "admin")) as limited:
        own = limited.select(POOL, question="tram").trace_id
        with pytest.raises(NotFound):
            limited.delete_trace(main)
        assert limited.delete_trace(own).kind == "select"
    with planner.client("rival", None, ("admin",)) as rival, pytest.raises(NotFound):
        rival.delete_trace(main)
    with planner.client("acme", None, ("admin",)) as only:
        assert only.delete_trace(main).trace_id == main


def test_without_the_trace_writer_nothing_is_erased(tmp_path, one_attempt):
    """X3: it would come back; so the call fails, and the trace is there as before."""
    with RealPlanner(tmp_path) as planner, planner.client() as client:
        trace_id, _ = asked(planner, client)
        with pytest.raises(Unavailable) as refusal:
            client.delete_trace(trace_id)
        assert refusal.value.reason == "UNAVAILABLE"
        assert client.trace(trace_id).record["request"]["question"] == QUESTION
        with pytest.raises(Unavailable) as refusal:
            client.delete_trace(f"{trace_id[:24]}00000000{trace_id[32:]}")
        assert refusal.value.reason == TracePending.reason
