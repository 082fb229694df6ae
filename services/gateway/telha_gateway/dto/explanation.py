"""
The JSON shapes of explanations: what to ask "why not?" of, and why each candidate is in a plan or out of it.

Rule: outcomes, verdicts, axes and legs are the words of the wire in lower case, such as `source_cap`.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta
from telha.planner.v1 import explanation_pb2 as pb
from telha.planner.v1 import plan_pb2

from telha_gateway.dto.coordinates import (
    CLASS_NAMES,
    UNKNOWN_CLASS,
    ClassField,
    SpanCoordinate,
    SpanPlace,
    place,
    span_message,
)
from telha_gateway.dto.shape import NAME_PATTERN, Given, Micros, Sent, Tally, Uuid, told
from telha_gateway.faults import RequestFault

UNRECOGNIZED = "unrecognized"
"""For a word that a newer planner may send; `unknown` is a verdict."""
MAX_SUBJECTS = 32
MAX_SUBJECT_BYTES = 1024


def _words(enum: Any, prefix: str) -> Mapping[int, str]:  # noqa: ANN401  # an enum's wrapper has no type of its own
    return {number: name.removeprefix(prefix).lower() for name, number in enum.items() if number}


OUTCOMES = _words(pb.SpanOutcome, "SPAN_OUTCOME_")
VERDICTS = _words(pb.Verdict, "VERDICT_")
AXES = _words(pb.TimeAxis, "TIME_AXIS_")
LEGS = _words(plan_pb2.Leg, "LEG_")


def _listed(words: Mapping[int, str]) -> str:
    return ", ".join(f"`{word}`" for word in words.values())


class WhyNot(Sent):
    """What to ask "why is it not in the plan?" of: a `source` or a `section` of it, or a `span`."""

    source: (
        Annotated[
            str,
            told(
                "Id or display name of a source, 1 to 1024 bytes.",
                minLength=1,
                maxLength=MAX_SUBJECT_BYTES,
                pattern=NAME_PATTERN,
            ),
        ]
        | None
    ) = None
    section: (
        Annotated[
            str,
            told(
                "Title of a section of the source, or the last titles of its path joined by ` > `, in any case; "
                "at most 1024 bytes. Default: the whole source.",
                maxLength=MAX_SUBJECT_BYTES,
                pattern=f"^(?:{NAME_PATTERN[1:-1]})?$",
            ),
        ]
        | None
    ) = None
    span: (
        Annotated[SpanCoordinate, Meta(description="Candidates and nodes that rest on bytes of this span.")] | None
    ) = None


Explain = Annotated[
    bool, Meta(description="Say of each candidate why it is in the plan or out of it. The plan stays the same.")
]
WhyNots = Annotated[
    list[WhyNot],
    told("What to ask “why is it not in the plan?” of, candidates or not; at most 32.", maxItems=MAX_SUBJECTS),
]


class LegRank(Given):
    """Says that a leg found a node."""

    leg: Annotated[str, Meta(description=f"{_listed(LEGS)}; accept others.")]
    rank: Annotated[int, Meta(description="Place among all that the leg found, from 1.")]


class ScoreParts(Given, kw_only=True):
    """What the score of a node is made of; docs/scoring.md defines each part."""

    node_id: Uuid
    score: Annotated[float, Meta(description="S(node), in [0, 1]: what the weight is made of.")]
    similarity: (
        Annotated[float, Meta(description="Sharpened, in [0, 1]. Absent where there is neither question nor vector.")]
        | None
    ) = None
    semantic: Annotated[float, Meta(description="What of it comes from the vector, in [0, 1].")]
    lexical: Annotated[float, Meta(description="What of it comes from the words, in [0, 1].")]
    context: Annotated[float, Meta(description="What it and the passages next to it hold together, in [0, 1].")]
    source: Annotated[float, Meta(description="What else of its source was found, in [0, 1].")]
    speaker: Annotated[float, Meta(description="How far somebody says it whom the question names, in [0, 1].")]
    days: Annotated[float, Meta(description="Factor of the days that the question names; 1 where none are.")]
    window: Annotated[float, Meta(description="Factor of a window, which joins several passages; 1 for all else.")]
    decay: Annotated[float, Meta(description="Of the path over which it was reached; 1 for what a leg found itself.")]
    hops: Annotated[int, Meta(description="Of that path; 0 for what a leg found itself.")]
    path: Annotated[list[Uuid], Meta(description="From the node that a leg found to this one; empty for 0 hops.")]
    structured: Annotated[bool, Meta(description="`find` found it, which makes the score 1.")]
    evidence: (
        Annotated[float, Meta(description="Strength of the evidence, in [0, 1]. Absent where no floor was applied.")]
        | None
    ) = None
    legs: Annotated[list[LegRank], Meta(description="The legs that found it.")]


class ScoreConstants(Given, kw_only=True):
    """The constants of this call's scores; docs/scoring.md says how they make a score of its parts."""

    semantic_share: Annotated[
        float, Meta(description="Share of the semantic part: 1 without a question, 0 without a vector.")
    ]
    context_weight: Annotated[float, Meta(description="Weight of `context`.")]
    source_weight: Annotated[float, Meta(description="Weight of `source`.")]
    speaker_weight: Annotated[float, Meta(description="Weight of `speaker`.")]
    greatest: Annotated[float, Meta(description="What the parts of the best node make together.")]
    sharpening: Annotated[int, Meta(description="Power of what then lies in [0, 1]: it is `similarity`.")]
    alpha: Annotated[
        float,
        Meta(description="`score` is `similarity` to this power, times `decay` to the power of 1 less this."),
    ]


