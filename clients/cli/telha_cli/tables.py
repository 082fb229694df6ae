"""Lists and receipts as a person reads them: keys, sources, traces, what ingestion did. A view of the JSON."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from .render import instant, rows, safe

Json = Mapping[str, Any]


def new_key(answer: Json) -> RenderableType:
    """A key just made, with the warning that it is shown once."""
    lines = Text(answer["key"], style="bold", overflow="fold")
    lines.append("\nKeep it: it is not stored and cannot be shown again.", style="dim not bold")
    return lines


def key_list(answer: Json) -> RenderableType:
    """Keys without their secrets."""
    return rows(
        ("id", "tenant", "rights", "spaces", "state", "name"),
        [
            (
                key["keyId"],
                key["tenant"],
                ",".join(key["rights"]),
                ",".join(key.get("spaces") or ()) or "all",
                "revoked" if key.get("revoked") else "active",
                key["name"],
            )
            for key in answer["keys"]
        ],
    )


def ingested(answer: Json) -> RenderableType:
    """What became of each path, and the sum."""
    documents, skipped, refused = answer["documents"], answer["skipped"], answer["refused"]
    parts: list[RenderableType] = []
    if documents:
        lines = [(document["outcome"], str(document["spans"]), document["name"]) for document in documents]
        parts.append(rows(("", "spans", "document"), lines))
    parts += [_left_out("skipped", each, "dim") for each in skipped]
    parts += [_left_out("refused", each, "red") for each in refused]
    counts = Counter(document["outcome"] for document in documents)
    told = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    told += [f"{len(paths)} {word}" for word, paths in (("skipped", skipped), ("refused", refused)) if paths]
    parts.append(Text(", ".join(told) or "nothing to ingest", style="bold"))
    return Group(*parts)


def traces(answer: Json) -> RenderableType:
    """Traces, newest first."""
    return rows(
        ("trace", "recorded", "kind", "tokens"),
        [
            (
                trace["traceId"],
                instant(trace["recorded"])[:19],
                trace["kind"],
                f"{trace['used']}/{trace['budget']}",
            )
            for trace in answer["traces"]
        ],
    )


def trace(answer: Json) -> RenderableType:
    """One trace: what every trace has, then the record."""
    head = _facts(answer, left_out="record")
    record = json.dumps(answer["record"], ensure_ascii=False, indent=2)
    return Group(head, Padding(safe(record), (1, 0, 0, 0)))


def sources(answer: Json) -> RenderableType:
    """Sources by id."""
    return rows(
        ("source", "space", "bytes", "name"),
        [
            (source["sourceId"], source["space"], f"{source['length']:,}", source["name"])
            for source in answer["sources"]
        ],
    )


def source(answer: Json) -> RenderableType:
    """One source, with its text if it was asked for."""
    head = _facts(answer, left_out="text")
    return Group(head, Padding(safe(answer["text"]), (1, 0, 0, 0))) if answer.get("text") is not None else head


def erased(answer: Json) -> RenderableType:
    """The receipt of an erasure."""
    return _facts(answer, left_out="")


def _facts(answer: Json, left_out: str) -> RenderableType:
    flat: dict[str, Any] = {}
    for name, value in answer.items():
        if name != left_out:
            flat |= value if isinstance(value, Mapping) else {name: value}
    width = max(map(len, flat), default=0)
    lines = Text()
    for name, value in flat.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        lines.append(f"{name:<{width}}  ", style="dim").append(safe(shown)).append("\n")
    lines.right_crop(1)
    return lines


def _left_out(word: str, each: Json, style: str) -> RenderableType:
    return Text(f"{word}  ", style=style).append(safe(f"{each['path']}: {each['reason']}"))
