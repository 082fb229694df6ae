"""Phase A over memory that was written through the doors, seen in whole plans."""

import math
from dataclasses import replace

import pytest
from known_facts import Facts, uid
from planner_parts import START, parts_in, texts_of
from telha_planner.config import PlannerConfig, PlannerSettings, ScoringSettings
from telha_planner.core.model import SpanClass
from telha_planner.core.request import Leg, PlanRequest, Window
from telha_planner.ingest.document import DocumentInput
from telha_planner.ingest.parse import parse
from telha_planner.memory.records import EdgeRecord, NodeRecord

SENTENCES = (
    "The tram leaves at five.\nThe bridge is closed.\n電車は夜間運休です。\nالترام مغلق اليوم\nSwans sleep here.\n"
)
YEAR = 31_536_000_000_000


def weights(plan) -> dict[str, float]:
    """Weight by text."""
    return {span.text: span.weight for span in plan.spans}


@pytest.fixture
def facts(parts):
    return Facts(parts, SENTENCES)


def test_a_vector_scores_whether_or_not_its_leg_runs(parts, facts):
    """R2: with a vector every node has a similarity to it, also where only another leg was named."""
    facts.know("near", facts.sentence[0], vector=[1.0, 0.0])
    facts.know("far", facts.sentence[1], vector=[0.6, 0.8])
    asked = {"find": "fact", "expand_depth": 0, "max_frac_per_source": 1.0}
    both = parts.plan(vector=(1.0, 0.0), legs=frozenset({Leg.LEXICAL, Leg.STRUCTURED}), question="tram", **asked)
    assert both.plan.stats.recall.legs.vector == 0
    lexical = {"question": "is the bridge closed at five?", "legs": frozenset({Leg.LEXICAL}), "expand_depth": 0}
    without = weights(parts.plan(**lexical, max_frac_per_source=1.0).plan)
    towards = weights(parts.plan(**lexical, max_frac_per_source=1.0, vector=(1.0, 0.0)).plan)
    assert without["The bridge is closed."] == 1.0
    assert without["The tram leaves at five."] < towards["The tram leaves at five."]


@pytest.mark.parametrize("semantic_share", [0.5, 0.3, 1.0])
def test_vectors_of_another_space_change_nothing(tmp_path, semantic_share):
    """M7, R2: not a bit of a score and not a word of the statistics, even if theirs are the tenant's first."""
    config = PlannerConfig(planner=PlannerSettings(scoring=ScoringSettings(semantic_share=semantic_share)))
    parts = parts_in(tmp_path, config=config)
    Facts(parts, SENTENCES)
    asked = {"question": "tram bridge 電車 today", "vector": (0.25, 0.5), "expand_depth": 2}
    alone = parts.plan(**asked)
    assert alone.plan.stats.recall.vector_leg_skipped == "memory holds no vectors"
    assert alone.plan.spans
    private = Facts(parts, "A private tram.\n", name="private.txt", space="private")
    private.know("secret", private.sentence[0], vector=[0.5, 0.25])
    together = parts.plan(**asked, window=Window(alone.window.valid_time))
    assert together.plan == alone.plan
    parts.close()


def test_a_vector_counts_from_its_valid_start_on_and_before_1970_too(parts, facts):
    """R1: vectors with valid start ≤ valid_t; a start before 1970 is a start like any other."""
    facts.know("old", facts.sentence[0], valid=(-30 * YEAR, None), vector=[1.0, 0.0])
    facts.know("coming", facts.sentence[1], valid=(START + YEAR, None), vector=[0.9, 0.1])

    def found(valid_time):
        plan = parts.plan(vector=(1.0, 0.0), window=Window(valid_time), max_frac_per_source=1.0).plan
        return plan.stats.recall.legs.vector, set(texts_of(plan.spans))

    assert found(-31 * YEAR) == (0, set())
    assert found(-20 * YEAR) == (1, {"The tram leaves at five."})
    assert found(START + YEAR - 1) == (1, {"The tram leaves at five."})
    assert found(START + YEAR) == (2, {"The tram leaves at five.", "The bridge is closed."})


def test_a_node_that_two_legs_reach_keeps_its_greatest_score(parts, facts):
    """R2: structured primaries 1.0, whatever the question makes of them; the legs count it each."""
    facts.know("swan", facts.sentence[4])
    asked = {"question": "tram bridge", "find": "fact", "expand_depth": 0, "max_frac_per_source": 1.0}
    plan = parts.plan(**asked).plan
    assert weights(plan)["Swans sleep here."] == 1.0
    assert plan.stats.recall.legs.query == 1
    facts.know("tram", facts.sentence[0])
    again = parts.plan(**asked).plan
    assert again.stats.recall.legs.query == 2
    assert weights(again)["The tram leaves at five."] == 1.0
    # The passage that ingestion made of the same sentence collapses into it; the heavier one stands (S2).
    assert [span.text for span in again.spans].count("The tram leaves at five.") == 1


