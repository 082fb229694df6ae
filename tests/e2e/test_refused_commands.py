"""What the command line refuses, and how it says so, against a running system."""

import json
from pathlib import Path

import pytest
from running_telha import Up

pytestmark = pytest.mark.process


def test_no_evidence_is_a_typed_failure_with_its_trace(up: Up) -> None:
    """R6, C7: Plan fails with a trace, Context answers an empty list."""
    nonsense = "zyzzyva quokka xylograph"
    done = up.run("plan", nonsense, "--json")
    assert done.code == 1
    assert done.problem["code"] == "INSUFFICIENT_EVIDENCE"
    assert up.run("trace", "get", done.problem["traceId"]).code == 0
    assert up.run("plan", nonsense, "--allow-ungrounded", "--json").json["spans"] == []
    told = up.run("memory", "context", nonsense, "--json")
    assert told.code == 0
    assert told.json["items"] == []


@pytest.mark.parametrize(
    ("words", "code", "field", "rule"),
    [
        (("memory", "context", " "), 1, "question", "must not be blank"),
        (("memory", "context"), 2, "QUESTION", "is required, or --find TYPE, or both"),
        (("plan",), 2, "QUESTION", "is required, or --find TYPE, or both"),
        (("plan", "x", "--max-tokens", "0"), 1, "budget.max_tokens", "must be at least 1"),
        (("plan", "x", "--max-tokens", "-5"), 1, "budget.max_tokens", "must be at least 1"),
        (("plan", "x", "--max-spans", "-1"), 1, "budget.max_spans", "must be at least 0"),
        (("plan", "x", "--expand-depth", "3"), 1, "expand_depth", "must be between 0 and 2"),
        (("plan", "x", "--legs", "lexical,vector"), 1, "legs[1]", "must be one of structured, semantic, lexical"),
        (("plan", "x", "--legs", ""), 1, "legs[0]", "must be one of structured, semantic, lexical"),
        (("plan", "x", "--legs", "structured"), 1, "legs", "must not name the structured leg without a query"),
        (("plan", "x", "--max-frac-per-source", "1.5"), 1, "max_frac_per_source", "must be above 0 and at most 1"),
        (("plan", "x", "--max-frac-per-source", "nan"), 1, "max_frac_per_source", "must be above 0 and at most 1"),
        (("plan", "x", "--valid-at", "2026-06-30T12:00"), 2, "--valid-at", "must say its offset from UTC"),
        (
            ("plan", "x", "--tx-at", "2026-06-30T12:00:00.1234567Z"),
            2,
            "--tx-at",
            "must not be finer than a microsecond",
        ),
        (("plan", "x", "--valid-at", "2026-02-30T00:00:00Z"), 2, "--valid-at", "must exist on the calendar"),
        (("memory", "context", "x", "--space", "*", "--space", "main"), 1, "spaces", "must not name spaces beside *"),
        (("trace", "get", "nonsense"), 1, "trace_id", "must be"),
        (("sources", "get", "0197A3F2-7C1E-7D7B-9A53-2F0C3B7F9E10"), 1, "source_id", "must be a lower-case UUID"),
        (("ingest", "nowhere.md"), 2, "nowhere.md", "must be a file or folder that exists"),
        (("ingest", "README.md", "--valid-from", "yesterday"), 2, "--valid-from", "must be an instant"),
    ],
)
def test_bad_input_is_refused_with_field_and_rule(
    up: Up, words: tuple[str, ...], code: int, field: str, rule: str
) -> None:
    """A3: one or two lines for people, the same facts as an object for programs; never a traceback."""
    told = up.run(*words, "--json")
    assert told.code == code, told.err
    assert told.out == ""
    assert told.problem["field"].startswith(field), told.err
    assert rule in told.problem["rule"]
    shown = up.run(*words)
    assert shown.code == code
    assert rule in shown.err
    assert len(shown.err.splitlines()) <= 2
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"[{]", "not valid JSON"),
        (b'[{"span": {"sourceId": "x", "sourceVersionTx": 1, "start": 0}}]', "[0].span"),
        (b'[{"spam": 1}]', "pool[0]"),
        (b'["id-1", "id-2"]', "pool[0]: Expected `object`, got `str`"),
        (b'[{"span": {"sourceId": "x", "sourceVersionTx": 1, "start": 0, "end": NaN}}]', "not valid JSON"),
        (b'{"pool": [], "budgets": 1}', "unknown field"),
        (b'[{"kind": "\xff"}]', "not valid JSON"),
    ],
)
def test_a_malformed_pool_is_refused_with_its_place(up: Up, tmp_path: Path, content: bytes, place: str) -> None:
    """S10: before it is sent."""
    pool = tmp_path / "pool.json"
    pool.write_bytes(content)
    told = up.run("select", str(pool), "--json")
    assert told.code == 1
    assert place in told.problem["detail"]
    if "field" in told.problem:
        assert '"sourceId"' in told.problem["hint"]


def test_an_empty_pool_is_not_blamed_on_memory(up: Up, tmp_path: Path) -> None:
    """S10: the words hold for a pool of the caller's own."""
    (tmp_path / "pool.json").write_text("[]")
    told = up.run("select", str(tmp_path / "pool.json"), "--json")
    assert (told.code, told.problem["code"]) == (1, "INSUFFICIENT_EVIDENCE")
    assert told.problem["detail"] == f"no evidence was found for this request (trace {told.problem['traceId']})"


def test_a_fragment_that_breaks_a_rule_is_refused_with_its_index(up: Up, tmp_path: Path) -> None:
    """S10, S11: backwards spans, negative scores, one coordinate with two texts."""
    span = {"sourceId": "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10", "sourceVersionTx": 1, "start": 0, "end": 5}
    good = {"span": span, "text": "hello", "score": 0.5}
    for bad, field in (
        ({**good, "span": {**span, "start": 5}}, "pool[1].span.end"),
        ({**good, "score": -1.0}, "pool[1].score"),
        ({**good, "text": "other"}, "pool[1].text"),
        ({"span": span, "score": 0.5}, "pool[1].text"),
    ):
        pool = tmp_path / "pool.json"
        pool.write_text(json.dumps([good, bad]))
        told = up.run("select", str(pool), "--json")
        assert (told.code, told.problem["field"]) == (1, field)


def test_a_wrong_or_missing_key_is_refused_alike(up: Up) -> None:
    """A6: malformed and unknown keys get the same words."""
    for key in ("nonsense", "telha_aaaaaaaaaaaa_" + "A" * 43):
        told = up.run("plan", "x", "--address", up.grpc, "--key", key, "--json")
        assert (told.code, told.problem["code"]) == (1, "UNAUTHENTICATED")
    told = up.run("plan", "x", "--address", up.grpc, "--json")
    assert (told.code, told.problem["code"]) == (1, "UNAUTHENTICATED")
