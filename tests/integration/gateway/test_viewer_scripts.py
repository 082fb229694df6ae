"""The viewer's own arithmetic and its handling of foreign text, run in a real browser as the gateway serves them."""

import json
import random
from pathlib import Path
from uuid import UUID

import pytest
from blake3 import blake3
from browsing import chromium
from gateway_server import Script, running
from telha_gateway.viewer import files
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import PlannedSpan, canonical_bytes, plan_hash

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/plan-hash.json").read_text(encoding="utf-8"))
CALL = """async ([build, file, name, many]) => {
  const module = await import(`/traces/assets/${build}/${file}`);
  return many.map((each) => {
    try { return module[name](...each); } catch (error) { return `${error.name}: ${error.message}`; }
  });
}"""


@pytest.fixture(scope="module")
def page():
    with running(Script()) as url, chromium() as browser:
        opened = browser.new_page()
        opened.goto(f"{url}/traces")
        yield opened


def call(page, file, name, *many):
    """What the function *name* of *file* gives for each list of arguments in *many*."""
    return page.evaluate(CALL, [files.build(), file, name, [list(each) for each in many]])


def test_blake3_is_blake3(page):
    """S9: the page's own BLAKE3 agrees with the library around every edge of a block, a chunk and the tree."""
    edges = (
        0,
        1,
        63,
        64,
        65,
        127,
        128,
        1023,
        1024,
        1025,
        2047,
        2048,
        2049,
        3072,
        3073,
        4096,
        5121,
        16385,
        65536,
        102400,
    )
    expected = [blake3(bytes(at % 251 for at in range(length))).hexdigest() for length in edges]
    found = page.evaluate(
        """async ([build, lengths]) => {
          const { blake3 } = await import(`/traces/assets/${build}/blake3.js`);
          return lengths.map((length) => blake3(Uint8Array.from({ length }, (_, at) => at % 251)));
        }""",
        [files.build(), list(edges)],
    )
    assert found == expected


def test_the_page_recomputes_every_published_vector(page):
    """S9, X7: hash and canonical bytes of the vectors, read from JSON as a browser reads it."""
    plans = [[{"planModel": GOLDEN["planModel"], **vector}] for vector in GOLDEN["vectors"]]
    assert call(page, "planhash.js", "planHash", *plans) == [vector["planHash"] for vector in GOLDEN["vectors"]]
    assert len(plans) > 10


def test_the_page_agrees_with_the_planner_on_any_plan(page):
    """S9, X7: random plans, in any order, weights of every size, kinds beyond ASCII."""
    chance = random.Random(7)
    plans = [_plan(chance) for _ in range(60)]
    shown = [[_shown(chance, *plan)] for plan in plans]
    assert call(page, "planhash.js", "planHash", *shown) == [plan_hash(*plan) for plan in plans]
    assert len({canonical_bytes(*plan) for plan in plans}) == len(plans)


def test_what_cannot_be_hashed_is_said(page):
    """X7: another plan model, a class nobody knows or a broken id is no hash, and no crash."""
    plan = {"planModel": "v1", "budget": 1, "used": 0, "spans": []}
    span = {
        "span": {"sourceId": str(UUID(int=5)), "sourceVersionTx": 1, "start": 0, "end": 1},
        "kind": "x",
        "class": "truth",
        "weight": 0.5,
        "tokens": 1,
    }
    wrong = [
        {**plan, "planModel": "v2"},
        {**plan, "budget": -1},
        {**plan, "used": 2**64},
        {**plan, "spans": [{**span, "class": "rumour"}]},
        {**plan, "spans": [{**span, "weight": "0.5"}]},
        {**plan, "spans": [{**span, "span": {**span["span"], "sourceId": "nobody"}}]},
    ]
    found = call(page, "planhash.js", "planHash", *([each] for each in wrong))
    assert all(answer.startswith("RangeError: ") for answer in found), found


