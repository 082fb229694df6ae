"""
What is counted of the way of trace records out of this planner, for Prometheus; read when the page is asked for.

docs/operating.md lists the names; renaming one is a breaking change.
"""

from collections.abc import Callable, Iterator

from prometheus_client import Histogram, Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from telha_planner.trace.best_effort import BestEffort
from telha_planner.trace.direct import StreamRecords
from telha_planner.trace.emitter import Emitter
from telha_planner.trace.ids import made_us
from telha_planner.trace.spool import Spool

_COMMIT_S = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5)


class SpoolMeters(Collector):
    """What *spool* holds and what *emitter* carried; *now_us* is the wall clock."""

    def __init__(self, spool: Spool, emitter: Emitter, now_us: Callable[[], int]) -> None:
        self._spool = spool
        self._emitter = emitter
        self._now_us = now_us
        self._commits = Histogram(
            "telha_spool_commit_seconds", "Seconds of a group commit of the spool.", buckets=_COMMIT_S, registry=None
        )
        spool.observe_commits(self._commits.observe)

    def collect(self) -> Iterator[Metric]:
        """The families, with the values of this moment."""
        spool, emitter = self._spool, self._emitter
        yield GaugeMetricFamily("telha_spool_records", "Records that the writer does not have yet.", spool.depth)
        yield GaugeMetricFamily("telha_spool_bytes", "Bytes of the files that hold them.", spool.size)
        yield GaugeMetricFamily("telha_spool_oldest_seconds", "Age of the oldest of them.", self._oldest_s())
        yield CounterMetricFamily("telha_spool_refused", "Records that the spool did not take.", spool.refused)
        yield CounterMetricFamily("telha_spool_adopted", "Records taken over from other spools.", spool.adopted)
        yield CounterMetricFamily("telha_spool_damaged", "Records that could not be read again.", spool.damaged)
        yield CounterMetricFamily("telha_trace_shipped", "Records that Redis took, repeats included.", emitter.sent)
        yield CounterMetricFamily("telha_trace_resent", "Records that Redis lost and took again.", emitter.resent)
        yield CounterMetricFamily("telha_trace_settled", "Records that the writer has.", emitter.settled)
        yield CounterMetricFamily("telha_trace_ship_failures", "Batches that Redis did not take.", emitter.failures)
        yield GaugeMetricFamily(
            "telha_trace_held_back", "1 while records wait because the stream is too long.", int(emitter.held_back)
        )
        yield from self._commits.collect()

    def _oldest_s(self) -> float:
        oldest = self._spool.oldest
        made = None if oldest is None else made_us(oldest)
        return 0.0 if made is None else max(0.0, (self._now_us() - made) / 1e6)


class StreamMeters(Collector):
    """What *records* handed to Redis, without a spool."""

    def __init__(self, records: StreamRecords) -> None:
        self._records = records

    def collect(self) -> Iterator[Metric]:
        """The families, with the values of this moment."""
        yield CounterMetricFamily("telha_trace_shipped", "Records that Redis took.", self._records.sent)
        yield CounterMetricFamily("telha_trace_refused", "Records that Redis did not take.", self._records.refused)


class MissedMeters(Collector):
    """How many calls were answered without a trace (`trace.required = false`)."""

    def __init__(self, records: BestEffort) -> None:
        self._records = records

    def collect(self) -> Iterator[Metric]:
        """The family, with the value of this moment."""
        yield CounterMetricFamily("telha_trace_missed", "Calls answered without a trace.", self._records.missed)
