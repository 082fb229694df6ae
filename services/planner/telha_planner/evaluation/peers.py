"""
What other ways of choosing find on the same store: the comparisons of the report.

- `top-k`: the pool and the scores that the plan had, best score first instead of best density first.
- `bm25`: every base span by BM25 alone. `cosine`: every base span by cosine alone, where there are vectors.

Each fills the budget as well as it can: in order of its score it takes what still fits and lies over nothing that it
has taken. The cap per source does not bind it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.columns.ids import whole
from telha_planner.columns.view import View
from telha_planner.core.model import Float64, Int64
from telha_planner.models.stop_words import question_terms
from telha_planner.packing import weighed
from telha_planner.recall.candidates import is_window, spans_of, tokens_of
from telha_planner.recall.lexical import Lexical
from telha_planner.recall.ports import RecallQuery
from telha_planner.recall.recall import recall
from telha_planner.recall.semantic import model_of

from .dataset import GoldSpan, Question
from .in_process import InProcess

TOP_K, BM25, COSINE = "top-k", "bm25", "cosine"

_EVERYTHING = 1.0


@dataclass(frozen=True, slots=True)
class Filled:
    """What a peer returns, and the tokens of it."""

    spans: tuple[GoldSpan, ...]
    used: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first."""

    spans: Sequence[GoldSpan]
    tokens: Sequence[int]


class Peers:
    """The comparisons over what *planner* holds."""

    def __init__(self, planner: InProcess) -> None:
        self._planner = planner

    def fills(self, question: Question, budgets: Sequence[int]) -> dict[str, list[Filled]]:
        """What each peer that applies returns for *question*, by budget."""
        query = self._planner.query(question, max(budgets), _EVERYTHING)
        view = self._planner.snapshot().view(query.spaces, query.valid_t, query.tx_t)
        found = {TOP_K: [filled(self._by_weight(question, budget), budget) for budget in budgets]}
        alone: dict[str, Callable[[], Ranking]] = {BM25: lambda: self._by_bm25(view, query)}
        if query.vector is not None:
            alone[COSINE] = lambda: self._by_cosine(view, query)
        for name, rank in alone.items():
            ranking = rank()
            found[name] = [filled(ranking, budget) for budget in budgets]
        return found

    def _by_weight(self, question: Question, budget: int) -> Ranking:
        planner = self._planner
        pool = recall(planner.snapshot(), planner.query(question, budget, _EVERYTHING))
        weight = weighed(pool, pool.tokens, planner.config.planner).weight
        order = np.lexsort((pool.end, pool.start, pool.source_lo, pool.source_hi, -weight))
        ids = whole(pool.source_hi[order], pool.source_lo[order])
        return self._ranking(ids, pool.start[order], pool.end[order], pool.tokens[order])

    def _by_bm25(self, view: View, query: RecallQuery) -> Ranking:
        terms = question_terms(query.question or "")
        return self._of_base_spans(view, query, Lexical(view, terms, query.scoring).scores)

    def _by_cosine(self, view: View, query: RecallQuery) -> Ranking:
        scores = np.zeros(len(view))
        model = model_of(view, query)
        if model is not None and query.vector is not None:
            seen = view.vectors(model)
            scores[seen.place] = np.maximum(0.0, model.cosines(seen.row, query.vector))
        return self._of_base_spans(view, query, scores)

    def _of_base_spans(self, view: View, query: RecallQuery, scores: Float64) -> Ranking:
        places = np.flatnonzero(scores > 0.0)
        places = places[~is_window(view, places)]
        rows = spans_of(view, places)
        spans, sources = view.columns.spans, view.columns.sources
        source, start, end = spans.source[rows.span], spans.start[rows.span], spans.end[rows.span]
        hi, lo = sources.hi[source], sources.lo[source]
        order = np.lexsort((end, start, lo, hi, -scores[places[rows.node]]))
        tokens = tokens_of(view, rows.span, query.encoding)
        return self._ranking(whole(hi[order], lo[order]), start[order], end[order], tokens[order])

    def _ranking(self, ids: Sequence[bytes], start: Int64, end: Int64, tokens: Int64) -> Ranking:
        index: Callable[[bytes], int] = self._planner.index_of
        spans = [GoldSpan(index(i), a, b) for i, a, b in zip(ids, start.tolist(), end.tolist(), strict=True)]
        return Ranking(spans, tokens.tolist())


def filled(ranking: Ranking, budget: int) -> Filled:
    """Fill *budget* tokens from *ranking*, best first; see the module."""
    taken: list[GoldSpan] = []
    of_source: dict[int, list[GoldSpan]] = {}
    left = budget
    for span, tokens in _fitting(ranking, budget):
        if tokens > left:
            continue
        beside = of_source.setdefault(span.source, [])
        if any(span.start < other.end and other.start < span.end for other in beside):
            continue
        beside.append(span)
        taken.append(span)
        left -= tokens
        if left == 0:
            break
    return Filled(tuple(taken), budget - left)


def _fitting(ranking: Ranking, budget: int) -> Iterator[tuple[GoldSpan, int]]:
    return ((span, tokens) for span, tokens in zip(ranking.spans, ranking.tokens, strict=True) if tokens <= budget)