def test_foreign_text_shows_what_it_hides(page):
    """X7: controls, bidi and zero-width characters are written out; what scripts and emoji need stays."""
    texts = {
        "plain.md": "plain.md",
        "\u202egnp.exe": "‹U+202E›gnp.exe",
        "a\u2066b\u2069": "a‹U+2066›b‹U+2069›",
        "zero\u200bwidth\ufeff": "zero‹U+200B›width‹U+FEFF›",
        "a\u200db": "a‹U+200D›b",
        "\x00\x1b[31m\n": "‹U+0000›‹U+001B›[31m‹U+000A›",
        "\U000e0041": "‹U+E0041›",
        "👩\u200d👩\u200d👧": "👩\u200d👩\u200d👧",
        "👩🏽\u200d🚀": "👩🏽\u200d🚀",
        "🏴\U000e0067\U000e0062\U000e007f": "🏴\U000e0067\U000e0062\U000e007f",
        "می\u200cخواهم": "می\u200cخواهم",
        "क्\u200dष": "क्\u200dष",
        "مرحبا עולם 齐柏林": "مرحبا עולם 齐柏林",
        "<b>&amp;</b>": "<b>&amp;</b>",
    }
    assert call(page, "foreign.js", "visible", *([text] for text in texts)) == list(texts.values())


def test_ids_are_found_in_what_is_pasted(page):
    """X7: an id, an address with an id, and nothing else."""
    known = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"
    pasted = [
        known,
        f"  {known.upper()}\n",
        f"https://host/x/traces/{known}?a=b#c",
        f"/traces/{known}/",
        "traces",
        "",
        known[:-1],
    ]
    assert call(page, "place.js", "idIn", *([each] for each in pasted)) == [known] * 4 + [None] * 3


def test_addresses_mean_what_they_say(page):
    """X7: each address of the viewer is one view; what is no address of it is nowhere."""
    known, other = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99", "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e98"
    views = {
        "/traces": "list",
        "/traces/": "list",
        f"/traces/{known}": "trace",
        f"/traces/{known}/diff/{other}": "diff",
        f"/traces/{known}/diff": "nowhere",
        f"/traces/{known}/with/{other}": "nowhere",
        "/traces/nobody": "nowhere",
        "/traces/%ff": "nowhere",
    }
    found = call(page, "place.js", "here", *([{"pathname": path, "search": ""}] for path in views))
    assert [place["view"] for place in found] == list(views.values())


def test_numbers_and_instants_are_readable(page):
    """X7: microseconds are kept; instants that no calendar has are shown as they are."""
    assert call(page, "format.js", "rfc3339", [1796047139985433], [-1], [2**53 - 1]) == [
        "2026-11-30T13:58:59.985433Z",
        "1969-12-31T23:59:59.999999Z",
        "2255-06-05T23:47:34.740991Z",
    ]
    assert call(page, "format.js", "rfc3339", ["9223372036854775807"]) == ["9223372036854775807 µs"]
    assert call(page, "format.js", "score", [0], [1], [0.5], [3.3e-14], [None]) == ["0", "1", "0.5000", "3.30e-14", "–"]
    assert call(page, "format.js", "whole", [1234567]) == ["1,234,567"]


def _plan(chance: random.Random) -> tuple[int, int, tuple[PlannedSpan, ...]]:
    spans = {}
    for _ in range(chance.randrange(40)):
        start = chance.randrange(10 ** chance.randrange(1, 15))
        ref = SpanRef(
            chance.randbytes(16), chance.randrange(-(2**52), 2**53), start, start + chance.randrange(1, 10**6)
        )
        spans[ref] = PlannedSpan(
            ref,
            chance.choice(("paragraph", "code", "段落", "👩\u200d👧", "")),
            chance.choice(tuple(SpanClass)),
            chance.choice((chance.random(), 10.0 ** chance.randrange(-300, 300), 0.0, 5e-324)),
            chance.randrange(1, 10**5),
            "",
        )
    ordered = sorted(spans, key=lambda ref: (ref.source_id, ref.source_version_tx, ref.start, ref.end))
    return chance.randrange(2**53), chance.randrange(2**53), tuple(spans[ref] for ref in ordered)


def _shown(chance: random.Random, budget: int, used: int, spans: tuple[PlannedSpan, ...]) -> dict:
    """A plan as REST shows it, its spans in any order."""
    rows = [
        {
            "span": {
                "sourceId": str(UUID(bytes=span.span.source_id)),
                "sourceVersionTx": span.span.source_version_tx,
                "start": span.span.start,
                "end": span.span.end,
            },
            "kind": span.kind,
            "class": span.span_class.name.lower(),
            "weight": span.weight,
            "tokens": span.tokens,
        }
        for span in spans
    ]
    chance.shuffle(rows)
    return {"planModel": "v1", "budget": budget, "used": used, "spans": rows}
