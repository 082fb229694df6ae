"""`telha plan` and `telha memory context`: asking again, a prompt to pipe, what other budgets would have packed."""

import json
import logging
import re

import pytest
import structlog
from planner_server import RealPlanner
from prompt_cases import passages_in
from telha_cli.main import app
from telha_client import Document
from typer.testing import CliRunner

QUESTION = "at which platform does the tram stop?"
NOTES = "# Trams\n\n" + "\n\n".join(f"The {name} tram stops at platform {name} 🚋." for name in "abcd")


@pytest.fixture(scope="module", autouse=True)
def _no_access_log():
    """The planner runs in this process: its lines would stand among those of the command."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="module")
def planner(tmp_path_factory):
    with RealPlanner(tmp_path_factory.mktemp("again")) as planner:
        with planner.client() as client:
            client.memory.ingest([Document(name="trams.md", content=NOTES)])
        yield planner


@pytest.fixture
def telha(planner):
    def run(*arguments: str, fails: bool = False) -> str:
        told = CliRunner().invoke(
            app, [*arguments, "--address", planner.address, "--key", planner.key()], env={"COLUMNS": "120"}
        )
        assert bool(told.exit_code) == fails, told.output
        return f"{told.exception} {told.exception.hint}" if fails else told.output

    return run


def test_asking_again_leaves_out_what_was_given(telha):
    """C11: by trace, several of them; at the end it is said that nothing new is left."""
    asked = ("plan", QUESTION, "--max-tokens", "30", "--max-frac-per-source", "1")
    first = json.loads(telha(*asked, "--json"))
    second = json.loads(telha(*asked, "--json", "--exclude", first["traceId"]))
    assert second["stats"]["recall"]["excluded"] > 0
    texts = [{span["text"] for span in plan["spans"]} for plan in (first, second)]
    assert texts[0].isdisjoint(texts[1])
    shown = telha(*asked, "--exclude", first["traceId"], "--allow-ungrounded")
    assert "found and left out as given before" in shown
    explained = telha("explain", *asked[1:], "--exclude", first["traceId"], "--suggest", "--why-not", "nosuch.md")
    assert second["planHash"] in explained
    assert "10 % of the heaviest" in explained
    assert "sources are named as `telha sources list` shows them" in explained
    everything = ("memory", "context", QUESTION, "--max-frac-per-source", "1")
    trace = json.loads(telha(*everything, "--json"))["traceId"]
    assert "There is nothing new: it was given before." in telha(*everything, "--exclude", trace)
    refused = telha("plan", QUESTION, "--exclude", trace, fails=True)
    assert "found and given before, by the calls that --exclude names" in refused
    assert "exclude" in telha("plan", QUESTION, "--exclude", "x", fails=True)


def test_a_prompt_is_printed_alone(telha):
    """C10: byte for byte into a pipe; with --json it stands in the whole answer."""
    asked = ("memory", "context", QUESTION, "--max-frac-per-source", "1", "--prompt")
    answer = json.loads(telha(*asked, "--json"))
    text = telha(*asked)
    assert text == answer["prompt"]["text"]
    assert [passage.text for passage in passages_in(text)] == [item["text"] for item in answer["items"]]


def test_passages_without_room_in_a_prompt_are_told_beside_it(planner, telha):
    """C10, A3: on standard error, with the trace that has them; the text stays as it is, and a whole one is silent."""
    asked = ("memory", "context", QUESTION, "--max-frac-per-source", "1", "--prompt", "--max-tokens", "120")
    answer = json.loads(telha(*asked, "--json"))
    left, shown = len(answer["prompt"]["leftOut"]), len(answer["prompt"]["citations"])
    assert left > 0
    assert shown > 0
    beside = ("--address", planner.address, "--key", planner.key())
    told = CliRunner().invoke(app, [*asked, *beside])
    assert told.stdout == answer["prompt"]["text"]
    room = f"no room (it has {answer['prompt']['tokens']} tokens of a budget of 120)"
    words = (
        f"telha: {left} of {left + shown} passages {'is' if left == 1 else 'are'} left out of the block: {room}; trace "
    )
    assert re.fullmatch(re.escape(words) + r"[0-9a-f-]{36}\n", told.stderr)
    assert CliRunner().invoke(app, [*asked[:-2], *beside]).stderr == ""
    assert "standard error" in telha("memory", "context", "--help")


def test_a_suggestion_is_shown_in_words(telha):
    """A3, T4: What to ask for stands there as it is typed, or what forbids it."""
    asked = ("plan", QUESTION, "--max-frac-per-source", "1", "--find", "passage", "--expand-depth", "0")
    shown = telha(*asked, "--max-tokens", "20", "--suggest-share", "0.01")
    answer = json.loads(telha(*asked, "--max-tokens", "20", "--suggest-share", "0.01", "--json"))["suggestion"]
    assert f"{answer['wantedSpans']} spans weigh at least 1 % of the heaviest" in shown
    assert f"is the least that packs them all: --max-tokens {answer['maxTokens']}" in shown
    assert shown.count(" %\n") == len(answer["steps"])
    assert "suggest " not in telha(*asked)
    assert "10 % of the heaviest" in telha(*asked, "--suggest")
    limited = telha(*asked, "--max-spans", "1", "--suggest-share", "0.01")
    assert "no budget is known to pack them all: the span limit keeps every budget from it" in limited
