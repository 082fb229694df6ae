"""Instants on the command line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_cli import instants
from telha_cli.problems import UsageInvalid


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T19:00:00-05:00", 0),
        ("1969-12-31t23:59:59.5z", -500_000),
        ("2026-06-30T12:00:00Z", 1_782_820_800_000_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
        ("0", 0),
        ("-1", -1),
        ("9223372036854775806", 2**63 - 2),
    ],
)
def test_an_instant_is_read_exactly(text: str, micros: int) -> None:
    """M1: RFC 3339 or microseconds, to the microsecond."""
    assert instants.parse("--valid-at", text) == micros


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("2026-06-30T12:00", "must say its offset from UTC"),
        ("2026-06-30", "must say its offset from UTC"),
        ("2026-06-30T12:00:00", "must say its offset from UTC"),
        ("2026-06-30T12:00:00.1234567Z", "must not be finer than a microsecond"),
        ("2026-06-30T12:00:00.0000000Z", "must not be finer than a microsecond"),
        ("2026-02-30T12:00:00Z", "must exist on the calendar and the clock"),
        ("2026-06-30T25:00:00Z", "must exist on the calendar and the clock"),
        ("2026-06-30T12:00:60Z", "must exist on the calendar and the clock"),
        ("2026-06-30T12:00:00+25:00", "must exist on the calendar and the clock"),
        ("9223372036854775807", "must be within 64 bits of microseconds"),
        (
            "2026",
            "must be an instant such as 2026-06-30T12:00:00Z; in microseconds, 2026 is 1970-01-01T00:00:00.002026Z",
        ),
        ("20260630", "must be an instant such as"),
        ("1782820800", "must be an instant such as"),
        ("1782820800000", "must be an instant such as"),
        ("1e15", "must be an instant such as"),
        ("٢٠٢٦", "must be an instant such as"),
        ("", "must be an instant such as"),
        ("yesterday", "must be an instant such as"),
    ],
)
def test_what_is_not_one_instant_is_refused(text: str, rule: str) -> None:
    """M1: naive, sub-microsecond and impossible instants are refused, with field and rule."""
    with pytest.raises(UsageInvalid, match=f"^--valid-at {rule}") as caught:
        instants.parse("--valid-at", text)
    assert caught.value.exit_code == 2


@given(st.integers(min_value=-62_135_596_800_000_000, max_value=253_402_300_799_999_999))
@settings(max_examples=200, deadline=None)
def test_what_is_shown_reads_back(micros: int) -> None:
    """M1: showing an instant loses nothing."""
    assert instants.parse("x", instants.show(micros)) == micros


def test_an_instant_beyond_the_calendar_is_shown_as_a_number() -> None:
    """A3: an instant beyond the calendar is shown as a number."""
    assert instants.show(2**62) == str(2**62)
    assert instants.show(None) == "open"
