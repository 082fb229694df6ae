"""
What the tests and the pictures of the trace viewer look at: a whole running system with calls of every kind behind it.

The memory is the example corpus, and documents that mean to disturb a page. Its first calls were made under other
settings than those that run now, so that a replay of them differs.
"""

import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
from running_telha import ROOT, Up, start
from telha_cli import corpus, instants
from telha_client import Client, Document
from telha_planner.memory import keys
from telha_planner.memory.store import Store
from telha_runtime.frame import Frame
from telha_trace_writer.opening import open_store
from telha_trace_writer.record import row_of
from trace_path import a_record

Json = dict[str, Any]

LAST_TRAM = "When does the last Line 2 tram cross the Old Bridge?"
LOST_PROPERTY = "How long is lost property kept?"
NOTHING = "quantum chromodynamics lattice renormalisation"
PHONE = "在电车上丢了手机怎么领取?"
BIDI = "\u202eevil\u202c \u2066\u2067\u202d\u200f\u061c"
"""Right-to-left override and isolates, most of them never closed."""

HOSTILE_NAME = f"<script>window.hurt = 1</script>{BIDI}<img src=x onerror=hurt()>&lt;b&gt;"
CONTROLS = "\r\n\t\x1b[31m\x7f\x85\u2028\b\v"
"""What a name may not hold, but a question and a text may."""

HOSTILE_TEXT = (
    f"Zeppelin moorings are <b onmouseover=hurt()>closed</b> {BIDI} on Sundays.\n\n"
    "مواعيد منطاد زيبلين: \u202bمغلقة\u202c يوم الأحد؛ Zeppelin moorings 5 < 7 & 9 > 8.\n\n"
    "齐柏林飞艇 Zeppelin moorings 系泊 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 𐏑\u200b\ufeff\x07.\n\n"
    "</pre></table><iframe src=//example.org></iframe><style>*{display:none}</style> Zeppelin moorings.\n\n"
)
HANGAR = "When was the dirigible hangar closed?"
CLOSED = "# Closed\n\nThe dirigible hangar was closed in 1931.\n"
ZEPPELIN = "When are the Zeppelin moorings closed?"
LISTED = 1050
"""Traces of the tenant `archive`: more than a gateway gives on one page."""
OLDEST_US = 1_780_000_000_000_000
APART_US = 60_000_000
CANDIDATES = 5000


