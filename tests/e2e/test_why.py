"""Why a span is in the plan or out of it, on the command line of a running system."""

import re
from pathlib import Path
from typing import Any

import pytest
from running_telha import Up

pytestmark = pytest.mark.process

QUESTION = "how is the plan hash computed?"
TIGHT = ("--max-tokens", "400", "--max-frac-per-source", "0.3")


@pytest.mark.parametrize("command", [("plan",), ("memory", "context")])
def test_an_answer_shows_its_candidates_when_asked(up: Up, command: tuple[str, ...]) -> None:
    """X6, A3: below the answer, each with outcome and the figure it rested on; as JSON as it is."""
    told = up.run(*command, QUESTION, *TIGHT, "--explain", "--json").json
    spans = told["explanation"]["spans"]
    assert {span["outcome"] for span in spans} >= {"packed", "source_cap"}
    shown = up.run(*command, QUESTION, *TIGHT, "--explain").out
    assert shown.index(told["planHash"]) < shown.index(f"{len(spans)} candidates by density")
    for span in spans:
        if span["outcome"] == "packed":
            place = re.escape(f"[{span['span']['start']}:{span['span']['end']}] {span['sourceName']}")
            assert re.search(rf"^ *{span['rank']} .* packed .*{place}$", shown, re.MULTILINE)
    assert f"source cap: {spans[-1]['sourceSpent']}/" in shown or "source cap: " in shown
    assert "explanation" not in up.run(*command, QUESTION, "--json").json
    assert up.run(*command, QUESTION, *TIGHT, "--json").json["planHash"] == told["planHash"]


def test_select_explains_a_pool_of_the_users_own(up: Up) -> None:
    """X6, S11: without names, since memory knows none of its sources."""
    pool = ("select", "tests/golden/pool-small.json", "--budget", "60")
    told = up.run(*pool, "--explain", "--json").json
    shown = up.run(*pool, "--explain").out
    assert len(told["explanation"]["spans"]) == told["stats"]["poolSpans"]
    assert f"{told['stats']['poolSpans']} candidates by density" in shown
    assert told["explanation"]["spans"][0]["span"]["sourceId"] in shown
    unknown = up.run(*pool, "--why-not", "nosuch.md").out
    assert "Not known: nosuch.md" in unknown
    assert "telha sources list" not in unknown


def test_a_trace_is_shown_as_a_picture_of_its_plan(up: Up) -> None:
    """X7, A3: question, bars by source under the cap, the way to the plan, stranded budget, a verified hash."""
    told = up.run("plan", QUESTION, *TIGHT, "--json").json
    shown = up.run("trace", "show", told["traceId"], COLUMNS="80").out
    assert f"question   {QUESTION}" in shown
    assert f"{told['used']} of {told['budget']} tokens used" in shown
    assert "one source may take 120 (│)" in shown
    assert re.search(r"^█+░*│░+ +\d+ +\d+\.\d %  docs/plan-hash\.md$", shown, re.MULTILINE)
    assert f"→ packed   {len(told['spans'])}; left out: " in shown
    stranded = told["stats"]["budgetStrandedByCap"]
    assert (f"{stranded} tokens are stranded" in shown) == bool(stranded)
    assert f"{len(told['spans'])} packed, by density" in shown
    assert "verified: the record, hashed anew here, gives the same" in shown
    assert max(map(len, shown.splitlines())) <= 80
    ascii_only = up.run("trace", "show", told["traceId"], PYTHONIOENCODING="ascii")
    assert (ascii_only.code, ascii_only.out.isascii()) == (0, True)
    assert "###" in ascii_only.out
    assert "one source may take 120 (|)" in ascii_only.out


