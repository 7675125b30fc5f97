"""PubMed: searches as recorded on 2026-08-06, and records of several years."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from specloom.model.values import Row
from tests.support.recordings import recorded, replay


def records(name: str) -> list[Row]:
    """The rows of recorded records, after a recorded search that leads to them."""
    found = recorded("pubmed/esearch-json-quoted-phrases.json")
    return replay("pubmed", "scholarly", {"query": "x"}, {"found": found, "main": recorded(f"pubmed/{name}.xml")})[0]


def test_the_ids_of_a_search_are_asked_for_in_its_order() -> None:
    body = {"found": recorded("pubmed/esearch-json.json"), "main": recorded("pubmed/efetch-two-articles.xml")}
    rows, requests = replay("pubmed", "scholarly", {"query": "APC p.E1317Q"}, body)

    ids = requests[1]["query"]["id"].split(",")

    assert [request["get"].rpartition("/")[2] for request in requests] == ["esearch.fcgi", "efetch.fcgi"]
    assert len(ids) == 100
    assert ids[:3] == ["42555032", "42553597", "42553430"]
    assert len(rows) == 2


def test_an_old_record_may_have_neither_abstract_nor_doi() -> None:
    rows = records("efetch-two-articles")

    assert rows[0] == {
        "title": "The treatment of AIDS behind the walls of correctional facilities",
        "url": "https://pubmed.ncbi.nlm.nih.gov/12091962/",
        "authors": ["J Michael Olivero"],
        "journal": "Social justice (San Francisco, Calif.)",
        "year": 1990,
        "type": "review",
    }
    assert rows[1]["doi"] == "10.1016/0005-2795(76)90109-4"
    assert rows[1]["year"] == 1976
    assert rows[1]["abstract"].endswith("a mechanism for heme-flavin interaction.")


@pytest.mark.parametrize(
    ("name", "doi", "first", "authors", "year", "free"),
    [
        ("efetch-html-in-title", "10.3389/fphys.2018.01034", "Ibai Garcia-Tabar", 2, 2018, True),
        ("efetch-mixed-markup", "10.1136/gutjnl-2016-312510", "Ying Bao", 22, 2017, True),
        ("efetch-pmid-24349601", "10.1037/a0030292", "Jan-Emmanuel De Neve", 4, 2012, True),
        ("efetch-pmid-31789841", "10.1097/ACM.0000000000003093", "Yoon Soo Park", 3, 2020, None),
        ("efetch-pmid-34995163", "10.1152/ajpheart.00590.2021", "Ian M Greenlund", 2, 2022, True),
        ("efetch-pmid-38801034", "10.5811/westjem.18320", "Jacqueline J Mahal", 5, 2024, True),
    ],
)
def test_the_doi_is_the_records_own_and_what_lies_in_pubmed_central_is_free(
    name: str, doi: str, first: str, authors: int, year: int, free: bool | None
) -> None:
    (row,) = records(name)

    assert row["doi"] == doi
    assert row["authors"][0] == first
    assert len(row["authors"]) == authors
    assert row["year"] == year
    assert row.get("open_access") is free


def test_markup_in_a_title_and_labels_of_an_abstract_become_plain_text() -> None:
    (old,) = records("efetch-html-in-title")
    (labelled,) = records("efetch-mixed-markup")

    assert old["title"].startswith('A "Blood Relationship" Between the Overlooked Minimum Lactate Equivalent and')
    assert labelled["title"].startswith("Leucocyte telomere length, genetic variants at the TERT gene region")
    assert labelled["abstract"].startswith("OBJECTIVE: Telomere shortening occurs as an early event")
    assert " CONCLUSION: " in labelled["abstract"] or " CONCLUSIONS: " in labelled["abstract"]


def test_throttling_is_known_by_its_body() -> None:
    with pytest.raises(Fault) as caught:
        replay("pubmed", "scholarly", {"query": "x"}, recorded("pubmed/error-rate-limit-esummary-json.json"))

    assert caught.value.kind == "rate_limited"
