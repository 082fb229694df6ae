"""What Phase B costs on pools made to hurt, in processor time, with room for slow machines."""

import runpy
from pathlib import Path
from time import process_time

import pytest
from telha_planner.core import selection
from telha_planner.core.model import Outcome, PackingRule, Pool

SHAPES = runpy.run_path(str(Path(__file__).parents[3] / "bench/shapes.py"))
ADVERSARIAL = {name: (shape, overlap) for name, shape, overlap in SHAPES["ADVERSARIAL"]}
SECONDS_AT_100K = 1.0


def seconds(pool: Pool, rule: PackingRule) -> float:
    begin = process_time()
    selection.select(selection.take(pool, selection.collapse(pool)), rule)
    return process_time() - begin


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_hostile_pools_stay_cheap(name: str):
    """S3: near O(n log n): a hundred thousand spans of one source within a second, however they overlap."""
    shape, overlap = ADVERSARIAL[name]
    rule = PackingRule(4000, 0.4, overlap)
    assert seconds(shape(100_000), rule) <= SECONDS_AT_100K


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_the_shapes_are_what_they_say(name: str):
    """S3: a shape that were collapsed or dropped by accident would measure nothing."""
    shape, overlap = ADVERSARIAL[name]
    pool = shape(1000)
    chosen = selection.select(selection.take(pool, selection.collapse(pool)), PackingRule(4000, 0.4, overlap))
    assert len(chosen.outcome) == 1000
    kept = 1000 - chosen.count(Outcome.DEDUPED)
    assert kept >= 999 if "kept" in name or "disjoint" in name else kept <= 10


def test_a_typical_pool_stays_cheap():
    """S3: S4: a hundred thousand candidates like those of recall, twenty per source."""
    assert seconds(SHAPES["typical"](100_000), PackingRule(4000, 0.4, 0.8)) <= SECONDS_AT_100K
