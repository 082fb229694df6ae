"""The plan hash: its published vectors, recomputed without the product, and what it covers."""

import dataclasses
import json
import re
import struct
from pathlib import Path
from uuid import UUID

import pytest
from blake3 import blake3
from golden import write
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import PlannedSpan, canonical_bytes, plan_hash

ROOT = Path(__file__).parents[3]
DOCUMENT = json.loads((ROOT / "tests/golden/plan-hash.json").read_text(encoding="utf-8"))
VECTORS = {vector["name"]: vector for vector in DOCUMENT["vectors"]}


@pytest.mark.parametrize("name", write.FILES)
def test_the_committed_golden_files_are_what_the_code_gives(name: str):
    """S9: a changed vector shows up here before it breaks an SDK."""
    assert (write.FOLDER / name).read_bytes() == write.FILES[name]().encode()


def recomputed(vector: dict) -> bytes:
    """The canonical bytes from docs/plan-hash.md alone, as an SDK in another language would make them."""
    model = DOCUMENT["planModel"].encode("utf-8")
    out = struct.pack("!L", len(model)) + model
    out += struct.pack("!3Q", vector["budget"], vector["used"], len(vector["spans"]))
    for item in vector["spans"]:
        place, kind = item["span"], item["kind"].encode("utf-8")
        out += bytes.fromhex(place["sourceId"].replace("-", ""))
        out += struct.pack("!q2QL", place["sourceVersionTx"], place["start"], place["end"], len(kind)) + kind
        out += {"truth": b"\0", "cache": b"\1"}[item["class"]]
        out += bytes.fromhex(item["weightBits"]) + struct.pack("!Q", item["tokens"])
    return out


@pytest.mark.parametrize("name", VECTORS)
def test_an_independent_recomputation_agrees(name: str):
    """S9: byte by byte, then by hash."""
    vector = VECTORS[name]
    covered = recomputed(vector)
    assert len(covered) == vector["canonicalLength"]
    assert covered.hex() == vector.get("canonicalHex", covered.hex())
    assert f"b3:{blake3(covered).hexdigest()}" == vector["planHash"]
    for item in vector["spans"]:
        assert struct.pack("!d", item["weight"]).hex() == item["weightBits"]
        assert str(UUID(item["span"]["sourceId"])) == item["span"]["sourceId"]


def test_the_vectors_cover_what_they_promise():
    """S9: at least 14 vectors, each with its own hash, in canonical order, with integers any JSON parser reads."""
    assert len(VECTORS) == len(DOCUMENT["vectors"]) >= 14
    assert len({vector["planHash"] for vector in VECTORS.values()}) == len(VECTORS)
    for vector in VECTORS.values():
        places = [tuple(item["span"].values()) for item in vector["spans"]]
        assert places == sorted(set(places))
        assert all(-(2**53) < number < 2**53 for place in places for number in place[1:])
    spans = [item for vector in VECTORS.values() for item in vector["spans"]]
    assert {item["class"] for item in spans} == {"truth", "cache"}
    assert any(not item["kind"].isascii() for item in spans)
    assert {"0000000000000001", "0000000000000000"} <= {item["weightBits"] for item in spans}
    assert min(item["span"]["sourceVersionTx"] for item in spans) < 0
    assert max(item["span"]["end"] for item in spans) == 2**53 - 1


def test_the_documented_example_is_true():
    """S9: the hexadecimal of docs/plan-hash.md is the vector `one span`."""
    text = (ROOT / "docs/plan-hash.md").read_text(encoding="utf-8")
    block = text.split("```")[1]
    digits = re.findall(r"^([0-9a-f]+)  ", block, flags=re.MULTILINE)
    assert "".join(digits) == VECTORS["one span"]["canonicalHex"]
    assert VECTORS["one span"]["planHash"] in text


BASE = PlannedSpan(SpanRef(b"s" * 16, 7, 1, 9), "code", SpanClass.TRUTH, 0.5, 3, "text")


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(BASE, span=BASE.span._replace(source_id=b"t" * 16)),
        dataclasses.replace(BASE, span=BASE.span._replace(source_version_tx=8)),
        dataclasses.replace(BASE, span=BASE.span._replace(start=2)),
        dataclasses.replace(BASE, span=BASE.span._replace(end=8)),
        dataclasses.replace(BASE, kind="Code"),
        dataclasses.replace(BASE, span_class=SpanClass.CACHE),
        dataclasses.replace(BASE, weight=0.5000000000000001),
        dataclasses.replace(BASE, tokens=4),
    ],
)
def test_every_decision_is_covered(other: PlannedSpan):
    """S9: each field of a span changes the hash."""
    assert plan_hash(10, 3, [other]) != plan_hash(10, 3, [BASE])


def test_budget_used_and_count_are_covered():
    """S9: so do budget, used and the number of spans."""
    hashes = {plan_hash(10, 3, [BASE]), plan_hash(11, 3, [BASE]), plan_hash(10, 4, [BASE]), plan_hash(10, 3, [])}
    assert len(hashes) == 4


def test_text_is_not_covered():
    """S9: never text, stats or times."""
    assert plan_hash(10, 3, [dataclasses.replace(BASE, text="其他")]) == plan_hash(10, 3, [BASE])


def test_kinds_cannot_run_into_what_follows():
    """S9: lengths stand before texts, so no two plans share their bytes."""
    longer = dataclasses.replace(BASE, kind="code\0")
    assert len(canonical_bytes(10, 3, [longer])) == len(canonical_bytes(10, 3, [BASE])) + 1
