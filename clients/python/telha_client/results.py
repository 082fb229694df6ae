"""What the planner answers, as frozen dataclasses; `as_json` gives each the shape that REST and `--json` use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, TypeVar

from .commits import (
    Committed,
    Erasure,
    IngestedDocument,
    Ingestion,
    Reembedding,
    WrittenArtifact,
    WrittenArtifacts,
)
from .explanation import Explanation
from .inputs import Span
from .prompt import Prompt
from .suggestion import Suggestion

__all__ = [
    "BudgetStats",
    "Committed",
    "Context",
    "ContextStats",
    "Erasure",
    "FoundNode",
    "IngestedDocument",
    "Ingestion",
    "Item",
    "ItemSource",
    "LegCounts",
    "OpenQuestion",
    "Page",
    "PendingClarification",
    "Plan",
    "PlanStats",
    "PlannedSpan",
    "QueryPage",
    "RecallStats",
    "Reembedding",
    "Source",
    "SourceText",
    "Trace",
    "TraceSummary",
    "ValidTime",
    "Window",
    "WrittenArtifact",
    "WrittenArtifacts",
    "as_json",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """The two instants of a read, µs since 1970 UTC."""

    valid_time: int | None
    tx_time: int | None


@dataclass(frozen=True, slots=True)
class LegCounts:
    """Distinct nodes per leg, before the union; *traversal* counts what only expansion reached."""

    query: int
    vector: int
    lexical: int
    traversal: int


@dataclass(frozen=True, slots=True)
class RecallStats:
    """
    What recall did.

    Attributes:
        vector_leg_skipped: Why an implied semantic leg did not run.
        min_similarity: The floor applied; 0 without one.
        below_floor: Nodes left out by it.
        best_evidence: The greatest evidence of what was found; None without a floor.
        excluded: Spans left out because earlier calls gave them.
    """

    legs: LegCounts
    nodes: int
    nodes_without_spans: int
    kind_missing: int
    slices_missing: int
    zero_score: int
    pool_capped: int
    vector_leg_skipped: str | None
    min_similarity: float
    below_floor: int
    best_evidence: float | None
    excluded: int = 0


@dataclass(frozen=True, slots=True)
class PlanStats:
    """
    Accounts for every span of the pool and for the budget.

    No choice of spans weighs more than *weight_upper_bound*; *weight_share* is what of it was packed, in [0, 1].
    """

    pool_spans: int
    selected_spans: int
    deduped: int
    unpackable: int
    budget_skipped: int
    cap_skipped: int
    span_limit_skipped: int
    budget_stranded_by_cap: int
    token_estimate: bool
    tokenizer: str
    requested: int
    applied: int
    max_spans: int
    max_frac_per_source: float
    span_overhead_tokens: int
    recall: RecallStats | None
    plan_model: str
    score_model: str
    packed_weight: float
    weight_upper_bound: float
    weight_share: float


@dataclass(frozen=True, slots=True)
class PlannedSpan:
    """A span of a plan; *tokens* is the count of the text alone."""

    span: Span
    kind: str
    span_class: str
    weight: float
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """
    The spans an answer may use, in canonical order, and the proof of how they were chosen.

    Attributes:
        budget: Tokens applied.
        used: Tokens used, never more.
        plan_hash: `b3:` and 64 hexadecimal digits; `verify_hash` recomputes it.
        window: The instants read at; None for `select`.
        explanation: Why each candidate is in or out; None unless `explain` or `why_not` asked for it.
        suggestion: What other budgets would have packed; None unless `suggest` asked for it.
    """

    plan_model: str
    budget: int
    used: int
    spans: tuple[PlannedSpan, ...]
    stats: PlanStats
    plan_hash: str
    trace_id: str
    window: Window | None
    explanation: Explanation | None = None
    suggestion: Suggestion | None = None

    def __repr__(self) -> str:
        return (
            f"<Plan {len(self.spans)} spans, {self.used} of {self.budget} tokens, {self.plan_hash[:11]}…,"
            f" trace {self.trace_id}>"
        )


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Where an item stands, with its source's display name."""

    source_id: str
    source_version_tx: int
    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class ValidTime:
    """When the fact behind an item is true, µs; *end* None is "still"."""

    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class PendingClarification:
    """Flags an item whose fact is in question."""

    clarification_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Item:
    """One span of memory; *score* is the plan's weight, None when scores were switched off."""

    text: str
    source: ItemSource
    kind: str
    span_class: str
    score: float | None
    valid_time: ValidTime
    pending_clarification: PendingClarification | None


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that the memory itself has."""

    clarification_id: str
    state: str
    question: str


@dataclass(frozen=True, slots=True)
class BudgetStats:
    """Tokens asked for, applied, used, and stranded by the source cap."""

    requested: int
    applied: int
    used: int
    stranded: int


@dataclass(frozen=True, slots=True)
class ContextStats:
    """Accounts for a context call."""

    legs: LegCounts
    candidates: int
    dedup_dropped: int
    cap_skipped: int
    budget_skipped: int
    unpackable: int
    span_limit_skipped: int
    budget: BudgetStats
    vector_leg_skipped: str | None
    token_estimate: bool
    tokenizer: str
    plan: PlanStats


@dataclass(frozen=True, slots=True)
class Context:
    """
    What to remember before acting: items by score, and the questions that memory has.

    Attributes:
        explanation: Why each candidate is in or out; None unless `explain` or `why_not` asked for it.
        suggestion: What other budgets would have packed; None unless `suggest` asked for it.
        prompt: The items as one text; None unless `prompt` asked for it.
    """

    items: tuple[Item, ...]
    open_questions: tuple[OpenQuestion, ...]
    stats: ContextStats | None
    trace_id: str
    plan_hash: str
    window: Window
    explanation: Explanation | None = None
    suggestion: Suggestion | None = None
    prompt: Prompt | None = None

    def __repr__(self) -> str:
        return f"<Context {len(self.items)} items, {self.plan_hash[:11]}…, trace {self.trace_id}>"


@dataclass(frozen=True, slots=True)
class Source:
    """A source as listed; *length* is in bytes of canonical UTF-8, *span_class* `cache` for a derived artifact."""

    source_id: str
    name: str
    uri: str | None
    space: str
    source_version_tx: int
    length: int
    content_hash: str
    valid_from: int
    span_class: str = "truth"


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source, and its canonical text if that was asked for."""

    source: Source
    text: str | None


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node as found; *valid_to* None is "still true"."""

    node_id: str
    type: str
    space: str
    properties: Mapping[str, Any]
    valid_from: int
    valid_to: int | None
    provenance: tuple[Span, ...]
    pending_clarification: PendingClarification | None


@dataclass(frozen=True, slots=True)
class QueryPage:
    """One page of nodes, by id; *next_page_token* is None at the end, *window* the instants read at."""

    nodes: tuple[FoundNode, ...]
    next_page_token: str | None
    window: Window


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """What every trace has, whatever its kind."""

    trace_id: str
    kind: str
    recorded: int
    spaces: tuple[str, ...]
    plan_hash: str
    budget: int
    used: int
    items: int
    stranded: int


@dataclass(frozen=True, slots=True)
class Trace:
    """
    One trace: its summary and its record.

    Attributes:
        pool_left_out: Rows at the end of the record's `pool` that were too many for one answer; 0: the record is whole.
        explained_left_out: The same of the rows of the record's `explained`.
        erased_items: Places in the record's `item_coords`, from 0, of spans whose text was erased since.
    """

    summary: TraceSummary
    record: Mapping[str, Any]
    pool_left_out: int = 0
    explained_left_out: int = 0
    erased_items: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page; *next_page_token* is empty at the end."""

    items: tuple[T, ...]
    next_page_token: str


def as_json(value: Any) -> Any:  # noqa: ANN401 (any result, any JSON value)
    """*value* as JSON-able data in camelCase; what is None is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {_json_name(name): as_json(inner) for name, inner in pairs if inner is not None}
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [as_json(inner) for inner in value]
    return value


def _json_name(name: str) -> str:
    if name == "span_class":
        return "class"
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
