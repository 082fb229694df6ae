"""
The verdict about a node in one sentence, with the numbers that it rests on.

Said to people; programs read the fields beside it. Rule: of a name, only what the key may read is said.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from telha_planner.columns.view import View
from telha_planner.core.explained import Verdict
from telha_planner.core.model import SpanRef
from telha_planner.core.request import INT64_MIN, OPEN_END, Leg

from .detail import LEGS, RecallDetail
from .floor import SHARE_OF_BEST
from .ports import POOL_NODES
from .verdicts import SMALLEST, Judged
from .visibility import Hidden

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_NAMES = 3
_LEG_NAMES = {Leg.STRUCTURED: "structured", Leg.SEMANTIC: "semantic", Leg.LEXICAL: "lexical"}


def because(judged: Judged, detail: RecallDetail, instead: SpanRef | None, tokens: int | None) -> str:
    """
    The verdict of *judged* in words.

    Args:
        detail: What recall knows.
        instead: What stands in its place, if anything does.
        tokens: Of a window.
    """
    match judged.verdict:
        case Verdict.NOT_VISIBLE:
            return _hidden(judged, detail, instead)
        case Verdict.OTHER_SPACE:
            return _elsewhere(judged, detail)
        case Verdict.NOT_FOUND:
            return _not_found(judged, detail)
        case Verdict.ZERO_SCORE:
            return _worth_nothing(judged, detail)
        case Verdict.BELOW_FLOOR:
            return _below_floor(judged, detail)
        case Verdict.WINDOW_TOO_LARGE:
            room = max(0, detail.query.largest_window)
            return f"a window of {tokens:,} tokens; the budget, or the share of one source, has room for {room:,}"
        case Verdict.POORER_WINDOW:
            return "overlaps a better window, and of overlapping windows only the best is offered"
        case Verdict.POOL_CAPPED:
            return f"scores {_number(_score(judged))}; {POOL_NODES:,} nodes come before it, and the pool holds no more"
        case Verdict.EXCLUDED:
            given = "" if instead is None else f": [{instead.start}:{instead.end}) of this version of its source"
            return f"was given by an earlier call that is to be left out{given}"
        case _:
            return _nothing_to_cite(judged)


def instant(time: int) -> str:
    """*time*, µs since 1970 UTC, as RFC 3339; outside the years 1 to 9999 as a number."""
    try:
        return (_EPOCH + timedelta(microseconds=time)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"{time} µs"


def interval(since: int, until: int) -> str:
    """An interval of time in words; `INT64_MIN` and `OPEN_END` have none."""
    if since == INT64_MIN:
        return "always" if until == OPEN_END else f"until {instant(until)}"
    return f"from {instant(since)} on" if until == OPEN_END else f"from {instant(since)} until {instant(until)}"


def names(of: Sequence[str]) -> str:
    """A few names in quotation marks, and how many there are besides."""
    shown = ", ".join(f"“{name}”" for name in of[:_MOST_NAMES])
    return shown if len(of) <= _MOST_NAMES else f"{shown} and {len(of) - _MOST_NAMES} more"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`, `1,003rd`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def _nothing_to_cite(judged: Judged) -> str:
    if judged.place < 0:
        return "the node is visible, but rests on nothing any more"
    return "its text cannot be read: the version of the source is missing, or shorter than the span"


def _hidden(judged: Judged, detail: RecallDetail, instead: SpanRef | None) -> str:
    valid_t, tx_t = instant(detail.view.valid_t), instant(detail.view.tx_t)
    if judged.hidden == Hidden.TX_TIME and instead is not None:
        version = instant(instead.source_version_tx)
        return (
            f"this version of the source was read {interval(judged.since, judged.until)}; "
            f"the same words now stand at [{instead.start}:{instead.end}) of the version of {version}"
        )
    if judged.hidden == Hidden.TX_TIME:
        return f"known {interval(judged.since, judged.until)}; memory was read as of {tx_t}"
    said = f"true {interval(judged.since, judged.until)}"
    if judged.hidden == Hidden.VALID_TIME:
        return f"{said}; asked was what is true at {valid_t}"
    known = interval(judged.known_from, judged.known_to)
    return f"{said}, as known {known}; asked was what is true at {valid_t}, as known at {tx_t}"


def _elsewhere(judged: Judged, detail: RecallDetail) -> str:
    columns = detail.view.columns
    space = list(columns.spaces.row)[int(columns.nodes.space[judged.node])]
    return f"in the space {names([space])}; read was {names(detail.query.spaces or ())}"


def _not_found(judged: Judged, detail: RecallDetail) -> str:
    query = detail.query
    said = [_of_leg(leg, judged, detail) for leg in LEGS if leg in query.legs]
    if query.expand_depth:
        said.append("no edge leads to it from what was found")
    if judged.row >= 0:
        said.append(f"it would have scored {_number(_score(judged))}")
    return "; ".join(filter(None, said)) or "no leg ran"


def _of_leg(leg: Leg, judged: Judged, detail: RecallDetail) -> str:
    query = detail.query
    rank = 0 if judged.scored is None else int(judged.scored.rank[judged.row, LEGS.index(leg)])
    if rank:
        places = "one place" if query.top_k == 1 else f"{query.top_k:,} places"
        return f"{ordinal(rank)} of the {_LEG_NAMES[leg]} leg, which has {places}"
    if leg is Leg.STRUCTURED:
        if query.find is None:
            return ""
        if _type(judged, detail.view) != query.find:
            return f"no node of the type {names([query.find])}"
        that = "" if query.where is None else " that satisfy the conditions"
        return f"not among the first {query.find_limit:,} nodes of the type {names([query.find])}{that}"
    if judged.scored is None:
        return ""
    if leg is Leg.LEXICAL:
        return "" if query.question is None else "holds no word of the question"
    if query.vector is None:
        return ""
    near = "its vector is not among the nearest"
    return near if _has_vector(judged, detail) else "has no vector"


def _has_vector(judged: Judged, detail: RecallDetail) -> bool:
    view = detail.view
    model = view.columns.model_at(detail.query.vector_model, view.tx_t)
    having = view.vectors(model).place if model is not None else np.empty(0, np.int32)
    at = int(np.searchsorted(having, judged.place))
    return at < len(having) and int(having[at]) == judged.place


def _worth_nothing(judged: Judged, detail: RecallDetail) -> str:
    at, components = judged.row, None if judged.scored is None else judged.scored.components
    if components is None or components.semantic[at] or components.lexical[at] or components.context[at]:
        return "was found, and scores 0: what matches in it is too little beside the best"
    hops = int(detail.hops[at])
    way = f"was reached over {hops} {'edge' if hops == 1 else 'edges'}" if hops else "was found"
    return f"{way}, and scores 0: neither it nor what stands next to it matches"


def _below_floor(judged: Judged, detail: RecallDetail) -> str:
    evidence = None if judged.scored is None else judged.scored.evidence
    floor = _number(detail.query.min_similarity)
    if evidence is None:
        return f"its evidence is below the floor of {floor}"
    if evidence.best < detail.query.min_similarity:
        best = _number(evidence.best)
        return f"the best evidence found, {best}, is below the floor of {floor}: nothing counts as relevant"
    own, best = _number(float(evidence.around[judged.row])), _number(evidence.greatest)
    needed = _number(min(1.0, SHARE_OF_BEST * detail.query.min_similarity) * evidence.greatest)
    return f"its evidence is {own}; with a floor of {floor} and the best at {best}, {needed} was needed"


def _type(judged: Judged, view: View) -> str:
    return view.columns.versions.types.names[int(view.type[judged.place])]


def _score(judged: Judged) -> float:
    return 0.0 if judged.scored is None else float(judged.scored.score[judged.row])


def _number(value: float) -> str:
    return "next to nothing" if 0.0 < value < SMALLEST else f"{value:.3g}"
