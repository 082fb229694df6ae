"""
The record of one call: all that a replay needs, and never a span's text.

docs/trace-record.md is the promise that this module keeps; a change of meaning raises `RECORD_VERSION`.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import xxhash

from telha_planner.caller import Caller
from telha_planner.core.explained import Explanation
from telha_planner.core.model import MAX_OFFSET, SpanRef
from telha_planner.core.plan import EvidencePlan, PlanStats, RecallStats
from telha_planner.core.value import format_uuid

from . import canonical_json
from .explained import explained_map

RECORD_VERSION = 1


@dataclass(frozen=True, slots=True)
class Rules:
    """
    What all plans of one planner depend on.

    Attributes:
        config_fingerprint: `b3:` hash over the settings that a plan depends on.
        settings: These settings, by key.
        software: Version of the planner.
    """

    config_fingerprint: str
    settings: Mapping[str, Any]
    software: str


@dataclass(frozen=True, slots=True)
class Circumstances:
    """
    What a call depended on besides its request.

    Attributes:
        valid_t, tx_t: Resolved instants; None for Select, which reads no memory.
        spaces: Spaces that were read; None for all of the tenant.
        query_vector: float32 little-endian, as used.
        index_version: Version of the index that answered.
        rules: What every call of the planner depends on.
        last_tx: The newest commit that the planner knew, µs; None for Select.
        exclusions: Spans that were left out on request, distinct, in canonical order.
    """

    valid_t: int | None
    tx_t: int | None
    spaces: tuple[str, ...] | None
    query_vector: bytes | None
    vector_model: str | None
    index_version: str
    rules: Rules
    last_tx: int | None = None
    exclusions: Sequence[SpanRef] = ()


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A fragment of Select's pool as it entered Phase B, in the order sent."""

    span: SpanRef
    kind: str
    span_class: int
    score: float
    tokens: int


def encode_record(
    *,
    kind: str,
    trace_id: str,
    recorded_us: int,
    caller: Caller,
    sent: Mapping[str, Any],
    circumstances: Circumstances,
    plan: EvidencePlan,
    items: Sequence[SpanRef],
    pool: Sequence[PoolEntry] | None = None,
    explanation: Explanation | None = None,
    error: str | None = None,
) -> bytes:
    """
    One record as msgpack.

    Args:
        sent: The request as sent, JSON-able, camelCase, credential excluded.
        items: Coordinates of the plan's spans in the order in which they were returned.
        pool: Select's pool; its texts are not kept.
        explanation: Where it was asked for.
        error: Reason of a call that failed after planning.
    """
    stats = plan.stats
    facts = {spot.span: [spot.kind, int(spot.span_class), spot.weight, spot.tokens] for spot in plan.spans}
    encoded: bytes = msgpack.packb(
        {
            "v": RECORD_VERSION,
            "kind": kind,
            "trace_id": trace_id,
            "tenant": caller.tenant_name,
            "key_id": caller.key_id,
            "recorded_us": recorded_us,
            "request": exact_json({key: value for key, value in sent.items() if key != "pool"}),
            "request_hash": f"xxh3:{xxhash.xxh3_64_hexdigest(canonical_json.dumps(dict(sent)))}",
            "window": {"validTime": circumstances.valid_t, "txTime": circumstances.tx_t},
            "spaces": None if circumstances.spaces is None else list(circumstances.spaces),
            "budget": {
                "requested": stats.requested,
                "applied": plan.budget,
                "used": plan.used,
                "stranded": stats.budget_stranded_by_cap,
                "maxSpans": stats.max_spans,
                "maxFracPerSource": stats.max_frac_per_source,
                "spanOverheadTokens": stats.span_overhead_tokens,
            },
            "plan_model": plan.plan_model,
            "score_model": stats.score_model,
            "plan_hash": plan.plan_hash,
            "tokenizer": stats.tokenizer,
            "token_estimate": stats.token_estimate,
            "index_version": circumstances.index_version,
            "config_fingerprint": circumstances.rules.config_fingerprint,
            "settings": dict(circumstances.rules.settings),
            "software": circumstances.rules.software,
            "last_tx": circumstances.last_tx,
            "query_vector": circumstances.query_vector,
            "vector_model": circumstances.vector_model,
            "exclusions": [_coordinate(span) for span in circumstances.exclusions],
            "item_coords": [_coordinate(span) for span in items],
            "item_facts": [facts[span] for span in items],
            "stats": stats_map(stats),
            "pool": None if pool is None else [_pool_row(entry) for entry in pool],
            "error": error,
            "explained": explained_map(explanation) if explanation is not None and explanation.is_told else None,
        }
    )
    return encoded


def exact_json(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """*value* with every integer beyond 2^53 − 1 as a string, so that each JSON parser reads the same."""
    if isinstance(value, bool) or value is None or isinstance(value, str | float):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_OFFSET else str(value)
    if isinstance(value, Mapping):
        return {key: exact_json(inner) for key, inner in value.items()}
    return [exact_json(inner) for inner in value]


def stats_map(stats: PlanStats) -> dict[str, Any]:
    """The counters in camelCase, as every surface spells them."""
    return {
        "poolSpans": stats.pool_spans,
        "selectedSpans": stats.selected_spans,
        "deduped": stats.deduped,
        "unpackable": stats.unpackable,
        "budgetSkipped": stats.budget_skipped,
        "capSkipped": stats.cap_skipped,
        "spanLimitSkipped": stats.span_limit_skipped,
        "budgetStrandedByCap": stats.budget_stranded_by_cap,
        "packedWeight": stats.optimality.packed_weight,
        "weightUpperBound": stats.optimality.upper_bound,
        "weightShare": stats.optimality.share,
        "recall": None if stats.recall is None else _recall_map(stats.recall),
    }


def _recall_map(recall: RecallStats) -> dict[str, Any]:
    return {
        "legs": {
            "query": recall.legs.query,
            "vector": recall.legs.vector,
            "lexical": recall.legs.lexical,
            "traversal": recall.legs.traversal,
        },
        "nodes": recall.nodes,
        "nodesWithoutSpans": recall.nodes_without_spans,
        "kindMissing": recall.kind_missing,
        "slicesMissing": recall.slices_missing,
        "zeroScore": recall.zero_score,
        "poolCapped": recall.pool_capped,
        "vectorLegSkipped": recall.vector_leg_skipped,
        "minSimilarity": recall.min_similarity,
        "belowFloor": recall.below_floor,
        "bestEvidence": recall.best_evidence,
        "excluded": recall.excluded,
    }


def _coordinate(span: SpanRef) -> list[Any]:
    return [format_uuid(span.source_id), span.source_version_tx, span.start, span.end]


def _pool_row(entry: PoolEntry) -> list[Any]:
    bits = struct.unpack(">Q", struct.pack(">d", entry.score))[0]
    return [*_coordinate(entry.span), entry.kind, entry.span_class, bits, entry.tokens]
