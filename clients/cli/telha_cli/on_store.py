"""
Administration on the store itself, without a server: whoever may write to it may make keys, the first one too.

The planner's own entry point does it, in a process of its own.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import parts
from .problems import Problem, UsageInvalid


@dataclass(frozen=True, slots=True)
class Place:
    """
    Where the store is; exactly one of the three.

    Attributes:
        data: A data folder.
        url: The store's address.
        config: A TOML file that names the store.
    """

    data: Path | None = None
    url: str | None = None
    config: Path | None = None

    @property
    def argument(self) -> str:
        """The planner's argument for it."""
        if self.data is not None:
            return f"--data={self.data}"
        return f"--url={self.url}" if self.url is not None else f"--config={self.config}"

    @property
    def words(self) -> str:
        """The store, for a person; of an address only what cannot hold a password."""
        if self.data is not None:
            return f"on the store in {self.data}"
        if self.config is not None:
            return f"on the store that {self.config} names"
        scheme, separator, _ = (self.url or "").partition("://")
        return f"on the {scheme} store given with --url" if separator else "on the store given with --url"


def named(
    data: Path | None, url: str | None, config: Path | None, address: str | None, key: str | None
) -> Place | None:
    """
    The store that the arguments name; None if they name none, so that a server is meant.

    Raises:
        UsageInvalid: They name two, or a server as well.
        Problem: The data folder holds no memory; a misspelt one must not become a new one.
    """
    given = [flag for flag, value in (("--data", data), ("--url", url), ("--config", config)) if value is not None]
    if not given:
        return None
    others = [flag for flag, value in (("--address", address), ("--key", key)) if value is not None]
    if len(given) + len(others) > 1:
        raise UsageInvalid((given[1:] + others)[0], f"must not be given beside {given[0]}, which names a store")
    if data is not None and not (data / "memory.db").is_file():
        hint = "name the folder that `telha up` was started with"
        raise Problem("NOT_FOUND", f"the folder {data} holds no memory", hint=hint)
    return Place(data, url, config)


def administer(place: Place, *arguments: str) -> dict[str, Any]:
    """
    What the planner answers to *arguments*, about the store at *place*.

    Raises:
        Problem: Refused; the sentence is the planner's.
    """
    group, action, *rest = arguments
    command = parts.module("telha_planner", group, action, place.argument, "--json", *rest)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own entry point
    if done.returncode == 0:
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer
    lines = done.stderr.strip().splitlines() or ["the planner's administration failed without a word"]
    raise Problem("FAILED", lines[-1])
