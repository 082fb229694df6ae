"""Small labelled sets of our own, written to a folder as `telha eval` reads them."""

import json
from pathlib import Path

HARBOUR = (
    "The harbour office opens at six.\n\nThe ferry to Almada leaves from pier three at 06:20 every weekday.\n\n"
    "Dogs travel free. Bicycles need a ticket of their own.\n\nIn winter the last ferry leaves at 22:40."
)
HARBOUR_NEW = "Since May the ferry to Almada leaves from pier five, still at 06:20."
TEA = (
    "# 茶の店\n\n店は九時に開きます。\n\n抹茶は三百円です。\n\n"
    "| 品 | 値段 |\n|---|---|\n| 煎茶 | 二百円 |\n| 玉露 | 五百円 |\n"
)
CHAT = "Ana: Did you feed the cat?\nRui: Twice, the vet said to give her less.\nAna: Which vet?\nRui: Dr. Sousa.\n"


def source(label: str, text: str, scope: str = "city", time: str | None = None, name: str | None = None) -> dict:
    """A row of sources.jsonl."""
    return {"source_id": label, "name": name or label, "text": text, "time": time, "scope": scope}


def gold(label: str, text: str, part: str) -> dict:
    """The gold span of *part*, which stands in *text* once."""
    assert text.count(part) == 1
    start = len(text[: text.index(part)].encode())
    return {"source_id": label, "start": start, "end": start + len(part.encode())}


def question(label: str, text: str, *spans: dict, scope: str = "city", time: str | None = None, kind: str = "fact"):
    """A row of questions.jsonl."""
    return {"id": label, "question": text, "kind": kind, "scope": scope, "time": time, "gold": list(spans)}


SOURCES = [
    source("harbour", HARBOUR, time="2026-01-10T08:00:00Z"),
    source("notice", HARBOUR_NEW, time="2026-05-02T08:00:00+01:00"),
    source("tea", TEA, name="tea.md"),
    source("chat", CHAT, scope="home", name="kitchen chat"),
]
QUESTIONS = [
    question("pier", "From which pier does the ferry to Almada leave?", gold("notice", HARBOUR_NEW, HARBOUR_NEW)),
    question(
        "pier then",
        "From which pier does the ferry to Almada leave?",
        gold("harbour", HARBOUR, "The ferry to Almada leaves from pier three at 06:20 every weekday."),
        time="2026-02-01T00:00:00Z",
        kind="temporal",
    ),
    question("matcha", "抹茶はいくらですか", gold("tea", TEA, "抹茶は三百円です。")),
    question("vet", "Who is the vet of the cat?", gold("chat", CHAT, "Rui: Dr. Sousa."), scope="home"),
    question("volcano", "Which volcano erupted?", scope="home", kind="adversarial"),
]


def written(folder: Path, sources: list[dict] | None = None, questions: list[dict] | None = None) -> Path:
    """*folder* with the two files."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {
        "sources": SOURCES if sources is None else sources,
        "questions": QUESTIONS if questions is None else questions,
    }
    for name, rows in given.items():
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder
