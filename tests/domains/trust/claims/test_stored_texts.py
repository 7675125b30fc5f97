"""A claim is held against a stored text only where that is surely the text of the work that was cited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specloom.core import Fault
from specloom.domains.trust.sources.classify import find_own_doi
from tests.domains.papers.test_client_reading_on import DOI, store_paper
from tests.support.audited import desk
from tests.support.documents import lines, make_pdf

WORLD = {
    "crossref": {
        DOI: {"title": "The bridges of old towns", "authors": [["Otter", "Ann"]], "year": 2021, "venue": "Bridges"}
    }
}
CLAIM = "Bridges of wood carry trams."
COMMENT = "https://pubpeer.com/publications/10.1234/bridges"
POST = "https://blog.example.org/post?about=10.1234/bridges"


async def ask(folder: Path, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool says where the PDF of the work is in the store and no page can be read."""
    store_paper(folder, make_pdf([lines(["Bridges of wood carry trams over the river in old towns."] * 9)]))
    settings = {"DOIGET_STORE_ROOT": str(folder), "DOIGET_CACHE_ROOT": str(folder / "cache")}
    async with desk(WORLD, settings=settings) as audits:
        return dict((await audits.executor.call(tool, given)).answer)


@pytest.mark.parametrize(
    "entry",
    [
        {"doi": DOI, "title": "Quantum gravity of black holes and strings"},
        {"doi": DOI, "title": "Quantum gravity of black holes", "url": f"https://dx.doi.org/{DOI}"},
        {"doi": DOI, "title": "The bridges of new towns", "author": "Weir, Wim", "date": "2001"},
        {"url": COMMENT},
        {"url": POST},
    ],
    ids=["another title", "its own address", "another part", "a comment", "a post"],
)
async def test_an_entry_is_not_held_against_the_text_of_another_work(tmp_path: Path, entry: dict[str, str]) -> None:
    answer = await ask(tmp_path, "audit_bibliography", entries=[{**entry, "claim": CLAIM}])

    (told,) = answer["entries"]
    assert told["claimSupport"] == "source_unavailable"
    assert "claimBasis" not in told
    assert "mischaracterized" not in told["flags"]


@pytest.mark.parametrize(
    "entry",
    [
        {"doi": DOI},
        {"doi": DOI, "title": "The bridges of old towns"},
        {"url": f"https://doi.org/{DOI}"},
        {"url": f"https://www.nature.com/articles/{DOI}"},
        {"url": POST, "title": "The bridges of old towns"},
        {"title": f"Otter A. The bridges of old towns. Bridges. 2021. doi:{DOI}"},
    ],
)
async def test_an_entry_is_held_against_the_text_of_its_work(tmp_path: Path, entry: dict[str, str]) -> None:
    answer = await ask(tmp_path, "audit_bibliography", entries=[{**entry, "claim": CLAIM}])

    assert answer["entries"][0]["claimBasis"] == "stored_pdf"
    assert answer["entries"][0]["claimSupport"] == "addressed"


@pytest.mark.parametrize(
    "citation",
    [COMMENT, POST, f"Weir, W. (2001). Quantum gravity of black holes and strings. Strings. doi:{DOI}"],
    ids=["a comment", "a post", "another title"],
)
async def test_a_citation_is_not_held_against_the_text_of_another_work(tmp_path: Path, citation: str) -> None:
    answer = await ask(tmp_path, "verify_citation", citation=citation, claim=CLAIM)

    assert answer["claimSupport"] == "source_unavailable"
    assert "claimBasis" not in answer
    if citation in (COMMENT, POST):
        assert "matchedRecord" not in answer
        assert "the work was not checked; give it by itself" in answer["provenance"][0]


@pytest.mark.parametrize(
    "citation",
    [DOI, f"https://doi.org/{DOI}", f"Otter, A. (2021). The bridges of old towns. Bridges. https://doi.org/{DOI}"],
)
async def test_a_citation_is_held_against_the_text_of_its_work(tmp_path: Path, citation: str) -> None:
    answer = await ask(tmp_path, "verify_citation", citation=citation, claim=CLAIM)

    assert answer["claimBasis"] == "stored_pdf"


async def test_the_references_of_a_closed_page_are_those_of_the_work_to_which_its_address_leads(tmp_path: Path) -> None:
    listed = ["Abel, A. (2019). How otters swim. Rivers, 4(1), 1-12.", "Brook, C. (2020). Weirs. Rivers, 5(1), 3-9."]
    texts = [(60.0, 700.0, 14.0, "References"), *lines([f"{at}. {one}" for at, one in enumerate(listed, 1)], top=670)]
    store_paper(tmp_path, make_pdf([lines(["Otters swim in rivers that nobody has seen."] * 9), texts]))
    settings = {"DOIGET_STORE_ROOT": str(tmp_path), "DOIGET_CACHE_ROOT": str(tmp_path / "cache")}
    async with desk(WORLD, settings=settings) as audits:
        answer = await audits.audit(source=f"https://doi.org/{DOI}")
        for address in (COMMENT, POST):
            with pytest.raises(Fault):
                await audits.audit(source=address)

    assert [entry["title"] for entry in answer["entries"]] == ["How otters swim", "Weirs"]


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        (f"https://doi.org/{DOI}", DOI),
        (f"http://dx.doi.org/{DOI}", DOI),
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc/full", "10.1002/abc"),
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000308", "10.1371/journal.pone.0000308"),
        ("https://www.nature.com/search?q=10.1038/abcd", ""),
        ("https://scholar.google.com/scholar?q=10.1038/abcd", ""),
        ("https://mathoverflow.net/questions/10.1038/abcd", ""),
        ("https://notdoi.org/10.1038/abcd", ""),
        (COMMENT, ""),
        (POST, ""),
    ],
)
def test_an_address_leads_to_a_work_at_the_resolver_and_at_scholarly_hosts(url: str, doi: str) -> None:
    assert find_own_doi(url) == doi
