"""
One target, fuzzed in a process of its own, with bounds on its memory and its time.

    python tests/fuzz/child.py TARGET SECONDS SEED FOLDER ENGINE

Engine `atheris` is guided by coverage, `mutation` is not. An input that breaks a law, or takes too long or too much
memory, is written to FOLDER, and the process ends with `FOUND`. The last line of standard output is a JSON object.
"""

import json
import logging
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

FOUND = 77
MOST_BYTES = 3 << 30
"""Address space of the process: libraries, tables of tokens and vocabularies map one."""
PER_INPUT_S = 10.0
"""CPU seconds that one input of at most 16 kB may take, on a slow machine; the growth tests have the sharper bounds."""


class TooSlow(Exception):
    """An input took longer than `PER_INPUT_S`."""


class Fuzzing:
    """
    Runs inputs and counts what became of them.

    Attributes:
        inputs, accepted: Since the start.
        slowest_s: Of one input.
    """

    def __init__(self, name: str, folder: Path) -> None:
        from fuzz.targets import find

        self.target = find(name)
        self._folder = folder
        self.inputs = self.accepted = 0
        self.slowest_s = 0.0
        self.started = time.monotonic()
        signal.signal(signal.SIGPROF, _late)

    def warm(self) -> None:
        """Run the seeds, which load what is loaded once, and count anew."""
        for data in self.target.seeds():
            self.one(data)
        self.inputs = self.accepted = 0
        self.slowest_s = 0.0

    def one(self, data: bytes) -> None:
        """Run *data*; ends the process if it shows a defect."""
        from fuzz import corpus

        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, PER_INPUT_S)
        try:
            self.accepted += self.target.run(data)
        except BaseException:  # noqa: BLE001  # whatever comes out is the finding
            signal.setitimer(signal.ITIMER_PROF, 0)
            path = corpus.keep(self.target, data, self._folder, "found")
            sys.stderr.write(f"{traceback.format_exc()}\nthe input is in {path}\n")
            self.tell()
            # Whatever guides us may catch an exit.
            sys.stdout.flush()
            sys.stderr.flush()
            _exit(FOUND)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.inputs += 1
        self.slowest_s = max(self.slowest_s, time.process_time() - began)

    def tell(self) -> None:
        """Print the counts."""
        told = {
            "target": self.target.name,
            "inputs": self.inputs,
            "accepted": self.accepted,
            "slowest_ms": round(self.slowest_s * 1000),
            "seconds": round(time.monotonic() - self.started, 1),
            "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
        sys.stdout.write(f"\n{json.dumps(told)}\n")
        sys.stdout.flush()


def _late(_: int, __: FrameType | None) -> None:
    raise TooSlow(f"more than {PER_INPUT_S} s")


def _exit(code: int) -> None:
    os._exit(code)


def by_mutation(fuzzing: Fuzzing, seconds: float, seed: int) -> None:
    """Mutate the corpus, and what is accepted on the way, for *seconds*."""
    from fuzz import corpus
    from fuzz.mutation import mutated

    rng = random.Random(seed)
    pool = corpus.inputs(fuzzing.target)
    for data in pool:
        fuzzing.one(data)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        data = mutated(fuzzing.target, rng.choice(pool), rng.choice(pool), rng)
        before = fuzzing.accepted
        fuzzing.one(data)
        if fuzzing.accepted > before and len(data) < 4096 and rng.random() < 0.05:
            pool.append(data)
            if len(pool) > 500:
                pool.pop(rng.randrange(len(pool)))


def by_coverage(fuzzing: Fuzzing, atheris: Any, seconds: float, seed: int) -> None:
    """Let libFuzzer choose what to mutate, for *seconds*; the mutations are ours and its own in turn."""
    from fuzz import corpus
    from fuzz.mutation import MOST_BYTES as LONGEST
    from fuzz.mutation import mutated

    pool = corpus.inputs(fuzzing.target)
    seeds = Path(tempfile.gettempdir()) / "seeds" / fuzzing.target.name
    seeds.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(pool):
        (seeds / f"{number:06}").write_bytes(data)

    def mutate(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.3:
            return bytes(atheris.Mutate(data, most))
        return mutated(fuzzing.target, data, rng.choice(pool), rng)[:most]

    end = time.monotonic() + seconds

    def one(data: bytes) -> None:
        fuzzing.one(data)
        if time.monotonic() > end:
            fuzzing.tell()
            _exit(0)

    # libFuzzer's own clock is coarse, and it would end without a word of ours.
    options = [
        f"-seed={seed}",
        f"-max_len={LONGEST}",
        "-len_control=0",
        "-rss_limit_mb=0",
        "-timeout=60",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *options, str(seeds)], one, custom_mutator=mutate)
    atheris.Fuzz()


def _quiet() -> None:
    import structlog

    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


def main() -> None:
    """Fuzz one target."""
    name, seconds, seed, folder, engine = (
        sys.argv[1],
        float(sys.argv[2]),
        int(sys.argv[3]),
        Path(sys.argv[4]),
        sys.argv[5],
    )
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, str(Path(__file__).parents[1]))
    if engine == "atheris":
        import atheris

        with atheris.instrument_imports(
            include=["telha_planner", "telha_gateway", "telha_runtime", "telha_trace_writer", "telha_cli"]
        ):
            fuzzing = Fuzzing(name, folder)
        _quiet()
        fuzzing.warm()
        by_coverage(fuzzing, atheris, seconds, seed)
    else:
        fuzzing = Fuzzing(name, folder)
        _quiet()
        fuzzing.warm()
        by_mutation(fuzzing, seconds, seed)
        fuzzing.tell()


if __name__ == "__main__":
    main()