def test_every_span_of_a_node_takes_its_score_undivided(parts, facts):
    """S1: S(node) × kind prior for each span; R4: a span off the ledger is a body, a node without spans is counted."""
    inside = facts.sentence[0]._replace(start=facts.sentence[0].start + 4, end=facts.sentence[0].start + 8)
    facts.know("two", inside, facts.sentence[1])
    facts.know("none")
    plan = parts.plan(find="fact", expand_depth=0, max_frac_per_source=1.0).plan
    assert [(span.text, span.kind, span.weight) for span in plan.spans] == [
        ("tram", "body", 1.0),
        ("The bridge is closed.", "paragraph", 1.0),
    ]
    recall = plan.stats.recall
    assert (recall.nodes, recall.nodes_without_spans, recall.kind_missing, recall.slices_missing) == (2, 1, 1, 0)


def test_structured_hits_come_by_node_id_and_64_unless_asked_otherwise(parts, facts):
    """R1: the query's limit, default 64, by node id, whatever the order of writing."""
    names = sorted((uid("main", number) for number in range(70)), reverse=True)
    records = [
        NodeRecord(name, "main", "fact", "{}", provenance=(facts.sentence[index % 5],))
        for index, name in enumerate(names)
    ]
    parts.writer.put_nodes(facts.tenant, records)
    assert parts.plan(find="fact", expand_depth=0).plan.stats.recall.legs.query == 64
    few = parts.plan(find="fact", find_limit=3, expand_depth=0, max_frac_per_source=1.0).plan
    lowest = sorted(records, key=lambda record: record.node_id)[:3]
    assert {span.span for span in few.spans} == {record.provenance[0] for record in lowest}
    assert parts.plan(find="fact", find_limit=1000, expand_depth=0).plan.stats.recall.legs.query == 70
    assert parts.plan(find="nothing of this type").plan.stats.pool_spans == 0


def test_expansion_goes_as_many_hops_as_asked_and_32_edges_from_a_hub(parts, facts):
    """R1, R2: depth 0, 1, 2 (default 1); hub cap 32 by edge id; decay = hop decay × confidence, the best path wins."""
    hub = facts.know("hub", facts.sentence[0], kind="hub")
    leaves = [uid("main", "leaf", number) for number in range(40)]
    parts.writer.put_nodes(facts.tenant, [NodeRecord(leaf, "main", "leaf", "{}") for leaf in leaves])
    edges = [EdgeRecord(uid("edge", leaf.hex()), leaf, hub, "near", 0.5) for leaf in leaves]
    parts.writer.put_edges(facts.tenant, edges)
    followed = [edge.from_node for edge in sorted(edges, key=lambda edge: edge.edge_id)[:32]]
    beyond = facts.know("beyond", facts.sentence[1], kind="end")
    facts.join(followed[0], beyond, confidence=0.5)
    facts.join(followed[1], beyond, confidence=0.25)
    unseen = facts.know("unseen", facts.sentence[2], kind="end")
    facts.join(next(leaf for leaf in leaves if leaf not in followed), unseen)

    def at(depth):
        plan = parts.plan(find="hub", expand_depth=depth, max_frac_per_source=1.0).plan
        return plan.stats.recall.legs.traversal, weights(plan)

    assert at(0) == (0, {"The tram leaves at five.": 1.0})
    assert at(1) == at(None) == (32, {"The tram leaves at five.": 1.0})
    assert at(2) == (33, {"The tram leaves at five.": 1.0, "The bridge is closed.": 0.5 * 0.5 * 0.5 * 0.5})


def test_the_pool_holds_2000_nodes_and_the_rest_is_reported(parts, facts):
    """R1: pool cap by (S desc, node id)."""
    roots = [NodeRecord(uid("main", "root", number), "main", "root", "{}") for number in range(1000)]
    others = [
        NodeRecord(uid("main", "other", number), "main", "other", "{}", provenance=(facts.sentence[number % 5],))
        for number in range(1010)
    ]
    parts.writer.put_nodes(facts.tenant, [*roots, *others])
    ends = [(roots[number % 1000].node_id, other.node_id) for number, other in enumerate(others)]
    parts.writer.put_edges(
        facts.tenant, [EdgeRecord(uid(one.hex(), other.hex()), one, other, "near") for one, other in ends]
    )
    recall = parts.plan(find="root", find_limit=1000).plan.stats.recall
    assert (recall.legs.query, recall.legs.traversal, recall.nodes, recall.pool_capped) == (1000, 1010, 2010, 10)
    assert recall.nodes_without_spans == 1000


