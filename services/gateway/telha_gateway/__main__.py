"""
`telha-gateway serve [--config FILE]`: the gateway as a process; `check` only reads its settings.

Exit codes: 0 stopped in order, or nothing wrong; 69 the address cannot be had, or a TLS file cannot be read; 78 the
configuration is wrong.
"""

import argparse
import os
import sys
from pathlib import Path

from telha_runtime import logs, settings

from telha_gateway.config import FOREIGN_SECTIONS, GatewayConfig

EXIT_UNAVAILABLE = 69
EXIT_CONFIG = 78


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="telha-gateway", description="The REST gateway of the Telha memory planner.")
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="answer REST requests until SIGTERM")
    checking = commands.add_parser("check", help="read the settings and name every fault")
    for command in (serving, checking):
        command.add_argument(
            "--config", type=Path, help="the TOML file; without it, defaults and TELHA_ variables alone"
        )
    options = parser.parse_args(arguments)
    try:
        config = settings.load(GatewayConfig, options.config, os.environ, foreign_sections=FOREIGN_SECTIONS)
    except settings.SettingsInvalid as invalid:
        sys.stderr.write(f"{invalid}\n")
        return EXIT_CONFIG
    if options.command == "check":
        return 0
    logs.configure("gateway", config.gateway.log_level, config.gateway.log_format)
    # Loaded after the configuration, so that a wrong one is told at once.
    from telha_gateway import service  # noqa: PLC0415

    try:
        service.serve(config.gateway)
    except service.CannotStart as refused:
        sys.stderr.write(f"{refused}\n")
        return EXIT_UNAVAILABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
