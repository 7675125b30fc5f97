"""What a claim is held against where the page of its source is closed: every page of a stored PDF, however long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specloom.domains.scrape.documents.document import Document, Limits
from specloom.domains.scrape.documents.read import read
from tests.domains.papers.test_client_reading_on import DOI, store_paper
from tests.support.documents import lines, make_pdf
from tests.support.scholar_client import connected
from tests.support.scrape_client import ask

CLAIM = "Sea otters hold hands while they sleep in the kelp."
FILLER = [
    f"Rivers have weirs of stone, and the fish climb ladders beside them in spring, as table {n} has it."
    for n in range(34)
]
BEHIND = "A grant of the county paid for the boats, the nets and the radios of the crews."


def book(pages: dict[int, str], count: int) -> bytes:
    """A PDF of so many full pages, some of which end with a sentence of their own."""
    return make_pdf([lines([*FILLER, pages.get(number, BEHIND)]) for number in range(1, count + 1)])


async def verify(folder: Path, pdf: bytes, claim: str = CLAIM) -> dict[str, Any]:
    store_paper(folder, pdf)
    work = {"DOI": DOI, "title": ["Of bridges"], "type": "journal-article"}
    says = {"https://api.crossref.org/works/": {"status": "ok", "message": work}, "https://doi.org/": 403}
    settings = {"DOIGET_STORE_ROOT": str(folder), "DOIGET_CACHE_ROOT": str(folder / "cache")}
    async with connected(says, **settings) as (client, _):
        return await ask(client, "verify_citation", citation=DOI, claim=claim)


@pytest.mark.parametrize("page", [75, 78])
async def test_a_claim_on_a_late_page_of_a_long_pdf_is_addressed(tmp_path: Path, page: int) -> None:
    answer = await verify(tmp_path, book({page: CLAIM}, 80))

    assert (answer["claimSupport"], answer["claimBasis"], answer["claimPage"]) == ("addressed", "stored_pdf", page)
    assert answer["claimEvidence"][-1] == CLAIM


async def test_a_long_pdf_that_has_nothing_of_a_claim_does_not_address_it(tmp_path: Path) -> None:
    answer = await verify(tmp_path, book({}, 80))

    assert (answer["claimSupport"], answer["claimBasis"]) == ("not_addressed", "stored_pdf")
    assert {"contentWords", "sparsityNote"}.isdisjoint(answer)


async def test_what_speaks_against_a_claim_is_told_of_the_pages_that_have_it(tmp_path: Path) -> None:
    denied = "There is no evidence that sea otters hold hands while they sleep in the kelp."
    answer = await verify(tmp_path, book({74: denied}, 80))

    assert (answer["claimPage"], answer["contrastSignal"]) == (74, True)


async def test_a_quotation_is_found_wherever_a_long_pdf_has_it(tmp_path: Path) -> None:
    quoted = "Nets of nine fathoms were torn at dawn by the tide."
    claim = f'{CLAIM[:-1]}; "nets of nine fathoms were torn at dawn".'
    answer = await verify(tmp_path, book({3: CLAIM, 79: quoted}, 80), claim)

    assert answer["quoteFound"] is True


async def test_a_cover_sheet_leaves_a_claim_open_and_tells_its_words(tmp_path: Path) -> None:
    sheet = make_pdf([lines(["This is the cover sheet of an archive, which lists the terms of use of its files."] * 6)])
    answer = await verify(tmp_path, sheet)

    assert (answer["claimSupport"], answer["claimBasis"]) == ("source_unavailable", "stored_pdf")
    assert answer["claimReason"].startswith("the stored PDF has only 102 words and does not speak of it there")
    assert (answer["contentWords"], answer["sparsityNote"][:29]) == (102, "The source has only 102 words")


@pytest.mark.parametrize("limits", [Limits(pages=3), Limits(text=9000)])
async def test_a_pdf_of_which_a_part_was_read_leaves_a_claim_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits
) -> None:
    def read_part(body: bytes, content_type: str, url: str) -> Document:
        return read(body, content_type, url, limits=limits)

    monkeypatch.setattr("specloom.domains.scrape.documents.read.read", read_part)
    answer = await verify(tmp_path, book({6: CLAIM}, 6))

    assert (answer["claimSupport"], answer["claimBasis"]) == ("source_unavailable", "stored_pdf")
    assert "was read in part only" in answer["claimReason"]


PAGE = "<html><title>A journal</title><body><article><p>" + "</p><p>".join(FILLER * 2) + "</p></article></body></html>"


@pytest.mark.parametrize(
    ("abstract", "support"),
    [
        (f"We watched animals of the coast for two years. {CLAIM} Each was counted.", "addressed"),
        ("We watched bridges for two years. Each of them was counted from a boat of the county.", "not_addressed"),
    ],
)
async def test_an_open_page_that_lacks_the_abstract_does_not_speak_for_the_work(abstract: str, support: str) -> None:
    work = {"DOI": DOI, "title": ["Of bridges"], "type": "journal-article", "abstract": f"<jats:p>{abstract}</jats:p>"}
    says = {"https://api.crossref.org/works/": {"status": "ok", "message": work}, "https://doi.org/": PAGE}
    async with connected(says) as (client, _):
        answer = await ask(client, "verify_citation", citation=DOI, claim=CLAIM)

    assert answer["claimSupport"] == support
    assert answer.get("claimBasis") == ("record_abstract" if support == "addressed" else None)
