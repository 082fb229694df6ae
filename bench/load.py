"""
`make load`: what a whole running system does at half and at twice its capacity.

`telha up` with a tenant of 100,000 spans on one side, a generator in a process of its own on the other
(`load_generator.py`). In one run: the latency of a call with nothing beside it, then what a closed loop gets answered
in a second (the capacity), then open loops at half and at twice that. The rows stand beside the targets of the same
run, so that a busy machine shifts both.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from load_generator import Order, Report
from measure import percentile
from telha_planner.memory import keys
from tenant import TX, build

SPANS = 100_000
BUDGET = 2000
TENANTS_KEYS = 2
SERIAL_S, CLOSED_S, OPEN_S = 5.0, 8.0, 10.0
CALLERS = 4
"""Of the closed loop: one call runs and three wait, which the line of the default configuration holds."""
GENERATOR = Path(__file__).with_name("load_generator.py")
TELHA = Path(sys.executable).with_name("telha")


@contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """A system on *folder*; what it tells of itself when it is ready."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TELHA_")}
    environ |= {"XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder)}
    command = [TELHA, "up", "--data", folder / "data", "--ephemeral-ports", "--json", "--embedder", "none"]
    with (folder / "up.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environ)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def carried_out(order: Order) -> Report:
    """What a generator of its own reports."""
    done = subprocess.run(
        [sys.executable, GENERATOR], input=json.dumps(asdict(order)), stdout=subprocess.PIPE, text=True, check=True
    )
    return Report(**json.loads(done.stdout))


def lines(told: dict[str, str], callers: list[str], questions: list[str]) -> Iterator[str]:
    """The table, as it is measured."""

    def order(seconds: float, **more: float) -> Order:
        return Order(told["grpc"], told["http"], callers, questions, BUDGET, seconds, **more)  # type: ignore[arg-type]  # numbers

    carried_out(order(3.0))  # columns are read, caches are warm
    alone = carried_out(order(SERIAL_S))
    unloaded = percentile(alone.accepted, 0.5)
    closed = carried_out(order(CLOSED_S, callers=CALLERS))
    capacity = closed.outcomes["OK"] / closed.took_s
    yield f"one call at a time: p50 {unloaded:.1f} ms, p99 {percentile(alone.accepted, 0.99):.1f} ms"
    yield f"capacity ({CALLERS} callers without pause): {capacity:.0f} plans/s"
    half, twice = (carried_out(order(OPEN_S, rate=share * capacity)) for share in (0.5, 2.0))
    yield f"{'':<44}{'0.5 x':>10}{'2 x':>10}{'target at 2 x':>16}{'met':>5}"
    for name, unit, of, most in (
        ("calls a second, offered", "", lambda r: (sum(r.outcomes.values())) / r.took_s, None),
        ("answered", "%", lambda r: 100 * r.outcomes.get("OK", 0) / sum(r.outcomes.values()), None),
        ("accepted p50", "ms", lambda r: percentile(r.accepted, 0.5), None),
        ("accepted p99", "ms", lambda r: percentile(r.accepted, 0.99), 15 * unloaded),
        ("accepted p99 / unloaded p50", "x", lambda r: percentile(r.accepted, 0.99) / unloaded, 15.0),
        ("refusals p50", "ms", lambda r: percentile(r.refused, 0.5) if r.refused else None, 5.0),
        ("refusals p99", "ms", lambda r: percentile(r.refused, 0.99) if r.refused else None, None),
        ("gRPC health p99", "ms", lambda r: percentile(r.grpc_health, 0.99), 20.0),
        ("REST /readyz p99", "ms", lambda r: percentile(r.rest_health, 0.99), 20.0),
        ("health not serving", "", lambda r: float(r.unhealthy), 0.0),
        ("refusals without advice", "", lambda r: float(sum(r.refused_by_reason().values()) - r.advised), 0.0),
    ):
        values = [of(report) for report in (half, twice)]
        shown = ["" if value is None else f"{value:.1f}" for value in values]
        met = "" if most is None or values[1] is None else "yes" if values[1] <= most else "no"
        target = "" if most is None else f"<= {most:.1f}"
        yield f"{f'{name} {unit}':<44}{shown[0]:>10}{shown[1]:>10}{target:>16}{met:>5}"
    goodput = twice.outcomes["OK"] / twice.took_s / capacity * 100
    yield f"{'goodput % of capacity':<44}{'':>10}{goodput:>10.1f}{'>= 60.0':>16}{'yes' if goodput >= 60 else 'no':>5}"
    for name, report in (("0.5 x", half), ("2 x", twice)):
        yield f"{name}: {dict(sorted(report.outcomes.items()))}"


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="telha-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "data").mkdir(mode=0o700)
        tenant = build(folder / "data", SPANS, vectors=False)
        callers = [
            keys.create(tenant.store, "bench", name=f"bench {n}", rights=("read",), spaces=None, now=lambda: TX)[0]
            for n in range(TENANTS_KEYS)
        ]
        tenant.store.close()
        with running(folder) as told:
            for line in lines(told, callers, tenant.questions):
                print(line, flush=True)


if __name__ == "__main__":
    main()
