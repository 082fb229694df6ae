"""
What a request means before anything is read: defaults, ceilings, instants, spaces, legs and tokens, all settled.

Each surface differs from the others only here (requirement C1); after this step a plan is a plan.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import rfc8785
from blake3 import blake3

from telha_planner.caller import Caller
from telha_planner.config import PlannerConfig
from telha_planner.core import budget as budgets
from telha_planner.core.errors import RequestInvalid, VectorLegUnavailable
from telha_planner.core.exclusion import Exclusions
from telha_planner.core.request import Leg, PlanRequest, SelectRequest, Window
from telha_planner.memory.query import compiled
from telha_planner.models.embedders.questions import QuestionVector
from telha_planner.models.embedders.seam import Model
from telha_planner.models.tokenizers import ESTIMATE, Tokenizers
from telha_planner.recall.ports import RecallQuery, Scoring

DEFAULT_FIND_LIMIT = 64
_CONTEXT_LIMITS = {"max_tokens_ceiling", "max_spans_ceiling", "default_max_tokens"}
_DIGEST_DIGITS = 16
NO_EMBEDDER = "no embedder is configured and the request carries no vector"


@dataclass(frozen=True, slots=True)
class Surface:
    """
    How one surface fills in what the caller left out.

    Attributes:
        kind: Name in traces.
        default_tokens: Budget when none is asked for.
        ceiling_tokens: Most tokens, or None.
        ceiling_spans: Most spans, also the default; or None.
    """

    kind: str
    default_tokens: int
    ceiling_tokens: int | None = None
    ceiling_spans: int | None = None


def plan_surface(config: PlannerConfig) -> Surface:
    """Plan: no ceiling but the model's context window."""
    return Surface("plan", config.planner.default_budget)


def select_surface(config: PlannerConfig) -> Surface:
    """Select: as Plan."""
    return Surface("select", config.planner.default_budget)


def context_surface(config: PlannerConfig) -> Surface:
    """Context: both limits have a ceiling, and the span ceiling is the default."""
    context = config.context
    return Surface("context", context.default_max_tokens, context.max_tokens_ceiling, context.max_spans_ceiling)


