"""How much a planner holds at this moment, for Prometheus: read when the page is asked for, so counting is free."""

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

GAUGES: Mapping[str, str] = {
    "telha_calls_in_flight": "calls that are being answered",
    "telha_plans_waiting": "calls that wait for the plan thread; at most `server.max_waiting`",
    "telha_writes_waiting": "writes that run or wait in the ingest children",
    "telha_questions_waiting": "questions that wait to be embedded",
    "telha_held_bytes": "bytes of messages that are held, or may come at any moment; at most `server.max_held_bytes`",
    "telha_upload_bytes": "bytes of streamed documents on their way; at most `server.max_upload_bytes`",
}
"""What is served, and what it is."""


class LoadMeters(Collector):
    """
    Serves `GAUGES`.

    Args:
        now: Tells each of them.
    """

    def __init__(self, now: Mapping[str, Callable[[], int]]) -> None:
        if set(now) != set(GAUGES):
            raise ValueError(f"must tell {', '.join(GAUGES)}")
        self._now = now

    def collect(self) -> Iterable[Metric]:
        """What each is at this moment."""
        for name, told in GAUGES.items():
            yield GaugeMetricFamily(name, told, value=self._now[name]())
