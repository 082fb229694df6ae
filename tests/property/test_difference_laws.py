"""The laws of differences between plans."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.difference import (
    Compared,
    Difference,
    HeldSpan,
    InputChange,
    PlanInput,
    difference,
    in_words,
)
from telha_planner.core.model import SpanClass, SpanRef

SOURCES = [UUID(int=number).bytes for number in (1, 2, 2**127)]
WORDS = ["v1", "v2", "", "電車", "שלום", "👩‍👩‍👧", "a = b, c"]

refs = st.builds(SpanRef, st.sampled_from(SOURCES), st.sampled_from([-1, 7]), st.just(0), st.integers(1, 3))
spans = st.builds(
    HeldSpan,
    refs,
    st.sampled_from(["paragraph", "目录"]),
    st.sampled_from(SpanClass),
    st.sampled_from([0.0, 0.5, 1.0, 5e-324, float("nan")]),
    st.integers(0, 2),
)
plans = st.lists(spans, max_size=8, unique_by=lambda held: held.span).map(
    lambda held: tuple(sorted(held, key=lambda one: one.span))
)
named = st.dictionaries(st.sampled_from(["", "alpha", "beta"]), st.sampled_from(WORDS), min_size=1, max_size=3)
sides = st.builds(
    Compared,
    st.sampled_from(["b3:1", "b3:2"]),
    plans,
    st.dictionaries(st.sampled_from(PlanInput), named, max_size=6),
)


def turned(found: Difference) -> Difference:
    return replace(
        found,
        gone=found.new,
        new=found.gone,
        reweighed=tuple((after, before) for before, after in found.reweighed),
        changes=tuple(InputChange(change.input, change.after, change.before) for change in found.changes),
    )


def applied(found: Difference, held: tuple[HeldSpan, ...]) -> list[str]:
    """*held* after the difference; compared by their spelling, since NaN equals nothing."""
    reweighed = {before.span: after for before, after in found.reweighed}
    gone = {one.span for one in found.gone}
    kept = [reweighed.get(one.span, one) for one in held if one.span not in gone]
    return [repr(one) for one in sorted([*kept, *found.new], key=lambda one: one.span)]


@settings(max_examples=150, deadline=None)
@given(one=sides)
def test_nothing_differs_from_itself(one):
    """X5: a plan beside itself is identical, and no input is another one."""
    found = difference(one, one)
    assert found == Difference(True, (), (), (), len(one.spans), ())
    assert in_words(found) == "The plans are identical."


@settings(max_examples=300, deadline=None)
@given(one=sides, other=sides)
def test_a_difference_leads_from_one_to_the_other(one, other):
    """X5: applied to the one it gives the other; turned round it is the way back; nothing is counted twice."""
    found = difference(one, other)
    assert applied(found, one.spans) == [repr(held) for held in other.spans]
    assert repr(turned(found)) == repr(difference(other, one))
    assert len(found.gone) + len(found.reweighed) + found.unchanged == len(one.spans)
    assert len(found.new) + len(found.reweighed) + found.unchanged == len(other.spans)
    for listed in (found.gone, found.new, [before for before, _ in found.reweighed]):
        places = [held.span for held in listed]
        assert places == sorted(set(places))


@settings(max_examples=300, deadline=None)
@given(one=sides, other=sides, erased=st.booleans())
def test_another_hash_has_a_cause(one, other, erased):
    """X5: each input that both sides tell and tell differently is named once, and there is always one."""
    known = [InputChange(PlanInput.ERASURE, "", "at noon")] if erased else []
    found = difference(one, other, known)
    both = [of for of in PlanInput if of in one.inputs and of in other.inputs]
    expected = {of for of in both if one.inputs[of] != other.inputs[of]} | {change.input for change in known}
    told = [change.input for change in found.changes]
    assert len(told) == len(set(told))
    assert told == sorted(told, key=list(PlanInput).index)
    assert found.identical == (one.plan_hash == other.plan_hash)
    assert set(told) == (expected or (set() if found.identical else {PlanInput.CODE}))
    assert found.identical or found.changes
    words = in_words(found)
    assert all(of.value in words for of in told)
