"""The answer to "why not?" for one subject, in one or two sentences."""

from collections.abc import Sequence

import numpy as np

from telha_planner.columns.snapshot import Snapshot
from telha_planner.core.explained import ExplainedNode, ExplainedSpan
from telha_planner.core.model import Outcome, SpanRef
from telha_planner.recall.reasons import instant, ordinal
from telha_planner.recall.subjects import Meant, texts_of

UNKNOWN = "memory knows nothing of it that this key may read"
NOT_IN_POOL = "the pool that was sent holds nothing of it"

_WAS = {Outcome.UNPACKABLE: "was ", Outcome.CAP_SKIPPED: "was "}
"""What makes a sentence of those outcomes that are told as a state."""


def of_candidates(
    candidates: Sequence[ExplainedSpan], left_out: int, *, nodes: int | None = None, among: int = 0
) -> str:
    """
    Of a subject with candidates.

    Args:
        candidates: The first, packed ones before others.
        left_out: How many there are besides.
        nodes: How many of the subject's nodes were candidates; None where there are no nodes.
        among: Nodes of the subject that are visible.
    """
    best, every = candidates[0], len(candidates) + left_out
    share = _share(every, every, "span") if nodes is None else _share(nodes, among, "node")
    if best.outcome is Outcome.PACKED:
        if every == 1:
            return f"{share}; its span is in the plan, {ordinal(best.rank)} in packing order"
        packed = sum(one.outcome is Outcome.PACKED for one in candidates)
        some = f"at least {packed}" if left_out and packed == len(candidates) else str(packed)
        return f"{share}; {some} of {every:,} spans are in the plan, the best {ordinal(best.rank)} in packing order"
    came = f"came {ordinal(best.rank)} and " if best.rank else ""
    missed = f"{came}{_WAS.get(best.outcome, '')}{best.because}"
    return f"{share}, and its span {missed}" if every == 1 else f"{share}, and none is in the plan; the best {missed}"


def of_nodes(nodes: Sequence[ExplainedNode], *, every: int, visible: int, unscored: int, superseded: bool) -> str:
    """
    Of a subject with nodes and no candidate.

    Args:
        nodes: The nearest.
        every: How many there are in all.
        visible: How many of them are.
        unscored: How many were too many to be scored.
        superseded: Another version of the source is read than the one that is asked about.
    """
    said = nodes[0].because
    told = f"its node was no candidate: {said}" if every == 1 else f"none of its {every:,} nodes was a candidate"
    if every > 1:
        hidden = every - visible
        some = "none is" if not visible else f"{hidden:,} of them {'is' if hidden == 1 else 'are'} not"
        told += f", {some} visible" if hidden else ""
        told += f"; the nearest: {said}"
    if unscored:
        told += f"; {unscored:,} more that nothing found were not scored"
    if superseded:
        told += ". Another version of this source is read at these instants"
    return told


def of_worthless(fragments: int) -> str:
    """Of a subject in a pool that was sent, of which *fragments* scored 0 and none more."""
    if fragments == 1:
        return "its one fragment was sent, and holds no word of the question"
    return f"its {fragments:,} fragments were sent, and none holds a word of the question"


def of_nothing(meant: Meant, snapshot: Snapshot, erased: int | None) -> str:
    """
    Of a subject without nodes.

    Args:
        erased: When it was erased, if it was.
    """
    if erased is not None:
        return f"its text was erased at {instant(erased)}"
    if not len(meant.sources):
        return UNKNOWN
    texts = snapshot.columns.texts
    if not isinstance(meant.subject, SpanRef):
        return "the source is known, and has no section of that title"
    if not len(meant.ranges.text):
        newest = int(np.max(texts.version[texts_of(snapshot, meant.sources)]))
        return f"the source is known, but no version of that instant; its newest is of {instant(newest)}"
    length = int(texts.length[meant.ranges.text[0]])
    return f"no node rests on these bytes; this version of the source has {length:,}"


def _share(some: int, every: int, what: str) -> str:
    if every == 1:
        return f"its one {what} was a candidate"
    if some == every:
        return f"all of its {every:,} {what}s were candidates"
    return f"{some:,} of its {every:,} {what}s {'was a candidate' if some == 1 else 'were candidates'}"
