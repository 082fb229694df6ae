"""The viewer for people who cannot see it, or not well, or who use no mouse; and on screens of every size."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from axe import barriers
from playwright.sync_api import Browser, Locator, Page
from viewer_world import HOSTILE_NAME, LAST_TRAM, LOST_PROPERTY, World
from viewing import WIDTHS, Opened, Viewing, viewing

pytestmark = pytest.mark.process

HEIGHT = 900
OF_COLOUR = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that a theme can break."""


def _opened_row(viewer: Viewing) -> None:
    row = viewer.page.locator("tr.candidate").first
    row.get_by_role("button").click()
    viewer.button("Show text").first.click()
    viewer.page.locator("tr.more pre").first.wait_for()


def _asked_why_not(viewer: Viewing) -> None:
    asking = viewer.region("Why not")
    asking.get_by_label("Source").fill("history.txt")
    asking.get_by_role("button", name="Why not?").click()
    viewer.page.get_by_role("region", name="Answer").get_by_role("article").first.wait_for()


def _compare_offered(viewer: Viewing) -> None:
    viewer.page.get_by_text("Compare with…").click()
    viewer.page.get_by_role("heading", name="The newest").wait_for()
    viewer.page.wait_for_load_state("networkidle")


def _keys_shown(viewer: Viewing) -> None:
    viewer.button("Keys").click()
    viewer.page.get_by_role("dialog").wait_for()


def _verified(viewer: Viewing) -> None:
    viewer.page.get_by_role("button", name="Verify").click()
    viewer.page.get_by_text("Verified:").first.wait_for()


def _as_it_is(viewer: Viewing) -> None:
    viewer.page.wait_for_load_state("networkidle")


Step = Callable[[Viewing], None]
VIEWS: dict[str, tuple[str, str, Step]] = {
    "the list": ("", "Traces", _as_it_is),
    "the keys": ("", "Traces", _keys_shown),
    "a list of nothing": ("?kind=unheard-of", "Traces", _as_it_is),
    "a fault": ("?from=yesterday", "Traces", _as_it_is),
    "a trace": ("/{stranded}", LOST_PROPERTY, _verified),
    "an opened row": ("/{stranded}", LOST_PROPERTY, _opened_row),
    "why not": ("/{tiny}", LOST_PROPERTY, _asked_why_not),
    "what to compare with": ("/{stranded}", LOST_PROPERTY, _compare_offered),
    "hostile names": ("/{hostile}", "Zeppelin", _opened_row),
    "a hostile question": ("/{hostile question}", "script", _as_it_is),
    "another plan": ("/{changed}", LAST_TRAM, _as_it_is),
    "an erased one": ("/{erased}", "hangar", _as_it_is),
    "no evidence": ("/{empty}", "quantum", _as_it_is),
    "a selection": ("/{many}", "selection", _as_it_is),
    "a comparison": ("/{plain}/diff/{stranded}", "Two traces", _as_it_is),
    "the same plan": ("/{plain}/diff/{explained}", "one plan", _as_it_is),
    "no such trace": ("/0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99", "", _as_it_is),
    "no such place": ("/nowhere", "No such place", _as_it_is),
}
"""Every view that there is: its address, its heading, and what a person does there."""

OTHERWISE_WHEN_NARROW = ("the list", "a trace", "an opened row", "why not", "another plan", "a comparison")
"""Views of which each part that a narrow screen lays out in its own way is one."""


def _stay_signed_in(viewer: Viewing) -> None:
    viewer.open()
    viewer.page.get_by_role("checkbox").check()
    viewer.sign_in()


def _at(viewer: Viewing, view: str) -> Page:
    path, heading, step = VIEWS[view]
    viewer.open(path.format_map(viewer.world.traces))
    viewer.heading(heading).wait_for()
    if viewer.page.get_by_role("region", name="Candidates").count():
        viewer.replayed().wait_for()
    step(viewer)
    return viewer.page


@dataclass
class _Look:
    """What one view is like: barriers by width, pixels too wide, and its names."""

    barriers: dict[str, list[str]]
    wider: dict[int, int]
    mains: int
    headings: int
    title: str


def _looked_at(viewer: Viewing, *, narrow: bool) -> _Look:
    page = viewer.page
    found, wider = {"1280": barriers(page)}, {}
    for width in (*WIDTHS.values(), 320):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        wider[width] = viewer.overflow()
    if narrow:
        found["320"] = barriers(page)
    page.set_viewport_size({"width": 1280, "height": HEIGHT})
    return _Look(found, wider, page.locator("main").count(), page.locator("h1").count(), page.title())


