"""What a fault run says at its end: a table for people, and whether anything is wrong."""

from collections import Counter
from dataclasses import dataclass, field

from fault.checks import Findings
from fault.faults import FAULTS, says
from fault.journal import Read


@dataclass(slots=True)
class Report:
    """
    The outcome of one run.

    Attributes:
        calls: How many were made, reads of traces among them.
        faults: How often each kind struck.
        met: What they were seen to do.
        absent: Kinds that this machine or store does not have, with the reason.
        load_s: How long the load ran.
        settle_s: How long the system took to bring everything home; None: it did not in time.
        traces: Traces in the store.
        texts: Returned texts that were cut anew.
        again: Calls that were made again.
        found: What is wrong.
    """

    stores: str
    seed: int
    calls: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    absent: dict[str, str] = field(default_factory=dict)
    load_s: float = 0.0
    settle_s: float | None = None
    traces: int = 0
    texts: int = 0
    again: int = 0
    found: Findings = field(default_factory=Findings)

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.found.any and self.settle_s is not None

    def markdown(self, journal: Read) -> str:
        """The report as Markdown."""
        attempts = Counter(sent.kind for sent in journal.sent.values())
        answered = Counter(answer.kind for answer in journal.answered.values())
        reasons = Counter(refused.reason for refused in journal.refused)
        found = self.found
        kinds = [f"| {kind} | {attempts[kind] or '–'} | {answered[kind]} |" for kind in sorted(answered | attempts)]
        settled = "not in time" if self.settle_s is None else f"{self.settle_s:.1f} s"
        rows = {
            "calls": self.calls,
            "attempts, reads apart": len(journal.sent),
            "acknowledged": len(journal.answered),
            "of these with a trace": len(journal.traced),
            "traces found": self.traces,
            "lost": len(found.lost),
            "doubled": len(found.doubled),
            "of no call that was sent": len(found.unknown),
            "mismatches": len(found.mismatched),
            "broken stores, spools, streams, exits": len(found.broken),
            "returned texts cut anew": self.texts,
            "calls made again": self.again,
            "seconds of load": f"{self.load_s:.0f}",
            "settled after": settled,
        }
        return "\n".join(
            [
                f"# Fault run on {self.stores}, seed {self.seed}: {'nothing is wrong' if self.right else 'WRONG'}",
                "",
                *_table(("what", "count"), [f"| {name} | {value} |" for name, value in rows.items()]),
                *_table(("fault", "times"), [self._fault(name) for name in FAULTS]),
                *_table(
                    ("what the faults met", "count"), [f"| {name} | {count} |" for name, count in self.met.items()]
                ),
                *_table(("calls", "attempts", "acknowledged"), kinds),
                *_table(
                    ("refused with", "attempts"), [f"| {name} | {count} |" for name, count in reasons.most_common()]
                ),
                *(f"- {line}" for line in found.told()),
            ]
        )

    def _fault(self, name: str) -> str:
        times = f"not here: {self.absent[name]}" if name in self.absent else str(self.faults[name])
        return f"| {says(name)} | {times} |"


def _table(head: tuple[str, ...], rows: list[str]) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *rows, ""]
