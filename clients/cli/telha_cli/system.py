"""Commands that run the system, act on its data folder or measure it: up, backup, restore, migrate, eval, others."""

import os
from pathlib import Path
from typing import Annotated

import typer

from .embedder import Embedder
from .options import AsJson

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of gRPC.")]
HttpPort = Annotated[int, typer.Option("--http-port", min=1, max=65535, help="Port of REST.")]
UpData = Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder that holds everything; made if absent.")]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings, see docs/configuration.md.", show_default=False),
]
Examples = Annotated[Path, typer.Option("--examples", metavar="DIR", help="Corpus to show, with its corpus.toml.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to *app*."""
    app.command("up")(up)
    app.command("demo")(demo)
    app.command("eval")(evaluate)
    app.command("migrate")(migrate)
    app.command("copy")(copy)
    app.command("backup")(backup)
    app.command("restore")(restore)
    app.command("version")(version)


def up(
    data: UpData = Path("data"),
    config: Config = None,
    port: Port = 7340,
    http_port: HttpPort = 7380,
    ephemeral_ports: Annotated[bool, typer.Option("--ephemeral-ports", help="Take any free ports.")] = False,
    embedder: Annotated[
        Embedder | None,
        typer.Option("--embedder", help="What makes vectors of texts; kept in the folder.", show_default=False),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the logs of all parts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start the whole system on this machine and stay."""
    from . import up as supervising

    grpc_port, rest_port = (0, 0) if ephemeral_ports else (port, http_port)
    options = supervising.Options(data, grpc_port, rest_port, config, verbose, embedder)
    supervising.run(options, os.environ, as_json=as_json)


def demo(examples: Examples = Path("examples")) -> None:
    """Start the system, ingest the examples, ask, prove, stop."""
    from . import demo as showing

    showing.run(examples, os.environ)


def evaluate(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Holds sources.jsonl and questions.jsonl.")],
    budgets: Annotated[str, typer.Option("--budgets", metavar="N,N", help="Tokens.")] = "500,1000,2000,4000",
    cap: Annotated[str, typer.Option("--cap", metavar="X,X", help="Shares that one source may take.")] = "1,0.4",
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder", metavar="NAME", help="none, use, e5 or minilm. Default: as configured.", show_default=False
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Ask only N questions.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Which N.")] = 0,
    limit_scopes: Annotated[
        int | None, typer.Option("--limit-scopes", metavar="N", min=1, help="The first N scopes.", show_default=False)
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Times that each plan is made.")] = 3,
    negatives: Annotated[
        list[Path] | None,
        typer.Option(
            "--negatives",
            metavar="FOLDER",
            help="Ask this set's questions too, as ones without an answer here.",
            show_default=False,
        ),
    ] = None,
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="HOST:PORT", help="Ask this planner, over gRPC.", show_default=False),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="For --remote; needs read and write. Default: TELHA_KEY.", show_default=False),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="With --remote: leave the sources there.")] = False,
    config: Config = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="One setting, as planner.scoring.sharpening=16.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="DIR", help="Write report.md and report.json there.", show_default=False),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            "--work", metavar="DIR", help="Where unfinished runs are kept. Default: your cache.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Measure how much labelled evidence plans hold, docs/evaluation.md."""
    from . import evaluating

    told = {
        "--budgets": budgets,
        "--cap": cap,
        "--embedder": embedder,
        "--sample": sample,
        "--seed": seed,
        "--limit-scopes": limit_scopes,
        "--repeats": repeats,
        "--remote": remote,
        "--key": key,
        "--config": config,
        "--output": output,
        "--work": work,
    }
    arguments = [f"{name}={value}" for name, value in told.items() if value is not None]
    arguments += [f"--set={one}" for one in change or []]
    arguments += [f"--negatives={one}" for one in negatives or []]
    arguments += [name for name, wanted in (("--keep", keep), ("--json", as_json)) if wanted]
    raise typer.Exit(evaluating.run([*arguments, "--", str(folder)]))


def migrate(
    config: Config = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="A data folder of `telha up`.", show_default=False),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 if something is pending.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the schemas of memory and traces up to date."""
    from . import migrate as migrating
    from . import output, tables

    answer = migrating.run(config, data, os.environ, check=check)
    output.show(answer, tables.migrations, as_json=as_json)
    raise typer.Exit(migrating.exit_code(answer))


def copy(
    source: Annotated[
        str, typer.Option("--from", metavar="URL", help="The store to read, sqlite:///… or postgresql://…")
    ],
    target: Annotated[str, typer.Option("--to", metavar="URL", help="The empty store to fill.")],
    as_json: AsJson = False,
) -> None:
    """Copy a whole memory store into an empty one, of either engine."""
    from . import copying

    raise typer.Exit(copying.run(source, target, as_json=as_json))


def backup(
    place: Annotated[Path, typer.Argument(metavar="BACKUP", help="The folder to make, or the backup to check.")],
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", help="The data folder; may be running. Default: ./data.", show_default=False
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Make nothing; read all of BACKUP and say if it holds.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Back a data folder up while it runs, or check a backup."""
    from . import backup as backing_up
    from . import output, tables
    from .problems import UsageInvalid

    if check and data is not None:
        raise UsageInvalid("--data", "must not be given beside --check, which looks at a backup alone")
    made = backing_up.check(place) if check else backing_up.take(data or Path("data"), place, os.environ)
    output.show(made, tables.backup, as_json=as_json)


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="The backup.")],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The data folder to make; absent or empty.")],
    as_json: AsJson = False,
) -> None:
    """Make a data folder from a backup."""
    from . import output, tables
    from . import restore as restoring

    output.show(restoring.run(source, data, os.environ), tables.backup, as_json=as_json)


def version(as_json: AsJson = False) -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    from . import output

    output.show({"version": installed("telha")}, lambda told: f"telha {told['version']}", as_json=as_json)
