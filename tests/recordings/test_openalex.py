"""OpenAlex as recorded between 2025-09-11 and 2026-07-23."""

from __future__ import annotations

import json

import pytest

from tests.support.recordings import recorded, replay

CONFIG = {"OPENALEX_EMAIL": "ann@example.org"}
ARGS = {"query": "anything"}
OTHER_PLACE = "https://iris.unil.ch/bitstreams/abf43caa-cbb7-44b3-85ac-d9849f3a24f0/download"
"""A PDF that only a further location of a work has."""


def test_a_sample_of_works_gives_a_row_each_with_what_is_known() -> None:
    rows, requests = replay("openalex", "scholarly", ARGS, recorded("openalex/works-sample-5.json"), config=CONFIG)

    assert [request["get"] for request in requests] == ["https://api.openalex.org/works"]
    assert len(rows) == 5
    assert rows[1] == {
        "title": "Survey of Cultural Resources for William Perlman's Proposed Southern Ute No. 20-1B Well Site, "
        "Southern Ute Reservation, Colorado",
        "url": "https://core.tdar.org/document/108679/survey-of-cultural-resources-for-william-perlmans-proposed-"
        "southern-ute-no-20-1b-well-site-southern-ute-reservation-colorado",
        "authors": ["Jamie A. Karlson", "Robert W. Biggs"],
        "year": 1982,
        "published_on": "1982-01-01",
        "type": "article",
        "language": "en",
        "citation_count": 0,
        "open_access": False,
    }
    assert rows[4]["doi"] == "10.1016/j.landusepol.2004.08.009"
    assert rows[4]["url"] == "https://doi.org/10.1016/j.landusepol.2004.08.009"
    assert rows[4]["authors"] == ["Maria Franca Norese"]
    assert rows[4]["journal"] == "Land Use Policy"
    assert rows[4]["citation_count"] == 106
    assert ["doi" in row for row in rows] == [False, False, True, False, True]


def test_an_abstract_is_put_together_from_its_index() -> None:
    body = recorded("openalex/works-filter-title-search.json")
    rows, _ = replay("openalex", "scholarly", ARGS, body, config=CONFIG)

    assert len(rows) == 1
    assert rows[0]["doi"] == "10.1063/1.4938384"
    assert rows[0]["authors"] == ["Michael Skarlinski", "David J. Quesnel"]
    assert rows[0]["year"] == 2015
    assert rows[0]["citation_count"] == 9
    assert rows[0]["abstract"].startswith("Metal-oxide layers are likely to be present on metallic nano-structures due")
    assert rows[0]["abstract"].endswith("reduces the activation volume for yielding.")


@pytest.mark.parametrize(
    ("name", "doi", "first", "journal", "year", "cited", "pdf"),
    [
        (
            "work-journal-article",
            "10.1371/journal.pone.0000030",
            "Markus Ralser",
            "PLoS ONE",
            2006,
            85,
            "https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.0000030&type=printable",
        ),
        ("work-article-elife", "10.7554/elife.01567", "Martial Sankar", "eLife", 2014, 45, OTHER_PLACE),
        (
            "work-preprint",
            "10.1101/097196",
            "Martin Fenner",
            "bioRxiv (Cold Spring Harbor Laboratory)",
            2016,
            21,
            "https://www.biorxiv.org/content/biorxiv/early/2017/10/09/097196.full.pdf",
        ),
        (
            "work-with-orcid",
            "10.1155/2012/291294",
            "Wendy Thanassi",
            "Pulmonary Medicine",
            2012,
            42,
            "https://downloads.hindawi.com/journals/pm/2012/291294.pdf",
        ),
    ],
)
def test_a_whole_work_reads_like_one_of_a_list(
    name: str, doi: str, first: str, journal: str, year: int, cited: int, pdf: str | None
) -> None:
    work = json.loads(recorded(f"openalex/{name}.json"))
    rows, _ = replay("openalex", "scholarly", ARGS, {"results": [work]}, config=CONFIG)

    row = rows[0]

    assert row["doi"] == doi
    assert row["authors"][0] == first
    assert row["journal"] == journal
    assert row["year"] == year
    assert row["citation_count"] == cited
    assert row["open_access"] is True
    assert row.get("pdf_url") == pdf
    assert row["abstract"]
