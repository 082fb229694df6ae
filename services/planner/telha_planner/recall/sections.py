"""
Where the sections of a source lie: from a heading to the next one that is not below it.

Ingestion gives a heading's node its title, its level and the titles above it (`ingest/parse.py`). A section is named by
its title, or by the end of its path of titles.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from telha_planner.columns.snapshot import Snapshot
from telha_planner.columns.spans import UNKNOWN
from telha_planner.core.model import Int64
from telha_planner.memory.properties import decode_properties

SECTION = "section"
"""Type of a heading's node."""

HEADING = "heading"
"""Kind of a heading's span."""

BETWEEN_TITLES = " > "
MAX_HEADINGS = 4096
"""Most versions of headings whose titles are read for one subject; those that were written first."""


class _Heading(NamedTuple):
    text: int
    start: int
    level: int
    path: str


def section_ranges(snapshot: Snapshot, links: Int64, section: str) -> tuple[Int64, Int64, Int64]:
    """
    The bytes of every section that *section* names.

    Args:
        snapshot: The tenant's memory.
        links: Links by which nodes rest on the sources in question.
        section: A title, or the last titles of a path joined by ` > `; case and runs of white space do not count.

    Returns:
        Rows of the source versions, starts and ends.

    Raises:
        PropertiesErased: An erasure has taken away a title since the columns were read.
    """
    wanted = _spelled(section)
    lengths = snapshot.columns.texts.length
    found: list[tuple[int, int, int]] = []
    behind: list[_Heading] = []
    for heading in sorted(set(_headings(snapshot, links)), reverse=True):
        # What lies below this one ends before whatever comes next on its level or above.
        while behind and (behind[-1].text != heading.text or behind[-1].level > heading.level):
            behind.pop()
        if heading.path == wanted or heading.path.endswith(BETWEEN_TITLES + wanted):
            end = behind[-1].start if behind else int(lengths[heading.text])
            found.append((heading.text, heading.start, end))
        behind.append(heading)
    columns = np.array(found, np.int64).reshape(-1, 3)
    return columns[:, 0], columns[:, 1], columns[:, 2]


def _headings(snapshot: Snapshot, links: Int64) -> Iterator[_Heading]:
    columns = snapshot.columns
    spans, versions = columns.spans, columns.versions
    kind, node_type = spans.kinds.get(HEADING), versions.types.get(SECTION)
    if kind is None or node_type is None:
        return
    span, version = columns.links.span[links], columns.links.version[links]
    of_headings = (spans.kind[span] == kind) & (versions.type[version] == node_type) & (spans.text[span] != UNKNOWN)
    span, version = span[of_headings], version[of_headings]
    read = np.unique(version)[:MAX_HEADINGS]
    told = dict(zip(read.tolist(), map(decode_properties, snapshot.properties(read)), strict=True))
    for at, row in zip(span.tolist(), version.tolist(), strict=True):
        said = told.get(row, {})
        title, level, path = said.get("title"), said.get("level"), said.get("path")
        # A node written by API may call itself a section and say none of this.
        if isinstance(title, str) and isinstance(level, int) and isinstance(path, list):
            titles = [part for part in (*path, title) if isinstance(part, str)]
            yield _Heading(int(spans.text[at]), int(spans.start[at]), level, _spelled(BETWEEN_TITLES.join(titles)))


def _spelled(titles: str) -> str:
    return " ".join(titles.split()).casefold()
