"""Turns: their text, speaker and time."""

import json
import re

import pytest
from ingest_builders import conversation_of, nodes_of, record_of, spans_of, term_ids
from telha_planner.core.errors import RequestInvalid
from telha_planner.memory.records import DocumentRecord
from telha_planner.models.analysis import term_counts

MAY = 1_683_554_160_000_000
TURNS = [
    {"speaker": "Caroline", "text": "Hey Mel!\r\nHow are you?", "time": "2023-05-08T13:56:00Z"},
    {"speaker": "Melanie", "text": "  Fine.\n\nAnd you?  ", "time": "2023-05-09T00:30:00.25+02:00"},
    {"speaker": "李雷", "text": "六点出发。"},
    {"speaker": "Caroline", "text": "Bye.", "time": MAY + 5},
]


def turns_of(record: DocumentRecord) -> list[tuple[str, dict[str, object], int | None]]:
    return [(text, json.loads(node.properties), node.valid_from) for node, text in nodes_of(record, "turn")]


def test_a_conversation() -> None:
    """M2: one turn, one paragraph, `speaker: text`; speaker and time are properties, time is its valid start."""
    record = conversation_of(TURNS)
    assert record.text.decode() == (
        "Caroline: Hey Mel!\nHow are you?\n\nMelanie: Fine.\n\nAnd you?\n\n李雷: 六点出发。\n\nCaroline: Bye."
    )
    plain = {"kind": "paragraph", "path": []}
    assert turns_of(record) == [
        (
            "Caroline: Hey Mel!\nHow are you?",
            plain | {"speaker": "Caroline", "time": "2023-05-08T13:56:00.000000Z"},
            MAY,
        ),
        (
            "Melanie: Fine.\n\nAnd you?",
            plain | {"speaker": "Melanie", "time": "2023-05-08T22:30:00.250000Z"},
            MAY + 30_840_250_000,
        ),
        ("李雷: 六点出发。", plain | {"speaker": "李雷"}, None),
        ("Caroline: Bye.", plain | {"speaker": "Caroline", "time": "2023-05-08T13:56:00.000005Z"}, MAY + 5),
    ]
    assert {kind for kind, _ in spans_of(record)} == {"paragraph", "section"}


def test_both_shapes_carry_the_same() -> None:
    """M2: an object of turns, and a turn a line with blank lines between."""
    lines = conversation_of(TURNS)
    whole = record_of(json.dumps({"turns": TURNS}, indent=1), "chat.json")
    assert (whole.text, whole.spans, whole.valid_from) == (lines.text, lines.spans, lines.valid_from)
    spaced = record_of("\n\n".join(json.dumps(turn) for turn in TURNS) + "\n", "chat.ndjson")
    assert spaced.text == lines.text


def test_the_conversation_is_true_since_its_first_turn() -> None:
    """M2: unless the caller says since when; a turn's own time always holds."""
    assert conversation_of(TURNS).valid_from == MAY
    assert conversation_of(TURNS[2:3]).valid_from is None
    stated = conversation_of(TURNS, valid_from=7)
    assert (stated.valid_from, turns_of(stated)[0][2]) == (7, MAY)


def test_windows_are_true_once_their_last_turn_is_said() -> None:
    """M2: up to three turns, valid from the latest."""
    record = conversation_of([{"speaker": "a", "text": f"word {n}", "time": MAY + n} for n in range(3)])
    assert [(text, node.valid_from) for node, text in nodes_of(record, "window")] == [
        ("a: word 0\n\na: word 1\n\na: word 2", MAY + 2)
    ]


def test_speaker_and_date_are_indexed() -> None:
    """R2: a turn is found by who said it and on which day, by the clock of the one who said it."""
    record = conversation_of(TURNS)
    assert nodes_of(record, "turn")[1][0].terms.total == sum(
        term_counts("chat.jsonl\n2023-05-09\nMelanie: Fine. And you?").values()
    )
    window_terms = {term for node, _ in nodes_of(record, "window") for term in term_ids(node)}
    assert set(term_counts("Caroline Melanie 2023-05-08 2023-05-09")) <= window_terms


