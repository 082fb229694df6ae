"""The pool that a caller sends to Select, as columns: counted, scored, and ready to be weighed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner import patience
from telha_planner.core.model import Bools, Float64, Int32, Int64, UInt8, UInt64
from telha_planner.core.plan import LegCounts, RecallStats
from telha_planner.core.request import Fragment, SelectRequest
from telha_planner.core.tokens import estimate, estimate_inputs
from telha_planner.models.tokenizers import ESTIMATE, Tokenizers
from telha_planner.recall.lexical import score_texts
from telha_planner.recall.ports import Scoring
from telha_planner.trace.record import PoolEntry

CALLER = "caller"
"""Stands for an encoding where every count came with the request."""
BETWEEN_LOOKS = 64
"""Texts that are counted before it is looked whether anybody still waits."""


@dataclass(frozen=True, slots=True)
class FragmentColumns:
    """Coordinates, kinds, classes and scores of n fragments; as in `core.model.Pool`, but for weight and tokens."""

    source_hi: UInt64
    source_lo: UInt64
    version: Int64
    start: Int64
    end: Int64
    kind: Int32
    kinds: tuple[str, ...]
    span_class: UInt8
    score: Float64


@dataclass(frozen=True, slots=True)
class Fragments:
    """
    What of the pool enters Phase B.

    Attributes:
        estimated: Rows whose tokens are an estimate.
        texts: The one text of each row's coordinate; "" where it came with tokens alone.
        entries: The rows for the trace, in the order sent.
        tokenizer: The encoding that counted, `estimate`, or `caller`.
    """

    columns: FragmentColumns
    tokens: Int64
    estimated: Bools
    texts: tuple[str, ...]
    entries: tuple[PoolEntry, ...]
    tokenizer: str
    stats: RecallStats


def read_fragments(request: SelectRequest, encoding: str, tokenizers: Tokenizers, scoring: Scoring) -> Fragments:
    """
    Count and score the pool of *request*.

    Given tokens win over text. With a question, fragments that share no term with it score 0 and do not enter the
    pool; they are counted in `zero_score` (requirements R1, S11).
    """
    pool: Sequence[Fragment] = request.pool
    zero_score = 0
    if request.question is None:
        scores = np.array([fragment.score for fragment in pool], dtype=np.float64) + 0.0  # −0.0 becomes +0.0
    else:
        scores = score_texts(request.question, [fragment.text or "" for fragment in pool], scoring)
        kept = np.flatnonzero(scores > 0)
        zero_score = len(pool) - len(kept)
        pool = [pool[row] for row in kept.tolist()]
        scores = scores[kept]
    tokens, estimated = _counts(pool, encoding, tokenizers)
    lexical = len(pool) if request.question is not None else 0
    return Fragments(
        columns=columns_of(pool, scores),
        tokens=tokens,
        estimated=estimated,
        texts=_texts(pool),
        entries=_entries(pool, scores, tokens),
        tokenizer=CALLER if pool and all(fragment.tokens is not None for fragment in pool) else encoding,
        stats=RecallStats(legs=LegCounts(lexical=lexical), nodes=len(pool), zero_score=zero_score),
    )


def _texts(pool: Sequence[Fragment]) -> tuple[str, ...]:
    """Whichever row of a coordinate the collapse leaves, the text that was sent with any of them is its text."""
    known = {fragment.span: fragment.text for fragment in pool if fragment.text is not None}
    return tuple(known.get(fragment.span, "") for fragment in pool)


def _counts(pool: Sequence[Fragment], encoding: str, tokenizers: Tokenizers) -> tuple[Int64, Bools]:
    tokens = np.zeros(len(pool), dtype=np.int64)
    estimated = np.zeros(len(pool), dtype=np.bool_)
    for row, fragment in enumerate(pool):
        if row % BETWEEN_LOOKS == 0:
            patience.check()
        if fragment.tokens is not None:
            tokens[row] = fragment.tokens
        elif encoding == ESTIMATE:
            tokens[row] = estimate(*estimate_inputs(fragment.text or ""))
            estimated[row] = True
        else:
            tokens[row] = tokenizers.count(encoding, fragment.text or "")
    return tokens, estimated


def columns_of(pool: Sequence[Fragment | PoolEntry], scores: Float64) -> FragmentColumns:
    """The columns of *pool*, whose scores are *scores*."""
    halves = np.frombuffer(b"".join(fragment.span.source_id for fragment in pool), dtype=">u8").reshape(-1, 2)
    kinds = tuple(sorted({fragment.kind for fragment in pool}))
    code = {kind: index for index, kind in enumerate(kinds)}
    return FragmentColumns(
        source_hi=halves[:, 0].astype(np.uint64),
        source_lo=halves[:, 1].astype(np.uint64),
        version=np.array([fragment.span.source_version_tx for fragment in pool], dtype=np.int64),
        start=np.array([fragment.span.start for fragment in pool], dtype=np.int64),
        end=np.array([fragment.span.end for fragment in pool], dtype=np.int64),
        kind=np.array([code[fragment.kind] for fragment in pool], dtype=np.int32),
        kinds=kinds,
        span_class=np.array([fragment.span_class for fragment in pool], dtype=np.uint8),
        score=scores,
    )


def _entries(pool: Sequence[Fragment], scores: Float64, tokens: Int64) -> tuple[PoolEntry, ...]:
    rows = zip(pool, scores.tolist(), tokens.tolist(), strict=True)
    return tuple(
        PoolEntry(fragment.span, fragment.kind, int(fragment.span_class), score, count)
        for fragment, score, count in rows
    )
