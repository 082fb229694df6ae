"""What `make bench` prints."""

import runpy
from pathlib import Path

MEASURE = runpy.run_path(str(Path(__file__).parents[3] / "bench/measure.py"))


def test_a_row_says_whether_its_target_was_met_and_keeps_its_columns() -> None:
    """A9: each figure beside its target and floor, under the heads, however long the name is."""
    row = MEASURE["Row"]
    rows = [
        row("one Plan in process, 100,000 spans, pool 12345", 3.0, 4.0, 1.0, "postings read", 3.5),
        row("Phase B, typical, 500", 0.6, 0.7, 0.1, "two sorts of float64", 0.5),
        row("without a target", 0.6, 0.7, 0.1, "two sorts of float64"),
    ]
    head, *lines = MEASURE["lines"](rows)
    for title, told in (("met", ["yes", "no", ""]), ("ratio", ["3.0", "6.0", "6.0"]), ("target", ["3.5", "0.5", ""])):
        end = head.index(title) + len(title)
        assert [line[end - len(title) : end].strip() for line in lines] == told


def test_rows_come_as_they_are_measured() -> None:
    """A9: a reader sees the first figure while the second is measured."""
    measured = []

    def rows() -> object:
        for name in ("first", "second"):
            measured.append(name)
            yield MEASURE["Row"](name, 1.0, 1.0, 1.0, "floor")

    lines = MEASURE["lines"](rows())
    next(lines)
    assert next(lines).startswith("first")
    assert measured == ["first"]
