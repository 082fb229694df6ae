"""
A trace as a person reads it: what was asked, where the budget went, how candidates became a plan, and each of them.

It is drawn from the record alone (docs/trace-record.md), but for names of sources and what a replay adds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from . import bars, recorded, render_explanation
from .render import instant, safe

Json = Mapping[str, Any]

_WIDEST = 100
"""Cells of the widest bar with its figures: on a wide screen, and in a file, it need not be longer."""
_LEAST_BAR, _LEAST_NAME = 6, 12
_LABEL = 10
_MOST_SOURCES = 12
_OUTCOMES = (
    ("budgetSkipped", "did not fit what was left"),
    ("capSkipped", "over the source cap"),
    ("spanLimitSkipped", "over the span limit"),
    ("unpackable", "larger than the budget"),
)


def trace(answer: Json) -> RenderableType:
    """
    All of a trace.

    Args:
        answer: As `telha trace show --json` prints it.
    """
    record, names = answer["record"], {each["sourceId"]: each["name"] for each in answer["sources"] if "name" in each}
    parts: list[RenderableType] = [_asked(answer), _spaced(_Budget(answer, record, names))]
    flow = _flow(record.get("stats") or {})
    if flow:
        parts.append(_spaced(flow))
    stranded = _stranded(answer, record)
    if stranded is not None:
        parts.append(_spaced(stranded))
    parts.append(_spaced(_spans(answer, record, names)))
    if answer.get("replay", {}).get("outcome", "identical") != "identical":
        parts.append(_spaced(_another(answer["replay"], of_memory=answer["kind"] != "select")))
    parts.append(_proof(answer))
    return Group(*parts)


def _asked(answer: Json) -> RenderableType:
    record = answer["record"]
    request, window = record.get("request") or {}, record.get("window") or {}
    query = request.get("query") or {}
    facts = {
        "question": request.get("question"),
        "find": query.get("find"),
        "spaces": ", ".join(answer["spaces"]) or None,
        "true": _instant(window.get("validTime")),
        "known": _instant(window.get("txTime")),
        "recorded": f"{instant(answer['recorded'])} ({answer['kind']})",
        "error": record.get("error"),
    }
    return _lines([(name, safe(value)) for name, value in facts.items() if value])


@dataclass(frozen=True, slots=True)
class _Budget:
    """Where the budget went: a bar for each source, the mark of what one may take, and what is left."""

    answer: Json
    record: Json
    names: Mapping[str, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console  # the width is all that counts
        applied, used = self.answer["budget"], self.answer["used"]
        cap = recorded.source_cap(self.record)
        head = Text(f"{used:,} of {applied:,} tokens used", style="bold")
        requested = int((self.record.get("budget") or {}).get("requested") or applied)
        head.append("" if requested == applied else f" ({requested:,} asked)")
        if cap is not None:
            head.append(f"; one source may take {cap:,} ({bars.LIMIT})", style="not bold")
        yield head
        spent = recorded.spent(self.record)
        lines = [(tokens, self.names.get(source, source)) for source, _version, tokens in spent[:_MOST_SOURCES]]
        others = [tokens for _source, _version, tokens in spent[_MOST_SOURCES:]]
        if others:
            lines.append((sum(others), f"{len(others)} more sources"))
        width = min(options.max_width, _WIDEST)
        names = [safe(name).plain for _, name in lines]
        longest = max(map(cell_len, [*names, "unused"]))
        for_name = max(_LEAST_NAME, min(longest, width // 3))
        cells = max(_LEAST_BAR, width - len(_figures(applied, applied)) - for_name - (cap is not None))
        for (tokens, _name), name in zip(lines, names, strict=True):
            drawn = Text().append(bars.bar(tokens, applied, cells, cap), style="green")
            yield drawn.append(_figures(tokens, applied)).append(_cut(name, for_name))
        left = max(0, applied - used)
        gap = "" if cap is None else " "
        yield Text(bars.bar(left, applied, cells) + gap + _figures(left, applied) + "unused", style="dim")


def _figures(tokens: int, applied: int) -> str:
    share = 100 * tokens / applied if applied else 0.0
    return f"  {tokens:>{len(f'{applied:,}')},}  {share:>5.1f} %  "


def _cut(name: str, cells: int) -> str:
    return name if cell_len(name) <= cells else set_cell_size(name, cells - 1).rstrip() + "…"


def _flow(stats: Json) -> RenderableType | None:
    """The way from what the legs found to what was packed; None where the record counts nothing."""
    if "poolSpans" not in stats:
        return None
    steps: list[tuple[str, str]] = []
    recall = stats.get("recall") or {}
    legs = recall.get("legs") or {}
    words = (("query", "by the query"), ("vector", "by meaning"), ("lexical", "by words"), ("traversal", "over edges"))
    if recall:
        found = " · ".join(f"{legs[name]:,} {word}" for name, word in words if legs.get(name)) or "nothing"
        skipped = recall.get("vectorLegSkipped")
        steps.append(("found", found + (f"; not by meaning: {skipped}" if skipped else "")))
        steps.append(("→ nodes", _nodes(recall) + _but(_left_by_recall(recall))))
    pool, deduped, selected = stats["poolSpans"], stats["deduped"], stats["selectedSpans"]
    steps.append(("→ spans", f"{pool:,} {'candidate' if pool == 1 else 'candidates'}"))
    repeats = f"{deduped:,} that {'repeats' if deduped == 1 else 'repeat'} a heavier span"
    steps.append(("→ distinct", f"{pool - deduped:,}" + _but([repeats] if deduped else [])))
    out = [f"{stats[name]:,} {word}" for name, word in _OUTCOMES if stats.get(name)]
    steps.append(("→ packed", f"{selected:,}" + _but(out)))
    share = stats.get("weightShare")
    if share is not None and float(share) < 1:
        # Rounded down: 100 % is said of nothing less.
        steps.append(("weight", f"{math.floor(float(share) * 1000) / 10:.1f} % of an upper bound of what fits"))
    return _lines([(name, safe(told)) for name, told in steps])


def _nodes(recall: Json) -> str:
    # What scored 0 is not among the nodes, so it is not taken from their number.
    zero = recall.get("zeroScore")
    return f"{recall.get('nodes', 0):,}" + (f" ({zero:,} more scored 0)" if zero else "")


def _left_by_recall(recall: Json) -> list[str]:
    floor = f"below the floor of {float(recall.get('minSimilarity', 0)):g}"
    words = (
        ("belowFloor", floor),
        ("poolCapped", "beyond the 2,000 that a pool holds"),
        ("nodesWithoutSpans", "without a span to cite"),
    )
    return [f"{recall[name]:,} {word}" for name, word in words if recall.get(name)]


def _but(left_out: Sequence[str]) -> str:
    return f"; left out: {', '.join(left_out)}" if left_out else ""


def _stranded(answer: Json, record: Json) -> RenderableType | None:
    stranded = answer["stranded"]
    if not stranded:
        return None
    budget = record.get("budget") or {}
    cap, share = recorded.source_cap(record), budget.get("maxFracPerSource")
    rule = (
        ""
        if cap is None or share is None
        else f" the {cap:,} tokens ({float(share) * 100:g} %) that one source may take"
    )
    words = (
        f"{stranded:,} tokens are stranded: spans that still fitted were turned away because their sources would "
        f"have exceeded{rule or ' what one source may take'}. A larger --max-frac-per-source, or a larger "
        "--max-tokens, lets more of these sources in."
    )
    return Text(words, style="yellow")


def _spans(answer: Json, record: Json, names: Mapping[str, str]) -> RenderableType:
    explained = answer.get("explanation")
    if explained is not None:
        of_memory = answer["kind"] != "select"
        return render_explanation.explanation({"subjects": [], **explained}, names, of_memory=of_memory)
    rows = recorded.packed(record)
    parts: list[RenderableType] = []
    if rows:
        parts += [Text(f"{len(rows):,} packed, by density", style="bold"), render_explanation.table(rows, names)]
    else:
        parts.append(Text("No span was packed.", style="italic"))
    if "replay" not in answer:
        parts.append(Text("--explain makes the plan anew and shows what was left out of it.", style="dim"))
    return Group(*parts)


def _another(replay: Json, *, of_memory: bool) -> RenderableType:
    """That the plan made anew is another one, and, apart from the recorded one, why not what was asked about."""
    # What was left out of another plan says nothing about this one.
    words = f"Made anew, the plan is another one ({replay['outcome']}), so that what it leaves out is not shown: "
    parts: list[RenderableType] = [Text(words, style="yellow").append_text(safe(replay["because"]))]
    anew = replay.get("ofAnotherPlan")
    if anew is not None:
        lost = [f"{source['sourceId']} erased at {instant(source['erased'])}" for source in replay.get("erased", ())]
        of = "Of the plan as it would be made now, which is not the recorded one" + "".join(
            f"; {each}" for each in lost
        )
        parts.append(_spaced(Text(f"{of}:", style="bold yellow")))
        cap = anew["sourceCap"]
        parts += [_indented(render_explanation.subject(each, cap, hint=of_memory)) for each in anew["subjects"]]
    return Group(*parts)


def _indented(what: RenderableType) -> RenderableType:
    return Padding(what, (0, 0, 0, 2), expand=False)


def _proof(answer: Json) -> RenderableType:
    words = {
        True: ("verified: the record, hashed anew here, gives the same", "green"),
        False: ("NOT VERIFIED: the record, hashed anew here, gives another", "bold red"),
        None: ("cannot be verified: the record does not hold what the hash covers", "yellow"),
    }
    told, style = words[answer["verified"]]
    plan = Text(answer.get("planHash") or "none", style="magenta")
    lines = [("plan", plan), ("", Text(told, style=style))]
    if answer.get("replay", {}).get("outcome") == "identical":
        lines.append(("", Text("made anew at the same instants, it is the same plan", style="green")))
    lines.append(("trace", Text(answer["traceId"], style="magenta")))
    return _spaced(_lines(lines))


def _lines(pairs: Sequence[tuple[str, Text]]) -> RenderableType:
    """Values, each behind what it is; a long one goes on below itself."""
    drawn = Table.grid(padding=(0, 1, 0, 0))
    drawn.add_column(style="dim", no_wrap=True, min_width=_LABEL)
    drawn.add_column(overflow="fold")
    for name, value in pairs:
        drawn.add_row(name, value)
    return drawn


def _instant(value: int | str | None) -> str | None:
    return None if value is None else f"at {instant(value)}"


def _spaced(what: RenderableType) -> RenderableType:
    return Padding(what, (1, 0, 0, 0), expand=False)
