"""
What the planner counts, for Prometheus.

The `context_*` names are a namespace of their own (requirement C9), so that an operator can judge the Context surface
without disentangling it from the others. Names are a promise: renaming one is a breaking change.
"""

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server

from telha_planner.answers import Answer, ContextAnswer

STAGES = ("wait", "recall", "select", "explain", "trace")
"""Of a plan: before the plan thread, recall, weighing to slicing, explaining where asked for, its record durable."""
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_TOKENS = (0, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800)
_PLANNER_MS = (0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 1000)


class Meters:
    """The counters of one planner process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter("telha_calls", "Calls by method and code.", ["method", "code"], registry=self.registry)
        self._refusals = Counter("telha_refusals", "Calls that failed, by reason.", ["reason"], registry=self.registry)
        stages = Histogram(
            "telha_stage_ms",
            "Milliseconds of a plan by stage.",
            ["stage"],
            buckets=_PLANNER_MS,
            registry=self.registry,
        )
        self._stages = {stage: stages.labels(stage) for stage in STAGES}
        self._budget_use = Histogram(
            "telha_budget_use_ratio",
            "Share of its budget that a plan used.",
            ["method"],
            buckets=_SHARES,
            registry=self.registry,
        )
        self._stranded = Histogram(
            "telha_stranded_tokens",
            "Tokens of its budget that the cap on sources kept a plan from using.",
            ["method"],
            buckets=_TOKENS,
            registry=self.registry,
        )
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

    def called(self, method: str, code: str, reason: str = "") -> None:
        """Count a finished call; *reason* says why it failed."""
        self._calls.labels(method, code).inc()
        if reason:
            self._refusals.labels(reason).inc()

    def stage(self, name: str, seconds: float) -> None:
        """Count the time of one of `STAGES`; from any thread."""
        self._stages[name].observe(seconds * 1000)

    def planned(self, method: str, answer: Answer | ContextAnswer) -> None:
        """Count what a plan made of its budget."""
        plan = answer.plan
        if plan.budget:
            self._budget_use.labels(method).observe(plan.used / plan.budget)
        self._stranded.labels(method).observe(plan.stats.budget_stranded_by_cap)

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
