"""What `bench/ingest.py` tells of a folder."""

import json
import runpy
from pathlib import Path

import pytest
from telha_planner.config import EmbeddingSettings
from telha_planner.memory.store import Store

INGEST = runpy.run_path(str(Path(__file__).parents[3] / "bench/ingest.py"))
TEXTS = {
    "a.md": "# Trams\n\nFirst at 05:12.\n",
    "b.html": "<h1>Trams</h1><p>Last at 23:40.",
    "c.py": "x = 1\n",
    "d.md": "",
}


@pytest.mark.parametrize("as_lines", [True, False])
def test_every_document_is_counted_or_refused(tmp_path: Path, as_lines: bool) -> None:
    """A9: files, and lines of one file, are told alike: by format, spans by kind, and what was refused."""
    if as_lines:
        lines = (json.dumps({"name": name, "text": text}) for name, text in TEXTS.items())
        (tmp_path / "sources.jsonl").write_text("\n".join(lines), "utf-8")
    else:
        for name, text in TEXTS.items():
            (tmp_path / name).write_text(text, "utf-8")
    store = Store.open(f"sqlite:///{tmp_path}/memory.db", busy_timeout_ms=1000)
    found, refused = INGEST["measure"](tmp_path, store, EmbeddingSettings())
    store.close()
    assert {name: row.documents for name, row in found.items()} == {
        "text/html": 1,
        "text/markdown": 1,
        "text/plain": 1,
    }
    assert found["text/markdown"].kinds == {"heading": 1, "paragraph": 1}
    assert refused == ["d.md: content must not be blank"]
    head, *rows = INGEST["lines"](found)
    assert len(rows) == 3
    assert {len(row) for row in rows} == {len(head)}
