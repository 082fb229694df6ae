"""
`bench/ingest.py FOLDER`: what becomes of the documents of a folder, by format, and how fast.

FOLDER holds a `sources.jsonl` (one `{"name": …, "text": …}` a line), or files. Each document is parsed, embedded with
`--embedder` if one is named, and written to a store in a temporary folder, a transaction each, on one thread. *whole*
is the bytes sent over the time of all three steps, *parsed* and *stored* over the time of each alone.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa
from telha_planner.config import EmbeddingSettings
from telha_planner.core.errors import RequestInvalid
from telha_planner.ingest.document import MAX_STREAMED_SPANS, DocumentInput
from telha_planner.ingest.embedding import Embedding
from telha_planner.ingest.parse import parse
from telha_planner.memory import keys, tables
from telha_planner.memory.store import Store
from telha_planner.memory.writes import Writer
from telha_planner.models.analysis import term_counts
from telha_planner.models.embedders.opening import opened
from telha_planner.models.tokenizers import token_counts

ENDINGS = {".md", ".markdown", ".txt", ".html", ".htm", ".json", ".jsonl", ".ndjson", ".py", ".rst"}
KINDS = ("heading", "paragraph", "cell", "code", "section")
MEGABYTE = 1_000_000


@dataclass
class Format:
    """What was measured of the documents of one media type; times in seconds."""

    documents: int = 0
    sent: int = 0
    text: int = 0
    nodes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    parsing: float = 0.0
    embedding: float = 0.0
    storing: float = 0.0

    @property
    def whole(self) -> float:
        """Seconds of all steps."""
        return self.parsing + self.embedding + self.storing


def documents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the documents of *folder*, in a fixed order."""
    lines = folder / "sources.jsonl"
    if lines.is_file():
        for line in lines.read_text("utf-8").splitlines():
            given = json.loads(line)
            yield given["name"], given["text"].encode()
        return
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix.lower() in ENDINGS:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def measure(folder: Path, store: Store, embedding: EmbeddingSettings) -> tuple[dict[str, Format], list[str]]:
    """Ingest all of *folder* into *store*; figures by media type, and what was refused."""
    keys.create(store, "bench", name="bench", rights=["write"], spaces=None, now=_now, create_tenant=True)
    with store.reading() as connection:
        tenant = int(connection.execute(sa.select(tables.tenant.c.tenant)).scalar_one())
    writer, embedder = Writer(store, _now), Embedding(opened(embedding), store)
    token_counts("warm")
    term_counts("wärm")
    found: defaultdict[str, Format] = defaultdict(Format)
    refused: list[str] = []
    for name, content in documents(folder):
        began = time.perf_counter()
        try:
            document = DocumentInput(None, name, None, "main", None, content, None)
            record = parse(document, "bench", MAX_STREAMED_SPANS)
        except RequestInvalid as fault:
            refused.append(f"{name}: {fault}")
            continue
        parsed = time.perf_counter()
        embedded = embedder.of_documents(tenant, [record], every=False)
        made = time.perf_counter()
        writer.write_documents(tenant, [record], embedded)
        stored = time.perf_counter()
        row = found[record.media_type]
        row.documents += 1
        row.sent += len(content)
        row.text += len(record.text)
        row.nodes += len(record.nodes)
        row.kinds.update(span.kind for span in record.spans)
        row.parsing += parsed - began
        row.embedding += made - parsed
        row.storing += stored - made
    return dict(found), refused


def lines(found: dict[str, Format]) -> Iterator[str]:
    """The table."""
    kinds = "".join(f"{kind:>11}" for kind in KINDS)
    speeds = f"{'whole MB/s':>11}{'parsed':>8}{'stored':>8}"
    yield f"{'format':<22}{'docs':>5}{'sent MB':>9}{'text MB':>9}{kinds}{'nodes':>8}{speeds}"
    for name, row in sorted(found.items()):
        counts = "".join(f"{row.kinds[kind]:>11,}" for kind in KINDS)
        whole, parsed, stored = (row.sent / seconds / MEGABYTE for seconds in (row.whole, row.parsing, row.storing))
        speeds = f"{whole:>11.2f}{parsed:>8.2f}{stored:>8.2f}"
        sizes = f"{row.sent / MEGABYTE:>9.2f}{row.text / MEGABYTE:>9.2f}"
        yield f"{name:<22}{row.documents:>5}{sizes}{counts}{row.nodes:>8,}{speeds}"


def main() -> int:
    """Measure and print; 1 if a document was refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip())
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", default="none", choices=("none", "use", "e5", "minilm"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = Store.open(f"sqlite:///{scratch}/memory.db", busy_timeout_ms=10_000)
        found, refused = measure(options.folder, store, EmbeddingSettings(provider=options.embedder))
        store.close()
    for line in [*lines(found), *(f"refused {each}" for each in refused)]:
        print(line)
    return 1 if refused or not found else 0


def _now() -> int:
    return time.time_ns() // 1000


if __name__ == "__main__":
    sys.exit(main())
