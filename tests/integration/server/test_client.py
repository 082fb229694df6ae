"""The Python client against a real listener: failures, repetition, deadlines, both styles."""

import asyncio
import time

import pytest
from planner_server import PlannerServer
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha_client import (
    AsyncClient,
    Client,
    DeadlineExceeded,
    Document,
    InsufficientEvidence,
    InvalidRequest,
    MessageTooLarge,
    NotFound,
    PermissionDenied,
    TelhaError,
    Unauthenticated,
    Unavailable,
)
from telha_planner.core import errors
from telha_planner.server.call import Service

KEY = "telha_abcdefghijkl_" + "s" * 43


class Script:
    """A planner that fails as the script says, then answers."""

    def __init__(self):
        self.failures: list[Exception] = []
        self.calls: list[str] = []
        self.metadata: list[str] = []

    def services(self):
        memory = {"Ingest": self.ingest}
        return [Service("telha.planner.v1.Planner", {"Plan": self.plan}), Service("telha.memory.v1.Memory", memory)]

    async def plan(self, raw, call):
        self._next("plan", call)
        message = planner_pb2.PlanRequest.FromString(raw)
        if message.question == "slow":
            await asyncio.sleep(2)
        return planner_pb2.PlanResponse(
            plan=plan_pb2.EvidencePlan(plan_model="v1", trace_id=message.question),
            window=plan_pb2.Window(valid_time_us=1, tx_time_us=2),
        )

    async def ingest(self, _raw, call):
        self._next("ingest", call)
        return memory_pb2.IngestResponse(tx_us=5)

    def _next(self, name, call):
        self.calls.append(name)
        self.metadata.append(call.credential)
        if self.failures:
            raise self.failures.pop(0)


@pytest.fixture
def script():
    return Script()


@pytest.fixture
def client(script):
    with PlannerServer(script.services) as server, Client(server.address, KEY) as client:
        yield client


@pytest.mark.parametrize("characters", [5_000, 50_000])
def test_a_message_too_large_has_one_class_whoever_refused_it(script, characters):
    """A1: the server in words, or the transport before it."""
    with PlannerServer(script.services, max_message_bytes=4096) as server, Client(server.address, KEY) as client:
        with pytest.raises(MessageTooLarge) as refusal:
            client.memory.ingest([Document(name="a.txt", content="x" * characters)])
        assert refusal.value.reason == "MESSAGE_TOO_LARGE"
        assert refusal.value.retry_after is None
    assert script.calls == []


def test_a_plan_is_answered_and_the_key_travels_as_bearer_token(client, script):
    """A5: a plan is answered and the key travels as bearer token."""
    plan = client.plan("why?")
    assert (plan.trace_id, plan.window.tx_time) == ("why?", 2)
    assert script.metadata == [KEY]
    assert KEY not in repr(client) + repr(client._target)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (errors.RequestInvalid(field="a.b", rule="must be c"), InvalidRequest),
        (errors.Unauthenticated(), Unauthenticated),
        (errors.PermissionDenied(right="the right to read"), PermissionDenied),
        (errors.NotFound(resource="source"), NotFound),
        (errors.InsufficientEvidence(trace_id="t"), InsufficientEvidence),
        (errors.VectorLegUnavailable(cause="memory holds no vectors"), TelhaError),
        (RuntimeError("secret"), TelhaError),
    ],
)
def test_a_failure_arrives_as_its_class_and_is_not_repeated(client, script, error, kind):
    """A5: typed exceptions."""
    script.failures = [error]
    with pytest.raises(TelhaError) as caught:
        client.plan("why?")
    assert type(caught.value) is kind
    assert caught.value.reason == getattr(error, "reason", "INTERNAL")
    assert caught.value.request_id
    assert script.calls == ["plan"]
    if isinstance(error, errors.RequestInvalid):
        assert (caught.value.field, caught.value.rule) == ("a.b", "must be c")
    if isinstance(error, errors.InsufficientEvidence):
        assert caught.value.trace_id == "t"


def test_a_read_is_repeated_where_the_server_says_that_it_helps(client, script):
    """A5: RetryInfo decides."""
    script.failures = [errors.Overloaded(), errors.Unavailable(part="the store")]
    before = time.monotonic()
    assert client.plan("why?").plan_model == "v1"
    assert script.calls == ["plan"] * 3
    assert time.monotonic() - before >= 0.05 + 2 * 0.5


def test_a_write_is_repeated_only_if_nothing_was_done(client, script):
    """A5: a write is repeated only if nothing was done."""
    document = Document(name="a", content="b")
    script.failures = [errors.Overloaded()]
    assert client.memory.ingest([document]).tx == 5
    assert script.calls == ["ingest"] * 2
    script.failures = [errors.Unavailable(part="the store")]
    with pytest.raises(Unavailable) as caught:
        client.memory.ingest([document])
    assert caught.value.retry_after == 0.5
    assert script.calls == ["ingest"] * 3


def test_repeating_ends(client, script):
    """A5: repeating ends."""
    script.failures = [errors.Overloaded() for _ in range(10)]
    with pytest.raises(Unavailable) as caught:
        client.plan("why?")
    assert caught.value.reason == "OVERLOADED"
    assert script.calls == ["plan"] * 4


def test_no_pause_goes_beyond_the_deadline(client, script):
    """A5: no pause goes beyond the deadline."""
    script.failures = [errors.RateLimited(retry_after_ms=60_000)]
    before = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        client.plan("why?", timeout=50)
    assert caught.value.retry_after == 60
    assert script.calls == ["plan"]
    assert time.monotonic() - before < 30


def test_a_deadline_is_always_set(client):
    """A5: a deadline is always set."""
    with pytest.raises(DeadlineExceeded):
        client.plan("slow", timeout=0.2)


def test_a_server_that_is_away_is_unavailable(tmp_path):
    """A5: a server that is away is unavailable."""
    with Client(f"unix:{tmp_path}/none.sock", KEY) as client, pytest.raises(Unavailable) as caught:
        client.plan("why?")
    assert (caught.value.reason, caught.value.retry_after) == ("", None)


def test_the_async_client_does_the_same(script):
    """A5: sync and async."""

    async def scenario(address):
        async with AsyncClient(address, KEY) as client:
            plans = await asyncio.gather(*(client.plan(str(number)) for number in range(5)))
            assert [plan.trace_id for plan in plans] == list("01234")
            script.failures = [errors.Overloaded()]
            assert (await client.memory.ingest([Document(name="a", content="b")])).tx == 5
            script.failures = [errors.NotFound(resource="source")]
            with pytest.raises(NotFound):
                await client.plan("why?")

    with PlannerServer(script.services) as server:
        asyncio.run(scenario(server.address))


def test_address_and_key_come_from_the_environment(monkeypatch, script):
    """A5: address and key come from the environment."""
    with PlannerServer(script.services) as server:
        monkeypatch.setenv("TELHA_ADDRESS", server.address)
        monkeypatch.setenv("TELHA_KEY", KEY)
        with Client() as client:
            assert client.plan("why?").plan_model == "v1"


@pytest.mark.parametrize("key", [None, "", "telha_ä", "a\nb", "a b"])
def test_a_key_that_cannot_be_one_is_refused_at_once(monkeypatch, key):
    """A5: a key that cannot be one is refused at once."""
    monkeypatch.delenv("TELHA_KEY", raising=False)
    with pytest.raises(ValueError, match="API key"):
        Client("127.0.0.1:1", key)
