"""Why a replay differs: each input that is another one is named, with what it was and what it is."""

import struct
from dataclasses import replace

import pytest
from counting_embedder import CountingEmbedder
from planner_parts import parts_in, parts_over
from replays import causes, changed, outcome, plan_of, recorded, replayed
from telha.context.v1 import context_pb2
from telha.planner.v1 import plan_pb2, planner_pb2
from telha_planner.config import ContextSettings, PlannerConfig, PlannerSettings, ScoringSettings, TokenSettings
from telha_planner.core.errors import NotFound, PermissionDenied, RequestInvalid
from telha_planner.memory import keys
from telha_planner.trace.recorded import RecordUnreadable, read_record

QUESTION = "tram bridge 電車 closed"
SOURCE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
NAN_BITS = struct.unpack(">Q", struct.pack(">d", float("nan")))[0]
OTHER_HASH = "b3:" + "0" * 64


@pytest.fixture
def parts(tmp_path):
    parts = parts_in(tmp_path)
    parts.remember("tram.md", "The tram bridge is closed.\n\n電車 hold until nine.\n\nNobody knows why.\n")
    parts.remember("depot.md", "The depot behind the tram bridge is open.\n")
    yield parts
    parts.close()


def under(parts, config):
    """The same store under another configuration, with the same keys."""
    other = parts_over(parts.url, clock=parts.clock, config=config)
    other.keys = parts.keys
    return other


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        ({"alpha": 0.75}, "planner.alpha = 0.5", "planner.alpha = 0.75"),
        ({"cache_discount": 0.25}, "planner.cache_discount = 0.5", "planner.cache_discount = 0.25"),
        (
            {"kind_priors": {"paragraph": 0.5}},
            "planner.kind_priors.paragraph = 1.0",
            "planner.kind_priors.paragraph = 0.5",
        ),
        (
            {"scoring": ScoringSettings(sharpening=2, bm25_b=0.4)},
            "planner.scoring.bm25_b = 0.3, planner.scoring.sharpening = 64",
            "planner.scoring.bm25_b = 0.4, planner.scoring.sharpening = 2",
        ),
    ],
)
def test_another_configuration_is_named_by_its_keys(parts, settings, before, after):
    """X5, X1: not only that the fingerprint is another one, but which settings are, from what to what."""
    record = plan_of(parts, QUESTION)
    other = under(parts, PlannerConfig(planner=PlannerSettings(**settings)))
    assert causes(replayed(other, record)) == {"CONFIGURATION": (before, after)}
    expected = "identical" if "cache_discount" in settings else "changed"
    assert outcome(other, record) == expected
    old = replayed(other, changed(record, settings=...))
    assert [value[:3] for value in causes(old)["CONFIGURATION"]] == ["b3:", "b3:"]
    other.close()


def test_another_default_budget_is_a_setting_and_a_budget(parts):
    """X5, C1: the budget is resolved anew, by the defaults of the surface that made the trace."""
    record = recorded(parts, context_pb2.BuildRequest(question=QUESTION))
    other = under(parts, PlannerConfig(context=ContextSettings(default_max_tokens=10)))
    again = replayed(other, record)
    assert outcome(other, record) == "changed"
    assert causes(again) == {
        "BUDGET": ("applied = 2000, requested = 2000", "applied = 10, requested = 10"),
        "CONFIGURATION": ("context.default_max_tokens = 2000", "context.default_max_tokens = 10"),
    }
    plan = plan_of(parts, QUESTION)
    assert outcome(other, plan) == "identical"
    other.close()