@pytest.fixture(scope="module")
def looks(browser: Browser, world: World) -> dict[str, _Look]:
    """Every view, looked at once, in the light theme."""
    with viewing(browser, world, color_scheme="light") as viewer:
        viewer.open()
        found = {"the door": _looked_at(viewer, narrow=True)}
        _stay_signed_in(viewer)
        for view in VIEWS:
            _at(viewer, view)
            found[view] = _looked_at(viewer, narrow=view in OTHERWISE_WHEN_NARROW)
    return found


def test_no_view_has_barriers(looks: dict[str, _Look]) -> None:
    """X7: axe-core finds nothing serious or critical in any view, on a wide and on a narrow screen."""
    assert {view: look.barriers for view, look in looks.items() if any(look.barriers.values())} == {}


def test_the_dark_theme_can_be_read(seen: Opened) -> None:
    """X7: nor has the dark theme, which differs in its colours alone, a contrast that is too small."""
    found: dict[str, list[str]] = {}
    with seen(color_scheme="dark") as viewer:
        viewer.open()
        found["the door"] = barriers(viewer.page, *OF_COLOUR)
        _stay_signed_in(viewer)
        for view in VIEWS:
            found[view] = barriers(_at(viewer, view), *OF_COLOUR)
    assert {view: told for view, told in found.items() if told} == {}


def test_no_view_is_wider_than_its_screen(looks: dict[str, _Look]) -> None:
    """X7: nothing has to be scrolled sideways to be read, from a small phone to a wide screen."""
    assert {view: look.wider for view, look in looks.items() if max(look.wider.values()) > 0} == {}


def test_every_view_has_one_heading_a_main_part_and_a_title(looks: dict[str, _Look]) -> None:
    """X7: whoever hears the page can tell where they are."""
    assert {(look.mains, look.headings) for look in looks.values()} == {(1, 1)}
    assert [look.title for look in looks.values() if not look.title.endswith(" · Telha")] == []
    assert len({look.title for look in looks.values()}) > 8


def test_axe_finds_a_barrier_where_there_is_one(viewer: Viewing) -> None:
    """X7: what the test above relies on: text that can hardly be read, and a button without a name, are found."""
    viewer.open()
    assert barriers(viewer.page) == []
    viewer.page.evaluate(
        "document.querySelector('h1').style.color = '#eee';"
        "document.querySelector('main').append(document.createElement('button'))"
    )
    rules = {told.split()[0] for told in barriers(viewer.page)}
    assert rules == {"button-name", "color-contrast"}


def test_nothing_moves_for_those_who_ask_for_it(seen: Opened) -> None:
    """X7: with reduced motion no element has a transition or an animation."""
    with seen(reduced_motion="reduce") as viewer:
        _stay_signed_in(viewer)
        for view in ("the list", "an opened row", "why not", "what to compare with", "a comparison"):
            moving = _at(viewer, view).evaluate(
                """() => [...document.querySelectorAll("*")].filter((each) => {
                    const style = getComputedStyle(each);
                    const lasts = (durations) => durations.split(",").some((each) => parseFloat(each) > 0.01);
                    const animated = style.animationName !== "none" && lasts(style.animationDuration);
                    return animated || lasts(style.transitionDuration);
                }).map((each) => each.outerHTML.slice(0, 80))"""
            )
            assert moving == []


class _Keyboard:
    """Somebody without a mouse: everything through the keyboard, and every stop can be seen."""

    def __init__(self, viewer: Viewing) -> None:
        self.viewer = viewer
        self.page = viewer.page
        viewer.context.add_init_script(
            "window.pointed = []; for (const kind of ['mousedown', 'pointerdown', 'touchstart'])"
            "addEventListener(kind, (event) => window.pointed.push(event.type), true)"
        )

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, role: str, name: str) -> None:
        """Press Tab until the focus is on what has *role* and *name* in it."""
        self.reach_one(self.page.get_by_role(role, name=name).first)  # type: ignore[arg-type]  # any role

    def reach_one(self, wanted: Locator, key: str = "Tab") -> None:
        """Press *key* until the focus is on *wanted*."""
        wanted.wait_for()
        for _ in range(150):
            if wanted.evaluate("element => element === document.activeElement"):
                return
            self.press(key)
            self.must_be_seen()
        raise AssertionError(f"{key} does not lead to {wanted}")

    def must_be_seen(self) -> None:
        """The element in focus has an outline, or what covers its row has one."""
        told = self.page.evaluate(
            """() => {
                const each = document.activeElement;
                if (!each || each === document.body) return "";
                const ringed = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
                const box = each.getBoundingClientRect();
                const visible = box.width > 0 && box.height > 0;
                const marked = ringed(getComputedStyle(each)) || ringed(getComputedStyle(each, "::after"));
                return visible && marked ? "" : each.outerHTML.slice(0, 120);
            }"""
        )
        assert told == "", f"in focus, and not to be seen: {told}"

    def focus(self) -> str:
        """The name of what has the focus."""
        name: str = self.page.evaluate("document.activeElement.textContent.trim()")
        return name


