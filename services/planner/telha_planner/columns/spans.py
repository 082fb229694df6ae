"""Sources, their versions, the span ledger, and which spans stand behind which node version."""

from typing import ClassVar

import numpy as np

from telha_planner.core.model import Int32, Int64, UInt8, UInt64
from telha_planner.memory.projection import Rows

from .growing import Growing
from .ids import Codes, halves
from .lists import Lists
from .versions import Versions

_BYTES_PER_TEXT = 400
_BYTES_PER_NAME = 150
UNKNOWN = -1
"""Row of a source version that is not in the store, and code of a missing kind."""


class Sources(Growing):
    """One row per source; *span_class* is a value of `SpanClass`."""

    columns: ClassVar = {"no": np.int64, "hi": np.uint64, "lo": np.uint64, "span_class": np.uint8}
    hi: UInt64
    lo: UInt64
    span_class: UInt8

    def load(self, rows: Rows) -> None:
        """Append rows of (source_no, source_id, span_class)."""
        if rows:
            no, ids, span_class = zip(*rows, strict=True)
            hi, lo = halves(ids)
            self.append(no=no, hi=hi, lo=lo, span_class=span_class)


class SourceVersions(Growing):
    """
    One row per source version.

    Attributes:
        source_no: Number of the source.
        version: Its version's commit, µs.
        length: Bytes of canonical text.
        names: Name of the source in that version, by row.
        row: Row by (source_no, version_tx).
    """

    columns: ClassVar = {"no": np.int64, "source_no": np.int64, "version": np.int64, "length": np.int64}
    source_no: Int64
    version: Int64
    length: Int64

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.row: dict[tuple[int, int], int] = {}
        self._named: dict[str, list[int]] = {}
        self._rows_named = 0

    @property
    def nbytes(self) -> int:
        """Bytes held; names and keys are Python objects, so theirs is a rough figure."""
        return super().nbytes + _BYTES_PER_TEXT * len(self) + _BYTES_PER_NAME * self._rows_named

    def named(self, name: str) -> list[int]:
        """Rows of the versions that bear *name*. Few ask, so names are put in order when somebody does."""
        for row in range(self._rows_named, len(self.names)):
            self._named.setdefault(self.names[row], []).append(row)
        self._rows_named = len(self.names)
        return self._named.get(name, [])

    def load(self, rows: Rows) -> None:
        """Append rows of (version_no, source_no, version_tx, length, name)."""
        for _, source_no, version_tx, _, name in rows:
            self.row[source_no, version_tx] = len(self.names)
            self.names.append(name)
        no, source_no, version, length = (np.array([row[at] for row in rows], np.int64) for at in range(4))
        self.append(no=no, source_no=source_no, version=version, length=length)


class Spans(Growing):
    """
    The span ledger.

    Attributes:
        source: Row of the source.
        version: Its version's commit, µs.
        kind: Code in `kinds`, or `UNKNOWN`.
        text: Row of the source version, or `UNKNOWN`.
    """

    columns: ClassVar = {
        "no": np.int64,
        "source": np.int32,
        "version": np.int64,
        "start": np.int64,
        "end": np.int64,
        "kind": np.int32,
        "ascii_bytes": np.int64,
        "other_chars": np.int64,
        "cl100k_base": np.int64,
        "o200k_base": np.int64,
        "text": np.int32,
    }
    source: Int32
    version: Int64
    start: Int64
    end: Int64
    kind: Int32
    ascii_bytes: Int64
    other_chars: Int64
    cl100k_base: Int64
    o200k_base: Int64
    text: Int32

    def __init__(self) -> None:
        super().__init__()
        self.kinds = Codes()

    def load(self, rows: Rows, sources: Sources, texts: SourceVersions) -> None:
        """Append rows as `Changes.spans` gives them, and find the versions that had been missing."""
        self._find_missing(sources, texts)
        if not rows:
            return
        no, source_no, version, start, end, kind, ascii_bytes, other_chars, cl100k_base, o200k_base = zip(
            *rows, strict=True
        )
        codes = iter(self.kinds.of([name for name in kind if name is not None]))
        self.append(
            no=no,
            source=sources.rows_of(source_no),
            version=version,
            start=start,
            end=end,
            kind=[UNKNOWN if name is None else next(codes) for name in kind],
            ascii_bytes=ascii_bytes,
            other_chars=other_chars,
            cl100k_base=cl100k_base,
            o200k_base=o200k_base,
            text=[texts.row.get(key, UNKNOWN) for key in zip(source_no, version, strict=True)],
        )

    def _find_missing(self, sources: Sources, texts: SourceVersions) -> None:
        for row in np.flatnonzero(self.text == UNKNOWN):
            key = int(sources.no[self.source[row]]), int(self.version[row])
            self.text[row] = texts.row.get(key, UNKNOWN)


class Links(Growing):
    """
    Which spans stand behind which node version, and when that was so.

    Attributes:
        span: Row of the span.
        version: Row of the node version.
        of_version: Links by row of the node version.
    """

    columns: ClassVar = {"no": np.int64, "span": np.int32, "version": np.int32, "tx_from": np.int64, "tx_to": np.int64}
    span: Int32
    version: Int32
    tx_from: Int64
    tx_to: Int64

    def __init__(self) -> None:
        super().__init__()
        self.of_version = Lists()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + self.of_version.nbytes

    def load(self, rows: Rows, versions: Versions, spans: Spans) -> None:
        """Append rows of (link_no, version_no, span_no, tx_from, tx_to)."""
        if rows:
            no, version_no, span_no, tx_from, tx_to = zip(*rows, strict=True)
            version = versions.rows_of(version_no)
            self.of_version.append(version, np.arange(len(self), len(self) + len(no)))
            self.append(no=no, span=spans.rows_of(span_no), version=version, tx_from=tx_from, tx_to=tx_to)
