"""
`telha-planner serve|check [--config FILE]`, and `telha-planner keys|tenants|migrate|copy|eval …`, described with each.

Exit codes of the first two: 0 stopped in order, or nothing wrong with the settings; 69 a part it needs cannot be had;
78 the configuration is wrong.
"""

import argparse
import asyncio
import sys

from telha_runtime import entry, logs

from telha_planner import administration, upkeep
from telha_planner.config import FOREIGN_SECTIONS, PlannerConfig, TokenSettings
from telha_planner.evaluation import options as evaluation


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="telha-planner", description="The Telha memory planner.")
    commands = entry.add_commands(parser, "answer gRPC calls until SIGTERM")
    administration.add_commands(commands)
    upkeep.add_commands(commands)
    evaluation.add_command(commands)
    options = parser.parse_args(arguments)
    if options.command in administration.COMMANDS:
        return administration.run(options)
    if options.command in upkeep.COMMANDS:
        return upkeep.run(options)
    if options.command == "eval":
        from telha_planner.evaluation import command  # noqa: PLC0415  # heavy: see entry

        return command.run(options)
    config = entry.read_settings(PlannerConfig, options.config, FOREIGN_SECTIONS)
    if config is None:
        return entry.EXIT_CONFIG
    if options.command == "check":
        return _check(config)
    logs.configure("planner", config.server.log_level, config.server.log_format)
    from telha_planner import bootstrap  # noqa: PLC0415  # heavy: see entry

    try:
        asyncio.run(bootstrap.serve(config))
    except bootstrap.CONFIGURATION_FAULTS as fault:
        return entry.refused(fault, entry.EXIT_CONFIG)
    except bootstrap.START_FAULTS as fault:
        return entry.refused(fault, entry.EXIT_UNAVAILABLE)
    return 0


def _check(config: PlannerConfig) -> int:
    """Find what only shows when the settings are used, so far as it is cheap; returns the exit code."""
    if config.tokens == TokenSettings():
        return 0
    from telha_planner.models.tokenizers import Tokenizers, TokenizersInvalid  # noqa: PLC0415  # heavy: see entry

    try:
        Tokenizers(config.tokens)
    except TokenizersInvalid as fault:
        return entry.refused(fault, entry.EXIT_CONFIG)
    return 0


if __name__ == "__main__":
    sys.exit(main())
