"""`telha trace show`: one trace as a picture of its plan."""

import os
from typing import Annotated

import typer

from . import options as given
from .stored import TraceId, trace_app


def register() -> None:
    """Add the command of this module to `telha trace`."""
    trace_app.command("show")(show_trace)


def show_trace(
    trace_id: TraceId,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each candidate too; if the trace keeps none, of the plan made anew.")
    ] = False,
    why_not: given.WhyNot = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Show where the budget of a plan went, how its candidates became spans, and whether its hash holds."""
    from . import calls, output, render_trace, subjects, target, traced

    asked = subjects.read(why_not) or ()
    with calls.connected(target.find(address, key, data, os.environ)) as client:
        answer = traced.shown(client, trace_id, explain=explain, why_not=asked)
    output.show(answer, render_trace.trace, as_json=as_json)
