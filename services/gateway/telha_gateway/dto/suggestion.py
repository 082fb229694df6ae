"""The JSON shapes of suggestions: what other budgets would have packed."""

from typing import Annotated, Any

from msgspec import Meta
from telha.planner.v1 import suggestion_pb2

from telha_gateway.dto.shape import Given, Sent, told


class Suggest(Sent):
    """Asks what other budgets would have packed of the same pool; never alters the plan."""

    weight_share: (
        Annotated[
            float,
            told(
                "Spans that weigh at least this share of the greatest weight are wanted. Default 0.1.",
                exclusiveMinimum=0,
                maximum=1,
            ),
        ]
        | None
    ) = None


class BudgetStep(Given):
    """What a budget would have packed of the same pool."""

    budget: Annotated[int, Meta(description="Tokens, as applied.")]
    used: Annotated[int, Meta(description="Tokens used, overhead included.")]
    spans: Annotated[int, Meta(description="Spans packed.")]
    packed_weight: Annotated[float, Meta(description="Sum of their weights.")]
    share_of_bound: Annotated[
        float, Meta(description="Of the weight that any selection under this budget could have, in [0, 1].")
    ]


class Suggestion(Given, kw_only=True):
    """
    What other budgets would have packed of this call's pool.

    Recall offers windows by the budget, so a call with another budget may have another pool.
    """

    weight_share: Annotated[float, Meta(description="The share that was applied.")]
    wanted_spans: Annotated[
        int,
        Meta(description="Spans that deduplication left and that weigh at least that share of the greatest weight."),
    ]
    smallest_budget: (
        Annotated[
            int,
            Meta(description="The least budget, as applied, that packs all of them. Absent where none is known to."),
        ]
        | None
    ) = None
    exact: Annotated[bool, Meta(description="Whether it is the least; if not, it suffices, and a smaller one may do.")]
    max_tokens: Annotated[int, Meta(description="What to ask for as `maxTokens` to have it applied.")] | None = None
    greatest_budget: (
        Annotated[int, Meta(description="The greatest budget that a call may have. Absent: no limit.")] | None
    ) = None
    forbidden_by: (
        Annotated[
            str,
            Meta(
                description="What keeps a call from packing all that is wanted; accept others.",
                examples=["ceiling", "context_window", "max_spans"],
            ),
        ]
        | None
    ) = None
    steps: Annotated[
        list[BudgetStep],
        Meta(description="The budget doubled, and doubled again, until all that deduplication left is packed."),
    ]


def suggest_message(suggest: Suggest | None) -> suggestion_pb2.Suggest | None:
    """*suggest* on the wire."""
    return None if suggest is None else suggestion_pb2.Suggest(weight_share=suggest.weight_share)


def suggested(answer: Any) -> Suggestion | None:  # noqa: ANN401 (three answers alike)
    """The JSON shape of the suggestion in *answer*, where one was asked for."""
    if not answer.HasField("suggestion"):
        return None
    message: suggestion_pb2.Suggestion = answer.suggestion
    return Suggestion(
        weight_share=message.weight_share,
        wanted_spans=message.wanted_spans,
        smallest_budget=message.smallest_budget if message.HasField("smallest_budget") else None,
        exact=message.exact,
        max_tokens=message.max_tokens if message.HasField("max_tokens") else None,
        greatest_budget=message.greatest_budget if message.HasField("greatest_budget") else None,
        forbidden_by=message.forbidden_by if message.HasField("forbidden_by") else None,
        steps=[
            BudgetStep(
                budget=step.budget,
                used=step.used,
                spans=step.spans,
                packed_weight=step.packed_weight,
                share_of_bound=step.share_of_bound,
            )
            for step in message.steps
        ],
    )
