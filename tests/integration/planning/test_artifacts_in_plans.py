"""R7: derived artifacts from the store to the plan: found, discounted, marked, and gone with what they tell."""

from uuid import UUID

import pytest
from planner_parts import Parts, parts_in, texts_of
from telha_planner.config import PlannerConfig, PlannerSettings
from telha_planner.core.model import SpanClass
from telha_planner.core.predicate import read_where
from telha_planner.core.request import Leg, Window
from telha_planner.ingest.artifact import ArtifactInput, record

ARTIFACT = UUID(int=7)
SUMMARY = "The harbour ferry sails on Sundays only, from berth four."


@pytest.fixture
def parts(tmp_path):
    made = parts_in(tmp_path)
    yield made
    made.close()


def summarise(parts: Parts, source: UUID, text: str = SUMMARY, name: str = "summary"):
    tenant = parts.planning.caller(parts.key()).tenant
    made = record(ArtifactInput(ARTIFACT.bytes, "main", name, text, (source.bytes,), None))
    return parts.writer.put_artifacts(tenant, [made])


def test_an_artifact_is_planned_with_its_class_and_discount(parts, tmp_path):
    """R7, S1: found by its words, weight times the cache discount, class cache in plan, item and record."""
    source = parts.remember("timetable.md", "# Trams\n\nThe first tram leaves at 05:12.")
    summarise(parts, source)
    answer = parts.plan("harbour ferry Sundays")
    (span,) = [span for span in answer.plan.spans if span.span_class is SpanClass.CACHE]
    assert (span.text, span.span.start, span.span.end) == (SUMMARY, 0, len(SUMMARY.encode()))
    assert (span.span.source_id, span.kind) == (ARTIFACT.bytes, "body")
    (item,) = [item for item in parts.context("harbour ferry Sundays").items if item.text == SUMMARY]
    assert (item.span_class, item.score) == (SpanClass.CACHE, span.weight)
    config = PlannerConfig(planner=PlannerSettings(cache_discount=0.25))
    other = parts_in(tmp_path, config=config, clock=parts.clock)
    other.keys = parts.keys
    (cheaper,) = [span for span in other.plan("harbour ferry Sundays").plan.spans if span.text == SUMMARY]
    assert cheaper.weight == span.weight / 2
    other.close()


def test_equal_evidence_wins_over_its_copy(parts):
    """S1: between a verbatim span and an artifact of the same words, the verbatim one weighs more."""
    source = parts.remember("ferry.md", SUMMARY)
    summarise(parts, source, name="ferry.md")
    spans = parts.plan("harbour ferry Sundays").plan.spans
    weights = {span.span_class: span.weight for span in spans if span.text == SUMMARY}
    assert weights[SpanClass.CACHE] == weights[SpanClass.TRUTH] / 2


def test_artifacts_are_found_by_type(parts):
    """M4: `find artifact` finds them, with what they were made from."""
    source = parts.remember("timetable.md", "The first tram leaves at 05:12.")
    summarise(parts, source)
    answer = parts.plan(find="artifact")
    assert texts_of(answer.plan.spans) == [SUMMARY]
    where = read_where("where", {"derivedFrom": {"contains": str(source)}})
    assert texts_of(parts.plan(find="artifact", where=where).plan.spans) == [SUMMARY]


def test_an_instant_keeps_its_artifact(parts):
    """M1: a plan as of then shows the text of then."""
    source = parts.remember("timetable.md", "The first tram leaves at 05:12.")
    first = summarise(parts, source).tx
    summarise(parts, source, SUMMARY.replace("Sundays", "Mondays"))
    then = parts.plan("harbour ferry", window=Window(tx_time=first))
    assert texts_of(then.plan.spans) == [SUMMARY]


def test_an_erased_source_takes_its_artifacts_out_of_plans(parts):
    """M5: no plan cites the artifact any more."""
    source = parts.remember("timetable.md", "The first tram leaves at 05:12.")
    parts.remember("other.md", "The harbour has two berths.")
    summarise(parts, source)
    assert SUMMARY in texts_of(parts.plan("harbour ferry").plan.spans)
    tenant = parts.planning.caller(parts.key()).tenant
    parts.writer.erase_source(tenant, source.bytes)
    assert texts_of(parts.plan("harbour ferry").plan.spans) == ["The harbour has two berths."]
    assert parts.plan(find="artifact", legs=frozenset({Leg.STRUCTURED})).plan.spans == ()
