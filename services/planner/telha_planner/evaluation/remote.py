"""
A planner that runs elsewhere as the one that is evaluated: what it measures includes the wire and the trace's way.

Rule: what is written for the evaluation lies in spaces of its own and is erased at the end, unless it shall stay.
"""

from time import perf_counter_ns

from telha_planner.server.remote_planner import RemotePlan, RemotePlanner

from .asking import Asked, Returned, Told, batches, request_of, space_of
from .dataset import Dataset, GoldSpan, Question


class Remote:
    """
    The planner at *address* over *dataset*.

    Raises:
        RemoteRefused: It cannot be reached, or refuses.
    """

    def __init__(self, dataset: Dataset, address: str, key: str, told: Told) -> None:
        self._dataset = dataset
        self._planner = RemotePlanner(address, key)
        self._index = {
            source.id_in(space_of(dataset, source.scope)): number for number, source in enumerate(dataset.sources)
        }
        for documents in batches(dataset, told):
            self._planner.ingest(documents)

    def ask(self, question: Question, budget: int, share: float) -> Asked:
        """See `Asker`."""
        request = request_of(self._dataset, question, budget, share)
        begin = perf_counter_ns()
        plan = self._planner.plan(request)
        took = (perf_counter_ns() - begin) / 1e6
        return Asked(self._returned(plan), plan.budget, plan.used, plan.plan_hash, took)

    def erase(self) -> None:
        """Erase what was written."""
        for source_id in self._index:
            self._planner.erase(source_id)

    def close(self) -> None:
        """Hang up."""
        self._planner.close()

    def _returned(self, plan: RemotePlan) -> tuple[Returned, ...]:
        return tuple(
            Returned(GoldSpan(self._index[one.span.source_id], one.span.start, one.span.end), one.text)
            for one in plan.spans
        )