def test_a_trace_of_an_explained_call_shows_every_candidate(up: Up) -> None:
    """X6, X7: from the record alone."""
    told = up.run("plan", QUESTION, *TIGHT, "--explain", "--json").json
    kept = up.run("trace", "show", told["traceId"], "--json").json
    assert kept["verified"] is True
    assert {each["name"] for each in kept["sources"]} >= {"docs/plan-hash.md"}
    for one, other in zip(kept["explanation"]["spans"], told["explanation"]["spans"], strict=True):
        assert one.items() >= {(name, other[name]) for name in ("outcome", "rank", "weight", "density", "tokens")}
        assert one["span"] == other["span"]
    shown = up.run("trace", "show", told["traceId"]).out
    assert f"{told['stats']['poolSpans']} candidates by density" in shown
    assert "source cap: " in shown


def test_every_kind_of_trace_is_shown(up: Up) -> None:
    """X1, X4: select, context, and a call that found nothing."""
    selected = up.run("select", "tests/golden/pool-small.json", "--budget", "500", "--json").json
    shown = up.run("trace", "show", selected["traceId"])
    assert (shown.code, "(select)" in shown.out) == (0, True)
    context = up.run("memory", "context", QUESTION, "--json").json
    assert "(context)" in up.run("trace", "show", context["traceId"]).out
    refused = up.run("plan", "xyzzy plugh", "--json").problem
    shown = up.run("trace", "show", refused["traceId"])
    assert "error      INSUFFICIENT_EVIDENCE" in shown.out
    assert "No span was packed." in shown.out
    absent = up.run("trace", "show", "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10")
    assert (absent.code, "no such trace" in absent.err) == (1, True)


def test_why_not_is_answered_in_words(up: Up) -> None:
    """X6: a source, a section, a span, and what memory does not know; first the verdicts, then the candidates."""
    asked = [
        ("docs/plan-hash.md", "In the plan: docs/plan-hash.md"),
        ("docs/rest.md:Failures", "Not in the plan: docs/rest.md > Failures"),
        ("nosuch.md", "Not known: nosuch.md"),
        (r"no\:such.md:A: b", "Not known: no:such.md > A: b"),
    ]
    words = [word for subject, _ in asked for word in ("--why-not", subject)]
    done = up.run("explain", QUESTION, *TIGHT, *words)
    assert done.code == 0, done.err
    places = [done.out.index(verdict) for _, verdict in asked]
    assert places == sorted(places)
    assert done.out.index("memory knows nothing of it") > places[2]
    assert done.out.count("sources are named as `telha sources list` shows them") == 2
    assert done.out.index("candidates by density") > places[-1]
    told = up.run("explain", QUESTION, *TIGHT, *words, "--json").json
    subjects = told["explanation"]["subjects"]
    assert [subject["verdict"] for subject in subjects][2:] == ["unknown", "unknown"]
    assert subjects[1]["subject"] == {"source": "docs/rest.md", "section": "Failures"}
    assert subjects[3]["subject"] == {"source": "no:such.md", "section": "A: b"}
    assert told["planHash"] == up.run("plan", QUESTION, *TIGHT, "--json").json["planHash"]
    left_out = next(span for span in told["explanation"]["spans"] if span["outcome"] == "source_cap")["span"]
    span = f"{left_out['sourceId']} @{left_out['sourceVersionTx']} [{left_out['start']}:{left_out['end']}]"
    for command in (("explain",), ("plan",), ("memory", "context")):
        shown = up.run(*command, QUESTION, *TIGHT, "--why-not", span).out
        assert f"Not in the plan: {span}" in shown
        assert "source cap: " in shown


def test_an_empty_plan_is_explained_too(up: Up) -> None:
    """X6, R6: where there is no evidence there is the more to explain."""
    done = up.run("explain", QUESTION, "--min-similarity", "1", "--why-not", "docs/plan-hash.md")
    assert done.code == 0
    assert "Not in the plan: docs/plan-hash.md" in done.out
    assert "floor" in done.out
    nothing = up.run("explain", "xyzzy plugh")
    assert (nothing.code, "There was no candidate." in nothing.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("explain",), "QUESTION is required"),
        (("explain", "q", "--why-not", ""), "--why-not must begin with a source"),
        (("plan", "q", "--why-not", "a.md:"), "--why-not has no section behind its colon"),
    ],
)
def test_a_wrong_question_is_told_as_such(up: Up, words: tuple[str, ...], message: str) -> None:
    """A3: exit code 2, one line."""
    done = up.run(*words)
    assert (done.code, message in done.err) == (2, True)


