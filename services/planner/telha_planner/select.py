"""
Select, whole: Phase B over the caller's own pool. It needs no store, no server and no key.

A server runs this behind `Planner.Select`; a Python program that has the package may call it as it is and gets the
same plan, to the hash (docs/select.md). What it does not get is a trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from telha_planner import resolution
from telha_planner.answers import Suggested
from telha_planner.config import PlannerConfig
from telha_planner.core.explained import Explanation
from telha_planner.core.plan import EvidencePlan, RecallStats
from telha_planner.core.request import SelectRequest
from telha_planner.explaining import explained, reckoned
from telha_planner.fragments import columns_of, read_fragments
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.packing import Packed, finish, pack, weighed
from telha_planner.pool_subjects import subjects_in_pool
from telha_planner.suggesting import suggested
from telha_planner.trace.record import PoolEntry


@dataclass(frozen=True, slots=True)
class Selected:
    """
    What became of a pool.

    Attributes:
        entries: The rows that entered Phase B, for the trace, in the order sent.
        explanation, suggestion: Where the request asks for them.
    """

    plan: EvidencePlan
    entries: tuple[PoolEntry, ...]
    explanation: Explanation | None
    suggestion: Suggested | None


@dataclass(frozen=True, slots=True)
class Counted:
    """
    What became of a pool before Phase B, as its trace tells.

    Attributes:
        tokenizer: The encoding that counted, `estimate`, or `caller`.
        estimated: Whether any count is an estimate; the budget then is multiplied by 0.9 (requirement T3).
        stats: What was scored.
    """

    tokenizer: str
    estimated: bool
    stats: RecallStats


def select_pool(request: SelectRequest, config: PlannerConfig, tokenizers: Tokenizers) -> Selected:
    """
    Count, score, weigh and select the pool of *request*.

    An empty pool gives the empty plan; a surface that refuses it does so itself (requirement R6).
    """
    limits = resolution.resolve_limits(request, resolution.select_surface(config), config, tokenizers)
    fragments = read_fragments(request, limits.encoding, tokenizers, resolution.scoring(config))
    pool = weighed(fragments.columns, fragments.tokens, config.planner)
    packed = pack(pool, fragments.estimated, limits, config.planner.dedup_overlap)
    texts = [fragments.texts[row] for row in packed.rows.tolist()]
    plan = finish(packed, texts, fragments.tokenizer, fragments.stats)
    explanation, suggestion = _explanation(request, packed, config), suggested(packed, limits, request.suggest)
    return Selected(plan, fragments.entries, explanation, suggestion)


def reselect(
    request: SelectRequest,
    entries: Sequence[PoolEntry],
    counted: Counted,
    config: PlannerConfig,
    tokenizers: Tokenizers,
) -> Selected:
    """
    Weigh and select a pool as it once entered Phase B: scores and tokens are those of *entries*.

    The spans of the plan have no texts.

    Args:
        request: The limits; its pool does not count.
        counted: What counted the tokens then.
    """
    limits = resolution.resolve_limits(request, resolution.select_surface(config), config, tokenizers)
    columns = columns_of(entries, np.array([entry.score for entry in entries], dtype=np.float64))
    pool = weighed(columns, np.array([entry.tokens for entry in entries], dtype=np.int64), config.planner)
    packed = pack(pool, np.full(len(pool), counted.estimated), limits, config.planner.dedup_overlap)
    plan = finish(packed, [""] * len(packed.rows), counted.tokenizer, counted.stats)
    explanation, suggestion = _explanation(request, packed, config), suggested(packed, limits, request.suggest)
    return Selected(plan, tuple(entries), explanation, suggestion)


def _explanation(request: SelectRequest, packed: Packed, config: PlannerConfig) -> Explanation | None:
    if not request.explain and not request.why_not:
        return None
    reckoning = reckoned(packed, config.planner)
    subjects = subjects_in_pool(request, reckoning)
    return replace(explained(reckoning, told=request.explain), subjects=subjects)
