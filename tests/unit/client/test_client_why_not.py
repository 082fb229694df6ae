"""Subjects of "why not?" as the client writes them."""

import pytest
from explanation_builders import SOURCE, VERSION
from telha.planner.v1 import planner_pb2
from telha_client import InvalidRequest, Span, WhyNot
from telha_client.explaining import fill_explain

SPAN = Span(SOURCE, VERSION, 0, 40)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (WhyNot(), "why_not[1]"),
        (WhyNot("a.md", span=SPAN), "why_not[1]"),
        (WhyNot(span=SPAN, section="x"), "why_not[1].section"),
        (WhyNot("\ud800"), "why_not[1].source.source"),
        (WhyNot("a.md", section="\ud800"), "why_not[1].source.section"),
        (WhyNot(span=Span(SOURCE, VERSION, -1, 4)), "why_not[1].span.start"),
    ],
)
def test_a_subject_that_names_nothing_or_two_things_is_refused(asked: WhyNot, field: str) -> None:
    """A5: with its place, before anything is sent."""
    with pytest.raises(InvalidRequest) as refused:
        fill_explain(planner_pb2.PlanRequest(), {"why_not": [WhyNot("a.md"), asked]})
    assert refused.value.field == field


def test_a_string_is_no_subject() -> None:
    """A5: a fault of the program is a TypeError."""
    with pytest.raises(TypeError, match=r"why_not\[0\] must be a WhyNot, not a str"):
        fill_explain(planner_pb2.PlanRequest(), {"why_not": ["a.md"]})
