"""Where texts and token counts of a plan come from: one instant, read once, counted once, whatever is erased."""

from pathlib import Path

import pytest
import tokenizers as huggingface
from known_facts import Facts
from planner_parts import Parts, parts_in, texts_of
from telha_planner.config import ModelSettings, PlannerConfig, TokenSettings
from telha_planner.core.errors import Unavailable
from telha_planner.models.tokenizers import Tokenizers

SENTENCES = "The tram leaves at five.\nThe tram bridge is closed.\n"


class ErasingTexts:
    """The real texts, but that the next of *doomed* is erased for good just before they are read."""

    def __init__(self, parts: Parts, doomed: list[Facts]) -> None:
        self.real = parts.planning._filling._texts
        self.parts = parts
        self.doomed = doomed

    def slices(self, *arguments):
        """As `SourceTexts.slices`, after an erasure."""
        if self.doomed:
            gone = self.doomed.pop()
            self.parts.writer.erase_source(gone.tenant, gone.source_id)
        return self.real.slices(*arguments)


@pytest.mark.parametrize("surface", ["plan", "context"])
def test_an_erasure_under_a_plan_makes_it_anew_without_the_source(parts, surface):
    """R5, M5: recall had seen the source; its text is gone when it is to be sliced."""
    kept = Facts(parts, SENTENCES, name="kept.txt")
    gone = Facts(parts, SENTENCES, name="gone.txt")
    ask = getattr(parts, surface)
    parts.planning._filling._texts = ErasingTexts(parts, [gone])
    answer = ask("tram bridge", max_frac_per_source=1.0)
    assert {span.span.source_id for span in answer.plan.spans} == {kept.source_id}
    assert answer.plan.stats.pool_spans == len(answer.plan.spans) + answer.plan.stats.deduped
    assert ask("tram bridge", max_frac_per_source=1.0, window=answer.window).plan == answer.plan


def test_a_plan_under_which_everything_is_erased_gives_up_in_the_end(parts):
    """R5: never a plan with a text that is gone, never an endless loop."""
    doomed = [Facts(parts, SENTENCES, name=f"{number}.txt") for number in range(5)]
    parts.planning._filling._texts = ErasingTexts(parts, doomed)
    with pytest.raises(Unavailable):
        parts.plan("tram bridge", max_frac_per_source=1.0)


def test_nothing_reads_a_source_that_is_not_packed(parts):
    """R5: texts of packed spans alone are sliced, once."""
    Facts(parts, SENTENCES)
    Facts(parts, "Another tram.\n", name="other.txt")
    read = []

    class Watching(ErasingTexts):
        def slices(self, tenant, erased_tx, sources, versions, starts, ends):
            read.append(len(sources))
            return super().slices(tenant, erased_tx, sources, versions, starts, ends)

    parts.planning._filling._texts = Watching(parts, [])
    plan = parts.plan("tram", max_spans=1).plan
    assert read == [1] == [len(plan.spans)]


