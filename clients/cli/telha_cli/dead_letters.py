"""
`telha trace dead-letters`: the trace writer's own command (`telha-trace-writer dead-letters`), on a data folder.

It acts on the store itself, whether or not a system runs; the copies in the stream go too if one does.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import folder, parts


def run(
    words: Sequence[str], ids: Sequence[str], config: Path | None, data: Path | None, environ: Mapping[str, str]
) -> int:
    """
    Hand *words* and *ids* to the trace writer's command and return its exit code.

    Args:
        words: Action and options.
        ids: Of letters.
        config: Where store and stream are, beside *environ*; None with no *data* is `./data`.
        data: A folder of `telha up`, whose store is meant instead.

    Raises:
        Problem: *config* names a store beside *data*, or cannot be read.
    """
    settings = dict(environ)
    if data is not None:
        parts.refuse_owned(config)
        settings |= parts.stores(data.absolute())
        settings["TELHA_TRACE__REDIS_URL"] = (
            parts.external_redis(config, environ) or f"unix://{folder.noted_sockets(data)}/redis"
        )
    options = ("--config", str(config)) if config else ()
    named = ("--", *ids) if ids else ()
    command = parts.module("telha_trace_writer", "dead-letters", *words, *options, *named)
    return subprocess.run(parts.tied(command), env=settings, check=False).returncode  # noqa: S603  # our own entry point
