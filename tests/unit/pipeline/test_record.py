import struct

import msgpack
import rfc8785
import xxhash
from telha_planner.caller import Caller
from telha_planner.core.model import SpanClass, SpanRef
from telha_planner.core.plan import EvidencePlan, PlannedSpan, PlanStats, RecallStats
from telha_planner.trace.record import Circumstances, PoolEntry, Rules, encode_record, exact_json

SECRET_TEXT = "the vault code is 4711"
SPAN = SpanRef(bytes(15) + b"\x01", 1_700_000_000_000_000, 3, 25)
CALLER = Caller(tenant=7, tenant_name="acme", key_id="abc", rights=frozenset({"read"}), spaces=None)


def a_plan() -> EvidencePlan:
    stats = PlanStats(1, 1, 0, 0, 0, 0, 0, 0, False, "o200k_base", 100, 100, 0, 0.4, 0, RecallStats())
    planned = PlannedSpan(SPAN, "paragraph", SpanClass.TRUTH, 0.5, 6, SECRET_TEXT)
    return EvidencePlan(100, 6, (planned,), stats, "b3:" + "0" * 64)


def a_record(sent: dict, **changes):
    circumstances = Circumstances(
        5, 4, ("main",), b"\0\0\x80?", None, "i1", Rules("b3:f", {"planner.alpha": 0.5}, "0.1.0")
    )
    fields = {
        "kind": "plan",
        "trace_id": "t",
        "recorded_us": 9,
        "caller": CALLER,
        "sent": sent,
        "circumstances": circumstances,
        "plan": a_plan(),
        "items": [SPAN],
    }
    return msgpack.unpackb(encode_record(**(fields | changes)))


def test_the_record_holds_coordinates_and_never_text():
    """X1: coordinates, never span text; all that a replay needs."""
    record = a_record({"question": "where?"})
    assert record["item_coords"] == [["00000000-0000-0000-0000-000000000001", 1_700_000_000_000_000, 3, 25]]
    assert record["item_facts"] == [["paragraph", 0, 0.5, 6]]
    assert record["request"] == {"question": "where?"}
    assert record["query_vector"] == b"\0\0\x80?"
    assert SECRET_TEXT.encode() not in msgpack.packb(record)
    assert {"v", "kind", "trace_id", "tenant", "request_hash", "window", "budget", "plan_hash", "stats"} <= set(record)


def test_the_request_hash_covers_the_canonical_request_as_sent():
    """X1: xxh3_64, seed 0, over the RFC 8785 JSON of the request as sent."""
    sent = {"question": "ß", "budget": {"maxTokens": 5}}
    expected = xxhash.xxh3_64(rfc8785.dumps(sent), seed=0).hexdigest()
    assert a_record(sent)["request_hash"] == f"xxh3:{expected}"
    assert a_record(dict(reversed(sent.items())))["request_hash"] == f"xxh3:{expected}"
    assert a_record({"question": "ss"})["request_hash"] != f"xxh3:{expected}"


def test_selects_pool_is_kept_as_coordinates_and_score_bits():
    """X1: for Select the pool (coordinates, kind, class, score bits, tokens), without its texts."""
    sent = {"pool": [{"text": SECRET_TEXT}], "question": "q"}
    record = a_record(sent, pool=[PoolEntry(SPAN, "body", 1, 0.1, 6)])
    bits = struct.unpack(">Q", struct.pack(">d", 0.1))[0]
    assert record["pool"] == [["00000000-0000-0000-0000-000000000001", SPAN[1], 3, 25, "body", 1, bits, 6]]
    assert record["request"] == {"question": "q"}
    assert SECRET_TEXT.encode() not in msgpack.packb(record)
    assert record["request_hash"] == f"xxh3:{xxhash.xxh3_64_hexdigest(rfc8785.dumps(sent))}"


def test_integers_that_json_cannot_hold_become_strings():
    """X1: every JSON parser reads the same request."""
    assert exact_json({"a": 2**53 - 1, "b": 2**53, "c": [-(2**63)], "d": True}) == {
        "a": 2**53 - 1,
        "b": str(2**53),
        "c": [str(-(2**63))],
        "d": True,
    }
