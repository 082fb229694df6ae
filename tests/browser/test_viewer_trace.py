"""One trace in the viewer: every candidate with its outcome, texts on demand, and why not."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Locator
from viewer_world import CANDIDATES, LAST_TRAM, LOST_PROPERTY
from viewing import Viewing

pytestmark = pytest.mark.process

PAGE = 100
MOST_ELEMENTS = 6000
OUTCOMES = {
    "PACKED": "Packed",
    "DUPLICATE": "Duplicate",
    "UNPACKABLE": "Unpackable",
    "BUDGET": "Budget",
    "SPAN_LIMIT": "Span limit",
    "SOURCE_CAP": "Source cap",
}


def _replayed(viewer: Viewing, name: str, **asked: Any) -> dict[str, Any]:
    """What the REST surface says of the trace *name*, made anew."""
    with viewer.world.rest() as rest:
        answer = rest.post(f"/v1/trace/{viewer.world.traces[name]}/replay", json={"explain": True, **asked})
    assert answer.status_code == 200, answer.text
    replayed: dict[str, Any] = answer.json()
    return replayed


def _outcome(span: dict[str, Any]) -> str:
    return OUTCOMES[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", span["outcome"]).upper()]


def _bytes(span: dict[str, Any]) -> str:
    return f"bytes {span['span']['start']:,}–{span['span']['end']:,}"


def _rows(viewer: Viewing) -> list[Locator]:
    return viewer.page.get_by_role("table", name="Candidates").locator("tbody tr.candidate").all()


def _all_rows(viewer: Viewing) -> list[str]:
    """The text of every row, page by page."""
    shown: list[str] = []
    pages = viewer.page.get_by_role("navigation", name="Pages of candidates")
    while True:
        shown += [row.inner_text() for row in _rows(viewer)]
        following = pages.get_by_role("button", name="Next")
        if not following.count():
            return shown
        following.click()


def _open(viewer: Viewing, span: dict[str, Any]) -> Locator:
    """The row of *span* opened; what it unfolds."""
    table = viewer.page.get_by_role("table", name="Candidates")
    row = table.get_by_role("row").filter(has_text=_bytes(span)).filter(has_text=span["sourceName"])
    row.get_by_role("button").click()
    unfolded = row.get_by_role("button").get_attribute("aria-controls")
    return viewer.page.locator(f"[id='{unfolded}']")


@pytest.mark.parametrize("name", ["plain", "explained", "limits", "tiny", "stranded", "chinese", "context", "board"])
def test_every_candidate_is_there_with_its_outcome(viewer: Viewing, name: str) -> None:
    """X6, X7: the table is the explanation: in its order, each with outcome, source, bytes and tokens."""
    spans = _replayed(viewer, name)["explanation"]["spans"]
    viewer.at_trace(name)
    shown = _all_rows(viewer)
    assert len(shown) == len(spans)
    for text, span in zip(shown, spans, strict=True):
        assert _outcome(span) in text
        assert _bytes(span) in text
        assert span["sourceName"] in text
        assert f"{span['tokens']}" in text.split()
    told = viewer.world.answers[name]
    packed = told.get("spans") or told.get("items")
    assert sum("Packed" in text for text in shown) == len(packed)


def test_each_outcome_is_met(viewer: Viewing) -> None:
    """X6: the traces that these tests look at hold every outcome that there is."""
    spans = [span for name in ("limits", "tiny") for span in _replayed(viewer, name)["explanation"]["spans"]]
    assert {_outcome(span) for span in spans} == set(OUTCOMES.values())


def test_the_table_shows_one_outcome_or_one_source_alone(viewer: Viewing) -> None:
    """X7: choosing an outcome, or a name, leaves the others out, and the count says so."""
    spans = _replayed(viewer, "plain")["explanation"]["spans"]
    page = viewer.at_trace("plain")
    capped = [span for span in spans if _outcome(span) == "Source cap"]
    choice = page.get_by_role("group", name="Outcome").get_by_role("button", name="Source cap")
    assert choice.inner_text().split()[-1] == str(len(capped))
    choice.click()
    assert [text.count("Source cap") for text in _all_rows(viewer)] == [1] * len(capped)
    page.get_by_text(f"{len(capped)} of {len(spans)} candidates").wait_for()
    page.get_by_role("group", name="Outcome").get_by_role("button", name="All").click()
    page.get_by_role("searchbox", name="Search").fill("history")
    named = [span for span in spans if "history" in span["sourceName"]]
    assert len(_all_rows(viewer)) == len(named) > 0


@pytest.mark.parametrize(("name", "outcome"), [("plain", "Packed"), ("plain", "Source cap"), ("chinese", "Packed")])
def test_a_text_is_the_slice_of_its_source(viewer: Viewing, name: str, outcome: str) -> None:
    """X4, X7: text comes on demand, for packed and rejected spans alike, and is the source's bytes."""
    span = next(each for each in _replayed(viewer, name)["explanation"]["spans"] if _outcome(each) == outcome)
    at = span["span"]
    with viewer.world.rest() as rest:
        asked = {"includeText": "true", "version": at["sourceVersionTx"]}
        whole = rest.get(f"/v1/memory/sources/{at['sourceId']}", params=asked).json()["text"]
    viewer.at_trace(name)
    before = len(viewer.requests)
    unfolded = _open(viewer, span)
    assert unfolded.locator("pre").count() == 0
    assert len(viewer.requests) == before
    unfolded.get_by_role("button", name="Show text").click()
    text = unfolded.locator("pre").text_content()
    assert text == whole.encode()[at["start"] : at["end"]].decode()
    assert len(viewer.requests) == before + 1


