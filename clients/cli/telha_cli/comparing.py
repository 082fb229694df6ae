"""`telha trace replay` and `telha trace diff`: is a plan what it was, and how do two plans differ?"""

import os
from typing import Annotated

import typer

from . import options as given

TraceId = Annotated[str, typer.Argument(metavar="TRACE_ID", help="As every answer carries it.")]
Other = Annotated[str, typer.Argument(metavar="OTHER_ID", help="The trace to compare it with.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to *app*."""
    app.command("replay")(replay)
    app.command("diff")(diff)


def replay(
    trace_id: TraceId,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Make a trace's plan anew, as of its instants; the exit code is 1 if it is another, or its sources are erased."""
    from . import calls, output, tables_comparison

    with calls.opened(address, key, data, os.environ) as service:
        answer = service.replayed(trace_id, explain=False)
    output.show(answer, tables_comparison.replay, as_json=as_json)
    if answer["outcome"] != "identical":
        raise typer.Exit(1)


def diff(
    trace_id: TraceId,
    other_trace_id: Other,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Compare the plans of two traces, from their records; as with `diff`, the exit code is 1 if they differ."""
    from . import calls, output, tables_comparison

    with calls.opened(address, key, data, os.environ) as service:
        answer = service.differing(trace_id, other_trace_id)
    output.show(answer, tables_comparison.difference, as_json=as_json)
    if not answer["difference"]["identical"]:
        raise typer.Exit(1)
