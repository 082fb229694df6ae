"""
`telha-trace-writer serve`: the trace writer as a process; `check` reads its settings, `migrate` its store.

`dead-letters` looks at what could not become a trace, see dead_letters.py.

Exit codes: 0 stopped in order, or nothing wrong, 69 store or address cannot be had, 78 the configuration is wrong.
"""

import argparse
import asyncio
import sys

from telha_runtime import entry, logs

from . import dead_letters, migrating
from .config import FOREIGN_SECTIONS, WriterConfig


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="telha-trace-writer", description="Persists the traces of Telha planners.")
    commands = entry.add_commands(parser, "consume and serve traces until SIGTERM")
    migrating.add_command(commands)
    dead_letters.add_command(commands)
    options = parser.parse_args(arguments)
    if options.command == "migrate":
        return migrating.run(options)
    if options.command == "dead-letters":
        return dead_letters.run(options)
    config = entry.read_settings(WriterConfig, options.config, FOREIGN_SECTIONS)
    if config is None:
        return entry.EXIT_CONFIG
    if options.command == "check":
        return 0
    logs.configure("trace-writer", config.writer.log_level, config.writer.log_format)
    from telha_runtime.redis import UrlInvalid  # noqa: PLC0415  # heavy: see entry

    from . import service  # noqa: PLC0415
    from .store import StoreUnusable  # noqa: PLC0415

    try:
        asyncio.run(service.serve(config))
    except UrlInvalid as fault:
        return entry.refused(f"trace.redis_url: {fault}", entry.EXIT_CONFIG)
    except (StoreUnusable, service.AddressTaken, OSError) as fault:
        return entry.refused(fault, entry.EXIT_UNAVAILABLE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
