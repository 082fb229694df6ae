"""Suggestions to and from the core's types."""

from typing import Any, TypeVar

from telha.context.v1 import context_pb2
from telha.planner.v1 import planner_pb2, suggestion_pb2

from telha_planner.answers import Answer, Suggested
from telha_planner.core.suggestion import DEFAULT_WEIGHT_SHARE

R = TypeVar("R", planner_pb2.PlanResponse, planner_pb2.SelectResponse, context_pb2.BuildResponse)


def read_suggest(message: suggestion_pb2.Suggest) -> tuple[float, dict[str, Any]]:
    """From which share of the greatest weight on a span is wanted, and the message as sent."""
    if not message.HasField("weight_share"):
        return DEFAULT_WEIGHT_SHARE, {}
    return message.weight_share, {"weightShare": message.weight_share}


def suggest(response: R, answer: Answer) -> R:
    """*response* with the suggestion of *answer*, if it has one."""
    if answer.suggestion is not None:
        response.suggestion.CopyFrom(_suggestion_message(answer.suggestion))
    return response


def _suggestion_message(suggested: Suggested) -> suggestion_pb2.Suggestion:
    suggestion = suggested.suggestion
    return suggestion_pb2.Suggestion(
        weight_share=suggestion.weight_share,
        wanted_spans=suggestion.wanted,
        smallest_budget=suggestion.smallest,
        exact=suggestion.exact,
        max_tokens=suggested.max_tokens,
        greatest_budget=suggested.greatest,
        forbidden_by=suggested.forbidden_by,
        steps=[
            suggestion_pb2.BudgetStep(
                budget=step.budget,
                used=step.used,
                spans=step.spans,
                packed_weight=step.packed_weight,
                share_of_bound=step.share_of_bound,
            )
            for step in suggestion.steps
        ],
    )
