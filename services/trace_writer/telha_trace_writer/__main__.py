"""
`telha-trace-writer serve [--config FILE]`: the trace writer as a process; `check` only reads its settings.

Exit codes: 0 stopped in order, or nothing wrong, 69 store or address cannot be had, 78 the configuration is wrong.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Final

from telha_runtime import logs, settings

from .config import FOREIGN_SECTIONS, WriterConfig

EXIT_UNAVAILABLE: Final = 69
EXIT_CONFIG: Final = 78


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="telha-trace-writer", description="Persists the traces of Telha planners.")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="consume and serve traces until SIGTERM")
    checking = commands.add_parser("check", help="read the settings and name every fault")
    for command in (serving, checking):
        command.add_argument(
            "--config", type=Path, help="the TOML file; without it, defaults and TELHA_ variables alone"
        )
    options = parser.parse_args(arguments)
    try:
        config = settings.load(WriterConfig, options.config, os.environ, foreign_sections=FOREIGN_SECTIONS)
    except settings.SettingsInvalid as invalid:
        sys.stderr.write(f"{invalid}\n")
        return EXIT_CONFIG
    if options.command == "check":
        return 0
    logs.configure("trace-writer", config.writer.log_level, config.writer.log_format)
    # Loaded after the configuration, so that a wrong one is told at once.
    from telha_runtime.redis import UrlInvalid  # noqa: PLC0415

    from . import service  # noqa: PLC0415
    from .store import StoreUnusable  # noqa: PLC0415

    try:
        asyncio.run(service.serve(config))
    except UrlInvalid as fault:
        sys.stderr.write(f"trace.redis_url: {fault}\n")
        return EXIT_CONFIG
    except (StoreUnusable, service.AddressTaken, OSError) as fault:
        sys.stderr.write(f"{fault}\n")
        return EXIT_UNAVAILABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
