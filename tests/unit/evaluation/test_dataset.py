"""A labelled set is checked whole, and each fault has its place."""

import json

import pytest
from labelled_sets import CHAT, HARBOUR, HARBOUR_NEW, QUESTIONS, SOURCES, gold, question, source, written
from telha_planner.core.request import INT64_MIN
from telha_planner.evaluation.dataset import DatasetInvalid, load


def test_a_set_is_read_as_it_stands(tmp_path):
    """E1: sources, times, scopes and gold by bytes."""
    dataset = load(written(tmp_path / "city"))
    assert dataset.name == "city"
    assert dataset.scopes == ("city", "home")
    assert [one.label for one in dataset.sources] == ["harbour", "notice", "tea", "chat"]
    assert dataset.newest("city") == 1_777_705_200_000_000  # 2026-05-02T07:00:00Z
    assert dataset.newest("home") is None
    matcha = next(one for one in dataset.questions if one.label == "matcha")
    (span,) = matcha.gold
    assert dataset.sources[span.source].content[span.start : span.end].decode() == "抹茶は三百円です。"
    assert [one.label for one in dataset.questions if one.is_rejection] == ["volcano"]


def test_a_source_without_a_time_has_always_been_true(tmp_path):
    """E1: a question of any time sees it."""
    dataset = load(written(tmp_path))
    assert dataset.sources[3].document("main").valid_from == INT64_MIN


def test_only_keeps_gold_true(tmp_path):
    """E1: gold follows its source when scopes are left out."""
    whole = load(written(tmp_path))
    home = whole.only([3])
    (vet, volcano) = home.questions
    assert (vet.label, volcano.label) == ("vet", "volcano")
    assert home.sources[vet.gold[0].source].content[vet.gold[0].start : vet.gold[0].end] == b"Rui: Dr. Sousa."


def _faulty_sources(**changes):
    return [*SOURCES[:1], SOURCES[1] | changes]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"source_id": "harbour"}, "sources.jsonl, line 2, source_id: 'harbour' stands in an earlier line"),
        ({"source_id": 7}, "sources.jsonl, line 2, source_id: must be a string"),
        ({"name": "x" * 2000}, "sources.jsonl, line 2, name: "),
        (
            {"text": "a\r\nb"},
            "sources.jsonl, line 2, text: must be canonical text, with LF alone and no byte order mark",
        ),
        ({"text": "é\rb"}, "byte 2 is not"),
        ({"text": "\ufeffb"}, "byte 0 is not"),
        ({"text": " \n\u3000"}, "sources.jsonl, line 2, text: must not be blank"),
        ({"text": "a\0b"}, "sources.jsonl, line 2, text: "),
        ({"text": "a\ud800"}, "sources.jsonl, line 2, text: must not hold a lone surrogate"),
        ({"text": None}, "sources.jsonl, line 2, text: must be a string"),
        ({"time": "2026-05-02"}, "sources.jsonl, line 2, time: must be null or an ISO 8601 instant with an offset"),
        ({"time": 5}, "sources.jsonl, line 2, time: must be null or an ISO 8601 instant with an offset"),
        ({"scope": " "}, "sources.jsonl, line 2, scope: must be a string that is not blank"),
        ({"extra": 1}, "sources.jsonl, line 2, extra: is unknown"),
    ],
)
def test_a_fault_of_a_source_has_its_place(changes, place, tmp_path):
    """E1: file, line and field."""
    written(tmp_path, questions=[])
    rows = [json.dumps(row) for row in _faulty_sources(**changes)]
    (tmp_path / "sources.jsonl").write_text("\n".join(rows) + "\n")
    with pytest.raises(DatasetInvalid) as caught:
        load(tmp_path)
    assert place in str(caught.value)


PIER = gold("notice", HARBOUR_NEW, "pier five")


@pytest.mark.parametrize(
    ("row", "place"),
    [
        (QUESTIONS[0], "questions.jsonl, line 2, id: 'pier' stands in an earlier line"),
        (question("q", ""), "questions.jsonl, line 2, question: must be a string that is not blank"),
        (question("q", "x" * 20_000), "questions.jsonl, line 2, question: "),
        (question("q", "w?", PIER | {"source_id": "nobody"}), "line 2, gold[0].source_id: must be the id of a source"),
        (question("q", "w?", PIER, gold("chat", CHAT, "vet?")), "gold[1].source_id: must be of the question's scope"),
        (question("q", "w?", PIER | {"end": 9999}), "gold[0].end: must be a byte offset from 0 to"),
        (question("q", "w?", PIER | {"start": True}), "gold[0].start: must be a byte offset from 0 to"),
        (question("q", "w?", PIER | {"start": PIER["end"]}), "gold[0].end: must lie behind start"),
        (question("q", "w?", {"source_id": "tea", "start": 3, "end": 8}), "gold[0].start: must not lie inside a char"),
        (question("q", "w?", PIER | {"note": 1}), "gold[0]: must be an object of source_id, start and end"),
        (question("q", "w?") | {"gold": {}}, "questions.jsonl, line 2, gold: must be a list"),
        ({"id": "q"}, "questions.jsonl, line 2, question: is required"),
        ([], "questions.jsonl, line 2: must be a JSON object"),
    ],
)
def test_a_fault_of_a_question_has_its_place(row, place, tmp_path):
    """E1: file, line and field; offsets on character boundaries, inside the question's own scope."""
    with pytest.raises(DatasetInvalid) as caught:
        load(written(tmp_path, questions=[QUESTIONS[0], row]))
    assert place in str(caught.value)


def test_files_must_be_there_and_be_json(tmp_path):
    """E1: a missing file, broken JSON and a doubled key are told with their place."""
    with pytest.raises(DatasetInvalid, match=r"^sources\.jsonl: cannot be read"):
        load(tmp_path)
    written(tmp_path, sources=[source("harbour", HARBOUR)], questions=[])
    (tmp_path / "questions.jsonl").write_bytes(b'{"id": "a", "id": "b"}\n')
    with pytest.raises(
        DatasetInvalid, match=r"^questions\.jsonl, line 1: must be a JSON object in UTF-8: a key stands"
    ):
        load(tmp_path)
    (tmp_path / "questions.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(DatasetInvalid, match=r"^questions\.jsonl, line 1: must be a JSON object in UTF-8"):
        load(tmp_path)
    (tmp_path / "sources.jsonl").write_bytes(b"")
    with pytest.raises(DatasetInvalid, match=r"^sources\.jsonl, line 1"):
        load(tmp_path)
