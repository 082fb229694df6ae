"""
Structured logs on standard error: one line per event, from structlog and from the standard library alike.

Rule 1: standard output belongs to what a program answers; logs never go there.
Rule 2: questions, texts, vectors and credentials are never logged; ids, counts and durations are.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

import structlog

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["json", "console"]

# Libraries whose "info" is chatter about every connection or file.
_QUIET = ("alembic", "asyncio", "grpc", "httpcore", "httpx", "markdown_it", "uvicorn.access")


def configure(service: str, level: Level, fmt: Format) -> None:
    """
    Route every log of this process to standard error.

    Args:
        service: Stands in every line, so that several services can share one stream.
        level: Least level that is written.
        fmt: `json` for machines, `console` for people.
    """

    def name_service(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event.setdefault("service", service)
        return event

    before: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        name_service,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*before, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(fmt)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def _renderers(fmt: Format) -> list[structlog.types.Processor]:
    if fmt == "console":
        # The default shows local variables with a traceback, and those hold questions and keys.
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
