from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_builders import opened
from telha_planner.memory.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = opened(tmp_path)
    yield found
    found.close()
