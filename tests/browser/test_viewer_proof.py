"""What the viewer proves: a hash made again in the browser, a plan made anew, two plans compared; and the way back."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Route
from viewer_world import LAST_TRAM, LOST_PROPERTY
from viewing import Opened, Viewing

pytestmark = pytest.mark.process

Json = dict[str, Any]
TAMPERED: dict[str, Callable[[Json], object]] = {
    "weight": lambda trace: trace["record"]["item_facts"][0].__setitem__(2, 0.25),
    "kind": lambda trace: trace["record"]["item_facts"][0].__setitem__(0, "heading "),
    "class": lambda trace: trace["record"]["item_facts"][0].__setitem__(1, 1),
    "tokens": lambda trace: trace["record"]["item_facts"][-1].__setitem__(3, 1),
    "source": lambda trace: trace["record"]["item_coords"][0].__setitem__(0, "00000000-0000-4000-8000-000000000000"),
    "version": lambda trace: trace["record"]["item_coords"][0].__setitem__(1, 1),
    "end": lambda trace: trace["record"]["item_coords"][-1].__setitem__(3, 2**53 - 1),
    "left out": lambda trace: (trace["record"]["item_coords"].pop(), trace["record"]["item_facts"].pop()),
    "budget": lambda trace: trace["record"]["budget"].update(applied=201),
    "used": lambda trace: trace["record"]["budget"].update(used=1),
    "model": lambda trace: trace["record"].update(plan_model="v2"),
    "hash": lambda trace: trace.update(planHash="b3:" + "0" * 64),
}
"""Each changes one thing that the hash is over, or the hash."""


_REPLAYS = [("plain", "identical"), ("changed", "changed"), ("partly erased", "changed"), ("erased", "erased")]


def _through(viewer: Viewing, change: Callable[[Json], object]) -> None:
    """Let *change* alter each trace on its way to the page."""

    def altered(route: Route) -> None:
        answer = route.fetch()
        trace = answer.json()
        change(trace)
        route.fulfill(response=answer, json=trace)

    viewer.page.route("**/v1/trace/*", altered)


def _verified(viewer: Viewing) -> str:
    viewer.page.get_by_role("button", name="Verify").click()
    result = viewer.page.locator(".proof").get_by_role("status")
    result.filter(has_text=".").wait_for()
    return result.inner_text()


@pytest.mark.parametrize("name", ["plain", "context", "chinese", "everything", "select", "many", "changed", "erased"])
def test_the_browser_finds_the_same_hash(viewer: Viewing, name: str) -> None:
    """S9, X7: recomputed from the record alone, without asking anybody, the hash is the plan's."""
    viewer.at_trace(name)
    viewer.page.get_by_text(viewer.world.answers[name]["planHash"]).first.wait_for()
    before = len(viewer.requests)
    assert "Verified" in _verified(viewer)
    assert len(viewer.requests) == before


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_record_does_not_verify(viewer: Viewing, what: str) -> None:
    """S9, X7: whatever is altered in between, the browser notices."""
    _through(viewer, TAMPERED[what])
    viewer.at_trace("plain")
    told = _verified(viewer)
    assert "Verified" not in told
    assert ("knows plan model" if what == "model" else "Not equal") in told
    if what == "hash":
        assert viewer.world.answers["plain"]["planHash"] in told


def test_an_untouched_record_verifies_on_the_same_way(viewer: Viewing) -> None:
    """S9: what the test above finds is the alteration, not the interception."""
    _through(viewer, lambda _: None)
    viewer.at_trace("plain")
    assert "Verified" in _verified(viewer)


@pytest.mark.parametrize(("name", "outcome"), _REPLAYS)
def test_replay_says_what_rest_says(viewer: Viewing, name: str, outcome: str) -> None:
    """X5, X7: asked again by the button, the outcome is the planner's."""
    with viewer.world.rest() as rest:
        told = rest.post(f"/v1/trace/{viewer.world.traces[name]}/replay", json={}).json()["outcome"]
    assert told.lower() == outcome
    page = viewer.at_trace(name)
    with page.expect_request("**/replay"):
        viewer.button("Replay").click()
    viewer.replayed().wait_for()
    assert f"Replayed: {outcome}" in viewer.replayed().inner_text()


def test_two_traces_are_compared_as_rest_compares_them(viewer: Viewing) -> None:
    """X5, X7: from a pasted id to spans of one side alone, and the inputs that differ."""
    first, second = viewer.world.traces["plain"], viewer.world.traces["stranded"]
    with viewer.world.rest() as rest:
        told = rest.get(f"/v1/trace/{first}/diff/{second}").json()["difference"]
    page = viewer.at_trace("plain")
    page.get_by_text("Compare with…").click()
    page.get_by_label("Trace id or address").fill(f"{viewer.world.address}/{second}")
    viewer.button("Compare").click()
    page.wait_for_url(f"**/traces/{first}/diff/{second}")
    difference = viewer.region("Difference")
    difference.get_by_text(told["because"]).wait_for()
    text = difference.inner_text()
    assert f"Only the one: {len(told['gone'])} span" in text
    assert f"Only the other: {len(told['new'])} span" in text
    rows = difference.get_by_role("row").all()
    tables = difference.get_by_role("table").all()
    expected = len(told["gone"]) + len(told["new"]) + len(told.get("reweighed", [])) + len(told["changes"])
    assert len(rows) == expected + len(tables)
    assert LAST_TRAM in text
    assert LOST_PROPERTY in text