def test_the_server_refuses_with_the_place(up: Up) -> None:
    """A3: what only the server can judge."""
    done = up.run("explain", "q", "--why-not", "a.md", "--why-not", "x" * 1025)
    assert done.code == 1
    assert "why_not[1].source.source must be at most 1,024 bytes" in done.err


def test_what_a_trace_does_not_keep_is_told_of_the_plan_made_anew(up: Up) -> None:
    """X7: a trace made without explain gets its rejected spans by replay, of Plan, Context and Select alike."""
    commands = (
        ("plan", QUESTION, *TIGHT),
        ("memory", "context", QUESTION, *TIGHT),
        ("select", "tests/golden/pool-small.json", "--budget", "60"),
    )
    for command in commands:
        told = up.run(*command, "--json").json
        kept = up.run("trace", "show", told["traceId"], "--json").json
        assert "explanation" not in kept
        anew = up.run("trace", "show", told["traceId"], "--explain", "--json").json
        assert anew["replay"]["outcome"] == "identical"
        stats = told["stats"].get("plan", told["stats"])
        assert len(anew["explanation"]["spans"]) == stats["poolSpans"]
        shown = up.run("trace", "show", told["traceId"], "--explain").out
        assert f"{stats['poolSpans']} candidates by density" in shown
        assert "made anew at the same instants, it is the same plan" in shown
    trace = up.run("plan", QUESTION, *TIGHT, "--json").json["traceId"]
    asked = up.run("trace", "show", trace, "--why-not", "docs/rest.md:Failures").out
    assert "Not in the plan: docs/rest.md > Failures" in asked


def test_another_plan_explains_nothing_about_this_one(up: Up, tmp_path: Path) -> None:
    """X7: if the replay is not identical, that is said, and packed spans only are shown."""
    (tmp_path / "tea.md").write_text("# Tea\n\nGreen tea is brewed at 80 degrees.\n")
    (tmp_path / "more.md").write_text("# More\n\nBlack tea wants boiling water, green tea does not.\n")
    where = ("--space", "teas")
    stored = up.run("ingest", str(tmp_path), *where, "--json").json["documents"]
    told = up.run("plan", "how is green tea brewed?", *where, "--json").json
    cited = {span["span"]["sourceId"] for span in told["spans"]}
    assert len(cited) == 2
    assert up.run("sources", "erase", stored[0]["sourceId"], "--yes").code == 0
    anew = up.run("trace", "show", told["traceId"], "--explain", "--json").json
    assert anew["replay"]["outcome"] == "changed"
    assert "explanation" not in anew
    shown = up.run("trace", "show", told["traceId"], "--explain").out
    assert "Made anew, the plan is another one (changed)" in shown
    assert "candidates by density" not in shown
    assert f"{len(told['spans'])} packed, by density" in shown
    assert "verified: the record" in shown
    _why_not_holds_of_the_plan_made_now(up, told["traceId"], stored)


def _why_not_holds_of_the_plan_made_now(up: Up, trace: str, stored: list[dict[str, Any]]) -> None:
    """X6: of another plan what was asked is answered, marked as that plan's."""
    gone, left = stored
    asked = ("trace", "show", trace, "--why-not", gone["name"], "--why-not", left["name"])
    told = up.run(*asked, "--json").json
    assert "explanation" not in told
    (erased,) = told["replay"]["erased"]
    assert erased["sourceId"] == gone["sourceId"]
    anew = told["replay"]["ofAnotherPlan"]
    assert anew["planHash"] != told["planHash"]
    assert [each["subject"]["source"] for each in anew["subjects"]] == [gone["name"], left["name"]]
    shown = up.run(*asked).out
    assert "Of the plan as it would be made now, which is not the recorded one; " in shown
    assert f"{gone['sourceId']} erased at 20" in shown
    assert f"Not known: {gone['name']}" in shown
    assert f"In the plan: {left['name']}" in shown
    assert "candidates by density" not in shown
