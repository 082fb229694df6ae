"""axe-core, run inside a page: which barriers it finds for people who cannot see, or cannot see well."""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

_RUN = """
async (rules) => {
    const chosen = rules ? { runOnly: { type: "rule", values: rules } } : {};
    const found = await axe.run(document, { resultTypes: ["violations"], ...chosen });
    return { checked: found.passes.length, violations: found.violations };
}
"""


@cache
def _source() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def barriers(page: Page, *rules: str) -> list[str]:
    """
    Serious and critical barriers in *page* as it stands, each with its rule and the elements it concerns.

    Args:
        rules: Names of axe-core's rules; none is all that it has of its own accord.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found: dict[str, Any] = page.evaluate(_RUN, [*rules] or None)
    assert found["checked"] > 0, "axe-core checked nothing"
    return [
        f"{each['id']} ({each['impact']}): {node['html'][:200]} — {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
