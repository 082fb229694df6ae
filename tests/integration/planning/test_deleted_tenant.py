"""A tenant that is deleted in the middle of a plan: at each moment the plan is the one from before, or nobody's."""

import pytest
from planner_parts import parts_in
from telha_planner.columns.tenant import Behind, Columns
from telha_planner.core.errors import Unauthenticated
from telha_planner.core.request import QueryRequest
from telha_planner.memory.projection import TenantDeleted

QUESTION = "where does the night tram stop?"


@pytest.fixture
def parts(tmp_path):
    made = parts_in(tmp_path)
    made.remember("a.md", "The night tram stops at the depot. 夜车 🚊")
    yield made
    made.close()


def delete_when(parts, monkeypatch, owner, method):
    """Delete the tenant right before the next call of *method*."""
    original = getattr(owner, method)
    tenant = parts.planning.caller(parts.key()).tenant

    def late(*arguments):
        monkeypatch.setattr(owner, method, original)
        parts.writer.delete_tenant(tenant, bytes(16))
        return original(*arguments)

    monkeypatch.setattr(owner, method, late)


def test_columns_that_were_never_read(parts, monkeypatch):
    """M5: not an empty plan, which would be a statement about a memory that is gone."""
    delete_when(parts, monkeypatch, parts.columns, "at")
    with pytest.raises(Unauthenticated):
        parts.plan(QUESTION)
    assert parts.columns.tenants == ()


def test_columns_that_have_to_be_advanced(parts, monkeypatch):
    """M5: those of before are not passed off as those of now."""
    parts.plan(QUESTION)
    parts.remember("b.md", "The day tram does not.")
    delete_when(parts, monkeypatch, parts.columns, "at")
    with pytest.raises(Unauthenticated):
        parts.plan(QUESTION)
    assert parts.columns.tenants == ()


def test_texts_that_were_not_read_yet(parts, monkeypatch):
    """M5: the columns of before stand, the text is gone."""
    texts = parts.planning._texts
    parts.columns.at(1, 1)
    delete_when(parts, monkeypatch, texts, "slices")
    with pytest.raises(Unauthenticated):
        parts.plan(QUESTION)


def test_a_plan_that_has_all_it_needs(parts, monkeypatch):
    """M5: is the plan from before."""
    before = parts.plan(QUESTION).plan
    delete_when(parts, monkeypatch, parts.columns, "at")
    assert parts.plan(QUESTION).plan.plan_hash == before.plan_hash
    parts.planning.forget(1)
    assert (parts.columns.tenants, parts.planning._texts.nbytes) == ((), 0)
    with pytest.raises(Unauthenticated):
        parts.plan(QUESTION)


def test_a_query(parts, monkeypatch):
    """M5: as a plan."""
    delete_when(parts, monkeypatch, parts.columns, "at")
    with pytest.raises(Unauthenticated):
        parts.planning.query(parts.key(), QueryRequest(find="passage"))


def test_columns_that_catch_up_in_slices(parts):
    """M5: the slices end, nothing is held, and the next key check says why."""
    columns = Columns(parts.store, 1 << 30, most_rows=1)
    caller, last_tx = parts.planning._authenticated(parts.key())
    with pytest.raises(Behind):
        columns.at(caller.tenant, last_tx)
    assert not columns.advance(caller.tenant)
    parts.writer.delete_tenant(caller.tenant, bytes(16))
    assert columns.advance(caller.tenant)
    assert columns.tenants == ()
    with pytest.raises(TenantDeleted):
        columns.at(caller.tenant, last_tx)
