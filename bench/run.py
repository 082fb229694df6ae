"""`make bench`: every row beside its floor, all in one run, so that ratios can be compared on a busy machine."""

import platform
from collections.abc import Iterator
from importlib.metadata import version

import explain
import listing
import phase_b
import plan
import plan_beside
import plan_columns
import why_not
from measure import Row, show


def rows() -> Iterator[Row]:
    """Phase B, a whole Plan, explain and why-not, recall by itself, a plan beside a load, pages of traces."""
    yield from phase_b.rows()
    yield from plan.rows()
    yield from explain.rows()
    yield from why_not.rows()
    yield from plan_columns.rows()
    yield from plan_beside.rows()
    yield from listing.rows()


def main() -> None:
    """Measure and print."""
    print(f"Three minutes. Python {platform.python_version()}, numpy {version('numpy')}, {platform.machine()}")
    show(rows())


if __name__ == "__main__":
    main()
