"""Semantic Scholar as recorded between 2023-12-01 and 2025-08-11."""

from __future__ import annotations

import json

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay


def test_a_search_gives_a_row_for_each_paper() -> None:
    body = recorded("semantic-scholar/paper-search.json")
    rows, requests = replay("semanticscholar", "scholarly", {"query": "turing", "num_results": 100}, body)

    assert [request["get"] for request in requests] == ["https://api.semanticscholar.org/graph/v1/paper/search"]
    assert len(rows) == 100
    assert rows[4] == {
        "title": "Neural Turing Machines",
        "url": "https://www.semanticscholar.org/paper/c1126fbffd6b8547a44c58b192b36b08b18299de",
    }


def test_nothing_found_is_an_answer_without_a_list() -> None:
    rows, _ = replay(
        "semanticscholar", "scholarly", {"query": "n0 r3sult"}, recorded("semantic-scholar/paper-search-empty.json")
    )

    assert rows == []


def test_a_paper_has_its_doi_its_venue_and_a_free_pdf() -> None:
    body = recorded("semantic-scholar/paper-search-match-full.json")
    rows, _ = replay("semanticscholar", "scholarly", {"query": "chemistry tools"}, body)

    assert rows == [
        {
            "title": "Augmenting large language models with chemistry tools",
            "url": "https://doi.org/10.1038/s42256-024-00832-8",
            "doi": "10.1038/s42256-024-00832-8",
            "authors": [
                "Andrés M Bran",
                "Sam Cox",
                "Oliver Schilter",
                "Carlo Baldassari",
                "Andrew D. White",
                "P. Schwaller",
            ],
            "journal": "Nat. Mac. Intell.",
            "year": 2023,
            "published_on": "2023-04-11",
            "type": "article",
            "citation_count": 500,
            "open_access": True,
            "pdf_url": "https://www.nature.com/articles/s42256-024-00832-8.pdf",
        }
    ]


def test_one_paper_has_every_name_under_which_others_know_it() -> None:
    body = [json.loads(recorded("semantic-scholar/paper-by-doi-full.json"))]
    rows, requests = replay("semanticscholar", "paper", {"pmid": "38799228"}, body)

    assert [request["json"] for request in requests] == [{"ids": ["PMID:38799228"]}]
    assert len(rows) == 1
    assert (rows[0]["doi"], rows[0]["arxiv_id"]) == ("10.1038/s42256-024-00832-8", "2304.05376")
    assert rows[0]["pdf_url"] == "https://www.nature.com/articles/s42256-024-00832-8.pdf"


def test_papers_of_a_batch_read_like_those_of_a_search() -> None:
    papers = [one for one in json.loads(recorded("semantic-scholar/paper-batch-with-null.json")) if one]
    rows, _ = replay("semanticscholar", "scholarly", {"query": "x"}, {"total": len(papers), "data": papers})

    assert [row["doi"] for row in rows] == ["10.2139/ssrn.288970", "10.2139/ssrn.2250500", "10.1257/rct.1355"]
    assert [row["citation_count"] for row in rows] == [10670, 2185, 0]
    assert [row["year"] for row in rows] == [2001, 2013, 2023]
    assert rows[0]["authors"] == ["Marianne Bertrand", "E. Duflo", "S. Mullainathan"]
    assert rows[0]["journal"] == "Experimental & Empirical Studies eJournal"
    assert "pdf_url" not in rows[2]


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("error-400-bad-field", 400, "bad_request"),
        ("error-403", 403, "auth_required"),
        ("error-404-paper", 404, "not_found"),
    ],
)
def test_failures_are_told_apart(name: str, status: int, kind: str) -> None:
    body = recorded(f"semantic-scholar/{name}.json")

    with pytest.raises(Fault) as caught:
        replay("semanticscholar", "scholarly", {"query": "x"}, body, status=status)

    assert caught.value.kind == kind
