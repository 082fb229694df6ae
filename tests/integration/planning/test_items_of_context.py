"""Context over memory that was written through the doors: items, validity, caveats, questions, ceilings."""

from dataclasses import replace
from itertools import product

import msgpack
import pytest
from known_facts import Facts
from planner_parts import START, parts_in, texts_of
from telha_planner.config import ContextSettings, PlannerConfig
from telha_planner.core.request import PlanRequest, Window

SENTENCES = "The tram leaves at five.\nThe bridge is closed.\nSwans sleep here.\n"
YEAR = 31_536_000_000_000
FACTS = {"find": "fact", "expand_depth": 0, "max_frac_per_source": 1.0}


@pytest.fixture
def facts(parts):
    return Facts(parts, SENTENCES)


def states(answer) -> list[tuple[str, str]]:
    """Open questions as (question, state)."""
    return [(question.question, question.state) for question in answer.open_questions]


def test_an_items_validity_is_that_of_the_node_that_set_the_weight(parts, facts):
    """C4: validTime of the node behind the weight; of nodes that weigh alike, the lowest id."""
    spans = facts.sentence
    names = [facts.know(name, spans[0], valid=(START - YEAR - name, START + YEAR + name)) for name in range(5)]
    item = parts.context(**FACTS).items[0]
    lowest = names.index(min(names))
    assert (item.valid_from, item.valid_to) == (START - YEAR - lowest, START + YEAR + lowest)

    # A heavier node behind the same span takes over, whatever its id; an open end is absent.
    facts.know("root", kind="root")
    for name in names:
        facts.join(facts.know("root", kind="root"), name, confidence=0.5)
    heavier = facts.know("heavier", spans[0], kind="end", valid=(START - 7, None))
    facts.join(facts.know("root", kind="root"), heavier, confidence=1.0)
    item = parts.context(find="root", expand_depth=1, max_frac_per_source=1.0).items[0]
    assert (item.score, item.valid_from, item.valid_to) == (0.5, START - 7, None)


def test_items_go_by_score_and_ties_in_canonical_order(parts, facts):
    """C4: the plan is in canonical order, its items by score."""
    facts.know("last", facts.sentence[2])
    facts.know("middle", facts.sentence[1])
    root = facts.know("root", kind="root")
    weak = facts.know("weak", facts.sentence[0], kind="end")
    facts.join(root, weak)
    facts.join(weak, facts.know("last", facts.sentence[2]))
    facts.join(weak, facts.know("middle", facts.sentence[1]))
    answer = parts.context(find="fact", expand_depth=1, max_frac_per_source=1.0)
    assert texts_of(answer.items) == ["The bridge is closed.", "Swans sleep here.", "The tram leaves at five."]
    assert texts_of(answer.plan.spans) == ["The tram leaves at five.", "The bridge is closed.", "Swans sleep here."]


def test_questions_are_open_exactly_while_they_are(parts, facts):
    """C5: pending or conflicted as of tx_t, each once, by id; resolved later and asked as of earlier, it is open."""
    nodes = [facts.know(number, facts.sentence[0]) for number in range(2)]
    before = parts.context(**FACTS).window.tx_time
    first = facts.doubt("first", nodes[0])
    second = facts.doubt("second", nodes[1], "conflicted")
    facts.doubt("settled", nodes[0], "resolved")
    third = facts.doubt("third", nodes[1])
    asked = parts.context(**FACTS)
    assert len(asked.items) == 1
    assert asked.items[0].caveat.clarification_id == second  # conflicted before pending
    by_id = sorted([(first, "first?", "pending"), (second, "second?", "conflicted"), (third, "third?", "pending")])
    assert states(asked) == [(question, state) for _, question, state in by_id]
    facts.doubt("first", nodes[0], "resolved")
    facts.doubt("second", nodes[1], "resolved")
    facts.doubt("third", nodes[1], "resolved")
    now = parts.context(**FACTS)
    assert (states(now), now.items[0].caveat) == ([], None)
    then = parts.context(**FACTS, window=asked.window)
    assert (then.items, then.open_questions) == (asked.items, asked.open_questions)
    earlier = parts.context(**FACTS, window=Window(None, before))
    assert (states(earlier), earlier.items[0].caveat) == ([], None)
    facts.doubt("first", nodes[0])  # raised anew
    assert states(parts.context(**FACTS)) == [("first?", "pending")]


def test_a_question_needs_a_visible_node_behind_a_returned_span(parts, facts):
    """C5: not of a span that was not packed, not of a node outside its validity, but of a node nobody recalled."""
    facts.know("shown", facts.sentence[0])
    facts.doubt("elsewhere", facts.know("elsewhere", facts.sentence[1], kind="other"))
    facts.doubt("past", facts.know("past", facts.sentence[0], kind="other", valid=(START - YEAR, START - 1)))
    facts.doubt("unmentioned", facts.know("unmentioned", facts.sentence[0], kind="other"))
    answer = parts.context(**FACTS)
    assert texts_of(answer.items) == ["The tram leaves at five."]
    assert states(answer) == [("unmentioned?", "pending")]
    old = parts.context(**FACTS, window=Window(START - 2))
    assert states(old) == []  # `shown` itself begins later
    facts.know("old", facts.sentence[0], valid=(START - YEAR, START))
    assert states(parts.context(**FACTS, window=Window(START - 2))) == [("past?", "pending")]


