"""Fixtures: one gateway for the whole run, before one scripted planner."""

import httpx
import pytest
from gateway_server import Script, running
from rest_contract import check

KEY = {"authorization": "Bearer telha_key"}
"""The scripted planner takes any key; the gateway asks for one."""
HOOKS = {"response": [check]}


@pytest.fixture(scope="session")
def _shared():
    script = Script()
    with (
        running(script, timeout_ms=60_000, max_body_bytes=64 * 1024) as url,
        httpx.Client(base_url=url, headers=KEY, timeout=60, event_hooks=HOOKS) as client,
    ):
        yield script, client


@pytest.fixture
def script(_shared):
    """The script of the shared gateway, blank."""
    blank = Script()
    shared = _shared[0]
    shared.__dict__.update(blank.__dict__)
    return shared


@pytest.fixture
def rest(_shared, script):
    """A client of the shared gateway (a minute, 64 KiB)."""
    return _shared[1]
