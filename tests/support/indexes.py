"""Works as five scholarly indexes send them: a few facts in the shape of each, as recorded answers have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from specloom.model import Row
from tests.support.recordings import replay


@dataclass(frozen=True)
class Sent:
    """What an index has of a work; empty where it does not know."""

    index: str
    title: str
    doi: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    arxiv: str = ""
    pmid: str = ""
    url: str = ""
    abstract: str = ""
    cited: int = 0


def parse(text: str) -> Sent:
    """A work written as `index | title | DOI | authors | year | more`."""
    index, title, doi, authors, year, *more = [part.strip() for part in text.split(" | ")]
    extra = dict(each.split("=", 1) for each in more)
    named = tuple(name.strip() for name in authors.split(";") if name.strip())
    return Sent(index, title, doi, named, int(year) if year else None, **extra)


def to_openalex(works: Sequence[Sent]) -> Any:
    """A page of /works."""

    def item(work: Sent, at: int) -> dict[str, Any]:
        words: dict[str, list[int]] = {}
        for place, word in enumerate(work.abstract.split()):
            words.setdefault(word, []).append(place)
        return {
            "id": f"https://openalex.org/W{at}",
            "doi": f"https://doi.org/{work.doi}" if work.doi else None,
            "title": work.title,
            "publication_year": work.year,
            "authorships": [{"author": {"display_name": name}} for name in work.authors],
            "primary_location": {"landing_page_url": work.url or None, "source": None, "pdf_url": None},
            "best_oa_location": None,
            "locations": [],
            "open_access": {"is_oa": False},
            "cited_by_count": work.cited,
            "abstract_inverted_index": words or None,
        }

    return {"meta": {"count": len(works)}, "results": [item(work, at) for at, work in enumerate(works, 1)]}


def to_crossref(works: Sequence[Sent]) -> Any:
    """An answer of /works."""

    def item(work: Sent) -> dict[str, Any]:
        authors = [dict(zip(("given", "family"), _split(name), strict=True)) for name in work.authors]
        return {
            "DOI": work.doi,
            "URL": f"https://doi.org/{work.doi}",
            "title": [work.title],
            **({"author": authors} if authors else {}),
            **({"issued": {"date-parts": [[work.year]]}} if work.year else {"issued": {"date-parts": [[None]]}}),
            "container-title": [],
            "is-referenced-by-count": work.cited,
            **({"abstract": f"<jats:p>{work.abstract}</jats:p>"} if work.abstract else {}),
        }

    return {"status": "ok", "message": {"total-results": len(works), "items": [item(work) for work in works]}}


def _split(name: str) -> tuple[str, str]:
    given, _, family = name.rpartition(" ")
    return given, family


def to_semanticscholar(works: Sequence[Sent]) -> Any:
    """An answer of /paper/search."""

    def item(work: Sent, at: int) -> dict[str, Any]:
        ids = {"DOI": work.doi, "ArXiv": work.arxiv, "PubMed": work.pmid}
        return {
            "paperId": f"{at:040x}",
            "externalIds": {name: value for name, value in ids.items() if value},
            "title": work.title,
            "abstract": work.abstract or None,
            "venue": "",
            "year": work.year,
            "authors": [{"authorId": None, "name": name} for name in work.authors],
            "citationCount": work.cited,
            "isOpenAccess": False,
            "openAccessPdf": None,
        }

    return {"total": len(works), "offset": 0, "data": [item(work, at) for at, work in enumerate(works, 1)]}


def to_europepmc(works: Sequence[Sent]) -> Any:
    """An answer of /search in its core form."""

    def item(work: Sent, at: int) -> dict[str, Any]:
        known = {"doi": work.doi, "pubYear": str(work.year or ""), "abstractText": work.abstract}
        return {
            "id": work.pmid or f"PPR{at}",
            "source": "MED" if work.pmid else "PPR",
            "title": work.title,
            "authorList": {"author": [{"fullName": name} for name in work.authors]},
            "citedByCount": work.cited,
            **{name: value for name, value in known.items() if value},
        }

    found = [item(work, at) for at, work in enumerate(works, 1)]
    return {"hitCount": len(found), "resultList": {"result": found}}


def to_arxiv(works: Sequence[Sent]) -> Any:
    """An Atom feed."""
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/{work.arxiv}</id><title>{escape(work.title)}</title>"
        f"<published>{work.year}-01-02T00:00:00Z</published><summary>{escape(work.abstract or 'A study.')}</summary>"
        + "".join(f"<author><name>{escape(name)}</name></author>" for name in work.authors)
        + (f'<x:doi xmlns:x="http://arxiv.org/schemas/atom">{work.doi}</x:doi>' if work.doi else "")
        + f'<link href="https://arxiv.org/abs/{work.arxiv}" rel="alternate" type="text/html"/>'
        f'<link title="pdf" href="https://arxiv.org/pdf/{work.arxiv}" rel="related"/></entry>'
        for work in works
    )
    total = '<o:totalResults xmlns:o="http://a9.com/-/spec/opensearch/1.1/">1</o:totalResults>'
    return f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">{total}{entries}</feed>'


INDEXES: dict[str, Callable[[Sequence[Sent]], Any]] = {
    "openalex": to_openalex,
    "crossref": to_crossref,
    "semanticscholar": to_semanticscholar,
    "europepmc": to_europepmc,
    "arxiv": to_arxiv,
}


def to_rows(index: str, works: Sequence[Sent]) -> list[Row]:
    """The rows that the spec of an index makes of what it sends, each with who gave it and as the how manieth."""
    body = INDEXES[index](works)
    rows, _ = replay(index, "scholarly", {"query": "any", "num_results": len(works)}, body)
    return [{**row, "provider": index, "place": place} for place, row in enumerate(rows, 1)]
