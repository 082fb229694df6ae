"""Chromium for tests, as Debian installs it: nothing is downloaded, and it talks to nobody but the page's own host."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright
from tools import needed

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Text is drawn alike wherever the pictures of the documentation are made.
    "--font-render-hinting=none",
    "--disable-lcd-text",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser; without Chromium the test is skipped by name, and with CI=true it fails."""
    executable = needed("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=[*FLAGS])
        yield browser
        browser.close()
