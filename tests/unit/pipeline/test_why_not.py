"""Why a subject that the caller names is in the plan or out of it: one test per verdict, on both engines."""

import re
from uuid import uuid4

import pytest
from asking_why import HARBOUR, SECOND, a_fact, at, node_of, tenant_of, version_of, why, why_one
from planner_parts import START, parts_over
from telha_planner.config import PlannerConfig
from telha_planner.core.explained import TimeAxis, Verdict
from telha_planner.core.model import Outcome, SpanRef
from telha_planner.core.request import PlanRequest, Window
from telha_planner.core.subject import SourceSubject
from telha_planner.memory import properties
from telha_planner.memory.records import NodeRecord
from telha_planner.recall import recall


@pytest.fixture
def parts(store_url):
    made = parts_over(store_url)
    yield made
    made.close()


def test_what_is_packed_is_said_to_be(parts):
    """X6: a candidate, with its outcome, rank and parts as explain tells them."""
    parts.remember("notes.md", HARBOUR)
    told = why_one(parts, "when does the harbour open", SourceSubject("notes.md", "Harbour"))
    assert told.verdict is Verdict.CANDIDATE
    assert told.candidates[0].outcome is Outcome.PACKED
    assert told.candidates[0].score.score == 1.0
    assert re.fullmatch(
        r"(all|\d) of its \d nodes were candidates; .* in the plan, the best 1st in packing order", told.because
    )


def test_a_candidate_that_did_not_fit_says_what_was_left(parts):
    """X6: the numbers of the moment, packed ones before others."""
    parts.remember("notes.md", HARBOUR)
    parts.remember(
        "long.md", "The harbour opens for everybody, says the long notice of the harbour, " + "and so on " * 30
    )
    told = why_one(
        parts, "when does the harbour open", SourceSubject("long.md"), max_tokens=60, max_frac_per_source=1.0
    )
    assert told.verdict is Verdict.CANDIDATE
    assert told.candidates[0].outcome is Outcome.UNPACKABLE
    assert told.because.startswith("its one node was a candidate, and its span came 2nd and was larger than")


def test_what_is_not_true_yet_or_no_more_names_the_interval(parts):
    """X6, M1: valid time hides, since when and until when."""
    begin = START + 10_000 * SECOND
    parts.remember("notes.md", HARBOUR, valid_from=begin)
    told = why_one(parts, "when does the harbour open", SourceSubject("notes.md", "Harbour"))
    assert told.verdict is Verdict.NOT_VISIBLE
    assert {node.axis for node in told.nodes} == {TimeAxis.VALID_TIME}
    assert {(node.since, node.until) for node in told.nodes} == {(begin, None)}
    assert "none is visible" in told.because
    assert "on; asked was what is true at 2026-05-28T" in told.because
    later = Window(valid_time=begin)
    assert why_one(parts, "harbour", SourceSubject("notes.md", "Harbour"), window=later).verdict is Verdict.CANDIDATE


def test_what_was_learnt_after_the_read_names_its_commit(parts):
    """X6, R3: transaction time hides."""
    parts.remember("other.md", "Nothing of it.")
    before = parts.plan("nothing").window.tx_time
    parts.remember("notes.md", HARBOUR, valid_from=START)
    told = why_one(parts, "harbour", SourceSubject("notes.md", "Harbour"), window=Window(tx_time=before))
    assert told.verdict is Verdict.NOT_VISIBLE
    node = told.nodes[0]
    assert (node.axis, node.until) == (TimeAxis.TX_TIME, None)
    assert node.since == version_of(parts, "harbour") > before
    assert "memory was read as of" in node.because


def test_a_superseded_version_says_until_when_it_was_true(parts):
    """X6, M2: its bytes are of a version that is not read, though memory still knows what was true."""
    source = parts.remember("notes.md", HARBOUR)
    old = version_of(parts, "harbour")
    parts.remember("notes.md", HARBOUR.replace("six", "seven"))
    new = version_of(parts, "harbour")
    told = why_one(parts, "harbour", at(source, old, HARBOUR, "opens at six"))
    assert told.verdict is Verdict.NOT_VISIBLE
    node = told.nodes[0]
    assert (node.axis, node.since, node.until) == (TimeAxis.VALID_TIME, old, new)
    assert told.because.endswith("Another version of this source is read at these instants")
    then = why_one(parts, "harbour", at(source, old, HARBOUR, "opens at six"), window=Window(old, old))
    assert then.verdict is Verdict.CANDIDATE


