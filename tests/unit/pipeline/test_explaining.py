"""What explain says in words, and how much of it: caps, an honest count, and no work for callers who have gone."""

from pathlib import Path

import msgpack
import pytest
from planner_parts import parts_in
from telha_planner import explaining, patience
from telha_planner.because import because, because_repeated
from telha_planner.config import PlannerConfig, TokenSettings
from telha_planner.core.errors import DeadlineExceeded
from telha_planner.core.explained import Duplicate
from telha_planner.core.model import Outcome, PackingRule, SpanRef
from telha_planner.core.request import Fragment, SelectRequest
from telha_planner.models.tokenizers import Tokenizers
from telha_planner.patience import Patience
from telha_planner.select import select_pool
from telha_planner.trace import explained

RULE = PackingRule(budget=2000, max_frac_per_source=0.4, dedup_overlap=0.8, max_spans=8)
WRAPPED = PackingRule(budget=2000, max_frac_per_source=0.4, dedup_overlap=0.8, max_spans=1, span_overhead_tokens=4)
TOKENIZERS = Tokenizers(TokenSettings())


def a_pool(size: int) -> list[Fragment]:
    """Fragments that do not overlap, the later the lighter."""
    return [
        Fragment(SpanRef(bytes(16), 1, 10 * row, 10 * row + 9), tokens=10, score=1.0 / (1 + row)) for row in range(size)
    ]


def told(size: int, **changes):
    request = SelectRequest(a_pool(size), max_tokens=100, explain=True, **changes)
    return select_pool(request, PlannerConfig(), TOKENIZERS).explanation


@pytest.mark.parametrize(
    ("rule", "outcome", "sentence"),
    [
        (RULE, Outcome.PACKED, "packed: 212 tokens, 1,180 left of 2,000 before it"),
        (RULE, Outcome.BUDGET_SKIPPED, "did not fit: 212 tokens, 1,180 left of 2,000"),
        (RULE, Outcome.UNPACKABLE, "larger than the whole budget: 212 tokens, the budget is 2,000"),
        (RULE, Outcome.SPAN_LIMIT_SKIPPED, "came after the limit of 8 spans: 212 tokens, 1,180 left of 2,000"),
        (RULE, Outcome.CAP_SKIPPED, "too much of one source: 212 tokens, 650 of 800 taken before it"),
        (WRAPPED, Outcome.PACKED, "packed: 216 tokens, 4 of them around it, 1,180 left of 2,000 before it"),
        (
            WRAPPED,
            Outcome.SPAN_LIMIT_SKIPPED,
            "came after the limit of 1 span: 216 tokens, 4 of them around it, 1,180 left of 2,000",
        ),
    ],
)
def test_each_outcome_has_one_sentence_with_its_numbers(rule: PackingRule, outcome: Outcome, sentence: str):
    """X6: an exclusion can be checked by hand."""
    assert because(outcome, rule, tokens=212, left=1180, spent=650, cap=800) == sentence


@pytest.mark.parametrize(
    ("overlap", "heavier", "sentence"),
    [
        (0.9375, True, "repeats [120:480) of the same version (overlap 0.93), which weighs more"),
        (0.9999, True, "repeats [120:480) of the same version (overlap 0.99), which weighs more"),
        (1.0, False, "repeats [120:480) of the same version (overlap 1.00), which weighs as much and stands before it"),
    ],
)
def test_a_duplicate_names_what_it_repeats(overlap: float, heavier: bool, sentence: str):
    """X6: duplicate of which span, with the overlap, which is 1 only for what is repeated whole."""
    assert because_repeated(Duplicate(SpanRef(bytes(16), 1, 120, 480), overlap), heavier=heavier) == sentence


def test_one_token_is_one_token():
    """X6: sentences are sentences."""
    assert (
        because(Outcome.PACKED, RULE, tokens=1, left=9, spent=0, cap=800)
        == "packed: 1 token, 9 left of 2,000 before it"
    )


def test_the_end_of_a_large_pool_is_counted_and_not_told(monkeypatch: pytest.MonkeyPatch):
    """X6: capped with an honest count; what is told is the beginning of the packing order."""
    whole = told(30)
    monkeypatch.setattr(explaining, "MAX_EXPLAINED", 12)
    cut = told(30)
    assert (len(whole.spans), whole.spans_left_out) == (30, 0)
    assert (cut.spans, cut.spans_left_out) == (whole.spans[:12], 18)


def test_a_record_keeps_the_beginning_and_counts_the_rest(monkeypatch: pytest.MonkeyPatch):
    """X1, X7: at most 2,000 rows stand in a trace; what neither answer nor record holds is counted in both."""
    monkeypatch.setattr(explaining, "MAX_EXPLAINED", 20)
    monkeypatch.setattr(explained, "MAX_KEPT", 5)
    kept = explained.explained_map(told(30))
    assert (len(kept["rows"]), kept["leftOut"]) == (5, 25)
    assert [row[9] for row in kept["rows"]] == [1, 2, 3, 4, 5]


def test_nobody_is_explained_to_who_has_gone():
    """A1, X6: explaining ends with its caller, and looks for that between parts of a large pool."""

    class Counting(Patience):
        looked = 0

        def check(self) -> None:
            self.looked += 1
            super().check()

    counting = Counting()
    with patience.lasting(counting):
        told(4 * explaining.BETWEEN_LOOKS)
    counts = 4 * explaining.BETWEEN_LOOKS // 64
    assert counting.looked >= counts + 4
    gone = Patience()
    gone.end()
    with patience.lasting(gone), pytest.raises(DeadlineExceeded):
        told(1)


def test_no_text_and_no_question_stand_in_what_a_trace_keeps_of_an_explanation(tmp_path: Path):
    """X1: numbers, coordinates, kinds and ids, never text."""
    parts = parts_in(tmp_path)
    parts.remember("secret name.md", "# Vault\n\nThe vault code is 4711 夜間 الترام.\n")
    record = parts.plan("vault code 夜間", explain=True).record
    parts.close()
    kept = msgpack.unpackb(record)["explained"]
    assert kept["rows"]
    written = repr(kept)
    for word in ("4711", "vault", "Vault", "夜間", "الترام", "secret"):
        assert word not in written
