"""The JSON shapes of the Context surface."""

from typing import Annotated

from msgspec import Meta
from telha.context.v1 import context_pb2

from telha_gateway.dto import planning, plans
from telha_gateway.dto.coordinates import CLASS_NAMES, UNKNOWN_CLASS, ClassField
from telha_gateway.dto.explanation import Explain, Explanation, WhyNots, explained, subjects
from telha_gateway.dto.plans import LegCounts, PlanStats, ReadWindow
from telha_gateway.dto.prompt import Prompt, prompt_answer
from telha_gateway.dto.shape import Given, Micros, PlanHash, Sent, Uuid
from telha_gateway.dto.suggestion import Suggest, Suggestion, suggest_message, suggested


class Include(Sent):
    """Switches parts of the response off and on; never alters the plan. All default to true, `prompt` to false."""

    open_questions: bool | None = None
    scores: bool | None = None
    stats: bool | None = None
    prompt: Annotated[bool, Meta(description="The items as one text for a model to read.")] | None = None


class ContextRequest(Sent):
    """Asks for context. At least one of `question`, `find` and `vector` is required."""

    question: planning.Question | None = None
    find: planning.Find | None = None
    where: planning.Where | None = None
    limit: planning.FindLimit | None = None
    vector: planning.QueryVector | None = None
    expand_depth: planning.ExpandDepth | None = None
    window: planning.Window | None = None
    budget: planning.Budget | None = None
    model: planning.Model | None = None
    spaces: planning.Spaces | None = None
    max_frac_per_source: planning.Share | None = None
    span_overhead_tokens: planning.Overhead | None = None
    legs: planning.Legs | None = None
    include: Include | None = None
    min_similarity: planning.Floor | None = None
    exclude: planning.Exclude | None = None
    explain: Explain | None = None
    why_not: WhyNots | None = None
    suggest: Suggest | None = None


class ItemSource(Given):
    """Where an item stands, with the source's display name."""

    source_id: Uuid
    source_version_tx: Micros
    start: int
    end: int
    name: str


class ValidTime(Given):
    """When the fact behind an item is true; without `end` it still is."""

    start: Micros
    end: Micros | None = None


class PendingClarification(Given):
    """Flags an item whose fact is in question."""

    clarification_id: Uuid
    state: str


class Item(Given, kw_only=True):
    """One span of memory."""

    text: str
    source: ItemSource
    kind: str
    span_class: ClassField
    score: Annotated[float, Meta(description="The plan's weight, bit for bit.")] | None = None
    valid_time: ValidTime
    pending_clarification: PendingClarification | None = None


class OpenQuestion(Given):
    """A question that the memory itself has."""

    clarification_id: Uuid
    state: str
    question: str


class BudgetStats(Given):
    """Accounts for the budget, in tokens."""

    requested: int
    applied: int
    used: int
    stranded: int


class ContextStats(Given, kw_only=True):
    """Accounts for the call; makes every truncation visible."""

    legs: LegCounts
    candidates: int
    dedup_dropped: int
    cap_skipped: int
    budget_skipped: int
    unpackable: int
    span_limit_skipped: int
    budget: BudgetStats
    vector_leg_skipped: str | None = None
    token_estimate: bool
    tokenizer: str
    plan: PlanStats | None = None


class ContextItems(Given, kw_only=True):
    """Items by score, highest first; what the memory is unsure of; and the proof."""

    items: list[Item]
    open_questions: list[OpenQuestion] | None = None
    stats: ContextStats | None = None
    trace_id: Uuid | None = None
    plan_hash: PlanHash
    window: ReadWindow
    explanation: Annotated[Explanation, Meta(description="If the request asked for one.")] | None = None
    suggestion: Annotated[Suggestion, Meta(description="If the request asked for one.")] | None = None
    prompt: Annotated[Prompt, Meta(description="If `include.prompt` asked for it.")] | None = None


def context_message(body: ContextRequest) -> context_pb2.BuildRequest:
    """*body* on the wire."""
    return context_pb2.BuildRequest(
        question=body.question,
        query=planning.query_message(body.find, body.limit, body.where),
        vector=planning.vector_message(body.vector),
        expand_depth=body.expand_depth,
        window=planning.window_message(body.window),
        budget=planning.budget_message(body.budget),
        model=body.model,
        spaces=body.spaces,
        max_frac_per_source=body.max_frac_per_source,
        span_overhead_tokens=body.span_overhead_tokens,
        legs=planning.leg_numbers(body.legs),
        include=_include(body.include),
        min_similarity=body.min_similarity,
        exclude=planning.exclude_message(body.exclude),
        explain=bool(body.explain),
        why_not=subjects(body.why_not),
        suggest=suggest_message(body.suggest),
    )


def context_answer(message: context_pb2.BuildResponse, *, open_questions: bool) -> ContextItems:
    """The JSON shape of context; *open_questions* says whether the caller wanted that part."""
    return ContextItems(
        items=[_item(item) for item in message.items],
        open_questions=[_open_question(question) for question in message.open_questions] if open_questions else None,
        stats=_stats(message.stats) if message.HasField("stats") else None,
        trace_id=message.trace_id or None,
        plan_hash=message.plan_hash,
        window=plans.window(message.window),
        explanation=explained(message),
        suggestion=suggested(message),
        prompt=prompt_answer(message),
    )


def _include(include: Include | None) -> context_pb2.Include | None:
    if include is None:
        return None
    return context_pb2.Include(
        open_questions=include.open_questions, scores=include.scores, stats=include.stats, prompt=include.prompt
    )


def _item(message: context_pb2.Item) -> Item:
    source, valid = message.source, message.valid_time
    flagged = message.HasField("pending_clarification")
    return Item(
        text=message.text,
        source=ItemSource(
            source_id=source.source_id,
            source_version_tx=source.source_version_tx,
            start=source.start,
            end=source.end,
            name=source.name,
        ),
        kind=message.kind,
        span_class=CLASS_NAMES.get(message.span_class, UNKNOWN_CLASS),
        score=message.score if message.HasField("score") else None,
        valid_time=ValidTime(start=valid.start_us, end=valid.end_us if valid.HasField("end_us") else None),
        pending_clarification=_pending(message.pending_clarification) if flagged else None,
    )


def _pending(message: context_pb2.PendingClarification) -> PendingClarification:
    return PendingClarification(clarification_id=message.clarification_id, state=message.state)


def _open_question(message: context_pb2.OpenQuestion) -> OpenQuestion:
    return OpenQuestion(clarification_id=message.clarification_id, state=message.state, question=message.question)


def _stats(message: context_pb2.ContextStats) -> ContextStats:
    budget = message.budget
    return ContextStats(
        legs=plans.legs(message.legs),
        candidates=message.candidates,
        dedup_dropped=message.dedup_dropped,
        cap_skipped=message.cap_skipped,
        budget_skipped=message.budget_skipped,
        unpackable=message.unpackable,
        span_limit_skipped=message.span_limit_skipped,
        budget=BudgetStats(
            requested=budget.requested, applied=budget.applied, used=budget.used, stranded=budget.stranded
        ),
        vector_leg_skipped=message.vector_leg_skipped if message.HasField("vector_leg_skipped") else None,
        token_estimate=message.token_estimate,
        tokenizer=message.tokenizer,
        plan=plans.stats(message.plan) if message.HasField("plan") else None,
    )