def test_the_whole_way_without_a_mouse(viewer: Viewing) -> None:
    """X7: sign in, list, open, why, text, verify, replay, compare and back, with keys alone."""
    hands, page, world = _Keyboard(viewer), viewer.page, viewer.world
    viewer.open()
    hands.reach("textbox", "API key")
    page.keyboard.type(world.keys["reader"])
    hands.press("Enter")
    viewer.heading("Traces").wait_for()
    table = page.get_by_role("table", name="Traces")
    table.wait_for()
    page.wait_for_function("document.activeElement.tagName === 'H1'")

    hands.reach_one(page.locator(f"a[href$='{world.traces['plain']}']"))
    hands.press("Enter")
    viewer.heading(LAST_TRAM).wait_for()
    viewer.replayed().wait_for()
    assert hands.focus() == LAST_TRAM

    hands.reach("button", "Verify")
    hands.press("Enter")
    page.get_by_text("Verified:").first.wait_for()
    hands.reach("button", "Replay")
    hands.press("Space")
    viewer.replayed().wait_for()

    hands.reach("button", "history.txt")
    hands.press("Enter")
    opener = page.get_by_role("button", name="history.txt").first
    assert opener.get_attribute("aria-expanded") == "true"
    hands.reach("button", "Show text")
    hands.press("Enter")
    page.locator("tr.more pre").first.wait_for()

    # By its label: it becomes a combobox once there are names to offer.
    hands.reach_one(viewer.region("Why not").get_by_label("Source"), "Shift+Tab")
    page.keyboard.type("nobody-has-this.md")
    hands.press("Enter")
    page.get_by_role("region", name="Answer").get_by_role("article").first.wait_for()

    hands.reach_one(page.locator("summary", has_text="Compare with…"), "Shift+Tab")
    hands.press("Enter")
    hands.reach("textbox", "Trace id or address")
    page.keyboard.type(world.traces["stranded"])
    hands.press("Enter")
    viewer.heading("Two traces").wait_for()
    hands.reach("link", "this trace")
    hands.press("Enter")
    viewer.heading(LAST_TRAM).wait_for()
    assert page.evaluate("window.pointed") == []


def test_the_first_stop_skips_to_the_content(viewer: Viewing) -> None:
    """X7: one key leads past what is on every page."""
    _stay_signed_in(viewer)
    viewer.open()
    viewer.page.get_by_role("table", name="Traces").wait_for()
    hands = _Keyboard(viewer)
    hands.press("Tab")
    hands.must_be_seen()
    assert "Skip" in hands.focus()
    hands.press("Enter")
    assert viewer.page.evaluate("document.activeElement.closest('main') !== null")


def test_shortcuts_move_through_rows(viewer: Viewing) -> None:
    """X7: j, k and the arrows go from row to row, Enter opens, Escape closes what was opened, ? says so."""
    page = viewer.at_trace("plain")
    hands = _Keyboard(viewer)
    openers = page.locator("tr.candidate button")
    for key, at in (("j", 0), ("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0)):
        hands.press(key)
        assert openers.nth(at).evaluate("element => element === document.activeElement"), (key, at)
        hands.must_be_seen()
    hands.press("?")
    page.get_by_role("dialog").wait_for()
    hands.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    page.get_by_text("Compare with…").click()
    hands.press("Escape")
    assert page.get_by_role("heading", name="The newest").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_theme_stays(seen: Opened, theme: str) -> None:
    """X7: the page follows the system, and a person may choose otherwise; the choice outlives a reload."""
    with seen(color_scheme=theme) as viewer:
        page = viewer.at()
        dark = "getComputedStyle(document.documentElement).backgroundColor"
        of_system = page.evaluate(dark)
        chosen = page.get_by_role("button", name="Theme")
        for _ in range(3):
            chosen.click()
            if ("Light" if theme == "dark" else "Dark") in chosen.inner_text():
                break
        assert page.evaluate(dark) != of_system
        page.reload()
        assert page.evaluate(dark) != of_system


def test_hostile_names_stay_in_their_cells_on_a_phone(seen: Opened) -> None:
    """X7: a long name of one word does not push its neighbours out of sight."""
    with seen(viewport={"width": WIDTHS["phone"], "height": HEIGHT}) as viewer:
        page = viewer.at_trace("hostile")
        rows = [row for row in page.locator("tr.candidate").all() if HOSTILE_NAME[:8] in row.inner_text()]
        assert rows
        for row in rows:
            for cell in row.locator("td, th").all():
                box = cell.bounding_box()
                assert box is None or box["x"] + box["width"] <= WIDTHS["phone"]
