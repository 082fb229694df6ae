"""
Why a span or a source that a caller names is in a selection from its own pool, or out of it (requirements X6, S11).

Memory is not read: what is not in the pool is unknown, and sources have ids alone.
"""

from collections.abc import Sequence

import numpy as np

from telha_planner import subject_words
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.explained import ExplainedSpan, ExplainedSubject, Verdict
from telha_planner.core.model import Bools, Pool, SpanRef
from telha_planner.core.request import Fragment, SelectRequest
from telha_planner.core.subject import SourceSubject, Subject
from telha_planner.core.value import parse_uuid
from telha_planner.explaining import Reckoning
from telha_planner.why_not import candidates_among


def subjects_in_pool(request: SelectRequest, reckoning: Reckoning) -> tuple[ExplainedSubject, ...]:
    """
    Answer "why not?" for each subject of *request*, in the order asked.

    Args:
        reckoning: How the selection was made.
    """
    told: list[ExplainedSubject] = []
    sent: dict[bytes, list[SpanRef]] | None = None
    for subject in request.why_not:
        span = _meant(subject)
        candidates, left_out = _candidates(reckoning, span)
        verdict, sentence = Verdict.UNKNOWN, subject_words.NOT_IN_POOL
        if candidates:
            verdict, sentence = Verdict.CANDIDATE, subject_words.of_candidates(candidates, left_out)
        elif span is not None and request.question is not None:
            # Only where there is a question does anything that was sent stay out of the pool.
            sent = _by_source(request.pool) if sent is None else sent
            worthless = sum(_touches(span, other) for other in sent.get(span[0], ()))
            if worthless:
                verdict, sentence = Verdict.ZERO_SCORE, subject_words.of_worthless(worthless)
        told.append(ExplainedSubject(subject, verdict, candidates, left_out, (), 0, sentence))
    return tuple(told)


_Span = tuple[bytes, int | None, int, int]
"""Source, version or None for all of them, bytes."""
_WHOLE = (0, 2**63 - 1)


def _candidates(reckoning: Reckoning, span: _Span | None) -> tuple[tuple[ExplainedSpan, ...], int]:
    return ((), 0) if span is None else candidates_among(reckoning, _touched(reckoning.packed.pool, span))


def _meant(subject: Subject) -> _Span | None:
    if isinstance(subject, SourceSubject):
        try:
            return None if subject.section else (parse_uuid("", subject.source), None, *_WHOLE)
        except RequestInvalid:
            return None  # a name, and a pool has none
    return subject


def _touched(pool: Pool, span: _Span) -> Bools:
    source_id, version, start, end = span
    hi, lo = (np.uint64(int.from_bytes(half, "big")) for half in (source_id[:8], source_id[8:]))
    touched: Bools = (pool.source_hi == hi) & (pool.source_lo == lo) & (pool.start < end) & (pool.end > start)
    return touched if version is None else touched & (pool.version == version)


def _by_source(pool: Sequence[Fragment]) -> dict[bytes, list[SpanRef]]:
    found: dict[bytes, list[SpanRef]] = {}
    for fragment in pool:
        found.setdefault(fragment.span.source_id, []).append(fragment.span)
    return found


def _touches(span: _Span, other: SpanRef) -> bool:
    _, version, start, end = span
    return version in (None, other.source_version_tx) and other.start < end and other.end > start
