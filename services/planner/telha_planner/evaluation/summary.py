"""
From results to figures: means over questions, by system and budget, whole and by kind.

Rule: a figure is a function of the results alone, in no order; latencies stand apart, since they alone may differ from
run to run.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .trial import PLAN, Result

Figures = dict[str, Any]
Runs = Sequence[Mapping[str, Any]]

_NORMAL_95 = 1.96


def summary(results: Iterable[Result]) -> Figures:
    """
    All figures of a report.

    Returns:
        `answerable` and `rejections`, each with `questions` and `systems`; a system has `system`, `share` (plans only),
        `budgets` with figures by budget, `kinds`, and where answerable the `mean` of span recall over the budgets.
    """
    rows = sorted(results, key=lambda result: result["id"])
    answerable = [row for row in rows if not row["rejection"]]
    rejections = [row for row in rows if row["rejection"]]
    return {
        "answerable": {"questions": len(answerable), "systems": _systems(answerable, _recall, _span_recall)},
        "rejections": {"questions": len(rejections), "systems": _systems(rejections, _amount, _amount)},
        "checks": _checks(rows),
        "latency": _latency(rows),
    }


def _systems(
    rows: Sequence[Result], figures: Callable[[Runs], Figures], of_kind: Callable[[Runs], object]
) -> list[Figures]:
    systems = []
    for key in _keys(rows):
        budgets = _by_budget(rows, key)
        system: Figures = {"system": key[0], **({"share": key[1]} if key[0] == PLAN else {})}
        system["budgets"] = {str(budget): figures(runs) for budget, runs in budgets.items()}
        if figures is _recall:
            system["mean"] = _mean([found["spanRecall"] for found in system["budgets"].values()])
        system["kinds"] = {
            kind: _kind([row for row in rows if row["kind"] == kind], key, of_kind) for kind in _kinds(rows)
        }
        systems.append(system)
    return systems


def _kind(rows: Sequence[Result], key: tuple[str, float | None], figure: Callable[[Runs], object]) -> Figures:
    budgets = _by_budget(rows, key)
    return {"questions": len(rows), "budgets": {str(b): figure(runs) for b, runs in budgets.items()}}


def _keys(rows: Sequence[Result]) -> list[tuple[str, float | None]]:
    return list(dict.fromkeys((run["system"], run.get("share")) for row in rows for run in row["runs"]))


def _kinds(rows: Sequence[Result]) -> list[str]:
    return sorted({row["kind"] for row in rows})


def _by_budget(rows: Sequence[Result], key: tuple[str, float | None]) -> dict[int, list[Mapping[str, Any]]]:
    found: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        for run in row["runs"]:
            if (run["system"], run.get("share")) == key:
                found.setdefault(run["budget"], []).append(run)
    return dict(sorted(found.items()))


def _recall(runs: Sequence[Mapping[str, Any]]) -> Figures:
    shares = [run["found"] / run["gold"] for run in runs]
    return {
        "spanRecall": _mean(shares),
        "spanRecallError": _error(shares),
        "byteRecall": _mean([run["covered_bytes"] / run["gold_bytes"] for run in runs]),
        "bytePrecision": _mean([run["covered_bytes"] / max(1, run["returned_bytes"]) for run in runs]),
        **_amount(runs),
    }


def _span_recall(runs: Sequence[Mapping[str, Any]]) -> float:
    return _mean([run["found"] / run["gold"] for run in runs])


def _amount(runs: Sequence[Mapping[str, Any]]) -> Figures:
    return {
        "tokens": _mean([run["used"] for run in runs]),
        "spans": _mean([run["spans"] for run in runs]),
        "budgetShare": _mean([run["used"] / run["budget"] for run in runs]),
        "nothing": _mean([float(run["spans"] == 0) for run in runs]),
    }


def _checks(rows: Sequence[Result]) -> Figures:
    """What must hold of every plan: within B by every count, and one hash however often it is made."""
    plans = [run for row in rows for run in row["runs"] if run["system"] == PLAN]
    over = {way: sum(run["over"][way] > 0 for run in plans) for way in ("sum", "joined")}
    return {"plans": len(plans), "overBudget": over, "unstable": sum(not run["stable"] for run in plans)}


def _latency(rows: Sequence[Result]) -> Figures:
    """Milliseconds of all plans, by share and budget: the first making of each plan, and the repeated ones."""
    found: Figures = {}
    for row in rows:
        for run in row["runs"]:
            if run["system"] == PLAN:
                key = f"{run['share']:g}/{run['budget']}"
                place = found.setdefault(key, {"first": [], "repeated": []})
                place["first"].append(run["latency_ms"][0])
                place["repeated"] += run["latency_ms"][1:]
    return {
        key: {name: {"p50": percentile(times, 0.5), "p95": percentile(times, 0.95)} for name, times in place.items()}
        for key, place in found.items()
    }


def percentile(values: Sequence[float], share: float) -> float | None:
    """The nearest-rank percentile of *values*; None of none."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _error(values: Sequence[float]) -> float:
    """Half the 95 % interval of the mean, by the normal distribution."""
    if len(values) < 2:
        return 0.0
    mean = _mean(values)
    deviation = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return _NORMAL_95 * math.sqrt(deviation / len(values))
