"""How a comparison fills a budget."""

from telha_planner.evaluation.dataset import GoldSpan
from telha_planner.evaluation.peers import Filled, Ranking, filled


def test_best_first_whatever_fits_and_nothing_twice():
    """E1: in order of score; what does not fit or lies over what was taken is passed over."""
    spans = [GoldSpan(0, 0, 50), GoldSpan(0, 40, 90), GoldSpan(1, 40, 90), GoldSpan(0, 50, 60), GoldSpan(0, 60, 70)]
    ranking = Ranking(spans, [5, 5, 20, 4, 1])
    assert filled(ranking, 10) == Filled((spans[0], spans[3], spans[4]), 10)
    assert filled(ranking, 30) == Filled((spans[0], spans[2], spans[3], spans[4]), 30)
    assert filled(ranking, 0) == Filled((), 0)
