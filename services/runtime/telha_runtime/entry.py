"""
What the command lines of the services have in common: `serve` and `check`, the settings file, the exit codes.

Rule: nothing heavy is imported before the settings are known to be right, so that a wrong one is told at once.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel

from . import settings

EXIT_UNAVAILABLE: Final = 69
"""A part, an address or a file that the service needs cannot be had (`EX_UNAVAILABLE` of sysexits)."""

EXIT_CONFIG: Final = 78
"""The configuration is wrong (`EX_CONFIG` of sysexits)."""

Config = TypeVar("Config", bound=BaseModel)


def add_commands(parser: argparse.ArgumentParser, serves: str) -> "argparse._SubParsersAction[argparse.ArgumentParser]":
    """
    Add `serve` and `check`, each with `--config`.

    Args:
        serves: What the service does until SIGTERM, for the help.

    Returns:
        Where a service adds commands of its own.
    """
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help=serves)
    checking = commands.add_parser("check", help="read the settings and name every fault")
    for command in (serving, checking):
        command.add_argument(
            "--config", type=Path, help="the TOML file; without it, defaults and TELHA_ variables alone"
        )
    return commands


def read_settings(model: type[Config], path: Path | None, foreign_sections: frozenset[str]) -> Config | None:
    """The settings of the file at *path* and the environment; None if they are wrong, which is then told on stderr."""
    try:
        return settings.load(model, path, os.environ, foreign_sections=foreign_sections)
    except settings.SettingsInvalid as invalid:
        sys.stderr.write(f"{invalid}\n")
        return None


def refused(reason: object, exit_code: int) -> int:
    """Say on stderr why the service cannot go on; returns *exit_code*."""
    sys.stderr.write(f"{reason}\n")
    return exit_code
