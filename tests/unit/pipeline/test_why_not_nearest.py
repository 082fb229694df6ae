"""Of a subject that was no candidate, what is told first: what kept its best matching text out."""

import re

import numpy as np
import pytest
from asking_why import SECOND, a_fact, at, version_of, why_one
from planner_parts import START, parts_over
from telha_planner.columns.postings import Postings
from telha_planner.core.explained import TimeAxis, Verdict
from telha_planner.core.model import SpanRef
from telha_planner.core.request import Window
from telha_planner.core.subject import SourceSubject


@pytest.fixture
def parts(store_url):
    made = parts_over(store_url)
    yield made
    made.close()


PORT = "# Port\n\nThe port is large.\n\nMany ships call at it every day.\n\nThe crane is yellow.\n"


@pytest.mark.parametrize("max_tokens", [40, 4000])
def test_the_text_that_was_learnt_after_the_read_speaks_for_its_source(parts, max_tokens):
    """X6, R3: what is visible and holds no word of the question, windows and headings among it, comes behind."""
    parts.remember("other.md", "The ferry timetable.")
    parts.remember("port.md", PORT)
    before = parts.plan("ferry").window.tx_time
    parts.remember("port.md", PORT + "\nFerries leave at noon.\n", valid_from=START)
    asked = {"max_tokens": max_tokens, "window": Window(tx_time=before)}
    told = why_one(parts, "when do ferries leave", SourceSubject("port.md"), **asked)
    assert told.verdict is told.nodes[0].verdict is Verdict.NOT_VISIBLE
    assert told.nodes[0].type == "passage"
    assert re.fullmatch(
        r"none of its \d nodes was a candidate, \d of them (is|are) not visible; the nearest: known from .* on; "
        r"memory was read as of .*",
        told.because,
    )
    assert {node.axis for node in told.nodes if node.verdict is Verdict.NOT_VISIBLE} == {TimeAxis.TX_TIME}
    assert [node.verdict for node in told.nodes] != [Verdict.NOT_VISIBLE] * len(told.nodes)


def test_one_hidden_node_is_one(parts):
    """X6: the answer is a sentence."""
    source = parts.remember("notes.md", "The crane is yellow.")
    span = SpanRef(source.bytes, version_of(parts, "crane"), 0, 9)
    a_fact(parts, span, valid_from=START + 10_000 * SECOND)
    told = why_one(parts, "harbour", SourceSubject("notes.md"))
    assert told.because.startswith("none of its 2 nodes was a candidate, 1 of them is not visible; the nearest: ")


def test_hidden_text_without_a_word_of_the_question_speaks_for_nothing(parts):
    """X6: of a source that was changed and never matched, what is visible says so."""
    for crane in ("yellow", "red", "blue"):
        parts.remember("port.md", PORT.replace("yellow", crane))
    told = why_one(parts, "bread", SourceSubject("port.md"))
    assert told.verdict is told.nodes[0].verdict is Verdict.NOT_FOUND
    assert told.nodes[0].type == "passage"
    assert "holds no word of the question" in told.because
    visible = [node.verdict is not Verdict.NOT_VISIBLE for node in told.nodes]
    assert visible == sorted(visible, reverse=True)
    assert not all(visible)


def test_what_is_visible_and_matches_comes_before_what_is_hidden(parts):
    """X6: an old text that held the word keeps nothing out if a new one holds it too."""
    parts.remember("port.md", PORT.replace("yellow", "green"))
    parts.remember("port.md", PORT)
    told = why_one(parts, "crane of steel", SourceSubject("port.md"), min_similarity=0.99)
    verdicts = [node.verdict for node in told.nodes]
    assert verdicts[0] is Verdict.BELOW_FLOOR
    first = verdicts.index(Verdict.NOT_VISIBLE)
    assert set(verdicts[:first]) == {Verdict.BELOW_FLOOR}
    assert "green" not in told.because


def test_of_hidden_text_that_which_holds_more_of_the_question_comes_first(parts):
    """X6: in any form of the words; without a question, any of it may be what was expected."""
    begin = START + 10_000 * SECOND
    text = "# Port\n\nFerries are large.\n\nBread is baked.\n\nThe ferry leaves at noon.\n"
    source = parts.remember("port.md", text, valid_from=begin)
    told = why_one(parts, "when do ferries leave", SourceSubject("port.md"))
    passages = [node.span for node in told.nodes if node.type == "passage"]
    version = passages[0].source_version_tx
    assert passages == [
        at(source, version, text, piece)
        for piece in ("The ferry leaves at noon.", "Ferries are large.", "Bread is baked.")
    ]
    by_type = why_one(parts, None, SourceSubject("port.md"), find="passage")
    assert by_type.verdict is Verdict.NOT_VISIBLE


def test_a_write_in_between_disturbs_no_answer(parts, monkeypatch):
    """X6: columns grow while they are read; what was appended since is passed over."""
    parts.remember("port.md", PORT, valid_from=START + 10_000 * SECOND)
    asked = ("crane", SourceSubject("port.md"))
    told = why_one(parts, *asked)
    real = Postings.occurrences

    def grown(postings, term, spaces):
        rows, counts = real(postings, term, spaces)
        return np.append(rows, np.int32(10**6)), np.append(counts, np.int32(1))

    monkeypatch.setattr(Postings, "occurrences", grown)
    assert [one.node_id for one in why_one(parts, *asked).nodes] == [one.node_id for one in told.nodes]


def test_a_window_that_matches_nothing_is_not_out_for_its_size(parts):
    """X6: its passages say that they hold no word of the question."""
    text = "".join(f"The harbour opens at {hour}, says the master of the harbour.\n\n" for hour in "abc")
    parts.remember("notes.txt", text)
    parts.remember("other.md", "Bread is baked at four.")
    told = why_one(parts, "when is bread baked", SourceSubject("notes.txt"), max_tokens=50)
    assert told.verdict is Verdict.NOT_FOUND
    assert told.nodes[0].type == "passage"
    assert told.nodes[-1].verdict is Verdict.WINDOW_TOO_LARGE
