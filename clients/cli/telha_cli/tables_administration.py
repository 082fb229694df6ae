"""Keys, tenants and receipts as a person reads them. A view of the JSON."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from .render import rows, safe, second

Json = Mapping[str, Any]


def done(drawn: Callable[[Json], RenderableType], where: str) -> Callable[[Json], RenderableType]:
    """*drawn*, and below it the system that it was done to."""
    return lambda answer: Group(drawn(answer), Text(where, style="dim"))


def new_key(answer: Json) -> RenderableType:
    """A key just made, with the warning that it is shown once."""
    lines = Text(answer["key"], style="bold", overflow="fold")
    about = Text(f"{answer['keyId']}: tenant ", style="dim").append(safe(answer["tenant"]))
    about.append(f", {', '.join(answer['rights'])}").append(f", spaces {_spaces(answer)}")
    warning = Text("Keep it: it is not stored and cannot be shown again.", style="dim")
    return Group(lines, about, warning)


def keys(answer: Json) -> RenderableType:
    """Keys without their secrets."""
    now_us = time.time_ns() // 1000
    return rows(
        ("id", "tenant", "rights", "spaces", "state", "name"),
        [
            (key["keyId"], key["tenant"], ", ".join(key["rights"]), _spaces(key), _state(key, now_us), key["name"])
            for key in answer["keys"]
        ],
    )


def tenants(answer: Json) -> RenderableType:
    """Tenants, and when each was written last."""
    if not answer["tenants"]:
        return Text("no tenant")
    lines = [
        (tenant["name"], second(tenant["lastTx"]) if "lastTx" in tenant else "never") for tenant in answer["tenants"]
    ]
    return rows(("tenant", "last written"), lines)


def tenant(answer: Json) -> RenderableType:
    """A tenant, made or there before."""
    return Text("created " if answer["created"] else "exists already: ").append(safe(answer["name"]))


def revoked(answer: Json) -> RenderableType:
    """A key, ended."""
    return Text(f"revoked {answer['keyId']}")


def deletions(answer: Json) -> RenderableType:
    """Receipts of deleted tenants."""
    if not answer["deletions"]:
        return Text("no tenant was deleted")
    return rows(
        ("deletion", "tenant", "deleted", "rows", "traces"),
        [
            (
                one["deletionId"],
                one["tenant"],
                second(one["deleted"]),
                str(one["rows"]),
                str(one.get("traces", "pending")),
            )
            for one in answer["deletions"]
        ],
    )


def deletion(answer: Json) -> RenderableType:
    """The receipt of one."""
    traces = answer.get("traces")
    told = "traces are removed as soon as the trace writer answers" if traces is None else f"{traces} traces"
    lines = Text("deleted ").append(safe(answer["tenant"])).append(f": {_removed(answer['removed'])}, ")
    lines.append(f"{answer['keys']} keys, {told}\nreceipt {answer['deletionId']}")
    return lines


def space(answer: Json) -> RenderableType:
    """The receipt of an erased space."""
    return Text("erased ").append(safe(answer["space"])).append(f": {_removed(answer['removed'])}")


def _removed(removed: Json) -> str:
    return ", ".join(f"{count} {what}" for what, count in removed.items())


def _spaces(key: Json) -> str:
    return ", ".join(safe(space).plain for space in key["spaces"]) or "all"


def _state(key: Json, now_us: int) -> str:
    if "revoked" in key:
        return "revoked"
    if "expires" not in key:
        return "active"
    return "expired" if key["expires"] <= now_us else f"until {second(key['expires'])}"
