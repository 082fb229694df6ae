"""
Embedding a question on the way to a plan: off the event loop and off the plan thread.

The plan thread first establishes the caller and what the request needs; only then is a question embedded, on threads of
its own, and the plan made anew with its vector. So nobody without a key can have anything embedded, an endpoint that is
slow holds up its own callers alone, and one that is away costs the answer its semantic leg, not the answer.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from telha_runtime.line import Holder
from telha_runtime.turns import LineFull, Turns

from telha_planner.core.errors import Overloaded
from telha_planner.models.embedders.questions import QuestionNotEmbedded, Questions, QuestionVector

from .dispatch import UPKEEP, PlanThread

T = TypeVar("T")

WAITING = 16
"""Questions that may wait for a thread; the next is refused as `Overloaded`."""
SHARE = 0.5
"""Of the time that a call has left, what its question may take; the rest is the plan's."""
TOO_SLOW = "the embedder did not answer in time"


class QuestionThreads:
    """
    Runs the work of calls on *plans*, and embeds questions in between where one is needed.

    Args:
        questions: None without an embedder.
    """

    def __init__(self, plans: PlanThread, questions: Questions | None) -> None:
        self.plans = plans
        self._questions = questions
        self._turns: Turns | None = None
        self._pool: ThreadPoolExecutor | None = None
        if questions is not None:
            parallel = questions.embedder.parallel
            self._turns = Turns(parallel, WAITING)
            self._pool = ThreadPoolExecutor(parallel, thread_name_prefix="embed")

    @property
    def waiting(self) -> int:
        """Questions that wait to be embedded."""
        return 0 if self._turns is None else self._turns.waiting

    def warm(self) -> None:
        """Let the embedder get ready in the background."""
        if self._pool is not None and self._questions is not None:
            self._pool.submit(self._questions.embedder.load)

    def close(self) -> None:
        """Forget what waits; what runs is waited for."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._questions is not None:
            self._questions.embedder.close()

    async def run(self, work: Callable[[QuestionVector | None], T], deadline: float, holder: Holder = UPKEEP) -> T:
        """
        Run *work* on the plan thread; once more with the vector, if it asks for one.

        Args:
            deadline: `time.monotonic()` after which starting is pointless.
            holder: Whose places it takes, on both.

        Raises:
            Overloaded: Too much waits for the plan thread or for the embedder.
            DeadlineExceeded: The deadline passed before the work began.
        """
        try:
            return await self.plans.run(lambda: work(None), deadline, holder)
        except QuestionNotEmbedded as missing:
            text = missing.text
        vector = await self._vector(text, deadline, holder)
        return await self.plans.run(lambda: work(vector), deadline, holder)

    async def _vector(self, text: str, deadline: float, holder: Holder) -> QuestionVector:
        if self._pool is None or self._questions is None or self._turns is None:
            raise RuntimeError("a question to embed, and no embedder")
        try:
            async with asyncio.timeout(max(0.0, SHARE * (deadline - time.monotonic()))), self._turns.turn(holder):
                making = asyncio.get_running_loop().run_in_executor(self._pool, self._questions.vector, text)
                return await making
        except LineFull:
            raise Overloaded from None
        except TimeoutError:
            return QuestionVector(None, skipped=TOO_SLOW)
