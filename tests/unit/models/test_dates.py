"""Which days a question names."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telha_planner.core.request import INT64_MAX, INT64_MIN
from telha_planner.models.dates import named_days

ASKED = int(datetime(2024, 1, 15, 9, tzinfo=UTC).timestamp()) * 1_000_000


def told(question: str, asked: int = ASKED) -> list[str]:
    """Each date as it would be written."""
    return [_written(*days) for days in named_days(question, asked)]


def _written(first: date, behind: date) -> str:
    if behind - first == timedelta(1):
        return first.isoformat()
    assert first.day == behind.day == 1
    if behind.year - first.year == 1 and first.month == behind.month == 1:
        return str(first.year)
    assert behind == (first + timedelta(31)).replace(day=1)
    return f"{first:%Y-%m}"


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What did Tim say on 8th December, 2023?", ["2023-12-08"]),
        ("who came on December 1,2023", ["2023-12-01"]),
        ("before Nov 3 2022?", ["2022-11-03"]),
        ("between August 11 and August 15 2023", ["2023-08-11", "2023-08-15"]),
        ("the week before the 16th of November 2023", ["2023-11-16"]),
        ("in May 2022", ["2022-05"]),
        ("what happened in 2021", ["2021"]),
        ("O que disse a Ana em 8 de dezembro de 2023?", ["2023-12-08"]),
        ("no dia 1º de maio", ["2023-05-01"]),
        ("em março", ["2023-03"]),
        ("¿Qué pasó el 1 de mayo de 2022?", ["2022-05-01"]),
        ("Que s'est-il passé le 1er août 2023 ?", ["2023-08-01"]),
        ("Was war am 8. Dezember 2023?", ["2023-12-08"]),
        ("Was geschah im März?", ["2023-03"]),
        ("小明2023年12月8日说了什么？", ["2023-12-08"]),
        ("１２月８日は何をしましたか", ["2023-12-08"]),
        ("五月三十一号去了哪里", ["2023-05-31"]),
        ("2022年に何がありましたか", ["2022"]),
        ("十二月买了什么", ["2023-12"]),
        ("on 2024-01-07", ["2024-01-07"]),
        ("am 25.12.2023", ["2023-12-25"]),
        ("on 03/05/2023", ["2023-03-05", "2023-05-03"]),
        ("on 29 February", ["2020-02-29"]),
        ("in January, and on 20 January", ["2023-01-20", "2024-01"]),
    ],
)
def test_dates_are_read_in_seven_languages(question, days):
    """R2: day, month or year, whatever is said; a date without a year is the last that had begun."""
    assert told(question) == days


@pytest.mark.parametrize(
    "question",
    [
        "May I come?", "They march on", "How much is 2023 euros?", "version 2023.5", "from 1990-1995", "一个月花多少钱",
        "这2月间", "on 31 February 2023", "on 2023-02-30", "0/0/2023", "on 12.34.2023", "", "Mai Nguyen",
        "x2023-01-012",
    ],
)  # fmt: skip
def test_what_is_no_date_names_nothing(question):
    """R2: words and numbers that mean other things, and days that no calendar has."""
    assert told(question) == []


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet=st.sampled_from(list("0123456789-/.年月日号十三五 mayinofde，à")), max_size=120),
    asked=st.sampled_from([INT64_MIN, -1, 0, ASKED, INT64_MAX]),
)
def test_any_question_at_any_instant_is_read(text, asked):
    """R2, S7: nothing raises; what is found is in order, distinct, bounded, and made of days."""
    days = named_days(text, asked)
    assert list(days) == sorted(set(days))
    assert len(days) <= 16
    assert all(one.first < one.behind for one in days)


def test_a_long_question_is_read_in_bounded_time():
    """R2: only its beginning is looked at, so that a date behind it names nothing."""
    assert told("1 " * 1_023 + "on 8 May 2023") == []
    assert told(" " * 2_030 + "on 8 May 2023") == ["2023-05-08"]