def test_a_long_turn_keeps_its_speaker() -> None:
    """M2: the pieces of a turn are turns of the same speaker, who is indexed with each."""
    record = conversation_of([{"speaker": "Caroline", "text": "Trams run. " * 400, "time": MAY}])
    pieces = turns_of(record)
    assert len(pieces) == 3
    assert {(said["speaker"], since) for _, said, since in pieces} == {("Caroline", MAY)}
    term = next(iter(term_counts("Caroline")))
    assert all(term in term_ids(node) for node, _ in nodes_of(record, "turn"))


def test_equal_turns_at_two_times_are_two() -> None:
    """M2: an earlier turn that says the same does not become the later one."""
    later = {"speaker": "a", "text": "Yes.", "time": MAY + 1}
    alone = conversation_of([later])
    both = conversation_of([{"speaker": "a", "text": "Yes.", "time": MAY}, later])
    assert nodes_of(alone, "turn")[0][0].node_id == nodes_of(both, "turn")[1][0].node_id


GOOD = '{"speaker": "a", "text": "b"}'


@pytest.mark.parametrize(
    ("content", "name", "rule"),
    [
        ("a: hello", "chat.jsonl", "line 1: JSON is malformed"),
        (f'{GOOD}\n{{"speaker": "a"}}', "chat.jsonl", "line 2: Object missing required field `text`"),
        (f'{GOOD}\n\n{{"speaker": "a", "text": 1}}', "chat.jsonl", "line 3: Expected `str`, got `int`"),
        ('{"speaker": "a", "text": "b", "timestamp": 1}', "chat.jsonl", "unknown field `timestamp`"),
        ('{"speaker": " ", "text": "b"}', "chat.jsonl", "line 1: speaker must not be blank"),
        ('{"speaker": "a\\n", "text": "b"}', "chat.jsonl", "line 1: speaker must not contain control characters"),
        ('{"speaker": "a", "text": "\\u3000"}', "chat.jsonl", "line 1: text must not be blank"),
        ('{"speaker": "a", "text": "b\\u0000"}', "chat.jsonl", "line 1: text must not contain U+0000"),
        ('{"speaker": "a", "text": "\\ud800"}', "chat.jsonl", "line 1: "),
        ('{"speaker": "a", "text": "b", "time": "2023-05-08T13:56:00"}', "chat.jsonl", "must say its offset from UTC"),
        ('{"speaker": "a", "text": "b", "time": "yesterday"}', "chat.jsonl", "line 1: time must be an instant such as"),
        ('{"speaker": "a", "text": "b", "time": "2023-02-29T00:00:00Z"}', "chat.jsonl", "must exist on the calendar"),
        ('{"speaker": "a", "text": "b", "time": "2023-05-08T13:56:00.1234567Z"}', "chat.jsonl", "not be finer than"),
        ('{"speaker": "a", "text": "b", "time": 9223372036854775807}', "chat.jsonl", "line 1: time must be between"),
        ('{"speaker": "a", "text": "b", "time": 1.5}', "chat.jsonl", "line 1: Expected"),
        ('{"turns": []}', "chat.json", "must hold a turn"),
        ("[]", "chat.json", "Expected `object`, got `array`"),
        (f'{{"turns": [{GOOD}], "title": "x"}}', "chat.json", "unknown field `title`"),
        (f'{{"turns": [{GOOD}, {{"speaker": "a", "text": ""}}]}}', "chat.json", "turn 2: text must not be blank"),
        ('{"turns": ' + "[" * 100_000, "chat.json", "Expected `object`, got `array`"),
    ],
)
def test_what_is_refused(content: str, name: str, rule: str) -> None:
    """M1, M2: each fault names its line or turn; times without an offset or below a microsecond are not guessed at."""
    with pytest.raises(RequestInvalid, match=re.escape(rule)) as caught:
        record_of(content, name)
    assert caught.value.field == "content"


def test_a_transcript_in_prose_is_plain_text() -> None:
    """M2: what has no shape is not guessed at."""
    record = record_of("Ana: hello\nBen: hi\n", "chat.txt")
    assert not nodes_of(record, "turn")
