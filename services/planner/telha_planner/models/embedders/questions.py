"""
Vectors of questions, the latest kept: agents ask the same again.

Rule: a plan never waits for an embedder. It takes what is kept here, or says with `QuestionNotEmbedded` what it needs
first; whoever called it sees to that (the server on threads of its own) and calls again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog
from blake3 import blake3

from .seam import Embedder, EmbedderFailed, Vector

KEPT = 1024
"""Vectors kept; a few megabytes."""

_T = TypeVar("_T")
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """
    What became of a question at the embedder: a vector, or the reason why there is none.

    Attributes:
        model: Name of the vector's model.
        skipped: Completes "the semantic leg was skipped: …".
    """

    values: Vector | None
    model: str | None = None
    skipped: str | None = None


class QuestionNotEmbedded(Exception):
    """The plan needs the vector of *text* first."""

    def __init__(self, text: str) -> None:
        super().__init__("the question has to be embedded first")
        self.text = text


class Questions:
    """
    Makes and keeps vectors of questions with *embedder*; for any thread.

    Attributes:
        model: Name of the embedder's model.
    """

    def __init__(self, embedder: Embedder, kept: int = KEPT) -> None:
        self.embedder = embedder
        self.model = embedder.model.name
        self._limit = kept
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, QuestionVector] = OrderedDict()

    def known(self, text: str) -> QuestionVector | None:
        """The kept vector of *text*."""
        with self._lock:
            found = self._kept.get(_key(text))
            if found is not None:
                self._kept.move_to_end(_key(text))
            return found

    def vector(self, text: str) -> QuestionVector:
        """The vector of *text*, made if need be; a failure is an answer too, and is not kept."""
        found = self.known(text)
        if found is not None:
            return found
        try:
            made = QuestionVector(self.embedder.question(text), self.model)
        except EmbedderFailed as failed:
            _log.warning("question_not_embedded", model=self.model, cause=str(failed))
            return QuestionVector(None, skipped=str(failed))
        with self._lock:
            self._kept[_key(text)] = made
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return made


def _key(text: str) -> bytes:
    # Questions are the callers' own words: what is kept of them is not to be read.
    return blake3(text.encode("utf-8", "surrogatepass")).digest()


def embedded_first(questions: Questions | None, call: Callable[[QuestionVector | None], _T]) -> _T:
    """*call*, again with the vector that it asks for; for callers who may wait."""
    try:
        return call(None)
    except QuestionNotEmbedded as missing:
        if questions is None:
            raise
        return call(questions.vector(missing.text))
