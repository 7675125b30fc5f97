"""Books and data sets are found without a key, by catalogues that are asked for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core import Answer, Fault
from specloom.runtime import LiveContext
from tests.support import paged
from tests.support.stubbed import Product, Stub, Upstreams, works

ISBN = "9780000000019"
BOOK = {
    "DOI": "10.1234/sea",
    "URL": "https://doi.org/10.1234/sea",
    "title": ["Sea otters"],
    "type": "monograph",
    "author": [{"given": "Ann", "family": "Otter"}],
    "ISBN": [ISBN],
    "published": {"date-parts": [[2015]]},
}
BOOKS: dict[str, Stub] = {
    "api.openalex.org": {"meta": {"count": 0}, "results": []},
    "api.crossref.org/works": {"message": {"total-results": 1, "items": [BOOK]}},
    "openlibrary.org/search.json": {
        "numFound": 2,
        "docs": [
            {"key": "/works/OL1W", "title": "The sea otter", "first_publish_year": 1999, "isbn": ["0000000000", ISBN]},
            {"key": "/works/OL2W", "title": "River otters", "first_publish_year": 1969, "ebook_access": "public"},
        ],
    },
    "directory.doabooks.org": [
        {
            "handle": "20.500.12854/1",
            "name": "Otters of Europe",
            "metadata": [{"key": "oapen.identifier.doi", "value": "10.1234/europe"}],
        }
    ],
}
DATA: dict[str, Stub] = {
    "api.openalex.org": {"meta": {"count": 0}, "results": []},
    "api.crossref.org/works": {"message": {"total-results": 0, "items": []}},
    "api.datacite.org/dois": {
        "meta": {"total": 2},
        "data": [
            {"attributes": {"doi": "10.5281/zenodo.1", "titles": [{"title": "Otter counts"}], "publisher": "Zenodo"}},
            {"attributes": {"doi": "10.5061/dryad.1", "titles": [{"title": "Otter weights"}], "publisher": "Dryad"}},
        ],
    },
    "zenodo.org/api": {
        "hits": {
            "total": 1,
            "hits": [
                {
                    "metadata": {"title": "Otter counts", "doi": "10.5281/zenodo.1", "access_right": "open"},
                    "links": {"self_html": "https://zenodo.org/records/1"},
                }
            ],
        }
    },
}
CATALOGUES = {"openlibrary", "doab", "datacite", "zenodo"}


async def test_books_come_from_catalogues_and_one_number_in_common_is_one_book() -> None:
    upstreams = Upstreams(BOOKS)

    answer = await Product(upstreams).answer("academic_search", query="otters", type="book")

    books = {one["title"]: one for one in answer["papers"]}
    assert set(books) == {"Sea otters", "River otters", "Otters of Europe"}
    assert books["Sea otters"]["foundBy"] == ["crossref", "openlibrary"]
    assert ISBN in books["Sea otters"]["isbn"]
    assert books["River otters"]["openAccess"]
    assert books["Otters of Europe"]["doi"] == "10.1234/europe"
    assert {"openlibrary", "doab"} <= set(upstreams.providers())
    assert not {"datacite", "zenodo"} & set(upstreams.providers())


async def test_data_sets_come_from_archives_and_one_doi_is_one_data_set() -> None:
    upstreams = Upstreams(DATA)

    answer = await Product(upstreams).answer("academic_search", query="otters", type="dataset")

    found = {one["title"]: one for one in answer["papers"]}
    assert set(found) == {"Otter counts", "Otter weights"}
    assert found["Otter counts"]["foundBy"] == ["datacite", "zenodo"]
    assert found["Otter counts"]["openAccess"]
    assert {"openlibrary", "doab"} & set(upstreams.providers()) == set()


@pytest.mark.parametrize("kind", [None, "article", "review", "preprint", "conference", "chapter", "thesis"])
async def test_catalogues_are_asked_for_nothing_else(kind: str | None) -> None:
    upstreams = Upstreams({}, otherwise=(404, {}, {}))
    asked: dict[str, Any] = {"type": kind} if kind else {}

    await Product(upstreams).call("academic_search", query="otters", **asked)

    assert not CATALOGUES & set(upstreams.providers())


@pytest.mark.parametrize(("kind", "provider"), [("article", "openlibrary"), ("book", "zenodo"), ("thesis", "datacite")])
async def test_one_that_is_asked_by_name_for_what_it_has_not_says_so(kind: str, provider: str) -> None:
    upstreams = Upstreams(BOOKS)

    answer = await Product(upstreams).answer("academic_search", query="otters", type=kind, provider=provider)

    assert upstreams.asked == []
    assert "was not asked" in answer["notices"][0]


async def test_a_catalogue_that_fails_leaves_the_books_of_the_others() -> None:
    upstreams = Upstreams({**BOOKS, "openlibrary.org/search.json": (503, {}, {})})

    answer = await Product(upstreams).answer("academic_search", query="otters", type="book")

    assert {one["title"] for one in answer["papers"]} == {"Sea otters", "Otters of Europe"}
    assert any("Open Library" in notice for notice in answer["notices"])


async def test_books_of_several_catalogues_are_gone_on_with_and_none_comes_twice() -> None:
    stubs = {
        **BOOKS,
        "openlibrary.org/search.json": paged.serve(paged.openlibrary, 30),
        "directory.doabooks.org": paged.serve(paged.doab, 10),
    }
    rate = {"OPENLIBRARY_RATE": "100000/s", "DOAB_RATE": "100000/s"}
    product, cursor, urls = Product(Upstreams(stubs), rate), None, []
    for _ in range(30):
        more = {"cursor": cursor} if cursor else {}
        answer = await product.answer("academic_search", query="otters", type="book", num_results=5, **more)
        urls += [one["url"] for one in answer["papers"]]
        cursor = answer.get("nextCursor")
        if cursor is None:
            break

    assert cursor is None
    assert len(urls) == len(set(urls))
    assert sum("openlibrary.org" in url for url in urls) == 30
    assert sum("doabooks.org" in url for url in urls) == 10


# --- Who has nothing of the kind stands in nobody's way ---------------------------------------------------------------


async def as_a_procedure(upstreams: Upstreams, routing: str, **arguments: Any) -> Answer:
    """What a procedure is told that asks for papers by the route."""
    executor = Product(upstreams, {"SEARCH_ROUTING": routing}).executor
    return await LiveContext(executor, executor.tool("academic_search"), "", None).ask("scholarly", arguments)


async def test_a_procedure_is_told_the_failure_of_those_who_were_asked_and_not_that_nothing_was_found() -> None:
    with pytest.raises(Fault) as failed:
        await as_a_procedure(Upstreams(), "openalex,crossref,openlibrary,zenodo", query="otters")

    assert "openalex" in failed.value.message or failed.value.provider in ("openalex", "crossref")


async def test_a_procedure_gets_the_papers_of_whoever_comes_behind_a_catalogue_of_books() -> None:
    upstreams = Upstreams({"api.crossref.org/works": works("A")})

    answer = await as_a_procedure(upstreams, "openlibrary,crossref", query="otters")

    assert [row["title"] for row in answer.rows] == ["A"]
    assert upstreams.providers() == ["crossref"]


async def test_where_nobody_has_such_works_the_answer_says_that_nobody_was_asked() -> None:
    answer = await as_a_procedure(Upstreams(), "openlibrary,zenodo", query="otters")

    assert (answer.rows, answer.asked) == ([], False)
