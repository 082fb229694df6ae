"""Speakers from document to plan, on each engine: conversations, transcripts, and what was ingested before."""

import json

import pytest
from planner_parts import parts_over
from telha_planner.core.request import Window
from telha_planner.ingest import parse
from telha_planner.models import speakers

TALK = [
    ("小明", "我昨天坐的是红色的电车。"),
    ("李雷", "我昨天坐的是蓝色的电车。"),
    ("小明", "今天我走路。"),
    ("李雷", "今天我骑车。"),
    ("小明", "明天见。"),
]
TRANSCRIPT = "".join(f"{name}：{text}\n" for name, text in TALK)
CONVERSATION = "".join(json.dumps({"speaker": name, "text": text}) + "\n" for name, text in TALK)


def first_of(parts, question: str, window: Window | None = None) -> str:
    """The text that weighs most in a plan of *question*."""
    found = parts.plan(question, window=window, max_tokens=60)
    return max(found.plan.spans, key=lambda span: span.weight).text


@pytest.mark.parametrize(("name", "content"), [("talk.txt", TRANSCRIPT), ("talk.jsonl", CONVERSATION)])
def test_what_the_named_one_says_is_planned_first(store_url, name, content):
    """M2, R2: Chinese names in the middle of a question; the other turn has the same words."""
    parts = parts_over(store_url)
    parts.remember(name, content)
    assert "红色" in first_of(parts, "小明昨天坐的是什么颜色的电车")
    assert "蓝色" in first_of(parts, "请问昨天李雷坐的是什么颜色的电车")
    parts.close()


def test_an_unchanged_document_gets_its_speakers_when_it_comes_again(store_url, monkeypatch):
    """M2, S7: what an earlier version of ingestion wrote is written anew, and a plan of then stays as it was."""
    parts = parts_over(store_url)
    with monkeypatch.context() as earlier:
        earlier.setattr(parse, "INGEST_VERSION", 2)
        earlier.setattr(speakers, "name_ids", lambda _name: {})
        parts.remember("talk.txt", TRANSCRIPT, valid_from=0)
    question = "李雷昨天坐的是什么颜色的电车"
    before = parts.plan(question, max_tokens=25)
    parts.remember("talk.txt", TRANSCRIPT, valid_from=0)
    after = parts.plan(question, max_tokens=25)
    again = parts.plan(question, max_tokens=25, window=Window(before.window.valid_time, before.window.tx_time))
    assert again.plan.plan_hash == before.plan.plan_hash
    assert [span.weight for span in after.plan.spans] != [span.weight for span in before.plan.spans]
    parts.remember("talk.txt", TRANSCRIPT, valid_from=0)
    assert parts.plan(question, max_tokens=25).plan.plan_hash == after.plan.plan_hash
    parts.close()
