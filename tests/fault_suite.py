"""
`make fault`: everything fails, under load, and nothing acknowledged is lost or doubled.

Real processes on loopback, in a temporary folder. The same seed makes the same calls and the same faults in the same
order; when exactly they meet is the machine's affair. Exit code 1 if anything is wrong; the logs stay then.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fault.faults import FAULTS
from fault.part import PartFailed
from fault.run import Options, run
from fault.stores import Databases, Files, Stores
from fixtures.postgres import a_server


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[Stores]:
    """Stores of *kind*, `sqlite` or `postgres`."""
    if kind == "sqlite":
        yield Files(folder)
    else:
        with a_server() as server:
            yield Databases(server)


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20_000, help="least number of calls")
    parser.add_argument("--seed", type=int, default=None, help="of calls and faults; default: a new one, which is told")
    parser.add_argument("--stores", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--faults", nargs="+", choices=tuple(FAULTS), default=tuple(FAULTS), help="kinds")
    parser.add_argument("--scale", type=float, default=1.0, help="length of the faults that last")
    parser.add_argument("--minutes", type=float, default=45, help="bound of the load")
    parser.add_argument(
        "--settle", type=float, default=180, help="seconds that the system has to bring everything home"
    )
    parser.add_argument("--output", type=Path, help="also write the report there")
    parser.add_argument("--keep", action="store_true", help="leave stores, journal and logs, wrong or not")
    told = parser.parse_args()
    seed = random.SystemRandom().randrange(10_000) if told.seed is None else told.seed
    options = Options(told.calls, seed, tuple(told.faults), told.scale, minutes=told.minutes, settle_s=told.settle)
    folder = Path(tempfile.mkdtemp(prefix="telha-fault-"))
    _say(f"seed {seed}, {told.calls} calls on {told.stores}, in {folder}")
    right = False
    try:
        with opened(told.stores, folder) as stores:
            report, read = run(options, folder, stores, _say)
        right = report.right
        text = report.markdown(read)
        sys.stdout.write(f"\n{text}\n")
        if told.output:
            told.output.write_text(f"{text}\n", encoding="utf-8")
    except PartFailed as failed:
        _say(str(failed))
    except KeyboardInterrupt:
        _say("interrupted; every process was ended")
        return 130
    finally:
        if right and not told.keep:
            shutil.rmtree(folder)
        else:
            _say(f"logs, stores and journal are in {folder}")
    return 0 if right else 1


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
