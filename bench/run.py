"""`make bench`: every row beside its floor, all in one run, so that ratios can be compared on a busy machine."""

import platform
from collections.abc import Iterator
from importlib.metadata import version

import phase_b
import plan
import plan_columns
from measure import Row, show


def rows() -> Iterator[Row]:
    """Phase B, a whole Plan, and recall by itself."""
    yield from phase_b.rows()
    yield from plan.rows()
    yield from plan_columns.rows()


def main() -> None:
    """Measure and print."""
    print(f"About a minute. Python {platform.python_version()}, numpy {version('numpy')}, {platform.machine()}")
    show(rows())


if __name__ == "__main__":
    main()