class Duplicate(Given):
    """The kept span that a duplicate repeats."""

    of: SpanPlace
    overlap: Annotated[float, Meta(description="Bytes in common by the bytes of the shorter one, in (0, 1].")]


class ExplainedSpan(Given, kw_only=True):
    """One candidate, and why it is in the plan or out of it."""

    span: SpanPlace
    source_name: Annotated[str, Meta(description="Display name of its source; absent of select.")] | None = None
    kind: str
    span_class: ClassField
    weight: Annotated[float, Meta(description="The score times `kindPrior`, times `cacheDiscount`.")]
    kind_prior: float
    cache_discount: Annotated[float, Meta(description="1 for truth.")]
    tokens: Annotated[int, Meta(description="Tokens of the text alone.")]
    outcome: Annotated[str, Meta(description=f"{_listed(OUTCOMES)}; accept others.", examples=["source_cap"])]
    rank: Annotated[
        int, Meta(description="Place in packing order among what deduplication left, from 1; 0 for duplicates.")
    ]
    density: Annotated[float, Meta(description="Weight per token, overhead included.")]
    budget_left: Annotated[int, Meta(description="Tokens of the budget left when it was looked at; 0 for duplicates.")]
    source_spent: Annotated[int, Meta(description="Tokens that its source had taken at that moment; 0 for duplicates.")]
    duplicate: Annotated[Duplicate, Meta(description="Only of a duplicate.")] | None = None
    score: Annotated[ScoreParts, Meta(description="Of the node that set the weight; absent of select.")] | None = None
    because: Annotated[str, Meta(description="The outcome in words.")]


class ExplainedNode(Given, kw_only=True):
    """One node of a subject that was no candidate, and why."""

    node_id: Uuid
    type: str
    span: (
        Annotated[SpanPlace, Meta(description="The first span of the subject that it rests on, or rested.")] | None
    ) = None
    verdict: Annotated[str, Meta(description=f"{_listed(VERDICTS)}; accept others.")]
    score: Annotated[ScoreParts, Meta(description="Where it was scored; of `not_found` what it would have been.")] | (
        None
    ) = None
    ranks: Annotated[
        list[LegRank], Meta(description="Of `not_found`: its place among all that each leg could have found.")
    ]
    axis: Annotated[str, Meta(description=f"Of `not_visible`: what hides it, {_listed(AXES)}; accept others.")] | (
        None
    ) = None
    since: (
        Annotated[Micros, Meta(description="Of `not_visible`: the axis hides it before; absent: never did.")] | None
    ) = None
    until: Annotated[Micros, Meta(description="Of `not_visible`: the axis hides it from then on.")] | None = None
    instead: (
        Annotated[
            SpanPlace,
            Meta(
                description="Of `poorer_window` and `excluded`: what stands in its place. Of `not_visible`: where "
                "the same words stand in the version that was read."
            ),
        ]
        | None
    ) = None
    because: Annotated[str, Meta(description="The verdict in words.")]


class Subject(Given):
    """What was asked about: a `source` or a `section` of it, or a `span`."""

    source: str | None = None
    section: str | None = None
    span: SpanPlace | None = None


class ExplainedSubject(Given, kw_only=True):
    """The answer to "why not?" for one subject."""

    subject: Subject
    verdict: Annotated[
        str,
        Meta(
            description="`candidate` if there is one, else that of the nearest node. "
            f"{_listed(VERDICTS)}; accept others."
        ),
    ]
    candidates: Annotated[
        list[ExplainedSpan], Meta(description="Of the subject, packed ones first, then in packing order.")
    ]
    candidates_left_out: Annotated[Tally, Meta(description="Candidates beyond those.")]
    nodes: Annotated[
        list[ExplainedNode],
        Meta(description="Of the subject that were no candidates: what kept the best matching text out first."),
    ]
    nodes_left_out: Annotated[Tally, Meta(description="Nodes beyond those.")]
    because: Annotated[str, Meta(description="The answer in one or two sentences.")]


class Explanation(Given, kw_only=True):
    """Why each candidate is in the plan or out of it."""

    spans: Annotated[
        list[ExplainedSpan],
        Meta(
            description="In packing order, duplicates after all others, heaviest first; "
            "empty unless `explain` asked for it."
        ),
    ]
    spans_left_out: Annotated[
        Tally, Meta(description="Candidates at the end of that order which were too many for one answer.")
    ]
    source_cap: Annotated[int, Meta(description="Tokens that one source may take.")]
    top_k: Annotated[int, Meta(description="How many nodes each leg but the structured one may find; 0 of select.")]
    subjects: Annotated[list[ExplainedSubject], Meta(description="In the order of `whyNot`.")]
    constants: (
        Annotated[ScoreConstants, Meta(description="Absent of select, and without both question and vector.")] | None
    ) = None


