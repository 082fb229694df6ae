"""What other budgets would have packed; docs/suggest.md says what is promised."""

from dataclasses import dataclass
from typing import Any

from telha.planner.v1 import suggestion_pb2


@dataclass(frozen=True, slots=True)
class BudgetStep:
    """
    What a budget would have packed of the same pool.

    Attributes:
        budget: Tokens, as applied.
        used: Tokens used, overhead included.
        spans: Spans packed.
        packed_weight: Sum of their weights.
        share_of_bound: Of the weight that any selection under this budget could have, in [0, 1].
    """

    budget: int
    used: int
    spans: int
    packed_weight: float
    share_of_bound: float


@dataclass(frozen=True, slots=True)
class Suggestion:
    """
    What other budgets would have packed of a call's pool.

    Attributes:
        weight_share: Of the greatest weight, what a span must weigh to be wanted.
        wanted_spans: Spans that deduplication left and that weigh as much.
        smallest_budget: The least budget, as applied, that packs them all; None where none is known to.
        exact: Whether *smallest_budget* is the least; else it suffices, and a smaller one may.
        max_tokens: What to ask for, so that *smallest_budget* is applied.
        greatest_budget: The greatest budget that a call may have; None is no limit.
        forbidden_by: What keeps a call from all that is wanted: `ceiling`, `context_window`, `max_spans`; or None.
        steps: The budget doubled, and doubled again, until all that deduplication left is packed.
    """

    weight_share: float
    wanted_spans: int
    smallest_budget: int | None
    exact: bool
    max_tokens: int | None
    greatest_budget: int | None
    forbidden_by: str | None
    steps: tuple[BudgetStep, ...]


def suggested(answer: Any) -> Suggestion | None:  # noqa: ANN401 (three answers alike)
    """The suggestion in *answer*, where one was asked for."""
    if not answer.HasField("suggestion"):
        return None
    message: suggestion_pb2.Suggestion = answer.suggestion
    known = {name: getattr(message, name) if message.HasField(name) else None for name in _OPTIONAL}
    return Suggestion(
        weight_share=message.weight_share,
        wanted_spans=message.wanted_spans,
        exact=message.exact,
        steps=tuple(
            BudgetStep(step.budget, step.used, step.spans, step.packed_weight, step.share_of_bound)
            for step in message.steps
        ),
        **known,
    )


_OPTIONAL = ("smallest_budget", "max_tokens", "greatest_budget", "forbidden_by")
