"""Upstreams with numbered rows, in the shapes and with the pages of the real ones, for walks through all of them.

Each answers like its service with `total` rows and the bounds of its pages; a row's number stands in its title.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from specloom.core import Request
from tests.support.stubbed import Stub

Pages = Callable[[dict[str, str], Any, int], Stub]
"""What an upstream answers to these parameters and this body, of so many rows in all."""


def parameters(request: Request) -> dict[str, str]:
    """The query of a request, without what is secret."""
    return {name: value for name, value in request.query if isinstance(value, str)}


def serve(pages: Pages, total: int) -> Callable[[Request], Stub]:
    """A stub that has so many rows."""

    def answer(request: Request) -> Stub:
        body = json.loads(request.body) if request.body and request.body.startswith(b"{") else None
        return pages(parameters(request), body, total)

    return answer


def rows(first: int, size: int, total: int) -> range:
    """The numbers of a page that begins at `first`, counted from 0."""
    return range(first, max(first, min(first + size, total)))


def title(number: int) -> str:
    """What a row is called; all titles have one length, because some upstreams are put in order by it."""
    return f"Otters {number:04d}"


# --- Scholarly ---


def openalex(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    results = [{"id": f"https://openalex.org/W{n}", "title": title(n)} for n in rows((page - 1) * size, size, total)]
    return {"meta": {"count": total, "per_page": size}, "results": results}


def crossref(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query.get("rows", 0)), total)
    items = [{"DOI": f"10.1234/{n}", "URL": f"https://doi.org/10.1234/{n}", "title": [title(n)]} for n in found]
    return {"message": {"total-results": total, "items": items}}


def europepmc(query: dict[str, str], _: Any, total: int) -> Stub:
    first, size = int(query.get("cursorMark", "m0")[1:]), int(query["pageSize"])
    found = [{"id": str(n), "source": "MED", "title": title(n)} for n in rows(first, size, total)]
    return {"hitCount": total, "nextCursorMark": f"m{min(first + size, total)}", "resultList": {"result": found}}


def semanticscholar(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    more = {"next": found.stop} if found.stop < total else {}
    return {"total": total, **more, "data": [{"paperId": f"p{n}", "title": title(n)} for n in found]}


def pubmed_ids(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("retstart", 0)), int(query["retmax"]), total)
    return {"esearchresult": {"count": str(total), "idlist": [str(n + 1) for n in found]}}


def pubmed_records(query: dict[str, str], _: Any, total: int) -> Stub:
    articles = (
        f"<PubmedArticle><MedlineCitation><PMID>{n}</PMID><Article><ArticleTitle>{title(int(n) - 1)}</ArticleTitle>"
        "</Article></MedlineCitation></PubmedArticle>"
        for n in query["id"].split(",")
    )
    return f"<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>"


def arxiv(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("start", 0)), int(query["max_results"]), total)
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/2401.{n:05d}v1</id><title>{title(n)}</title></entry>" for n in found
    )
    spaces = 'xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/"'
    return f"<feed {spaces}><o:totalResults>{total}</o:totalResults>{entries}</feed>"


def core(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    return {"totalHits": total, "results": [{"title": title(n), "doi": f"10.1234/{n}"} for n in found]}


def doaj(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["pageSize"]), int(query.get("page", 1))
    found = [{"id": f"d{n}", "bibjson": {"title": title(n)}} for n in rows((page - 1) * size, size, total)]
    return {"total": total, "page": page, "results": found}


def semanticscholar_citations(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    more = {"next": found.stop} if found.stop < total else {}
    return {**more, "data": [{"citingPaper": {"paperId": f"c{n}", "title": title(n)}} for n in found]}


def semanticscholar_references(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    more = {"next": found.stop} if found.stop < total else {}
    return {**more, "data": [{"citedPaper": {"paperId": f"r{n}", "title": title(n)}} for n in found]}


def openlibrary(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["limit"]), int(query.get("page", 1))
    found = [{"key": f"/works/OL{n}W", "title": title(n)} for n in rows((page - 1) * size, size, total)]
    return {"numFound": total, "docs": found}


def doab(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    return [{"name": title(n), "handle": f"20.500.12854/{n}", "metadata": []} for n in found]


def datacite(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["page[size]"]), int(query.get("page[number]", 1))
    found = rows((page - 1) * size, size, total)
    data = [{"attributes": {"doi": f"10.5061/{n}", "titles": [{"title": title(n)}]}} for n in found]
    return {"data": data, "meta": {"total": total}}


def zenodo(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["size"]), int(query.get("page", 1))
    found = rows((page - 1) * size, size, total)
    hits = [{"metadata": {"title": title(n), "doi": f"10.5281/zenodo.{n}"}} for n in found]
    return {"hits": {"total": total, "hits": hits}}


# --- Web, news, images ---


def brave_web(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["count"]), int(query.get("offset", 0))
    found = rows(page * size, size, total)
    results = [{"title": title(n), "url": f"https://x.example/{n}"} for n in found]
    return {"query": {"more_results_available": found.stop < total}, "web": {"results": results}}


def brave_news(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["count"]), int(query.get("offset", 0))
    return {"results": [{"title": title(n), "url": f"https://x.example/{n}"} for n in rows(page * size, size, total)]}


def google(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("start", 1)) - 1, int(query["num"]), total)
    items = [{"title": title(n), "link": f"https://x.example/{n}"} for n in found]
    more = [{"startIndex": found.stop + 1}] if found.stop < total else []
    return {"queries": {"nextPage": more}, "items": items, "searchInformation": {"totalResults": str(total)}}


def organic(query: dict[str, str], body: Any, total: int) -> Stub:
    """Google's rows as those sell them who read it: ten a page, and nobody says whether there is a further one."""
    asked = body or query
    found = rows((int(asked.get("page", 1)) - 1) * 10, int(asked["num"]), total)
    results = [{"title": title(n), "link": f"https://x.example/{n}"} for n in found]
    return {"organic": results, "organic_results": results}


