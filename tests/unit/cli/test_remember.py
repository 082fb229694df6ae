"""`telha ingest` is stopped on its way."""

from typing import Any, cast

import pytest
from telha_cli import documents, remember
from telha_cli.calls import Service
from telha_cli.documents import Document, Gathered


class _Stopping:
    """Stands for the server: takes one batch, then the user presses Ctrl-C."""

    def __init__(self) -> None:
        self.batches = 0

    def ingest(self, batch: list[Document], _space: str | None, _since: int | None) -> list[dict[str, Any]]:
        self.batches += 1
        if self.batches > 1:
            raise KeyboardInterrupt
        return [{"outcome": "created"} for _ in batch]


def test_ctrl_c_says_how_far_it_came() -> None:
    """A3: what was written is told, and how to go on; the exit code is that of an interrupt."""
    sent = [Document(str(index), "", "", b"x") for index in range(documents.BATCH_DOCUMENTS + 7)]
    with pytest.raises(remember.Stopped, match="stopped: 100 of 107 documents were ingested") as stopped:
        remember.ingest(cast("Service", _Stopping()), Gathered(sent), None, None, quiet=True)
    assert stopped.value.exit_code == 130
    assert "run it again" in str(stopped.value.hint)
