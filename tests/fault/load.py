"""
The load: callers that make the calls of a seed, repeat what may be repeated, and write down what they were promised.

Rule 1: a call is attempted `ATTEMPTS` times at most, with growing pauses, at one planner and the other in turn.
Rule 2: what one planner has answered, any can show or call pending: "not found" is a loss.
"""

import itertools
import random
import threading
from collections import deque
from collections.abc import Sequence

from fault.calls import Call, call
from fault.journal import Answered, Journal, Refused, Sent
from fault.wire import Grpc, Refusal, Rest, WrongHash

ATTEMPTS = 6
_PAUSE_S = 0.15
_RECENT = 64
WRONG_HASH = "WRONG_HASH"


class Load:
    """
    *callers* threads that call until `finish`, and at least *count* calls.

    Attributes:
        seed: Decides every call.
        made: Calls begun.
        faults: What went wrong in the callers themselves; empty if all is well.
    """

    def __init__(
        self, journal: Journal, planners: dict[str, str], url: str, key: str, *, seed: int, count: int
    ) -> None:
        self.seed, self.count = seed, count
        self.made = 0
        self.faults: list[str] = []
        self._journal = journal
        self._planners, self._url, self._key = planners, url, key
        self._numbers = itertools.count()
        self._finish = threading.Event()
        self._give_up = threading.Event()
        self._recent: dict[str, deque[Answered]] = {name: deque(maxlen=_RECENT) for name in (*planners, "")}
        self._threads: list[threading.Thread] = []

    def start(self, callers: int) -> None:
        """Begin to call."""
        self._threads = [threading.Thread(target=self._run, args=(at,), daemon=True) for at in range(callers)]
        for thread in self._threads:
            thread.start()

    @property
    def done(self) -> bool:
        """Whether the wanted number of calls has been begun."""
        return self.made >= self.count

    @property
    def calls(self) -> bool:
        """Whether any caller still calls."""
        return any(thread.is_alive() for thread in self._threads)

    def finish(self) -> None:
        """Stop as soon as *count* calls are made."""
        self._finish.set()

    def stop(self) -> None:
        """Stop after the calls in hand, and wait for them."""
        self._give_up.set()
        for thread in self._threads:
            thread.join()

    def ask_elsewhere(self) -> list[str]:
        """For each planner's newest trace, what the other one says of it: a reason, or nothing if it shows it."""
        told = []
        for name, other in itertools.permutations(self._planners, 2):
            newest = list(self._recent[name])[-1:]
            asked = Grpc.open(other, self._planners[other], self._key)
            for answer in newest:
                try:
                    asked.trace(answer.trace_id)
                    told.append("")
                except Refusal as refusal:
                    told.append(refusal.reason)
            asked.channel.close()
        return told

    def _run(self, at: int) -> None:
        planners = [Grpc.open(name, address, self._key) for name, address in self._planners.items()]
        rest = Rest.open(self._url, self._key)
        dice = random.Random(f"{self.seed}/caller/{at}")
        try:
            while not self._give_up.is_set() and not (self.done and self._finish.is_set()):
                number = next(self._numbers)
                self.made = max(self.made, number + 1)
                self._make(call(self.seed, number), planners, rest, dice)
        except Exception as fault:  # noqa: BLE001  # a caller that ends would weaken the proof in silence
            self.faults.append(f"caller {at}: {fault!r}")
        finally:
            for planner in planners:
                planner.channel.close()
            rest.client.close()

    def _make(self, wanted: Call, planners: Sequence[Grpc], rest: Rest, dice: random.Random) -> None:
        first = dice.randrange(len(planners))
        if wanted.kind == "read":
            self._read(wanted, planners[first], rest)
            return
        for attempt in range(1, ATTEMPTS + 1):
            mark, planner = wanted.mark(attempt), planners[(first + attempt) % len(planners)]
            self._journal.write(Sent(wanted.number, wanted.kind, mark))
            try:
                answer = (rest if wanted.rest else planner).send(wanted, mark)
            except Refusal as refusal:
                if not self._refused(wanted, mark, planner, refusal):
                    return
            except WrongHash:
                self._journal.write(Refused(wanted.number, wanted.kind, mark, WRONG_HASH))
                return
            else:
                self._journal.write(answer)
                self._remember(answer)
                return
            if self._give_up.wait(_PAUSE_S * attempt * dice.uniform(0.5, 1.5)):
                return

    def _refused(self, wanted: Call, mark: str, planner: Grpc, refusal: Refusal) -> bool:
        """Write a refusal down; whether to try again."""
        if refusal.trace_id:
            name = "" if wanted.rest else planner.name
            answer = Answered(wanted.number, wanted.kind, mark, name, refusal.trace_id, told={"code": refusal.reason})
            self._journal.write(answer)
            self._remember(answer)
            return False
        self._journal.write(Refused(wanted.number, wanted.kind, mark, refusal.reason))
        return refusal.again

    def _remember(self, answer: Answered) -> None:
        if answer.trace_id:
            self._recent[answer.planner].append(answer)

    def _read(self, wanted: Call, planner: Grpc, rest: Rest) -> None:
        """Read one of the newest traces of either planner or of REST, at *planner* or over REST."""
        recent = [*self._recent.values()][wanted.number % len(self._recent)]
        try:
            answer = recent[-1 - wanted.number % 8]
        except IndexError:
            return
        mark = wanted.mark(1)
        try:
            plan_hash, coordinates = (rest if wanted.rest else planner).trace(answer.trace_id)
        except Refusal as refusal:
            self._journal.write(Refused(wanted.number, wanted.kind, f"{mark} of {answer.mark}", refusal.reason))
        else:
            told = {"of": answer.mark}
            shown = Answered(wanted.number, wanted.kind, mark, planner.name, "", plan_hash, coordinates, told=told)
            self._journal.write(shown)
