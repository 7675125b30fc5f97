"""Crossref as recorded between 2026-06-16 and 2026-07-23."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay


def test_works_have_their_title_journal_year_and_abstract_without_markup() -> None:
    body = recorded("crossref/works-query-ecology-rows2.json")
    rows, requests = replay("crossref", "scholarly", {"query": "ecology", "num_results": 2}, body)

    assert [request["get"] for request in requests] == ["https://api.crossref.org/works"]
    assert len(rows) == 2
    assert rows[0]["doi"] == "10.1093/obo/9780199830060-0238"
    assert rows[0]["citation_count"] == 1
    assert "authors" not in rows[0]
    assert rows[1]["title"] == "Chemical Ecology"
    assert rows[1]["url"] == "https://doi.org/10.1093/obo/9780199830060-0023"
    assert rows[1]["authors"] == ["André Kessler"]
    assert rows[1]["journal"] == "Ecology"
    assert rows[1]["year"] == 2012
    assert rows[1]["abstract"].startswith("“Ours is a world of sights and sounds. We live by our eyes and ears")
    assert not [row for row in rows if "<" in row["abstract"]]


def test_a_work_without_a_date_has_no_year() -> None:
    rows, _ = replay("crossref", "scholarly", {"query": "widget"}, recorded("crossref/works-query-cursor.json"))

    assert len(rows) == 20
    assert rows[0]["title"] == "Widget Mania: Using a GUI Widget Framework"
    assert "year" not in rows[0]
    assert rows[5]["authors"] == ["Paco Mendes", "Marcos Caceres", "Barry Dwolatzky"]
    assert rows[5]["year"] == 2009
    assert rows[5]["citation_count"] == 2


def test_test_deposits_are_works_here_and_left_to_the_tool() -> None:
    body = recorded("crossref/works-filter-prefix-type-rows20.json")
    rows, _ = replay("crossref", "scholarly", {"query": "test"}, body)

    assert len(rows) == 20
    assert rows[0]["authors"] == ["Jing Bai", "Xiaohua Wang", "Licheng Jiao"]
    assert rows[2]["doi"] == "10.5555/alias"


def test_a_correction_is_a_notice_and_no_retraction() -> None:
    body = recorded("crossref/work-journal-article-updated-by-correction.json")
    rows, requests = replay("crossref", "retractions", {"doi": "10.1371/journal.pone.0033693"}, body)

    assert [request["get"] for request in requests] == ["https://api.crossref.org/works/10.1371%2Fjournal.pone.0033693"]
    assert rows == [
        {
            "doi": "10.1371/journal.pone.0033693",
            "status": {
                "kind": "correction",
                "retracted": False,
                "date": "2012-05-08",
                "noticeDoi": "10.1371/annotation/c76da2c1-ccb8-4797-94c1-359d3ceceeda",
                "source": "publisher",
            },
        }
    ]


@pytest.mark.parametrize(
    ("name", "doi"),
    [
        ("work-update-to-and-updated-by", "10.1371/journal.ppat.1008184"),
        ("work-posted-content-preprint", "10.1101/2020.12.01.406702"),
        ("work-dissertation", "10.14264/uql.2020.791"),
        ("work-proceedings-article", "10.1109/iccv.2007.4408927"),
        ("work-peer-review", "10.7554/elife.55167.sa2"),
    ],
)
def test_a_work_without_notices_and_one_with_a_new_version_are_clean(name: str, doi: str) -> None:
    rows, _ = replay("crossref", "retractions", {"doi": doi}, recorded(f"crossref/{name}.json"))

    assert rows == [{"doi": doi}]


def test_an_unknown_doi_says_nothing() -> None:
    body = recorded("crossref/error-404-work.txt")
    rows, _ = replay("crossref", "retractions", {"doi": "10.1371/notarealdoi"}, body, status=404)

    assert rows == []


def test_a_refusal_is_told_in_the_services_own_words() -> None:
    body = recorded("crossref/error-400-bad-parameter.json")

    with pytest.raises(Fault, match="This route does not support field query parameters") as caught:
        replay("crossref", "retractions", {"doi": "10.1371/journal.pone.0033693"}, body, status=400)

    assert caught.value.kind == "bad_request"
