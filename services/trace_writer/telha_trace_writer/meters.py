"""
What the trace writer counts, for Prometheus; read when the page is asked for.

docs/operating.md lists the names; renaming one is a breaking change.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, Metric, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from . import letters
from .intake import Intake
from .reclaim import Reclaim
from .retention import Retention
from .store import Store, StoreFailed

_BATCH = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000)
_STORE_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics(Collector):
    """The page of one trace writer."""

    def __init__(self, store: Store, intake: Intake, reclaim: Reclaim, retention: Retention) -> None:
        self._store = store
        self._intake = intake
        self._reclaim = reclaim
        self._retention = retention
        self._server: tuple[Any, Any] | None = None
        self._batches = Histogram(
            "telha_writer_batch_records", "Records of one transaction.", buckets=_BATCH, registry=None
        )
        self._seconds = Histogram(
            "telha_writer_store_seconds", "Seconds of one transaction.", buckets=_STORE_S, registry=None
        )
        intake.observe = self._observe

    def collect(self) -> Iterator[Metric]:
        """The families, with the values of this moment; those of Redis are at most some seconds old."""
        intake, backlog = self._intake, self._reclaim.backlog
        lag = max(0, backlog.entries - backlog.pending)
        yield GaugeMetricFamily("telha_stream_entries", "Entries in the stream.", backlog.entries)
        yield GaugeMetricFamily("telha_stream_lag", "Entries that no writer was given yet.", lag)
        yield GaugeMetricFamily(
            "telha_stream_pending", "Entries given to a writer and not acknowledged.", backlog.pending
        )
        yield GaugeMetricFamily("telha_writer_held", "Entries that wait for a newer writer.", len(intake.held))
        yield CounterMetricFamily("telha_writer_persisted", "Traces stored.", intake.stored)
        yield CounterMetricFamily("telha_writer_duplicates", "Entries whose trace was there already.", intake.repeated)
        yield CounterMetricFamily("telha_writer_dropped", "Entries of traces that are gone for good.", intake.dropped)
        yield CounterMetricFamily("telha_writer_buried", "Entries set aside as dead letters.", intake.buried)
        yield CounterMetricFamily("telha_writer_reclaimed", "Entries taken over.", self._reclaim.claimed)
        yield CounterMetricFamily("telha_writer_retired", "Traces removed by retention.", self._retention.removed)
        with contextlib.suppress(StoreFailed):
            yield GaugeMetricFamily("telha_dead_letters", "Dead letters in the store.", letters.count(self._store))
        yield from self._batches.collect()
        yield from self._seconds.collect()

    def serve(self, host: str, port: int) -> None:
        """
        Serve the page at `http://host:port/metrics` from a thread of its own; port 0 serves none.

        Raises:
            OSError: The address cannot be had.
        """
        if port:
            registry = CollectorRegistry()
            registry.register(self)
            self._server = start_http_server(port, addr=host, registry=registry)

    def close(self) -> None:
        """End the page."""
        if self._server is not None:
            server, thread = self._server
            server.shutdown()
            server.server_close()
            thread.join()
            self._server = None

    def _observe(self, records: int, seconds: float) -> None:
        self._batches.observe(records)
        self._seconds.observe(seconds)
