"""A running system for the tests of a module."""

import signal
from collections.abc import Iterator

import pytest
from running_telha import Up, start


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One system for the tests of a module, with the documents of this repository in it."""
    running = start(tmp_path_factory.mktemp("up"))
    try:
        done = running.run("ingest", "docs/", "README.md", "--json")
        assert done.code == 0, done.err
        yield running
    finally:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