@pytest.fixture
def counting(tmp_path, monkeypatch):
    """Parts whose model `reader` counts words by a tokenizer.json, and the texts that were counted."""
    path = tmp_path / "tokenizer.json"
    words = huggingface.Tokenizer(huggingface.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    words.pre_tokenizer = huggingface.pre_tokenizers.WhitespaceSplit()
    words.save(str(path))
    tokens = TokenSettings(
        tokenizer_files={"words": Path(path)}, models={"reader": ModelSettings(encoding="words", context_window=100)}
    )
    counted = []
    count = Tokenizers.count
    monkeypatch.setattr(
        Tokenizers, "count", lambda self, encoding, text: counted.append(text) or count(self, encoding, text)
    )
    parts = parts_in(tmp_path, config=PlannerConfig(tokens=tokens))
    yield parts, counted
    parts.close()


def test_a_tokenizer_of_ones_own_counts_each_span_once(counting):
    """T2: any tokenizer.json named in the configuration, exact; counts of immutable spans are computed once."""
    parts, counted = counting
    facts = Facts(parts, SENTENCES)
    first = parts.plan("tram", model="reader", max_frac_per_source=1.0)
    assert (first.plan.stats.tokenizer, first.plan.stats.token_estimate) == ("words", False)
    assert first.plan.budget == 50  # half of what the model reads (T4)
    assert {span.text: span.tokens for span in first.plan.spans} == {
        text: len(text.split()) for text in texts_of(first.plan.spans)
    }
    assert len(counted) == len(set(counted)) == first.plan.stats.pool_spans
    again = parts.plan("tram", model="reader", max_frac_per_source=1.0, window=first.window)
    assert again.plan == first.plan
    assert len(counted) == first.plan.stats.pool_spans
    # A new version of the source has spans of its own, which are counted in their turn.
    parts.remember("facts.txt", "The tram is gone for good.\n")
    later = parts.plan("tram", model="reader", max_frac_per_source=1.0).plan
    assert [span.tokens for span in later.spans] == [6]
    assert "The tram is gone for good." in counted
    # Erased and remembered anew, it counts its new text, not what stood there before.
    parts.writer.erase_source(facts.tenant, facts.source_id)
    parts.remember("facts.txt", "One tram more.\n")
    assert [span.tokens for span in parts.plan("tram", model="reader", max_frac_per_source=1.0).plan.spans] == [3]


@pytest.mark.parametrize(
    ("model", "tokenizer", "estimate", "applied"),
    [
        (None, "o200k_base", False, 100_000),
        ("gpt-4", "cl100k_base", False, 8192 // 2),
        ("gpt-4o", "o200k_base", False, 128_000 // 2),
        ("nobody-knows-it", "estimate", True, 90_000),
        ("claude-sonnet-4", "estimate", True, 90_000),
    ],
)
def test_what_counts_and_what_is_applied_follow_from_the_model(parts, model, tokenizer, estimate, applied):
    """T2, T4: no model → exact o200k; known → its encoding and half its window; unknown → the estimate, flagged."""
    Facts(parts, SENTENCES)
    stats = parts.plan("tram", model=model, max_tokens=100_000).plan.stats
    assert (stats.tokenizer, stats.token_estimate, stats.requested, stats.applied) == (
        tokenizer,
        estimate,
        100_000,
        applied,
    )


def test_the_default_encoding_is_the_configured_one(tmp_path):
    """T2: a request that names no model is counted exactly with it; a model that is named has its own."""
    config = PlannerConfig(tokens=TokenSettings(default_encoding="cl100k_base"))
    parts = parts_in(tmp_path, config=config)
    Facts(parts, SENTENCES)
    assert parts.plan("tram").plan.stats.tokenizer == "cl100k_base"
    assert parts.plan("tram", model="gpt-4o").plan.stats.tokenizer == "o200k_base"
    assert not parts.plan("tram").plan.stats.token_estimate
    parts.close()


def test_the_factor_of_an_estimate_comes_last(parts):
    """T4: min(requested, half the window), then floor(× 0.9): a window that is known, of a tokenizer that is not."""
    Facts(parts, SENTENCES)
    stats = parts.plan("tram", model="claude-sonnet-4", max_tokens=1_000_000).plan.stats
    assert (stats.requested, stats.applied) == (1_000_000, 90_000)
    context = parts.context("tram", model="nobody-knows-it", max_tokens=9_999).plan.stats
    assert (context.requested, context.applied) == (9_999, 7_372)  # floor(8,192 × 0.9)


def test_an_estimate_over_an_empty_pool_takes_no_factor(parts):
    """T3: estimate mode is decided on the pool; there is no estimate in an empty one."""
    stats = parts.plan("zanzibar", model="nobody-knows-it", max_tokens=100).plan.stats
    assert (stats.pool_spans, stats.token_estimate, stats.applied) == (0, False, 100)
