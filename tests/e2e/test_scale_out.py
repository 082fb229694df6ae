"""Several planners on one PostgreSQL: what docker-compose.yml describes, run by hand."""

import http.client
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psycopg
import pytest
from composed import BIN, Composed
from fixtures.postgres import OwnPostgres
from redis import Redis
from redis.exceptions import AuthenticationError
from telha_client import Client, Document, NotFound, TelhaError, Unavailable, verify_hash
from telha_runtime import health

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

T = TypeVar("T")
PLANNERS = ("planner-1", "planner-2")
NOTES = "# Harbour\n\nThe night tram stops at two. 夜间电车两点停运。 🧑‍🚀\n\nהחשמלית עוצרת בשתיים, tram.\n"
LATER = "# Ferry\n\nThe ferry to the island leaves at dawn, and carries no cars.\n"
QUESTION = "when does the night tram stop?"


@pytest.fixture
def system(tmp_path: Path, own_postgres: OwnPostgres) -> Iterator[Composed]:
    composed = Composed(tmp_path, own_postgres)
    try:
        yield composed
    finally:
        composed.close()


def until(answers: Callable[[], T | None], seconds: float = 60) -> T:
    """What *answers*, as soon as it does."""
    deadline = time.monotonic() + seconds
    while (found := answers()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def serving(system: Composed, *names: str) -> None:
    for name in names:
        until(lambda name=name: health.serving(f"127.0.0.1:{system.ports[name]}") or None)


def readable(client: Client, trace_id: str) -> object:
    """The trace, as soon as *client*'s planner finds it in the stream or in the store."""

    def look() -> object | None:
        try:
            return client.trace(trace_id)
        except (NotFound, Unavailable):
            return None

    return until(look, 20)


def first_key(system: Composed) -> str:
    """As docs/operating.md shows it, in the container of a planner."""
    url = system.environ("planner-1")["TELHA_STORE__URL"]
    words = ("--tenant", "acme", "--create-tenant", "--name", "first", "--rights", "read,write", "--json")
    command = [BIN / "telha-planner", "keys", "create", "--url", url, *words]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    return str(json.loads(done.stdout)["key"])


def test_two_planners_share_memory_and_traces_and_one_may_die(system: Composed) -> None:
    """M6, X3, X4, A9: read-your-writes and equal plans across replicas, and no trace is lost with one of them."""
    system.make_database()
    system.start("valkey")
    assert system.ran("migrate") == 0, system.said("migrate")
    assert_kept(system)
    key = first_key(system)
    system.start("trace-writer", *PLANNERS, "gateway")
    serving(system, "trace-writer", *PLANNERS)
    one, two = (Client(f"127.0.0.1:{system.ports[name]}", key=key) for name in PLANNERS)

    source = one.memory.ingest([Document(name="notes.md", content=NOTES)]).documents[0].source_id
    plan = two.plan(QUESTION)
    assert plan.spans[0].span.source_id == source
    again = one.plan(QUESTION, valid_time=plan.window.valid_time, tx_time=plan.window.tx_time)
    assert again.plan_hash == plan.plan_hash
    assert verify_hash(plan)
    assert readable(one, plan.trace_id) == readable(two, plan.trace_id)
    assert rest_context(system, key)["items"]
    probes = {name: system.probe(name) for name in ("postgres", "trace-writer", *PLANNERS, "gateway")}
    assert {name: probe.wait(30) for name, probe in probes.items()} == dict.fromkeys(probes, 0)

    # The one dies with records that nobody has seen yet; the other goes on, and the one brings them when it is back.
    system.kill("trace-writer")
    unseen = [one.plan(QUESTION).trace_id for _ in range(3)]
    system.kill("planner-1")
    with pytest.raises(TelhaError):
        one.plan(QUESTION, timeout=2)
    two.memory.ingest([Document(name="ferry.md", content=LATER)])
    after = two.plan("when does the ferry leave?")
    system.start("trace-writer", "planner-1")
    serving(system, "trace-writer", "planner-1")
    for trace_id in (*unseen, after.trace_id):
        assert readable(two, trace_id) == readable(one, trace_id)
    assert one.plan("when does the ferry leave?", tx_time=after.window.tx_time).spans[0].text == after.spans[0].text
    listed = until(lambda: everything(one) if len(everything(one)) >= 8 else None, 20)
    assert listed == everything(two)
    assert set(unseen) | {plan.trace_id, again.trace_id, after.trace_id} <= set(listed)
    for client in (one, two):
        client.close()
    assert set((system.stop("gateway", *PLANNERS) | system.stop("trace-writer")).values()) == {0}
    assert stored(system) >= set(listed)
    for name in ("migrate", "trace-writer", *PLANNERS, "gateway"):
        assert not [secret for secret in system.secrets.values() if secret in system.said(name)]


def assert_kept(system: Composed) -> None:
    """Valkey keeps what it takes, and asks for its password."""
    with Redis(port=system.ports["valkey"]) as stranger, pytest.raises(AuthenticationError):
        stranger.ping()
    with Redis(port=system.ports["valkey"], password=system.secrets["VALKEY_PASSWORD"]) as client:
        kept = {name: client.config_get(name)[name] for name in ("appendonly", "appendfsync", "maxmemory-policy")}
        assert kept == {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}


def everything(client: Client) -> list[str]:
    return [summary.trace_id for summary in client.traces(page_size=100).items]


def rest_context(system: Composed, key: str) -> dict:
    """An answer of the gateway, as soon as it is ready."""

    def ask() -> dict | None:
        connection = http.client.HTTPConnection("127.0.0.1", system.ports["gateway"], timeout=10)
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        try:
            connection.request("POST", "/v1/memory/context", json.dumps({"question": QUESTION}), headers)
            answer = connection.getresponse()
            return json.loads(answer.read()) if answer.status == 200 else None
        except OSError:
            return None
        finally:
            connection.close()

    return until(ask)


def stored(system: Composed) -> set[str]:
    """Ids in the table itself, read as the superuser."""
    address = system.postgres.admin.replace("/postgres?", "/telha?")
    with psycopg.connect(address) as connection:
        return {row[0] for row in connection.execute("SELECT encode(trace_id, 'hex')::uuid::text FROM trace")}