def test_a_passage_that_stayed_says_where_it_stands_now(parts):
    """X6, M2: the old bytes are read no more; the same words are, elsewhere."""
    source = parts.remember("notes.md", HARBOUR)
    old = version_of(parts, "harbour")
    newer = "# New\n\nSomething before.\n\n" + HARBOUR
    parts.remember("notes.md", newer)
    new = version_of(parts, "harbour")
    told = why_one(parts, "harbour", at(source, old, HARBOUR, "The harbour opens at six."))
    node = next(node for node in told.nodes if node.type == "passage")
    assert told.verdict is node.verdict is Verdict.NOT_VISIBLE
    assert (node.axis, node.since, node.until) == (TimeAxis.TX_TIME, old, new)
    assert node.instead == at(source, new, newer, "The harbour opens at six.")
    assert "the same words now stand at [" in node.because


def test_another_space_is_named_to_who_may_read_it(parts):
    """X6, M7: and to nobody else (see the isolation tests)."""
    parts.remember("notes.md", HARBOUR, space="other")
    told = why_one(parts, "harbour", SourceSubject("notes.md"))
    assert told.verdict is Verdict.OTHER_SPACE
    assert {node.verdict for node in told.nodes} == {Verdict.OTHER_SPACE}
    assert told.nodes[0].because == "in the space “other”; read was “main”"
    assert why_one(parts, "harbour", SourceSubject("notes.md"), spaces=("*",)).verdict is Verdict.CANDIDATE


def test_what_no_leg_found_has_its_rank_and_the_score_it_would_have_had(store_url):
    """X6: scored by the code that scores everything else, to the bit."""
    few = parts_over(store_url, config=PlannerConfig(planner={"top_k": 1, "expand_depth": 0}))
    for number in range(4):
        few.remember(f"{number}.md", "harbour " + "and other things " * number)
    told = why_one(few, "harbour", SourceSubject("2.md"))
    (node,) = told.nodes
    assert told.verdict is node.verdict is Verdict.NOT_FOUND
    assert [rank for _, rank in node.ranks] == [3]
    assert node.because.startswith("3rd of the lexical leg, which has one place; it would have scored ")
    few.close()
    many = parts_over(store_url)
    many.keys = few.keys
    scores = {one.source_name: one.score for one in many.plan("harbour", explain=True).explanation.spans}
    assert node.score.score == scores["2.md"].score > 0
    assert node.score.lexical == scores["2.md"].lexical
    many.close()


def test_what_matches_nothing_says_so(parts):
    """X6: no word of the question, no edge, a score of 0."""
    parts.remember("notes.md", HARBOUR)
    parts.remember("else.md", "Quite another matter.")
    told = why_one(parts, "harbour", SourceSubject("else.md"))
    assert told.verdict is Verdict.NOT_FOUND
    assert told.because == (
        "its node was no candidate: holds no word of the question; no edge leads to it from what was found; "
        "it would have scored 0"
    )


def test_what_is_reached_and_worth_nothing_says_how_it_was_reached(parts):
    """X6: found over an edge, and scored 0."""
    source = parts.remember("notes.md", HARBOUR)
    version = version_of(parts, "harbour")
    told = why_one(parts, "opens", at(source, version, HARBOUR, "# Harbour"))
    node = node_of(told, Verdict.ZERO_SCORE)
    assert node.type == "section"
    assert node.score.score == 0.0
    assert "scores 0: " in node.because


def test_what_is_below_the_floor_says_what_was_needed(parts):
    """X6, R6: its own evidence, the floor and the best."""
    parts.remember("notes.md", HARBOUR)
    told = why_one(parts, "what does the harbour master earn", SourceSubject("notes.md", "Harbour"), min_similarity=0.9)
    assert told.verdict is Verdict.BELOW_FLOOR
    assert re.search(r"the best evidence found, 0\.\d+, is below the floor of 0.9: nothing counts", told.because)
    assert told.nodes[0].score.evidence > 0


def test_a_leftover_below_the_share_of_the_best_says_the_share(parts):
    """X6, R6: where the best is evidence enough, what is needed follows from it."""
    parts.remember("good.md", "harbour opening hours and ferry timetable")
    parts.remember("weak.md", "a timetable of quite other things and of nothing else at all")
    told = why_one(parts, "harbour opening hours ferry timetable", SourceSubject("weak.md"), min_similarity=0.3)
    assert told.verdict is Verdict.BELOW_FLOOR
    assert re.search(
        r"its evidence is 0\.\d+; with a floor of 0.3 and the best at 0\.\d+, 0\.\d+ was needed", told.because
    )


