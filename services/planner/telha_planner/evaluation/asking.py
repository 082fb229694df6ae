"""
The seam between the evaluation and a planner: one question under one budget in, returned spans out.

`InProcess` asks a planner of its own on a throw-away store; `Remote` asks one that runs, over gRPC.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from telha_planner.core.request import PlanRequest, Window
from telha_planner.ingest.document import DocumentInput

from .dataset import Dataset, GoldSpan, Question

_BATCH = 16

Told = Callable[[int, int], object]
"""Is told (done, of how many)."""


class Returned(NamedTuple):
    """A span of an answer, by the source's index in the set."""

    span: GoldSpan
    text: str


class Asked(NamedTuple):
    """
    An answer.

    Attributes:
        budget: B as the planner applied it.
        used: Tokens used by its count.
        plan_hash: Of the plan.
        milliseconds: From the call to its answer.
    """

    spans: tuple[Returned, ...]
    budget: int
    used: int
    plan_hash: str
    milliseconds: float


class Asker(Protocol):
    """Answers questions of one set."""

    def ask(self, question: Question, budget: int, share: float) -> Asked:
        """The plan for *question* under *budget* tokens, with at most *share* of it from one source."""


def space_of(dataset: Dataset, scope: str) -> str:
    """The space that holds *scope*: scopes may be named as spaces may not, and another set may name them alike."""
    return f"eval-{dataset.digest[:12]}-{dataset.scopes.index(scope)}"


def batches(dataset: Dataset, told: Told) -> Iterator[list[DocumentInput]]:
    """The documents of *dataset*, some at a time; *told* hears when each batch is done."""
    sources = dataset.sources
    for first in range(0, len(sources), _BATCH):
        yield [source.document(space_of(dataset, source.scope)) for source in sources[first : first + _BATCH]]
        told(min(first + _BATCH, len(sources)), len(sources))


def request_of(dataset: Dataset, question: Question, budget: int, share: float) -> PlanRequest:
    """*question* as a request; asked without a time it is asked when the newest source of its scope was written."""
    instant = dataset.newest(question.scope) if question.time is None else question.time
    return PlanRequest(
        question=question.text,
        window=Window(valid_time=instant),
        max_tokens=budget,
        max_frac_per_source=share,
        spaces=(space_of(dataset, question.scope),),
        allow_ungrounded=True,
    )
