"""EraseSpace over the wire: who may, what goes, and what stands beside it."""

from uuid import uuid4

import pytest
from planner_server import RealPlanner
from telha_client import Document, InvalidRequest, NotFound, PermissionDenied

QUESTION = "what does the night tram carry?"
TEXT = "The night tram carries 秘密 gold 🧑‍🚀 סוד, it is said."


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("spaces")) as running:
        yield running


@pytest.fixture
def tenant(planner):
    """A tenant with one document in each of three spaces, and a plan of each."""
    name = f"acme-{uuid4().hex[:8]}"
    with planner.client(name) as client:
        client.memory.ingest([Document(name=f"{space}.md", content=TEXT, space=space) for space in ("main", "a", "b")])
    return name


def plan(client, space, **options):
    return client.plan(QUESTION, spaces=[space], allow_ungrounded=True, **options)


def test_a_space_is_silent_afterwards_also_in_the_past(planner, tenant):
    """M5, M7: its plans are empty at every instant, those of its neighbours have the hashes of before."""
    with planner.client(tenant) as client:
        before = {space: plan(client, space) for space in ("main", "a", "b")}
        receipt = client.administration.erase_space("a")
        assert (receipt.space, receipt.removed.sources, receipt.removed.versions) == ("a", 1, 1)
        assert receipt.removed.nodes > 0
        then = before["a"].window.tx_time
        for options in ({}, {"tx_time": then}, {"tx_time": then, "valid_time": then}):
            assert plan(client, "a", **options).spans == ()
            for space in ("main", "b"):
                assert plan(client, space, **options).plan_hash == before[space].plan_hash
        assert len(plan(client, "*").spans) == 2
        assert client.memory.sources(["a"]).items == ()
        assert len(client.memory.sources(["*"]).items) == 2
        with pytest.raises(NotFound, match="space"):
            client.administration.erase_space("a")


def test_only_an_admin_of_the_space_may_erase_it(planner, tenant):
    """M7: neither write nor operator; a limited key learns nothing of spaces outside, there or not."""
    for rights in (("read", "write"), ("operator",)):
        with planner.client(tenant, None, rights) as client, pytest.raises(PermissionDenied, match="administer"):
            client.administration.erase_space("a")
    with planner.client(tenant, ("a",), ("admin",)) as client:
        for space in ("b", "never"):
            with pytest.raises(PermissionDenied, match=f"the space {space}"):
                client.administration.erase_space(space)
        for space in ("", " ", "x" * 129):
            with pytest.raises(InvalidRequest, match="space"):
                client.administration.erase_space(space)
        assert client.administration.erase_space("a").removed.sources == 1
    with planner.client(tenant) as client:
        assert len(client.memory.sources(["*"]).items) == 2
