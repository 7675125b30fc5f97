"""Registries, catalogues and pages played from a world of the gold set, each in the shape of its real service.

What a world does not have is answered as the service answers for it; what is in `down` does not answer at all.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response

JSON = {"content-type": "application/json"}
HTML = {"content-type": "text/html; charset=utf-8"}
HOSTS = {
    "api.crossref.org": "crossref",
    "api.datacite.org": "datacite",
    "api.openalex.org": "openalex",
    "www.ebi.ac.uk": "europepmc",
    "www.courtlistener.com": "courtlistener",
    "openlibrary.org": "openlibrary",
    "patents.google.com": "google_patents",
    "clinicaltrials.gov": "clinicaltrials",
    "doi.org": "doi_registry",
    "archive.org": "wayback",
}
ASKED = tuple(HOSTS.values())
_RESULTS = 5


@dataclass(slots=True)
class Registries:
    """Everybody who can be asked: records by registry, pages by address, and the names of those that are down."""

    world: Mapping[str, Any]
    down: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)
    _words: dict[str, frozenset[str]] = field(default_factory=dict)

    def respond(self, request: Request) -> Response | Fault:
        """The answer of the service that a request is for."""
        url = urlsplit(request.url)
        path = unquote(url.path)
        query = {name: str(value) for name, value in request.query}
        name = HOSTS.get(url.hostname or "")
        if name is None:
            return self._page(request)
        self.asked.append(name)
        if name in self.down:
            return Fault("upstream_unavailable", f"{url.hostname} answers with status 503")
        answer: Response | Fault = getattr(self, f"_{name}")(path, query)
        return answer if isinstance(answer, Fault) else replace(answer, url=request.url)

    def _of(self, name: str) -> Mapping[str, Any]:
        records: Mapping[str, Any] = self.world.get(name) or {}
        return records

    # --- records by DOI ---

    def _crossref(self, path: str, query: Mapping[str, str]) -> Response:
        records = self._of("crossref")
        if doi := path.removeprefix("/works").removeprefix("/").lower():
            if doi not in records:
                return Response(404, {}, b"Resource not found.")
            return _json({"message": to_crossref(doi, records[doi])})
        if "filter" in query:
            wanted = [part.removeprefix("doi:").lower() for part in query["filter"].split(",")]
            items = [to_crossref(doi, records[doi]) for doi in wanted if doi in records]
        else:
            items = [to_crossref(doi, record) for doi, record in self._nearest("crossref", query.get("query", ""))]
        return _json({"message": {"total-results": len(items), "items": items}})

    def _datacite(self, path: str, query: Mapping[str, str]) -> Response:
        records = self._of("datacite")
        if doi := path.removeprefix("/dois").removeprefix("/").lower():
            found = doi in records
            return _json({"data": to_datacite(doi, records[doi])}) if found else Response(404, JSON, b'{"errors":[]}')
        wanted = re.findall(r'"([^"]+)"', query.get("query", ""))
        return _json({"data": [to_datacite(doi, records[doi]) for doi in wanted if doi in records]})

    def _openalex(self, path: str, query: Mapping[str, str]) -> Response:
        records = {**self._of("crossref"), **self._of("datacite")}
        name = path.removeprefix("/works").removeprefix("/")
        if name.startswith("doi:"):
            doi = name.removeprefix("doi:").lower()
            return _json(to_openalex(doi, records[doi])) if doi in records else Response(404, HTML, b"404")
        if query.get("filter", "").startswith("doi:"):
            wanted = query["filter"].removeprefix("doi:").lower().split("|")
            found = [(doi, records[doi]) for doi in wanted if doi in records]
        else:
            words = query.get("search", "")
            found = [*self._nearest("crossref", words), *self._nearest("datacite", words)]
            found = sorted(found, key=lambda one: -len(_words(words) & self._words_of(one[1])))[:_RESULTS]
        return _json({"meta": {"count": len(found)}, "results": [to_openalex(doi, record) for doi, record in found]})

    def _doi_registry(self, path: str, _query: Mapping[str, str]) -> Response:
        doi = path.removeprefix("/api/handles/").lower()
        if doi in self._of("crossref") or doi in self._of("datacite"):
            return _json({"responseCode": 1, "handle": doi, "values": []})
        return Response(404, JSON, json.dumps({"responseCode": 100, "handle": doi}).encode())

    # --- others ---

    def _europepmc(self, _path: str, query: Mapping[str, str]) -> Response:
        records, words = self._of("europepmc"), query.get("query", "")
        dois = {doi.lower() for doi in re.findall(r'DOI:"([^"]+)"', words)}
        if number := re.search(r"EXT_ID:([0-9]+)", words):
            found = [number[1]] if number[1] in records else []
        elif dois:
            found = [one for one, record in records.items() if record["doi"] in dois]
        else:
            asked = _words(words)
            near = sorted(records, key=lambda one: -len(asked & self._words_of(records[one])))
            found = [one for one in near if asked & self._words_of(records[one])][:_RESULTS]
        results = [to_europepmc(one, records[one]) for one in found]
        return _json({"hitCount": len(results), "resultList": {"result": results}})

    def _courtlistener(self, _path: str, query: Mapping[str, str]) -> Response:
        cases = self.world.get("courts") or []
        if cited := query.get("citation"):
            found = [case for case in cases if cited in case["citations"]]
        else:
            words = _words(query.get("case_name") or query.get("q") or "")
            found = [case for case in cases if len(words & _words(case["name"])) > 1]
        return _json({"count": len(found), "results": [to_courtlistener(case) for case in found]})

    def _openlibrary(self, _path: str, query: Mapping[str, str]) -> Response:
        key = query.get("bibkeys", "")
        book = self._of("books").get(key.removeprefix("ISBN:"))
        if book is None:
            return _json({})
        return _json(
            {
                key: {
                    "key": "/books/OL1M",
                    "url": "https://openlibrary.org/books/OL1M",
                    "title": book["title"],
                    "authors": [{"name": name} for name in book["authors"]],
                    "publishers": [{"name": book["publisher"]}],
                    "publish_date": str(book["year"]),
                }
            }
        )

    def _google_patents(self, path: str, _query: Mapping[str, str]) -> Response:
        number = path.split("/")[2]
        patent = self._of("patents").get(number)
        if patent is None:
            return Response(404, HTML, b"<title>Error 404 (Not Found)</title>")
        inventors = "".join(
            f'<meta name="DC.contributor" content="{name}" scheme="inventor">' for name in patent["authors"]
        )
        page = f"""<html><head><meta name="DC.title" content="{html.escape(patent["title"])}">{inventors}
            <meta name="DC.date" content="{patent["year"]}-07-28" scheme="issue"></head>
            <body><dd itemprop="publicationNumber">{number}</dd></body></html>"""
        return Response(200, HTML, page.encode())

    def _clinicaltrials(self, _path: str, query: Mapping[str, str]) -> Response:
        trials = self._of("trials")
        number = query.get("query.id", "")
        return _json({"studies": [to_trial(number, trials[number])] if number in trials else []})

    def _wayback(self, _path: str, _query: Mapping[str, str]) -> Response:
        return _json({"archived_snapshots": {}})

    def _page(self, request: Request) -> Response | Fault:
        page = self._of("pages").get(request.url)
        if page is None:
            host = urlsplit(request.url).hostname
            if any(urlsplit(url).hostname == host for url in self._of("pages")):
                return Response(404, HTML, b"<title>404 Not Found</title>", request.url)
            return Fault("network", f"{host} could not be reached: the name does not resolve.")
        text = "".join(f"<p>{line}</p>" for line in _FILLER)
        body = f"<html><head><title>{html.escape(page['title'])}</title></head><body><main>{text}</main></body></html>"
        return Response(200, HTML, body.encode(), request.url)

    # --- searches ---

    def _nearest(self, name: str, text: str) -> list[tuple[str, Any]]:
        """As a search does: the records that share most words with a text, those that share none left out."""
        words = _words(text)
        hits = [(doi, record, len(words & self._words_of(record))) for doi, record in self._of(name).items()]
        ranked = sorted((hit for hit in hits if hit[2]), key=lambda hit: -hit[2])
        return [(doi, record) for doi, record, _ in ranked[:_RESULTS]]

    def _words_of(self, record: Mapping[str, Any]) -> frozenset[str]:
        title = str(record["title"])
        if title not in self._words:
            self._words[title] = _words(title) | _words(" ".join(author[0] for author in record["authors"]))
        return self._words[title]


_FILLER = (
    "This page of the example site has a few sentences of its own, so that a reader finds something to read in it.",
    "Its text goes on for another sentence or two, and it says nothing that any reference of the set is about.",
    "Whoever comes here looks for the name of the page, which is what its head says and what a reference would give.",
)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w{4,}", text.lower()))


def _json(value: Any) -> Response:
    return Response(200, JSON, json.dumps(value).encode())


def to_crossref(doi: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as Crossref writes it."""
    message: dict[str, Any] = {
        "DOI": doi,
        "URL": f"https://doi.org/{doi}",
        "type": record.get("type"),
        "title": [record["title"], *record.get("titles", ())],
        "author": [
            {"family": family, "given": given} if given else {"name": family} for family, given in record["authors"]
        ],
        "issued": {"date-parts": [[record.get("year")]]},
        "container-title": [record["venue"]] if record.get("venue") else [],
    }
    for theirs, ours in (("volume", "volume"), ("issue", "issue"), ("page", "pages")):
        if value := record.get(ours):
            message[theirs] = str(value)
    if updates := record.get("updates"):
        message["updated-by"] = [
            {
                "DOI": one["doi"],
                "type": one["type"],
                "source": one["source"],
                "updated": {"date-time": f"{one['date']}T00:00:00Z"},
            }
            for one in updates
        ]
    if other := record.get("replaced_by"):
        message["relation"] = {"is-replaced-by": [{"id-type": "doi", "id": other, "asserted-by": "subject"}]}
    return message


