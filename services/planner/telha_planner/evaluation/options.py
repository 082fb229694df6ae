"""The options of `telha-planner eval`, apart from what carries it out, which is heavy to import."""

import argparse
from pathlib import Path

BUDGETS = "500,1000,2000,4000"
CAPS = "1,0.4"
EMBEDDERS = ("none", "use", "e5", "minilm", "http")
WORK = Path("~/.cache/telha/eval")


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `eval` to the command line."""
    parser = commands.add_parser("eval", prog="telha eval", help="measure evidence recall on a labelled set")
    parser.add_argument("folder", type=Path, help="holds sources.jsonl and questions.jsonl")
    parser.add_argument("--budgets", type=_budgets, default=BUDGETS, metavar="N,N", help="tokens, separated by commas")
    parser.add_argument("--cap", type=_caps, default=CAPS, metavar="X,X", help="shares that one source may take")
    parser.add_argument("--embedder", choices=EMBEDDERS, help="what makes vectors; default: as configured")
    parser.add_argument("--sample", type=_positive, metavar="N", help="ask only N questions, drawn evenly")
    parser.add_argument(
        "--negatives",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="ask the questions of this set too, as ones that have no answer here; repeatable",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--limit-scopes", type=_positive, metavar="N", help="only the first N scopes")
    parser.add_argument("--repeats", type=_positive, default=3, metavar="N", help="times that each plan is made")
    parser.add_argument("--remote", metavar="HOST:PORT", help="ask this planner, over gRPC")
    parser.add_argument("--key", help="API key for --remote with the rights read and write; default TELHA_KEY")
    parser.add_argument("--keep", action="store_true", help="with --remote: do not erase the sources at the end")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, see docs/configuration.md")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one setting; repeatable")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write report.md and report.json there too")
    parser.add_argument("--work", type=Path, default=WORK, metavar="DIR", help="where unfinished runs are kept")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _budgets(text: str) -> tuple[int, ...]:
    return tuple(sorted({_positive(part) for part in text.split(",")}))


def _caps(text: str) -> tuple[float, ...]:
    try:
        caps = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        caps = ()
    if not caps or not all(0 < cap <= 1 for cap in caps):
        raise argparse.ArgumentTypeError("must be numbers above 0 and at most 1")
    return caps


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, at least 1")
    return int(text)
