"""Laws of explain: it accounts for every candidate, adds up, and changes nothing, whatever the pool and the memory."""

import math
import random
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planner_parts import Parts, parts_over
from pools import CLEAN_WEIGHTS, candidate_lists, rules
from telha_planner.config import PlannerConfig, TokenSettings
from telha_planner.core.explained import ExplainedSpan, Explanation, ScoreConstants, ScoreParts
from telha_planner.core.fusion import fuse_one
from telha_planner.core.model import Candidate, Outcome, PackingRule
from telha_planner.core.ordering import descending_key_of
from telha_planner.core.plan import EvidencePlan, PlanStats
from telha_planner.core.request import Fragment, Leg, SelectRequest, Window
from telha_planner.core.weighing import weigh_one
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.select import Selected, select_pool

CONFIG = PlannerConfig()
TOKENIZERS = Tokenizers(TokenSettings())
WORDS = ("tram", "bridge", "closed", "電車", "夜間", "桥梁", "الترام", "مغلق", "👩\u200d👩\u200d👧", "e\u0301", "depot")
QUESTION = "tram 電車 桥梁 الترام closed"


def selected(candidates: list[Candidate], rule: PackingRule, *, explain: bool = True) -> Selected:
    """What Select makes of *candidates*, their weights being scores."""
    pool = [
        Fragment(one.span, one.kind or "body", one.span_class, tokens=one.tokens, score=abs(one.weight))
        for one in candidates
    ]
    planner = CONFIG.planner.model_copy(update={"dedup_overlap": rule.dedup_overlap})
    request = SelectRequest(
        pool,
        max_tokens=max(1, rule.budget),
        max_spans=rule.max_spans,
        max_frac_per_source=rule.max_frac_per_source,
        span_overhead_tokens=rule.span_overhead_tokens,
        explain=explain,
    )
    return select_pool(request, CONFIG.model_copy(update={"planner": planner}), TOKENIZERS)


def explanation_of(chosen: Selected) -> Explanation:
    assert chosen.explanation is not None
    return chosen.explanation


def check_accounts(told: Explanation, stats: PlanStats) -> None:
    counted = Counter(span.outcome for span in told.spans)
    assert told.spans_left_out == 0
    assert [counted[outcome] for outcome in Outcome] == [
        stats.selected_spans,
        stats.deduped,
        stats.unpackable,
        stats.budget_skipped,
        stats.span_limit_skipped,
        stats.cap_skipped,
    ]


def check_order(told: Explanation) -> None:
    """Packing order by rank, density never rising; then duplicates, heaviest first, ties in canonical order."""
    looked_at = [span for span in told.spans if span.rank]
    assert [span.rank for span in looked_at] == [*range(1, len(looked_at) + 1)]
    assert not any(span.rank for span in told.spans[len(looked_at) :])
    keys = [descending_key_of(span.density) for span in looked_at]
    assert keys == sorted(keys)
    duplicates = [(descending_key_of(span.weight), span.span) for span in told.spans[len(looked_at) :]]
    assert duplicates == sorted(duplicates)
    assert all((span.duplicate is None) == bool(span.rank) for span in told.spans)


def check_sums(told: Explanation, plan: EvidencePlan) -> None:
    """What was left, and what each source had taken, is what the spans packed before it leave and take."""
    left, taken = plan.budget, Counter[bytes]()
    for span in told.spans:
        if not span.rank:
            assert (span.budget_left, span.source_spent) == (0, 0)
            continue
        assert (span.budget_left, span.source_spent) == (left, taken[span.span.source_id])
        if span.outcome is Outcome.PACKED:
            cost = span.tokens + plan.stats.span_overhead_tokens
            left -= cost
            taken[span.span.source_id] += cost
    assert plan.budget - left == plan.used
    assert all(total <= told.source_cap for total in taken.values())
    packed = sorted(span.span for span in told.spans if span.outcome is Outcome.PACKED)
    assert packed == [planned.span for planned in plan.spans]


def check_weight(span: ExplainedSpan, score: float) -> None:
    planner = CONFIG.planner
    expected = weigh_one(
        score, span.kind, span.span_class, kind_priors=planner.kind_priors, cache_discount=planner.cache_discount
    )
    assert span.weight == expected == score * span.kind_prior * span.cache_discount