def to_datacite(doi: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as DataCite writes it."""
    creators = [
        {"name": family, "nameType": "Personal" if given else "Organizational", "familyName": family}
        | ({"givenName": given} if given else {})
        for family, given in record["authors"]
    ]
    return {
        "id": doi,
        "attributes": {
            "doi": doi,
            "titles": [{"title": record["title"]}],
            "creators": creators,
            "publicationYear": record.get("year"),
            "publisher": record.get("venue"),
            "types": {"resourceTypeGeneral": record.get("type")},
        },
    }


def to_openalex(doi: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as OpenAlex writes it, which lists no notices."""
    return {
        "id": "https://openalex.org/W1",
        "doi": f"https://doi.org/{doi}",
        "title": record["title"],
        "publication_year": record.get("year"),
        "type": "article",
        "authorships": [
            {"author": {"display_name": f"{given} {family}".strip()}} for family, given in record["authors"]
        ],
        "primary_location": {
            "source": {"display_name": record.get("venue")},
            "landing_page_url": f"https://doi.org/{doi}",
        },
    }


def to_europepmc(number: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as Europe PMC writes it."""
    return {
        "id": number,
        "source": "MED",
        "pmid": number,
        "doi": record["doi"],
        "title": f"{record['title']}.",
        "authorList": {
            "author": [
                {"fullName": f"{family} {given}".strip(), "lastName": family, "firstName": given}
                for family, given in record["authors"]
            ]
        },
        "journalInfo": {"journal": {"title": record["venue"]}},
        "pubYear": str(record["year"]),
        "pubTypeList": {"pubType": record.get("types", ["Journal Article"])},
    }


def to_courtlistener(case: Mapping[str, Any]) -> dict[str, Any]:
    """A decision as CourtListener writes it."""
    return {
        "caseName": case["name"],
        "absolute_url": "/opinion/1/case/",
        "citation": case["citations"],
        "dateFiled": str(case["date"]),
    }


def to_trial(number: str, trial: Mapping[str, Any]) -> dict[str, Any]:
    """A trial as ClinicalTrials.gov writes it."""
    return {
        "protocolSection": {
            "identificationModule": {"nctId": number, "briefTitle": trial["title"]},
            "statusModule": {"startDateStruct": {"date": f"{trial['year']}-02"}},
        }
    }