def test_all_times_are_told_in_one_way(viewer: Viewing) -> None:
    """X7: every time on a page says its zone, and it is the same one; inputs that differ by µs are told apart."""
    world, page = viewer.world, viewer.page
    viewer.at(f"/{world.traces['as of June']}/diff/{world.traces['plain']}")
    changes = viewer.region("Difference").get_by_role("table", name="Inputs that differ")
    row = changes.get_by_role("row").filter(has_text="Instants")
    with world.rest() as rest:
        window = rest.get(f"/v1/trace/{world.traces['plain']}").json()["record"]["window"]
    now = datetime.fromtimestamp(window["validTime"] // 1_000_000, UTC)
    assert "validTime = 15 Jun 2026, 12:00:00.000000 UTC" in row.inner_text()
    assert f"{now:%Y, %H:%M:%S}.{window['validTime'] % 1_000_000:06d} UTC" in row.inner_text()
    assert not re.search(r"\dT\d|\dZ", row.inner_text())
    page.locator("a[href$='/traces']").first.click()
    page.get_by_role("table", name="Traces").wait_for()
    for address in ("", f"/{world.traces['plain']}"):
        if address:
            page.locator(f"a[href$='{address}']").click()
            viewer.replayed().wait_for()
            page.locator("tr.candidate button").first.click()
        times = page.locator("time").all_inner_texts()
        assert len(times) > 2
        assert all(re.search(r"\d{4}, \d\d:\d\d:\d\d UTC$", each.strip()) for each in times), times


def test_one_of_the_newest_can_be_chosen(viewer: Viewing) -> None:
    """X7: without an id at hand, the newest traces are offered."""
    page = viewer.at_trace("plain")
    page.get_by_text("Compare with…").click()
    page.locator(f"a[href$='/diff/{viewer.world.traces['stranded']}']").click()
    viewer.heading("Two traces").wait_for()


def test_a_trace_can_be_copied(seen: Opened) -> None:
    """X7: as the JSON that REST answers, and as its address."""
    with seen(permissions=["clipboard-read", "clipboard-write"]) as viewer:
        page = viewer.at_trace("plain")
        viewer.button("Copy as JSON").click()
        viewer.button("Copied").wait_for()
        with viewer.world.rest() as rest:
            told = rest.get(f"/v1/trace/{viewer.world.traces['plain']}").json()
        assert json.loads(page.evaluate("navigator.clipboard.readText()")) == told
        viewer.button("Copy link").click()
        page.wait_for_function(f"navigator.clipboard.readText().then(text => text === '{page.url}')")


def test_back_and_forward_go_where_one_was(viewer: Viewing) -> None:
    """X7: list, trace and comparison are entries of the browser's history, filters included."""
    page = viewer.at("?kind=plan")
    table = page.get_by_role("table", name="Traces")
    page.locator(f"a[href$='{viewer.world.traces['plain']}']").click()
    viewer.heading(LAST_TRAM).wait_for()
    page.get_by_text("Compare with…").click()
    page.locator(f"a[href$='/diff/{viewer.world.traces['stranded']}']").click()
    viewer.heading("Two traces").wait_for()
    page.go_back()
    viewer.heading(LAST_TRAM).wait_for()
    page.go_back()
    table.wait_for()
    assert page.url.endswith("?kind=plan")
    page.go_forward()
    viewer.heading(LAST_TRAM).wait_for()
    page.go_forward()
    viewer.heading("Two traces").wait_for()


def test_a_gateway_that_is_away_is_told_and_tried_again(viewer: Viewing) -> None:
    """X7: nothing is lost by a moment's absence: the page says so, and the same page comes by trying again."""
    page = viewer.at()
    page.get_by_role("table", name="Traces").wait_for()
    page.route("**/v1/**", lambda route: route.abort())
    page.locator(f"a[href$='{viewer.world.traces['plain']}']").click()
    page.get_by_role("alert").filter(has_text="cannot be reached").wait_for()
    page.unroute_all(behavior="wait")
    viewer.button("Try again").click()
    viewer.heading(LAST_TRAM).wait_for()


def test_a_key_that_ends_meanwhile_leads_back_to_the_door(viewer: Viewing) -> None:
    """A6: after a refusal the form stands there, says why, and what was shown is gone."""
    page = viewer.at()
    page.get_by_role("table", name="Traces").wait_for()
    refusal = {"status": 401, "code": "UNAUTHENTICATED", "title": "", "detail": "no"}
    page.route("**/v1/trace/*", lambda route: route.fulfill(status=401, json=refusal))
    page.locator(f"a[href$='{viewer.world.traces['plain']}']").click()
    viewer.heading("Sign in").wait_for()
    page.get_by_role("alert").filter(has_text="not accepted").wait_for()
    assert page.get_by_role("table").count() == 0
    assert viewer.button("Sign out").count() == 0
