"""
`make screenshots`: the pictures of the trace viewer in docs/images, from a running system with the example corpus.

Each view is drawn for a wide and a narrow screen, in both themes. The browser's clock stands still five minutes after
the calls, so that what is drawn differs from run to run in nothing but ids and instants.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from browsing import chromium
from running_telha import ROOT
from small_png import smaller
from viewer_world import running
from viewing import Viewing, viewing

IMAGES = ROOT / "docs" / "images"
WIDTHS = (1280, 400)
HEIGHTS = {"trace": 1640}
HEIGHT = 1000
"""Of pictures of views that `HEIGHTS` does not name, in pixels."""

THEMES = ("light", "dark")
LATER_S = 300
MOST_BYTES = 150_000


def _list(viewer: Viewing) -> None:
    viewer.open()
    viewer.page.get_by_role("table", name="Traces").wait_for()


def _trace(viewer: Viewing) -> None:
    viewer.open(f"/{viewer.world.traces['plain']}")
    viewer.replayed().wait_for()
    viewer.page.get_by_role("button", name="Verify").click()


def _why_not(viewer: Viewing) -> None:
    _trace(viewer)
    capped = viewer.page.get_by_role("group", name="Outcome").get_by_role("button", name="Source cap")
    capped.click()
    viewer.page.locator("tr.candidate").first.get_by_role("button").click()
    viewer.button("Show text").first.click()
    viewer.page.locator("tr.more pre").first.wait_for()
    viewer.region("Candidates").evaluate("element => element.scrollIntoView({ block: 'start' })")


def _diff(viewer: Viewing) -> None:
    viewer.open(f"/{viewer.world.traces['as of June']}/diff/{viewer.world.traces['plain']}")
    viewer.region("Difference").get_by_role("table").first.wait_for()


VIEWS: dict[str, Callable[[Viewing], None]] = {"list": _list, "trace": _trace, "why-not": _why_not, "diff": _diff}


def make(folder: Path, *words: str) -> list[Path]:
    """Draw every picture into *folder*, of a system started with *words*; the pictures' paths."""
    made = []
    with tempfile.TemporaryDirectory(prefix="telha-") as home, running(Path(home), *words) as world:
        later = time.time() + LATER_S
        with chromium() as browser:
            blank = browser.new_page()
            for theme, width in itertools.product(THEMES, WIDTHS):
                with viewing(browser, world, color_scheme=theme, reduced_motion="reduce") as viewer:
                    viewer.page.clock.set_fixed_time(later)
                    viewer.open()
                    viewer.page.get_by_role("checkbox").check()
                    viewer.sign_in()
                    for name, show in VIEWS.items():
                        height = HEIGHTS.get(name, HEIGHT) if width == WIDTHS[0] else HEIGHT
                        viewer.page.set_viewport_size({"width": width, "height": height})
                        show(viewer)
                        viewer.page.wait_for_load_state("networkidle")
                        path = folder / f"viewer-{name}-{width}-{theme}.png"
                        path.write_bytes(smaller(viewer.page.screenshot(animations="disabled", caret="hide"), blank))
                        made.append(path)
    return made


def main() -> None:
    """Draw them where the documentation shows them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--into", type=Path, default=IMAGES)
    folder = asked.parse_args().into
    folder.mkdir(parents=True, exist_ok=True)
    for path in make(folder, "--embedder", "use"):
        size = path.stat().st_size
        print(f"{path.name}: {size / 1000:.0f} kB")  # noqa: T201  # a program of the makefile
        assert size <= MOST_BYTES, f"{path.name} is larger than {MOST_BYTES} bytes"


if __name__ == "__main__":
    main()
