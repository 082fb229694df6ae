"""Replays and differences as a person reads them: first the outcome in words, then what differs."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from .render import instant, rows, safe

Json = Mapping[str, Any]

_DIGITS, _MOST = 4, 17
"""Significant digits of a weight; those that tell any two of them apart."""
_STYLES = {"identical": "bold green", "changed": "bold yellow", "erased": "bold red"}


def replay(answer: Json) -> RenderableType:
    """The outcome of a replay, what was erased, and the difference."""
    recorded, outcome = answer["recorded"], answer["outcome"]
    head = Text(outcome, style=_STYLES.get(outcome, "bold"))
    head.append(f"  {recorded['kind']} of {instant(recorded['recorded'])}", style="not bold dim")
    parts: list[RenderableType] = [head, safe(answer["difference"]["because"])]
    parts += [
        Text(f"erased at {instant(source['erased'])}: ", style="red").append(
            f"source {source['sourceId']}, with {source['spans']} of the recorded spans", style="not red"
        )
        for source in answer["erased"]
    ]
    parts += [*_inputs(answer["difference"]), *_spans(answer["difference"])]
    hashes = [("recorded", recorded["planHash"]), ("now", answer["plan"]["planHash"])]
    parts.append(Padding(rows(("", ""), hashes), (1, 0, 0, 0)))
    return Group(*parts)


def difference(answer: Json) -> RenderableType:
    """How one trace differs from another."""
    found = answer["difference"]
    parts: list[RenderableType] = [safe(found["because"]), *_inputs(found), *_spans(found)]
    lines = [
        (word, side["kind"], instant(side["recorded"]), f"{side['used']}/{side['budget']}", side["planHash"])
        for word, side in (("before", answer["before"]), ("after", answer["after"]))
    ]
    parts.append(Padding(rows(("", "kind", "recorded", "tokens", "plan"), lines), (1, 0, 0, 0)))
    return Group(*parts)


def _inputs(found: Json) -> Iterator[RenderableType]:
    if found["changes"]:
        lines = [
            (change["input"].replace("_", " "), change.get("before", "not told"), change.get("after", "not told"))
            for change in found["changes"]
        ]
        yield Padding(rows(("input", "before", "after"), lines), (1, 0, 0, 0))


def _spans(found: Json) -> Iterator[RenderableType]:
    lines = [(word, _weight(span["weight"]), *_facts(span)) for word in ("gone", "new") for span in found[word]]
    for both in found["reweighed"]:
        before, after = both["before"], both["after"]
        digits = _telling(before["weight"], after["weight"])
        lines += [
            (word, _weight(span["weight"], digits), *_facts(span))
            for word, span in (("before", before), ("after", after))
        ]
    if lines:
        yield Padding(rows(("", "weight", "tokens", "kind", "span"), lines), (1, 0, 0, 0))


def _weight(weight: float, digits: int = _DIGITS) -> str:
    return f"{weight:#.{digits}g}".removesuffix(".")


def _telling(one: float, other: float) -> int:
    """The least significant digits, `_DIGITS` or more, that tell *one* weight from *other*."""
    return next((digits for digits in range(_DIGITS, _MOST) if _weight(one, digits) != _weight(other, digits)), _MOST)


def _facts(held: Json) -> tuple[str, str, str]:
    place = held["span"]
    source = held.get("sourceName") or place["sourceId"]
    where = f"{source} @{place['sourceVersionTx']} [{place['start']}:{place['end']}]"
    return str(held["tokens"]), held["kind"], where