def subjects(asked: list[WhyNot] | None) -> list[pb.Subject]:
    """
    *asked* on the wire.

    Raises:
        RequestFault: One names nothing, or two things.
    """
    return [_subject_message(subject, index) for index, subject in enumerate(asked or ())]


def explained(answer: Any) -> Explanation | None:  # noqa: ANN401  # the answers that may hold one
    """The JSON shape of the explanation in *answer*, where one was asked for."""
    return explanation_answer(answer.explanation) if answer.HasField("explanation") else None


def explanation_answer(message: pb.Explanation) -> Explanation:
    """The JSON shape of an explanation."""
    return Explanation(
        spans=[span_answer(span) for span in message.spans],
        spans_left_out=message.spans_left_out,
        source_cap=message.source_cap,
        top_k=message.top_k,
        subjects=[_subject(subject) for subject in message.subjects],
        constants=_constants(message.constants) if message.HasField("constants") else None,
    )


def span_answer(message: pb.ExplainedSpan) -> ExplainedSpan:
    """The JSON shape of one candidate."""
    repeats = message.duplicate
    return ExplainedSpan(
        span=place(message.span),
        source_name=message.source_name or None,
        kind=message.kind,
        span_class=CLASS_NAMES.get(message.span_class, UNKNOWN_CLASS),
        weight=message.weight,
        kind_prior=message.kind_prior,
        cache_discount=message.cache_discount,
        tokens=message.tokens,
        outcome=OUTCOMES.get(message.outcome, UNRECOGNIZED),
        rank=message.rank,
        density=message.density,
        budget_left=message.budget_left,
        source_spent=message.source_spent,
        duplicate=(Duplicate(of=place(repeats.of), overlap=repeats.overlap) if message.HasField("duplicate") else None),
        score=_score(message.score) if message.HasField("score") else None,
        because=message.because,
    )


def _subject_message(subject: WhyNot, index: int) -> pb.Subject:
    pointer = f"/whyNot/{index}"
    if (subject.source is None) == (subject.span is None):
        raise RequestFault(pointer, "must have a source or a span, and not both")
    if subject.span is None:
        return pb.Subject(source=pb.SourceSubject(source=subject.source, section=subject.section))
    if subject.section is not None:
        raise RequestFault(f"{pointer}/section", "belongs to a source, not to a span")
    return pb.Subject(span=span_message(subject.span))


def _score(message: pb.ScoreParts) -> ScoreParts:
    return ScoreParts(
        node_id=message.node_id,
        score=message.score,
        similarity=message.similarity if message.HasField("similarity") else None,
        semantic=message.semantic,
        lexical=message.lexical,
        context=message.context,
        source=message.source,
        speaker=message.speaker,
        days=message.days,
        window=message.window,
        decay=message.decay,
        hops=message.hops,
        path=list(message.path),
        structured=message.structured,
        evidence=message.evidence if message.HasField("evidence") else None,
        legs=[_rank(leg) for leg in message.legs],
    )


def _constants(message: pb.ScoreConstants) -> ScoreConstants:
    return ScoreConstants(
        semantic_share=message.semantic_share,
        context_weight=message.context_weight,
        source_weight=message.source_weight,
        speaker_weight=message.speaker_weight,
        greatest=message.greatest,
        sharpening=message.sharpening,
        alpha=message.alpha,
    )


def _rank(message: pb.LegRank) -> LegRank:
    return LegRank(leg=LEGS.get(message.leg, UNRECOGNIZED), rank=message.rank)


def _subject(message: pb.ExplainedSubject) -> ExplainedSubject:
    asked = message.subject
    source = asked.source if asked.HasField("source") else None
    return ExplainedSubject(
        subject=Subject(
            source=source.source if source else None,
            section=(source.section or None) if source else None,
            span=place(asked.span) if asked.HasField("span") else None,
        ),
        verdict=VERDICTS.get(message.verdict, UNRECOGNIZED),
        candidates=[span_answer(span) for span in message.candidates],
        candidates_left_out=message.candidates_left_out,
        nodes=[_node(node) for node in message.nodes],
        nodes_left_out=message.nodes_left_out,
        because=message.because,
    )


def _node(message: pb.ExplainedNode) -> ExplainedNode:
    return ExplainedNode(
        node_id=message.node_id,
        type=message.type,
        span=place(message.span) if message.HasField("span") else None,
        verdict=VERDICTS.get(message.verdict, UNRECOGNIZED),
        score=_score(message.score) if message.HasField("score") else None,
        ranks=[_rank(rank) for rank in message.ranks],
        axis=AXES.get(message.axis, UNRECOGNIZED) if message.axis else None,
        since=message.since_us if message.HasField("since_us") else None,
        until=message.until_us if message.HasField("until_us") else None,
        instead=place(message.instead) if message.HasField("instead") else None,
        because=message.because,
    )
