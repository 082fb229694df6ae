"""The client's own plan hash against the published vectors, and what it does not let pass."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from telha_client import (
    Plan,
    PlannedSpan,
    PlanStats,
    Span,
    Trace,
    TraceSummary,
    as_json,
    plan_hash,
    trace_hash,
    verify_hash,
    verify_trace,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/plan-hash.json").read_text())
STATS = PlanStats(0, 0, 0, 0, 0, 0, 0, 0, False, "o200k_base", 0, 0, 0, 0.4, 0, None, "v1", "v1", 0.0, 0.0, 1.0)


def a_plan(vector):
    spans = tuple(
        PlannedSpan(
            span=Span(
                entry["span"]["sourceId"],
                entry["span"]["sourceVersionTx"],
                entry["span"]["start"],
                entry["span"]["end"],
            ),
            kind=entry["kind"],
            span_class=entry["class"],
            weight=entry["weight"],
            tokens=entry["tokens"],
            text="",
        )
        for entry in vector["spans"]
    )
    return Plan(GOLDEN["planModel"], vector["budget"], vector["used"], spans, STATS, vector["planHash"], "", None)


@pytest.mark.parametrize("vector", GOLDEN["vectors"], ids=lambda vector: vector["name"])
def test_the_client_recomputes_every_published_vector(vector):
    """S9: every SDK recomputes the test vectors."""
    plan = a_plan(vector)
    assert plan_hash(plan) == vector["planHash"]
    assert verify_hash(plan)


def test_a_plan_that_was_tampered_with_does_not_verify():
    """S9: every hashed part counts; text does not."""
    vector = next(vector for vector in GOLDEN["vectors"] if vector["spans"])
    plan = a_plan(vector)
    first = plan.spans[0]
    for change in (
        {"weight": first.weight * 1.0000000000000002},
        {"tokens": first.tokens + 1},
        {"kind": first.kind + "s"},
        {"span_class": "cache" if first.span_class == "truth" else "truth"},
        {"span": replace(first.span, end=first.span.end + 1)},
        {"span": replace(first.span, source_version_tx=first.span.source_version_tx + 1)},
    ):
        assert not verify_hash(replace(plan, spans=(replace(first, **change), *plan.spans[1:])))
    assert not verify_hash(replace(plan, budget=plan.budget + 1))
    assert not verify_hash(replace(plan, used=plan.used + 1))
    assert verify_hash(replace(plan, spans=(replace(first, text="other"), *plan.spans[1:])))


def a_trace(vector, **changes):
    """The trace of a context, say: its items are in another order than the plan's."""
    items = vector["spans"][::-1]
    record = {
        "plan_model": GOLDEN["planModel"],
        "budget": {"applied": vector["budget"], "used": vector["used"]},
        "item_coords": [
            [span["sourceId"], str(span["sourceVersionTx"]), span["start"], span["end"]]
            for span in (entry["span"] for entry in items)
        ],
        "item_facts": [
            [entry["kind"], {"truth": 0, "cache": 1}[entry["class"]], entry["weight"], entry["tokens"]]
            for entry in items
        ],
    }
    summary = TraceSummary("id", "context", 0, (), vector["planHash"], 0, 0, 0, 0)
    return Trace(summary, record | changes)


@pytest.mark.parametrize("vector", GOLDEN["vectors"], ids=lambda vector: vector["name"])
def test_the_client_recomputes_the_hash_from_a_record(vector):
    """S9: X1: a record holds all that its plan hash covers, in whatever order its items were returned."""
    assert verify_trace(a_trace(vector))


def test_a_record_that_was_tampered_with_does_not_verify():
    """S9: X1: facts that differ give another hash, and a record without them is no proof of anything."""
    vector = next(vector for vector in GOLDEN["vectors"] if vector["spans"])
    facts = a_trace(vector).record["item_facts"]
    kind, of, weight, tokens = facts[0]
    for first in ([kind + "s", of, weight, tokens], [kind, 1 - of, weight, tokens], [kind, of, weight, tokens + 1]):
        assert not verify_trace(a_trace(vector, item_facts=[first, *facts[1:]]))
    assert not verify_trace(a_trace(vector, budget={"applied": vector["budget"] + 1, "used": vector["used"]}))
    for broken in (None, facts[1:], [[kind]] * len(facts), "none"):
        with pytest.raises(ValueError, match="does not hold what its plan hash covers"):
            trace_hash(a_trace(vector, item_facts=broken))


@pytest.mark.parametrize("proof", [verify_hash, verify_trace])
def test_what_proves_nothing_is_named(proof):
    """S9: an answer of another kind is refused in words that say what to give."""
    with pytest.raises(TypeError, match="not NoneType"):
        proof(None)


def test_results_have_the_json_of_every_other_surface():
    """S12: camelCase, `class`, and nothing that is absent."""
    told = as_json(a_plan(GOLDEN["vectors"][0]))
    assert set(told) == {"planModel", "budget", "used", "spans", "stats", "planHash", "traceId"}
    assert told["stats"]["maxFracPerSource"] == 0.4
    span = as_json(PlannedSpan(Span("id", 1, 2, 3), "body", "truth", 0.5, 4, "t"))
    assert span == {
        "span": {"sourceId": "id", "sourceVersionTx": 1, "start": 2, "end": 3},
        "kind": "body",
        "class": "truth",
        "weight": 0.5,
        "tokens": 4,
        "text": "t",
    }
