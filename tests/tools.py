"""Programs and packages that some tests need and a fresh machine may lack."""

import os
import shutil
from importlib.util import find_spec

import pytest


def needed(program: str) -> str:
    """The path of *program*; without it the test is skipped by name, and with CI=true it fails."""
    path = shutil.which(program)
    if path is None:
        raise missing(f"{program} is not installed")
    return path


def needed_package(package: str) -> None:
    """Go on if *package* can be imported; without it the test is skipped by name, and with CI=true it fails."""
    if find_spec(package) is None:
        raise missing(f"{package} is not installed")


def missing(what: str) -> BaseException:
    """What to raise where a test cannot be made, for the reason *what*: a skip, and with CI=true a failure."""
    if os.environ.get("CI") == "true":
        return pytest.fail.Exception(f"{what}; .ci/run should have seen to it")
    return pytest.skip.Exception(what)
