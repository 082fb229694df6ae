"""`telha ingest` is stopped on its way."""

from typing import Any, cast

import pytest
from telha_cli import documents, remember
from telha_cli.calls import DocumentRefused, Service
from telha_cli.documents import Document, Gathered


class _Stopping:
    """Stands for the server: takes one batch, then the user presses Ctrl-C."""

    def __init__(self) -> None:
        self.batches = 0

    def ingest(
        self, batch: list[Document], _space: str | None, _since: int | None, _once: str | None
    ) -> list[dict[str, Any]]:
        self.batches += 1
        if self.batches > 1:
            raise KeyboardInterrupt
        return [{"outcome": "created"} for _ in batch]


def test_ctrl_c_says_how_far_it_came() -> None:
    """A3: what was written is told, and how to go on; the exit code is that of an interrupt."""
    sent = [Document(str(index), "", "", b"x", 1) for index in range(documents.BATCH_DOCUMENTS + 7)]
    with pytest.raises(remember.Stopped, match="stopped: 100 of 107 documents were ingested") as stopped:
        remember.ingest(cast("Service", _Stopping()), Gathered(sent), None, None, remember.Keys(None), quiet=True)
    assert stopped.value.exit_code == 130
    assert "run it again" in str(stopped.value.hint)


class _Refusing:
    """Stands for the server: refuses the document named 1, and notes the keys of its calls."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []

    def ingest(
        self, batch: list[Document], _space: str | None, _since: int | None, once: str | None
    ) -> list[dict[str, Any]]:
        self.keys.append(once)
        for index, document in enumerate(batch):
            if document.name == "1":
                raise DocumentRefused(index, "content must be something else")
        return [{"outcome": "created"} for _ in batch]


def test_a_run_under_a_key_gives_each_call_its_own() -> None:
    """M8: the same files make the same calls with the same keys, so a run can be made again."""
    sent = [Document(str(index), "", "", b"x", 1) for index in range(documents.BATCH_DOCUMENTS + 1)]
    for _ in range(2):
        service = _Refusing()
        told = remember.ingest(cast("Service", service), Gathered(sent), None, None, remember.Keys("k"), quiet=True)
        assert (service.keys, len(told["documents"]), len(told["refused"])) == (["k", "k#2", "k#3"], 100, 1)
    service = _Refusing()
    remember.ingest(cast("Service", service), Gathered(sent), None, None, remember.Keys(None), quiet=True)
    assert service.keys == [None] * 3
