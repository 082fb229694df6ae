from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telha_gateway.faults import RequestFault
from telha_gateway.instants import INT64_MAX, INT64_MIN, instant, parameter_instant

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("2026-06-01T12:00:00Z", 1780315200000000),
        ("2026-06-01T14:00:00+02:00", 1780315200000000),
        ("2026-06-01T06:30:00.5-05:30", 1780315200500000),
        ("2024-02-29T00:00:00.000001Z", 1709164800000001),
        ("0001-01-01T00:00:00+14:00", -62135596800000000 - 14 * 3600 * 1_000_000),
        ("9999-12-31T23:59:59.999999-12:00", 253402300799999999 + 12 * 3600 * 1_000_000),
    ],
)
def test_an_rfc_3339_time_is_exact_microseconds(text, micros):
    """C3: RFC 3339 times are read to the microsecond, before 1970 and at the calendar's ends too."""
    assert instant(text, "/window/validTime") == micros


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("2026-06-01T12:00:00", "must carry an offset, such as Z or +02:00"),
        ("2026-06-01T12:00:00.1234567Z", "must not be finer than a microsecond"),
        ("2026-02-30T12:00:00Z", "must be an instant that exists"),
        ("2026-06-01T24:00:00Z", "must be an instant that exists"),
        ("2016-12-31T23:59:60Z", "must be an instant that exists"),
        ("0000-01-01T00:00:00Z", "must be an instant that exists"),
        ("2026-06-01T12:00:00+24:00", "must be an instant that exists"),
        ("2026-06-01T12:00:00+02:60", "must be an instant that exists"),
        ("2026-06-01", "RFC 3339"),
        ("2026-06-01 12:00:00Z", "RFC 3339"),
        ("2026-06-01T12:00Z", "RFC 3339"),
        ("2026-06-01T12:00:00.Z", "RFC 3339"),
        ("٢٠٢٦-06-01T12:00:00Z", "RFC 3339"),
        ("1780315200000000", "RFC 3339"),
        ("2026-06-01T12:00:00Z\n", "RFC 3339"),
        ("", "RFC 3339"),
    ],
)
def test_what_is_no_exact_instant_is_refused_with_the_rule(text, rule):
    """M1: naive, sub-microsecond and impossible times are refused, never rounded."""
    with pytest.raises(RequestFault) as refused:
        instant(text, "/window/txTime")
    assert refused.value.pointer == "/window/txTime"
    assert rule in refused.value.rule


@given(st.integers(-62135596800000000, 253402300799999999), st.integers(-1439, 1439))
def test_any_instant_reads_back_from_any_offset(micros, minutes):
    """A2: any instant reads back from any offset."""
    moment = EPOCH + timedelta(microseconds=micros)
    try:
        text = moment.astimezone(timezone(timedelta(minutes=minutes))).isoformat()
    except OverflowError:
        return
    assert instant(text, "") == micros


def test_whole_microseconds_pass_within_64_bits():
    """A2: whole microseconds pass within 64 bits."""
    assert instant(INT64_MIN, "") == INT64_MIN
    assert instant(INT64_MAX, "") == INT64_MAX
    for beyond in (INT64_MIN - 1, INT64_MAX + 1):
        with pytest.raises(RequestFault, match="64 bits"):
            instant(beyond, "/x")


def test_a_parameter_takes_digits_or_rfc_3339():
    """A2: a parameter takes digits or RFC 3339."""
    assert parameter_instant("1780315200000000", "/from") == 1780315200000000
    assert parameter_instant("-1", "/from") == -1
    assert parameter_instant("2026-06-01T12:00:00Z", "/from") == 1780315200000000
    with pytest.raises(RequestFault):
        parameter_instant("99999999999999999999", "/from")
    with pytest.raises(RequestFault):
        parameter_instant("2026-06-01T14:00:00 02:00", "/from")