def test_why_not_takes_two_clicks(viewer: Viewing) -> None:
    """X7: from the list: one click opens the trace, a second one says why a span is not in the plan."""
    rejected = [span for span in _replayed(viewer, "plain")["explanation"]["spans"] if _outcome(span) == "Source cap"]
    page = viewer.at()
    page.get_by_role("table", name="Traces").wait_for()
    page.evaluate("window.clicks = 0; addEventListener('click', () => window.clicks++, true)")
    page.locator(f"a[href$='{viewer.world.traces['plain']}']").click()
    viewer.replayed().wait_for()
    unfolded = _open(viewer, rejected[0])
    assert rejected[0]["because"]
    assert rejected[0]["because"].lower() in unfolded.inner_text().lower()
    assert page.evaluate("window.clicks") == 2


@pytest.mark.parametrize("name", ["explained", "limits", "tiny", "stranded"])
def test_a_kept_explanation_has_its_figures(viewer: Viewing, name: str) -> None:
    """X6, X7: what the record keeps of an explanation says why in the planner's own words, without a replay."""
    spans = _replayed(viewer, name)["explanation"]["spans"]
    away = {"status": 503, "code": "UNAVAILABLE", "title": "", "detail": "not now"}
    viewer.page.route("**/replay", lambda route: route.fulfill(status=503, json=away))
    page = viewer.at_trace(name)
    assert "Not replayed" in viewer.replayed().inner_text()
    told = []
    while True:
        page.evaluate("document.querySelectorAll('tr.candidate .opener').forEach(each => each.click())")
        told += page.locator("tr.more .because").all_inner_texts()
        following = page.get_by_role("navigation", name="Pages of candidates").get_by_role("button", name="Next")
        if not following.count():
            break
        following.click()
    assert [each.rstrip(".").lower() for each in told] == [span["because"].lower() for span in spans]


@pytest.mark.parametrize(
    ("source", "section"),
    [("history.txt", ""), ("minutes-2026-08.md", ""), ("line-2.md", "Accessibility"), ("nobody-has-this.md", "")],
)
def test_why_not_answers_for_what_a_person_names(viewer: Viewing, source: str, section: str) -> None:
    """X6, X7: also for what was never a candidate, in the planner's own words."""
    subject = {"source": source, **({"section": section} if section else {})}
    told = _replayed(viewer, "plain", whyNot=[subject])["explanation"]["subjects"][0]
    page = viewer.at_trace("plain")
    asking = viewer.region("Why not")
    asking.get_by_label("Source").fill(source)
    asking.get_by_label("Section").fill(section)
    asking.get_by_role("button", name="Why not?").click()
    answer = page.get_by_role("region", name="Answer")
    answer.get_by_text(told["because"]).first.wait_for()
    assert told["verdict"]


