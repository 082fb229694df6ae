"""
The structured leg: visible nodes of one type that satisfy a `where`, by node id.

Columns narrow to what is visible and of the type; the properties of those nodes are then read from the store, batch by
batch, and `memory.query` decides each. Rule: what is examined before the limit is full has a ceiling, and passing it is
an error; the answer never depends on how far somebody was willing to look.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np

from telha_planner import patience
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.view import View
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import Int64
from telha_planner.memory.properties import decode_properties
from telha_planner.memory.query import NodeFacts, Predicate

MAX_EXAMINED = 100_000
"""Most nodes whose properties one query may read before its limit is full."""

MAX_WORK = 1 << 27
"""
Most work for the same: for each node the characters of its properties and `NODE_WORK`, times the conditions, and
`ANALYSIS_WORK` for each character that `match` takes apart.
"""
NODE_WORK = 64
ANALYSIS_WORK = 16

_FIRST_BATCH = 225
_BATCH = 900
_REMEMBERED = 32
_TOO_MUCH = (
    "had to examine too many nodes, or too much of each, before enough were found; "
    "ask for a narrower type, in fewer spaces, or with fewer conditions"
)
_KEY_BYTES = 1 << 16
"""Most of a key is the text of a `where`; its ceiling stands for its size."""


@dataclass(frozen=True, slots=True)
class _Ordered:
    places: Int64

    @property
    def nbytes(self) -> int:
        return self.places.nbytes


@dataclass(frozen=True, slots=True)
class _Found:
    """What a few recent predicates found."""

    places: OrderedDict[Hashable, Int64] = field(default_factory=OrderedDict)

    @property
    def nbytes(self) -> int:
        return sum(places.nbytes + _KEY_BYTES for places in self.places.values())


def of_type(view: View, node_type: str) -> Int64:
    """Places of the nodes of *node_type*, by node id."""
    code = view.columns.versions.types.get(node_type)
    if code is None:
        return np.empty(0, np.int64)
    kept: _Ordered | None = view.memo.get(("type", code))
    if kept is None:
        places = np.flatnonzero(view.type == code)
        order = np.lexsort((view.lo[places], view.hi[places]))
        view.memo["type", code] = kept = _Ordered(places[order])
    return kept.places


def after(view: View, places: Int64, node_id: bytes, seen: int) -> Int64:
    """Those of *places*, by node id, behind the first *seen* with *node_id*; each space may have a node of that id."""
    high, low = (np.uint64(int.from_bytes(half, "big")) for half in (node_id[:8], node_id[8:]))
    hi, lo = view.hi[places], view.lo[places]
    equal = (hi == high) & (lo == low)
    above: Int64 = places[(hi > high) | ((hi == high) & (lo > low)) | (equal & (np.cumsum(equal) > seen))]
    return above


def satisfying(snapshot: Snapshot, view: View, places: Int64, where: Predicate, limit: int) -> Int64:
    """
    The first *limit* of *places* whose nodes satisfy *where*.

    Raises:
        RequestInvalid: More than `MAX_EXAMINED` nodes had to be examined, or more than `MAX_WORK` done.
        PropertiesErased: An erasure has taken one away since the columns were read.
        DeadlineExceeded: Nobody waits for the answer any more.
    """
    found: list[int] = []
    examined = work = 0
    before = where.analysed()
    while examined < len(places):
        batch = places[examined : examined + (_BATCH if examined else _FIRST_BATCH)]
        for place, node in zip(batch.tolist(), facts_of(snapshot, view, batch), strict=True):
            patience.check()
            examined += 1
            work += (node.size + NODE_WORK) * where.conditions
            holds = where.holds(node)
            if examined > MAX_EXAMINED or work + ANALYSIS_WORK * (where.analysed() - before) > MAX_WORK:
                raise RequestInvalid(field=where.place, rule=_TOO_MUCH)
            if holds:
                found.append(place)
                if len(found) == limit:
                    return np.array(found, np.int64)
    return np.array(found, np.int64)


def remembered(view: View, key: Hashable, find: Callable[[], Int64]) -> Int64:
    """What *find* returned for *key* before, if that was lately and nothing has changed since; else what it returns."""
    kept: _Found = view.memo.setdefault("where", _Found())
    if key not in kept.places:
        kept.places[key] = find()
        if len(kept.places) > _REMEMBERED:
            kept.places.popitem(last=False)
    kept.places.move_to_end(key)
    return kept.places[key]


def facts_of(snapshot: Snapshot, view: View, places: Int64) -> Iterator[NodeFacts]:
    """
    The nodes at *places* as predicates see them, one at a time.

    Raises:
        PropertiesErased: An erasure has taken one away since the columns were read.
    """
    columns, row = view.columns, view.version[places]
    types, spaces = columns.versions.types.names, list(columns.spaces.row)
    texts = snapshot.properties(row)
    rows = zip(
        view.hi[places].tolist(),
        view.lo[places].tolist(),
        [types[code] for code in view.type[places].tolist()],
        [spaces[code] for code in columns.nodes.space[view.node[places]].tolist()],
        columns.versions.valid_from[row].tolist(),
        columns.versions.valid_to[row].tolist(),
        strict=True,
    )
    for text, facts in zip(texts, rows, strict=True):
        # Decoded one by one: thousands of objects alive at once would keep the garbage collector busy.
        yield NodeFacts(decode_properties(text), len(text), *facts)