@settings(max_examples=60, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules())
def test_select_accounts_for_every_candidate(candidates: list[Candidate], rule: PackingRule):
    """X6, S11: outcomes add up to the statistics, the order is the packing order, and the numbers to what was used."""
    chosen = selected(candidates, rule)
    told = explanation_of(chosen)
    check_accounts(told, chosen.plan.stats)
    check_order(told)
    check_sums(told, chosen.plan)
    scores = {(one.span, abs(one.weight)) for one in candidates}
    for span in told.spans:
        possible = [score for coordinate, score in scores if coordinate == span.span]
        assert any(span.weight == score * span.kind_prior * span.cache_discount for score in possible)
        assert not span.rank or f": {span.tokens + rule.span_overhead_tokens:,} token" in span.because


@settings(max_examples=60, deadline=None)
@given(candidate_lists(CLEAN_WEIGHTS), rules(), st.randoms(use_true_random=False))
def test_explain_changes_no_selection_and_no_order_changes_it(
    candidates: list[Candidate], rule: PackingRule, shuffler: random.Random
):
    """C1, S7: the plan with explain is the plan without; the explanation is the same for any order of the pool."""
    chosen = selected(candidates, rule)
    plain = selected(candidates, rule, explain=False)
    assert (plain.plan, plain.entries, plain.explanation) == (chosen.plan, chosen.entries, None)
    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert selected(shuffled, rule).explanation == chosen.explanation


def score_again(parts: ScoreParts, of: ScoreConstants | None) -> float:
    """S(node) from what an explanation says of it, as docs/explain.md computes it."""
    if parts.structured:
        return 1.0
    if of is None:
        return parts.decay
    g = of.semantic_share * parts.semantic + (1.0 - of.semantic_share) * parts.lexical
    g = g + of.context_weight * parts.context
    if g > 0.0:
        g = (g + of.source_weight * parts.source) + of.speaker_weight * parts.speaker
    g = parts.window * (parts.days * g)
    similarity = min(1.0, g / of.greatest) if of.greatest > 0.0 else 0.0
    for _ in range(int(math.log2(of.sharpening))):
        similarity *= similarity
    assert similarity == parts.similarity
    return fuse_one(similarity, parts.decay, of.alpha)


def remember(parts: Parts, dice: random.Random) -> None:
    for number in range(dice.randint(1, 4)):
        lines = [f"# {dice.choice(WORDS)}"]
        lines += [" ".join(dice.choices(WORDS, k=dice.randint(1, 9))) for _ in range(dice.randint(1, 8))]
        parts.remember(f"note {number} {dice.choice(WORDS)}.md", "\n\n".join(lines) + "\n")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_plan_and_context_explain_what_they_would_plan_anyway(new_store_url, seed: int):
    """C1, C3, X6: on either store; equal plans with and without it; the parts make the weights again."""
    dice = random.Random(seed)
    parts = parts_over(new_store_url())
    try:
        remember(parts, dice)
        end = Window(parts.clock.now, parts.clock.now)
        for _ in range(4):
            asked = {
                "question": dice.choice((QUESTION, "depot e\u0301", None)),
                "find": dice.choice((None, "passage")),
                "max_tokens": dice.choice((8, 30, 200)),
                "max_spans": dice.choice((0, 2, 100)),
                "max_frac_per_source": dice.choice((0.3, 0.9)),
                "span_overhead_tokens": dice.choice((0, 3)),
                "expand_depth": dice.choice((0, 1, 2)),
                "window": end,
            }
            if asked["question"] is None:
                asked["find"] = "passage"
            plain, answer = parts.plan(**asked), parts.plan(**asked, explain=True)
            assert (plain.plan, plain.explanation) == (answer.plan, None)
            told = answer.explanation
            check_accounts(told, answer.plan.stats)
            check_order(told)
            check_sums(told, answer.plan)
            for span in told.spans:
                assert span.score is not None
                check_weight(span, score_again(span.score, told.constants))
                assert span.score.legs or span.score.hops
                assert {leg for leg, _ in span.score.legs} <= set(Leg)
                assert span.source_name.startswith("note ")
            built, without = parts.context(**asked, explain=True), parts.context(**asked)
            assert (without.plan, without.items, without.explanation) == (built.plan, built.items, None)
            # The limits of Context have ceilings; where these do not bite, it explains the same plan.
            if built.plan == answer.plan:
                assert built.explanation == told
    finally:
        parts.close()
