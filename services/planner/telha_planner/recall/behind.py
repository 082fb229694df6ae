"""Which open clarifications stand behind spans: on any visible node that rests on them, recalled or not."""

import numpy as np

from telha_planner.columns.questions import OpenClarification, by_urgency
from telha_planner.columns.snapshot import Snapshot
from telha_planner.core.model import Int64

from .candidates import spans_of
from .ports import RecallQuery


def questions_behind(snapshot: Snapshot, query: RecallQuery, span_nos: Int64) -> list[tuple[OpenClarification, ...]]:
    """
    For each span what is pending or conflicted at the instants of *query*, each once, the most urgent first.

    Args:
        span_nos: Numbers of spans, as `Recalled.span_no` has them.
    """
    columns = snapshot.columns
    clarified = np.unique(columns.questions.node)
    if not len(clarified) or not len(span_nos):
        return [()] * len(span_nos)
    view = snapshot.view(query.spaces, query.valid_t, query.tx_t)
    places = view.places_of_nodes(clarified).astype(np.int64)
    places = places[places >= 0]
    found = spans_of(view, places)
    wanted = columns.spans.rows_of(span_nos)
    near = np.isin(found.span, wanted)
    nodes = view.node[places[found.node[near]]]
    asked = columns.questions.open(nodes.astype(np.int64), query.tx_t)
    by_span: dict[int, dict[bytes, OpenClarification]] = {}
    for index, span in enumerate(found.span[near].tolist()):
        for question in asked.get(index, ()):
            by_span.setdefault(span, {})[question.clarification_id] = question
    return [tuple(sorted(by_span.get(span, {}).values(), key=by_urgency)) for span in wanted.tolist()]