def test_a_limited_key_is_told_nothing_of_other_spaces(viewer: Viewing) -> None:
    """A6, M7: asked why not, what is in a space that the key may not read is as unknown as what is nowhere."""
    viewer.at_trace("board", "limited")
    told = []
    for source in ("history.txt", "nobody-has-this.md"):
        asking = viewer.region("Why not")
        asking.get_by_label("Source").fill(source)
        answers = viewer.page.get_by_role("region", name="Answer")
        with viewer.page.expect_response("**/replay"):
            asking.get_by_role("button", name="Why not?").click()
        answers.get_by_role("article").wait_for()
        told.append(answers.inner_text().replace(source, "<it>"))
    assert told[0]
    assert told[0] == told[1]


def test_a_stranded_budget_is_explained(viewer: Viewing) -> None:
    """S5, X7: how many tokens, by which cap, and what would help; the bar says the same to those who hear it."""
    stats = viewer.world.answers["stranded"]["stats"]
    viewer.at_trace("stranded")
    budget = viewer.region("Budget")
    text = budget.inner_text()
    assert f"{stats['budgetStrandedByCap']} tokens stranded by the cap" in text
    assert f"{int(0.2 * 600)} tokens" in text
    assert "maxFracPerSource" in text
    spoken = budget.get_by_role("img").get_attribute("aria-label")
    assert spoken is not None
    assert f"{viewer.world.answers['stranded']['used']} of 600 tokens" in spoken


def test_the_way_from_legs_to_plan_adds_up(viewer: Viewing) -> None:
    """X7: candidates, what deduplication left and what was packed are the plan's own counts."""
    stats = viewer.world.answers["plain"]["stats"]
    viewer.at_trace("plain")
    flow = viewer.region("From legs to plan").inner_text().split()
    for count in (stats["poolSpans"], stats["poolSpans"] - stats["deduped"], stats["selectedSpans"]):
        assert str(count) in flow
    for leg in stats["recall"]["legs"].values():
        assert str(leg) in flow


def test_what_a_step_leaves_out_was_among_what_it_counts(viewer: Viewing) -> None:
    """X7: nodes that scored 0 are told beside those that are counted, and not taken off; each outcome has one name."""
    stats = viewer.world.answers["limits"]["stats"]
    assert stats["recall"]["zeroScore"] > 0
    viewer.at_trace("limits")
    flow = viewer.region("From legs to plan")
    beside = flow.get_by_text(f"{stats['recall']['zeroScore']} more scored 0")
    assert beside.evaluate("each => getComputedStyle(each, '::before').content") == "none"
    for count, name in (("deduped", "duplicate"), ("spanLimitSkipped", "span limit"), ("capSkipped", "source cap")):
        if stats[count]:
            off = flow.get_by_text(f"{stats[count]} {name}", exact=True)
            assert off.evaluate("each => getComputedStyle(each, '::before').content") == '"− "'
    text = flow.inner_text()
    assert "Expansion" in text
    assert "Traversal" not in text


def test_a_verdict_is_said_once(viewer: Viewing) -> None:
    """X7: neither what is unknown nor what is packed is told twice over."""
    viewer.at_trace("plain")
    asking, answer = viewer.region("Why not"), viewer.page.get_by_role("region", name="Answer")
    packed = _replayed(viewer, "plain", whyNot=[{"source": "line-2.md"}])["explanation"]["subjects"][0]
    for source in ("nobody-has-this.md", "line-2.md"):
        asking.get_by_label("Source").fill(source)
        with viewer.page.expect_response("**/replay"):
            asking.get_by_role("button", name="Why not?").click()
        answer.get_by_role("article").wait_for()
        text = answer.inner_text()
        assert text.count("emory knows nothing") == (source != "line-2.md")
    assert "packed" in {span["outcome"].lower() for span in packed["candidates"]}
    assert "Packed: " not in text
    assert "Packed" in text


