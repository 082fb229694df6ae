"""A real planner in process, new for each test, over each engine."""

import pytest
from planner_parts import parts_over


@pytest.fixture
def parts(store_url):
    made = parts_over(store_url)
    yield made
    made.close()
