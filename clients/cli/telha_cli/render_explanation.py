"""
Explanations as a person reads them: the verdict of what was asked about in words, then the candidates by density.

Rule: a name stands last in its line. A terminal that turns right-to-left text around then turns nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from . import render_suggestion, subjects
from .render import instant, number, safe

Json = Mapping[str, Any]

MOST_ROWS = 40
"""Candidates that a table shows at most, beside those that are in the plan."""
_WIDE = 110
"""Cells from which on a table says how each candidate was found, and names stand in full."""
_NARROW = 60
"""Cells below which density and weight stay out, and outcomes go on in the next line."""
_FIGURES, _FEW, _LEAST_NAME = 33, 13, 12
"""Cells of the columns before the outcome, of those where it is narrow, and of what is left of a name at least."""
_LEGS = {"structured": "query", "semantic": "meaning", "lexical": "words"}
_HOW_NAMED = "sources are named as `telha sources list` shows them, with their folder: docs/handbook.md, or by id"
OUTCOMES = {
    "packed": "packed",
    "duplicate": "duplicate",
    "unpackable": "too large",
    "budget": "budget",
    "span_limit": "span limit",
    "source_cap": "source cap",
}


def answer(plan: Json) -> RenderableType:
    """A plan as `telha explain` answers it: the explanation, and what it is the explanation of."""
    used = f"{plan['used']:,} of {plan['budget']:,} tokens, {len(plan['spans']):,} spans"
    lines = Text("plan    ", style="dim").append(plan["planHash"], style="magenta not dim").append(f"\n        {used}")
    if plan.get("traceId"):
        lines.append("\ntrace   ").append(plan["traceId"], style="magenta not dim")
    window = plan.get("window")
    if window:
        lines.append(f"\ntrue    at {instant(window['validTime'])}\nknown   at {instant(window['txTime'])}")
    parts: list[RenderableType] = [explanation(plan["explanation"]), Text(""), lines]
    if plan.get("suggestion") is not None:
        parts += [Text(""), render_suggestion.suggestion(plan["suggestion"])]
    return Group(*parts)


def explanation(told: Json, names: Mapping[str, str] | None = None, *, of_memory: bool = True) -> RenderableType:
    """All of an explanation *of_memory*, or of a pool; *names* of sources, by id, where its rows have none."""
    parts: list[RenderableType] = [subject(each, told["sourceCap"], hint=of_memory) for each in told["subjects"]]
    if told["spans"]:
        parts.append(_candidates(told, names or {}))
    elif not told["subjects"]:
        parts.append(Text("There was no candidate.", style="italic"))
    return Group(*parts)


def _candidates(told: Json, names: Mapping[str, str]) -> RenderableType:
    rows = [_named(row, names) for row in told["spans"]]
    total = len(rows) + told["spansLeftOut"]
    head = Text(f"{total:,} {'candidate' if total == 1 else 'candidates'} by density", style="bold")
    return Group(head, _Table(rows, told["sourceCap"], MOST_ROWS, told["spansLeftOut"]))


def table(rows: Sequence[Json], names: Mapping[str, str]) -> RenderableType:
    """Rows of one outcome alone, without limit."""
    return _Table([_named(row, names) for row in rows], 0, len(rows), 0)


def subject(told: Json, cap: int, *, hint: bool = True) -> RenderableType:
    """What became of one subject: the verdict, the reason and its grounds; *hint* at how memory names sources."""
    verdict = _verdict(told).append(": ").append_text(safe(subjects.shown(told["subject"])))
    parts: list[RenderableType] = [verdict, _indented(safe(told["because"]))]
    if hint and told["verdict"] == "unknown" and "source" in told["subject"]:
        parts.append(_indented(Text(_HOW_NAMED, style="dim")))
    if told["candidates"]:
        rows = _Table(told["candidates"], cap, len(told["candidates"]), told["candidatesLeftOut"])
        parts.append(_indented(rows))
    parts += [_indented(_node(node)) for node in told["nodes"]]
    if told["nodesLeftOut"]:
        parts.append(_indented(Text(f"… {told['nodesLeftOut']:,} more that were no candidates", style="dim")))
    return Padding(Group(*parts), (0, 0, 1, 0), expand=False)


def outcome(row: Json, cap: int) -> str:
    """An outcome in words, with the figure that it rested on; *cap* is what a source may take."""
    word = OUTCOMES.get(row["outcome"]) or safe(str(row["outcome"])).plain
    match row["outcome"]:
        case "duplicate" if "duplicate" in row:
            of = row["duplicate"]["of"]
            return f"{word}: {row['duplicate']['overlap']:.0%} of [{of['start']}:{of['end']}]"
        case "budget":
            return f"{word}: {row['budgetLeft']:,} left"
        case "source_cap":
            return f"{word}: {row['sourceSpent']:,}/{cap:,}"
        case _:
            return word


@dataclass(frozen=True, slots=True)
class _Table:
    """
    Candidates, one a row: those that are in the plan, and of the others the first.

    Attributes:
        most: Rows of others.
        left_out: Candidates that are not among the rows.
    """

    rows: Sequence[Json]
    cap: int
    most: int
    left_out: int

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= _WIDE
        drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        narrow = options.max_width < _NARROW
        for title in ("", "tokens") if narrow else ("", "density", "weight", "tokens"):
            drawn.add_column(title, justify="right", no_wrap=True)
        drawn.add_column("outcome", overflow="fold", no_wrap=not narrow)
        if wide:
            drawn.add_column("found by", overflow="fold")
        drawn.add_column("span", overflow="fold")
        shown = [*self._shown()]
        outcomes = [outcome(row, self.cap) for row in shown]
        places = [_place(row) for row in shown]
        used = max(map(len, outcomes), default=0) + 2 + max(map(len, places), default=0)
        for_name = _WIDE if wide else max(_LEAST_NAME, options.max_width - used - (_FEW if narrow else _FIGURES))
        for row, told, place in zip(shown, outcomes, places, strict=True):
            is_packed = row["outcome"] == "packed"
            style = "" if is_packed else "dim"
            cells = [
                Text(str(row["rank"] or ""), style="dim"),
                *([] if narrow else [Text(number(row[name]), style=style) for name in ("density", "weight")]),
                Text(f"{row['tokens']:,}", style=style),
                Text(told, style="green" if is_packed else style),
            ]
            cells += [Text(_found_by(row), style="dim")] if wide else []
            drawn.add_row(*cells, place.append(_shortened(row, for_name)))
        yield drawn
        hidden = len(self.rows) - len(shown) + self.left_out
        if hidden:
            yield Text(f"… {hidden:,} more that are not in the plan; --json has them", style="dim")

    def _shown(self) -> Iterator[Json]:
        others = 0
        for row in self.rows:
            others += row["outcome"] != "packed"
            if row["outcome"] == "packed" or others <= self.most:
                yield row


def _place(row: Json) -> Text:
    span = row["span"]
    place = Text(f"[{span['start']}:{span['end']}] ", style="cyan")
    return place if row["class"] == "truth" else place.append(f"{row['class']} ", style="default")


def _shortened(row: Json, cells: int) -> Text:
    """The name of the source; of a long one the end, since that is what tells paths apart."""
    name = safe(row.get("sourceName") or row["span"]["sourceId"]).plain
    if cell_len(name) > cells:
        while cell_len(name) > cells - 1:
            name = name[1:]
        name = f"…{name}"
    return Text(name, style="default")


def _found_by(row: Json) -> str:
    score = row.get("score") or {}
    found = [f"{_LEGS.get(leg['leg'], leg['leg'])} {leg['rank']}" for leg in score.get("legs", ())]
    hops = score.get("hops", 0)
    return safe(", ".join(found)).plain or (f"{hops} {'hop' if hops == 1 else 'hops'}" if hops else "")


def _verdict(told: Json) -> Text:
    if any(row["outcome"] == "packed" for row in told["candidates"]):
        return Text("In the plan", style="bold green")
    if told["verdict"] == "unknown":
        return Text("Not known", style="bold yellow")
    return Text("Not in the plan", style="bold yellow")


def _node(node: Json) -> Text:
    line = safe(f"{node['type']} ")
    if "span" in node:
        line.append(f"[{node['span']['start']}:{node['span']['end']}] ", style="cyan")
    return line.append_text(safe(node["because"]))


def _indented(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _named(row: Json, names: Mapping[str, str]) -> Json:
    name = row.get("sourceName") or names.get(row["span"]["sourceId"])
    return {**row, "sourceName": name} if name else row
