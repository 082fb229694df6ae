"""
What an embedder is: something that makes vectors of one model from texts, or says in one sentence why it cannot.

Rule 1: vectors of different models are never compared, so everything an embedder makes is named by its `Model`.
Rule 2: an adapter makes one vector from one text, whatever else is asked for beside it: in a batch the same text gets
other bits. (An endpoint may be sent several at once; what it does with them is its own affair.)
Rule 3: a text longer than the model reads is embedded by its head; `head_characters` says where that ends.
Rule 4: no message quotes a text or a key.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


class Model(NamedTuple):
    """
    An embedding model, as it is stored beside its vectors.

    Attributes:
        name: Name and version; another version is another model.
        dimensions: Values per vector, 1..4096.
        baseline: Cosine of unrelated texts, docs/scoring.md section 3.
    """

    name: str
    dimensions: int
    baseline: float


class EmbedderFailed(Exception):
    """No vectors could be made; the message completes the sentence "the semantic leg was skipped: …"."""


class EmbedderMissing(Exception):
    """The embedder that is configured is not installed; the message is one sentence for the operator."""


class Embedder(Protocol):
    """
    Makes vectors; safe to use from several threads.

    Attributes:
        model: Whose vectors it makes.
        head_characters: Code points of a text that are looked at.
        parallel: How many questions it may well be asked at once.
    """

    model: Model
    head_characters: int
    parallel: int

    def load(self) -> None:
        """Get ready, so that the first text does not pay for it; may be called at any time, and again."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text that is to be found; raises `EmbedderFailed`."""

    def question(self, text: str) -> Vector:
        """The vector of a text that searches; raises `EmbedderFailed`."""

    def close(self) -> None:
        """Let go of connections."""


def checked(values: npt.ArrayLike, dimensions: int) -> Vector:
    """
    *values* as a vector.

    Raises:
        EmbedderFailed: They are not *dimensions* finite 32-bit floats, or all zero.
    """
    with np.errstate(over="ignore"):
        vector = np.array(values, dtype="<f4")
    if vector.shape != (dimensions,):
        raise EmbedderFailed(f"the embedder made {vector.size} values where its model has {dimensions}")
    if not np.isfinite(vector).all():
        raise EmbedderFailed("the embedder made a vector that is not finite")
    if not vector.any():
        raise EmbedderFailed("the embedder made the zero vector")
    return vector