def test_a_window_that_could_never_be_packed_says_its_size(parts):
    """X6, R1: its tokens against the room."""
    text = "".join(f"The harbour opens at {hour}, says the master of the harbour.\n\n" for hour in "abc")
    parts.remember("notes.txt", text)
    told = why_one(parts, "when does the harbour open", SourceSubject("notes.txt"), max_tokens=50)
    node = node_of(told, Verdict.WINDOW_TOO_LARGE)
    assert node.type == "window"
    tokens, room = map(int, re.match(r"a window of (\d+) tokens; .* has room for (\d+)$", node.because).groups())
    assert tokens > room == 20


def test_a_window_beside_a_better_one_says_which(parts):
    """X6, R1: the span that stands in its place."""
    text = "harbour opens\n\nbread is baked\n\nships leave\n"
    source = parts.remember("notes.txt", text)
    version = version_of(parts, "harbour")
    whole = SpanRef(source.bytes, version, 0, len(text) - 1)
    poorer = a_fact(parts, SpanRef(source.bytes, version, 15, len(text) - 1), type="window")
    told = why_one(parts, "harbour opens bread", SpanRef(source.bytes, version, 0, len(text)))
    node = node_of(told, Verdict.POORER_WINDOW)
    assert node.node_id == poorer.bytes
    assert node.instead == whole
    assert node.because == "overlaps a better window, and of overlapping windows only the best is offered"


def test_what_the_cap_of_the_pool_keeps_out_says_so(parts, monkeypatch):
    """X6, R1: by (S desc, node id), reported."""
    monkeypatch.setattr(recall, "POOL_NODES", 1)
    parts.remember("best.md", "harbour")
    parts.remember("next.md", "harbour, and whatever else there is to say")
    told = why_one(parts, "harbour", SourceSubject("next.md"))
    assert told.verdict is Verdict.POOL_CAPPED
    assert re.search(r"scores 0\.\d+; 2,000 nodes come before it", told.because)


def test_a_node_that_rests_on_nothing_any_more_says_so(parts):
    """X6: it is visible, but there is nothing to cite."""
    source = parts.remember("notes.txt", "harbour opens\n\nbread is baked\n\nships leave\n")
    span = SpanRef(source.bytes, version_of(parts, "harbour"), 0, 7)
    node_id = a_fact(parts, span, valid_from=START)
    a_fact(parts, None, node_id=node_id, valid_from=START)
    told = why_one(parts, "ships", span)
    node = node_of(told, Verdict.NO_PROVENANCE)
    assert node.node_id == node_id.bytes
    assert node.because == "the node is visible, but rests on nothing any more"


def test_what_was_erased_says_when_as_far_as_it_is_remembered(parts):
    """X6, M5: of an id the instant; a name is erased too."""
    source = parts.remember("notes.md", HARBOUR)
    version = version_of(parts, "harbour")
    receipt = parts.writer.erase_source(tenant_of(parts), source.bytes)
    span = SpanRef(source.bytes, version, 0, 9)
    named, by_id, bytes_of = why(parts, "harbour", SourceSubject("notes.md"), SourceSubject(str(source)), span)
    assert (named.verdict, by_id.verdict, bytes_of.verdict) == (Verdict.UNKNOWN, Verdict.ERASED, Verdict.ERASED)
    assert by_id.because == bytes_of.because
    assert by_id.because.startswith("its text was erased at 2026-05-28T")
    again = parts.remember("notes.md", HARBOUR)
    assert again == source
    by_id, bytes_of = why(parts, "harbour", SourceSubject(str(source)), span)
    assert (by_id.verdict, bytes_of.verdict) == (Verdict.CANDIDATE, Verdict.ERASED)
    assert receipt.tx > version


def test_what_is_not_there_says_what_is(parts):
    """X6: no version of that instant, no section of that title, no node on those bytes, no such source."""
    source = parts.remember("notes.md", HARBOUR)
    version = version_of(parts, "harbour")
    told = why(
        parts,
        "harbour",
        SpanRef(source.bytes, version + 1, 0, 5),
        SourceSubject("notes.md", "Cheese"),
        SpanRef(source.bytes, version, 9, 10),
        SourceSubject("cheese.md"),
    )
    assert {one.verdict for one in told} == {Verdict.UNKNOWN}
    assert [one.because.split(";")[0] for one in told] == [
        "the source is known, but no version of that instant",
        "the source is known, and has no section of that title",
        "no node rests on these bytes",
        "memory knows nothing of it that this key may read",
    ]


