"""The second count of tokens against the first, over texts of every kind."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from telha_planner.config import TokenSettings
from telha_planner.evaluation import recounting
from telha_planner.evaluation.recounting import recount
from telha_planner.models.tokenizers import Tokenizers

SET = Path(__file__).parents[2] / "evaluation_sets" / "languages" / "sources.jsonl"
independent = pytest.mark.skipif(find_spec(recounting.INDEPENDENT) is None, reason="bpe-openai has no wheel here")
TOKENIZERS = Tokenizers(TokenSettings())


@independent
@pytest.mark.parametrize("line", SET.read_text(encoding="utf-8").splitlines())
def test_both_count_alike_in_every_language(line):
    """T2, T5, E1: exact is exact, whoever counts."""
    count, name = recount(TOKENIZERS)
    assert name.startswith("o200k_base, by bpe-openai ")
    text = json.loads(line)["text"]
    for part in (text, *text.splitlines()):
        assert count(part) == TOKENIZERS.count("o200k_base", part)


@independent
@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
@example(text="<|endoftext|> 👩‍👩‍👧 שלום\n\n\t  x")
def test_both_count_alike_whatever_the_text(text):
    """T2, T5: special tokens spelled out, ZWJ, right-to-left."""
    assert recount(TOKENIZERS).count(text) == TOKENIZERS.count("o200k_base", text)


def test_without_a_second_one_the_report_says_who_counted(monkeypatch):
    """E1: a check that is not independent does not pass for one."""
    monkeypatch.setattr(recounting, "find_spec", lambda _: None)
    count, name = recount(TOKENIZERS)
    assert name == "o200k_base, by the planner's own tokenizer"
    assert count("hello world") == 2
