"""One running system for the whole run, one browser for each module, one page for each test."""

from collections.abc import Iterator

import pytest
from browsing import chromium
from playwright.sync_api import Browser
from tools import needed
from viewer_world import World, running
from viewing import Opened, Viewing, viewing


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A running system with calls of every kind behind it; tests do not write to it."""
    needed("chromium")
    with running(tmp_path_factory.mktemp("viewer")) as system:
        yield system


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser; no longer than a module, since tests of other modules may run loops of their own."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def viewer(browser: Browser, world: World) -> Iterator[Viewing]:
    """A person at the viewer, not signed in, at a wide screen."""
    with viewing(browser, world) as person:
        yield person


@pytest.fixture
def seen(browser: Browser, world: World) -> Opened:
    """Makes a person at a browser with other settings."""
    return lambda **options: viewing(browser, world, **options)
