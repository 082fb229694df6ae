"""
Send documents in batches, with a progress bar on a terminal.

Rule 1: a document that the server refuses does not take its neighbours with it. A batch is one transaction, so the
batch is sent again without the refused one; one that is too large as a whole is sent one by one.
Rule 2: who stops it learns how far it came.
Rule 3: under an idempotency key the n-th call of a run has the key `KEY#n`, the first `KEY` itself. The same files make
the same calls, refused ones included, so a run that was broken off can be made again under its key.
"""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from .documents import Document, Gathered, batches
from .problems import INTERRUPTED, Problem

if TYPE_CHECKING:
    from rich.progress import Progress

    from .calls import Service


class Keys:
    """Idempotency keys for the calls of one run, made from *given*; None for each if that is None."""

    def __init__(self, given: str | None) -> None:
        self._given = given
        self._calls = 0

    def next(self) -> str | None:
        """The key of the next call."""
        self._calls += 1
        return self._given if self._given is None or self._calls == 1 else f"{self._given}#{self._calls}"


class Stopped(Problem):
    """Ctrl-C came before all was sent."""

    exit_code = INTERRUPTED

    def __init__(self, done: int, total: int) -> None:
        hint = "those that were on their way may be too; run it again: what is there stays unchanged"
        super().__init__("CANCELLED", f"stopped: {done} of {total} documents were ingested", hint=hint)


def ingest(
    service: "Service", gathered: Gathered, space: str | None, since: int | None, keys: Keys, *, quiet: bool
) -> dict[str, Any]:
    """
    Ingest what was gathered and report on every path.

    Args:
        since: When the documents became true, µs since 1970 UTC; None for the commit.
        keys: Idempotency keys of the calls.
        quiet: No progress bar.

    Raises:
        Stopped: Ctrl-C.
    """
    told: list[dict[str, Any]] = []
    refused = list(gathered.refused)
    with _progress(sum(document.size for document in gathered.documents), quiet=quiet) as advance:
        try:
            for batch in batches(gathered.documents):
                told += _send(service, batch, space, since, keys, refused)
                if advance is not None:
                    advance.update(advance.task_ids[0], advance=sum(each.size for each in batch))
        except KeyboardInterrupt:
            raise Stopped(len(told), len(gathered.documents)) from None
    return {
        "documents": told,
        "skipped": [{"path": path, "reason": reason} for path, reason in gathered.skipped],
        "refused": [{"path": path, "reason": reason} for path, reason in refused],
    }


def _send(
    service: "Service",
    batch: list[Document],
    space: str | None,
    since: int | None,
    keys: Keys,
    refused: list[tuple[str, str]],
) -> list[dict[str, Any]]:
    from telha_client import MessageTooLarge

    from .calls import DocumentRefused

    while batch:
        try:
            answers = service.ingest(batch, space, since, keys.next())
        except DocumentRefused as fault:
            refused.append((batch[fault.index].name, fault.reason))
            batch = batch[: fault.index] + batch[fault.index + 1 :]
        except OSError as fault:
            refused.append((batch[0].name, f"cannot be read: {fault.strerror}"))
            batch = batch[1:]
        except MessageTooLarge as fault:
            if len(batch) > 1:
                alone = (_send(service, [document], space, since, keys, refused) for document in batch)
                return [answer for answers in alone for answer in answers]
            limit = "max_document_bytes" if fault.reason == "DOCUMENT_TOO_LARGE" else "max_message_bytes"
            refused.append((batch[0].name, f"{fault.message}: [server] {limit} is the limit"))
            batch = []
        else:
            return [{"name": sent.name, **answer} for sent, answer in zip(batch, answers, strict=True)]
    return []


def _progress(total: int, *, quiet: bool) -> "AbstractContextManager[Progress | None]":
    if quiet or total == 0 or not sys.stderr.isatty():
        return nullcontext()
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from . import render

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=render.console(error=True), transient=True)
    progress.add_task("ingesting", total=total)
    return progress
