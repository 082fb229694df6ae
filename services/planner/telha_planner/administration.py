"""
`telha-planner keys …`: API keys, made on the store itself by whoever may write to it.

The answers are JSON objects in camelCase, or lines for people; a refusal is one sentence on stderr and exit code 1.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from telha_planner.config import StoreSettings
from telha_planner.core.errors import TelhaError
from telha_planner.memory import keys
from telha_planner.memory.store import Store, StoreUnusable

DATABASE = "memory.db"
EXIT_REFUSED = 1


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `keys create`, `keys list` and `keys revoke` to the command line."""
    parser = commands.add_parser("keys", help="make, list and revoke API keys on the data folder")
    actions = parser.add_subparsers(dest="action", required=True)
    create = actions.add_parser("create", help="make a key; it is shown once")
    create.add_argument("--tenant", required=True, help="made if it does not exist")
    create.add_argument("--name", required=True, help="what the key is for")
    create.add_argument("--rights", required=True, help="of read, write and admin, separated by commas")
    create.add_argument("--space", action="append", help="limit the key to this space; may be repeated")
    listing = actions.add_parser("list", help="list keys, without their secrets")
    listing.add_argument("--tenant", help="only this tenant's")
    revoke = actions.add_parser("revoke", help="end a key at once")
    revoke.add_argument("key_id")
    for action in (create, listing, revoke):
        place = action.add_mutually_exclusive_group(required=True)
        place.add_argument("--data", type=Path, help="the data folder")
        place.add_argument("--url", help="the store's address; a password is better kept in PGPASSWORD")
        action.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Carry out a `keys` command; returns the exit code."""
    try:
        url = options.url or f"sqlite:///{quote(str(options.data / DATABASE))}"
        store = Store.open(url, busy_timeout_ms=StoreSettings().busy_timeout_ms)
        try:
            answer = {"create": _create, "list": _list, "revoke": _revoke}[options.action](store, options)
        finally:
            store.close()
    except (TelhaError, StoreUnusable) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return EXIT_REFUSED
    sys.stdout.write((json.dumps(answer, ensure_ascii=False) if options.json else _words(answer)) + "\n")
    return 0


def _create(store: Store, options: argparse.Namespace) -> dict[str, Any]:
    rights = [right.strip() for right in options.rights.split(",")]
    key, key_id = keys.create(
        store,
        options.tenant,
        name=options.name,
        rights=rights,
        spaces=options.space,
        now=_now,
        create_tenant=True,
    )
    return {
        "key": key,
        "keyId": key_id,
        "tenant": options.tenant,
        "name": options.name,
        "rights": sorted(set(rights)),
        "spaces": options.space,
    }


def _list(store: Store, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "keys": [
            {
                "keyId": info.key_id,
                "tenant": info.tenant_name,
                "name": info.name,
                "rights": sorted(info.rights),
                "spaces": info.spaces,
                "created": info.created_us,
                "revoked": info.revoked_us,
            }
            for info in keys.list_keys(store, options.tenant)
        ]
    }


def _revoke(store: Store, options: argparse.Namespace) -> dict[str, Any]:
    keys.revoke(store, options.key_id, now=_now)
    return {"keyId": options.key_id, "revoked": True}


def _words(answer: dict[str, Any]) -> str:
    if "keys" in answer:
        return "\n".join(
            f"{key['keyId']}  {key['tenant']}  {','.join(key['rights'])}  {key['name']}" for key in answer["keys"]
        )
    return str(answer.get("key", answer["keyId"]))


def _now() -> int:
    return time.time_ns() // 1000
