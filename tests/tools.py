"""Programs that some tests need and a fresh machine may lack."""

import os
import shutil

import pytest


def needed(program: str) -> str:
    """The path of *program*; without it the test is skipped by name, and with CI=true it fails."""
    path = shutil.which(program)
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{program} is not installed; .ci/run should have installed it")
        pytest.skip(f"{program} is not installed")
    return path
