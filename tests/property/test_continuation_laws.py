"""Asking again for something new: what earlier plans gave stays out, whatever was asked of whatever memory."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planner_parts import Parts, parts_over
from telha_planner.config import PlannerConfig, PlannerSettings
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Window

WORDS = [
    *["tram", "depot", "bridge", "closed", "repair", "night", "route", "seven", "harbour"],
    *("電車", "停留所は橋の北側", "有轨电车", "👩\u200d👩\u200d👧\u200d👦", "الترام", "הגשר סגור"),
]
QUESTIONS = ("tram bridge repair", "電車 night", "الترام tram", "👩\u200d👩\u200d👧\u200d👦 depot")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
documents = st.lists(sentences, min_size=1, max_size=9).map("\n\n".join)
memories = st.lists(documents, min_size=1, max_size=3)
SLOW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def remembered(url: str, texts: list[str], **planner: object) -> Parts:
    parts = parts_over(url, config=PlannerConfig(planner=PlannerSettings(**planner)))
    for number, text in enumerate(texts):
        parts.remember(f"note {number}", text)
    return parts


def repeats(span: SpanRef, other: SpanRef, overlap: float) -> bool:
    if span[:2] != other[:2]:
        return False
    shared = max(0, min(span.end, other.end) - max(span.start, other.start))
    quotient = shared / min(span.end - span.start, other.end - other.start)
    return quotient > overlap or quotient == 1.0


def spans_of(answer) -> list[SpanRef]:
    return [planned.span for planned in answer.plan.spans]


@SLOW
@given(
    texts=memories,
    question=st.sampled_from(QUESTIONS),
    budget=st.integers(5, 60),
    overlap=st.sampled_from((0.6, 0.8, 1.0)),
    top_k=st.integers(1, 5),
    depth=st.integers(0, 2),
)
def test_asking_again_never_repeats_and_comes_to_an_end(new_store_url, texts, question, budget, overlap, top_k, depth):
    """C11: no span equals, or duplicates, one that was given; excluding all that came before ends in an empty plan."""
    parts = remembered(new_store_url(), texts, dedup_overlap=overlap, top_k=top_k)
    asked = {"max_tokens": budget, "max_frac_per_source": 1.0, "expand_depth": depth, "min_similarity": 0.0}
    window = parts.plan(question, **asked).window
    earlier: list[SpanRef] = []
    for _ in range(len(texts) * 30):
        answer = parts.plan(question, **asked, window=window, exclusions=tuple(earlier))
        new = spans_of(answer)
        assert not any(repeats(span, before, overlap) for span in new for before in earlier)
        turned = parts.plan(question, **asked, window=window, exclusions=tuple(reversed(earlier * 2)))
        assert turned.plan == answer.plan
        if not new:
            break
        earlier += new
    else:
        raise AssertionError("there is always something new")
    assert len(set(earlier)) == len(earlier)
    assert (answer.plan.stats.recall.excluded > 0) == bool(earlier)
    parts.close()


@SLOW
@given(texts=memories, question=st.sampled_from(QUESTIONS), find=st.booleans(), taken=st.sets(st.integers(0, 40)))
def test_what_is_left_out_changes_no_score_of_what_is_not(new_store_url, texts, question, find, taken):
    """C11: with every node found, the pool is the one without exclusions, less what was given and its duplicates."""
    parts = remembered(new_store_url(), texts, top_k=1000)
    asked = {"question": question, "find": "passage" if find else None, "find_limit": 1000, "max_tokens": 10**6}
    plain = parts.plan(**asked)
    window = Window(plain.window.valid_time, plain.window.tx_time)
    before = rows(parts, asked, window, ())
    coordinates = sorted({span for span, kind, _ in before if kind != "section"})
    given_before = tuple(span for number, span in enumerate(coordinates) if number in taken)
    after = rows(parts, asked, window, given_before)
    left = [row for row in before if row[1] != "section" and not any(repeats(row[0], one, 0.8) for one in given_before)]
    assert [row for row in after if row[1] != "section"] == left
    assert not any(repeats(span, one, 0.8) for span, _, _ in after for one in given_before)
    excluded = parts.plan(**asked, window=window, exclusions=given_before).plan.stats.recall.excluded
    assert excluded >= len(given_before)
    nothing = parts.plan(**asked, window=window, exclusions=())
    assert nothing.plan == replace(plain.plan, stats=nothing.plan.stats)
    assert nothing.plan.stats.recall.excluded == 0
    parts.close()


def rows(parts: Parts, asked, window: Window, exclusions: tuple[SpanRef, ...]) -> list[tuple[SpanRef, str, bytes]]:
    """The pool before Phase B: coordinate, kind, bits of the score."""
    drafted = []
    filling = parts.planning._filling
    inner = filling.plan

    def noting(tenant, erased_tx, recalled, limits):
        drafted.append(recalled)
        return inner(tenant, erased_tx, recalled, limits)

    filling.plan = noting
    try:
        parts.plan(**asked, window=window, exclusions=exclusions)
    finally:
        del filling.plan
    recalled = drafted[-1]
    halves = np.stack((recalled.source_hi, recalled.source_lo), axis=1).astype(">u8")
    return [
        (SpanRef(halves[row].tobytes(), *numbers), recalled.kinds[recalled.kind[row]], recalled.score[row].tobytes())
        for row, numbers in enumerate(
            zip(recalled.version.tolist(), recalled.start.tolist(), recalled.end.tolist(), strict=True)
        )
    ]
