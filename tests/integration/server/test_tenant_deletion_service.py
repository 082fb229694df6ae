"""DeleteTenant over the wire: memory, keys and traces go, in whatever order the parts are there."""

import threading
import time
from contextlib import ExitStack
from uuid import uuid4

import pytest
import sqlalchemy as sa
from planner_server import RealPlanner
from redis import Redis
from running_writer import running_writer
from telha_client import (
    Client,
    DeadlineExceeded,
    Document,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    TelhaError,
    Unauthenticated,
)
from telha_planner.memory import tables
from telha_planner.memory.writes import Writer
from trace_path import STREAM, TOKEN, an_entry

QUESTION = "what does the night tram carry?"
TEXT = "The night tram carries 秘密 gold 🧑‍🚀 סוד."


@pytest.fixture(scope="module")
def folder(tmp_path_factory, lasting_store_url):
    """Another for each store: the spool and the traces belong to its tenants."""
    return tmp_path_factory.mktemp("d")


@pytest.fixture(scope="module")
def planner(folder, lasting_store_url):
    with RealPlanner(folder, url=lasting_store_url, writer=f"unix:{folder / 'w'}", token=TOKEN, round_s=0.2) as planner:
        yield planner


@pytest.fixture
def acme():
    """A tenant of the test's own."""
    return f"acme-{uuid4().hex[:8]}"


@pytest.fixture
def rival():
    """Another."""
    return f"rival-{uuid4().hex[:8]}"


def operator(planner):
    return planner.client("home", None, ("read", "operator"))


def fill(planner, tenant):
    """Memory of *tenant*, read once, so that columns and texts of it are held; the plan."""
    with planner.client(tenant) as client:
        client.memory.ingest([Document(name="n.md", content=TEXT), Document(name="m.md", content="Trams at noon.")])
        return client.plan(QUESTION)


def traces_of(planner, valkey, tenant, count):
    """Put *count* traces into the stream, and wait until the writer has them."""
    with Redis.from_url(valkey.url) as redis, planner.client(tenant) as client:
        for _ in range(count):
            redis.xadd(STREAM, an_entry(str(uuid4()), tenant))
        until(lambda: len(client.traces().items) >= count)


