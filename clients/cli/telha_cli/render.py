"""
Answers as a person reads them, at 80 columns and more.

Everything here is a view of the JSON that `--json` prints, so the two cannot tell different stories.
Rule 1: text from memory is data. It is never read as markup, and its control characters are shown, not obeyed.
Rule 2: widths are counted in terminal cells, so that CJK and emoji stay aligned (rich does it).
"""

import math
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from . import bars, instants

Json = Mapping[str, Any]

_BAR_CELLS = 30
_EXCERPT_LINES = 4
_ID_CELLS = 36
_POOR = 0.5
"""Share of the bound on what fits below which a plan that a cap left room in is worth another try."""
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_OUTCOMES = (
    ("selectedSpans", "packed"),
    ("deduped", "duplicate"),
    ("budgetSkipped", "over budget"),
    ("capSkipped", "over source cap"),
    ("spanLimitSkipped", "over span limit"),
    ("unpackable", "too large"),
)


def console(*, error: bool = False) -> Console:
    """A console on standard output (or error) that honours NO_COLOR and the terminal's width."""
    return Console(file=sys.stderr if error else sys.stdout, highlight=False, markup=False, soft_wrap=False)


def context(answer: Json) -> RenderableType:
    """The answer of `memory context`: items by score, open questions, budget, proof."""
    stats = answer.get("stats") or {}
    plan = stats.get("plan") or {}
    parts: list[RenderableType] = [
        _items(answer["items"]) if answer["items"] else _why_empty(plan, "Nothing in memory is relevant.")
    ]
    if answer.get("openQuestions"):
        parts.append(_open_questions(answer["openQuestions"]))
    if stats:
        counts = {
            "poolSpans": stats.get("candidates", 0),
            "selectedSpans": plan.get("selectedSpans", len(answer["items"])),
            "deduped": stats.get("dedupDropped", 0),
            **{name: stats.get(name, 0) for name in ("capSkipped", "budgetSkipped", "unpackable", "spanLimitSkipped")},
        }
        parts += [_budget(stats["budget"], stats), _counts(counts)]
    parts += [_proof(answer), *_explained(answer), *_suggested(answer)]
    return Group(*parts)


def plan(answer: Json) -> RenderableType:
    """The answer of `plan` and `select`: spans in canonical order, budget, proof."""
    stats = answer["stats"]
    budget = {
        "requested": stats["requested"],
        "applied": stats["applied"],
        "used": answer["used"],
        "stranded": stats["budgetStrandedByCap"],
    }
    spans = _spans(answer["spans"]) if answer["spans"] else _why_empty(stats, "Nothing matches; the plan is empty.")
    return Group(
        spans, _budget(budget, stats), _counts(stats), _proof(answer), *_explained(answer), *_suggested(answer)
    )


