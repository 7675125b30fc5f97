"""DataCite as recorded between 2025 and 2026: single works, and a page of a list."""

from __future__ import annotations

import base64
import json

from tests.support.recordings import recorded, replay


def test_a_preprint_has_its_people_year_archive_and_page() -> None:
    rows, requests = replay(
        "datacite", "work", {"doi": "10.48550/arxiv.2311.16162"}, recorded("datacite/doi-arxiv-preprint.json")
    )

    assert [request["get"] for request in requests] == ["https://api.datacite.org/dois/10.48550%2Farxiv.2311.16162"]
    [row] = rows
    assert row["doi"] == "10.48550/arxiv.2311.16162"
    assert row["authors"][:2] == ["Yin, Hui", "Aryani, Amir"]
    assert (row["year"], row["venue"], row["type"]) == (2023, "arXiv", "Preprint")
    assert row["url"] == "https://arxiv.org/abs/2311.16162"
    assert "organisations" not in row
    assert "<" not in row["abstract"]


def test_a_data_set_and_software_are_works_too() -> None:
    [data] = replay("datacite", "work", {"doi": "10.5061/dryad.8515"}, recorded("datacite/doi-dataset-dryad.json"))[0]
    [software] = replay(
        "datacite", "work", {"doi": "10.5281/zenodo.48440"}, recorded("datacite/doi-zenodo-multiple-identifiers.json")
    )[0]

    assert data["title"] == "Data from: A new malaria agent in African hominids."
    assert (data["year"], data["type"]) == (2011, "Dataset")
    assert (software["year"], software["type"], software["authors"]) == (2016, "Software", ["Garza, Kristian"])


def test_every_work_of_a_list_has_its_doi_and_title() -> None:
    body = recorded("datacite/dois-list-page1.txt")
    text = body if body.lstrip().startswith(b"{") else base64.b64decode(body)
    listed = json.loads(text)["data"]

    rows, _ = replay("datacite", "works", {"dois": [one["id"] for one in listed][:25]}, {"data": listed[:25]})

    assert [row["doi"] for row in rows] == [one["attributes"]["doi"] for one in listed[:25]]
    assert all(row["title"] and row["year"] for row in rows)