def test_a_question_of_another_space_is_not_told(parts, facts):
    """C5, M7, A6: neither its words nor its flag."""
    facts.know("here", facts.sentence[0])
    private = Facts(parts, SENTENCES, name="private.txt", space="private")
    private.doubt("secret", private.know("there", private.sentence[0]))
    assert (states(parts.context(**FACTS)), parts.context(**FACTS).items[0].caveat) == ([], None)
    assert states(parts.context(**FACTS, spaces=("*",))) == [("secret?", "pending")]


@pytest.mark.parametrize("extra", [{}, {"vector": (1.0, 0.5)}, {"model": "gpt-4"}, {"model": "nobody-knows-it"}])
def test_the_plan_behind_context_is_plan_for_equal_resolved_requests(parts, facts, extra):
    """C1, C7, C8: ceilings clamp and are reported; then the plans are equal, whatever was asked for."""
    facts.know("one", facts.sentence[0], vector=[1.0, 0.0])
    facts.know("two", facts.sentence[2], vector=[0.0, 1.0])
    asked = {"question": "tram bridge", "find": "fact", "expand_depth": 2, "span_overhead_tokens": 1, **extra}
    for budget, max_spans in product((1, 2, 10, 20, 100_000), (None, 0, 1, 65, 1000)):
        context = parts.context(**asked, max_tokens=budget, max_spans=max_spans)
        resolved = {"max_tokens": min(budget, 8192), "max_spans": min(max_spans or 64, 64)}
        plan = parts.plan(**asked, **resolved, window=context.window).plan
        # What was asked for is the one difference, and it is reported.
        assert context.plan.stats.requested == budget
        assert context.plan.stats == replace(plan.stats, requested=budget)
        assert replace(context.plan, stats=plan.stats) == plan
        assert sorted(item.span for item in context.items) == [span.span for span in plan.spans]


def test_context_has_its_own_defaults(tmp_path):
    """C8: default_max_tokens and max_spans_ceiling where nothing is asked for; Plan has default_budget and no limit."""
    config = PlannerConfig(
        context=ContextSettings(default_max_tokens=50, max_tokens_ceiling=60, max_spans_ceiling=2),
    )
    parts = parts_in(tmp_path, config=config)
    facts = Facts(parts, SENTENCES)
    for number in range(3):
        facts.know(number, facts.sentence[number])
    stats = parts.context(**FACTS).plan.stats
    assert (stats.requested, stats.applied, stats.max_spans, stats.selected_spans) == (50, 50, 2, 2)
    assert stats.span_limit_skipped == 1
    over = parts.context(**FACTS, max_tokens=61, max_spans=3).plan.stats
    assert (over.requested, over.applied, over.max_spans) == (61, 60, 2)
    plan = parts.plan(**FACTS).plan.stats
    assert (plan.requested, plan.applied, plan.max_spans, plan.selected_spans) == (6000, 6000, 0, 3)
    parts.close()


def test_without_traces_all_else_is_equal(tmp_path):
    """C8, C9: trace = false gives no record and no traceId; Plan keeps its own."""
    answers = []
    for trace in (True, False):
        (tmp_path / str(trace)).mkdir()
        parts = parts_in(tmp_path / str(trace), config=PlannerConfig(context=ContextSettings(trace=trace)))
        facts = Facts(parts, SENTENCES)
        facts.doubt("open", facts.know("one", facts.sentence[0]))
        answers.append(parts.context("tram", **FACTS))
        assert parts.plan("tram").record is not None
        parts.close()
    traced, untraced = answers
    assert (untraced.record, untraced.trace_id) == (None, "")
    assert untraced.plan == traced.plan
    assert (untraced.items, untraced.open_questions, untraced.window) == (
        traced.items,
        traced.open_questions,
        traced.window,
    )
    record = msgpack.unpackb(traced.record)
    assert [coordinate[2:] for coordinate in record["item_coords"]] == [
        [item.span.start, item.span.end] for item in traced.items
    ]


def test_nothing_relevant_is_an_answer_of_context_and_a_fault_of_plan(parts, facts):
    """R6, C7: poolSpans = 0; a pool of which nothing packs is a normal plan."""
    request = PlanRequest(question="zanzibar")
    assert parts.planning.plan(parts.key(), request, {}).insufficient
    context = parts.context("zanzibar")
    assert (context.items, context.open_questions, context.insufficient) == ((), (), False)
    assert context.plan.stats.pool_spans == 0
    nothing_packs = PlanRequest(question="tram", max_tokens=1)
    answer = parts.planning.plan(parts.key(), nothing_packs, {})
    assert (answer.insufficient, answer.plan.spans, answer.plan.used) == (False, (), 0)
    assert answer.plan.stats.unpackable == answer.plan.stats.pool_spans > 0
    capped = PlanRequest(question="tram", max_tokens=40, max_frac_per_source=0.01)
    answer = parts.planning.plan(parts.key(), capped, {})
    stats = answer.plan.stats
    assert (answer.insufficient, answer.plan.spans) == (False, ())
    assert stats.cap_skipped + stats.deduped == stats.pool_spans
    assert stats.budget_stranded_by_cap == 40
    every = PlanRequest(question="tram", span_overhead_tokens=6000)
    stats = parts.planning.plan(parts.key(), every, {}).plan.stats
    assert (stats.unpackable + stats.deduped, stats.selected_spans) == (stats.pool_spans, 0)