def rows(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> RenderableType:
    """A plain table. What does not fit goes on in the next line, never away; an id in the first column stays in one."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, title in enumerate(titles):
        unbroken = index == 0 and all(cell_len(line[0]) <= _ID_CELLS for line in lines)
        table.add_column(title, overflow="fold", no_wrap=unbroken)
    for line in lines:
        table.add_row(*(safe(cell) for cell in line))
    return table


def safe(text: str) -> Text:
    """*text* with controls made visible: an escape sequence in a document must not reach the terminal."""
    shown = "".join(
        "�"
        if character in _BIDI_CONTROLS or (unicodedata.category(character) == "Cc" and character != "\n")
        else character
        for character in text.replace("\r\n", "\n").replace("\t", "    ")
    )
    return Text(shown)


def number(score: float) -> str:
    """*score* with three significant digits."""
    return f"{score:#.3g}".removesuffix(".")


def instant(value: int | str) -> str:
    """An instant as the server sent it: µs since 1970 UTC become RFC 3339."""
    return instants.show(value) if isinstance(value, int) else value


def second(value: int | str) -> str:
    """An instant in a table, to the second."""
    return instants.show(value, to_the_second=True) if isinstance(value, int) else value


def _explained(answer: Json) -> list[RenderableType]:
    from . import render_explanation

    told = answer.get("explanation")
    return [] if told is None else [Text(""), render_explanation.explanation(told, of_memory="window" in answer)]


def _suggested(answer: Json) -> list[RenderableType]:
    from . import render_suggestion

    told = answer.get("suggestion")
    return [] if told is None else [Text(""), render_suggestion.suggestion(told)]


def _why_empty(stats: Json, without_pool: str) -> RenderableType:
    """Why nothing was packed: recall found nothing, or each span that it found is larger than a limit."""
    pool, applied = stats.get("poolSpans", 0), stats.get("applied", 0)
    if not pool:
        given = (stats.get("recall") or {}).get("excluded")
        return Text("There is nothing new: it was given before." if given else without_pool, style="italic")
    reasons = []

    def larger(count: int) -> str:
        return f"{count:,} {'is' if count == 1 else 'are'} larger than"

    if stats.get("unpackable"):
        reasons.append(f"{larger(stats['unpackable'])} the budget of {applied:,} tokens: raise --max-tokens")
    if stats.get("capSkipped"):
        cap = math.floor(applied * stats["maxFracPerSource"])
        share = f"{cap:,} of {applied:,} tokens that one source may take"
        reasons.append(f"{larger(stats['capSkipped'])} the {share}: raise --max-tokens or --max-frac-per-source")
    found = "1 span matches, and it does not fit" if pool == 1 else f"{pool:,} spans match, and none fits"
    lines = Text(found + (":" if reasons else "."), style="italic")
    for reason in reasons:
        lines.append(f"\n  {reason}")
    return lines


def _items(items: Sequence[Json]) -> RenderableType:
    table = _evidence_table("score")
    for index, item in enumerate(items, start=1):
        source = item["source"]
        head = safe(source.get("name") or "unnamed").append(_item_facts(item), style="dim")
        pending = item.get("pendingClarification")
        if pending:
            head.append(f"  {pending['state']}", style="bold yellow")
        score = item.get("score")
        table.add_row(str(index), "" if score is None else number(score), _evidence(head, source, item["text"]))
    return table


def _spans(spans: Sequence[Json]) -> RenderableType:
    table = _evidence_table("weight")
    for index, span in enumerate(spans, start=1):
        head = Text(f"{span['kind']} · {span['class']} · {span['tokens']} tokens", style="dim")
        table.add_row(str(index), number(span["weight"]), _evidence(head, span["span"], span.get("text") or ""))
    return table


def _evidence_table(score: str) -> Table:
    # Narrow margins: a coordinate of five-digit offsets must fit one line of 80 columns.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 1, 0))
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column(score, justify="right", style="bold", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    return table


def _item_facts(item: Json) -> str:
    facts = [item["kind"]]
    if item["class"] != "truth":
        facts.append(item["class"])
    valid = item.get("validTime")
    if valid and valid.get("start") is not None:
        end = valid.get("end")
        facts.append(f"true from {second(valid['start'])}" + (f" to {second(end)}" if end is not None else ""))
    return "".join(f" · {fact}" for fact in facts)


def _evidence(head: Text, where: Json, text: str) -> RenderableType:
    place = f"{where['sourceId']} @{where['sourceVersionTx']} [{where['start']}:{where['end']}]"
    lines = safe(text).plain.strip("\n").split("\n")
    excerpt = Text("\n".join(lines[:_EXCERPT_LINES]))
    if len(lines) > _EXCERPT_LINES:
        excerpt.append(f"\n… {len(lines) - _EXCERPT_LINES} more lines", style="dim")
    return Group(head, Text(place, style="cyan"), excerpt)


def _open_questions(questions: Sequence[Json]) -> RenderableType:
    lines = Text("Open questions", style="bold")
    for question in questions:
        lines.append(f"\n  {question['state']}: ", style="yellow")
        lines.append(safe(question["question"]))
    return Padding(lines, (0, 0, 1, 0), expand=False)


def _budget(budget: Json, stats: Json) -> RenderableType:
    applied, used = budget["applied"], budget["used"]
    line = Text("budget  ", style="dim")
    full, empty = bars.halves(used, applied, _BAR_CELLS)
    line.append(full, style="green").append(empty, style="dim")
    line.append(f"  {used:,} of {applied:,} tokens", style="not dim")
    notes = [f"asked {budget['requested']:,}"] if budget["requested"] != applied else []
    if budget.get("stranded"):
        notes.append(f"{budget['stranded']:,} stranded by the source cap")
    notes.append("estimated" if stats.get("tokenEstimate") else str(stats.get("tokenizer", "")))
    line.append("\n        " + ", ".join(note for note in notes if note), style="dim")
    share = (stats.get("plan") or stats).get("weightShare", 1)
    if share < 1:
        # Rounded down: 100 % is said of nothing less.
        line.append("\nweight  ", style="dim").append(
            f"{math.floor(share * 1000) / 10:.1f} % of an upper bound of what fits"
        )
        if share < _POOR and budget.get("stranded"):
            line.append("\n        raise --max-tokens or --max-frac-per-source", style="yellow not dim")
    skipped = stats.get("vectorLegSkipped") or (stats.get("recall") or {}).get("vectorLegSkipped")
    if skipped:
        line.append("\nrecall  ", style="dim").append(f"not by meaning: {safe(skipped).plain}", style="yellow not dim")
    recall = (stats.get("plan") or stats).get("recall") or {}
    if recall.get("belowFloor"):
        floor, best = recall["minSimilarity"], recall["bestEvidence"]
        line.append("\nfloor   ", style="dim").append(f"{recall['belowFloor']:,} found and left out as no evidence")
        line.append(f" (best {best:.2f}, floor {floor:g})", style="dim")
    if recall.get("excluded"):
        line.append("\nexclude ", style="dim").append(f"{recall['excluded']:,} found and left out as given before")
    return line


def _counts(stats: Json) -> RenderableType:
    told = [f"{stats.get(name, 0):,} {word}" for name, word in _OUTCOMES if stats.get(name) or name == "selectedSpans"]
    return Text(f"pool    {stats.get('poolSpans', 0):,} spans = {' + '.join(told)}", style="dim")


def _proof(answer: Json) -> RenderableType:
    lines = Text("plan    ", style="dim").append(answer["planHash"], style="magenta not dim")
    if answer.get("traceId"):
        lines.append("\ntrace   ", style="dim").append(answer["traceId"], style="magenta not dim")
    window = answer.get("window")
    if window:
        lines.append(f"\ntrue    at {instant(window['validTime'])}", style="dim")
        lines.append(f"\nknown   at {instant(window['txTime'])}", style="dim")
    return lines
