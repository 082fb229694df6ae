"""The records that planners write are what docs/trace-record.md promises, and look the same wherever they are read."""

import asyncio
import re
import tempfile
from pathlib import Path

import msgpack
import pytest
from planner_parts import Parts, parts_in
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Fragment
from telha_planner.server.translate_trace import trace_message
from telha_runtime.frame import Frame
from telha_trace_writer.opening import open_store
from telha_trace_writer.record import row_of
from trace_path import a_listener, a_record, config, fetch

PAGE = Path(__file__).parents[2] / "docs" / "trace-record.md"
POOL = [Fragment(SpanRef(bytes(15) + bytes([n]), 7, 0, 40), score=0.1 * n, tokens=n) for n in range(1, 4)]


def records(parts: Parts) -> dict[str, bytes]:
    """One record of each kind, one of a call that found nothing, and one that no planner writes yet."""
    parts.remember("noite.md", "# Eléctrico 28\n\nO eléctrico não circula à noite. 夜间停运。 لا يعمل ليلاً 👩‍👩‍👧\n")
    answers = {
        "plan": parts.plan("eléctrico noite"),
        "context": parts.context("eléctrico noite"),
        "select": parts.select(POOL),
        "nothing": parts.context("zzz"),
        "explained": parts.plan("eléctrico noite", explain=True),
    }
    found = {name: answer.record for name, answer in answers.items() if answer.record is not None}
    assert len(found) == len(answers)
    found["dream"] = a_record(
        "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", kind="dream", spaces=None, extra={"deep": [b"\xff"]}
    )
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    parts = parts_in(tmp_path_factory.mktemp("parts"))
    try:
        return records(parts)
    finally:
        parts.close()


@pytest.mark.parametrize("kind", ["plan", "context", "select", "nothing", "explained"])
def test_the_page_names_every_field_in_its_order(kind: str, written: dict[str, bytes]) -> None:
    """X1: a record has exactly the fields that the page promises."""
    table = re.findall(r"^\| `(\w+)` \| .+? \| .+ \|$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    assert list(msgpack.unpackb(written[kind])) == table


def test_a_trace_looks_the_same_in_the_spool_and_in_the_store(written: dict[str, bytes]) -> None:
    """X4: the planner shows what is in its spool as the writer shows what it has stored."""

    async def test(folder: Path) -> None:
        store = open_store(folder / "traces.db", 1000)
        for content in written.values():
            trace_id = msgpack.unpackb(content)["trace_id"]
            store.insert([row_of(Frame("s", 1, trace_id, "acme", content))])
        store.close()
        async with a_listener(config(folder, f"unix://{folder / 'nobody'}")) as stub:
            for content in written.values():
                shown = await fetch(stub, msgpack.unpackb(content)["trace_id"])
                assert shown == trace_message(content)

    with tempfile.TemporaryDirectory(prefix="tt-") as folder:
        asyncio.run(test(Path(folder)))


def test_a_listing_shows_what_the_record_says(written: dict[str, bytes]) -> None:
    """X4: budget, used and items of a listing are those of the plan."""
    content = msgpack.unpackb(written["context"])
    row = row_of(Frame("s", 1, content["trace_id"], "acme", written["context"]))
    assert (row.budget, row.used) == (content["budget"]["applied"], content["budget"]["used"])
    assert row.items == len(content["item_coords"]) > 0
    assert (row.spaces, row.plan_hash) == (("main",), content["plan_hash"])
