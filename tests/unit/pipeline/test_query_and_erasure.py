"""An erasure that falls between the columns and the properties of a query: the answer is made anew."""

import pytest
from planner_parts import parts_in
from telha_planner.core.errors import Unavailable
from telha_planner.core.predicate import read_where
from telha_planner.core.request import QueryRequest
from telha_planner.memory import properties

READ = "telha_planner.columns.tenant.read_properties"
WHERE = {"kind": {"eq": "paragraph"}}


@pytest.fixture
def parts(tmp_path):
    parts = parts_in(tmp_path)
    yield parts
    parts.close()


def erasing(parts, sources):
    """Reads properties, after one more of *sources* was erased."""

    def read(store, tenant, numbers):
        if sources:
            parts.writer.erase_source(tenant, sources.pop().bytes)
        return properties.read_properties(store, tenant, numbers)

    return read


def sources_of(answer):
    return {span.source_id for node in answer.nodes for span in node.provenance}


def test_a_query_never_shows_what_is_being_erased(parts, monkeypatch):
    """M5, R5: read anew, without the source."""
    kept = parts.remember("kept.md", "# A\n\nFirst.\n")
    gone = parts.remember("gone.md", "# B\n\nSecond.\n")
    monkeypatch.setattr(READ, erasing(parts, [gone]))
    request = QueryRequest(find="passage", where=read_where("where", WHERE))
    assert sources_of(parts.planning.query(parts.key(), request)) == {kept.bytes}


def test_a_plan_never_uses_what_is_being_erased(parts, monkeypatch):
    """M5, R5: replanned, without the source."""
    kept = parts.remember("kept.md", "# A\n\nFirst.\n")
    gone = parts.remember("gone.md", "# B\n\nSecond.\n")
    monkeypatch.setattr(READ, erasing(parts, [gone]))
    answer = parts.plan(find="passage", where=read_where("query.where", WHERE))
    assert {planned.span.source_id for planned in answer.plan.spans} == {kept.bytes}


def test_endless_erasures_are_told(parts, monkeypatch):
    """R5: three times, then the caller may try again."""
    for number in range(3):
        parts.remember("kept.md", f"# A\n\nFirst, {number}.\n")
    gone = [parts.remember(f"{number}.md", "# B\n\nSecond.\n") for number in range(3)]
    monkeypatch.setattr(READ, erasing(parts, gone))
    with pytest.raises(Unavailable):
        parts.planning.query(parts.key(), QueryRequest(find="passage"))
    assert parts.planning.query(parts.key(), QueryRequest(find="passage")).nodes
