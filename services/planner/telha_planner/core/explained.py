"""
What explain says, as plain values: each candidate of a plan, and why it is in the plan or out of it (requirement X6).

`explaining.py` makes them, the surfaces translate them, and a trace keeps them; docs/explain.md says how to read them.
"""

from dataclasses import dataclass
from enum import Enum

from .model import Outcome, SpanClass, SpanRef
from .request import Leg
from .subject import Subject

MAX_EXPLAINED = 5_000
"""Most spans of one explanation; so much is told in less time than somebody notices."""


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """
    What the score of a node is made of, docs/scoring.md.

    Attributes:
        node_id: The 16 bytes of its id.
        score: S(n), in [0, 1].
        similarity: Sharpened; None where there is neither a question nor a vector.
        semantic, lexical, context, source, speaker: Parts of section 4, in [0, 1].
        days, window: Factors of section 4.
        decay: Of its path, in [0, 1]; 1 for what a leg found.
        hops: Of its path; 0 for what a leg found.
        path: Node ids from what a leg found to the node itself; empty for 0 hops.
        structured: The structured leg found it, which makes S 1.
        evidence: Section 6; None where no floor was applied.
        legs: The legs that found it, with its place among all that each could find, from 1.
    """

    node_id: bytes
    score: float
    similarity: float | None
    semantic: float
    lexical: float
    context: float
    source: float
    speaker: float
    days: float
    window: float
    decay: float
    hops: int
    path: tuple[bytes, ...]
    structured: bool
    evidence: float | None
    legs: tuple[tuple[Leg, int], ...]


@dataclass(frozen=True, slots=True)
class ScoreConstants:
    """The constants that make a score of its parts: λ', σ, δ, ψ, G, γ and α of docs/scoring.md."""

    semantic_share: float
    context_weight: float
    source_weight: float
    speaker_weight: float
    greatest: float
    sharpening: int
    alpha: float


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The kept span that a duplicate repeats, and |∩| / min(lengths) of the two, in (0, 1]."""

    of: SpanRef
    overlap: float


@dataclass(frozen=True, slots=True)
class ExplainedSpan:
    """
    One candidate, and why it is in the plan or out of it.

    Attributes:
        source_name: Display name of its source's version; "" for Select, which reads no memory.
        weight: `S(node) × kind_prior`, times *cache_discount*, bit for bit.
        cache_discount: 1 for truth.
        tokens: Without overhead.
        rank: Place in packing order among what deduplication left, from 1; 0 for duplicates.
        density: Weight per token, overhead included.
        budget_left: Tokens left when it was looked at; 0 for duplicates.
        source_spent: What its source had taken at that moment, tokens; 0 for duplicates.
        duplicate: Only of duplicates.
        score: Of the node that set the weight; None for Select.
        because: The outcome in one sentence.
    """

    span: SpanRef
    source_name: str
    kind: str
    span_class: SpanClass
    weight: float
    kind_prior: float
    cache_discount: float
    tokens: int
    outcome: Outcome
    rank: int
    density: float
    budget_left: int
    source_spent: int
    duplicate: Duplicate | None
    score: ScoreParts | None
    because: str


class Verdict(Enum):
    """Why something that a caller names is in a plan, or is not; the contract says what each means."""

    CANDIDATE = "candidate"
    NOT_VISIBLE = "not_visible"
    OTHER_SPACE = "other_space"
    NOT_FOUND = "not_found"
    ZERO_SCORE = "zero_score"
    BELOW_FLOOR = "below_floor"
    WINDOW_TOO_LARGE = "window_too_large"
    POORER_WINDOW = "poorer_window"
    POOL_CAPPED = "pool_capped"
    NO_PROVENANCE = "no_provenance"
    ERASED = "erased"
    EXCLUDED = "excluded"
    UNKNOWN = "unknown"


class TimeAxis(Enum):
    """Which time hides something: when it is true, or when memory knew it."""

    VALID_TIME = "valid_time"
    TX_TIME = "tx_time"


@dataclass(frozen=True, slots=True)
class ExplainedNode:
    """
    One node of a subject that was no candidate, and why.

    Attributes:
        node_id: The 16 bytes of its id.
        span: The first span of the subject that it rests on, or rested.
        score: Where it was scored; of `NOT_FOUND` what it would have been.
        ranks: Of `NOT_FOUND`: its place among all that each leg could have found, where that is known.
        axis: Of `NOT_VISIBLE`: what hides it; valid time if both do.
        since, until: Of `NOT_VISIBLE`: when *axis* does not hide it, µs; None where there is no such bound.
        instead: The better window; where the same words stand in the version that is read.
        because: The verdict in words.
    """

    node_id: bytes
    type: str
    span: SpanRef
    verdict: Verdict
    score: ScoreParts | None
    ranks: tuple[tuple[Leg, int], ...]
    axis: TimeAxis | None
    since: int | None
    until: int | None
    instead: SpanRef | None
    because: str


@dataclass(frozen=True, slots=True)
class ExplainedSubject:
    """
    The answer to "why not?" for one subject.

    Attributes:
        subject: As asked.
        verdict: `CANDIDATE` if it has any, else that of the nearest node, else `ERASED` or `UNKNOWN`.
        candidates: Packed ones first, then in packing order, duplicates last.
        candidates_left_out: Candidates behind those.
        nodes: Those that were no candidates: what kept the best matching text out first.
        nodes_left_out: Nodes behind those.
        because: The answer in one or two sentences.
    """

    subject: Subject
    verdict: Verdict
    candidates: tuple[ExplainedSpan, ...]
    candidates_left_out: int
    nodes: tuple[ExplainedNode, ...]
    nodes_left_out: int
    because: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    Why each candidate is in the plan or out of it.

    Attributes:
        spans: In packing order, duplicates after all others, heaviest first; at most `MAX_EXPLAINED`.
        spans_left_out: Candidates behind those.
        source_cap: What one source may take, tokens.
        top_k: What each leg but the structured one may find, nodes; 0 for Select.
        constants: None for Select, and where there is neither a question nor a vector.
        subjects: Answers to "why not?", in the order asked.
        is_told: Whether the candidates were asked for; if not, *spans* is empty, and a record keeps nothing of it.
    """

    spans: tuple[ExplainedSpan, ...]
    spans_left_out: int
    source_cap: int
    top_k: int
    constants: ScoreConstants | None
    subjects: tuple[ExplainedSubject, ...] = ()
    is_told: bool = True
