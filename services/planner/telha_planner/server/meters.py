"""
What the planner counts, for Prometheus.

The `context_*` names are a namespace of their own (requirement C9), so that an operator can judge the Context surface
without disentangling it from the others. Names are a promise: renaming one is a breaking change.
"""

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server

from telha_planner.answers import ContextAnswer

_PLANNER_MS = (0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 1000)


class Meters:
    """The counters of one planner process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter("telha_calls", "Calls by method and code.", ["method", "code"], registry=self.registry)
        self._context_calls = Counter(
            "context_calls", "Context calls that were answered.", ["tenant"], registry=self.registry
        )
        self._context_planner_ms = Histogram(
            "context_planner_ms",
            "Milliseconds of the planner per context call.",
            ["tenant"],
            buckets=_PLANNER_MS,
            registry=self.registry,
        )
        self._context_trace_writes = Counter(
            "context_trace_writes", "Context traces made durable.", ["tenant"], registry=self.registry
        )
        self._context_tokens_packed = Counter(
            "context_tokens_packed", "Tokens packed for context calls.", ["tenant"], registry=self.registry
        )

    def called(self, method: str, code: str) -> None:
        """Count a finished call."""
        self._calls.labels(method, code).inc()

    def context_answered(self, answer: ContextAnswer, planner_ms: float, *, traced: bool) -> None:
        """Count an answered context call, what it packed, and its trace if it has one."""
        tenant = answer.tenant
        self._context_calls.labels(tenant).inc()
        self._context_planner_ms.labels(tenant).observe(planner_ms)
        self._context_tokens_packed.labels(tenant).inc(answer.plan.used)
        if traced:
            self._context_trace_writes.labels(tenant).inc()

    def serve(self, host: str, port: int) -> None:
        """
        Serve the page at `http://host:port/metrics` from a thread of its own.

        Raises:
            OSError: The address cannot be had.
        """
        start_http_server(port, addr=host, registry=self.registry)
