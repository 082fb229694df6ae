"""A bar on standard error: redrawn on a terminal, a line for each tenth elsewhere."""

import sys
import time
from typing import TextIO

_CELLS = 24
_EVERY_S = 0.1
_STEPS = 10


class Progress:
    """
    Tells how far a piece of work is.

    Args:
        title: What is done.
        stream: Where to; None is standard error.
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self._title = title
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._began = self._drawn = time.monotonic()
        self._step = -1

    def told(self, done: int, total: int) -> None:
        """*done* of *total* are finished."""
        now = time.monotonic()
        step = _STEPS * done // max(total, 1)
        if self._live:
            if done < total and now - self._drawn < _EVERY_S:
                return
        elif step == self._step:
            return
        self._drawn, self._step = now, step
        self._draw(done, total, now - self._began)

    def _draw(self, done: int, total: int, seconds: float) -> None:
        full = _CELLS * done // max(total, 1)
        bar = "█" * full + "░" * (_CELLS - full)
        left = f", {seconds / done * (total - done):.0f} s left" if 0 < done < total else f", {seconds:.0f} s"
        end = "" if self._live and done < total else "\n"
        begin = "\r\x1b[K" if self._live else ""
        self._stream.write(f"{begin}{self._title} {bar} {done:,}/{total:,}{left}{end}")
        self._stream.flush()
