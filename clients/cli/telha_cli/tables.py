"""Lists and receipts as a person reads them: sources, traces, what ingestion did. A view of the JSON."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from .documents import OTHER_ENDING
from .migrate import sentence
from .render import instant, rows, safe, second

Json = Mapping[str, Any]

_INSTANTS = ("validFrom", "txTime")
_MOST_ENDINGS = 5
"""Endings that the line about files of other kinds names."""


def ingested(answer: Json) -> RenderableType:
    """What became of each path, and the sum."""
    documents, skipped, refused = answer["documents"], answer["skipped"], answer["refused"]
    parts: list[RenderableType] = []
    if documents:
        lines = [(document["outcome"], str(document["spans"]), document["name"]) for document in documents]
        parts.append(rows(("", "spans", "document"), lines))
    parts += [_left_out("skipped", each, "dim") for each in skipped if each["reason"] != OTHER_ENDING]
    parts += _of_other_endings([each["path"] for each in skipped if each["reason"] == OTHER_ENDING])
    parts += [_left_out("refused", each, "red") for each in refused]
    counts = Counter(document["outcome"] for document in documents)
    told = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    told += [f"{len(paths)} {word}" for word, paths in (("skipped", skipped), ("refused", refused)) if paths]
    parts.append(Text(", ".join(told) or "nothing to ingest", style="bold"))
    replayed = sum(bool(document.get("replayed")) for document in documents)
    if replayed:
        words = "the answer of an earlier call under this idempotency key; nothing was written again"
        parts.append(Text(f"{replayed} replayed: {words}", style="yellow"))
    return Group(*parts)


def records(answer: Json) -> RenderableType:
    """What each line wrote, and the sum."""
    kinds = ("nodes", "edges", "clarifications", "artifacts")
    lines = [
        (" ".join(_counted(told[kind], kind) for kind in kinds if kind in told), told["line"])
        for told in answer["records"]
    ]
    counts = {kind: sum(told.get(kind, 0) for told in answer["records"]) for kind in kinds}
    summed = ", ".join(_counted(count, kind) for kind, count in counts.items() if count)
    return Group(rows(("written", "line"), lines), Text(summed or "nothing to write", style="bold"))


def traces(answer: Json, kind: str | None = None) -> RenderableType:
    """Traces, newest first; where there are none of the *kind* asked for, that is said."""
    if not answer["traces"]:
        return Text("no trace" if kind is None else f"no trace of kind {kind}")
    shown = rows(
        ("trace", "recorded", "kind", "tokens"),
        [
            (
                trace["traceId"],
                second(trace["recorded"]),
                trace["kind"],
                f"{trace['used']}/{trace['budget']}",
            )
            for trace in answer["traces"]
        ],
    )
    return _and_more(shown, answer)


def trace(answer: Json) -> RenderableType:
    """One trace as a person reads it: what was asked, as of when, within which budget, and what was given, in order."""
    record = answer["record"]
    asked, window, budget = record.get("request") or {}, record.get("window") or {}, record.get("budget") or {}
    read = answer["spaces"]
    used = f"{answer['used']:,} of {answer['budget']:,} tokens"
    notes = [f"asked {budget['requested']:,}"] if budget.get("requested", answer["budget"]) != answer["budget"] else []
    notes += [f"{answer['stranded']:,} stranded by the source cap"] if answer["stranded"] else []
    facts = {
        "trace": answer["traceId"],
        "kind": answer["kind"],
        "recorded": instant(answer["recorded"]),
        "question": asked.get("question"),
        "spaces": ", ".join(read) if read else None,
        "true": _at(window.get("validTime")),
        "known": _at(window.get("txTime")),
        "budget": ", ".join([used, *notes]),
        "plan": answer["planHash"],
        "error": record.get("error"),
    }
    parts: list[RenderableType] = [_facts({name: value for name, value in facts.items() if value is not None})]
    lost = {index + 1 for index in answer.get("erasedItems", ())}
    given = [
        (str(place), f"{source} @{version} [{start}:{end}]{' erased' if place in lost else ''}")
        for place, (source, version, start, end) in enumerate(record.get("item_coords") or (), start=1)
    ]
    parts.append(Padding(rows(("", "span"), given) if given else Text("no span was given"), (1, 0), expand=False))
    parts.append(Text(f"the whole record: telha trace get {answer['traceId']} --json", style="dim"))
    return Group(*parts)


def nodes(answer: Json) -> RenderableType:
    """Nodes by id: when each is true, whether a question about it is open, and its properties as JSON."""
    if not answer["nodes"]:
        return Text("No node satisfies this.", style="italic")
    parts: list[RenderableType] = []
    for node in answer["nodes"]:
        end = node.get("validTo")
        true = f"true from {second(node['validFrom'])}" + (f" to {second(end)}" if end is not None else "")
        head = Text(node["nodeId"], style="cyan").append(f" · {true}", style="dim not bold")
        parts += [head, Padding(_properties(node), (0, 0, 1, 2), expand=False)]
    return _and_more(Group(*parts), answer)


def _properties(node: Json) -> Text:
    told = safe(json.dumps(node["properties"], ensure_ascii=False))
    pending = node.get("pendingClarification")
    return Text(f"{pending['state']}  ", style="bold yellow").append(told) if pending else told


def sources(answer: Json) -> RenderableType:
    """Sources by id."""
    shown = rows(
        ("source", "space", "bytes", "name"),
        [
            (source["sourceId"], source["space"], f"{source['length']:,}", source["name"])
            for source in answer["sources"]
        ],
    )
    return _and_more(shown, answer)


def _and_more(shown: RenderableType, answer: Json) -> RenderableType:
    """*shown*, and that a list does not end there, where it does not."""
    if not answer.get("nextPageToken"):
        return shown
    return Group(shown, Text("There are more; see --limit and --page-token.", style="dim"))


def source(answer: Json) -> RenderableType:
    """One source, without its text."""
    return _facts({name: value for name, value in answer.items() if name != "text"})


def erased(answer: Json) -> RenderableType:
    """The receipt of an erasure."""
    return _facts({name: value for name, value in answer.items() if name != "replayed" or value})


def migrations(answer: Json) -> RenderableType:
    """What happened to each store."""
    return _facts({store["store"]: sentence(store) for store in answer["stores"]})


def facts(answer: Json) -> RenderableType:
    """An answer of a few values, one a line."""
    return _facts(answer)


def _at(value: int | str | None) -> str | None:
    return None if value is None else f"at {instant(value)}"


def _facts(facts: Json) -> RenderableType:
    width = max(map(len, facts), default=0)
    lines = Text()
    for name, value in facts.items():
        shown = instant(value) if name in _INSTANTS else str(value)
        lines.append(f"{name:<{width}}  ", style="dim").append(safe(shown)).append("\n")
    lines.right_crop(1)
    return lines


def _counted(count: int, kinds: str) -> str:
    return f"{count} {kinds.removesuffix('s') if count == 1 else kinds}"


def _of_other_endings(paths: Sequence[str]) -> list[RenderableType]:
    """One line for all files whose endings name no document: a folder may hold many, and they are alike."""
    if not paths:
        return []
    found = Counter(PurePosixPath(path).suffix.lower() or "no ending" for path in paths).most_common()
    told = [f"{count:,} {ending}" for ending, count in found[:_MOST_ENDINGS]]
    if len(found) > _MOST_ENDINGS:
        told.append(f"{sum(count for _, count in found[_MOST_ENDINGS:]):,} others")
    words = f"{_counted(len(paths), 'files')} that no ending tells to be text ({', '.join(told)}); --json lists them"
    return [Text("skipped  ", style="dim").append(safe(words))]


def _left_out(word: str, each: Json, style: str) -> RenderableType:
    return Text(f"{word}  ", style=style).append(safe(f"{each['path']}: {each['reason']}"))


def backup(answer: Json) -> RenderableType:
    """Which backup, of when, how large, and what was made of it."""
    stores = ", ".join(f"{store} at schema {schema}" for store, schema in answer["stores"].items())
    lines = [
        ("backup", answer["backup"]),
        ("made", second(instant(answer["madeUs"]))),
        ("holds", f"{answer['files']:,} files, {answer['bytes']:,} bytes; {stores}"),
    ]
    if "data" in answer:
        lines.append(("restored", answer["data"]))
    return rows(("", ""), lines)
