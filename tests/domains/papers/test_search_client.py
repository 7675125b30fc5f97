"""The search tools for papers and patents through a real client: odd and failing upstreams, and whole answers."""

from __future__ import annotations

from typing import Any

from tests.support.research_server import ask, refused
from tests.support.scholar_client import connected

OPENALEX = "https://api.openalex.org/works"
CROSSREF = "https://api.crossref.org/works"
UNPAYWALL = "https://api.unpaywall.org/"
INDEX = "https://api.semanticscholar.org/"


def found(*works: Any, total: Any = None) -> dict[str, Any]:
    return {"meta": {"count": total if total is not None else len(works)}, "results": list(works)}


async def test_a_notice_without_a_day_is_told_without_one() -> None:
    notice = {"DOI": "10.1000/n", "type": "retraction", "source": None, "updated": {}}
    says = {
        OPENALEX: found({"id": "https://openalex.org/W1", "doi": "https://doi.org/10.1000/a", "title": "Otters fly"}),
        CROSSREF: {"message": {"DOI": "10.1000/a", "updated-by": [notice]}},
    }
    async with connected(says) as (client, _):
        answer = await ask(client, "academic_search", query="otters")

    status = {"retracted": True, "kind": "retraction", "noticeDoi": "10.1000/n"}
    assert answer["papers"][0]["retractionStatus"] == status


async def test_rows_that_are_wrong_in_many_ways_leave_a_clean_answer() -> None:
    says = {
        OPENALEX: found(
            {
                "id": "https://openalex.org/W1",
                "doi": "https://doi.org/10.1000/a",
                "title": "<script>alert(1)</script>Otters &amp; <b>minks</b>",
                "publication_year": "2020",
                "authorships": [
                    {"author": None},
                    {"author": {"display_name": None}},
                    {"author": {"display_name": "李 明"}},
                ],
                "primary_location": {"landing_page_url": "javascript:alert(1)", "source": None},
                "best_oa_location": {"pdf_url": "ftp://repo.example/1.pdf"},
                "open_access": None,
                "abstract_inverted_index": {"odd": "x"},
            },
            {"id": None, "doi": "", "title": "Without an address"},
            {"id": "https://openalex.org/W3", "doi": "https://doi.org/10.1000/A", "title": "The first once more"},
            None,
            5,
            total="12",
        )
    }
    async with connected(says) as (client, _):
        answer = await ask(client, "academic_search", query='otters "half a phrase', num_results=10)

    assert answer["papers"] == [
        {
            "title": "Otters & minks",
            "url": "https://doi.org/10.1000/a",
            "source": "openalex",
            "doi": "10.1000/a",
            "authors": ["李 明"],
            "year": 2020,
        }
    ]
    assert answer["totalResults"] == 12


async def test_when_all_fail_each_is_named() -> None:
    async with connected({"https://": 401}) as (client, _):
        block = await refused(client, "academic_search", query="otters")

    assert block["kind"] == "auth_required"
    for name in ("OpenAlex", "Crossref", "Europe PMC", "CORE", "DOAJ"):
        assert name in block["detail"]


async def test_references_that_a_publisher_keeps_back_are_not_told_as_none() -> None:
    seed = "5" * 40
    says = {
        f"{INDEX}graph/v1/paper/batch": [{"paperId": seed, "title": "About otters"}],
        f"{INDEX}graph/v1/paper/{seed}/citations": {
            "data": [{"citingPaper": {"paperId": "6" * 40, "title": "Citing"}}]
        },
        f"{INDEX}graph/v1/paper/{seed}/references": {"data": None, "citingPaperInfo": {"title": "About otters"}},
    }
    async with connected(says) as (client, _):
        answer = await ask(client, "citation_graph", paper=f"https://www.semanticscholar.org/paper/{seed}")

    assert (answer["citedByCount"], answer["referencesCount"]) == (1, 0)
    assert answer["seedTitle"] == "About otters"
    assert "keeps them back" in answer["note"]


async def test_a_paper_that_nobody_knows_is_not_told_as_one_without_citations() -> None:
    async with connected({OPENALEX: found()}) as (client, _):
        answer = await ask(client, "citation_graph", paper="Nothing of the kind")

    assert answer["citedByCount"] == 0
    assert answer["note"].startswith("nobody knows this paper")


async def test_an_address_that_names_no_paper_is_refused_and_not_taken_for_a_title() -> None:
    async with connected({OPENALEX: found({"id": "https://openalex.org/W1", "title": "Any"})}) as (client, upstreams):
        block = await refused(client, "citation_graph", paper="https://zoo.example/otters")

    assert block["kind"] == "validation"
    assert upstreams.asked == []


async def test_one_patent_is_that_patent_and_not_what_mentions_it() -> None:
    rows = [{"patent_id": "patent/US99000011B2/en"}, {"patent_id": "patent/US9900001B2/en", "title": "Otter box"}]
    async with connected({"https://www.searchapi.io/": {"organic_results": rows}}) as (client, _):
        answer = await ask(client, "patent_search", query="US 9,900,001", search_type="specific")

    assert [one["number"] for one in answer["patents"]] == ["US9900001B2"]
    assert answer["removed"]["otherNumbers"] == 1
