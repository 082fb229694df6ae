"""An embedder of the tests: its vectors tell the words of a text apart, it counts what it is asked, and can fail."""

from collections.abc import Sequence

import numpy as np
from blake3 import blake3
from telha_planner.models.embedders.seam import EmbedderFailed, Model, Vector

DIMENSIONS = 64


class CountingEmbedder:
    """
    A bag of hashed words, of the model *name*.

    Attributes:
        asked: The texts it was asked for, in order.
        failing: Why it fails, None while it does not.
    """

    head_characters = 10_000
    parallel = 1

    def __init__(self, name: str = "words/1", dimensions: int = DIMENSIONS, baseline: float = 0.0) -> None:
        self.model = Model(name, dimensions, baseline)
        self.asked: list[str] = []
        self.failing: str | None = None

    def load(self) -> None:
        """Nothing to load."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        if self.failing is not None:
            raise EmbedderFailed(self.failing)
        return [self._vector(text) for text in texts]

    def question(self, text: str) -> Vector:
        return self.passages([text])[0]

    def close(self) -> None:
        """Nothing to close."""

    def _vector(self, text: str) -> Vector:
        vector = np.full(self.model.dimensions, 0.01, np.float32)
        for word in text.casefold().split():
            digest = blake3(f"{self.model.name} {word}".encode()).digest()
            vector[digest[0] % self.model.dimensions] += 1 + digest[1] / 256
        return vector