@dataclass(frozen=True, slots=True)
class Limits:
    """
    The limits of one selection, but for the estimate factor, which depends on the pool.

    Attributes:
        encoding: What counts tokens; `ESTIMATE` for a named model without a known tokenizer.
        context_window: Of the reading model, when known.
    """

    surface: Surface
    requested: int | None
    max_spans: int
    max_frac_per_source: float
    span_overhead_tokens: int
    encoding: str
    context_window: int | None

    def budget(self, *, estimated: bool) -> budgets.Budget:
        """B, with the estimate factor where *estimated* (requirement T4)."""
        return budgets.resolve(
            self.requested,
            default=self.surface.default_tokens,
            ceiling=self.surface.ceiling_tokens,
            context_window=self.context_window,
            estimate=estimated,
        )

    def greatest(self, *, estimated: bool) -> tuple[int, str] | None:
        """The greatest budget that a request may have, and what limits it; None if nothing does."""
        limits = [(self.surface.ceiling_tokens, "ceiling")]
        if self.context_window is not None:
            limits.append((self.context_window // 2, "context_window"))
        known = [(limit, name) for limit, name in limits if limit is not None]
        if not known:
            return None
        limit, name = min(known)
        factor = budgets.ESTIMATE_SAFETY if estimated else 1.0
        return math.floor(limit * factor), name

    def largest_window(self) -> int:
        """Tokens above which a window could never be packed: B and the source cap, less the overhead."""
        applied = self.budget(estimated=self.encoding == ESTIMATE).applied
        return min(applied, int(self.max_frac_per_source * applied)) - self.span_overhead_tokens


def resolve_limits(
    request: PlanRequest | SelectRequest, surface: Surface, config: PlannerConfig, tokenizers: Tokenizers
) -> Limits:
    """Settle budget, span limit, source share, overhead and encoding."""
    spans = request.max_spans or 0
    if surface.ceiling_spans is not None:
        spans = min(spans or surface.ceiling_spans, surface.ceiling_spans)
    encoding = config.tokens.default_encoding
    window = None
    if request.model is not None:
        encoding = tokenizers.encoding_of(request.model) or ESTIMATE
        window = tokenizers.context_window(request.model)
    share = request.max_frac_per_source
    return Limits(
        surface=surface,
        requested=request.max_tokens,
        max_spans=spans,
        max_frac_per_source=config.planner.max_frac_per_source if share is None else share,
        span_overhead_tokens=request.span_overhead_tokens or 0,
        encoding=encoding,
        context_window=window,
    )


def resolve_window(asked: Window, last_tx: int, now: int) -> tuple[int, int]:
    """
    The two instants `(valid_t, tx_t)` of a read (requirement R3).

    `tx_t` never lies after the last commit, so a later write cannot fall at or before it.
    """
    tx_t = last_tx if asked.tx_time is None else min(asked.tx_time, last_tx)
    valid_t = max(now, tx_t) if asked.valid_time is None else asked.valid_time
    return valid_t, tx_t


def resolve_recall(
    request: PlanRequest,
    limits: Limits,
    caller: Caller,
    config: PlannerConfig,
    window: tuple[int, int],
    question: QuestionVector | None = None,
) -> RecallQuery:
    """
    Settle what recall is asked.

    Args:
        window: Of `resolve_window`.
        question: What the embedder made of the question; None if none is configured. A vector of the request wins.

    Raises:
        RequestInvalid: A leg is named that the request gives nothing to, or a `match` holds no word.
        VectorLegUnavailable: The semantic leg is named and there is no vector, or none to compare it with.
        PermissionDenied: A space is named that the key does not allow.
    """
    valid_t, tx_t = window
    legs, skipped = _legs(request, question)
    depth = request.expand_depth
    given = request.exclusions
    vector = None if request.vector is None else np.asarray(request.vector, dtype=np.float32)
    model = request.vector_model
    if vector is None and question is not None:
        vector, model = question.values, question.model
    return RecallQuery(
        valid_t=valid_t,
        tx_t=tx_t,
        spaces=caller.readable(request.spaces),
        question=request.question,
        find=request.find,
        find_limit=request.find_limit or DEFAULT_FIND_LIMIT,
        vector=vector,
        vector_model=model,
        expand_depth=config.planner.expand_depth if depth is None else depth,
        top_k=config.planner.top_k,
        legs=legs,
        skipped=skipped,
        encoding=limits.encoding,
        largest_window=limits.largest_window(),
        scoring=scoring(config),
        min_similarity=_floor(request, config),
        where=None if request.where is None else compiled(request.where),
        exclusions=Exclusions(given, config.planner.dedup_overlap) if given else None,
    )


def fingerprint(config: PlannerConfig, model: Model | None = None) -> str:
    """
    `b3:` BLAKE3 over the RFC 8785 JSON of every setting that a plan depends on.

    Args:
        model: The embedder's; wherever it runs, its name and baseline decide what questions become.
    """
    return f"b3:{blake3(rfc8785.dumps(_covered(config, model))).hexdigest()}"


def settings(config: PlannerConfig, model: Model | None = None) -> dict[str, Any]:
    """
    The settings that `fingerprint` covers, by key, for the record.

    Tables of reading models and tokenizer files, which may be long, stand there as a digest.
    """
    covered = _covered(config, model)
    tokens = covered["tokens"]
    for table in ("models", "tokenizer_files"):
        tokens[table] = f"b3:{blake3(rfc8785.dumps(tokens[table])).hexdigest()[:_DIGEST_DIGITS]}"
    return dict(_flat("", covered))


def wants_vector(request: PlanRequest) -> bool:
    """Whether the question is to be embedded: the semantic leg is implied or named, and the request has no vector."""
    return (
        request.question is not None and request.vector is None and (not request.legs or Leg.SEMANTIC in request.legs)
    )


def _covered(config: PlannerConfig, model: Model | None) -> dict[str, Any]:
    chosen = config.model_dump(mode="json", include={"planner": True, "tokens": True, "context": _CONTEXT_LIMITS})
    chosen["embedding"] = None if model is None else model._asdict()
    return chosen


def _flat(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{key}.", value)
        else:
            yield f"{prefix}{key}", value


def _floor(request: PlanRequest, config: PlannerConfig) -> float:
    """The floor of this request; without a question or a vector there is nothing to measure."""
    if request.question is None and request.vector is None:
        return 0.0
    asked = request.min_similarity
    return (config.planner.scoring.min_similarity if asked is None else asked) + 0.0  # −0.0 becomes +0.0


def _legs(request: PlanRequest, question: QuestionVector | None) -> tuple[frozenset[Leg], str | None]:
    embedded = question is not None and question.values is not None
    missing = NO_EMBEDDER if question is None else question.skipped or NO_EMBEDDER
    given = {
        Leg.STRUCTURED: request.find is not None,
        Leg.SEMANTIC: request.vector is not None or embedded,
        Leg.LEXICAL: request.question is not None,
    }
    if not request.legs:
        implied = frozenset(leg for leg, has in given.items() if has)
        skipped = missing if request.question is not None and Leg.SEMANTIC not in implied else None
        return implied, skipped
    if Leg.SEMANTIC in request.legs and not given[Leg.SEMANTIC]:
        raise VectorLegUnavailable(cause=missing)
    if Leg.STRUCTURED in request.legs and not given[Leg.STRUCTURED]:
        raise RequestInvalid(field="legs", rule="must not name the structured leg without a query")
    if Leg.LEXICAL in request.legs and not given[Leg.LEXICAL]:
        raise RequestInvalid(field="legs", rule="must not name the lexical leg without a question")
    return request.legs, None


def scoring(config: PlannerConfig) -> Scoring:
    """The constants of S(n) as configured."""
    chosen = config.planner.scoring
    return Scoring(
        semantic_share=chosen.semantic_share,
        context_weight=chosen.context_weight,
        source_weight=chosen.source_weight,
        speaker_weight=chosen.speaker_weight,
        other_days_weight=chosen.other_days_weight,
        window_weight=chosen.window_weight,
        sharpening=chosen.sharpening,
        alpha=config.planner.alpha,
        hop_decay=chosen.hop_decay,
        min_cosine=chosen.min_cosine,
        min_bm25=chosen.min_bm25,
        form_weight=chosen.form_weight,
        bm25_k1=chosen.bm25_k1,
        bm25_b=chosen.bm25_b,
    )
