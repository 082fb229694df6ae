"""What Replay and Diff answer: how two plans differ, and which of their inputs do."""

from dataclasses import dataclass

from .inputs import Span
from .results import Plan, Window


@dataclass(frozen=True, slots=True)
class InputChange:
    """
    An input that differs.

    Attributes:
        input: `request`, `window`, `spaces`, `budget`, `plan_model`, `score_model`, `tokenizer`, `index_version`,
            `configuration`, `query_vector`, `exclusions`, `pool`, `erasure` or `code`; more may come.
        before, after: The values that differ, as `name = value`; None where that is not known.
    """

    input: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class DifferentSpan:
    """A span as one of two plans holds it; *source_name* is None where memory does not have it any more."""

    span: Span
    kind: str
    span_class: str
    weight: float
    tokens: int
    source_name: str | None


@dataclass(frozen=True, slots=True)
class ReweighedSpan:
    """A span that both plans hold, with another kind, class, weight or count."""

    span: Span
    before: DifferentSpan
    after: DifferentSpan


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """
    How two plans differ.

    Attributes:
        identical: Both have one hash.
        gone, new: Spans of the first alone, and of the second alone, in canonical order.
        unchanged: How many spans both hold alike.
        changes: Inputs that differ; where the hashes differ there is at least one.
        because: All of it in words.
    """

    identical: bool
    gone: tuple[DifferentSpan, ...]
    new: tuple[DifferentSpan, ...]
    reweighed: tuple[ReweighedSpan, ...]
    unchanged: int
    changes: tuple[InputChange, ...]
    because: str


@dataclass(frozen=True, slots=True)
class ComparedPlan:
    """A plan as its trace tells it; *window* is None for `select`, *recorded* in µs since 1970 UTC."""

    trace_id: str
    kind: str
    recorded: int
    plan_hash: str
    window: Window | None
    budget: int
    used: int


@dataclass(frozen=True, slots=True)
class ErasedSource:
    """A source that the trace cites and that was erased since, at *erased* (µs); *spans* of the trace went with it."""

    source_id: str
    erased: int
    spans: int


@dataclass(frozen=True, slots=True)
class Replay:
    """
    A plan made anew beside what was recorded.

    Attributes:
        outcome: `identical`, `changed`, `erased` (every recorded span is gone), or a word of a newer planner.
        plan: As made anew; without a trace, and for `select` without texts.
            Its explanation, where one was asked for, is that of the recorded plan too if the outcome is `identical`.
        erased: Sources whose erasure took recorded spans away.
    """

    outcome: str
    recorded: ComparedPlan
    plan: Plan
    difference: PlanDifference
    erased: tuple[ErasedSource, ...]

    def __repr__(self) -> str:
        return f"<Replay of {self.recorded.trace_id}: {self.outcome}>"


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """How the plan of one trace differs from that of another."""

    before: ComparedPlan
    after: ComparedPlan
    difference: PlanDifference
