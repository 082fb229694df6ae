"""A real planner in process, new for each test."""

import pytest
from planner_parts import parts_in


@pytest.fixture
def parts(tmp_path):
    made = parts_in(tmp_path)
    yield made
    made.close()