def until(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def held(planner, tenant):
    """What the process holds of a tenant, by number."""
    texts = [key for key in planner.planning._texts._held if key[0] == tenant]
    return texts, tenant in planner.planning._columns.tenants


def test_a_tenant_goes_with_all_that_is_its(planner, folder, valkey_server, acme, rival):
    """M5: by its own admin; keys end, columns and texts are dropped, traces are deleted, a receipt is left."""
    with running_writer(folder, valkey_server.url):
        fill(planner, acme)
        theirs = fill(planner, rival)
        traces_of(planner, valkey_server, acme, 3)
        traces_of(planner, valkey_server, rival, 2)
        number = planner.caller(planner.key(acme)).tenant
        assert all(held(planner, number))
        with planner.client(acme) as client:
            receipt = client.administration.delete_tenant(acme)
            assert held(planner, number) == ([], False)
            assert (receipt.tenant, receipt.traces, receipt.keys) == (acme, 3, 1)
            assert (receipt.removed.sources, receipt.removed.versions) == (2, 2)
            assert receipt.rows > receipt.removed.nodes > 0
            for call in (client.memory.sources, lambda: client.plan(QUESTION), client.traces):
                with pytest.raises(Unauthenticated):
                    call()
        with operator(planner) as client:
            assert client.administration.deletion(receipt.deletion_id) == receipt
            assert receipt in client.administration.deletions().items
            names = [tenant.name for tenant in client.administration.tenants().items]
            assert (acme in names, rival in names) == (False, True)
            for gone in (
                lambda: client.administration.delete_tenant(acme),
                lambda: client.administration.keys(acme),
            ):
                with pytest.raises(NotFound, match="tenant"):
                    gone()
            with pytest.raises(InvalidRequest, match="deleted tenant"):
                client.administration.create_tenant(acme)
        with planner.client(rival) as client:
            assert client.plan(QUESTION).plan_hash == theirs.plan_hash
            assert len(client.traces().items) == 2


def test_traces_follow_when_the_writer_comes_back(planner, folder, valkey_server, acme):
    """M5: without the writer the memory goes all the same; the receipt says so until the planner has asked again."""
    with running_writer(folder, valkey_server.url):
        fill(planner, acme)
        traces_of(planner, valkey_server, acme, 4)
    with operator(planner) as client:
        receipt = client.administration.delete_tenant(acme, timeout=5)
        assert receipt.traces is None
        assert client.administration.deletion(receipt.deletion_id).traces is None
        with running_writer(folder, valkey_server.url):
            until(lambda: client.administration.deletion(receipt.deletion_id).traces == 4)
            # A record of before that arrives only now does not come back.
            late = str(uuid4())
            with Redis.from_url(valkey_server.url) as redis:
                redis.xadd(STREAM, an_entry(late, acme))

            def dropped():
                return planner.run(planner.writer.persisted([late])) == [late]

            until(dropped)
            assert planner.run(planner.writer.fetch(acme, (), "", late, (), time.monotonic() + 5)) is None


def test_a_restarted_planner_finishes_what_was_begun(tmp_path_factory, store_url, valkey_server, acme):
    """M5: nothing that is left is forgotten with the process."""
    folder = tmp_path_factory.mktemp("r")
    own = {"url": store_url, "writer": f"unix:{folder / 'w'}", "token": TOKEN, "round_s": 0.2}
    with RealPlanner(folder, **own) as planner:
        fill(planner, acme)
        with operator(planner) as client:
            receipt = client.administration.delete_tenant(acme, timeout=5)
            assert receipt.traces is None
            key = planner.key("home", None, ("read", "operator"))
    with ExitStack() as parts:
        parts.enter_context(running_writer(folder, valkey_server.url))
        again = parts.enter_context(RealPlanner(folder, **own))
        client = parts.enter_context(Client(again.address, key))
        until(lambda: client.administration.deletion(receipt.deletion_id).traces == 0)


def test_what_another_process_deletes_is_dropped_here(planner, acme):
    """M5: on every replica, and when the command deleted on the store."""
    fill(planner, acme)
    number = planner.caller(planner.key(acme)).tenant
    assert all(held(planner, number))
    Writer(planner.store, lambda: time.time_ns() // 1000).delete_tenant(number, uuid4().bytes)
    with planner.client(acme) as client, pytest.raises(Unauthenticated):
        client.memory.context(QUESTION)
    until(lambda: held(planner, number) == ([], False))


def test_calls_that_race_a_deletion_end_well(planner, acme):
    """M5: each answers its plan from before or UNAUTHENTICATED; none fails inside, none is another's."""
    before = fill(planner, acme).plan_hash
    answers, stop = [], threading.Event()

    def ask():
        with planner.client(acme) as client:
            while not stop.is_set():
                try:
                    answers.append(client.plan(QUESTION).plan_hash)
                except Unauthenticated:
                    answers.append("UNAUTHENTICATED")
                    return
                except TelhaError as other:
                    answers.append(f"{other.code} {other.reason}")

    askers = [threading.Thread(target=ask) for _ in range(3)]
    planner.key("home", None, ("read", "operator"))
    for asker in askers:
        asker.start()
    until(lambda: len(answers) > 20)
    with operator(planner) as client:
        client.administration.delete_tenant(acme, timeout=5)
    for asker in askers:
        asker.join(20)
    stop.set()
    assert set(answers) - {"RESOURCE_EXHAUSTED OVERLOADED"} == {before, "UNAUTHENTICATED"}
    assert answers.count("UNAUTHENTICATED") == 3


def test_a_deletion_whose_caller_leaves_goes_to_its_end(planner, acme):
    """M5: what has begun is finished, and the receipt is there to be found."""
    fill(planner, acme)
    number = planner.caller(planner.key(acme)).tenant
    with operator(planner) as client:
        with planner.store.writing(number) as connection:
            # Whoever writes for the tenant waits: on one engine for the file, on the other for this row.
            connection.execute(sa.update(tables.clock).where(tables.clock.c.tenant == number).values(next_no=1 << 40))
            with pytest.raises(DeadlineExceeded):
                client.administration.delete_tenant(acme, timeout=0.5)
        until(lambda: acme in [receipt.tenant for receipt in client.administration.deletions().items])
        until(lambda: held(planner, number) == ([], False))


def test_only_whoever_administers_all_of_it_may_delete(planner, acme, rival):
    """A6, M7: not a limited key, not another right; a foreign tenant is answered as one that does not exist."""
    for tenant in (acme, rival):
        planner.key(tenant)
    for rights, spaces in ((("read", "write"), None), (("admin",), ("main",))):
        with planner.client(acme, spaces, rights) as client, pytest.raises(PermissionDenied):
            client.administration.delete_tenant(acme)
    with planner.client(acme, None, ("admin",)) as client:
        refusals = []
        for name in (rival, "nobody's"):
            with pytest.raises(NotFound) as refused:
                client.administration.delete_tenant(name)
            refusals.append((refused.value.message, refused.value.reason, refused.value.metadata))
        assert refusals[0] == refusals[1]
        for receipt in (lambda: client.administration.deletion(str(uuid4())), client.administration.deletions):
            with pytest.raises(PermissionDenied, match="operate the installation"):
                receipt()
        for name in ("", " ", "x" * 129):
            with pytest.raises(InvalidRequest, match="tenant"):
                client.administration.delete_tenant(name)
    with operator(planner) as client:
        with pytest.raises(NotFound, match="deletion"):
            client.administration.deletion(str(uuid4()))
        with pytest.raises(InvalidRequest, match="deletion_id"):
            client.administration.deletion("x")
        assert {acme, rival} <= {tenant.name for tenant in client.administration.tenants().items}
