"""
`telha-planner keys …` and `telha-planner tenants …`: on the store itself, by whoever may write to it.

So the first key is made: before there is one, no call can ask for it. A running planner need not be stopped.
The answers are JSON objects in camelCase, or lines for people; a refusal is one sentence on stderr and exit code 1.
"""

import argparse
import json
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

from telha_runtime import entry

from telha_planner.caller import RIGHTS
from telha_planner.config import FOREIGN_SECTIONS, PlannerConfig, StoreSettings
from telha_planner.core.errors import NotFound, RequestInvalid, TelhaError
from telha_planner.core.value import check_name, format_uuid
from telha_planner.memory import erasure_tenant, keys, tenants
from telha_planner.memory.directory import Directory
from telha_planner.memory.keys import KeyInfo
from telha_planner.memory.receipts import Deletion
from telha_planner.memory.store import Store, StoreUnusable

COMMANDS = ("keys", "tenants")
DATABASE = "memory.db"
EXIT_REFUSED = 1
FIRST_TENANT = "default"
_ALL = sys.maxsize
_ADMIN = RIGHTS[: RIGHTS.index("admin") + 1]

Answer = dict[str, Any]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `keys create|list|revoke` and `tenants create|list|delete|deletions` to the command line."""
    actions = _group(commands, "keys", "make, list and revoke API keys on the store")
    create = _action(actions, "create", _create_key, "make a key; it is shown once")
    create.add_argument("--tenant", help=f"must exist; default: {FIRST_TENANT}, which is made if it does not")
    create.add_argument("--create-tenant", action="store_true", help="make the tenant if it does not exist")
    create.add_argument("--name", help="what the key is for; default: its shorthand")
    rights = create.add_mutually_exclusive_group(required=True)
    rights.add_argument("--rights", help=f"of {', '.join(RIGHTS)}, separated by commas")
    rights.add_argument("--admin", action="store_true", help=f"all of {', '.join(_ADMIN)}")
    rights.add_argument("--operator", action="store_true", help=f"all of {', '.join(RIGHTS)}")
    create.add_argument("--space", action="append", help="limit the key to this space; may be repeated")
    create.add_argument("--expires-us", type=int, help="when it ends by itself, microseconds since 1970 UTC")
    listing = _action(actions, "list", _list_keys, "list keys, without their secrets")
    listing.add_argument("--tenant", help="only this tenant's")
    _action(actions, "revoke", _revoke_key, "end a key at once").add_argument("key_id")
    actions = _group(commands, "tenants", "make, list and delete tenants on the store")
    _action(actions, "create", _create_tenant, "make a tenant, unless it exists").add_argument("name")
    _action(actions, "list", _list_tenants, "list tenants")
    delete = _action(actions, "delete", _delete_tenant, "remove a tenant for good, with its keys")
    delete.add_argument("name")
    delete.add_argument("--yes", action="store_true", required=True, help="there is no way back")
    _action(actions, "deletions", _list_deletions, "list the receipts of deleted tenants")


def run(options: argparse.Namespace) -> int:
    """Carry out one of `COMMANDS`; returns the exit code."""
    settings = _settings(options)
    if settings is None:
        return entry.EXIT_CONFIG
    try:
        store = Store.open(settings.url, busy_timeout_ms=settings.busy_timeout_ms)
        try:
            answer, words = options.act(store, options)
        finally:
            store.close()
    except (TelhaError, StoreUnusable) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return EXIT_REFUSED
    sys.stdout.write((json.dumps(answer, ensure_ascii=False) if options.json else words) + "\n")
    return 0


def _group(commands: Any, name: str, about: str) -> Any:  # noqa: ANN401 (argparse has no public name for it)
    return commands.add_parser(name, help=about).add_subparsers(dest="action", required=True)


def _action(
    actions: Any,  # noqa: ANN401 (as above)
    name: str,
    act: Callable[[Store, argparse.Namespace], tuple[Answer, str]],
    about: str,
) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=about)
    place = action.add_mutually_exclusive_group(required=True)
    place.add_argument("--data", type=Path, help="the data folder")
    place.add_argument("--url", help="the store's address; a password is better kept in PGPASSWORD")
    place.add_argument("--config", type=Path, help="the TOML file that names the store")
    action.add_argument("--json", action="store_true", help="print JSON")
    action.set_defaults(act=act)
    return action


def _settings(options: argparse.Namespace) -> StoreSettings | None:
    if options.config is not None:
        config = entry.read_settings(PlannerConfig, options.config, FOREIGN_SECTIONS)
        return None if config is None else config.store
    return StoreSettings(url=options.url or f"sqlite:///{quote(str(options.data / DATABASE))}")


def _create_key(store: Store, options: argparse.Namespace) -> tuple[Answer, str]:
    rights, name = [right.strip() for right in (options.rights or "").split(",")], options.name
    if options.admin or options.operator:
        rights, name = [*(_ADMIN if options.admin else RIGHTS)], name or ("admin" if options.admin else "operator")
    if name is None:
        raise RequestInvalid(field="name", rule="is required")
    tenant = FIRST_TENANT if options.tenant is None else options.tenant
    try:
        key, key_id = keys.create(
            store,
            tenant,
            name=name,
            rights=rights,
            spaces=options.space,
            expires_us=options.expires_us,
            now=_now,
            create_tenant=options.create_tenant or options.tenant is None,
        )
    except NotFound:
        raise RequestInvalid(field="tenant", rule="must exist; --create-tenant makes it") from None
    (info,) = (info for info in keys.list_keys(store, tenant) if info.key_id == key_id)
    return {"key": key, **_key(info)}, key


def _list_keys(store: Store, options: argparse.Namespace) -> tuple[Answer, str]:
    found = keys.list_keys(store, options.tenant)
    words = [f"{info.key_id}  {info.tenant_name}  {','.join(_key(info)['rights'])}  {info.name}" for info in found]
    return {"keys": [_key(info) for info in found]}, "\n".join(words)


def _revoke_key(store: Store, options: argparse.Namespace) -> tuple[Answer, str]:
    keys.revoke(store, options.key_id, now=_now)
    (info,) = (info for info in keys.list_keys(store) if info.key_id == options.key_id)
    return _key(info), options.key_id


def _create_tenant(store: Store, options: argparse.Namespace) -> tuple[Answer, str]:
    check_name("name", options.name)
    with store.writing() as connection:
        created = tenants.locked(connection, options.name) is None
        if created:
            tenants.insert(connection, options.name, _now())
    return {"name": options.name, "created": created}, options.name


def _list_tenants(store: Store, _: argparse.Namespace) -> tuple[Answer, str]:
    found = Directory(store, _now).tenants(0, _ALL)
    told = [{"name": info.name, **({"lastTx": info.last_tx} if info.last_tx else {})} for info in found]
    return {"tenants": told}, "\n".join(info.name for info in found)


def _delete_tenant(store: Store, options: argparse.Namespace) -> tuple[Answer, str]:
    check_name("name", options.name)
    with store.reading() as connection:
        number = tenants.number_of(connection, options.name)
    if number is None:
        raise NotFound(resource="tenant")
    with store.writing(number) as connection:
        deletion = erasure_tenant.delete(connection, number, uuid.uuid4().bytes, _now())
    store.scrub()
    words = f"{deletion.rows:,} rows removed; a running planner has the traces deleted, else the next one to start"
    return _deletion(deletion), words


def _list_deletions(store: Store, _: argparse.Namespace) -> tuple[Answer, str]:
    found = Directory(store, _now).deletions(0, _ALL)
    words = [f"{format_uuid(one.deletion_id)}  {one.name}  {one.rows:,} rows" for one in found]
    return {"deletions": [_deletion(one) for one in found]}, "\n".join(words)


def _key(info: KeyInfo) -> Answer:
    told: Answer = {
        "keyId": info.key_id,
        "tenant": info.tenant_name,
        "name": info.name,
        "rights": [right for right in RIGHTS if right in info.rights],
        "spaces": list(info.spaces or ()),
        "created": info.created_us,
        "expires": info.expires_us,
        "revoked": info.revoked_us,
    }
    return {name: value for name, value in told.items() if value is not None}


def _deletion(deletion: Deletion) -> Answer:
    return {
        "deletionId": format_uuid(deletion.deletion_id),
        "tenant": deletion.name,
        "deleted": deletion.deleted_us,
        "removed": asdict(deletion.removed),
        "keys": deletion.keys,
        "rows": deletion.rows,
        **({} if deletion.traces is None else {"traces": deletion.traces}),
    }


def _now() -> int:
    return time.time_ns() // 1000
