"""The corpus replayed, and a short repeatable round of mutation of each target; `make fuzz` goes on for longer."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz import corpus, run
from fuzz.mutation import mutated
from fuzz.target import Target
from fuzz.targets import NAMES, find

ROUND = {
    "segment": 30,
    "markdown": 30,
    "html": 40,
    "plain": 30,
    "messages": 60,
    "rest": 60,
    "tokens": 40,
    "headers": 30,
}


@pytest.fixture(params=NAMES)
def target(request: pytest.FixtureRequest) -> Target:
    return find(request.param)


def test_seeds_corpus_and_mutants_break_no_law(target: Target) -> None:
    """A1, A2, M2, M4, X2, S10, C3, C7: bad input gets a typed error, good input obeys laws, nothing is half-written."""
    pool = list(target.seeds())
    target.reset()
    accepted = sum([target.run(data) for data in pool])
    assert accepted, "no seed is accepted, so nothing is proven"
    for _, content in corpus.kept(target):
        target.run(content)
    rng = random.Random(20)
    for _ in range(ROUND.get(target.name, 200)):
        target.run(mutated(target, rng.choice(pool), rng.choice(pool), rng))
    target.reset()


def test_every_folder_of_the_corpus_is_a_targets() -> None:
    """A9: a file that nothing replays proves nothing."""
    assert {path.name for path in corpus.FOLDER.iterdir()} <= set(NAMES)


def test_a_defect_is_found_and_kept(tmp_path: Path) -> None:
    """A9: `make fuzz` fails where an input breaks a law, shows where, and leaves the input; else it counts."""
    told = run.fuzz("frame", 0.5, 1, "mutation", tmp_path / "found", tmp_path)
    assert "fault" not in told
    assert told["inputs"] > 50
    assert not (tmp_path / "found").exists()
    broken = subprocess.run(
        [sys.executable, "-c", _BROKEN, "frame", "5", "1", str(tmp_path / "found"), "mutation"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(run.HERE),
    )
    assert broken.returncode == 77
    assert "a law of the test" in broken.stderr
    (kept,) = (tmp_path / "found" / "frame").iterdir()
    assert kept.name in broken.stderr


_BROKEN = """
import sys
sys.path.insert(0, "..")
from fuzz import child, of_stream
from telha_runtime import frame
decode = frame.decode
def broken(fields):
    found = decode(fields)
    if found.seq != 1:
        raise ArithmeticError("a law of the test")
    return found
frame.decode = broken
child.main()
"""
