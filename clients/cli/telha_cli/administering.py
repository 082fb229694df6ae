"""
Commands for keys, tenants and spaces: keys, tenants, spaces.

With `--data`, `--url` or `--config` they act on the store itself, and no server is needed: so the first key is made.
Without them they call a running server, found as by every other command, with the rights of the key.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from . import options as given
from .confirm import confirm

keys_app = typer.Typer(help="Make, list and revoke API keys.", no_args_is_help=True)
tenants_app = typer.Typer(help="Make, list and delete tenants.", no_args_is_help=True)
spaces_app = typer.Typer(help="Erase spaces.", no_args_is_help=True)

RIGHTS = (
    "Separated by commas, none includes another: read (plans, context, select, sources, traces), "
    "write (ingest, nodes, edges, clarifications, erasing sources), admin (keys of the tenant, erasing spaces, "
    "deleting the tenant), operator (tenants, and keys of any). Default: read."
)
_ADMIN = ("read", "write", "admin")
_OPERATOR = (*_ADMIN, "operator")

StoreData = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="Act on the store of this data folder.", show_default=False),
]
StoreUrl = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="Act on the store at this address.", show_default=False)
]
StoreConfig = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Act on the store that these settings name.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
TenantName = Annotated[str, typer.Argument(metavar="NAME", help="The tenant's name.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to *app*."""
    app.add_typer(keys_app, name="keys")
    app.add_typer(tenants_app, name="tenants")
    app.add_typer(spaces_app, name="spaces")


@keys_app.command("create")
def create_key(
    name: Annotated[
        str | None, typer.Option("--name", help="What the key is for. Default: its shorthand.", show_default=False)
    ] = None,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            help="Whose memory it opens. Default: the calling key's own; on the store, default, made if absent.",
            show_default=False,
        ),
    ] = None,
    create_tenant: Annotated[
        bool, typer.Option("--create-tenant", help="Make the tenant that --tenant names, if there is none.")
    ] = False,
    rights: Annotated[str | None, typer.Option("--rights", help=RIGHTS, show_default=False)] = None,
    admin: Annotated[bool, typer.Option("--admin", help="Short for --rights read,write,admin.")] = False,
    operator: Annotated[bool, typer.Option("--operator", help="Short for --rights read,write,admin,operator.")] = False,
    space: Annotated[
        list[str] | None,
        typer.Option("--space", help="Limit the key to this space; may be repeated.", show_default=False),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="When it ends by itself.", show_default=False)
    ] = None,
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """Make a key; it is shown once."""
    from . import administered, instants, output, tables_administration
    from .problems import UsageInvalid

    if (rights is not None) + admin + operator > 1:
        raise UsageInvalid("--rights", "must not be given beside --admin or --operator, nor these together")
    granted = _OPERATOR if operator else _ADMIN if admin else tuple((rights or "read").split(","))
    name = name or ("operator" if operator else "admin" if admin else None)
    if name is None:
        raise UsageInvalid("--name", "is required")
    if create_tenant and tenant is None:
        raise UsageInvalid("--create-tenant", "needs --tenant NAME")
    until = None if expires is None else instants.parse("--expires", expires)
    wanted = administered.NewKey(name, [right.strip() for right in granted], space or [], tenant, until, create_tenant)
    with administered.at(address, key, data, url, config, os.environ) as system:
        answer = system.create_key(wanted)
    output.show(answer, tables_administration.done(tables_administration.new_key, system.where), as_json=as_json)


@keys_app.command("list")
def list_keys(
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Whose. Default: the calling key's own; on the store, all.", show_default=False),
    ] = None,
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """List keys, without their secrets."""
    from . import administered, output, tables_administration

    with administered.at(address, key, data, url, config, os.environ) as system:
        answer = system.keys(tenant)
    output.show(answer, tables_administration.keys, as_json=as_json)


@keys_app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="KEY_ID", help="The key's id, as `telha keys list` shows it.")],
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """End a key at once."""
    from . import administered, output, tables_administration

    with administered.at(address, key, data, url, config, os.environ) as system:
        answer = system.revoke_key(key_id)
    output.show(answer, tables_administration.done(tables_administration.revoked, system.where), as_json=as_json)


@tenants_app.command("create")
def create_tenant(
    name: TenantName,
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """Make a tenant; one that exists stays as it is."""
    from . import administered, output, tables_administration

    with administered.at(address, key, data, url, config, os.environ) as system:
        answer = system.create_tenant(name)
    output.show(answer, tables_administration.done(tables_administration.tenant, system.where), as_json=as_json)


@tenants_app.command("list")
def list_tenants(
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """List tenants, in the order in which they were made."""
    from . import administered, output, tables_administration

    with administered.at(address, key, data, url, config, os.environ) as system:
        answer = system.tenants()
    output.show(answer, tables_administration.tenants, as_json=as_json)


@tenants_app.command("delete")
def delete_tenant(
    name: TenantName,
    yes: Yes = False,
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """Remove a tenant for good: its memory, its keys, its traces. There is no way back."""
    from . import administered, output, tables_administration

    with administered.at(address, key, data, url, config, os.environ) as system:
        confirm("Delete", f"tenant {name}, its keys and its traces, {system.where},", yes=yes)
        answer = system.delete_tenant(name)
    output.show(answer, tables_administration.done(tables_administration.deletion, system.where), as_json=as_json)


@tenants_app.command("deletions")
def list_deletions(
    address: given.Address = None,
    key: given.Key = None,
    data: StoreData = None,
    url: StoreUrl = None,
    config: StoreConfig = None,
    as_json: given.AsJson = False,
) -> None:
    """List the receipts of deleted tenants."""
    from . import administered, output, tables_administration

    with administered.at(address, key, data, url, config, os.environ) as system:
        answer = system.deletions()
    output.show(answer, tables_administration.deletions, as_json=as_json)


@spaces_app.command("erase")
def erase_space(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The space's name.", show_default=False)],
    yes: Yes = False,
    address: given.Address = None,
    key: given.Key = None,
    data: given.Data = None,
    as_json: given.AsJson = False,
) -> None:
    """Remove a space for good, with all that was remembered in it. There is no way back."""
    from . import administered, output, tables_administration

    with administered.on_server(address, key, data, os.environ) as system:
        confirm("Erase", f"space {name} with all that it holds, {system.where},", yes=yes)
        answer = system.erase_space(name)
    output.show(answer, tables_administration.done(tables_administration.space, system.where), as_json=as_json)