def test_a_plan_that_cannot_be_made_again_says_so(viewer: Viewing) -> None:
    """X5, X7: of a trace of other settings the page names the cause, and shows packed spans only."""
    page = viewer.at_trace("changed")
    told = viewer.replayed().inner_text()
    assert "changed" in told
    assert "Configuration" in told
    assert "packed spans only" in told
    assert len(_rows(viewer)) == len(viewer.world.answers["changed"]["spans"])
    assert page.get_by_role("group", name="Outcome").get_by_role("button", name="Source cap").count() == 0


@pytest.mark.parametrize(("name", "outcome"), [("erased", "erased"), ("partly erased", "changed")])
def test_an_erased_source_is_gone_from_the_trace(viewer: Viewing, name: str, outcome: str) -> None:
    """M5, X7: the replay says that it was erased, and its text cannot be had."""
    page = viewer.at_trace(name)
    told = viewer.replayed().inner_text()
    assert f"Replayed: {outcome}" in told
    assert "was erased" in told
    assert "1931" not in page.get_by_role("main").inner_text()
    at = viewer.world.answers[name]["spans"]
    gone = next(span for span in at if "hangar was closed" in span["text"])["span"]
    row = (
        page.locator("tr.candidate").filter(has_text=f"bytes {gone['start']}–{gone['end']}").filter(has_text="source ")
    )
    row.get_by_role("button").click()
    page.get_by_role("button", name="Show text").click()
    page.get_by_text("This text is gone").wait_for()


def test_a_call_without_evidence_says_so(viewer: Viewing) -> None:
    """R6, X7: an answer of no evidence is a trace too, and is shown as what it is."""
    page = viewer.at(f"/{viewer.world.traces['empty']}")
    page.get_by_text("No evidence").first.wait_for()
    assert page.get_by_role("table", name="Candidates").count() == 0


def test_a_selection_of_thousands_stays_small(viewer: Viewing) -> None:
    """X7: of 5,000 candidates a hundred are in the document, the rest page by page, each once."""
    page = viewer.at_trace("many")
    page.get_by_text(re.compile(f"{CANDIDATES:,} candidates")).first.wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_ELEMENTS
    assert len(_rows(viewer)) == PAGE
    first = _rows(viewer)[0].inner_text()
    page.get_by_role("navigation", name="Pages of candidates").get_by_role("button", name="Next").click()
    page.get_by_text(f"{PAGE + 1} to {2 * PAGE} shown").first.wait_for()
    assert len(_rows(viewer)) == PAGE
    assert _rows(viewer)[0].inner_text() != first
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_ELEMENTS
    page.get_by_role("group", name="Outcome").get_by_role("button", name="Packed").click()
    page.get_by_text(f"225 of {CANDIDATES:,} candidates").wait_for()


@pytest.mark.parametrize(("name", "title"), [("plain", LAST_TRAM), ("context", LOST_PROPERTY), ("select", "selection")])
def test_a_trace_says_what_was_asked_and_as_of_when(viewer: Viewing, name: str, title: str) -> None:
    """X7: the question is the heading, and the instants are those of the record."""
    page = viewer.at_trace(name)
    viewer.heading(title).wait_for()
    assert title in page.title()
    with viewer.world.rest() as rest:
        window = rest.get(f"/v1/trace/{viewer.world.traces[name]}").json()["record"]["window"]
    times = page.get_by_role("main").locator("dl.facts time").evaluate_all("all => all.map(each => each.dateTime)")
    read = [window["validTime"], window["txTime"]] if name != "select" else []
    assert [time.replace("Z", "") for time in times] == [_rfc3339(micros) for micros in read]


def _rfc3339(micros: int) -> str:
    whole, below = divmod(micros, 1_000_000)
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}.{below:06d}"
