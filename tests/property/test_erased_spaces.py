"""Laws of removal for good: what is erased answers nothing at any instant, what is beside it answers as before."""

from contextlib import ExitStack, closing

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from planner_parts import parts_over
from telha_planner.core.errors import Unauthenticated
from telha_planner.core.request import Window

SPACES = ("main", "агент", "空间")
WORDS = ("tram", "depot", "夜车", "停车场", "🚊", "👩‍👩‍👧", "רכבת", "лампа")
QUESTION = " ".join(WORDS)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
paragraphs = st.lists(texts, min_size=1, max_size=4).map("\n\n".join)
documents = st.lists(st.tuples(st.sampled_from(SPACES), st.integers(0, 2), paragraphs), min_size=1, max_size=8)


def _written(parts, history, tenant="acme"):
    """Ingest *history*; the instants after each commit."""
    instants = []
    for space, name, text in history:
        parts.remember(f"{space}-{name}.md", text, space=space, tenant=tenant)
        _, last_tx = parts.planning._authenticated(parts.key(tenant))
        instants.append(last_tx)
    return instants


def _plans(parts, space, instants, tenant="acme"):
    """Hash and texts of the plan of *space* at each instant."""
    found = []
    for instant in instants:
        window = Window(valid_time=instant, tx_time=instant)
        plan = parts.plan(QUESTION, tenant=tenant, window=window, spaces=(space,)).plan
        found.append((plan.plan_hash, [span.text for span in plan.spans]))
    return found


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, st.sampled_from(SPACES))
def test_an_erased_space_is_silent_and_its_neighbours_plan_as_before(new_store_url, history, erased):
    """M5, M7: equal hashes at every instant for every other space; nothing, ever, for the one that is gone."""
    assume(erased in {space for space, _, _ in history})
    with ExitStack() as opened:
        parts = opened.enter_context(closing(parts_over(new_store_url())))
        instants = _written(parts, history)
        before = {space: _plans(parts, space, instants) for space in SPACES}
        tenant = parts.planning.caller(parts.key()).tenant
        parts.writer.erase_space(tenant, erased)
        for planner in (parts, opened.enter_context(closing(parts.restarted()))):
            for space in SPACES:
                after = _plans(planner, space, instants)
                if space == erased:
                    assert [spans for _, spans in after] == [[]] * len(instants)
                    assert len({plan_hash for plan_hash, _ in after}) == 1
                else:
                    assert after == before[space]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, documents)
def test_a_deleted_tenant_leaves_its_neighbours_as_they_are(new_store_url, history, neighbours):
    """M5, A6: equal hashes for the others, with the same names and texts in both; the deleted one is nobody."""
    with ExitStack() as opened:
        parts = opened.enter_context(closing(parts_over(new_store_url())))
        _written(parts, history)
        instants = _written(parts, neighbours, "rival")
        before = {space: _plans(parts, space, instants, "rival") for space in SPACES}
        parts.plan(QUESTION)
        parts.writer.delete_tenant(parts.planning.caller(parts.key()).tenant, bytes(16))
        with pytest.raises(Unauthenticated):
            parts.plan(QUESTION)
        for planner in (parts, opened.enter_context(closing(parts.restarted()))):
            assert {space: _plans(planner, space, instants, "rival") for space in SPACES} == before