def test_another_tokenizer_is_named(parts):
    """X5, T2: what counts is an input of its own."""
    record = plan_of(parts, QUESTION)
    other = under(parts, PlannerConfig(tokens=TokenSettings(default_encoding="cl100k_base")))
    found = causes(replayed(other, record))
    assert found["TOKENIZER"] == ("o200k_base", "cl100k_base")
    assert found["CONFIGURATION"][0] == "tokens.default_encoding = o200k_base"
    other.close()


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        ("score_model", "v2", "SCORE_MODEL"),
        ("plan_model", "v0", "PLAN_MODEL"),
        ("index_version", "int8-exact.0", "INDEX_VERSION"),
        ("software", "0.0.9", "CODE"),
    ],
)
def test_another_version_is_named(parts, field, value, cause):
    """S13, X5: whatever version differs is told, whether or not the plan does."""
    record = plan_of(parts, QUESTION)
    now = causes(replayed(parts, changed(record, **{field: value})))
    assert set(now) == {cause}
    assert now[cause][0] == value
    assert outcome(parts, changed(record, **{field: value})) == "identical"
    assert outcome(parts, changed(record, **{field: value}, plan_hash=OTHER_HASH)) == "changed"


def test_where_nothing_else_differs_it_is_the_code(parts):
    """X5: a changed hash names a cause, always; a record of before did not keep the version of its planner."""
    record = changed(plan_of(parts, QUESTION), plan_hash=OTHER_HASH)
    assert outcome(parts, record) == "changed"
    found = causes(replayed(parts, record))
    assert found["CODE"][0] == found["CODE"][1] != ""
    assert causes(replayed(parts, changed(record, software=...)))["CODE"] == ("", found["CODE"][1])


def test_a_memory_that_does_not_reach_so_far_is_named(tmp_path, parts):
    """X5, A9: after an older backup was restored, the instant is not one that memory knows."""
    parts.remember("later.md", "The tram runs again.\n")
    record = plan_of(parts, QUESTION)
    (tmp_path / "older").mkdir()
    older = parts_in(tmp_path / "older")
    older.key()
    older.remember("tram.md", "The tram bridge is closed.\n")
    again = replayed(older, record)
    assert set(causes(again)) >= {"WINDOW"}
    assert outcome(older, record) == "changed"
    assert again.erased == ()
    assert again.window.tx_time < read_record(record).tx_t
    older.close()


def test_nothing_is_embedded_for_a_replay(tmp_path):
    """X5, M8, R8: the vector is the recorded one, also where no embedder is configured any more, or another one."""
    embedder = CountingEmbedder(dimensions=8)
    parts = parts_in(tmp_path, embedder=embedder)
    parts.remember("tram.md", "The tram bridge is closed.\n\n電車 hold until nine.\n")
    record = plan_of(parts, QUESTION)
    assert read_record(record).query_vector is not None
    asked = list(embedder.asked)
    assert QUESTION in asked
    assert outcome(parts, record) == "identical"
    bare = parts.restarted()
    again = replayed(bare, record)
    assert again.difference.identical
    assert set(causes(again)) == {"CONFIGURATION"}
    assert embedder.asked == asked
    bare.close()
    parts.close()


def test_a_vector_of_the_callers_is_the_recorded_one(parts):
    """X5: as are legs, depth, conditions and limits, read from the record through the checks of the wire."""
    message = planner_pb2.PlanRequest(
        question=QUESTION,
        query=plan_pb2.NodeQuery(find="passage", limit=3, where={"minutes": {"gte": 10}}),
        vector=plan_pb2.QueryVector(values=[0.5, -0.25, 1e-39]),
        expand_depth=2,
        budget=plan_pb2.Budget(max_tokens=40, max_spans=2),
        max_frac_per_source=0.7,
        span_overhead_tokens=1,
        min_similarity=0.0,
        legs=[plan_pb2.LEG_LEXICAL, plan_pb2.LEG_STRUCTURED],
        model="gpt-4o",
        allow_ungrounded=True,
    )
    assert outcome(parts, recorded(parts, message)) == "identical"


def test_a_call_without_evidence_is_replayed_too(parts):
    """R6, X5: the empty plan has a hash, and a replay does not fail for it."""
    record = plan_of(parts, "zzz qqq")
    assert read_record(record).held == ()
    assert outcome(parts, record) == "identical"
    assert outcome(parts, changed(record, error="INSUFFICIENT_EVIDENCE")) == "identical"


