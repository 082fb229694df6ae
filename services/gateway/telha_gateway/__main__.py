"""
`telha-gateway serve [--config FILE]`: the gateway as a process; `check` only reads its settings.

Exit codes: 0 stopped in order, or nothing wrong; 69 the address cannot be had, or a TLS file cannot be read; 78 the
configuration is wrong.
"""

import argparse
import sys

from telha_runtime import entry, logs

from telha_gateway.config import FOREIGN_SECTIONS, GatewayConfig


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="telha-gateway", description="The REST gateway of the Telha memory planner.")
    entry.add_commands(parser, "answer REST requests until SIGTERM")
    options = parser.parse_args(arguments)
    config = entry.read_settings(GatewayConfig, options.config, FOREIGN_SECTIONS)
    if config is None:
        return entry.EXIT_CONFIG
    if options.command == "check":
        return 0
    logs.configure("gateway", config.gateway.log_level, config.gateway.log_format)
    from telha_gateway import service  # noqa: PLC0415  # heavy: see entry

    try:
        service.serve(config.gateway)
    except service.CannotStart as fault:
        return entry.refused(fault, entry.EXIT_UNAVAILABLE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
