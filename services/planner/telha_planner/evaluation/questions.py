"""
Which questions are asked: those of the set, a sample of them, or another set's, to which this one holds no answer.

Rule: what is drawn is a function of seed and id alone, so that it is the same on every machine and in any order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from blake3 import blake3

from .dataset import QUESTIONS, Dataset, DatasetInvalid, Question


def drawn(questions: Sequence[Question], number: int | None, seed: int) -> tuple[Question, ...]:
    """*number* of *questions*, evenly, in their order; all if there are no more, or *number* is None."""
    if number is None or number >= len(questions):
        return tuple(questions)
    ranked = sorted(questions, key=lambda one: blake3(f"{seed} {one.label}".encode()).digest())
    chosen = {one.label for one in ranked[:number]}
    return tuple(one for one in questions if one.label in chosen)


def negatives(dataset: Dataset, other: Dataset, number: int | None, seed: int) -> tuple[Question, ...]:
    """
    The questions that *other* answers, each asked in one scope of *dataset*, which does not answer it.

    The scopes take turns. A set's own questions are asked in its other scopes.

    Raises:
        DatasetInvalid: *dataset* has no scope but the question's own.
    """
    answered = [question for question in other.questions if not question.is_rejection]
    return tuple(_asked(dataset, other, drawn(answered, number, seed)))


def _asked(dataset: Dataset, other: Dataset, questions: Sequence[Question]) -> Iterator[Question]:
    same = other.digest == dataset.digest
    for turn, question in enumerate(questions):
        scopes = [scope for scope in dataset.scopes if not (same and scope == question.scope)]
        if not scopes:
            raise DatasetInvalid(QUESTIONS, None, None, "all of one scope: they cannot be asked of another")
        scope = scopes[turn % len(scopes)]
        label = f"{other.name} {other.digest[:12]}, of {scope}: {question.label}"
        yield replace(question, label=label, kind=f"asked of {other.name}", scope=scope, time=None, gold=())
