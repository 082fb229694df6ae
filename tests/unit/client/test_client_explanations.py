"""Explanations as the client reads them."""

import json

import msgspec
import pytest
from explanation_builders import NODE, OTHER, SOURCE, VERSION, candidate, explanation, node, subject
from telha.planner.v1 import explanation_pb2 as pb
from telha_client import ExplainedSubject, LegRank, Span, WhyNot, as_json
from telha_client.explanation_answers import explanation as read
from telha_gateway.dto.explanation import explanation_answer

SPAN = Span(SOURCE, VERSION, 0, 40)


def test_every_part_arrives() -> None:
    """X6, A5: outcome, cause in numbers, score parts and legs, as the wire has them."""
    told = read(explanation())
    assert (told.spans_left_out, told.source_cap, told.top_k) == (3, 400, 64)
    capped, repeated = told.spans
    assert (capped.span, capped.source_name, capped.outcome, capped.rank) == (SPAN, "handbook.md", "source_cap", 2)
    assert (capped.weight, capped.density, capped.budget_left, capped.source_spent) == (0.5, 0.005, 300, 350)
    assert capped.duplicate is None
    assert capped.score is not None
    assert capped.score.legs == (LegRank("lexical", 3), LegRank("semantic", 70))
    assert (capped.score.path, capped.score.hops, capped.score.structured) == ((OTHER, NODE), 1, True)
    assert repeated.duplicate is not None
    assert (repeated.outcome, repeated.duplicate.of, repeated.duplicate.overlap) == ("duplicate", SPAN, 0.75)
    section, span = told.subjects
    assert section.subject == WhyNot("handbook.md", section="Refunds")
    assert (section.verdict, section.candidates_left_out, section.nodes_left_out) == ("candidate", 4, 7)
    (hidden,) = section.nodes
    assert (hidden.verdict, hidden.axis, hidden.since, hidden.until) == ("not_visible", "valid_time", 5, 9)
    assert (hidden.instead, hidden.ranks) == (SPAN, (LegRank("lexical", 71),))
    assert (span.subject, span.verdict) == (WhyNot(span=Span(SOURCE, VERSION, 7, 9)), "unknown")


def test_what_is_absent_is_none() -> None:
    """X6: absent is not 0."""
    bare = read(pb.Explanation(spans=[pb.ExplainedSpan()], subjects=[pb.ExplainedSubject(nodes=[pb.ExplainedNode()])]))
    (span,), (asked,) = bare.spans, bare.subjects
    assert (span.source_name, span.duplicate, span.score) == (None, None, None)
    (hidden,) = asked.nodes
    assert (hidden.span, hidden.score, hidden.axis, hidden.since, hidden.until, hidden.instead) == (None,) * 6


def test_words_of_a_newer_planner_are_told_apart_from_unknown() -> None:
    """X6: clients accept unknown values, and `unknown` is a verdict."""
    told = read(pb.Explanation(spans=[candidate(99)], subjects=[subject(verdict=99, nodes=[node(99, axis=99)])]))
    assert told.spans[0].outcome == "unrecognized"
    assert told.subjects[0].verdict == "unrecognized"
    assert (told.subjects[0].nodes[0].verdict, told.subjects[0].nodes[0].axis) == ("unrecognized",) * 2


@pytest.mark.parametrize(
    "message",
    [explanation(), pb.Explanation(), pb.Explanation(spans=[pb.ExplainedSpan()], subjects=[subject(verdict=99)])],
    ids=["whole", "empty", "bare"],
)
def test_as_json_is_the_shape_of_rest(message: pb.Explanation) -> None:
    """A2, A5: a script may change from one to the other."""
    assert as_json(read(message)) == json.loads(msgspec.json.encode(explanation_answer(message)))


def test_an_explanation_is_short_in_a_terminal() -> None:
    """A5: a plan of a thousand candidates does not flood a session."""
    assert repr(read(explanation())) == "<Explanation of 2 candidates and 2 subjects>"
    assert isinstance(read(explanation()).subjects[0], ExplainedSubject)
