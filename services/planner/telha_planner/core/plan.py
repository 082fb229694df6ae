"""
The plan: what Phase B decided, with the counters that account for every span and the hash that pins it.

docs/plan-hash.md describes the hash byte by byte; tests/golden/plan-hash.json holds vectors that every SDK recomputes.
"""

from dataclasses import dataclass, field

from .model import SpanClass, SpanRef

PLAN_MODEL = "v1"
"""Version of the weight formula, the packing rule and the hash."""

SCORE_MODEL = "v1"
"""Version of S(n): legs, scoring constants and analysis."""


@dataclass(frozen=True, slots=True)
class PlannedSpan:
    """A span of the plan; *tokens* is the count used in packing, without overhead."""

    span: SpanRef
    kind: str
    span_class: SpanClass
    weight: float
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class LegCounts:
    """Distinct nodes per leg before the union; *traversal* counts nodes that only expansion reached."""

    query: int = 0
    vector: int = 0
    lexical: int = 0
    traversal: int = 0


@dataclass(frozen=True, slots=True)
class RecallStats:
    """
    What recall did.

    Attributes:
        nodes: Nodes of the union that are visible and score above 0.
        kind_missing: Spans without a ledger row, which count as kind `body`.
        slices_missing: Spans skipped because their text cannot be sliced.
        zero_score: Nodes left out because S = 0.
        pool_capped: Nodes left out by the pool cap.
        vector_leg_skipped: Why an implied semantic leg did not run.
    """

    legs: LegCounts = field(default_factory=LegCounts)
    nodes: int = 0
    nodes_without_spans: int = 0
    kind_missing: int = 0
    slices_missing: int = 0
    zero_score: int = 0
    pool_capped: int = 0
    vector_leg_skipped: str | None = None


@dataclass(frozen=True, slots=True)
class PlanStats:
    """
    Accounts for the pool and the budget; `pool_spans` is the sum of the six outcomes.

    Attributes:
        tokenizer: Encoding that counted, `caller`, or `estimate`.
        requested: Tokens asked for, or the surface's default.
        applied: B, the budget packed and hashed.
        recall: None for Select.
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
    plan_model: str = PLAN_MODEL
    score_model: str = SCORE_MODEL


@dataclass(frozen=True, slots=True)
class EvidencePlan:
    """
    The spans an answer may use.

    Attributes:
        budget: B applied.
        used: Tokens used, overhead included; never more than *budget*.
        spans: In canonical order.
        plan_hash: `b3:` and 64 hexadecimal digits.
    """

    budget: int
    used: int
    spans: tuple[PlannedSpan, ...]
    stats: PlanStats
    plan_hash: str
    plan_model: str = PLAN_MODEL
