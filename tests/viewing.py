"""A person at the trace viewer: a page of its own, and a note of everything that the page did behind their back."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request
from viewer_world import World

_NOTE_VIOLATIONS = """
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        window.violations.push(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
"""
WIDTHS = {"wide": 1280, "tablet": 768, "phone": 400}


@dataclass
class Viewing:
    """
    A browser's page on the viewer.

    Attributes:
        requests: Every request that the page made.
        complaints: What its console said, refused answers of the REST surface apart, and errors that nobody caught.
    """

    world: World
    context: BrowserContext
    page: Page
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> None:
        """Go to the address *path* below the list's, as a person who typed it."""
        self.page.goto(f"{self.world.address}{path}")

    def sign_in(self, key: str = "reader") -> None:
        """Type the key of that name, and go in."""
        self.page.get_by_label("API key").fill(self.world.keys[key])
        self.button("Sign in").click()
        self.button("Sign out").wait_for()

    def at(self, path: str = "", key: str = "reader") -> Page:
        """Open *path* and sign in; the page."""
        self.open(path)
        self.sign_in(key)
        return self.page

    def at_trace(self, name: str, key: str = "reader") -> Page:
        """Open the trace of the call *name* and sign in; the page."""
        page = self.at(f"/{self.world.traces[name]}", key)
        self.replayed().wait_for()
        if "identical" not in self.replayed().inner_text():
            page.wait_for_load_state("networkidle")  # what a record does not name is asked of its sources
        return page

    def replayed(self) -> Locator:
        """What making the plan of the trace anew gave, once it is there."""
        return self.page.get_by_role("status", name="Replay").filter(has_text=re.compile("[Rr]eplayed"))

    def button(self, name: str) -> Locator:
        """The button of that very name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        """The link of that very name."""
        return self.page.get_by_role("link", name=name, exact=True)

    def heading(self, name: str) -> Locator:
        """The heading of the page, if it has *name* in it."""
        return self.page.get_by_role("heading", level=1, name=name)

    def region(self, name: str) -> Locator:
        """The part of the page of that name."""
        return self.page.get_by_role("region", name=name, exact=True)

    def status(self) -> Locator:
        """What those hear who do not see the page."""
        return self.page.locator("#status")

    def foreign_hosts(self) -> set[str]:
        """Hosts that the page asked anything of, the gateway apart."""
        own = urlsplit(self.world.up.http).netloc
        return {urlsplit(each.url).netloc for each in self.requests} - {own}

    def violations(self) -> list[str]:
        """What the browser refused by the page's own policy."""
        found: list[str] = self.page.evaluate("window.violations ?? []")
        return found

    def overflow(self) -> int:
        """Pixels by which the document is wider than its window."""
        wider: int = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return wider


Opened = Callable[..., AbstractContextManager[Viewing]]
"""Opens a browser's page with the given options, as `viewing` does."""


@contextmanager
def viewing(browser: Browser, world: World, **options: Any) -> Iterator[Viewing]:
    """
    A new person at the viewer; *options* are those of the browser's context.

    At the end the page has talked to nobody but the gateway, broken no policy and left no error uncaught.
    """
    settings = {"viewport": {"width": 1280, "height": 900}, "timezone_id": "UTC", "locale": "en-GB", **options}
    context = browser.new_context(**settings)
    context.set_default_timeout(15_000)
    context.add_init_script(_NOTE_VIOLATIONS)
    person = Viewing(world, context, context.new_page())

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            person.complaints.append(message.text)

    context.on("request", lambda request: person.requests.append(request))  # noqa: PLW0108  # a handler needs attributes
    person.page.on("console", heard)
    person.page.on("pageerror", lambda error: person.complaints.append(str(error)))
    try:
        yield person
        told = {
            "asked other hosts": sorted(person.foreign_hosts()),
            "complained": person.complaints,
            "broke the policy": person.violations(),
        }
        assert not any(told.values()), f"the page {told}"
    finally:
        context.close()
