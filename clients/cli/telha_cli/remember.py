"""
Send documents in batches, with a progress bar on a terminal.

Rule 1: a document that the server refuses does not take its neighbours with it. A batch is one transaction, so the
batch is sent again without the refused one; one that is too large as a whole is sent one by one.
Rule 2: who stops it learns how far it came.
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from .documents import Document, Gathered, batches
from .problems import Problem

if TYPE_CHECKING:
    from rich.progress import Progress

    from .calls import Service


class Stopped(Problem):
    """Ctrl-C came before all was sent."""

    exit_code = 130

    def __init__(self, done: int, total: int) -> None:
        hint = "those that were on their way may be too; run it again: what is there stays unchanged"
        super().__init__("CANCELLED", f"stopped: {done} of {total} documents were ingested", hint=hint)


def ingest(
    service: "Service", gathered: Gathered, space: str | None, since: int | None, *, quiet: bool
) -> dict[str, Any]:
    """
    Ingest what was gathered and report on every path.

    Args:
        since: When the documents became true, µs since 1970 UTC; None for the commit.
        quiet: No progress bar.

    Raises:
        Stopped: Ctrl-C.
    """
    told: list[dict[str, Any]] = []
    refused = list(gathered.refused)
    with _progress(len(gathered.documents), quiet=quiet) as advance:
        try:
            for batch in batches(gathered.documents):
                told += _send(service, batch, space, since, refused)
                if advance is not None:
                    advance.update(advance.task_ids[0], advance=len(batch))
        except KeyboardInterrupt:
            raise Stopped(len(told), len(gathered.documents)) from None
    return {
        "documents": told,
        "skipped": [{"path": path, "reason": reason} for path, reason in gathered.skipped],
        "refused": [{"path": path, "reason": reason} for path, reason in refused],
    }


def _send(
    service: "Service", batch: list[Document], space: str | None, since: int | None, refused: list[tuple[str, str]]
) -> list[dict[str, Any]]:
    from telha_client import MessageTooLarge

    from .calls import DocumentRefused

    while batch:
        try:
            answers = service.ingest(batch, space, since)
        except DocumentRefused as fault:
            refused.append((batch[fault.index].name, fault.reason))
            batch = batch[: fault.index] + batch[fault.index + 1 :]
        except MessageTooLarge as fault:
            if len(batch) > 1:
                return [answer for document in batch for answer in _send(service, [document], space, since, refused)]
            refused.append((batch[0].name, f"{fault.message}: [server] max_message_bytes is the limit of one call"))
            batch = []
        else:
            return [{"name": sent.name, **answer} for sent, answer in zip(batch, answers, strict=True)]
    return []


def _progress(total: int, *, quiet: bool) -> "AbstractContextManager[Progress | None]":
    if quiet or total == 0 or not sys.stderr.isatty():
        return nullcontext()
    from rich.progress import Progress

    from . import render

    progress = Progress(console=render.console(error=True), transient=True)
    progress.add_task("ingesting", total=total)
    return progress
