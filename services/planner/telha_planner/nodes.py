"""Nodes as Query presents them: properties, validity, provenance and caveats at the instants of the read."""

import numpy as np

from telha_planner.answers import FoundNode, OpenQuestion
from telha_planner.columns.ids import whole
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.view import View
from telha_planner.core.model import Int64, SpanRef
from telha_planner.core.request import OPEN_END
from telha_planner.recall.candidates import spans_of
from telha_planner.recall.structured import facts_of

PAGE_BYTES = 3 << 20
"""Most bytes of one page on the wire, at a careful estimate; a message may hold 4 MiB."""

_BYTES_PER_CHARACTER = 6
_BYTES_PER_SPAN = 64
_BYTES_PER_NODE = 512


def nodes_at(snapshot: Snapshot, view: View, places: Int64) -> tuple[FoundNode, ...]:
    """
    The nodes at *places*, in that order: the first ones that fit `PAGE_BYTES`, and one at least.

    Raises:
        PropertiesErased: An erasure has taken one away since the columns were read.
    """
    provenance = _provenance(view, places)
    # Context asks the same columns for the same instant, so a caveat here is a question there.
    asked = view.columns.questions.open(view.node[places].astype(np.int64), view.tx_t)
    found: list[FoundNode] = []
    room = PAGE_BYTES
    for index, node in enumerate(facts_of(snapshot, view, places)):
        room -= _BYTES_PER_CHARACTER * node.size + _BYTES_PER_SPAN * len(provenance[index]) + _BYTES_PER_NODE
        if room < 0 and found:
            break
        questions = asked.get(index, ())
        caveat = None
        if questions:
            caveat = OpenQuestion(questions[0].clarification_id, questions[0].state, questions[0].question)
        found.append(
            FoundNode(
                node_id=node.node_id,
                type=node.node_type,
                space=node.space,
                properties=node.properties,
                valid_from=node.valid_from,
                valid_to=None if node.valid_to == OPEN_END else node.valid_to,
                provenance=tuple(sorted(provenance[index])),
                caveat=caveat,
            )
        )
    return tuple(found)


def _provenance(view: View, places: Int64) -> list[list[SpanRef]]:
    spans, sources = view.columns.spans, view.columns.sources
    linked = spans_of(view, places)
    source = spans.source[linked.span]
    rows = zip(
        linked.node.tolist(),
        whole(sources.hi[source], sources.lo[source]),
        spans.version[linked.span].tolist(),
        spans.start[linked.span].tolist(),
        spans.end[linked.span].tolist(),
        strict=True,
    )
    found: list[list[SpanRef]] = [[] for _ in range(len(places))]
    for index, source_id, version, start, end in rows:
        found[index].append(SpanRef(source_id, version, start, end))
    return found
