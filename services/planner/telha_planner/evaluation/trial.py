"""
One question asked in every way that the report compares, and measured: the unit that an interrupted run goes on from.

A result is a JSON object, so that it can be kept as a line of a file; `results.py` keeps it and `summary.py` adds up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .asking import Asked, Asker
from .dataset import Dataset, GoldSpan, Question
from .measure import Inked, coverage
from .peers import Peers

PLAN = "plan"

Result = Mapping[str, Any]
Count = Callable[[str], int]
"""Tokens of a text."""

JOINER = "\n"
"""Stands between returned spans where they are counted as one text."""


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What is varied.

    Attributes:
        budgets: Tokens, ascending.
        shares: Values of `max_frac_per_source`.
        repeats: Times that each plan is made.
    """

    budgets: tuple[int, ...]
    shares: tuple[float, ...]
    repeats: int


class Trial:
    """
    Asks and measures questions of *dataset*.

    Args:
        peers: The comparisons, or None where the store is out of reach.
        count: The tokenizer that checks what the planner says of its own counts.
    """

    def __init__(self, dataset: Dataset, asker: Asker, peers: Peers | None, plan: Plan, count: Count) -> None:
        self._asker = asker
        self._peers = peers
        self._plan = plan
        self._count = count
        self._texts = [Inked(source.content) for source in dataset.sources]

    def result(self, question: Question) -> Result:
        """All measurements of *question*."""
        plan = self._plan
        runs = [self._planned(question, budget, share) for share in plan.shares for budget in plan.budgets]
        if self._peers is not None:
            for name, fills in self._peers.fills(question, plan.budgets).items():
                for budget, filled in zip(plan.budgets, fills, strict=True):
                    measured = self._measured(question, filled.spans)
                    runs.append({"system": name, "budget": budget, "used": filled.used, **measured})
        return {"id": question.label, "kind": question.kind, "rejection": question.is_rejection, "runs": runs}

    def _planned(self, question: Question, budget: int, share: float) -> dict[str, Any]:
        answers = [self._asker.ask(question, budget, share) for _ in range(self._plan.repeats)]
        asked = answers[0]
        return {
            "system": PLAN,
            "share": share,
            "budget": budget,
            "used": asked.used,
            **self._measured(question, [one.span for one in asked.spans]),
            "over": self._over(asked),
            "hash": asked.plan_hash,
            "stable": len({answer.plan_hash for answer in answers}) == 1,
            "latency_ms": [round(answer.milliseconds, 3) for answer in answers],
        }

    def _measured(self, question: Question, spans: Sequence[GoldSpan]) -> dict[str, Any]:
        return {"spans": len(spans), **asdict(coverage(question.gold, spans, self._texts))}

    def _over(self, asked: Asked) -> dict[str, int]:
        """Tokens of the returned spans, recounted one by one and as one text, each less B (> 0: too many)."""
        texts = [one.text for one in asked.spans]
        return {
            "sum": sum(map(self._count, texts)) - asked.budget,
            "joined": self._count(JOINER.join(texts)) - asked.budget,
        }
