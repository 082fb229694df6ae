"""The report in Markdown, from the figures of `summary` and the facts of the run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .peers import BM25, COSINE, TOP_K
from .trial import PLAN

_NAMES = {
    TOP_K: "top-k fill of the same scores",
    BM25: "BM25 alone, base spans",
    COSINE: "cosine alone, base spans",
}


def markdown(facts: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """The whole report; *facts* are shown as they are, in their order."""
    return "\n".join(_lines(facts, figures)) + "\n"


def _lines(facts: Mapping[str, Any], figures: Mapping[str, Any]) -> Iterator[str]:
    yield f"# Evidence recall on {facts['set']}"
    yield ""
    yield from (f"- {name}: {_shown(value)}" for name, value in facts.items() if name != "set")
    answerable, rejections = figures["answerable"], figures["rejections"]
    if answerable["questions"]:
        yield from _answerable(answerable)
    if rejections["questions"]:
        yield from _rejections(rejections)
    yield from _checks(figures["checks"])
    yield from _latency(figures["latency"])


def _answerable(part: Mapping[str, Any]) -> Iterator[str]:
    systems = part["systems"]
    budgets = _budgets(systems)
    columns = [*(f"R@{budget}" for budget in budgets), "mean"]
    yield from _headed(f"Whole gold spans found, {part['questions']:,} questions")
    rows = [[_name(s), *(_with_error(s["budgets"][b]) for b in budgets), f"{s['mean']:.3f}"] for s in systems]
    yield from _table(["system", *columns], rows)
    for title, key in (
        ("Bytes of gold found", "byteRecall"),
        ("Share of returned bytes that is gold", "bytePrecision"),
    ):
        yield from _headed(title)
        rows = [[_name(s), *(f"{s['budgets'][b][key]:.3f}" for b in budgets)] for s in systems]
        yield from _table(["system", *(f"B={budget}" for budget in budgets)], rows)
    yield from _headed("Tokens used, spans returned (means)")
    rows = [
        [_name(s), *(f"{s['budgets'][b]['tokens']:.0f}, {s['budgets'][b]['spans']:.1f}" for b in budgets)]
        for s in systems
    ]
    yield from _table(["system", *(f"B={budget}" for budget in budgets)], rows)
    yield from _headed("Whole gold spans found, by kind")
    rows = [
        [kind, str(found["questions"]), _name(s), *(f"{found['budgets'][b]:.3f}" for b in budgets)]
        for kind in systems[0]["kinds"]
        for s in systems
        for found in [s["kinds"][kind]]
    ]
    yield from _table(["kind", "questions", "system", *(f"R@{budget}" for budget in budgets)], rows)


def _rejections(part: Mapping[str, Any]) -> Iterator[str]:
    budgets = _budgets(part["systems"])
    yield from _headed(f"Nothing relevant: what is returned all the same, {part['questions']:,} questions")
    told = "tokens, share of the budget, share of empty answers"
    rows = [[_name(s), *(_amount(s["budgets"][b]) for b in budgets)] for s in part["systems"]]
    yield from _table([told, *(f"B={budget}" for budget in budgets)], rows)
    kinds = part["systems"][0]["kinds"]
    if len(kinds) > 1:
        yield from _headed("Nothing relevant, by kind")
        rows = [
            [kind, str(found["questions"]), _name(s), *(_amount(found["budgets"][b]) for b in budgets)]
            for kind in kinds
            for s in part["systems"]
            for found in [s["kinds"][kind]]
        ]
        yield from _table(["kind", "questions", told, *(f"B={budget}" for budget in budgets)], rows)


def _checks(checks: Mapping[str, Any]) -> Iterator[str]:
    yield from _headed(f"Checks, {checks['plans']:,} plans")
    yield f"- hashes that differed when the plan was made again: {checks['unstable']}"
    over = checks["overBudget"]
    yield f"- plans over budget when their texts are recounted: {over['sum']} by the sum of the spans,"
    yield f"  {over['joined']} when the spans are joined by line breaks"


def _latency(latency: Mapping[str, Any]) -> Iterator[str]:
    yield from _headed("Latency in ms")
    rows = [
        [*key.split("/"), *(_ms(times[name][point]) for name in ("first", "repeated") for point in ("p50", "p95"))]
        for key, times in latency.items()
    ]
    yield from _table(["share", "B", "first p50", "first p95", "repeated p50", "repeated p95"], rows)


def _headed(title: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


def _budgets(systems: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(systems[0]["budgets"])


def _name(system: Mapping[str, Any]) -> str:
    if system["system"] == PLAN:
        return f"**plan**, at most {system['share']:g} per source"
    return _NAMES[system["system"]]


def _with_error(found: Mapping[str, float]) -> str:
    return f"{found['spanRecall']:.3f} ± {found['spanRecallError']:.3f}"


def _amount(found: Mapping[str, float]) -> str:
    return f"{found['tokens']:.0f}, {found['budgetShare']:.2f}, {found['nothing']:.2f}"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
