"""
The calls of a load: what is asked, made from a seed and a number alone.

Rule: every attempt of a call carries a mark of its own, in the question or in the pool's source ids, so that a trace in
the store tells which attempt made it. No document holds a mark, so marks change neither pool nor scores.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from telha_client import Document

KINDS = {"plan": 30, "context": 26, "select": 12, "barren": 7, "ingest": 7, "query": 6, "read": 12}
"""Kinds of calls and their shares. `barren` finds no evidence; `read` is `Traces.Get` of what was answered before."""

TRACED = ("plan", "context", "select", "barren")
"""Kinds that leave a trace."""

_MARK = re.compile(r"\bzq\d+x\d+y\d+\b")
_PLACES = (
    "harbour",
    "island",
    "market",
    "station",
    "bridge",
    "tower",
    "夜市",
    "港口",
    "תחנה",
    "praça",
    "estação",
    "quay",
)
_THINGS = ("tram", "ferry", "cable car", "bus", "lift", "电车", "渡轮", "חשמלית", "bonde", "elétrico", "🚡 gondola")
_DEEDS = ("leaves at", "stops at", "waits until", "is repaired at", "closes after", "开往", "停于", "עוצרת ב")
_SOURCES = 48
_NOTEBOOKS = 12
_LONGEST_SELECT = 12


@dataclass(frozen=True, slots=True)
class Call:
    """
    One call of the load.

    Attributes:
        number: From 0.
        kind: One of `KINDS`.
        rest: Whether it goes over REST; else over gRPC.
        body: The request as REST spells it, without a mark.
    """

    seed: int
    number: int
    kind: str
    rest: bool
    body: Mapping[str, Any]

    def mark(self, attempt: int) -> str:
        """The mark of one attempt, from 1."""
        return f"zq{self.seed}x{self.number}y{attempt}"

    def marked(self, mark: str, window: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The body to send with *mark*; asked as of *window* if that is given."""
        body = dict(self.body)
        if "question" in body:
            body["question"] = f"{body['question']} {mark}".strip()
        if self.kind == "select":
            pool = body["pool"]
            body["pool"] = [entry | {"span": _place(mark, at, entry["text"])} for at, entry in enumerate(pool)]
        if window is not None:
            body["window"] = dict(window)
        return body


def call(seed: int, number: int) -> Call:
    """The call *number* of the load *seed*."""
    dice = random.Random(f"{seed}/{number}")
    kind = dice.choices([*KINDS], [*KINDS.values()])[0]
    make = {"plan": _reading, "context": _reading, "select": _select, "barren": _barren, "ingest": _ingest}
    body = make[kind](dice, seed, number) if kind in make else _query(dice) if kind == "query" else {}
    return Call(seed, number, kind, dice.random() < 0.35, body)


def mark_in(question: str) -> str | None:
    """The mark that a question carries."""
    found = _MARK.search(question)
    return found.group() if found else None


def pool_source(mark: str) -> str:
    """The source id of the first fragment of a Select with *mark*."""
    return str(uuid5(NAMESPACE_URL, f"{mark}/0"))


def note(number: int) -> str:
    """What the text of the ingest *number* holds and no other."""
    return f"Notation {number:06d}."


def corpus(seed: int) -> list[Document]:
    """What memory holds before the load begins."""
    dice = random.Random(f"{seed}/corpus")
    return [
        Document(
            name=f"guide-{number}.md",
            uri=f"memo:guide-{number}",
            media_type="text/markdown",
            content=_document(dice, f"Guide {number}", 5),
        )
        for number in range(_SOURCES)
    ]


def _document(dice: random.Random, title: str, sections: int) -> str:
    parts = [f"# {title}\n"]
    for section in range(sections):
        parts.append(f"## Part {section}: {dice.choice(_PLACES)}\n")
        parts.extend(f"{' '.join(_sentence(dice) for _ in range(dice.randint(2, 5)))}\n" for _ in range(3))
    return "\n".join(parts)


def _sentence(dice: random.Random) -> str:
    return f"The {dice.choice(_THINGS)} near the {dice.choice(_PLACES)} {dice.choice(_DEEDS)} {dice.randint(0, 23)}."


def _budget(dice: random.Random) -> dict[str, int]:
    spans = {"maxSpans": dice.randint(1, 12)} if dice.random() < 0.3 else {}
    return {"maxTokens": dice.choice((120, 300, 800, 1500)), **spans}


def _reading(dice: random.Random, _seed: int, _number: int) -> dict[str, Any]:
    question = f"which {dice.choice(_THINGS)} {dice.choice(_DEEDS)} {dice.choice(_PLACES)}?"
    body = {"question": question, "budget": _budget(dice)}
    return body | ({"expandDepth": dice.randint(0, 2)} if dice.random() < 0.4 else {})


def _barren(_dice: random.Random, _seed: int, _number: int) -> dict[str, Any]:
    return {"question": ""}  # the mark alone, which no document holds


def _select(dice: random.Random, _seed: int, _number: int) -> dict[str, Any]:
    scored = dice.random() < 0.5
    pool = [
        {"kind": dice.choice(("paragraph", "heading", "code")), "text": _sentence(dice)}
        | ({"score": dice.random()} if scored else {})
        for _ in range(dice.randint(1, _LONGEST_SELECT))
    ]
    # Without a word in common a question would find nothing.
    asked = {} if scored else {"question": f"the {dice.choice(_PLACES)} near"}
    return {"pool": pool, "budget": _budget(dice), **asked}


def _ingest(dice: random.Random, _seed: int, number: int) -> dict[str, Any]:
    place = f"memo:notebook-{dice.randrange(_NOTEBOOKS)}" if dice.random() < 0.5 else f"memo:note-{number}"
    text = f"{_document(dice, place, 1)}\n{note(number)}\n"
    return {"documents": [{"name": f"{place[5:]}.md", "uri": place, "mediaType": "text/markdown", "text": text}]}


def _query(dice: random.Random) -> dict[str, Any]:
    return {"find": "passage", "where": {"path": {"contains": f"Part {dice.randrange(5)}"}}, "pageSize": 20}


def _place(mark: str, at: int, text: str) -> dict[str, Any]:
    source = UUID(pool_source(mark)) if at == 0 else uuid5(NAMESPACE_URL, f"{mark}/{at}")
    return {"sourceId": str(source), "sourceVersionTx": 1_700_000_000_000_000, "start": 0, "end": len(text.encode())}
