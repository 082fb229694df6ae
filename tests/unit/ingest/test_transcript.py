"""Transcripts in plain text: what is one, what is none, and who says what."""

import pytest
from ingest_builders import nodes_of, record_of, term_ids
from telha_planner.ingest.transcript import is_transcript
from telha_planner.models.analysis import term_counts
from telha_planner.models.speakers import name_ids

TALK = "Ana: The depot opens at six.\nBen: When does it close?\nAna: At nine.\nBen: Thank you.\n"


def said_by(text: str, *names: str) -> list[tuple[str, str | None]]:
    """Each passage of *text* with the one of *names* that it is stored with."""
    found = []
    for node, piece in nodes_of(record_of(text, "talk.txt"), "passage"):
        stored = term_ids(node)
        found.append((piece, next((name for name in names if stored >= name_ids(name).keys()), None)))
    return found


@pytest.mark.parametrize(
    "text",
    [
        TALK,
        TALK.replace("\n", "\n\n"),
        "小明：电车几点开？\n李雷：六点。\n小明：末班呢？\n李雷：九点\n",
        "小明:电车几点开？\n李雷:六点。\n小明:末班呢？\n李雷:九点\n",
        "田中さん：始発は六時です。\n佐藤さん：終電は？\n田中さん：九時です。\n佐藤さん：ありがとう。\n",
        "Анна Каренина: Да.\nАлексей: Нет.\nАнна Каренина: Да.\nАлексей: Нет.\n",
        "עומר: שלום\nנועה: שלום\nעומר: כן\nנועה: לא\n",
        "[10:32] Ana: one\n[10:33] Ben: two\n[10:35] Ana: three\n[10:36] Ben: four\n",
        "12/03/2024, 10:32 - Ana: one\n12/03/2024, 10:33 - Ben: two\n" * 2,
        "10:32 AM Dr. O’Neil: one\n10:33 AM 👩‍🌾 Eva-Maria: two\n" * 2,
        "Ana: one\ngoes on\n\nBen: two\ngoes on\nand on\n\nAna: three\n\nBen: four\nand ends\nhere\nnow\n",
        TALK + "Guest: Hello.\n",
    ],
)
def test_what_is_a_transcript(text: str) -> None:
    """M2: labels in any script, with ASCII or full-width colons, behind times, over several lines."""
    assert is_transcript(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ana: hello\nBen: hi\n",
        "Ana: one\nBen: two\nAna: three\n",
        "Ana: one\nAna: two\nAna: three\nAna: four\n",
        "Note: one\nTODO: two\nNote: three\nTODO: four\n",
        "注意：一\n提示：二\n注意：三\n提示：四\n",
        "INFO: one\nERROR: two\nINFO: three\nERROR: four\n",
        "2024-03-12 10:32:01 INFO: one\n2024-03-12 10:32:02 WARN: two\n" * 3,
        "https://a.example/x: y\nhttp://b.example: z\n" * 3,
        "10:32: one\n10:33: two\n" * 3,
        "Ana:\nBen:\n" * 3,
        "def f():\n    if x:\n        return y\n    else:\n        return z\n" * 3,
        "std::vector: a\nstd::map: b\n" * 3,
        '{"a": 1}\n{"b": 2}\n' * 3,
        "    a: 1\n    b: 2\n" * 3,
        "- Ana: one\n- Ben: two\n" * 3,
        "Station: Harbour\nLine: 2\nStop: 4\n" * 4,
        "Apples: red\nPears: green\nPlums: blue\nApples: red\nPears: green\nKiwis: x\nNuts: y\nFigs: z\n",
        TALK + "A line that nobody says.\n" * 5,
        "John 3:16 says\nMark 4:1 says\n" * 3,
        "It ended 2:1 for us. The reason: luck.\nIt ended 2:1 for us. The cause: luck.\n" * 2,
        "\n".join(f"name{'x' * number}: says\nname{'x' * number}: more" for number in range(20)) * 2
        + "\n" * 9
        + "no\n" * 99,
    ],
)
def test_what_is_no_transcript(text: str) -> None:
    """M2: too few lines, one voice, remarks, logs, addresses, times, code, records, labels that do not come again."""
    assert not is_transcript(text)


def test_each_turn_is_a_passage_of_its_speaker() -> None:
    """M2, R2: turns are told apart though no line ends a sentence; lines behind a turn are its speaker's."""
    text = "Ana: one\ngoes on\nBen: two\nAna: three\nGuest: four\n\nA remark\n\nBen: five"
    assert said_by(text, "Ana", "Ben", "Guest") == [
        ("Ana: one\ngoes on", "Ana"),
        ("Ben: two", "Ben"),
        ("Ana: three", "Ana"),
        ("Guest: four", "Guest"),
        ("A remark", None),
        ("Ben: five", "Ben"),
    ]


def test_lines_that_end_sentences_stay_with_their_speaker() -> None:
    """M2: where each line is a paragraph, one without a label is said by who spoke before it."""
    text = "Ana: One.\nAnd so on.\nBen: Two.\nAna: Three.\nBen: Four."
    assert [name for _, name in said_by(text, "Ana", "Ben")] == ["Ana", "Ana", "Ben", "Ana", "Ben"]


def test_every_piece_of_a_long_turn_has_its_speaker() -> None:
    """M2: as in a conversation."""
    pieces = said_by(TALK + "Ana: " + "Trams run. " * 400, "Ana", "Ben")
    assert [name for _, name in pieces[4:]] == ["Ana"] * 3


def test_the_canonical_text_and_bm25_do_not_know_of_speakers() -> None:
    """M2, R2: the text is verbatim, lengths count words alone."""
    record = record_of(TALK, "talk.txt")
    assert record.text == TALK.encode()
    first = nodes_of(record, "passage")[0][0]
    counted = term_counts("talk.txt\nAna: The depot opens at six.")
    assert first.terms.total == sum(counted.values())
    assert term_ids(first) == counted.keys() | name_ids("Ana").keys()
    for window, _ in nodes_of(record, "window"):
        assert term_ids(window) >= name_ids("Ana").keys() | name_ids("Ben").keys()
    assert sum(node.terms.total for node, _ in nodes_of(record, "window")) == sum(
        sum(term_counts(f"talk.txt {text}").values()) for _, text in nodes_of(record, "window")
    )


def test_a_page_and_markdown_have_no_speakers() -> None:
    """M2: only plain text is read as a transcript."""
    for name in ("talk.md", "talk.html"):
        record = record_of(TALK, name)
        assert not any(term_ids(node) & name_ids("Ana").keys() for node in record.nodes)


def test_what_is_said_later_does_not_decide() -> None:
    """M2: a long text is read to a bound, in time that grows with its length."""
    said = TALK * (1 + (1 << 20) // len(TALK))
    assert is_transcript(said + "no\n" * 3_000_000)
    assert not is_transcript("no\n" * 400_000 + said)
