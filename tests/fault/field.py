"""
What a fault may act on, and what faults say about themselves.

A fault takes something away from a running system, and gives it back before it returns. Rule 1: the first line of its
docstring says what it means, and stands in the report. Rule 2: faults run in the main thread, since parts die with the
thread that started them. Rule 3: where it can be seen, a fault counts what it met; one without effect proves nothing.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from fault.load import Load
from fault.part import Part
from fault.system import System

FORGOTTEN = "entries that Valkey forgot"
ORPHANED = "records in spools that another planner took over"
REFUSED = "entries that a full Valkey refused"
PENDING = "traces that another planner called pending while Valkey was away"
ENDED = "ends of Valkey on a full disk"
UNSTORED = "traces that waited for a full disk"
STEPPED = "traces recorded an hour back"
"""What faults meet."""


class NotHere(Exception):
    """A fault that this machine or this kind of store does not have; the message says why."""


@dataclass(slots=True)
class Field:
    """
    What a fault may act on.

    Attributes:
        load: What is being called meanwhile.
        scale: 1 for faults of full length; less is shorter.
        met: What the faults were seen to do.
        wrong: What a part did against its promise; empty if all is well.
    """

    system: System
    dice: random.Random
    load: Load
    scale: float
    met: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def pause(self, seconds: float) -> None:
        """Let the fault last for *seconds* of a full run."""
        time.sleep(max(0.0, seconds * self.scale))

    def some(self, parts: list[Part]) -> list[Part]:
        """One of *parts*, or now and then all of them."""
        return parts if self.dice.random() < 0.25 else [self.dice.choice(parts)]


Fault = Callable[[Field], None]


def back(parts: list[Part]) -> None:
    """Start again what has ended, and wait until all of *parts* serve."""
    for part in parts:
        if not part.runs:
            part.start()
    for part in parts:
        part.await_ready()