def youcom(query: dict[str, str], _: Any, total: int) -> Stub:
    size = int(query["count"])
    found = rows(int(query.get("offset", 0)) * size, size, total)
    results = [{"title": title(n), "url": f"https://x.example/{n}"} for n in found]
    return {"results": {"web": results, "news": results}}


def searxng(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows((int(query.get("pageno", 1)) - 1) * 12, 12, total)
    return {"results": [{"title": title(n), "url": f"https://x.example/{n}"} for n in found]}


def wikipedia(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("sroffset", 0)), int(query["srlimit"]), total)
    more = {"continue": {"sroffset": found.stop}} if found.stop < total else {}
    return {**more, "query": {"search": [{"title": title(n), "pageid": n + 1, "snippet": ""} for n in found]}}


def marginalia(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["count"]), int(query.get("page", 1))
    results = [{"title": title(n), "url": f"https://x.example/{n}"} for n in rows((page - 1) * size, size, total)]
    return {"page": page, "pages": -(-total // size), "results": results}


def hackernews(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["hitsPerPage"]), int(query.get("page", 0))
    hits = [{"objectID": str(n), "title": title(n)} for n in rows(page * size, size, total)]
    return {"page": page, "nbPages": -(-total // size), "hits": hits}


def openverse(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["page_size"]), int(query.get("page", 1))
    results = [{"title": title(n), "url": f"https://x.example/{n}.jpg"} for n in rows((page - 1) * size, size, total)]
    return {"page_count": -(-total // size), "results": results}


def commons(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("gsroffset", 0)), int(query["gsrlimit"]), total)
    pages = [
        {"title": f"File:{title(n)}", "index": n + 1, "imageinfo": [{"url": f"https://x.example/{n}.jpg"}]}
        for n in found
    ]
    return {**({"continue": {"gsroffset": found.stop}} if found.stop < total else {}), "query": {"pages": pages}}


def github_issues(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    found = rows((page - 1) * size, size, total)
    items = [{"title": title(n), "html_url": f"https://github.com/o/o/issues/{n}"} for n in found]
    return {"total_count": total, "items": items}


# --- Patents ---


def google_patents(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["num"]), int(query.get("page", 1))
    found = rows((page - 1) * size, size, total)
    return {"organic_results": [{"patent_id": f"patent/EP{n + 1000000}A1/en", "title": title(n)} for n in found]}


def epo(query: dict[str, str], _: Any, total: int) -> Stub:
    first, last = (int(n) for n in query["Range"].split("-"))
    return epo_documents(rows(first - 1, last - first + 1, total), total)


def epo_documents(numbers: Iterable[int], total: int) -> Stub:
    documents = "".join(
        f'<exchange-document country="EP" doc-number="{n + 1000000}" kind="A1"><bibliographic-data>'
        f'<invention-title lang="en">{title(n)}</invention-title></bibliographic-data></exchange-document>'
        for n in numbers
    )
    return (
        '<ops:world-patent-data xmlns="http://www.epo.org/exchange" xmlns:ops="http://ops.epo.org">'
        f'<ops:biblio-search total-result-count="{total}"><exchange-documents>{documents}</exchange-documents>'
        "</ops:biblio-search></ops:world-patent-data>"
    )


def lens(_: dict[str, str], body: Any, total: int) -> Stub:
    return lens_documents(rows(body.get("from", 0), body["size"], total), total)


def lens_documents(numbers: Iterable[int], total: int) -> Stub:
    data = [
        {
            "jurisdiction": "EP",
            "doc_number": str(n + 1000000),
            "kind": "A1",
            "biblio": {"invention_title": [{"text": title(n)}]},
        }
        for n in numbers
    ]
    return {"total": total, "data": data}


def uspto(_: dict[str, str], body: Any, total: int) -> Stub:
    found = rows(body["pagination"]["offset"], body["pagination"]["limit"], total)
    files = [
        {"applicationNumberText": str(n + 17000000), "applicationMetaData": {"inventionTitle": title(n)}} for n in found
    ]
    return {"count": total, "patentFileWrapperDataBag": files}


# --- Filings, cases, trials ---


def _hit(number: int) -> dict[str, Any]:
    accession = f"0009000001-24-{number:06d}"
    source = {"adsh": accession, "form": "8-K", "file_date": "2024-03-01", "ciks": ["0009000001"]}
    return {"_id": f"{accession}:otter.htm", "_source": {**source, "display_names": [f"{title(number)}  (OTTR)"]}}


def edgar_texts(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("from", 0)), 100, total)
    return {"hits": {"total": {"value": total, "relation": "eq"}, "hits": [_hit(n) for n in found]}}


def edgar_filings(_: dict[str, str], __: Any, total: int) -> Stub:
    numbers = range(total)
    recent = {
        "accessionNumber": [f"0009000001-24-{n:06d}" for n in numbers],
        "filingDate": ["2024-03-01" for _ in numbers],
        "form": ["8-K" for _ in numbers],
        "primaryDocDescription": [title(n) for n in numbers],
    }
    return {"cik": "9000001", "name": "Otter Inc.", "filings": {"recent": recent, "files": []}}


def edgar_facts(_: dict[str, str], __: Any, total: int) -> Stub:
    names = ["Revenues", "NetIncomeLoss", "Assets", "Liabilities", "StockholdersEquity"][:total]
    figure = {"end": "2024-12-31", "val": 1, "form": "10-K", "filed": "2025-02-01", "accn": "0009000001-25-000001"}
    figures = {name: {"label": title(n), "units": {"USD": [figure]}} for n, name in enumerate(names)}
    return {"cik": 9000001, "entityName": "Otter Inc.", "facts": {"us-gaap": figures}}


def xbrl(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["page[size]"]), int(query.get("page[number]", 1))
    lei = "724500OTTER000000011"
    data = [
        {
            "type": "filing",
            "attributes": {
                "date_added": "2024-02-16",
                "fxo_id": f"{lei}-2023-12-31-ESEF-FI-{n}",
                "report_url": f"/{n}",
                "country": title(n),
            },
        }
        for n in rows((page - 1) * size, size, total)
    ]
    return {"data": data, "meta": {"count": total}}


def courtlistener(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("cursor", "cz0=")[4:] or 0), 20, total)
    here = "https://www.courtlistener.com/api/rest/v4/search/"
    results = [{"absolute_url": f"/opinion/{n}/otter/", "caseName": title(n)} for n in found]
    following = f"{here}?cursor=cz0%3D{found.stop}&q=otters&type=o" if found.stop < total else None
    return {"count": total, "next": following, "results": results}


def clinicaltrials(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("pageToken", "t0")[1:]), int(query["pageSize"]), total)
    studies = [
        {"protocolSection": {"identificationModule": {"nctId": f"NCT{n:08d}", "briefTitle": title(n)}}} for n in found
    ]
    return {"studies": studies, **({"nextPageToken": f"t{found.stop}"} if found.stop < total else {})}


# --- Economic data ---


def fred_series(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    return {"count": total, "seriess": [{"id": f"O{n}", "title": title(n)} for n in found]}


def fred_observations(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    return {"count": total, "observations": [{"date": day(n), "value": str(n)} for n in found]}


def day(number: int) -> str:
    """Days backwards from the newest, as series are told."""
    return str(3000 - number)


def worldbank_series(_: dict[str, str], __: Any, total: int) -> Stub:
    return [{"page": 1, "pages": 1, "total": total}, [{"id": f"O.{n}", "name": title(n)} for n in range(total)]]


def worldbank_observations(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    found = [{"date": day(n), "value": n} for n in rows((page - 1) * size, size, total)]
    return [{"page": page, "pages": -(-total // size), "total": total}, found]


def oecd_series(_: dict[str, str], __: Any, total: int) -> Stub:
    return {
        "data": {
            "dataflows": [
                {"id": f"DF_{n}", "agencyID": "OECD", "version": "1.0", "name": title(n)} for n in range(total)
            ]
        }
    }


def oecd_observations(_: dict[str, str], __: Any, total: int) -> Stub:
    observations = {str(n): [n] for n in range(total)}
    times = [{"id": day(n)} for n in range(total)]
    structure = {
        "name": "Otters",
        "dimensions": {
            "series": [{"id": "MEASURE", "values": [{"id": "O", "name": "Otters"}]}],
            "observation": [{"id": "TIME_PERIOD", "values": times}],
        },
    }
    return {
        "data": {
            "dataSets": [{"structure": 0, "series": {"0": {"observations": observations}}}],
            "structures": [structure],
        }
    }


def eurostat_series(_: dict[str, str], __: Any, total: int) -> Stub:
    lines = ['"title"\t"code"\t"type"\t"last update of data"\t"changed"\t"data start"\t"data end"\t"values"']
    lines += [f'"{title(n)}"\t"ott_{n}"\t"dataset"\t" "\t" "\t" "\t" "\t1' for n in range(total)]
    return "\n".join(lines) + "\n"


def eurostat_observations(_: dict[str, str], __: Any, total: int) -> Stub:
    times = {"category": {"index": [day(n) for n in range(total)]}}
    values = list(range(total))
    return {
        "class": "dataset",
        "label": "Otters",
        "value": values,
        "id": ["time"],
        "size": [total],
        "dimension": {"time": times},
    }


# --- Places, the knowledge graph, lists ---


def photon(query: dict[str, str], _: Any, total: int) -> Stub:
    features = [
        {"geometry": {"coordinates": [13.0, 52.0]}, "properties": {"osm_type": "N", "osm_id": n, "name": title(n)}}
        for n in rows(0, int(query["limit"]), total)
    ]
    return {"features": features}


def monarch_entities(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    return {"total": total, "items": [{"id": f"MONDO:{n}", "name": title(n)} for n in found]}


def monarch_associations(query: dict[str, str], _: Any, total: int) -> Stub:
    found = rows(int(query.get("offset", 0)), int(query["limit"]), total)
    return {
        "total": total,
        "items": [{"subject": "MONDO:1", "object": f"HP:{n}", "subject_label": title(n)} for n in found],
    }


def ecosystems(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    return [
        {
            "name": title(n),
            "url": f"https://github.com/o/{n}",
            "repository": {"full_name": f"o/{n}", "stargazers_count": 9000 - n},
        }
        for n in rows((page - 1) * size, size, total)
    ]


def github_lists(query: dict[str, str], _: Any, total: int) -> Stub:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    found = rows((page - 1) * size, size, total)
    items = [
        {"full_name": title(n), "html_url": f"https://github.com/o/{n}", "stargazers_count": 9000 - n} for n in found
    ]
    return {"total_count": total, "items": items}


# --- Three indexes that know parts of the same three hundred works, each in an order of its own ---

OPENALEX = list(range(200))
CROSSREF = [7 * n % 200 + 100 for n in range(200)]
EUROPEPMC = list(range(299, 0, -2))


def part_of_openalex(query: dict[str, str], _: Any, __: int) -> Stub:
    size, page = int(query["per_page"]), int(query.get("page", 1))
    found = OPENALEX[(page - 1) * size : page * size]
    results = [
        {"id": f"https://openalex.org/W{n}", "doi": f"https://doi.org/10.1234/{n}", "title": title(n)} for n in found
    ]
    return {"meta": {"count": len(OPENALEX), "per_page": size}, "results": results}


def part_of_crossref(query: dict[str, str], _: Any, __: int) -> Stub:
    first = int(query.get("offset", 0))
    found = CROSSREF[first : first + int(query.get("rows", 0))]
    items = [{"DOI": f"10.1234/{n}", "URL": f"https://doi.org/10.1234/{n}", "title": [title(n)]} for n in found]
    return {"message": {"total-results": len(CROSSREF), "items": items}}


def part_of_europepmc(query: dict[str, str], _: Any, __: int) -> Stub:
    first, size = int(query.get("cursorMark", "m0")[1:]), int(query["pageSize"])
    found = EUROPEPMC[first : first + size]
    result = [{"id": str(n), "source": "MED", "doi": f"10.1234/{n}", "title": title(n)} for n in found]
    last = min(first + size, len(EUROPEPMC))
    return {"hitCount": len(EUROPEPMC), "nextCursorMark": f"m{last}", "resultList": {"result": result}}


# --- Three registers that know parts of the same three hundred patents, each in an order of its own -------------------


def part_of_searchapi(query: dict[str, str], _: Any, __: int) -> Stub:
    size, page = int(query["num"]), int(query.get("page", 1))
    found = OPENALEX[(page - 1) * size : page * size]
    return {"organic_results": [{"patent_id": f"patent/EP{n + 1000000}B1/en", "title": title(n)} for n in found]}


def part_of_epo(query: dict[str, str], _: Any, __: int) -> Stub:
    first, last = (int(n) for n in query["Range"].split("-"))
    return epo_documents(CROSSREF[first - 1 : last], len(CROSSREF))


def part_of_lens(_: dict[str, str], body: Any, __: int) -> Stub:
    first = body.get("from", 0)
    return lens_documents(EUROPEPMC[first : first + body["size"]], len(EUROPEPMC))
