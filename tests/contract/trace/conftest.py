"""One trace store per test, on every engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Store


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty trace store may be, on each engine in turn."""
    if request.param == "sqlite":
        return str(tmp_path / "traces.db")
    url: str = request.getfixturevalue("empty_postgres")
    return url


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """An empty trace store, on each engine in turn."""
    opened = open_store(place, 10_000)
    yield opened
    opened.close()
