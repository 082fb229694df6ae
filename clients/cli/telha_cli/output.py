"""
Where an answer goes: to a program as JSON, or to a person as `render` and `tables` draw it.

Rule 1: into a pipe or a file every line is whole, however long: `grep` and `cut` read lines. `COLUMNS` says otherwise.
Rule 2: for an output that is not UTF-8 bars and dots become ASCII, and what it cannot write an escape, never an error.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .escapes import escaped

if TYPE_CHECKING:
    from rich.console import RenderableType

Json = Mapping[str, Any]

_WHOLE = 1_000_000
"""Cells of a line that is not wrapped; no line of an answer is longer."""
_PLAIN = str.maketrans(
    {"█": "#", "░": ".", "│": "|", "→": "->", "−": "-", "·": "-", "…": "...", "“": '"', "”": '"', "✓": "+"}
)


def show_text(text: str, about: "RenderableType") -> None:
    """Print *text* alone and byte for byte into a pipe or file; to a terminal harmless, unwrapped, below *about*."""
    if sys.stdout.isatty():
        from . import render

        render.console().print(about)
        text = f"\n{render.safe(text).plain}\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def show(answer: Json, drawn: "Callable[[Json], RenderableType]", *, as_json: bool) -> None:
    """Print *answer* as JSON, or as *drawn*."""
    if as_json:
        sys.stdout.write(escaped(json.dumps(answer, ensure_ascii=not _utf8(), indent=2, allow_nan=False)) + "\n")
        return
    _draw(drawn(answer))


def _draw(what: "RenderableType") -> None:
    from rich.console import Console

    from . import render

    out = sys.stdout
    wraps = out.isatty() or "COLUMNS" in os.environ
    console = render.console() if wraps else Console(file=out, width=_WHOLE, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(what)
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    if not _utf8():
        text = text.translate(_PLAIN).encode(out.encoding, "backslashreplace").decode(out.encoding)
    out.write(text)


def _utf8() -> bool:
    return sys.stdout.encoding.lower().replace("-", "") == "utf8"
