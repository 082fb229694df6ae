"""One trace, fixed, as `telha trace show` gets it: three sources with names that try a terminal."""

from typing import Any

CJK, RTL, PLAIN = (f"0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e1{n}" for n in range(3))
TRACE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e19"
VERSION = 1_782_820_800_000_000
HASH = "b3:" + "0123456789abcdef" * 4
NAMES = {CJK: "政策/退款和退货的全部规则.md", RTL: "מדיניות החזרים\u202e.md", PLAIN: "docs/handbook.md"}


def _score(place: int, hops: int = 0) -> list[Any]:
    parts = [0.5, 0.25, 0.0, 1.0, 0.5, 0.1, 0.0, 1.0, 1.0, 0.5 if hops else 1.0, 0.6, False]
    legs = [] if hops else [["lexical", place], ["semantic", place + 1]]
    return [TRACE, *parts, legs, [PLAIN] * (hops + 1) if hops else []]


ROWS: list[list[Any]] = [
    [CJK, VERSION, 0, 120, "paragraph", 0, 0.9, 30, "packed", 1, 0.03, 100, 0, None, _score(1)],
    [RTL, VERSION, 40, 90, "paragraph", 0, 0.5, 25, "packed", 2, 0.02, 70, 0, None, _score(3)],
    [CJK, VERSION, 130, 190, "paragraph", 0, 0.2, 15, "source_cap", 3, 0.0133, 45, 30, None, _score(4)],
    [PLAIN, VERSION, 7, 99, "heading", 1, 0.1, 10, "packed", 4, 0.01, 45, 0, None, _score(0, 1)],
    [PLAIN, VERSION, 100, 900, "section", 0, 0.3, 200, "unpackable", 5, 0.0015, 35, 10, None, _score(5)],
    [PLAIN, VERSION, 900, 990, "paragraph", 0, 0.01, 36, "budget", 6, 0.00028, 35, 10, None, _score(6)],
    [CJK, VERSION, 60, 150, "section", 0, 0.4, 40, "duplicate", 0, 0.01, 0, 0, [0, 120, 0.666], _score(2)],
]


def answer(*, explained: bool = False, **changed: Any) -> dict[str, Any]:
    """What `traced.shown` gives."""
    packed = [row for row in ROWS if row[8] == "packed"]
    stats = {
        "poolSpans": 7,
        "selectedSpans": 3,
        "deduped": 1,
        "unpackable": 1,
        "budgetSkipped": 1,
        "capSkipped": 1,
        "spanLimitSkipped": 0,
        "weightShare": 0.93786,
        "recall": {
            "legs": {"query": 0, "vector": 5, "lexical": 6, "traversal": 1},
            "nodes": 7,
            "zeroScore": 2,
            "belowFloor": 3,
            "minSimilarity": 0.09,
            "poolCapped": 0,
            "nodesWithoutSpans": 0,
        },
    }
    record = {
        "request": {"question": "何时退款？\x1b[31m"},
        "window": {"validTime": VERSION, "txTime": VERSION + 1},
        "budget": {"requested": 2000, "applied": 100, "maxFracPerSource": 0.4, "spanOverheadTokens": 0},
        "item_coords": [row[:4] for row in packed],
        "item_facts": [[row[4], row[5], row[6], row[7]] for row in packed],
        "stats": stats,
        "error": None,
    }
    if explained:
        record["explained"] = {"rows": ROWS, "leftOut": 5, "sourceCap": 40, "topK": 64, "constants": None}
    told = {
        "traceId": TRACE,
        "kind": "plan",
        "recorded": VERSION + 2,
        "spaces": ["main"],
        "planHash": HASH,
        "budget": 100,
        "used": 65,
        "items": 3,
        "stranded": 35,
        "record": record,
        "verified": True,
        "sources": [{"sourceId": source, "name": name} for source, name in NAMES.items()],
    }
    return {**told, **changed}