def test_an_erasure_in_between_is_told_and_not_tripped_over(parts, monkeypatch):
    """X6, R5: the plan and its answers are made anew, without the source."""
    source = parts.remember("notes.md", HARBOUR)
    version = version_of(parts, "harbour")
    tenant, gone = tenant_of(parts), [source]

    def read(store, number, versions):
        if gone:
            parts.writer.erase_source(tenant, gone.pop().bytes)
        return properties.read_properties(store, number, versions)

    monkeypatch.setattr("telha_planner.columns.tenant.read_properties", read)
    subjects = (SourceSubject("notes.md", "Harbour"), SpanRef(source.bytes, version, 0, 9))
    told = parts.plan("harbour", why_not=subjects).explanation.subjects
    assert not gone
    assert [one.verdict for one in told] == [Verdict.UNKNOWN, Verdict.ERASED]


def test_a_subject_of_many_nodes_tells_the_nearest_and_counts_the_rest(parts):
    """X6: at most 8 of each, honestly counted."""
    text = "\n\n".join(f"The harbour opens at {number}." for number in range(30)) + "\n\n# Else\n\n"
    text += "\n\n".join(f"Paragraph {number} of something." for number in range(90))
    parts.remember("notes.md", text)
    told = why_one(parts, "harbour", SourceSubject("notes.md"), max_tokens=100)
    assert len(told.candidates) == len(told.nodes) == 8
    assert told.candidates_left_out > 8
    assert told.nodes_left_out > 8
    outcomes = [one.outcome is Outcome.PACKED for one in told.candidates]
    assert outcomes == sorted(outcomes, reverse=True)
    ranks = [one.rank for one in told.candidates if one.outcome is not Outcome.PACKED and one.rank]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("subject", ["notes.md", "source", "span", "section"])
def test_a_foreign_subject_gets_the_answer_of_an_absent_one(parts, subject):
    """A6, M7: word for word, for a key that is limited to a space, and for another tenant."""
    source = parts.remember("notes.md", HARBOUR, space="secret")
    version = version_of(parts, "harbour", spaces=("secret",))
    gone = parts.remember("gone.md", HARBOUR, space="secret")
    parts.writer.erase_source(tenant_of(parts), gone.bytes)
    theirs = {
        "notes.md": (SourceSubject("notes.md"), SourceSubject("absent.md")),
        "source": (SourceSubject(str(source)), SourceSubject(str(uuid4()))),
        "span": (SpanRef(source.bytes, version, 0, 9), SpanRef(uuid4().bytes, version, 0, 9)),
        "section": (SourceSubject("notes.md", "Harbour"), SourceSubject("absent.md", "Harbour")),
    }[subject]
    parts.remember("own.md", "What I have.", tenant="rival")
    for key in (parts.key("acme", ("own",)), parts.key("rival")):
        asked = (*theirs, SourceSubject(str(gone)))
        request = PlanRequest("harbour", why_not=asked, allow_ungrounded=True)
        foreign, absent, erased = parts.planning.plan(key, request, {}).explanation.subjects
        for one in (foreign, erased):
            assert (one.verdict, one.candidates, one.nodes, one.because) == (Verdict.UNKNOWN, (), (), absent.because)
            assert (one.candidates_left_out, one.nodes_left_out) == (0, 0)


def test_an_answer_without_pool_still_answers(parts):
    """X6, R6: of an empty memory, and of one where nothing matches."""
    assert why_one(parts, "harbour", SourceSubject("notes.md")).verdict is Verdict.UNKNOWN
    parts.remember("notes.md", HARBOUR)
    assert why_one(parts, "cheese", SourceSubject("notes.md", "Bread")).verdict is Verdict.NOT_FOUND


def test_what_was_given_before_names_what_it_repeats(parts):
    """X6, C11: left out because an earlier call gave it, wholly or in part of a node."""
    source = parts.remember("notes.md", HARBOUR)
    version = version_of(parts, "harbour")
    parts.remember("other.md", "The harbour master opens the harbour.")
    given = at(source, version, HARBOUR, "The harbour opens at six.")
    told = why_one(parts, "when does the harbour open", given, exclusions=(given,))
    node = told.nodes[0]
    assert told.verdict is node.verdict is Verdict.EXCLUDED
    assert node.instead == given
    assert node.because.startswith("was given by an earlier call that is to be left out: [")
    other = at(source, version, HARBOUR, "Bread is baked at four.")
    both = uuid4()
    record = NodeRecord(both.bytes, "main", "fact", "{}", provenance=(given, other))
    parts.writer.put_nodes(tenant_of(parts), [record])
    told = why_one(parts, "when does the harbour open", given, exclusions=(given,))
    assert both.bytes in {node.node_id for node in told.nodes if node.verdict is Verdict.EXCLUDED}
    assert why_one(parts, "when does the harbour open", other, exclusions=(given,)).verdict is Verdict.CANDIDATE
