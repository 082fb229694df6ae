"""The door of the trace viewer: who gets in, and where the key is kept."""

import json
from typing import Any

import pytest
from viewer_world import LAST_TRAM
from viewing import Viewing

pytestmark = pytest.mark.process


def _kept(viewer: Viewing) -> dict[str, Any]:
    """All that a browser keeps for the page, and its addresses."""
    stores = viewer.page.evaluate(
        "({local: {...localStorage}, session: {...sessionStorage}, state: history.state, address: location.href, "
        "referrer: document.referrer, document: document.documentElement.outerHTML})"
    )
    return {**stores, "cookies": viewer.context.cookies()}


def test_a_key_opens_the_list_and_is_kept_nowhere(viewer: Viewing) -> None:
    """A6: the key is in the page's memory alone: not in an address, a cookie, a store or the document."""
    viewer.open()
    assert viewer.page.title() == "Sign in · Telha"
    viewer.sign_in()
    viewer.heading("Traces").wait_for()
    viewer.page.get_by_role("table", name="Traces").wait_for()
    kept = json.dumps(_kept(viewer))
    key = viewer.world.keys["reader"]
    assert key not in kept
    assert key.split("_")[-1] not in kept
    assert not [each.url for each in viewer.requests if key in each.url]
    viewer.page.reload()
    viewer.heading("Sign in").wait_for()


def test_a_key_is_kept_for_the_tab_only_if_asked(viewer: Viewing) -> None:
    """A6: kept on request, it outlives a reload of the tab, and neither signing out nor another tab finds it."""
    viewer.open()
    viewer.page.get_by_role("checkbox").check()
    viewer.sign_in()
    viewer.page.reload()
    viewer.page.get_by_role("table", name="Traces").wait_for()
    assert viewer.page.evaluate("Object.keys(localStorage).length") == 0
    other = viewer.context.new_page()
    other.goto(viewer.world.address)
    other.get_by_role("heading", level=1, name="Sign in").wait_for()
    viewer.button("Sign out").click()
    viewer.heading("Sign in").wait_for()
    assert viewer.world.keys["reader"] not in json.dumps(_kept(viewer))
    viewer.page.reload()
    viewer.heading("Sign in").wait_for()


@pytest.mark.parametrize("key", ["telha_aaaaaaaaaaaa_" + "a" * 43, "not a key", "ключ", ""])
def test_a_wrong_key_is_told_so_where_it_was_typed(viewer: Viewing, key: str) -> None:
    """A6: the form stays, says why, and has the focus again."""
    viewer.open()
    field = viewer.page.get_by_label("API key")
    field.fill(key)
    viewer.button("Sign in").click()
    fault = viewer.page.get_by_role("alert")
    fault.filter(has_text="key").wait_for()
    viewer.page.wait_for_function("document.activeElement === document.querySelector('input[type=password]')")
    assert viewer.page.get_by_role("table").count() == 0
    if key:
        assert key not in fault.inner_text()


def test_a_key_that_may_not_read_is_told_the_right_that_it_lacks(viewer: Viewing) -> None:
    """A6: the list says which right is missing and shows nothing."""
    viewer.at(key="writer")
    viewer.page.get_by_role("alert").filter(has_text="right").wait_for()
    assert viewer.page.get_by_role("table").count() == 0


def test_an_address_is_kept_through_signing_in(viewer: Viewing) -> None:
    """X7: a permalink opens what it names, once its reader has signed in."""
    trace = viewer.world.traces["plain"]
    viewer.open(f"/{trace}")
    viewer.heading("Sign in").wait_for()
    viewer.sign_in()
    viewer.heading(LAST_TRAM).wait_for()
    assert viewer.page.url == f"{viewer.world.address}/{trace}"
    viewer.page.get_by_text(trace).first.wait_for()


def test_who_signs_out_leaves_nothing_to_the_next(viewer: Viewing) -> None:
    """A6: after another tenant has signed in on the same page, going back shows nothing of the first one's."""
    page = viewer.at(key="archive")
    rows = page.get_by_role("table", name="Traces").get_by_role("row")
    rows.nth(1).wait_for()
    viewer.button("Older").click()
    viewer.button("Newest").wait_for()
    viewer.button("Sign out").click()
    viewer.heading("Sign in").wait_for()
    assert page.get_by_role("table").count() == 0
    viewer.sign_in("rival")
    page.wait_for_load_state("networkidle")
    page.go_back()
    page.go_back()
    page.wait_for_load_state("networkidle")
    archive = {each["traceId"] for each in _listed(viewer)}
    assert not [trace for trace in archive if trace in page.content()]


def _listed(viewer: Viewing) -> list[dict[str, Any]]:
    with viewer.world.rest("archive") as rest:
        traces: list[dict[str, Any]] = rest.get("/v1/traces", params={"pageSize": 1000}).json()["traces"]
    return traces
