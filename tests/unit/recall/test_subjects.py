"""What a caller's subjects mean in memory: sources by id or name, sections, bytes; and who may learn of them."""

import numpy as np
import pytest
from planner_parts import parts_in
from telha_planner.core.model import SpanRef
from telha_planner.core.subject import SourceSubject
from telha_planner.recall.subjects import Meant, meant_by

GUIDE = (
    "# Setup\n\nThe harbour opens at six.\n\n## Linux\n\nBread is baked.\n\n## Windows 窓\n\nShips leave.\n\n"
    "# Usage\n\n## Linux\n\nTaste it 🧑‍🚀.\n"
)


@pytest.fixture
def parts(tmp_path):
    made = parts_in(tmp_path)
    yield made
    made.close()


def meant(parts, subject, allowed=None) -> Meant:
    caller = parts.planning.caller(parts.key())
    snapshot = parts.columns.at(caller.tenant, parts.plan("anything").window.tx_time)
    return meant_by(snapshot, [subject], allowed)[0]


def texts(parts, subject, allowed=None) -> list[str]:
    """The texts of the ranges meant, each of the document that was written last."""
    found = meant(parts, subject, allowed).ranges
    return [GUIDE.encode()[start:end].decode() for start, end in zip(found.start, found.end, strict=True)]


def test_a_source_is_named_by_its_id_or_by_its_name(parts):
    """X6: both name the whole of it, with every node that rests on it."""
    source_id = parts.remember("guide.md", GUIDE)
    by_name, by_id = (meant(parts, SourceSubject(name)) for name in ("guide.md", str(source_id)))
    assert texts(parts, SourceSubject("guide.md")) == [GUIDE]
    assert by_name.links.tolist() == by_id.links.tolist()
    assert len(by_name.links) > 8


def test_sources_that_share_a_name_are_all_meant(parts):
    """X6: one name, two spaces, two sources."""
    parts.remember("guide.md", GUIDE)
    parts.remember("guide.md", GUIDE, space="other")
    assert len(meant(parts, SourceSubject("guide.md")).sources) == 2
    assert len(meant(parts, SourceSubject("guide.md"), ("other",)).sources) == 1


def test_a_section_ends_where_the_next_one_of_its_level_begins(parts):
    """X6: by its title, in any case, and by the end of its path."""
    parts.remember("guide.md", GUIDE)

    def section(title: str) -> list[str]:
        return [text.split("\n")[0] for text in texts(parts, SourceSubject("guide.md", title))]

    assert [text.count("#") for text in texts(parts, SourceSubject("guide.md", "Setup"))] == [5]
    assert section("usage") == ["# Usage"]
    assert section("Windows  窓") == ["## Windows 窓"]
    assert section("Linux") == ["## Linux", "## Linux"]
    (below,) = texts(parts, SourceSubject("guide.md", "setup > LINUX"))
    assert below == "## Linux\n\nBread is baked.\n\n"
    (last,) = texts(parts, SourceSubject("guide.md", "Usage > Linux"))
    assert last.endswith("🧑‍🚀.\n")
    for unknown in ("inux", "Linux > Setup", "Usage > Windows 窓", "Mac"):
        assert section(unknown) == []


def test_bytes_mean_the_nodes_that_hold_one_of_them(parts):
    """X6: passages, headings and windows that touch the span, and none that only stand next to it."""
    source_id = parts.remember("guide.md", GUIDE)
    version = parts.plan("harbour").plan.spans[0].span.source_version_tx
    start = GUIDE.encode().index(b"Bread")
    found = meant(parts, SpanRef(source_id.bytes, version, start, start + 1))
    columns = parts.columns.at(1, version).columns
    spans = columns.links.span[found.links]
    assert {(int(columns.spans.start[row]), int(columns.spans.end[row])) for row in spans} == {(start, start + 15)}
    between = SpanRef(source_id.bytes, version, start - 1, start)
    assert len(meant(parts, between).links) == 0
    assert len(meant(parts, between).sources) == 1
    behind = len(GUIDE.encode())
    for start, end in ((behind, behind + 5), (2**52, 2**53 - 1)):
        assert len(meant(parts, SpanRef(source_id.bytes, version, start, end)).links) == 0


def test_another_version_of_a_source_has_bytes_of_its_own(parts):
    """X6, M1: what the version that is asked about never held is not taken from another one."""
    source_id = parts.remember("guide.md", GUIDE)
    first = parts.plan("harbour").plan.spans[0].span.source_version_tx
    parts.remember("guide.md", "# Setup\n\nThe harbour opens at seven.\n")
    whole = [len(meant(parts, SpanRef(source_id.bytes, tx, 0, 10_000)).links) for tx in (first, first + 1)]
    assert whole[0] > 8
    assert whole[1] == 0


def test_what_the_key_may_not_read_is_as_good_as_absent(parts):
    """M7, A6: sources of other spaces and of other tenants have no rows, no ranges and no links."""
    source_id = parts.remember("guide.md", GUIDE, space="secret")
    version = parts.plan("harbour", spaces=("secret",)).plan.spans[0].span.source_version_tx
    theirs = parts.remember("theirs.md", GUIDE, tenant="rival")
    subjects = [
        SourceSubject("guide.md"),
        SourceSubject("guide.md", "Setup"),
        SourceSubject(str(source_id)),
        SpanRef(source_id.bytes, version, 0, 10),
    ]
    for subject in subjects:
        assert len(meant(parts, subject, ("secret",)).links)
        found = meant(parts, subject, ("main",))
        assert [len(found.sources), len(found.links), len(found.ranges.text)] == [0, 0, 0]
    for subject in (SourceSubject("theirs.md"), SourceSubject(str(theirs))):
        assert not len(meant(parts, subject).sources)


def test_ranges_that_overlap_or_nest_are_one(parts):
    """X6: a section within another of the same title counts once, and its end does not hide the rest."""
    parts.remember("nested.md", "# A\n\none\n\n## A\n\ntwo\n\n## B\n\nthree\n\n# C\n\nfour\n")
    found = meant(parts, SourceSubject("nested.md", "A"))
    columns = parts.columns.at(1, parts.plan("one").window.tx_time).columns
    rows = np.unique(columns.links.span[found.links])
    assert sorted(columns.spans.start[rows].tolist()) == sorted({0, 5, 10, 16, 21, 27})
