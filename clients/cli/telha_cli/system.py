"""Commands that run the system or act on its data folder: up, demo, keys, version."""

import os
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of gRPC.")]
HttpPort = Annotated[int, typer.Option("--http-port", min=1, max=65535, help="Port of REST.")]
UpData = Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder that holds everything; made if absent.")]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings, see docs/configuration.md.", show_default=False),
]
Examples = Annotated[Path, typer.Option("--examples", metavar="DIR", help="Corpus to show, with its corpus.toml.")]
KeyData = Annotated[Path, typer.Option("--data", metavar="DIR", help="The server's data folder.")]

RIGHTS = (
    "Separated by commas, none includes another: read (plans, context, select, sources, traces), "
    "write (ingest, nodes, edges, clarifications, erasing), admin (nothing yet)."
)

keys_app = typer.Typer(help="Make, list and revoke API keys on the server's data folder.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module to *app*."""
    app.command("up")(up)
    app.command("demo")(demo)
    app.add_typer(keys_app, name="keys")
    app.command("version")(version)


def up(
    data: UpData = Path("data"),
    config: Config = None,
    port: Port = 7340,
    http_port: HttpPort = 7380,
    ephemeral_ports: Annotated[bool, typer.Option("--ephemeral-ports", help="Take any free ports.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the logs of all parts.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start the whole system on this machine and stay."""
    from . import up as supervising

    grpc_port, rest_port = (0, 0) if ephemeral_ports else (port, http_port)
    options = supervising.Options(data, grpc_port, rest_port, config, verbose)
    supervising.run(options, os.environ, as_json=as_json)


def demo(examples: Examples = Path("examples")) -> None:
    """Start the system, ingest the examples, ask, prove, stop."""
    from . import demo as showing

    showing.run(examples, os.environ)


@keys_app.command("create")
def create_key(
    name: Annotated[str, typer.Option("--name", help="What the key is for.")],
    tenant: Annotated[str, typer.Option("--tenant", help="Whose memory it opens.")] = "default",
    rights: Annotated[str, typer.Option("--rights", help=RIGHTS)] = "read",
    space: Annotated[
        list[str] | None,
        typer.Option("--space", help="Limit the key to this space; may be repeated.", show_default=False),
    ] = None,
    data: KeyData = Path("data"),
    as_json: AsJson = False,
) -> None:
    """Make a key; it is shown once."""
    from . import keys, output, tables

    keys.need_data(data)
    output.show(keys.create(data, tenant, name, rights, space or []), tables.new_key, as_json=as_json)


@keys_app.command("list")
def list_keys(data: KeyData = Path("data"), as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    from . import keys, output, tables

    keys.need_data(data)
    output.show(keys.listing(data), tables.key_list, as_json=as_json)


@keys_app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The key's id, as `telha keys list` shows it.")],
    data: KeyData = Path("data"),
    as_json: AsJson = False,
) -> None:
    """End a key at once."""
    from . import keys, output

    keys.need_data(data)
    output.show(keys.revoke(data, key_id), lambda _: f"revoked {key_id}", as_json=as_json)


def version(as_json: AsJson = False) -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    from . import output

    output.show({"version": installed("telha")}, lambda told: f"telha {told['version']}", as_json=as_json)
