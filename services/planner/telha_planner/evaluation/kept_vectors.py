"""
An embedder that remembers on disk: a text is embedded once, however many runs, settings or sets it stands in.

One file per model: for each text 16 bytes of BLAKE3 (over its role and itself), then the vector, float32 little-endian.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from blake3 import blake3

from telha_planner.models.embedders.seam import Embedder, Vector

_HASH_BYTES = 16
_PASSAGE, _QUESTION = b"p", b"q"


class KeptVectors:
    """
    *embedder* over the vectors kept in *folder*; an `Embedder` itself, for one process at a time.

    What a kill left half-written is cut off.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.head_characters = embedder.head_characters
        self.parallel = embedder.parallel
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{blake3(self.model.name.encode()).hexdigest()[:16]}.vectors"
        size = _HASH_BYTES + 4 * self.model.dimensions
        raw = path.read_bytes() if path.exists() else b""
        whole = len(raw) - len(raw) % size
        self._kept = {raw[at : at + _HASH_BYTES]: raw[at + _HASH_BYTES : at + size] for at in range(0, whole, size)}
        if whole != len(raw):
            path.write_bytes(raw[:whole])
        self._file = path.open("ab")

    def load(self) -> None:
        """Nothing: what is kept needs no network; the first new text loads it."""

    def passages(self, texts: Sequence[str]) -> list[Vector]:
        """As the embedder's own, each text alone."""
        return [self._vector(_PASSAGE, text, lambda text: self._embedder.passages([text])[0]) for text in texts]

    def question(self, text: str) -> Vector:
        """As the embedder's own."""
        return self._vector(_QUESTION, text, self._embedder.question)

    def close(self) -> None:
        """Let go of the file and of the embedder."""
        self._file.close()
        self._embedder.close()

    def _vector(self, role: bytes, text: str, make: Callable[[str], Vector]) -> Vector:
        key = blake3(role + text.encode()).digest(_HASH_BYTES)
        kept = self._kept.get(key)
        if kept is None:
            kept = make(text).astype("<f4").tobytes()
            self._kept[key] = kept
            self._file.write(key + kept)
            self._file.flush()
        return np.frombuffer(kept, "<f4")
