"""Programs and packages that some tests need and a fresh machine may lack."""

import os
import shutil
from importlib.util import find_spec

import pytest


def needed(program: str) -> str:
    """The path of *program*; without it the test is skipped by name, and with CI=true it fails."""
    path = shutil.which(program)
    if path is None:
        raise _missing(program)
    return path


def needed_package(package: str) -> None:
    """Go on if *package* can be imported; without it the test is skipped by name, and with CI=true it fails."""
    if find_spec(package) is None:
        raise _missing(package)


def _missing(name: str) -> BaseException:
    if os.environ.get("CI") == "true":
        return pytest.fail.Exception(f"{name} is not installed; .ci/run should have installed it")
    return pytest.skip.Exception(f"{name} is not installed")
