"""
Why each candidate is in a plan or out of it, as frozen dataclasses; what `explain` and `why_not` ask for.

Outcomes, verdicts, axes and legs are the words of the contract in lower case, such as `source_cap`; a word that this
version does not know arrives as `unrecognized`.
"""

from dataclasses import dataclass

from .inputs import Span, WhyNot


@dataclass(frozen=True, slots=True)
class LegRank:
    """Says that a leg found a node, and at which place among all that it found, from 1."""

    leg: str
    rank: int


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """
    What the score of a node is made of; docs/scoring.md defines each part.

    Attributes:
        score: S(node), in [0, 1]: what the weight is made of.
        similarity: Sharpened, in [0, 1]; None where there is neither a question nor a vector.
        semantic, lexical: What of it comes from the vector and from the words, in [0, 1].
        context: What it and the passages next to it hold together, in [0, 1].
        source: What else of its source was found, in [0, 1].
        speaker: How far somebody says it whom the question names, in [0, 1].
        days: Factor of the days that the question names.
        window: Factor of a window, which joins several passages; 1 for all else.
        decay, hops, path: Of the path over which it was reached, both ends included; 1, 0 and empty for what a leg
            found itself.
        structured: The structured query found it, which makes the score 1.
        evidence: Strength of the evidence, in [0, 1]; None where no floor was applied.
        legs: The legs that found it.
    """

    node_id: str
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
    path: tuple[str, ...]
    structured: bool
    evidence: float | None
    legs: tuple[LegRank, ...]


@dataclass(frozen=True, slots=True)
class ScoreConstants:
    """
    The constants of a call's scores; docs/scoring.md says how they make a score of its parts.

    Attributes:
        semantic_share: Share of the semantic part: 1 without a question, 0 without a vector.
        context_weight, source_weight, speaker_weight: Weights of the parts of these names.
        greatest: What the parts of the best node make together: all others are measured against it.
        sharpening: Power of what then lies in [0, 1]: it is the similarity.
        alpha: The score is the similarity to this power, times the decay to the power of 1 less this.
    """

    semantic_share: float
    context_weight: float
    source_weight: float
    speaker_weight: float
    greatest: float
    sharpening: int
    alpha: float


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The kept span that a duplicate repeats; *overlap* is in bytes by the shorter one's, in (0, 1]."""

    of: Span
    overlap: float


@dataclass(frozen=True, slots=True)
class ExplainedSpan:
    """
    One candidate, and why it is in the plan or out of it.

    Attributes:
        source_name: Display name of its source; None of `select`.
        outcome: `packed`, `duplicate`, `unpackable`, `budget`, `span_limit` or `source_cap`.
        rank: Place in packing order among what deduplication left, from 1; 0 for duplicates.
        density: Weight per token, overhead included.
        budget_left: Tokens of the budget that were left when it was looked at; 0 for duplicates.
        source_spent: Tokens that its source had taken at that moment; 0 for duplicates.
        duplicate: What a duplicate repeats.
        score: How the node that set the weight was scored; None of `select`.
        because: The outcome in words.
    """

    span: Span
    source_name: str | None
    kind: str
    span_class: str
    weight: float
    kind_prior: float
    cache_discount: float
    tokens: int
    outcome: str
    rank: int
    density: float
    budget_left: int
    source_spent: int
    duplicate: Duplicate | None
    score: ScoreParts | None
    because: str


@dataclass(frozen=True, slots=True)
class ExplainedNode:
    """
    One node of a subject that was no candidate, and why.

    Attributes:
        span: The first span of the subject that it rests on, or rested.
        verdict: `not_visible`, `other_space`, `not_found`, `zero_score`, `below_floor`, `window_too_large`,
            `poorer_window`, `pool_capped`, `no_provenance`, `erased` or `excluded`.
        score: Its score, where it was scored; of `not_found` what it would have been.
        ranks: Of `not_found`: its place among all that each leg could have found, where that is known.
        axis: Of `not_visible`: `valid_time` or `tx_time`, the axis that hides it.
        since: Of `not_visible`: that axis does not hide it from this instant on, µs since 1970 UTC; None is "ever".
        until: Of `not_visible`: until before this instant; None is "without end".
        instead: Of `poorer_window` and `excluded`: the span that stands in its place. Of `not_visible`: where the same
            words stand in the version of the source that was read.
        because: The verdict in words.
    """

    node_id: str
    type: str
    span: Span | None
    verdict: str
    score: ScoreParts | None
    ranks: tuple[LegRank, ...]
    axis: str | None
    since: int | None
    until: int | None
    instead: Span | None
    because: str


@dataclass(frozen=True, slots=True)
class ExplainedSubject:
    """
    The answer to "why not?" for one subject.

    Attributes:
        subject: As asked.
        verdict: `candidate`, one of those of `ExplainedNode`, or `unknown`: memory has nothing of that name that the
            key may read.
        candidates: Of the subject, packed ones first, then in packing order.
        candidates_left_out: Candidates beyond those.
        nodes: Of the subject that were no candidates: what kept the best matching text out first.
        nodes_left_out: Nodes beyond those.
        because: The answer in one or two sentences.
    """

    subject: WhyNot
    verdict: str
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
        spans: In packing order, duplicates after all others, heaviest first; empty unless `explain` was asked for.
        spans_left_out: Candidates at the end of that order which were too many for one answer.
        source_cap: Tokens that one source may take.
        top_k: How many nodes each leg but the structured one may find; 0 of `select`.
        subjects: In the order of `why_not`.
        constants: None of `select`, and where there is neither a question nor a vector.
    """

    spans: tuple[ExplainedSpan, ...]
    spans_left_out: int
    source_cap: int
    top_k: int
    subjects: tuple[ExplainedSubject, ...]
    constants: ScoreConstants | None

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.spans)} candidates and {len(self.subjects)} subjects>"
