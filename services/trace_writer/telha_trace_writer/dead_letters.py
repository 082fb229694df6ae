"""
`telha-trace-writer dead-letters list|show|redrive|drop`: look at what could not become a trace, and bring it back.

`list` and `show` print no question and no record, unless `show --content` asks for it. `redrive` reads letters again as
this version reads, stores those that are traces now, and leaves the others with the reason why not. Exit codes: 0 done;
1 a letter was not found, or still cannot be stored; 69 the store cannot be used; 78 the configuration is wrong.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from telha_runtime import entry

from .config import FOREIGN_SECTIONS, LettersConfig

if TYPE_CHECKING:
    from .store import Buried, Store

EXIT_LEFT: Final = 1


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `dead-letters` to the command line."""
    parser = commands.add_parser("dead-letters", help="look at entries that could not become traces, and re-drive them")
    actions = parser.add_subparsers(dest="action", required=True)
    acts = {
        "list": "id, tenant, trace, time, size and reason of each",
        "show": "one letter and the frame of its entry",
        "redrive": "read letters again, and store those that are traces now",
        "drop": "remove letters for good",
    }
    for name, explained in acts.items():
        action = actions.add_parser(name, help=explained)
        action.add_argument(
            "--config", type=Path, help="the TOML file; without it, defaults and TELHA_ variables alone"
        )
        action.add_argument("--json", action="store_true", help="print JSON")
        if name == "show":
            action.add_argument("ids", nargs=1, metavar="ID", help="as list prints it")
            action.add_argument("--content", action="store_true", help="print the record too, questions included")
        elif name != "list":
            action.add_argument("ids", nargs="*", metavar="ID", help="as list prints them")
            action.add_argument("--all", action="store_true", help="every letter")


def run(options: argparse.Namespace) -> int:
    """Carry out `dead-letters` and return the exit code."""
    if options.action in ("redrive", "drop") and options.all == bool(options.ids):
        sys.stderr.write(f"dead-letters {options.action} needs ids, or --all\n")
        return entry.EXIT_CONFIG
    config = entry.read_settings(LettersConfig, options.config, FOREIGN_SECTIONS)
    if config is None:
        return entry.EXIT_CONFIG
    from . import opening  # noqa: PLC0415  # heavy: see entry
    from .faults import StoreFailed, StoreUnusable  # noqa: PLC0415

    try:
        # An empty store made here, at a mistyped place, would report that all is well.
        opening.must_be_there(config.writer.store)
        store = opening.open_store(config.writer.store, config.writer.busy_timeout_ms)
        try:
            return _act(options, config, store)
        finally:
            store.close()
    except (StoreUnusable, StoreFailed) as fault:
        return entry.refused(fault, entry.EXIT_UNAVAILABLE)


def _act(options: argparse.Namespace, config: LettersConfig, store: "Store") -> int:
    from . import letters  # noqa: PLC0415  # heavy: see entry

    if options.action == "list":
        return _list(options, letters.listed(store))
    found = list(letters.with_content(store, None if getattr(options, "all", False) else options.ids))
    missing = [wanted for wanted in options.ids if wanted not in {letter.entry_id for letter in found}]
    for wanted in missing:
        sys.stderr.write(f"no dead letter {wanted}\n")
    if options.action == "show":
        for letter in found:
            _show(options, letter)
        return EXIT_LEFT if missing else 0
    done: list[Buried] = []
    left: dict[str, str] = {}
    for letter in found:
        reason = None
        if options.action == "redrive":
            reason = letters.redrive(store, letter)
        else:
            letters.drop(store, letter)
        if reason is None:
            done.append(letter)
        else:
            left[letter.entry_id] = reason
    _withdraw(config, [letter.entry_id for letter in done])
    verb = "stored" if options.action == "redrive" else "dropped"
    if options.json:
        told = {verb: [letter.entry_id for letter in done], "left": left}
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        for entry_id, reason in left.items():
            sys.stdout.write(f"{entry_id} is still a dead letter: {reason}\n")
        sys.stdout.write(f"{verb} {len(done)}, left {len(left)}\n")
    return EXIT_LEFT if missing or left else 0


def _list(options: argparse.Namespace, found: Sequence[Any]) -> int:
    for letter in found:
        if options.json:
            sys.stdout.write(json.dumps(_known(letter) | {"bytes": letter.size}) + "\n")
        else:
            named = (letter.entry_id, letter.tenant or "-", letter.trace_id or "-", _time(letter.buried_us))
            sys.stdout.write(f"{'  '.join(named)}  {letter.size} bytes  {letter.reason}\n")
    if not found and not options.json:
        sys.stdout.write("no dead letters\n")
    return 0


def _show(options: argparse.Namespace, letter: "Buried") -> None:
    import msgpack  # noqa: PLC0415  # heavy: see entry

    fields = msgpack.unpackb(letter.fields)
    told = _known(letter) | {"fields": {name.decode(errors="replace"): len(value) for name, value in fields.items()}}
    told["frame"] = _frame(fields, content=options.content)
    sys.stdout.write(json.dumps(told, ensure_ascii=False, indent=None if options.json else 2) + "\n")


def _frame(fields: dict[bytes, bytes], *, content: bool) -> dict[str, Any] | None:
    from telha_runtime import frame  # noqa: PLC0415  # heavy: see entry

    from .record import RecordMalformed, as_json  # noqa: PLC0415

    try:
        found = frame.decode(fields)
    except (frame.FrameMalformed, frame.FrameUnknown):
        return None
    told: dict[str, Any] = {"spool": found.spool, "seq": found.seq, "bytes": len(found.record)}
    if content:
        try:
            told["record"] = as_json(found.record)
        except RecordMalformed as fault:
            told["record"] = None
            told["unreadable"] = str(fault)
    return told


def _known(letter: Any) -> dict[str, Any]:  # noqa: ANN401  # a summary or a letter
    return {
        "id": letter.entry_id,
        "tenant": letter.tenant,
        "traceId": letter.trace_id,
        "recordedAt": _time(letter.recorded_us),
        "buriedAt": _time(letter.buried_us),
        "reason": letter.reason,
    }


def _time(instant_us: int) -> str:
    seconds, micros = divmod(instant_us, 1_000_000)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=micros).isoformat()
    except (ValueError, OverflowError, OSError):
        return f"{instant_us} µs"


def _withdraw(config: LettersConfig, entry_ids: Sequence[str]) -> None:
    """Remove the copies in the dead-letter stream too; they are copies, so an absent Redis is only told."""
    if not entry_ids:
        return
    from telha_runtime import redis  # noqa: PLC0415  # heavy: see entry

    from . import deadletter  # noqa: PLC0415
    from .stream import Stream  # noqa: PLC0415

    async def withdraw() -> None:
        client = redis.connect(config.trace.redis_url)
        try:
            await deadletter.withdraw(Stream(client, config.trace.stream, config.writer.group, ""), entry_ids)
        finally:
            await client.aclose()

    try:
        asyncio.run(withdraw())
    except (*redis.AWAY, redis.UrlInvalid) as fault:
        sys.stderr.write(
            f"copies stay in the dead-letter stream, since Redis cannot be asked: {type(fault).__name__}\n"
        )