@dataclass(frozen=True)
class World:
    """
    A running system.

    Attributes:
        keys: `reader` of all spaces, `limited` to the space `board`, `rival` of another tenant, `archive` of one whose
            traces are many, `writer` that may not read.
        traces: Ids by what the call was.
        answers: What the REST surface answered to those calls.
    """

    up: Up
    keys: Mapping[str, str]
    traces: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Json] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where the viewer is."""
        return f"{self.up.http}/traces"

    def rest(self, key: str = "reader") -> httpx.Client:
        """A client of the REST surface."""
        return httpx.Client(base_url=self.up.http, headers={"authorization": f"Bearer {self.keys[key]}"}, timeout=60)


@contextmanager
def running(folder: Path, *words: str) -> Iterator[World]:
    """Start it as `telha up` with *words* and all it keeps below *folder*; stop it at the end."""
    before = folder / "before.toml"
    before.write_text("[planner]\nkind_priors = { heading = 0.2, section = 0.4 }\n")
    earlier = start(folder, "--config", str(before), *words)
    try:
        opening = _keys(earlier)
        traces, answers = _first_calls(World(earlier, opening))
    finally:
        stop(earlier)
    _fill_archive(folder / "data")
    world = World(start(folder, *words), opening, traces, answers)
    try:
        _calls(world)
        yield world
    finally:
        stop(world.up)


def stop(up: Up) -> None:
    """End the system and wait for it."""
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(60) == 0


def _keys(up: Up) -> dict[str, str]:
    store = Store.open(f"sqlite:///{up.data}/memory.db", busy_timeout_ms=10_000)

    def made(tenant: str, rights: tuple[str, ...] = ("read",), spaces: tuple[str, ...] | None = None) -> str:
        key, _ = keys.create(store, tenant, name="viewer", rights=rights, spaces=spaces, now=_now, create_tenant=True)
        return key

    scopes = {
        "limited": made("default", spaces=("board",)),
        "rival": made("rival", ("read", "write")),
        "archive": made("archive"),
        "writer": made("default", ("write",)),
    }
    store.close()
    return {"reader": up.key, **scopes}


def remember(up: Up) -> None:
    """Ingest the example corpus, as the demo does."""
    examples = ROOT / "examples"
    with Client(up.grpc, up.key) as client:
        for given in corpus.load(examples).documents:
            content = (examples / given.file).read_bytes()
            valid = None if given.valid_from is None else instants.parse("valid_from", given.valid_from)
            document = Document(
                name=given.name, content=content, space=given.space, source_id=given.source_id, valid_from=valid
            )
            client.memory.ingest([document])


def _first_calls(world: World) -> tuple[dict[str, str], dict[str, Json]]:
    remember(world.up)
    with Client(world.up.grpc, world.up.key) as client:
        client.memory.ingest([Document(name=HOSTILE_NAME, content=HOSTILE_TEXT, media_type="text/plain")])
        closed = [Document(name="closed.md", content=CLOSED, space=space) for space in ("main", "hangar")]
        sources = [each.source_id for each in client.memory.ingest(closed).documents]
    with Client(world.up.grpc, world.keys["rival"]) as client:
        client.memory.ingest([Document(name="rival.md", content="The last tram of the rival leaves at noon.")])
    asked: dict[str, Json] = {
        "changed": {"question": LAST_TRAM, "budget": {"maxTokens": 200}},
        "partly erased": {"question": HANGAR, "budget": {"maxTokens": 300}},
        "erased": {"question": HANGAR, "spaces": ["hangar"]},
    }
    for name, body in asked.items():
        _call(world, name, "/v1/plan", body)
    with world.rest() as rest:
        for source in sources:
            rest.delete(f"/v1/memory/sources/{source}").raise_for_status()
    return world.traces, world.answers


def _calls(world: World) -> None:
    plan: dict[str, Json] = {
        "plain": {"question": LAST_TRAM, "budget": {"maxTokens": 200}},
        "explained": {"question": LAST_TRAM, "budget": {"maxTokens": 200}, "explain": True},
        "limits": {"question": LAST_TRAM, "budget": {"maxTokens": 300, "maxSpans": 4}, "explain": True},
        "tiny": {"question": LOST_PROPERTY, "budget": {"maxTokens": 30}, "maxFracPerSource": 1, "explain": True},
        "stranded": {"question": LOST_PROPERTY, "budget": {"maxTokens": 600}, "maxFracPerSource": 0.2, "explain": True},
        "chinese": {"question": PHONE, "budget": {"maxTokens": 600}, "maxFracPerSource": 0.2, "explain": True},
        "hostile": {"question": ZEPPELIN, "budget": {"maxTokens": 1000}, "maxFracPerSource": 1, "explain": True},
        "hostile question": {"question": f"{HOSTILE_NAME}{CONTROLS} {LOST_PROPERTY}"},
        "board": {"question": "What worked against the swan on the rail?", "spaces": ["board"]},
        "everything": {"question": LOST_PROPERTY, "spaces": ["*"], "budget": {"maxTokens": 100}},
        "as of June": {
            "question": LAST_TRAM,
            "window": {"validTime": "2026-06-15T12:00:00Z"},
            "budget": {"maxTokens": 200},
        },
    }
    for name, body in plan.items():
        _call(world, name, "/v1/plan", body)
    _call(world, "context", "/v1/memory/context", {"question": LOST_PROPERTY, "budget": {"maxTokens": 300}})
    _call(world, "empty", "/v1/plan", {"question": NOTHING}, status=422)
    _call(world, "select", "/v1/select", {"pool": _pool(12), "budget": {"maxTokens": 100}})
    _call(world, "many", "/v1/select", {"pool": _pool(CANDIDATES), "budget": {"maxTokens": 4000}})
    _call(world, "rival", "/v1/plan", {"question": LAST_TRAM}, key="rival")
    _until_listed(world, len(world.traces) - 1)


def _call(world: World, name: str, path: str, body: Json, *, key: str = "reader", status: int = 200) -> None:
    with world.rest(key) as rest:
        answer = rest.post(path, json=body)
    assert answer.status_code == status, answer.text
    world.answers[name] = answer.json()
    world.traces[name] = answer.json()["traceId"]


def _pool(count: int) -> list[Json]:
    return [
        {
            "span": {
                "sourceId": str(UUID(int=7 << 76 | 2 << 62 | number % 40)),
                "sourceVersionTx": OLDEST_US,
                "start": 100 * (number // 40),
                "end": 100 * (number // 40) + 90,
            },
            "kind": "paragraph",
            "tokens": 11 + number % 17,
            "score": 1 / (1 + number % 997),
        }
        for number in range(count)
    ]


def _until_listed(world: World, count: int) -> None:
    deadline = time.monotonic() + 60
    with world.rest() as rest:
        while len(rest.get("/v1/traces", params={"pageSize": 1000}).json()["traces"]) < count:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def _fill_archive(data: Path) -> None:
    """The traces of the tenant `archive`, written where the trace writer keeps them while it is not running."""
    store = open_store(data / "traces.db", 10_000)
    rows = []
    for number in range(LISTED):
        trace_id = str(uuid4())
        record = a_record(
            trace_id,
            "archive",
            kind=("context", "plan", "select")[number % 3],
            recorded_us=OLDEST_US + number * APART_US,
            spaces=[f"space {number % 7}"],
            budget={"requested": 2000, "applied": 2000, "used": 2 * number % 2001, "stranded": number % 5},
        )
        rows.append(row_of(Frame("archive", number + 1, trace_id, "archive", record)))
    assert store.insert(rows).stored == LISTED
    store.close()


def _now() -> int:
    return time.time_ns() // 1000
