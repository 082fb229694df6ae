"""One file of the spool: what was synced is read again; what is torn or damaged costs only itself."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.trace.segment import MAGIC, Segment, SegmentUnknown, pack, segments

RECORDS = st.lists(st.tuples(st.uuids(), st.text(max_size=20), st.binary(max_size=200)), max_size=8)


def written(folder: Path, records: list[tuple[UUID, str, bytes]]) -> Path:
    held = Segment.create(folder, int(uuid4()) >> 66)
    for seq, (trace_id, tenant, record) in enumerate(records, 1):
        held.append(pack(seq, str(trace_id), tenant, record).content)
    held.close()
    return held.path


def read(path: Path) -> tuple[list[tuple[UUID, str, bytes]], int]:
    held, entries, lost = Segment.reopen(path)
    found = [(UUID(entry.trace_id), entry.tenant, held.read(entry)) for entry in entries]
    held.close()
    return found, lost


@settings(deadline=None, max_examples=40)
@given(records=RECORDS)
def test_what_was_appended_is_read_again(records: list[tuple[UUID, str, bytes]], tmp_path_factory: object) -> None:
    """X3: every entry, in order, whatever its bytes; tenants in any script."""
    folder = tmp_path_factory.mktemp("spool")
    assert read(written(folder, records)) == (records, 0)


@settings(deadline=None, max_examples=60)
@given(records=RECORDS, cut=st.integers(0, 400), junk=st.binary(max_size=40))
def test_a_torn_tail_costs_only_the_torn_entry(
    records: list[tuple[UUID, str, bytes]], cut: int, junk: bytes, tmp_path_factory: object
) -> None:
    """X3: a file cut anywhere, with anything behind the cut, gives exactly the entries that were whole."""
    path = written(tmp_path_factory.mktemp("spool"), records)
    whole = path.read_bytes()
    kept = whole[: max(len(MAGIC), len(whole) - cut)]
    path.write_bytes(kept + junk)
    ends, end = [], len(MAGIC)
    for seq, record in enumerate(records, 1):
        end += len(pack(seq, str(record[0]), record[1], record[2]).content)
        ends.append(end)
    expected = [record for record, end in zip(records, ends, strict=True) if end <= len(kept)]
    found, _ = read(path)
    # Junk that happens to continue the cut entry would be that entry.
    assert found[: len(expected)] == expected
    assert found == expected or kept + junk == whole[: len(kept) + len(junk)]
    assert read(path) == (found, 0)


def test_damage_in_the_middle_costs_only_what_it_hit(tmp_path: Path) -> None:
    """X3: damage in the middle costs only what it hit."""
    records = [(uuid4(), "acme", bytes([number]) * 100) for number in range(5)]
    path = written(tmp_path, records)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    found, lost = read(path)
    assert found == [*records[:2], *records[3:]]
    assert lost == len(pack(1, str(uuid4()), "acme", bytes(100)).content)


def test_a_file_whose_creation_was_torn_is_empty(tmp_path: Path) -> None:
    """X3: a file whose creation was torn is empty."""
    path = tmp_path / "00000000000000000001.spool"
    path.write_bytes(MAGIC[:5])
    assert read(path) == ([], 0)


@pytest.mark.parametrize("content", [b"TLHSPOOL\x02" + bytes(7) + b"x", b"something else altogether"])
def test_a_file_of_another_version_is_left_untouched(content: bytes, tmp_path: Path) -> None:
    """X3: an old planner beside a newer one's files destroys nothing."""
    path = tmp_path / "00000000000000000001.spool"
    path.write_bytes(content)
    with pytest.raises(SegmentUnknown):
        Segment.reopen(path)
    assert path.read_bytes() == content


def test_files_sort_by_age(tmp_path: Path) -> None:
    """X3: files sort by age."""
    for number in (10, 9, 1):
        Segment.create(tmp_path, number).close()
    assert [int(path.stem) for path in segments(tmp_path)] == [1, 9, 10]
