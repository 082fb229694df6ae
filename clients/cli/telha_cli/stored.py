"""Commands that look at what is stored: nodes, traces and sources."""

import os
from pathlib import Path
from typing import Annotated

import typer

from . import comparing
from . import options as given
from .confirm import confirm

trace_app = typer.Typer(help="Read the records that prove calls.", no_args_is_help=True)
sources_app = typer.Typer(help="List, read and erase sources.", no_args_is_help=True)

TraceId = Annotated[str, typer.Argument(metavar="TRACE_ID", help="As every answer carries it.")]
SourceId = Annotated[str, typer.Argument(metavar="SOURCE_ID", help="A lower-case UUID.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Most entries to show.")]
PageToken = Annotated[
    str, typer.Option("--page-token", metavar="TOKEN", help="Go on behind an earlier list.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to *app*."""
    app.command("query")(query)
    app.command("reembed")(reembed)
    app.add_typer(trace_app, name="trace")
    app.add_typer(sources_app, name="sources")
    comparing.register(trace_app)


def query(
    find: Annotated[str, typer.Argument(metavar="TYPE", help="The type of the nodes, such as passage.")],
    where: given.Where = None,
    valid_at: given.ValidAt = None,
    tx_at: given.TxAt = None,
    space: given.Space = None,
    limit: Limit = 100,
    page_token: PageToken = "",
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Find nodes by type and by what they say, by id."""
    from . import calls, output, tables

    conditions, instants = calls.conditions(where), calls.window(valid_at, tx_at)
    options = calls.given(where=conditions, spaces=space or None, **instants)
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.query(find, limit, options, page_token)
    output.show(answer, tables.nodes, as_json=as_json)


def reembed(
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Move the key's tenant to the embedding model that the server is configured with."""
    from . import calls, output, tables
    from . import reembed as moving

    with calls.opened(address, key, data, os.environ) as service:
        answer = moving.run(service.reembed, quiet=as_json)
    output.show(answer, tables.facts, as_json=as_json)


@trace_app.command("get")
def get_trace(
    trace_id: TraceId,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Read one trace."""
    from . import calls, output, tables

    with calls.opened(address, key, data, os.environ) as service:
        answer = service.trace(trace_id)
    output.show(answer, tables.trace, as_json=as_json)


@trace_app.command("delete")
def delete_trace(
    trace_id: TraceId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Erase one trace, its question with it; needs the right admin. There is no way back."""
    from . import calls, output, tables

    confirm("Delete", f"trace {trace_id}", yes=yes)
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.delete_trace(trace_id)
    output.show(answer, tables.facts, as_json=as_json)


@trace_app.command("verify")
def verify(
    trace_id: TraceId,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Recompute a trace's plan hash from its record, here; the exit code is 1 if it is another."""
    from . import calls, output, tables

    with calls.opened(address, key, data, os.environ) as service:
        answer = service.verified(trace_id)
    output.show(answer, tables.facts, as_json=as_json)
    if not answer["verified"]:
        raise typer.Exit(1)


@trace_app.command("list")
def list_traces(
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only plan, context or select.", show_default=False)
    ] = None,
    space: Annotated[
        str | None,
        typer.Option("--space", metavar="NAME", help="Only traces that read this space.", show_default=False),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Recorded at or after.", show_default=False)
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Recorded before.", show_default=False)
    ] = None,
    min_used: Annotated[
        float | None,
        typer.Option("--min-used", metavar="SHARE", help="Used at least this share of the budget.", show_default=False),
    ] = None,
    max_used: Annotated[
        float | None,
        typer.Option("--max-used", metavar="SHARE", help="Used at most this share of it.", show_default=False),
    ] = None,
    stranded: Annotated[
        bool | None,
        typer.Option("--stranded/--not-stranded", help="Whether the source cap stranded tokens.", show_default=False),
    ] = None,
    limit: Limit = 50,
    page_token: PageToken = "",
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """List traces, newest first."""
    from . import calls, instants, output, tables

    start = instants.parse("--from", since) if since is not None else None
    end = instants.parse("--to", until) if until is not None else None
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.traces(
            limit,
            page_token,
            kind=kind,
            space=space,
            recorded_from=start,
            recorded_to=end,
            min_used_share=min_used,
            max_used_share=max_used,
            stranded=stranded,
        )
    output.show(answer, lambda told: tables.traces(told, kind), as_json=as_json)


@trace_app.command("dead-letters")
def dead_letters(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="list, show, redrive or drop.")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="As list prints them.")] = None,
    every: Annotated[bool, typer.Option("--all", help="With redrive and drop: every letter.")] = False,
    content: Annotated[bool, typer.Option("--content", help="With show: the record too, questions included.")] = False,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Where store and stream are.", show_default=False),
    ] = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Look at stream entries that could not become traces, and bring them back."""
    from . import dead_letters as letters

    flags = (("--all", every), ("--content", content), ("--json", as_json))
    words = [action, *(name for name, wanted in flags if wanted)]
    raise typer.Exit(letters.run(words, ids or [], config, data, os.environ))


@sources_app.command("list")
def list_sources(
    space: given.Space = None,
    limit: Limit = 100,
    page_token: PageToken = "",
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """List sources, by id."""
    from . import calls, output, tables

    with calls.opened(address, key, data, os.environ) as service:
        answer = service.sources(space or [], limit, page_token)
    output.show(answer, tables.sources, as_json=as_json)


@sources_app.command("get")
def get_source(
    source_id: SourceId,
    text: Annotated[
        bool, typer.Option("--text", help="Print the canonical text; into a pipe or file, it alone.")
    ] = False,
    valid_at: given.ValidAt = None,
    tx_at: given.TxAt = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Read one source."""
    from . import calls, output, tables

    instants = calls.window(valid_at, tx_at)
    with calls.opened(address, key, data, os.environ) as service:
        answer = service.source(source_id, include_text=text, **instants)
    if text and not as_json:
        output.show_text(answer["text"], tables.source(answer))
    else:
        output.show(answer, tables.source, as_json=as_json)


@sources_app.command("erase")
def erase_source(
    source_id: SourceId,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    idempotency_key: given.IdempotencyKey = None,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Remove a source, all its versions and all that was derived from it. There is no way back."""
    from . import calls, output, tables

    with calls.opened(address, key, data, os.environ) as service:
        if not yes:
            name = service.name_of(source_id)
            confirm("Erase", f"source {source_id}" if name is None else f"{name} (source {source_id})", yes=False)
        answer = service.erase(source_id, idempotency_key)
    output.show(answer, tables.erased, as_json=as_json)
