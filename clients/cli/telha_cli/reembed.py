"""
`telha reembed`: batch after batch until the model is active, under a bar.

Rule: nothing is kept here. Interrupted at any point, the same command goes on where the server stands.
"""

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from telha_client import Unavailable

from .problems import Problem

if TYPE_CHECKING:
    from rich.progress import Progress

Json = Mapping[str, Any]


def run(batch: Callable[[str], Json], *, quiet: bool) -> dict[str, Any]:
    """
    Call *batch* with its own cursor until it is finished.

    Returns:
        The model, the nodes embedded, and the commit as of which the model is active.

    Raises:
        Problem: The embedder is away; what was embedded stays.
    """
    cursor, embedded = "", 0
    with _progress(quiet=quiet) as progress:
        while True:
            try:
                done = batch(cursor)
            except Unavailable as away:
                hint = "what was embedded stays; the same command goes on from there"
                raise Problem(away.reason or away.code, away.message, hint=hint) from None
            embedded += done["embedded"]
            if progress is not None:
                for task in progress.task_ids:
                    total = done["left"] if done.get("left") is not None else None
                    progress.update(task, advance=done["embedded"], **({} if total is None else {"total": total}))
            if done["finished"]:
                return {"model": done["model"], "embedded": embedded, "txTime": done["tx"]}
            cursor = done["nextCursor"]


def _progress(*, quiet: bool) -> "AbstractContextManager[Progress | None]":
    if quiet or not sys.stderr.isatty():
        return nullcontext()
    from rich.progress import Progress

    from . import render

    progress = Progress(console=render.console(error=True), transient=True)
    progress.add_task("embedding", total=None)
    return progress
