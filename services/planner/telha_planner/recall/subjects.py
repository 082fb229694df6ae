"""
What a caller's subjects mean in memory: source versions, byte ranges, and the nodes that ever rested on them.

Recall reads what is visible; whoever asks "why not?" asks of what may not be. So here every version is looked at, from
the columns: superseded, not yet true, or in a space that was not read.
Rule 1: what the key may not read is left out first; a subject that lies there finds what an absent one finds.
Rule 2: what was committed after the snapshot does not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telha_planner.columns.ids import halves
from telha_planner.columns.projected import TenantColumns
from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.spans import UNKNOWN
from telha_planner.core.errors import RequestInvalid
from telha_planner.core.model import Bools, Int32, Int64, SpanRef
from telha_planner.core.subject import SourceSubject, Subject
from telha_planner.core.value import parse_uuid

from .sections import section_ranges


@dataclass(frozen=True, slots=True)
class Ranges:
    """
    Bytes of source versions; columns of equal length.

    Attributes:
        text: Rows of the source versions.
        start, end: Bytes, `start < end`.
    """

    text: Int64
    start: Int64
    end: Int64

    def touched_by(self, columns: TenantColumns, spans: Int32 | Int64) -> Bools:
        """Which of *spans*, by row, hold a byte of these ranges."""
        touched = np.zeros(len(spans), bool)
        texts = np.unique(self.text)
        if not len(texts):
            return touched
        # One text behind the other on a line, so that one search serves all of them.
        stride = int(columns.texts.length[texts].max()) + 1
        text = columns.spans.text[spans]
        at = np.minimum(np.searchsorted(texts, text), len(texts) - 1)
        starts, reached = self._joined(texts, stride)
        among = np.flatnonzero(texts[at] == text) if len(starts) else np.empty(0, np.int64)
        of_span = columns.spans
        begins, ends = (
            at[among] * stride + np.minimum(bound[spans[among]], stride) for bound in (of_span.start, of_span.end)
        )
        before = np.searchsorted(starts, ends) - 1
        touched[among] = (before >= 0) & (reached[before] > begins)
        return touched

    def _joined(self, texts: Int64, stride: int) -> tuple[Int64, Int64]:
        """Starts and ends, on that line, of the same bytes as ranges of which none touches another."""
        at = np.searchsorted(texts, self.text)
        start = at * stride + np.minimum(self.start, stride - 1)
        end = at * stride + np.minimum(self.end, stride - 1)
        # What lies behind the end of its text is no byte of it.
        order = np.argsort(start, kind="stable")
        order = order[start[order] < end[order]]
        start, reached = start[order], np.maximum.accumulate(end[order])
        begins = np.append(True, start[1:] > reached[:-1])[: len(start)]
        return start[begins], reached[np.append(begins[1:], True)[: len(start)]]


@dataclass(frozen=True, slots=True)
class Meant:
    """
    What one subject means in memory.

    Attributes:
        sources: Rows of the sources that bear the id or the name, and that the key may read.
        ranges: The bytes meant; empty if the version or the section is not there.
        links: Rows of the links by which nodes rest on those bytes, or rested.
    """

    subject: Subject
    sources: Int64
    ranges: Ranges
    links: Int64

    def source_id(self) -> bytes | None:
        """The id, where the subject is named by one."""
        return _id_of(self.subject)


def meant_by(snapshot: Snapshot, subjects: Sequence[Subject], allowed: tuple[str, ...] | None) -> list[Meant]:
    """
    What each of *subjects* means.

    Args:
        snapshot: The tenant's memory.
        subjects: Checked.
        allowed: Spaces that the key may read; None is every one.

    Raises:
        PropertiesErased: An erasure has taken away a title since the columns were read.
    """
    columns = snapshot.columns
    named = [_sources_named(columns, subject) for subject in subjects]
    # One pass over the ledger for all of them, whether or not there is anything to find.
    of_interest = np.zeros(len(columns.sources), bool)
    of_interest[np.concatenate([np.empty(0, np.int64), *named])] = True
    spans, links, versions = columns.spans, columns.links, columns.versions
    resting = np.flatnonzero(of_interest[spans.source][links.span])
    version = links.version[resting]
    known = np.maximum(links.tx_from[resting], versions.tx_from[version]) <= snapshot.last_tx
    resting = resting[known & _readable(columns, allowed)[versions.space[version]]]
    of_link = spans.source[links.span[resting]]
    return [
        _meant(snapshot, subject, resting[np.isin(of_link, sources)])
        for subject, sources in zip(subjects, named, strict=True)
    ]


def read_spaces(columns: TenantColumns, spaces: tuple[str, ...] | None) -> Bools:
    """By row, which spaces are among *spaces*; None means all."""
    return _readable(columns, spaces)


def texts_of(snapshot: Snapshot, sources: Int64) -> Int64:
    """Rows of the versions of *sources* that were committed by the snapshot, in order of number."""
    texts = snapshot.columns.texts
    numbers = snapshot.columns.sources.no[sources]
    found: Int64 = np.flatnonzero(np.isin(texts.source_no, numbers) & (texts.version <= snapshot.last_tx))
    return found


def _meant(snapshot: Snapshot, subject: Subject, links: Int64) -> Meant:
    columns = snapshot.columns
    source = columns.spans.source[columns.links.span[links]]
    sources = np.unique(source).astype(np.int64)
    ranges = _ranges(snapshot, subject, sources, links)
    touching = ranges.touched_by(columns, columns.links.span[links])
    return Meant(subject, sources, ranges, links[touching])


def _ranges(snapshot: Snapshot, subject: Subject, sources: Int64, links: Int64) -> Ranges:
    text = texts_of(snapshot, sources)
    texts = snapshot.columns.texts
    if isinstance(subject, SpanRef):
        text = text[texts.version[text] == subject.source_version_tx]
        return Ranges(text, np.full(len(text), subject.start), np.full(len(text), subject.end))
    if subject.section:
        return Ranges(*section_ranges(snapshot, links, subject.section))
    return Ranges(text, np.zeros(len(text), np.int64), texts.length[text])


def _sources_named(columns: TenantColumns, subject: Subject) -> Int64:
    sources = columns.sources
    rows = np.empty(0, np.int64)
    source_id = _id_of(subject)
    if source_id is not None:
        hi, lo = halves([source_id])
        rows = np.flatnonzero((sources.hi == hi[0]) & (sources.lo == lo[0]))
    if isinstance(subject, SourceSubject):
        texts = columns.texts
        bearing = sources.rows_of(np.unique(texts.source_no[texts.named(subject.source)]))
        rows = np.union1d(rows, bearing[bearing != UNKNOWN])
    return rows


def _id_of(subject: Subject) -> bytes | None:
    if isinstance(subject, SpanRef):
        return subject.source_id
    try:
        return parse_uuid("", subject.source)
    except RequestInvalid:
        return None  # a name, then


def _readable(columns: TenantColumns, allowed: tuple[str, ...] | None) -> Bools:
    rows = columns.spaces.row
    if allowed is None:
        return np.ones(len(columns.spaces), bool)
    readable = np.zeros(len(columns.spaces), bool)
    readable[[rows[name] for name in allowed if name in rows]] = True
    return readable
