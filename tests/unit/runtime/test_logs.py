"""Logs: one JSON line per event on standard error, whoever logs."""

import json
import logging
import warnings
from collections.abc import Iterator

import pytest
import structlog
from telha_runtime import logs


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return [json.loads(line) for line in captured.err.splitlines()]


def test_structlog_and_the_standard_library_write_the_same_kind_of_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A8: structured logs with request id."""
    logs.configure("planner", "info", "json")
    structlog.contextvars.bind_contextvars(request_id="r1")
    structlog.get_logger("a").info("started", port=7340)
    logging.getLogger("b").warning("said %s", "so")
    structlog.get_logger("a").debug("never")
    first, second = lines(capsys)
    assert (first["event"], first["port"], first["service"], first["level"]) == ("started", 7340, "planner", "info")
    assert (second["event"], second["service"], second["logger"]) == ("said so", "planner", "b")
    assert first["request_id"] == second["request_id"] == "r1"
    assert str(first["timestamp"]).endswith("Z")


def test_an_exception_stands_in_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A8: an exception stands in its line."""
    logs.configure("planner", "info", "json")
    try:
        raise ValueError("boom")
    except ValueError:
        structlog.get_logger().exception("failed")
    (line,) = lines(capsys)
    assert "ValueError: boom" in str(line["exception"])


def test_warnings_become_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """A8: warnings become lines."""
    logs.configure("writer", "info", "json")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", UserWarning, stacklevel=1)
    assert "old" in str(lines(capsys)[0]["event"])


def test_the_console_format_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """A8: the console format is for people."""
    logs.configure("writer", "info", "console")
    structlog.get_logger().info("started", port=1)
    text = capsys.readouterr().err
    assert "started" in text
    assert "port=1" in text


def test_a_traceback_for_people_shows_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    """A8: a question or a key in a local variable never reaches a log."""
    logs.configure("planner", "info", "console")

    def fail(credential: str) -> None:
        raise RuntimeError(str(len(credential)))

    try:
        fail("telha_" + "s" * 10)
    except RuntimeError:
        structlog.get_logger("a").exception("failed")
    told = capsys.readouterr().err
    assert "RuntimeError: 16" in told
    assert "ssssssssss" not in told
