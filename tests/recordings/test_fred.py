"""FRED as recorded on 2024-11-03."""

from __future__ import annotations

import json

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

KEY = {"FRED_API_KEY": "k"}
SEARCH = "fred/series-search-first-15.json"
GDP = "fred/series-observations-gdp.json"


def test_series_are_ranked_by_the_words_in_their_titles() -> None:
    args = {"query": "real user cost", "num_results": 15}
    rows, requests = replay("fred", "series", args, recorded(SEARCH), config=KEY)

    assert [request["get"] for request in requests] == ["https://api.stlouisfed.org/fred/series/search"]
    assert len(rows) == 15
    assert [row["series_id"] for row in rows[:6]] == ["OCM2P", "OCMZMP", "OCM2A", "OCM2MP", "OCALLA", "MSIM2"]
    assert [row["popularity"] for row in rows[:6]] == [6, 3, 2, 2, 2, 19]
    assert [row["matches"] for row in rows[4:6]] == [3, 0]


def test_a_series_has_its_units_its_frequency_and_the_instant_of_its_update() -> None:
    rows, _ = replay(
        "fred", "series", {"query": "monetary services index m2", "num_results": 1}, recorded(SEARCH), config=KEY
    )

    (row,) = rows
    notes = row.pop("notes")
    assert row == {
        "series_id": "MSIM2",
        "title": "Monetary Services Index: M2 (preferred)",
        "units": "Billions of Dollars",
        "frequency": "Monthly",
        "last_updated": "2014-01-17T13:16:44Z",
        "popularity": 19,
        "matches": 4,
    }
    assert notes.startswith(
        "The MSI measure the flow of monetary services received each period by households and firms"
    )
    assert len(notes) <= 500
    assert "\n" not in notes


def test_every_series_was_updated_at_a_known_time() -> None:
    rows, _ = replay("fred", "series", {"query": "x", "num_results": 15}, recorded(SEARCH), config=KEY)

    updated = {row["series_id"]: row["last_updated"] for row in rows}
    assert updated["IPUTN722511U120000000"] == "2024-04-26T14:04:03Z"
    assert len(updated) == 15


def test_observations_are_numbers_as_written_and_dots_are_not_available() -> None:
    rows, _ = replay("fred", "observations", {"series_id": "GDP", "date_from": "1946"}, recorded(GDP), config=KEY)

    assert len(rows) == 315
    assert rows[0] == {"series_id": "GDP", "date": "1946-01-01", "available": False}
    assert rows[4] == {"series_id": "GDP", "date": "1947-01-01", "value": 243.164, "available": True}
    assert rows[-1] == {"series_id": "GDP", "date": "2024-07-01", "value": 29349.924, "available": True}
    assert sum(not row["available"] for row in rows) == 4


def test_no_number_is_rounded() -> None:
    body = recorded(GDP)
    rows, _ = replay("fred", "observations", {"series_id": "GDP"}, body, config=KEY)

    written = [one["value"] for one in json.loads(body)["observations"]]
    assert [float(text) for text in written if text != "."] == [row["value"] for row in rows if row["available"]]


@pytest.mark.parametrize(
    ("operation", "name", "key"), [("series", SEARCH, "seriess"), ("observations", GDP, "observations")]
)
def test_a_renamed_list_is_a_changed_layout_and_an_empty_one_an_answer(operation: str, name: str, key: str) -> None:
    body = json.loads(recorded(name))
    args = {"query": "x", "series_id": "X"}

    with pytest.raises(Fault) as caught:
        replay("fred", operation, args, {**body, key: None, "renamed": body[key]}, config=KEY)
    rows, _ = replay("fred", operation, args, {**body, key: []}, config=KEY)

    assert caught.value.kind == "layout_changed"
    assert rows == []
