"""One trace store per test, on every engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from telha_trace_writer.opening import open_store
from telha_trace_writer.store import Store


@pytest.fixture(params=["sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty trace store may be."""
    return str(tmp_path / "traces.db")


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    opened = open_store(place, 10_000)
    yield opened
    opened.close()
