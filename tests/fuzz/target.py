"""
What is fuzzed: a target takes bytes from a stranger and either accepts them or refuses them in the words of its error.

Rule: `run` returns whether the input was accepted. It raises for a defect alone: an error that is not of the declared
kinds, an accepted value that breaks a law of the decoder, a refused write that left something behind.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Form = Literal["bytes", "text", "json", "msgpack", "message"]
"""How an input is built, so that mutation can change its structure as well as its bytes."""


class LawBroken(AssertionError):
    """The decoder accepted an input, and what it made of it breaks a law."""


@dataclass(frozen=True, slots=True)
class Target:
    """
    One decoder.

    Attributes:
        name: Also the folder of its corpus.
        form: Of its inputs.
        seeds: Valid inputs to start from.
        run: Whether the input was accepted; raises for a defect.
        words: Pieces that mean something to the decoder.
        choices: Inputs of several decoders begin with one byte, the number of the decoder modulo this; 0 for one alone.
        reset: Called before a replay, so that an input does the same each time.
    """

    name: str
    form: Form
    seeds: Callable[[], Iterator[bytes]]
    run: Callable[[bytes], bool]
    words: tuple[str, ...] = ()
    choices: int = 0
    reset: Callable[[], None] = lambda: None


def law(holds: object, words: str) -> None:
    """Raise `LawBroken` with *words* unless *holds*."""
    if not holds:
        raise LawBroken(words)
