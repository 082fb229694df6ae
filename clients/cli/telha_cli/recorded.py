"""
What a trace record tells of its candidates, in the shape in which an explanation tells them.

docs/trace-record.md describes the record. A record of another kind or an earlier version may hold less of it; what is
not there is not shown.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

_CLASSES = ("truth", "cache")


def packed(record: Mapping[str, Any]) -> list[Json]:
    """The spans that were returned, densest first, with their tokens and weights."""
    overhead = int((record.get("budget") or {}).get("spanOverheadTokens") or 0)
    pairs = zip(record.get("item_coords") or (), record.get("item_facts") or (), strict=False)
    rows = [
        {
            "span": _span(coordinate),
            "kind": kind,
            "class": _class(of),
            "weight": float(weight),
            "density": float(weight) / max(1, int(tokens) + overhead),
            "tokens": int(tokens),
            "outcome": "packed",
        }
        for coordinate, (kind, of, weight, tokens) in pairs
    ]
    rows.sort(key=lambda row: (-row["density"], -row["weight"], *row["span"].values()))
    return [{**row, "rank": rank} for rank, row in enumerate(rows, start=1)]


def explanation(record: Mapping[str, Any]) -> Json | None:
    """What the record says of every candidate; None if the call did not ask for it."""
    explained = record.get("explained")
    if not explained:
        return None
    return {
        "spans": [_explained(row) for row in explained["rows"]],
        "spansLeftOut": int(explained["leftOut"]),
        "sourceCap": int(explained["sourceCap"]),
        "topK": int(explained["topK"]),
    }


def spent(record: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """Of each source what it took: id, newest version among the spans, tokens with overhead; the greatest first."""
    overhead = int((record.get("budget") or {}).get("spanOverheadTokens") or 0)
    taken: Counter[str] = Counter()
    versions: dict[str, int] = {}
    for row in packed(record):
        source = row["span"]["sourceId"]
        taken[source] += row["tokens"] + overhead
        versions[source] = max(versions.get(source, 0), row["span"]["sourceVersionTx"])
    return sorted(((source, versions[source], tokens) for source, tokens in taken.items()), key=lambda of: (-of[2], of))


def source_cap(record: Mapping[str, Any]) -> int | None:
    """Tokens that one source might take."""
    budget = record.get("budget") or {}
    share, applied = budget.get("maxFracPerSource"), budget.get("applied")
    return None if share is None or applied is None else math.floor(float(share) * int(applied))


def _span(coordinate: Sequence[Any]) -> Json:
    source, version, start, end = coordinate
    # A number that JSON cannot hold exactly is shown as a string.
    return {"sourceId": source, "sourceVersionTx": int(version), "start": int(start), "end": int(end)}


def _explained(row: Sequence[Any]) -> Json:
    span = _span(row[:4])
    kind, of, weight, tokens, outcome, rank, density, left, of_source, duplicate, score = row[4:15]
    told: Json = {
        "span": span,
        "kind": kind,
        "class": _class(of),
        "weight": float(weight),
        "tokens": int(tokens),
        "outcome": outcome,
        "rank": int(rank),
        "density": float(density),
        "budgetLeft": int(left),
        "sourceSpent": int(of_source),
    }
    if duplicate:
        start, end, overlap = duplicate
        told["duplicate"] = {"of": {**span, "start": int(start), "end": int(end)}, "overlap": float(overlap)}
    if score:
        told["score"] = {
            "nodeId": score[0],
            "score": float(score[1]),
            "legs": [{"leg": leg, "rank": int(place)} for leg, place in score[13]],
            "hops": max(0, len(score[14]) - 1),
        }
    return told


def _class(number: int) -> str:
    return _CLASSES[number] if number in (0, 1) else "unknown"
