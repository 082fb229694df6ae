"""Where an answer goes: to a program as JSON, or to a person as `render` and `tables` draw it."""

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .escapes import escaped

if TYPE_CHECKING:
    from rich.console import RenderableType

Json = Mapping[str, Any]


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
        sys.stdout.write(escaped(json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False)) + "\n")
        return
    from . import render

    render.console().print(drawn(answer))
