"""The viewer's list: pages, filters, and what a row says."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from viewer_world import APART_US, LISTED, OLDEST_US
from viewing import Opened, Viewing

pytestmark = pytest.mark.process

PAGE = 50


def _ids(viewer: Viewing) -> list[str]:
    """The traces of the page's rows, in order."""
    links = viewer.page.get_by_role("table", name="Traces").get_by_role("link")
    return [str(each).rsplit("/", 1)[1] for each in links.evaluate_all("links => links.map(link => link.href)")]


def _listed(viewer: Viewing, key: str, **filters: Any) -> Iterator[dict[str, Any]]:
    with viewer.world.rest(key) as rest:
        token = ""
        while True:
            page = rest.get("/v1/traces", params={**filters, "pageSize": 1000, "pageToken": token}).json()
            yield from page["traces"]
            token = page.get("nextPageToken", "")
            if not token:
                return


def _until(viewer: Viewing, wanted: list[str]) -> None:
    """Wait until the rows are those of *wanted*."""
    viewer.page.wait_for_function(
        "wanted => [...document.querySelectorAll('tbody a')].map(a => a.href.split('/').pop()).join() === wanted",
        arg=",".join(wanted),
    )


def test_every_trace_is_on_one_page(viewer: Viewing) -> None:
    """X4, X7: 1,050 traces, newest first, page after page, each once; and back again."""
    wanted = [each["traceId"] for each in _listed(viewer, "archive")]
    assert len(wanted) == LISTED
    viewer.at(key="archive")
    for first in range(0, LISTED, PAGE):
        _until(viewer, wanted[first : first + PAGE])
        older = viewer.button("Older")
        if first + PAGE < LISTED:
            older.click()
    assert older.count() == 0
    viewer.button("Newer").click()
    _until(viewer, wanted[LISTED - 2 * PAGE : LISTED - PAGE])
    viewer.page.go_back()
    _until(viewer, wanted[LISTED - PAGE :])
    viewer.button("Newest").click()
    _until(viewer, wanted[:PAGE])