def test_a_selection_of_other_priors_is_changed(parts):
    """X5, S11: scores and counts are those of the record; weights are made anew."""
    span = plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=7)
    pool = []
    for number in range(1, 9):
        span.start, span.end = 10 * number, 10 * number + 9
        kind = ("cell", "code")[number % 2]
        pool.append(planner_pb2.Fragment(span=span, kind=kind, text=f"cell {number} 電車", score=number / 9))
    message = planner_pb2.SelectRequest(pool=pool, budget=plan_pb2.Budget(max_tokens=15))
    record = recorded(parts, message)
    assert outcome(parts, record) == "identical"
    again = replayed(parts, record)
    assert {planned.text for planned in again.plan.spans} == {""}
    other = under(parts, PlannerConfig(planner=PlannerSettings(kind_priors={"cell": 0.1})))
    assert outcome(other, record) == "changed"
    assert causes(replayed(other, record)) == {
        "CONFIGURATION": ("planner.kind_priors.cell = 0.8", "planner.kind_priors.cell = 0.1")
    }
    other.close()


def test_an_estimated_selection_keeps_its_factor(parts):
    """T3, T4: what was estimated stays estimated, so that the budget is the same."""
    place = plan_pb2.SpanRef(source_id=SOURCE, source_version_tx=7, start=0, end=9)
    pool = [planner_pb2.Fragment(span=place, text="tram 電車", score=0.5)]
    record = recorded(parts, planner_pb2.SelectRequest(pool=pool, model="unheard-of"))
    assert read_record(record).token_estimate
    assert outcome(parts, record) == "identical"


def test_a_key_replays_what_it_may_see(parts):
    """X5, M7: the spaces that the trace read, all of them; a key without the right to read replays nothing."""
    record = plan_of(parts, QUESTION, spaces=["main"])
    every = plan_of(parts, QUESTION, spaces=["*"])
    assert outcome(parts, record, spaces=("main", "side")) == "identical"
    for hidden, spaces in ((record, ("side",)), (every, ("main",))):
        with pytest.raises(NotFound):
            replayed(parts, hidden, spaces=spaces)
    parts.keys["acme/None"], _ = keys.create(
        parts.store, "acme", name="writer", rights=("write",), spaces=None, now=parts.clock
    )
    with pytest.raises(PermissionDenied):
        replayed(parts, record)


@pytest.mark.parametrize(
    "fields",
    [
        {"v": 2},
        {"kind": "dream"},
        {"window": 5},
        {"item_coords": [["no id", 1, 0, 5]], "item_facts": [["p", 0, 1.0, 2]]},
        {"item_facts": []},
        {"item_facts": ...},
        {"request": []},
        {"spaces": [5]},
        {"plan_hash": None},
        {"pool": [[SOURCE, 1, 0, 5, "p", 0, -1, 3]]},
        {"pool": [[SOURCE, 1, 0, 5, "p", 0, NAN_BITS, 3]]},
        {"pool": [[SOURCE, 1, 0, 5, "p", 7, 1, 3]]},
        {"recorded_us": float("inf")},
    ],
)
def test_what_cannot_be_planned_anew_is_refused_whole(parts, fields):
    """X5: a kind or a layout that this version does not know, or a record that is not whole."""
    record = changed(plan_of(parts, QUESTION), **fields)
    with pytest.raises(RecordUnreadable, match=r"must be of a plan|must hold"):
        read_record(record)


def test_a_request_of_a_newer_version_is_refused(parts):
    """X5: what this version does not know might matter."""
    record = plan_of(parts, QUESTION)
    asked = dict(read_record(record).request)
    for request in (asked | {"mood": "calm"}, asked | {"budget": {"maxTokens": 0}}, asked | {"legs": ["sixth"]}):
        with pytest.raises(RequestInvalid):
            replayed(parts, changed(record, request=request))


def test_two_replays_are_alike(parts):
    """S7: a replay is a function of its record and of memory."""
    record = plan_of(parts, QUESTION)
    one, other = replayed(parts, record), replayed(parts, record)
    assert replace(one, plan=other.plan) == other
    assert one.plan == other.plan
