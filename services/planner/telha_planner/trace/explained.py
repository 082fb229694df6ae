"""What a record keeps of an explanation (docs/trace-record.md): numbers and coordinates, never text."""

from typing import Any

from telha_planner.core.explained import ExplainedSpan, Explanation, ScoreConstants, ScoreParts
from telha_planner.core.model import Outcome
from telha_planner.core.value import format_uuid

MAX_KEPT = 2_000
"""Most spans that a record keeps; those behind them are counted, and a replay says them all."""

OUTCOMES = {
    Outcome.PACKED: "packed",
    Outcome.DEDUPED: "duplicate",
    Outcome.UNPACKABLE: "unpackable",
    Outcome.BUDGET_SKIPPED: "budget",
    Outcome.SPAN_LIMIT_SKIPPED: "span_limit",
    Outcome.CAP_SKIPPED: "source_cap",
}


def explained_map(explanation: Explanation) -> dict[str, Any]:
    """The field `explained`."""
    scores: dict[bytes, list[Any]] = {}
    rows = [_row(span, scores) for span in explanation.spans[:MAX_KEPT]]
    return {
        "rows": rows,
        "leftOut": len(explanation.spans) - len(rows) + explanation.spans_left_out,
        "sourceCap": explanation.source_cap,
        "topK": explanation.top_k,
        "constants": None if explanation.constants is None else _constants(explanation.constants),
    }


def _row(span: ExplainedSpan, scores: dict[bytes, list[Any]]) -> list[Any]:
    where, duplicate, score = span.span, span.duplicate, span.score
    if score is not None and score.node_id not in scores:
        scores[score.node_id] = _parts(score)
    return [
        format_uuid(where.source_id),
        where.source_version_tx,
        where.start,
        where.end,
        span.kind,
        int(span.span_class),
        span.weight,
        span.tokens,
        OUTCOMES[span.outcome],
        span.rank,
        span.density,
        span.budget_left,
        span.source_spent,
        None if duplicate is None else [duplicate.of.start, duplicate.of.end, duplicate.overlap],
        None if score is None else scores[score.node_id],
    ]


def _parts(score: ScoreParts) -> list[Any]:
    return [
        format_uuid(score.node_id),
        score.score,
        score.similarity,
        score.semantic,
        score.lexical,
        score.context,
        score.source,
        score.speaker,
        score.days,
        score.window,
        score.decay,
        score.evidence,
        score.structured,
        [[leg.value, rank] for leg, rank in score.legs],
        [format_uuid(node_id) for node_id in score.path],
    ]


def _constants(of: ScoreConstants) -> dict[str, Any]:
    return {
        "semanticShare": of.semantic_share,
        "contextWeight": of.context_weight,
        "sourceWeight": of.source_weight,
        "speakerWeight": of.speaker_weight,
        "greatest": of.greatest,
        "sharpening": of.sharpening,
        "alpha": of.alpha,
    }