@pytest.mark.parametrize(("alpha", "score"), [(0.0, 0.5), (1.0, 1.0), (0.5, math.sqrt(0.5))])
def test_alpha_weighs_similarity_against_the_path(tmp_path, alpha, score):
    """R2, G1: α = 0 is the path's decay alone and α = 1 the similarity alone, exactly; 0.5 is √sim × √decay."""
    parts = parts_in(tmp_path, config=PlannerConfig(planner=PlannerSettings(alpha=alpha, top_k=1)))
    facts = Facts(parts, SENTENCES)
    one = facts.know("a root", facts.sentence[4], vector=[1.0, 0.0])
    # As like as the root itself, but top_k = 1 leaves it to expansion.
    like, other = sorted([one, facts.know("beside it", facts.sentence[3], vector=[1.0, 0.0])])
    facts.join(like, other)
    plan = parts.plan(vector=(1.0, 0.0), max_frac_per_source=1.0).plan
    assert sorted(weights(plan).values()) == sorted([1.0, score])
    parts.close()


def test_spaces_none_named_named_and_all(parts):
    """M7: none named = the key's spaces, or main; `*` is explicit and means what the key allows."""
    for space in ("main", "red", "blue"):
        Facts(parts, f"The {space} tram.\n", name=f"{space}.txt", space=space)
    limited = parts.key(spaces=("red",))

    def read(key, *spaces):
        request = PlanRequest(question="tram", spaces=spaces, allow_ungrounded=True)
        return set(texts_of(parts.planning.plan(key, request, {}).plan.spans))

    assert read(parts.key()) == {"The main tram."}
    assert read(parts.key(), "*") == {"The main tram.", "The red tram.", "The blue tram."}
    assert read(parts.key(), "blue", "red") == {"The red tram.", "The blue tram."}
    assert read(parts.key(), "nowhere") == set()
    assert read(limited) == read(limited, "*") == read(limited, "red") == {"The red tram."}


def test_instants_outside_memory(parts, facts):
    """R3, R6: before the first commit there is nothing, after the last there is the last, before 1970 is an instant."""
    now = parts.plan("tram bridge")
    assert parts.plan("tram bridge", window=Window(now.window.valid_time, START + 999 * YEAR)).window == now.window
    for window in (Window(None, 5), Window(None, -5), Window(-5), Window(None, -(2**63)), Window(-(2**63))):
        answer = parts.plan("tram bridge", window=window)
        assert (answer.plan.spans, answer.plan.stats.pool_spans) == ((), 0)
    ahead = parts.plan("tram bridge", window=Window(2**63 - 2))
    assert ahead.plan.spans == now.plan.spans


@pytest.mark.parametrize("budget", [1, 20, 60, 100])
def test_windows_that_cannot_be_packed_take_no_passages_place(parts, budget):
    """R1, R6: eighty windows hold all the words, each passage one of them; a small budget still finds the passages."""
    words = ("tram", "bridge", "night")
    paragraphs = [f"{word} {' '.join(f'w{(7 * n) % 997}x{k}' for k in range(6))}." for n in range(80) for word in words]
    parts.remember("long.txt", "\n\n".join(paragraphs))
    for depth in (0, 1):
        stats = parts.plan(" ".join(words), max_tokens=budget, max_frac_per_source=1.0, expand_depth=depth).plan.stats
        assert stats.recall.legs.lexical == 64
        assert stats.pool_spans >= 64
        assert (stats.selected_spans > 0) == (budget >= 60)
    windows = parts.plan(find="window", max_tokens=budget, max_frac_per_source=1.0, expand_depth=0).plan.stats
    assert (windows.unpackable, windows.pool_spans) == (0, windows.recall.legs.query)
    assert (windows.recall.legs.query > 0) == (budget >= 60)


def test_a_derived_artifact_is_cache_and_discounted(parts):
    """R7, S1, S3: a source of its own, of class cache, weighed by its discount; the truth beside it stays whole."""
    text = "The tram leaves at five.\n"
    Facts(parts, text, name="truth.txt")
    summary = parse(DocumentInput(None, "summary.txt", None, "main", None, text.encode(), None), "acme")
    tenant = parts.planning.caller(parts.key()).tenant
    parts.writer.write_documents(tenant, [replace(summary, span_class=SpanClass.CACHE)])
    spans = parts.plan(find="passage", max_frac_per_source=1.0).plan.spans
    assert sorted((span.span_class, span.weight, span.text) for span in spans) == [
        (SpanClass.TRUTH, 1.0, "The tram leaves at five."),
        (SpanClass.CACHE, 0.5, "The tram leaves at five."),
    ]
    assert len({span.span.source_id for span in spans}) == 2
    items = parts.context(find="passage", max_frac_per_source=1.0).items
    assert [item.span_class for item in items] == [SpanClass.TRUTH, SpanClass.CACHE]
