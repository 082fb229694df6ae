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
    from . import calls, instants, on_store, output, tables_administration
    from .administered import Administered
    from .problems import UsageInvalid

    if (rights is not None) + admin + operator > 1:
        raise UsageInvalid("--rights", "must not be given beside --admin or --operator, nor these together")
    granted = _OPERATOR if operator else _ADMIN if admin else tuple((rights or "read").split(","))
    name = name or ("operator" if operator else "admin" if admin else None)
    if name is None:
        raise UsageInvalid("--name", "is required")
    until = None if expires is None else instants.parse("--expires", expires)
    place = on_store.named(data, url, config, address, key)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            rights_given = [right.strip() for right in granted]
            answer = Administered(client).create_key(name, rights_given, space or [], tenant, until)
    else:
        words = [f"--name={name}", f"--rights={','.join(granted)}", *(f"--space={one}" for one in space or [])]
        words += [] if tenant is None else [f"--tenant={tenant}"]
        words += [] if until is None else [f"--expires-us={until}"]
        answer = on_store.administer(place, "keys", "create", *words)
    output.show(answer, tables_administration.new_key, as_json=as_json)


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
    from . import calls, on_store, output, tables_administration
    from .administered import Administered

    place = on_store.named(data, url, config, address, key)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            answer = Administered(client).keys(tenant)
    else:
        answer = on_store.administer(place, "keys", "list", *([] if tenant is None else [f"--tenant={tenant}"]))
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
    from . import calls, on_store, output
    from .administered import Administered

    place = on_store.named(data, url, config, address, key)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            answer = Administered(client).revoke_key(key_id)
    else:
        answer = on_store.administer(place, "keys", "revoke", "--", key_id)
    output.show(answer, lambda _: f"revoked {key_id}", as_json=as_json)


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
    from . import calls, on_store, output
    from .administered import Administered
    from .render import safe

    place = on_store.named(data, url, config, address, key)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            answer = Administered(client).create_tenant(name)
    else:
        answer = on_store.administer(place, "tenants", "create", "--", name)
    word = "created" if answer["created"] else "exists already:"
    output.show(answer, lambda _: f"{word} {safe(name)}", as_json=as_json)


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
    from . import calls, on_store, output, tables_administration
    from .administered import Administered

    place = on_store.named(data, url, config, address, key)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            answer = Administered(client).tenants()
    else:
        answer = on_store.administer(place, "tenants", "list")
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
    from . import calls, on_store, output, tables_administration
    from .administered import Administered

    place = on_store.named(data, url, config, address, key)
    confirm("Delete", f"tenant {name}, its keys and its traces", yes=yes)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            answer = Administered(client).delete_tenant(name)
    else:
        answer = on_store.administer(place, "tenants", "delete", "--yes", "--", name)
    output.show(answer, tables_administration.deletion, as_json=as_json)


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
    from . import calls, on_store, output, tables_administration
    from .administered import Administered

    place = on_store.named(data, url, config, address, key)
    if place is None:
        with calls.connected(address, key, None, os.environ) as client:
            answer = Administered(client).deletions()
    else:
        answer = on_store.administer(place, "tenants", "deletions")
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
    from . import calls, output, tables_administration
    from .administered import Administered

    with calls.connected(address, key, data, os.environ) as client:
        confirm("Erase", f"space {name} with all that it holds", yes=yes)
        answer = Administered(client).erase_space(name)
    output.show(answer, tables_administration.space, as_json=as_json)
