"""A data set of Eurostat; the recording is of unknown origin and good for the shape only."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_a_cube_of_one_cell_is_one_observation() -> None:
    args = {"series_id": "nama_10_gdp", "country": "EU27_2020", "num_results": 1}
    rows, requests = replay("eurostat", "observations", args, recorded("eurostat/unverified-gdp-eu27.json"))

    assert [request["query"] for request in requests] == [
        {"format": "JSON", "lang": "EN", "geo": "EU27_2020", "lastTimePeriod": "1"}
    ]
    assert rows == [
        {
            "series_id": "nama_10_gdp",
            "date": "2020",
            "value": 11946518.0,
            "available": True,
            "title": "Gross domestic product (GDP) and main components (output, expenditure and income)",
            "units": "Chain linked volumes (2010), million euro",
            "series_total": 1,
        }
    ]
