"""The serving implementation, the reference and a transcription of the requirements agree bit for bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import ANY_WEIGHTS, candidate_lists, pool_of, rules
from selection_oracle import decide
from telha_planner.core import reference, selection
from telha_planner.core.model import MAX_OFFSET, Candidate, Outcome, PackingRule, SpanClass, SpanRef
from telha_planner.core.plan import plan_hash, planned_spans


def bits(candidate: Candidate) -> tuple:
    """A candidate with its weight as bits, so that NaN equals itself and −0.0 differs from +0.0."""
    return (
        *candidate.span,
        candidate.kind,
        candidate.span_class,
        np.float64(candidate.weight).view(np.int64),
        candidate.tokens,
        candidate.text,
    )


def check(candidates: list[Candidate], rule: PackingRule) -> None:
    verdict = decide(candidates, rule)

    plain = reference.collapse(candidates)
    assert [bits(c) for c in plain] == [bits(c) for c in verdict.survivors]

    pool = pool_of(candidates)
    rows = selection.collapse(pool)
    assert [bits(candidates[row]) for row in rows] == [bits(c) for c in verdict.survivors]

    collapsed = selection.take(pool, rows)
    expected = [verdict.outcome[c.span] for c in verdict.survivors]
    for result in (selection.select(collapsed, rule), reference.select(plain, rule)):
        assert [Outcome(value).name for value in result.outcome] == expected
        assert [plain[row].span for row in result.packed] == [c.span for c in verdict.packed]
        assert result.used == verdict.used
        assert result.stranded_by_cap == verdict.stranded

    packed = selection.select(collapsed, rule).packed
    spans = planned_spans(collapsed, packed, [collapsed.texts[row] for row in packed])
    assert plan_hash(rule.budget, verdict.used, spans) == verdict.plan_hash


@settings(max_examples=200, deadline=None)
@given(candidate_lists(), rules())
def test_all_three_agree(candidates: list[Candidate], rule: PackingRule) -> None:
    """S2: S3: S4: S5: S6: S7: S8: S9: heavy ties, NaN, ±0, infinities, zero tokens, oversized and deep overlap."""
    check(candidates, rule)


@st.composite
def crowds(draw: st.DrawFn) -> list[Candidate]:
    """Many spans of few source versions that overlap deeply, so that kept neighbours decide."""
    scale = draw(st.sampled_from([1, 1, 7, (MAX_OFFSET - 1) // 200]))
    edges = st.tuples(st.integers(0, 100), st.one_of(st.integers(1, 100), st.integers(18, 22)))
    count = draw(st.integers(2, 60))
    made = []
    for start, length in draw(st.lists(edges, min_size=count, max_size=count)):
        source, version = draw(st.sampled_from([(b"s" * 16, 1), (b"s" * 16, 1), (b"s" * 16, 2), (b"t" * 16, 1)]))
        span = SpanRef(source, version, start * scale, (start + length) * scale)
        made.append(Candidate(span, "body", SpanClass.TRUTH, draw(ANY_WEIGHTS), draw(st.integers(0, 5))))
    return made


@settings(max_examples=150, deadline=None)
@given(crowds(), rules())
def test_the_nearest_kept_neighbours_decide_a_crowd(candidates: list[Candidate], rule: PackingRule) -> None:
    """S3: two look-ups among the kept spans give what comparing with all of them gives, at any threshold."""
    check(candidates, rule)


@settings(max_examples=20, deadline=None)
@given(st.data(), st.integers(0, 2**32 - 1))
def test_wide_crowds(data: st.DataObject, seed: int) -> None:
    """S3: the same with more rows than one block of the neighbour set holds, against the reference."""
    random = np.random.default_rng(seed)
    size = data.draw(st.integers(520, 1300))
    start = random.integers(0, data.draw(st.sampled_from([300, 3000, 30_000])), size)
    length = random.integers(1, data.draw(st.sampled_from([2, 10, 200])), size, endpoint=True)
    weight = random.integers(0, data.draw(st.sampled_from([1, 5, 1000])), size, endpoint=True) / 7
    candidates = reference.collapse(
        Candidate(SpanRef(b"s" * 16, 1, int(s), int(s + n)), "body", SpanClass.TRUTH, float(w), 1)
        for s, n, w in zip(start, length, weight, strict=True)
    )
    rule = PackingRule(10_000, 1.0, data.draw(st.sampled_from([0.8, 1.0, 0.51])))
    expected = reference.select(candidates, rule).outcome
    assert selection.select(pool_of(candidates), rule).outcome.tolist() == expected.tolist()
