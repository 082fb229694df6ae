"""axe-core, run inside a page: which barriers it finds for people who cannot see, or cannot see well."""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

_RUN = """
async () => {
    const found = await axe.run(document, { resultTypes: ["violations"] });
    return { checked: found.passes.length, violations: found.violations };
}
"""


@cache
def _source() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def barriers(page: Page, *, least: tuple[str, ...] = ("serious", "critical")) -> list[str]:
    """Barriers of the *least* impacts in *page* as it stands, each with its rule and the elements it concerns."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found: dict[str, Any] = page.evaluate(_RUN)
    assert found["checked"] > 0, "axe-core checked nothing"
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:200]} — {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in least
        for node in each["nodes"]
    ]
