"""
Why what a caller names is in a plan or out of it, also where it never was a candidate (requirement X6).

    subjects ─► recall.subjects: bytes and nodes ─► visibility ─► verdicts ─┐
    packed pool ─► explaining: the candidates among those bytes ────────────┴─► ExplainedSubject

It runs after the plan is made and decides nothing.
Rule 1: what the key may not read gets word for word the answer of what does not exist.
Rule 2: what it costs follows the subjects; what is too much of one is counted and not told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from telha_planner import patience, subject_words
from telha_planner.columns.ranking import union
from telha_planner.core.explained import ExplainedSpan, ExplainedSubject, Explanation, Verdict
from telha_planner.core.model import Bools, Int64, Outcome, SpanRef
from telha_planner.core.request import PlanRequest
from telha_planner.core.subject import Subject
from telha_planner.explaining import Reckoning, Recollection, explained
from telha_planner.memory import erased
from telha_planner.memory.store import Store
from telha_planner.recall.detail import Scored
from telha_planner.recall.subjects import Meant, meant_by, texts_of
from telha_planner.recall.told_nodes import told_nodes
from telha_planner.recall.verdicts import judge, unfound
from telha_planner.recall.visibility import NodesOf, nodes_of

MOST_TOLD = 8
"""Most candidates, and most nodes, that are told of one subject."""

MOST_SCORED = 4096
"""Most nodes that no leg found and that are scored all the same, of all subjects together."""


@dataclass(frozen=True, slots=True)
class Reader:
    """
    Who asks.

    Attributes:
        spaces: Those that the key may read; None is every one.
    """

    store: Store
    tenant: int
    spaces: tuple[str, ...] | None

    def erasures_of(self, source_ids: Sequence[bytes]) -> dict[bytes, list[int]]:
        """Every erasure of *source_ids*, ascending, as far as the key may learn of it."""
        with self.store.reading(self.tenant) as connection:
            return erased.erasures_of(connection, self.tenant, self.spaces, source_ids)


def explained_for(request: PlanRequest, reckoning: Reckoning, origin: Recollection, reader: Reader) -> Explanation:
    """
    What *request* wants explained: every candidate, its subjects, or both.

    Args:
        reckoning: How the plan was packed.
        origin: How its candidates were found.

    Raises:
        PropertiesErased: An erasure has taken away a title since the columns were read.
        DeadlineExceeded: Nobody waits for it any more.
    """
    told = explained(reckoning, told=request.explain)
    return replace(told, subjects=_subjects(request.why_not, reckoning, origin, reader)) if request.why_not else told


def _subjects(
    subjects: Sequence[Subject], reckoning: Reckoning, origin: Recollection, reader: Reader
) -> tuple[ExplainedSubject, ...]:
    meant = meant_by(origin.snapshot, subjects, reader.spaces)
    missing = [of for one in meant if not len(one.ranges.text) and (of := one.source_id()) is not None]
    gone = reader.erasures_of(missing) if missing else {}
    patience.check()
    detail = origin.detail
    nodes = [nodes_of(detail.view, detail.query.spaces, one.links) for one in meant]
    most = MOST_SCORED // len(meant)
    others = detail.others(union(*(unfound(detail, some, most) for some in nodes)))
    told = []
    for one, some in zip(meant, nodes, strict=True):
        patience.check()
        source_id = one.source_id()
        erasures = () if source_id is None else gone.get(source_id, ())
        told.append(_answer(one, some, others, erasures, reckoning, origin))
    return tuple(told)


def _answer(
    meant: Meant,
    nodes: NodesOf,
    others: Scored,
    erasures: Sequence[int],
    reckoning: Reckoning,
    origin: Recollection,
) -> ExplainedSubject:
    columns, recalled = origin.snapshot.columns, origin.recalled
    touched = meant.ranges.touched_by(columns, columns.spans.rows_of(recalled.span_no))
    candidates, left_out = candidates_among(reckoning, touched[reckoning.packed.collapsed])
    in_pool = columns.nodes.rows_of(np.unique(recalled.node_no[touched]))
    judged = judge(origin.detail, others, nodes, in_pool, MOST_TOLD)
    told = told_nodes(origin.detail, judged.nearest)
    visible = int(np.count_nonzero(nodes.visible))
    if candidates:
        verdict = Verdict.CANDIDATE
        found = int(np.count_nonzero(np.isin(nodes.node, in_pool)))
        sentence = subject_words.of_candidates(candidates, left_out, nodes=found, among=visible)
    elif told:
        verdict = told[0].verdict
        superseded = not visible and _is_superseded(meant, origin)
        sentence = subject_words.of_nodes(
            told, every=len(nodes), visible=visible, unscored=judged.unscored, superseded=superseded
        )
    else:
        gone = _erased(meant, erasures)
        verdict = Verdict.UNKNOWN if gone is None else Verdict.ERASED
        sentence = subject_words.of_nothing(meant, origin.snapshot, gone)
    return ExplainedSubject(meant.subject, verdict, candidates, left_out, told, judged.others, sentence)


def candidates_among(reckoning: Reckoning, rows: Bools) -> tuple[tuple[ExplainedSpan, ...], int]:
    """The first candidates among *rows* of the pool, packed ones before others, and how many there are besides."""
    order = reckoning.order
    order = order[rows[order]]
    is_packed = reckoning.packed.selection.outcome[order] == Outcome.PACKED
    order = np.concatenate((order[is_packed], order[~is_packed]))
    return tuple(reckoning.spans(order[:MOST_TOLD])), max(0, len(order) - MOST_TOLD)


def _is_superseded(meant: Meant, origin: Recollection) -> bool:
    """Whether another version of the source is read than the span that is asked about names."""
    if not isinstance(meant.subject, SpanRef):
        return False
    versions: Int64 = origin.snapshot.columns.texts.version[texts_of(origin.snapshot, meant.sources)]
    known = versions[versions <= origin.detail.query.tx_t]
    return bool(len(known)) and int(known.max()) != meant.subject.source_version_tx


def _erased(meant: Meant, erasures: Sequence[int]) -> int | None:
    """The erasure that took it away; a source of its id may have been written again since."""
    if isinstance(meant.subject, SpanRef):
        return next((tx for tx in erasures if tx > meant.subject.source_version_tx), None)
    return erasures[-1] if erasures and not len(meant.sources) else None
