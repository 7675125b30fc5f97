"""Dates come out as one instant in UTC, or not at all."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.dates import from_epoch, is_day, to_timestamp

NOW = 1772521200.0  # 2026-03-03T07:00:00Z
RFC3339 = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02t03:04:05.123456789z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05Z"),
        ("2026-01-09T11:00:00+0100", "2026-01-09T10:00:00Z"),
        ("2026-01-01T00:30:00+05:30", "2025-12-31T19:00:00Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
        ("2026-03-03T07:00:00", "2026-03-03T07:00:00Z"),
        ("2026-03-03T07:00:00.25", "2026-03-03T07:00:00Z"),
        ("Mon, 02 Jan 2006 15:04:05 -0700", "2006-01-02T22:04:05Z"),
        ("Mon, 02 Jan 2006 15:04:05 GMT", "2006-01-02T15:04:05Z"),
        ("Mon, 02 Jan 2006 15:04:05 EST", "2006-01-02T20:04:05Z"),
        ("2 Jan 2006 15:04:05 +0000", "2006-01-02T15:04:05Z"),
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05Z"),
        ("2026-01-02", "2026-01-02T00:00:00Z"),
        ("  2026-01-02\n", "2026-01-02T00:00:00Z"),
        ("Jan 2, 2006", "2006-01-02T00:00:00Z"),
        ("January 2, 2006", "2006-01-02T00:00:00Z"),
        ("Sept. 2, 2006", "2006-09-02T00:00:00Z"),
        ("02 Jan 2006", "2006-01-02T00:00:00Z"),
        ("12/31/2006", "2006-12-31T00:00:00Z"),
        ("Mon Jan 05 10:00:00 +0000 2026", "2026-01-05T10:00:00Z"),
        ("20240515", "2024-05-15T00:00:00Z"),
        (20240515, "2024-05-15T00:00:00Z"),
        ("20190101001500", "2019-01-01T00:15:00Z"),
        ("2024/07/08 00:00", "2024-07-08T00:00:00Z"),
        ("2024 Jul 8", "2024-07-08T00:00:00Z"),
        ("09.01.2026", "2026-01-09T00:00:00Z"),
    ],
)
def test_a_date_of_every_known_form_becomes_an_instant(text: object, expected: str) -> None:
    assert to_timestamp(text, NOW) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 second ago", "2026-03-03T06:59:59Z"),
        ("59 minutes ago", "2026-03-03T06:01:00Z"),
        ("3 mins ago", "2026-03-03T06:57:00Z"),
        ("2 hrs ago", "2026-03-03T05:00:00Z"),
        ("9 Hours ago", "2026-03-02T22:00:00Z"),
        ("3 days ago", "2026-02-28T07:00:00Z"),
        ("1 week ago", "2026-02-24T07:00:00Z"),
        ("1 month ago", "2026-02-03T07:00:00Z"),
        ("14 months ago", "2025-01-03T07:00:00Z"),
        ("2 years ago", "2024-03-03T07:00:00Z"),
        ("0 days ago", "2026-03-03T07:00:00Z"),
        ("30s", "2026-03-03T06:59:30Z"),
        ("5m", "2026-03-03T06:55:00Z"),
        ("5h", "2026-03-03T02:00:00Z"),
        ("5d", "2026-02-26T07:00:00Z"),
        ("5w", "2026-01-27T07:00:00Z"),
        ("5mo", "2025-10-03T07:00:00Z"),
        ("5y", "2021-03-03T07:00:00Z"),
    ],
)
def test_a_distance_counts_back_from_the_given_now(text: str, expected: str) -> None:
    assert to_timestamp(text, NOW) == expected


def test_a_month_step_lands_on_the_last_day_of_a_shorter_month() -> None:
    end_of_march = 1774940400.0  # 2026-03-31T07:00:00Z

    assert to_timestamp("1 month ago", end_of_march) == "2026-02-28T07:00:00Z"


def test_a_year_step_from_a_leap_day_lands_on_the_day_before() -> None:
    leap_day = 1709190000.0  # 2024-02-29T07:00:00Z

    assert to_timestamp("1y", leap_day) == "2023-02-28T07:00:00Z"
    assert to_timestamp("4y", leap_day) == "2020-02-29T07:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "soon", "2026", "2026-01", "2026-02-30", "2026-13-01", "31/12/2006", "2026-1-2",
        "02 Foo 2006", "Mon, 02 Jan 2006 15:04:05 XYZ", "2026-01-02T25:00:00Z", "2026-01-02T03:04:61Z",
        "2026-01-02T03:04:05+24:00", "5 decades ago", "5M", "5 parsecs ago", "999999999 years ago", "99999999mo",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "1772521200", "2026-01-02 to 2026-01-05",
        "٢٠٢٦-01-02", "2024 Spring", "2023 Nov-Dec", 1.5, True, None, [2026],
    ],
)  # fmt: skip
def test_what_is_not_one_certain_instant_is_nothing(text: object) -> None:
    assert to_timestamp(text, NOW) is None


def test_a_number_too_long_to_write_is_nothing() -> None:
    assert to_timestamp(10**5000, NOW) is None


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1e300, 1e300])
def test_a_broken_clock_spoils_only_what_depends_on_it(now: float) -> None:
    assert to_timestamp("5 days ago", now) is None
    assert to_timestamp("2026-01-02", now) == "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2020-02-29", True),
        ("2021-02-29", False),
        ("2020-13-45", False),
        ("2020", True),
        ("0000", False),
        ("0000-01-01", False),
        ("", False),
        ("soon", False),
    ],
)
def test_a_day_is_one_that_the_calendar_has(text: str, found: bool) -> None:
    assert is_day(text) is found


def test_seconds_since_1970_become_an_instant() -> None:
    assert from_epoch(NOW) == "2026-03-03T07:00:00Z"
    assert from_epoch(-1) == "1969-12-31T23:59:59Z"
    assert from_epoch(1e300) is None
    assert from_epoch(float("nan")) is None


_PIECES = st.sampled_from(
    ["Mon", ", ", "02", "Jan", "2006", " ", "15:04:05", "-0700", "GMT", "T", "Z", "5", "days", "ago", "mo", "/", "."]
)


@given(
    st.one_of(st.text(), st.integers(), st.floats(), st.lists(_PIECES, max_size=12).map("".join)),
    st.one_of(st.floats(), st.floats(min_value=0, max_value=4e9)),
)
def test_whatever_comes_in_an_instant_or_nothing_comes_out(text: object, now: float) -> None:
    found = to_timestamp(text, now)

    assert found is None or RFC3339.fullmatch(found)
    assert to_timestamp(found, now) == found


@given(st.datetimes())
def test_an_instant_survives_every_way_of_writing_it(moment: object) -> None:
    written = str(moment)[:19]

    assert to_timestamp(written, NOW) == to_timestamp(written.replace(" ", "T") + "Z", NOW) is not None


@given(
    st.from_regex(r"[0-2][0-9]{3}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9][Zz]?)?", fullmatch=True)
)
def test_the_short_way_for_what_most_upstreams_write_gives_what_the_long_one_does(text: str) -> None:
    # Blanks around a date are no part of it, and nothing that has them goes the short way.
    assert to_timestamp(text, NOW) == to_timestamp(f" {text}", NOW)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("vor einer Stunde", 3600),
        ("Vor 2 Wochen", 14 * 86_400),
        ("hace 5 minutos", 300),
        ("il y a 3 heures", 3 * 3600),
        ("há 2 dias", 2 * 86_400),
        ("un'ora fa", 3600),
        ("3 uur geleden", 3 * 3600),
        ("för 2 timmar sedan", 2 * 3600),
        ("3 timer siden", 3 * 3600),
        ("for 4 uker siden", 28 * 86_400),
        ("2 tuntia sitten", 2 * 3600),
        ("5 dni temu", 5 * 86_400),
        ("před 2 hodinami", 2 * 3600),
        ("2 часа назад", 2 * 3600),
        ("3 години тому", 3 * 3600),
        ("2 gün önce", 2 * 86_400),
        ("5 menit yang lalu", 300),
        ("3 giờ trước", 3 * 3600),
        ("3時間前", 3 * 3600),
        ("2 小时前", 2 * 3600),
        ("10분 전", 600),
        ("πριν από 2 ώρες", 2 * 3600),
        ("gestern", 86_400),
        ("只今", None),
        ("вчера", 86_400),
        ("just now", 0),
        ("vor 3 hours", None),
        ("vor 3 Stunden und mehr", None),
        ("3 Stunden", None),
        ("vor Stunden", None),
        ("il y a 3 heures ago", None),
    ],
)
def test_how_long_ago_is_read_in_the_words_of_one_language(text: str, seconds: int | None) -> None:
    found = to_timestamp(text, 1_764_000_000.0)

    assert found == (from_epoch(1_764_000_000.0 - seconds) if seconds is not None else None)


def test_months_and_years_of_other_languages_are_those_of_the_calendar() -> None:
    now = 1_764_000_000.0

    assert to_timestamp("vor 2 Monaten", now) == to_timestamp("2 months ago", now)
    assert to_timestamp("il y a un an", now) == to_timestamp("1 year ago", now)