@pytest.mark.parametrize(
    ("label", "chosen", "filters"),
    [
        ("Kind", "select", {"kind": "select"}),
        ("Space", "space 3", {"space": "space 3"}),
        ("Stranded by the cap", "yes", {"stranded": "true"}),
        ("Stranded by the cap", "no", {"stranded": "false"}),
        ("Budget used", "a quarter to a half", {"minUsedShare": 0.25, "maxUsedShare": 0.5}),
    ],
)
def test_each_filter_shows_what_rest_lists(viewer: Viewing, label: str, chosen: str, filters: dict[str, Any]) -> None:
    """X4, X7: a filter is in the address, outlives a reload, and can be cleared."""
    wanted = [each["traceId"] for each in _listed(viewer, "archive", **filters)]
    assert 0 < len(wanted) < LISTED
    page = viewer.at(key="archive")
    field = page.get_by_role("search").get_by_label(label)
    if label == "Space":
        field.fill(chosen)
    else:
        field.select_option(chosen)
    viewer.button("Apply").click()
    _until(viewer, wanted[:PAGE])
    page.reload()
    viewer.sign_in("archive")
    _until(viewer, wanted[:PAGE])
    viewer.button("Clear").click()
    _until(viewer, [each["traceId"] for each in _listed(viewer, "archive")][:PAGE])
    assert page.url == viewer.world.address


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_a_time_filter_shows_what_was_recorded_then(seen: Opened, zone: str) -> None:
    """X4, X7: from and to, as typed, are the instants asked for, wherever the person is; rows are in the same zone."""
    start, end = OLDEST_US + 100 * APART_US, OLDEST_US + 120 * APART_US
    with seen(timezone_id=zone) as viewer:
        page = viewer.at(key="archive")
        fields = {}
        for label, instant in (("From (UTC)", start), ("To (UTC)", end)):
            fields[label] = datetime.fromtimestamp(instant / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            page.get_by_role("search").get_by_label(label, exact=True).fill(fields[label])
        viewer.button("Apply").click()
        wanted = [each["traceId"] for each in _listed(viewer, "archive", **{"from": start, "to": end})]
        assert len(wanted) == 20
        _until(viewer, wanted)
        shown = page.get_by_role("search").get_by_label("From (UTC)", exact=True).input_value()
        assert shown.removesuffix(".000") == fields["From (UTC)"]
        newest = page.locator("tbody tr").first.locator("time").inner_text()
        assert f"{datetime.fromtimestamp((end - APART_US) / 1e6, UTC):%H:%M:%S} UTC" in newest


def test_a_row_says_what_the_trace_says(viewer: Viewing) -> None:
    """X7: kind, spaces, budget and spans of each row are those of the listing."""
    page = viewer.at()
    rows = page.get_by_role("table", name="Traces").get_by_role("row")
    rows.nth(1).wait_for()
    shown = {
        row.get_by_role("link").get_attribute("href").rsplit("/", 1)[1]: row.inner_text() for row in rows.all()[1:]
    }
    listed = {each["traceId"]: each for each in _listed(viewer, "reader")}
    assert set(shown) == set(listed)
    for trace_id, each in listed.items():
        text = shown[trace_id]
        assert each["kind"] in text
        assert str(each["items"]) in text
        if each.get("planHash"):
            assert f"{each['used']:,} of {each['budget']:,}" in text
        else:
            assert "no evidence" in text
    assert "every space" in shown[viewer.world.traces["everything"]]
    assert "board" in shown[viewer.world.traces["board"]]


def test_nothing_found_is_said(viewer: Viewing) -> None:
    """X7: a filter that nothing matches is no empty page."""
    page = viewer.at("?kind=unheard-of")
    page.get_by_text("No trace matches").wait_for()
    assert page.get_by_role("table").count() == 0


def test_a_filter_that_cannot_be_is_told(viewer: Viewing) -> None:
    """X7: an address that asks for what REST refuses says the rule, and the filter is still there to be mended."""
    page = viewer.at("?from=yesterday")
    page.get_by_role("alert").wait_for()
    assert page.get_by_role("table").count() == 0
    viewer.link("All traces").click()
    page.get_by_role("table", name="Traces").wait_for()


def test_a_limited_key_lists_what_it_may_see(viewer: Viewing) -> None:
    """A6, M7: a key of one space sees the traces that read that space alone."""
    viewer.at(key="limited")
    _until(viewer, [viewer.world.traces["board"]])


def test_what_the_page_links_to_stays_in_its_place(viewer: Viewing) -> None:
    """X7: on the whole way, list, trace, comparison and back, nothing is missing and the console says nothing."""
    page, world = viewer.page, viewer.world
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
    page.on("console", lambda message: missing.append(message.text) if message.type == "error" else None)
    named = "[...document.querySelectorAll('link[rel=icon], .brand, .brand img')].map(each => each.href ?? each.src)"

    viewer.at()
    at_first = page.evaluate(named)
    assert any(address.endswith("/mark.svg") for address in at_first)
    page.locator(f"a[href$='{world.traces['plain']}']").click()
    viewer.replayed().wait_for()
    assert page.evaluate(named) == at_first
    page.get_by_text("Compare with…").click()
    page.locator(f"a[href$='/diff/{world.traces['stranded']}']").click()
    viewer.heading("Two traces").wait_for()
    assert page.evaluate(named) == at_first
    page.locator("a.brand").click()
    page.get_by_role("table", name="Traces").wait_for()
    assert page.url == world.address
    page.wait_for_load_state("networkidle")
    assert missing == []
    assert page.evaluate(
        "all => Promise.all(all.map(each => fetch(each).then(answer => answer.status)))", at_first
    ) == [200] * len(at_first)
