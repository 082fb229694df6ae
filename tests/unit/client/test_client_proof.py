"""The client's own plan hash against the published vectors, and what it does not let pass."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from telha_client import Plan, PlannedSpan, PlanStats, Span, as_json, plan_hash, verify_hash

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
