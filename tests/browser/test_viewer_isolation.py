"""What the viewer never does: show what is another's, obey what it shows, or talk to somebody else."""

import pytest
from viewer_world import BIDI, HOSTILE_NAME
from viewing import Viewing

pytestmark = pytest.mark.process

NOBODYS = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"


def _shown(viewer: Viewing, trace: str, key: str) -> str:
    page = viewer.at(f"/{trace}", key)
    page.get_by_text("No such trace").wait_for()
    return page.get_by_role("main").inner_text().replace(trace, "<it>")


@pytest.mark.parametrize(("key", "theirs"), [("rival", "plain"), ("reader", "rival"), ("limited", "plain")])
def test_a_foreign_trace_looks_like_one_that_is_not_there(viewer: Viewing, key: str, theirs: str) -> None:
    """A6, M7: of another tenant or space nothing is told, not even that it is there."""
    foreign = _shown(viewer, viewer.world.traces[theirs], key)
    assert "Line 2" not in foreign
    absent = _shown(viewer, NOBODYS, key)
    assert _without_request(foreign) == _without_request(absent)


def test_a_foreign_trace_cannot_be_compared(viewer: Viewing) -> None:
    """A6: a difference that has a foreign side is not found, whichever side it is."""
    for sides in (("plain", "rival"), ("rival", "plain")):
        first, second = (viewer.world.traces[side] for side in sides)
        page = viewer.at(f"/{first}/diff/{second}")
        page.get_by_text("No such trace").wait_for()
        assert page.get_by_role("table").count() == 0


@pytest.mark.parametrize("path", ["/no-id", "/%00", "/%ff%fe", "/..%2f..", f"/{NOBODYS}/diff/x", "/a/b/c"])
def test_an_address_that_names_no_trace_is_told_so(viewer: Viewing, path: str) -> None:
    """X7: a broken address shows that it is one, or what the gateway says of it; nothing fails unseen."""
    viewer.open(path)
    if viewer.page.get_by_label("API key").count():
        viewer.sign_in()
        viewer.heading("").wait_for()
        assert viewer.page.get_by_role("table").count() == 0
    assert viewer.page.get_by_text("undefined").count() == 0


@pytest.mark.parametrize("name", ["hostile", "hostile question"])
def test_foreign_text_is_text(viewer: Viewing, name: str) -> None:
    """X7: names, questions and texts make no element, run nothing and load nothing."""
    page = viewer.at_trace(name)
    page.get_by_role("table", name="Candidates").wait_for()
    for button in page.get_by_role("button", name="Show text").all()[:12]:
        button.click()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hurt") is None
    main = page.get_by_role("main")
    assert main.locator("script, iframe, img, style, object, embed, b[onmouseover]").count() == 0
    assert page.evaluate("[...document.querySelectorAll('*')].some(each => each.hasAttribute('onmouseover'))") is False
    assert "<script>window.hurt = 1</script>" in main.inner_text()


@pytest.mark.parametrize("name", ["hostile", "hostile question"])
def test_controls_of_direction_stay_in_their_place(viewer: Viewing, name: str) -> None:
    """X7: no bidi control reaches the page as such, and what others wrote is isolated from what stands around it."""
    page = viewer.at_trace(name)
    page.get_by_role("table", name="Candidates").wait_for()
    for button in page.get_by_role("button", name="Show text").all()[:12]:
        button.click()
    page.wait_for_load_state("networkidle")
    shown = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(each => !each.closest('pre'))"
        ".flatMap(each => [...each.childNodes]).filter(each => each.nodeType === 3).map(each => each.data).join('')"
    )
    assert not set(BIDI) - {" ", *"evil"} & set(shown)
    assert page.title().isascii() or "\u202e" not in page.title()
    loose = page.evaluate(
        """() => [...document.querySelectorAll('body *')].flatMap(each => [...each.childNodes])
            .filter(each => each.nodeType === 3 && /[\\u0590-\\u08ff\\ufb1d-\\ufefc]/.test(each.data))
            .filter(each => !each.parentElement.closest("bdi, [dir=auto], textarea, input"))
            .map(each => each.data)"""
    )
    assert loose == []


def test_right_to_left_moves_no_neighbour(viewer: Viewing) -> None:
    """X7: the cells of a row stand in the order of the head, whatever the name in it."""
    page = viewer.at_trace("hostile")
    table = page.get_by_role("table", name="Candidates")
    heads = [head.bounding_box() for head in table.get_by_role("columnheader").all()]
    rows = [row for row in table.get_by_role("row").all()[1:] if HOSTILE_NAME[:8] in row.inner_text()]
    assert rows
    for row in rows:
        cells = [cell.bounding_box() for cell in row.locator("th, td").all()]
        for cell, head in zip(cells, heads, strict=False):
            assert cell is not None
            assert head is not None
            assert abs(cell["x"] - head["x"]) < 1


def test_the_page_has_nothing_inline_and_asks_its_own_host_alone(viewer: Viewing) -> None:
    """X7: no style, script or handler in the markup, and each answer carries the policy that says so."""
    response = viewer.page.goto(viewer.world.address)
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    markup = response.text()
    assert "style=" not in markup
    assert " on" not in "".join(part.split(">")[0] for part in markup.split("<")).replace(" only", "")
    viewer.sign_in()
    viewer.page.get_by_role("table", name="Traces").wait_for()
    assert viewer.page.evaluate("[...document.scripts].every(each => each.src && !each.textContent)")
    assert viewer.page.locator("style").count() == 0
    assert viewer.foreign_hosts() == set()
    assert len(viewer.requests) > 5


def test_the_policy_is_enforced(viewer: Viewing) -> None:
    """X7: what would be injected is refused by the browser: markup out of text, scripts, requests to other hosts."""
    page = viewer.at()
    refused = page.evaluate(
        """async () => {
            const refused = [];
            const attempt = async (name, act) => { try { await act(); } catch { refused.push(name); } };
            await attempt("markup", () => { document.createElement("div").innerHTML = "<b>x</b>"; });
            await attempt("fetch", () => fetch("http://127.0.0.1:9/"));
            const script = document.createElement("script");
            const source = "window.injected = 1";
            await attempt("script", () => { script.textContent = source; document.head.append(script); });
            return [...refused, window.injected ?? "not injected"];
        }"""
    )
    assert refused == ["markup", "fetch", "script", "not injected"]
    assert page.evaluate("window.violations.length") >= 3
    page.evaluate("window.violations = []")
    viewer.complaints.clear()
    viewer.requests[:] = [each for each in viewer.requests if ":9/" not in each.url]


def _without_request(text: str) -> str:
    return text.split("Request", maxsplit=1)[0]
