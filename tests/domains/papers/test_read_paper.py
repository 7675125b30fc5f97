"""paper_fulltext through a real client: archives, free PDFs and pages in that order, and what is said when all fail."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from specloom.domains.papers.read_paper import read_paper
from specloom.plugins import to_json
from tests.support.research_server import ask, refused
from tests.support.scholar_client import connected

EUROPEPMC = "https://www.ebi.ac.uk/europepmc/"
PUBMED = "https://eutils.ncbi.nlm.nih.gov/"
CORE = "https://api.core.ac.uk/"
INDEX = "https://api.semanticscholar.org/"
UNPAYWALL = "https://api.unpaywall.org/"
CROSSREF = "https://api.crossref.org/"
NO_ARCHIVE: dict[str, Any] = {
    EUROPEPMC: {"hitCount": 0, "resultList": {"result": []}},
    PUBMED: {"esearchresult": {"count": "0", "idlist": []}},
    CORE: {"totalHits": 0, "results": []},
}
DOI = "10.1000/otters.1"
RECORD = {
    "paperId": "5" * 40,
    "externalIds": {"DOI": DOI, "ArXiv": "2101.00001"},
    "title": "Что едят выдры",
    "authors": [{"name": "Анна Выдрина"}],
    "venue": "Journal of Otters",
    "year": 2021,
    "citationCount": 3,
    "abstract": "They eat fish.",
    "isOpenAccess": True,
    "openAccessPdf": {"url": "https://repo.example/1.pdf"},
    "tldr": {"text": "Fish."},
}
HTML = (
    "<html><head><title>What otters eat</title></head><body><article><h1>What otters eat</h1>{}</article></body></html>"
)
ABSTRACT = HTML.format("<p>Otters eat fish, and crabs where fish are few, as keepers of many zoos have told us.</p>")
WHOLE = HTML.format(
    "".join(
        f"<p>Выдры на реке {at} едят рыбу, а где её мало, круглый год ловят раков и крабов.</p>" for at in range(99)
    )
)


def make_pdf(*lines: str) -> bytes:
    """A PDF file of one page with these lines, as small as it can be."""
    drawn = "BT /F1 12 Tf 50 760 Td 14 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 6 0 R >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Font << /F1 5 0 R >> >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, said in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{said}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
    end += f"startxref\n{len(body)}\n%%EOF"
    return body + end.encode()


PDF = make_pdf("Otters eat fish in winter and crabs in summer.", "They eat them at sea and in rivers.")


@pytest.mark.parametrize(
    "identifier",
    [f"https://www.semanticscholar.org/paper/What-otters-eat/{'5' * 40}", "5" * 40, DOI, "arXiv:2101.00001v3"],
)
async def test_a_paper_by_any_of_its_names_is_read_from_its_free_pdf(identifier: str) -> None:
    says = {**NO_ARCHIVE, INDEX: [RECORD], "https://repo.example/1.pdf": PDF, "https://arxiv.org/pdf/2101.00001": PDF}
    async with connected(says) as (client, _):
        answer = await ask(client, "paper_fulltext", identifier=identifier)

    assert "Otters eat fish in winter" in answer["content"]
    assert answer["scrapeTier"] == "document"
    assert answer["source"] == ("semanticscholar" if identifier == DOI else "arxiv")
    assert answer["doi"] == DOI
    assert (answer["title"], answer["authors"], answer["year"]) == ("Что едят выдры", ["Анна Выдрина"], 2021)
    assert (answer["tldr"], answer["abstract"], answer["citationCount"]) == ("Fish.", "They eat fish.", 3)
    assert answer["citation"]["metadata"]["author"] == "Анна Выдрина"
    assert answer["openAccess"] is True
    assert answer["trust"] == "untrusted-external-content"
    assert "note" not in answer


async def test_a_wall_where_a_pdf_should_be_is_not_the_paper() -> None:
    says = {
        **NO_ARCHIVE,
        INDEX: [RECORD | {"externalIds": {"DOI": DOI}}],
        "https://repo.example/1.pdf": ABSTRACT,
        UNPAYWALL: {
            "doi": DOI,
            "best_oa_location": {"url_for_pdf": None, "url": "https://free.example/2"},
            "oa_locations": [
                {"url_for_pdf": "https://gone.example/2.pdf"},
                {"url_for_pdf": "https://free.example/2.pdf"},
            ],
        },
        "https://free.example/2": ABSTRACT,
        "https://free.example/2.pdf": PDF,
    }
    async with connected(says) as (client, _):
        answer = await ask(client, "paper_fulltext", identifier=DOI)

    assert (answer["source"], answer["pdfUrl"]) == ("unpaywall", "https://free.example/2.pdf")


async def test_a_whole_text_in_html_where_a_pdf_should_be_is_the_paper() -> None:
    says = {**NO_ARCHIVE, INDEX: [RECORD | {"externalIds": {"DOI": DOI}}], "https://repo.example/1.pdf": WHOLE}
    async with connected(says) as (client, _):
        answer = await ask(client, "paper_fulltext", identifier=DOI, max_length=1000)

    assert answer["source"] == "semanticscholar"
    assert 900 < len(answer["content"]) <= 1000
    assert answer["truncated"] is True


async def test_a_paywalled_paper_gives_its_page_and_says_so() -> None:
    page = f"https://publisher.example/articles/{DOI}/full"
    says = {**NO_ARCHIVE, INDEX: [None], UNPAYWALL: {"doi": DOI, "is_oa": False, "oa_locations": []}, page: ABSTRACT}
    async with connected(says) as (client, upstreams):
        answer = await ask(client, "paper_fulltext", identifier=page)

    assert (answer["source"], answer["resolvedUrl"], answer["doi"]) == ("direct-url", page, DOI)
    assert "abstract only" in answer["note"]
    assert "keepers of many zoos" in answer["content"]
    assert sum(request.url == page for request in upstreams.asked) == 1
    assert any(f'doi:"{DOI}"' in str(request.query) for request in upstreams.asked if request.url.startswith(CORE))


async def test_an_address_that_is_the_paper_is_read_as_it_is() -> None:
    address = f"https://publisher.example/doi/pdf/{DOI}"
    async with connected({**NO_ARCHIVE, INDEX: [RECORD], address: PDF}) as (client, upstreams):
        answer = await ask(client, "paper_fulltext", identifier=address)

    assert (answer["source"], answer["pdfUrl"], answer["doi"]) == ("direct-url", address, DOI)
    assert "note" not in answer
    assert sum(request.url == address for request in upstreams.asked) == 1


async def test_a_publishers_page_with_the_whole_text_needs_no_note() -> None:
    async with connected({**NO_ARCHIVE, INDEX: [None], "https://doi.org/": WHOLE}) as (client, _):
        answer = await ask(client, "paper_fulltext", identifier=DOI)

    assert answer["source"] == "direct-url"
    assert "note" not in answer


async def test_the_note_names_what_could_not_be_asked() -> None:
    says = {**NO_ARCHIVE, EUROPEPMC: 429, INDEX: [None], "https://doi.org/": ABSTRACT}
    async with connected(says) as (client, _):
        answer = await ask(client, "paper_fulltext", identifier=DOI)

    assert "Europe PMC asks to slow down" in answer["note"]


async def test_any_other_address_is_read_as_it_is_and_asks_nobody() -> None:
    async with connected({"https://zoo.example/diet": ABSTRACT}) as (client, upstreams):
        answer = await ask(client, "paper_fulltext", identifier="https://zoo.example/diet")

    assert {request.url for request in upstreams.asked} == {"https://zoo.example/diet"}
    assert (answer["source"], answer["title"]) == ("direct-url", "What otters eat")
    assert "note" not in answer


async def test_a_paper_that_cannot_be_read_anywhere_says_what_was_tried() -> None:
    says = {**NO_ARCHIVE, CORE: 500, INDEX: [None], "https://doi.org/": 404}
    async with connected(says) as (client, _):
        result = await client.call_tool("paper_fulltext", {"identifier": DOI})
        block = await refused(client, "paper_fulltext", identifier=DOI)

    assert result.content[0].text.startswith(
        "No archive and no free PDF gives the text of this paper, and its page cannot"
    )
    assert block["kind"] == "not_found"
    assert "CORE" in block["detail"]


async def test_a_paper_behind_a_log_in_has_no_key_of_ours_to_check() -> None:
    async with connected({**NO_ARCHIVE, INDEX: [None], "https://doi.org/": 401}) as (client, _):
        block = await refused(client, "paper_fulltext", identifier=DOI)

    assert (block["kind"], block["suggestedAction"]) == ("auth_required", "inform_user")


@pytest.mark.parametrize("identifier", ["What otters eat", "29456894", "210.1000/otters.1", "file:///etc/passwd"])
async def test_what_names_no_paper_is_refused_before_anybody_is_asked(identifier: str) -> None:
    async with connected({}) as (client, upstreams):
        block = await refused(client, "paper_fulltext", identifier=identifier)

    assert block["kind"] == "validation"
    assert upstreams.asked == []


class HangingDesk:
    """Everybody is there and nobody answers, but for one page."""

    def offering(self, operation: str) -> tuple[str, ...]:
        return (f"{operation}_one", f"{operation}_two")

    async def ask(self, *_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    async def run(self, _: str, given: dict[str, Any]) -> dict[str, Any]:
        if "pdf" in given["url"]:
            await asyncio.Event().wait()
        return {"url": given["url"], "content": "Otters.", "contentType": "html", "citation": {"url": given["url"]}}


async def test_upstreams_and_copies_that_hang_keep_nobody_from_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specloom.domains.papers.read_paper.PATIENCE", 0.01)

    answer = to_json(await read_paper(cast("Any", HangingDesk()), "10.48550/arXiv.2101.00001", 1000))

    assert (answer["source"], answer["content"]) == ("direct-url", "Otters.")
    assert "fulltext_two gave no answer in time" in answer["note"]
    assert "https://arxiv.org/pdf/2101.00001 gave no text in time" in answer["note"]
