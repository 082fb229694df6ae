"""
`telha-planner serve [--config FILE]`, `telha-planner check [--config FILE]` and `telha-planner keys …`.

Exit codes of the first two: 0 stopped in order, or nothing wrong with the settings; 69 a part it needs cannot be had;
78 the configuration is wrong.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from telha_runtime import logs, settings

from telha_planner import administration
from telha_planner.config import FOREIGN_SECTIONS, PlannerConfig

EXIT_UNAVAILABLE = 69
EXIT_CONFIG = 78


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="telha-planner", description="The Telha memory planner.")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="answer gRPC calls until SIGTERM")
    checking = commands.add_parser("check", help="read the settings and name every fault")
    for command in (serving, checking):
        command.add_argument(
            "--config", type=Path, help="the TOML file; without it, defaults and TELHA_ variables alone"
        )
    administration.add_commands(commands)
    options = parser.parse_args(arguments)
    if options.command == "keys":
        return administration.run(options)
    return _serve(options.config, check_only=options.command == "check")


def _serve(path: Path | None, *, check_only: bool) -> int:
    try:
        config = settings.load(PlannerConfig, path, os.environ, foreign_sections=FOREIGN_SECTIONS)
    except settings.SettingsInvalid as invalid:
        sys.stderr.write(f"{invalid}\n")
        return EXIT_CONFIG
    if check_only:
        return 0
    logs.configure("planner", config.server.log_level, config.server.log_format)
    # Loaded after the configuration, so that a wrong one is told at once.
    from telha_planner import bootstrap  # noqa: PLC0415

    try:
        asyncio.run(bootstrap.serve(config))
    except bootstrap.CONFIGURATION_FAULTS as fault:
        sys.stderr.write(f"{fault}\n")
        return EXIT_CONFIG
    except bootstrap.START_FAULTS as fault:
        sys.stderr.write(f"{fault}\n")
        return EXIT_UNAVAILABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
