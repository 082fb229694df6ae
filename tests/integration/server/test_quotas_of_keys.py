"""Quotas: each key has its own on each surface, and a refusal says when to come back."""

import pytest
from planner_server import RealPlanner
from telha_client import Document, InvalidRequest, TelhaError
from telha_planner.config import PlannerConfig, ServerSettings

QUESTION = "when does the tram stop?"
LIMITS = {"plan_calls_per_minute": 2, "context_calls_per_minute": 3, "write_calls_per_minute": 2}


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    config = PlannerConfig(server=ServerSettings(**LIMITS))
    with RealPlanner(tmp_path_factory.mktemp("quota"), config) as running:
        yield running


def spent(call):
    """How often *call* goes well, and how it is then refused."""
    for times in range(10):
        try:
            # The client would wait and repeat, did the server not ask for more time than it has.
            call(timeout=15)
        except TelhaError as refused:
            return times, refused
    raise AssertionError("never refused")


def test_a_key_spends_its_own_quota_surface_by_surface(planner):
    """C9, A9: one key's calls cost no other key anything, not even one of the same tenant or spaces."""
    one, other = ("read", "write", "admin"), ("read", "write")
    documents = [Document(name="n.md", content="The tram stops at two.")]
    for tenant, rights in (("acme", one), ("acme", other), ("rival", one)):
        with planner.client(tenant, None, rights) as client:
            calls = {
                "write_calls_per_minute": lambda client=client, **o: client.memory.ingest(documents, **o),
                "plan_calls_per_minute": lambda client=client, **o: client.plan(QUESTION, **o),
                "context_calls_per_minute": lambda client=client, **o: client.memory.context(QUESTION, **o),
            }
            for name, call in calls.items():
                times, refused = spent(call)
                assert (times, refused.code, refused.reason) == (LIMITS[name], "RESOURCE_EXHAUSTED", "RATE_LIMITED")
                assert 0 < refused.retry_after <= 60 / LIMITS[name]
            assert len(client.memory.sources().items) == 1


def test_writes_of_keys_count_as_writes_but_ending_one_never_waits(planner):
    """A9: a key that leaked is ended whatever was spent with it."""
    with planner.client("third", None, ("admin",)) as client:
        made = client.administration.create_key("k", ["read"], timeout=15)
        with pytest.raises(InvalidRequest):
            client.administration.create_key(" ", ["read"], timeout=15)
        for call in (
            lambda: client.administration.create_key("k", ["read"], timeout=15),
            lambda: client.administration.erase_space("main", timeout=15),
            lambda: client.administration.delete_tenant("third", timeout=15),
        ):
            with pytest.raises(TelhaError, match="spent its calls"):
                call()
        assert client.administration.revoke_key(made.api_key.key_id).revoked
        assert len(client.administration.keys().items) == 2
