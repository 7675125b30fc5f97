"""Without any key the text of a paper comes from every archive and from every free copy that is left."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core import Request
from tests.domains.papers.test_read_paper import ABSTRACT, PDF
from tests.promises.test_failing_providers import at_once
from tests.support.shipped import shipped_model
from tests.support.stubbed import Product, Stub, Upstreams

DOI = "10.1000/otters.1"
TEXT = "Otters eat fish in winter."
ARTICLE = f"""<article><front><article-meta><article-id pub-id-type="doi">{DOI}</article-id>
<title-group><article-title>What otters eat</article-title></title-group></article-meta></front>
<body><sec><title>Food</title><p>{TEXT}</p></sec></body></article>"""
PAPER_FILE: Stub = (200, {"content-type": "application/pdf"}, PDF.decode("ascii"))
PAGE: Stub = (200, {"content-type": "text/html"}, ABSTRACT)

EUROPEPMC: dict[str, Stub] = {
    "europepmc/webservices/rest/search": {
        "hitCount": 1,
        "resultList": {"result": [{"id": "1", "pmcid": "PMC7", "isOpenAccess": "Y", "doi": DOI}]},
    },
    "PMC7/fullTextXML": ARTICLE,
}
RECORD = (
    "<PubmedArticleSet><PubmedArticle><PubmedData><ArticleIdList>{}</ArticleIdList></PubmedData></PubmedArticle>"
    "</PubmedArticleSet>"
)


def records(request: Request) -> Stub:
    """The record of an article, or its text."""
    if dict(request.query)["db"] == "pmc":
        return f"<pmc-articleset>{ARTICLE}</pmc-articleset>"
    return RECORD.format('<ArticleId IdType="pmc">PMC7</ArticleId>')


PUBMED: dict[str, Stub] = {
    "esearch.fcgi": {"esearchresult": {"count": "1", "idlist": ["31"]}},
    "efetch.fcgi": records,
}
WORK = {"id": 9, "title": "What otters eat", "fullText": TEXT, "doi": DOI, "downloadUrl": None}
CORE: dict[str, Stub] = {"api.core.ac.uk": {"totalHits": 1, "results": [WORK]}}
NOTHING: dict[str, Stub] = {
    "europepmc/webservices/rest/search": {"hitCount": 0, "resultList": {"result": []}},
    "esearch.fcgi": {"esearchresult": {"count": "0", "idlist": []}},
    "efetch.fcgi": RECORD.format(""),
    "api.core.ac.uk": {"totalHits": 0, "results": []},
}
INDEXED = {
    "paperId": "5" * 40,
    "externalIds": {"DOI": DOI},
    "title": "What otters eat",
    "openAccessPdf": {"url": "https://repo.example/1.pdf"},
}
SCHOLAR: dict[str, Stub] = {"api.semanticscholar.org": [INDEXED], "repo.example/1.pdf": PAPER_FILE}
ARCHIVES = {"europepmc": EUROPEPMC, "pubmed": PUBMED, "core": CORE}
NAMES = {
    "europepmc": (DOI, "pmid:31", "PMC7"),
    "pubmed": (DOI, "pmid:31", "PMC7"),
    "core": (DOI,),
}


RATES = {f"{name.upper()}_RATE": "1000/s" for name in shipped_model().providers}


async def read(identifier: str, stubs: dict[str, Stub], otherwise: Stub = (404, {}, {})) -> dict[str, Any]:
    """What reading a paper gives without any key."""
    upstreams = Upstreams(stubs, otherwise=otherwise)
    product = Product(upstreams, RATES, model=at_once(), is_live=False)
    return await product.answer("paper_fulltext", identifier=identifier)


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("others", ["have nothing", "fail"])
async def test_a_paper_is_read_by_each_of_its_names_from_whichever_archive_is_left(archive: str, others: str) -> None:
    rest = NOTHING if others == "have nothing" else {}

    for name in NAMES[archive]:
        answer = await read(name, {**rest, **ARCHIVES[archive]}, otherwise=(503, {}, {}))

        assert TEXT in answer["content"], name
        assert (answer["source"], answer["title"], answer["openAccess"]) == (archive, "What otters eat", True)
        told = " ".join(answer.get("notices", ()))
        assert ("Not all could be asked" in told) == (others == "fail" and archive != "europepmc"), told
        assert "note" not in answer


async def test_where_no_archive_has_it_the_free_pdf_that_an_index_knows_is_read() -> None:
    answer = await read(DOI, {**NOTHING, **SCHOLAR})

    assert "Otters eat fish in winter" in answer["content"]
    assert (answer["source"], answer["pdfUrl"]) == ("semanticscholar", "https://repo.example/1.pdf")


async def test_a_preprint_is_read_from_arxiv_where_no_index_can_be_asked() -> None:
    answer = await read("arXiv:2101.00001", {**NOTHING, "arxiv.org/pdf/2101.00001": PAPER_FILE}, (503, {}, {}))

    assert "Otters eat fish in winter" in answer["content"]
    assert answer["source"] == "arxiv"


async def test_where_only_the_page_is_left_it_is_told_as_that() -> None:
    answer = await read(DOI, {**NOTHING, "doi.org/10.1000": PAGE, "api.semanticscholar.org": [None]})

    assert answer["source"] == "direct-url"
    assert answer["note"].startswith("No archive and no free PDF gave the text")


async def test_where_nobody_gives_it_each_of_them_is_named() -> None:
    upstreams = Upstreams({}, otherwise=(503, {}, {}))

    product = Product(upstreams, RATES, model=at_once(), is_live=False)
    result = await product.call("paper_fulltext", identifier=DOI)

    assert result["isError"]
    told = result["content"][0]["text"]
    assert [name for name in ("Europe PMC", "PubMed", "CORE", "Semantic Scholar") if name not in told] == []


# --- The same for papers that are searched for ------------------------------------------------------------------------

FOUND: dict[str, Stub] = {
    "api.crossref.org/works": {
        "message": {"items": [{"DOI": DOI, "URL": f"https://doi.org/{DOI}", "title": ["What otters eat"]}]}
    }
}


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize("others", ["have nothing", "fail"])
async def test_papers_with_their_texts_are_found_whichever_archive_has_them(archive: str, others: str) -> None:
    rest = NOTHING if others == "have nothing" else {}
    upstreams = Upstreams({**rest, **FOUND, **ARCHIVES[archive]}, otherwise=(503, {}, {}))

    answer = await Product(upstreams, RATES, model=at_once()).answer("academic_search", query="otters", full_text=True)

    (paper,) = answer["papers"]
    assert TEXT in paper["fullText"]


async def test_papers_of_which_nobody_has_the_text_are_counted() -> None:
    upstreams = Upstreams({**NOTHING, **FOUND}, otherwise=(503, {}, {}))

    answer = await Product(upstreams, RATES, model=at_once()).answer("academic_search", query="otters", full_text=True)

    assert answer["papers"] == []
    assert answer["removed"]["withoutText"] == 1
