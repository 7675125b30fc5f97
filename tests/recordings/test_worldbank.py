"""Rows of the World Bank as somebody recorded them; the page object before them was not recorded and is put in here."""

from __future__ import annotations

import json
from typing import Any

from tests.support.recordings import recorded, replay


def paged(name: str) -> list[Any]:
    """The recorded rows as the API sends them: behind the facts about the page."""
    rows = json.loads(recorded(name))
    return [{"page": 1, "pages": 1, "per_page": "1000", "total": len(rows)}, rows]


def test_the_latest_years_come_first_and_a_null_is_not_available() -> None:
    args = {"series_id": "NY.GDP.MKTP.CD", "country": "US", "num_results": 3}
    rows, requests = replay("worldbank", "observations", args, paged("worldbank/rows-country-indicator.json"))

    assert [request["get"] for request in requests] == [
        "https://api.worldbank.org/v2/country/US/indicator/NY.GDP.MKTP.CD"
    ]
    series = {"series_id": "NY.GDP.MKTP.CD", "title": "GDP (current US$) — United States"}
    assert rows == [
        {**series, "date": "2023", "available": False},
        {**series, "date": "2022", "value": 25439700000000, "available": True},
        {**series, "date": "2021", "value": 23315080560000, "available": True},
    ]


def test_from_a_first_year_the_oldest_come_first() -> None:
    args = {"series_id": "NY.GDP.MKTP.CD", "country": "US", "date_from": "1960-01-01"}
    rows, _ = replay("worldbank", "observations", args, paged("worldbank/rows-country-indicator.json"))

    assert len(rows) == 64
    assert [row["date"] for row in rows] == [str(year) for year in range(1960, 2024)]
    assert rows[0]["value"] == 543300000000


def test_indicators_are_found_by_words_and_shorter_names_come_first() -> None:
    args = {"query": "poverty headcount rural", "num_results": 9}
    rows, _ = replay("worldbank", "series", args, paged("worldbank/rows-indicator.json"))

    assert [(row["series_id"], row["title"]) for row in rows] == [
        ("1.1.HCount.Poor4uds", "Poverty Headcount ($4 a day)-Rural"),
        ("1.1.HCount.1.90usd", "Poverty Headcount ($1.90 a day)-Rural"),
        ("1.1.HCount.2.5usd", "Poverty Headcount ($2.50 a day)-Rural"),
    ]
    assert rows[1]["notes"].startswith("The poverty headcount index measures the proportion of the population")
    assert not [row for row in rows if "units" in row]


def test_one_word_may_be_a_part_of_a_word() -> None:
    rows, _ = replay(
        "worldbank", "series", {"query": "electric", "num_results": 9}, paged("worldbank/rows-indicator.json")
    )

    assert [row["title"] for row in rows] == [
        "Access to electricity (% of total population)",
        "Access to electricity (% of rural population)",
    ]
