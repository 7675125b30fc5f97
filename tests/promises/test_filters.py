"""A filter is in the request in the provider's own words, or held to by what the rows show, or told as not applied."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlencode

import pytest

from specloom.cache import AnswerCache
from specloom.core import Request
from tests.support.stubbed import NOW, Product, Upstreams

ROWS = "rows"
"""Nobody is told of the filter; rows that show something else are left out."""
TOLD = "told"
"""Neither the provider nor its rows know it."""
SILENT = "silent"
"""The provider has nothing of the kind, so it is not asked."""

ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom">'
    "<entry><id>http://arxiv.org/abs/2003.00001v1</id><title>A</title><published>2020-03-04T00:00:00Z</published>"
    "<author><name>Ann Otter</name></author></entry>"
    "<entry><id>http://arxiv.org/abs/1801.00001v1</id><title>B</title><published>2018-01-01T00:00:00Z</published>"
    "<author><name>Bob Weir</name></author></entry></feed>"
)
RECORDS = (
    "<PubmedArticleSet>"
    "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal><JournalIssue><PubDate><Year>2020</Year></PubDate>"
    "</JournalIssue><Title>Nature</Title></Journal><ArticleTitle>A</ArticleTitle><AuthorList><Author><LastName>Otter"
    "</LastName><ForeName>Ann</ForeName></Author></AuthorList><PublicationTypeList><PublicationType>Review"
    "</PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle>"
    "<PubmedArticle><MedlineCitation><PMID>2</PMID><Article><Journal><JournalIssue><PubDate><Year>2018</Year></PubDate>"
    "</JournalIssue><Title>Weirs</Title></Journal><ArticleTitle>B</ArticleTitle><AuthorList><Author><LastName>Weir"
    "</LastName><ForeName>Bob</ForeName></Author></AuthorList><PublicationTypeList><PublicationType>Journal Article"
    "</PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
PAPERS: dict[str, Any] = {
    "api.openalex.org/sources": {"results": [{"id": "https://openalex.org/S1", "display_name": "Nature"}]},
    "api.openalex.org/works": {
        "meta": {"count": 2},
        "results": [
            {
                "id": f"https://openalex.org/W{at}",
                "title": title,
                "publication_year": int(day[:4]),
                "publication_date": day,
                "type": kind,
                "language": language,
                "authorships": [{"author": {"display_name": name}}],
                "primary_location": {"source": {"display_name": venue, "type": "journal"}},
                "cited_by_count": cited,
            }
            for at, (title, day, kind, language, name, venue, cited) in enumerate(
                [
                    ("A", "2020-03-04", "review", "de", "Ann Otter", "Nature", 9),
                    ("B", "2018-01-01", "article", "en", "Bob Weir", "Weirs", 1),
                ]
            )
        ],
    },
    "api.crossref.org/works": {
        "message": {
            "total-results": 2,
            "items": [
                {
                    "DOI": f"10.1234/{title}",
                    "URL": f"https://doi.org/10.1234/{title}",
                    "title": [title],
                    "type": "journal-article",
                    "author": [{"given": given, "family": family}],
                    "container-title": [venue],
                    "published": {"date-parts": [day]},
                    "is-referenced-by-count": cited,
                }
                for title, given, family, venue, day, cited in [
                    ("A", "Ann", "Otter", "Nature", [2020, 3, 4], 9),
                    ("B", "Bob", "Weir", "Weirs", [2018, 1, 1], 1),
                ]
            ],
        }
    },
    "semanticscholar.org/graph/v1/paper/search": {
        "total": 2,
        "data": [
            {
                "paperId": title,
                "title": title,
                "venue": venue,
                "year": int(day[:4]),
                "publicationDate": day,
                "publicationTypes": kinds,
                "authors": [{"name": name}],
                "citationCount": cited,
            }
            for title, venue, day, kinds, name, cited in [
                ("A", "Nature", "2020-03-04", ["Review"], "Ann Otter", 9),
                ("B", "Weirs", "2018-01-01", ["JournalArticle"], "Bob Weir", 1),
            ]
        ],
    },
    "esearch.fcgi": {"esearchresult": {"count": "2", "idlist": ["1", "2"]}},
    "efetch.fcgi": RECORDS,
    "europepmc": {
        "hitCount": 2,
        "resultList": {
            "result": [
                {
                    "id": title,
                    "source": "MED",
                    "title": title,
                    "pubYear": day[:4],
                    "firstPublicationDate": day,
                    "authorList": {"author": [{"fullName": name}]},
                    "journalInfo": {"journal": {"title": venue}},
                    "pubTypeList": {"pubType": [kind]},
                    "citedByCount": cited,
                }
                for title, day, name, venue, kind, cited in [
                    ("A", "2020-03-04", "Otter A", "Nature", "Review", 9),
                    ("B", "2018-01-01", "Weir B", "Weirs", "Journal Article", 1),
                ]
            ]
        },
    },
    "export.arxiv.org": ATOM,
    "doaj.org": {
        "total": 2,
        "results": [
            {
                "id": title,
                "bibjson": {"title": title, "year": year, "author": [{"name": name}], "journal": {"title": venue}},
            }
            for title, year, name, venue in [("A", "2020", "Ann Otter", "Nature"), ("B", "2018", "Bob Weir", "Weirs")]
        ],
    },
    "api.core.ac.uk": {
        "totalHits": 2,
        "results": [
            {
                "title": title,
                "doi": f"10.1234/{title}",
                "yearPublished": year,
                "authors": [{"name": name}],
                "citationCount": cited,
            }
            for title, year, name, cited in [("A", 2020, "Otter, Ann", 9), ("B", 2018, "Weir, Bob", 1)]
        ],
    },
    "scholarapi.net": {
        "papers": [
            {
                "title": title,
                "url": f"https://{title}.example",
                "published_date": day,
                "journal": venue,
                "authors": [name],
            }
            for title, day, venue, name in [
                ("A", "2020-03-04", "Nature", "Ann Otter"),
                ("B", "2018-01-01", "Weirs", "Bob Weir"),
            ]
        ]
    },
}
"""What each index answers, filtered or not: a paper that fits all filters, and one that fits none."""
SCHOLARLY: dict[str, dict[str, Any]] = {
    "author": {"author": "Ann Otter"},
    "venue": {"venue": "Nature"},
    "issn": {"venue": "1476-4687"},
    "type": {"type": "review"},
    "field": {"field": "Biology"},
    "language": {"language": "de"},
    "min_citations": {"min_citations": 5},
    "date_from": {"date_from": "2020-02-01"},
    "date_to": {"date_to": "2020-12-24", "date_from": "2020-02-01"},
}
HELD = {
    "openalex": {
        "author": "raw_author_name.search:Ann Otter",
        "venue": "primary_location.source.id:S1",
        "issn": "primary_location.source.issn:1476-4687",
        "type": "type:review",
        "field": "primary_topic.field.id:11|13|24|28",
        "language": "language:de",
        "min_citations": "cited_by_count:>4",
        "date_from": "from_publication_date:2020-02-01",
        "date_to": "to_publication_date:2020-12-24",
    },
    "crossref": {
        "author": "query.author=Ann Otter",
        "venue": "query.container-title=Nature",
        "issn": "issn:1476-4687",
        "type": SILENT,
        "field": TOLD,
        "language": TOLD,
        "min_citations": ROWS,
        "date_from": "from-pub-date:2020-02-01",
        "date_to": "until-pub-date:2020-12-24",
    },
    "semanticscholar": {
        "author": ROWS,
        "venue": "venue=Nature",
        "issn": SILENT,
        "type": "publicationTypes=Review",
        "field": "fieldsOfStudy=Biology",
        "language": TOLD,
        "min_citations": "minCitationCount=5",
        "date_from": "publicationDateOrYear=2020-02-01:",
        "date_to": "publicationDateOrYear=2020-02-01:2020-12-24",
    },
    "pubmed": {
        "author": "otter a[au]",
        "venue": '"Nature"[ta]',
        "issn": "1476-4687[is]",
        "type": "review[pt]",
        "field": TOLD,
        "language": "ger[la]",
        "min_citations": TOLD,
        "date_from": "mindate=2020/02/01",
        "date_to": "maxdate=2020/12/24",
    },
    "europepmc": {
        "author": 'AUTH:"otter a"',
        "venue": 'JOURNAL:"Nature"',
        "issn": "ISSN:1476-4687",
        "type": 'PUB_TYPE:"review"',
        "field": TOLD,
        "language": "LANG:ger",
        "min_citations": ROWS,
        "date_from": "FIRST_PDATE:[2020-02-01 TO",
        "date_to": "TO 2020-12-24]",
    },
    "arxiv": {
        "author": 'au:"Ann Otter"',
        "venue": TOLD,
        "issn": TOLD,
        "type": SILENT,
        "field": TOLD,
        "language": TOLD,
        "min_citations": TOLD,
        "date_from": "submittedDate:[202002010000 TO",
        "date_to": "TO 202012242359]",
    },
    "doaj": {
        "author": 'bibjson.author.name:"Ann Otter"',
        "venue": 'bibjson.journal.title:"Nature"',
        "issn": "issn:1476-4687",
        "type": SILENT,
        "field": TOLD,
        "language": "bibjson.journal.language:DE",
        "min_citations": TOLD,
        "date_from": ROWS,
        "date_to": ROWS,
    },
    "core": {
        "author": 'authors:"Ann Otter"',
        "venue": TOLD,
        "issn": TOLD,
        "type": TOLD,
        "field": TOLD,
        "language": TOLD,
        "min_citations": ROWS,
        "date_from": ROWS,
        "date_to": ROWS,
    },
    "scholarapi": {
        "author": ROWS,
        "venue": ROWS,
        "issn": TOLD,
        "type": TOLD,
        "field": TOLD,
        "language": TOLD,
        "min_citations": TOLD,
        "date_from": ROWS,
        "date_to": ROWS,
    },
}
"""Of each index and filter, the words that the request has, or how else it is held to."""


def words_of(requests: list[Request]) -> str:
    """All that was sent, decoded."""
    sent = []
    for one in requests:
        query = urlencode([(name, str(value)) for name, value in one.query])
        sent.append(unquote(f"{one.url}?{query}".replace("+", " ")) + (one.body or b"").decode())
    return "\n".join(sent)


async def check(
    tool: str, provider: str, filter_: str, how: str, asked: dict[str, Any], *, stubs: Any, rows: str
) -> None:
    """Ask one provider with one filter, and hold what was sent and told against what should be."""
    upstreams = Upstreams(stubs)
    name = next(iter(asked))

    answer = await Product(upstreams, KEYS).answer(tool, **asked, provider=provider)

    told = answer.get("notApplied", [])
    mine = [one for one in upstreams.asked if one.provider == provider]
    if how == SILENT:
        assert mine == []
    elif how == TOLD:
        # Where a filter is a promise, rows that show nothing of it are left out, which is told as well.
        assert name in told or (not answer[rows] and any(answer["removed"].values())), (told, answer.get("removed"))
    elif how == ROWS:
        assert name not in told
        assert [one["title"] for one in answer[rows]] == ["A"]
    else:
        assert how in words_of(mine), words_of(mine)
        assert name not in told


KEYS = {
    "CORE_API_KEY": "made-up-1",
    "SCHOLAR_API_KEY": "made-up-2",
    "BRAVE_API_KEY": "made-up-3",
    "GOOGLE_CUSTOM_SEARCH_API_KEY": "made-up-4",
    "GOOGLE_CUSTOM_SEARCH_ID": "made-up-5",
    "SERPER_API_KEY": "made-up-6",
    "SEARCHAPI_API_KEY": "made-up-7",
    "TAVILY_API_KEY": "made-up-8",
    "EXA_API_KEY": "made-up-9",
    "SEARXNG_URL": "https://searx.example.org",
}


@pytest.mark.parametrize(
    ("provider", "filter_", "how"),
    [(provider, filter_, how) for provider, held in HELD.items() for filter_, how in held.items()],
)
async def test_a_filter_of_papers_is_sent_or_held_to_or_told(provider: str, filter_: str, how: str) -> None:
    await check(
        "academic_search",
        provider,
        filter_,
        how,
        SCHOLARLY[filter_] | {"query": "otters"},
        stubs=PAPERS,
        rows="papers",
    )


async def test_of_several_indexes_those_are_asked_that_hold_to_most() -> None:
    upstreams = Upstreams(PAPERS)

    answer = await Product(upstreams).answer("academic_search", query="otters", field="Biology", min_citations=5)

    assert set(upstreams.providers()) <= {"openalex", "semanticscholar", "crossref"}
    assert "api.crossref.org/works?" not in words_of([one for one in upstreams.asked if "otters" in str(one.query)])
    assert {one["title"] for one in answer["papers"]} == {"A"}


async def test_pages_on_other_sites_are_no_papers() -> None:
    page = {
        "web": {
            "results": [{"title": "A", "url": "https://a.example/"}, {"title": "B", "url": "https://arxiv.org/abs/1"}]
        }
    }

    answer = await Product(Upstreams({"brave.com": page}), {"BRAVE_API_KEY": "made-up"}).answer(
        "academic_search", query="otters", provider="brave", source="arxiv"
    )

    assert [one["title"] for one in answer["papers"]] == ["B"]
    assert answer["removed"]["otherSites"] == 1


# --- Patents ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{}, {"provider": "brave"}, {"year_from": 2019}])
async def test_pages_on_other_hosts_are_no_patents(asked: dict[str, Any]) -> None:
    pages = {
        "web": {
            "results": [
                {"title": "A", "url": "https://mirror.example/patent/US9999998B2/en"},
                {"title": "B", "url": "https://patents.google.com.mirror.example/patent/US9999997B2/en"},
                {"title": "C", "url": "https://patents.google.com/patent/US9999999B2/en"},
            ]
        }
    }
    page = '<meta name="DC.title" content="Float"><meta name="DC.date" content="2020-01-02" scheme="dateSubmitted">'
    number = '<dd itemprop="publicationNumber">US9999999B2</dd>'
    upstreams = Upstreams({"brave.com": pages, "patents.google.com/patent/US9999999B2": page + number})

    answer = await Product(upstreams, {"BRAVE_API_KEY": "made-up"}).answer("patent_search", query="otters", **asked)

    assert [one["number"] for one in answer["patents"]] == ["US9999999B2"]
    assert answer["removed"]["otherSites"] == 2
    assert not any("mirror" in one.url or "US9999998" in one.url for one in upstreams.asked)


FOUND = {
    "searchapi.io": {
        "organic_results": [{"patent_id": f"patent/US900000{at}B2/en", "title": title} for at, title in enumerate("AB")]
    },
    "published-data/search": "<r xmlns='http://www.epo.org/exchange'>"
    + "".join(
        f"<exchange-document country='US' doc-number='900000{at}' kind='B2'><bibliographic-data>"
        f"<invention-title lang='en'>{title}</invention-title></bibliographic-data></exchange-document>"
        for at, title in enumerate("AB")
    )
    + "</r>",
    "auth/accesstoken": {"access_token": "t"},
    "api.lens.org": {
        "total": 2,
        "data": [
            {
                "jurisdiction": "US",
                "doc_number": f"900000{at}",
                "kind": "B2",
                "biblio": {"invention_title": title},
                "legal_status": {"patent_status": status},
            }
            for at, (title, status) in enumerate([("A", "ACTIVE"), ("B", "EXPIRED")])
        ],
    },
    "api.uspto.gov": {
        "count": 2,
        "patentFileWrapperDataBag": [
            {
                "lastIngestionDateTime": "2025-01-01T00:00:00",
                "applicationMetaData": {
                    "patentNumber": f"900000{at}",
                    "inventionTitle": title,
                    "filingDate": "2020-01-01",
                    "applicationStatusDescriptionText": status,
                },
            }
            for at, (title, status) in enumerate([("A", "Patented Case"), ("B", "Patent Expired Due to NonPayment")])
        ],
    },
    "brave.com": {
        "web": {
            "results": [
                {"title": title, "url": f"https://patents.google.com/patent/US900000{at}B2/en"}
                for at, title in enumerate("AB")
            ]
        }
    },
}
"""What each register answers, filtered or not: a patent that is in force, and one that is no longer."""


def page(number: str, title: str, status: str) -> str:
    """A page of Google Patents."""
    standing = f'<dd itemprop="legalStatusIfi"><span itemprop="status">{status}</span></dd>' if status else ""
    return f'<meta name="DC.title" content="{title}"><dd itemprop="publicationNumber">{number}</dd>{standing}'


READ = {
    "patent/US9000000B2": page("US9000000B2", "A", "Active"),
    "patent/US9000001B2": page("US9000001B2", "B", "Expired - Lifetime"),
}
SILENT_PAGES = {
    "patent/US9000000B2": page("US9000000B2", "A", ""),
    "patent/US9000001B2": page("US9000001B2", "B", ""),
}
PATENT_KEYS = {
    "SEARCHAPI_API_KEY": "made-up-1",
    "EPO_OPS_CONSUMER_KEY": "made-up-2",
    "EPO_OPS_CONSUMER_SECRET": "made-up-3",
    "LENS_API_TOKEN": "made-up-4",
    "USPTO_API_KEY": "made-up-5",
    "BRAVE_API_KEY": "made-up-6",
}


@pytest.mark.parametrize(
    ("provider", "pages", "how"),
    [
        ("lens", SILENT_PAGES, '"match":{"legal_status.patent_status":"ACTIVE"}'),
        ("uspto", SILENT_PAGES, ROWS),
        ("epo", READ, ROWS),
        ("searchapi", READ, ROWS),
        ("brave", READ, ROWS),
        ("epo", SILENT_PAGES, TOLD),
        ("searchapi", SILENT_PAGES, TOLD),
        ("brave", SILENT_PAGES, TOLD),
    ],
)
async def test_the_legal_status_is_sent_or_held_to_or_told(provider: str, pages: dict[str, str], how: str) -> None:
    upstreams = Upstreams(FOUND | pages, otherwise=(404, {}, {}))
    asked = {"query": "otters", "legal_status": "active", "provider": provider}

    answer = await Product(upstreams, PATENT_KEYS).answer("patent_search", **asked)

    mine = [one for one in upstreams.asked if one.provider == provider]
    assert how in (ROWS, TOLD) or how in words_of(mine), words_of(mine)
    assert [one["title"] for one in answer["patents"]] == (["A", "B"] if how == TOLD else ["A"])
    assert answer.get("notApplied") == (["legal_status"] if how == TOLD else None)
    assert answer.get("removed", {}).get("otherStatus") == (None if how == TOLD else 1)


async def test_who_knows_the_legal_status_is_asked_first_and_alone_side_by_side() -> None:
    asked = {"query": "otters", "legal_status": "expired"}

    for depth, those in (("quick", {"lens"}), ("wide", {"lens", "uspto"})):
        upstreams = Upstreams(FOUND, otherwise=(404, {}, {}))
        answer = await Product(upstreams, PATENT_KEYS).answer("patent_search", **asked, depth=depth)

        assert set(upstreams.providers()) == those
        assert [one["title"] for one in answer["patents"]] == ["B"]


CLAIMS = """<section itemprop="claims"><div class="claims" lang="EN"><div num="1">1. A float.</div>
<div num="2">2. The float of claim 1.</div></div></section>
<table><tr itemprop="docdbFamily"><td><span itemprop="publicationNumber">EP9000000A1</span></td>
<td itemprop="publicationDate">2020-01-02</td></tr></table>"""


async def test_claims_and_family_of_a_number_need_no_key_and_one_page() -> None:
    upstreams = Upstreams({"patent/US9000000B2": page("US9000000B2", "A", "Active") + CLAIMS}, otherwise=(404, {}, {}))
    cache = AnswerCache(disk=None, key=None, clock=lambda: NOW, warn=pytest.fail)

    answer = await Product(upstreams, cache=cache).answer(
        "patent_search", query="US 9,000,000 B2", claims=True, family=True
    )

    (patent,) = answer["patents"]
    assert patent["claims"] == ["1. A float.", "2. The float of claim 1."]
    assert patent["family"] == [{"number": "US9000000B2"}, {"number": "EP9000000A1", "published": "2020-01-02"}]
    assert patent["legalStatus"] == "active"
    assert len(upstreams.asked) == 1


async def test_the_register_goes_before_the_page_for_a_family_and_stands_in_for_its_claims() -> None:
    fulltext = (
        "<fulltext-documents xmlns='http://www.epo.org/fulltext'><fulltext-document><publication-reference><country>EP"
        "</country><doc-number>9000000</doc-number><kind>B1</kind></publication-reference><claims lang='EN'><claim>"
        "<claim-text>1. A float.</claim-text></claim></claims></fulltext-document></fulltext-documents>"
    )
    number = (
        "<document-id document-id-type='docdb'><country>EP</country><doc-number>9000000</doc-number><kind>B1</kind>"
    )
    family = (
        "<ops:patent-family xmlns='http://www.epo.org/exchange' xmlns:ops='http://ops.epo.org'>"
        f"<ops:publication-reference>{number}</document-id></ops:publication-reference><ops:family-member "
        f"family-id='7'><publication-reference>{number}<date>20200102</date></document-id></publication-reference>"
        "</ops:family-member></ops:patent-family>"
    )
    upstreams = Upstreams(
        {
            "patent/EP9000000B1": page("EP9000000B1", "A", ""),
            "auth/accesstoken": {"access_token": "t"},
            "docdb/EP.9000000.B1/claims": fulltext,
            "family/publication/docdb/EP.9000000.B1": family,
        },
        otherwise=(404, {}, {}),
    )

    answer = await Product(upstreams, PATENT_KEYS).answer(
        "patent_search", query="EP9000000B1", claims=True, family=True
    )

    (patent,) = answer["patents"]
    assert patent["claims"] == ["1. A float."]
    assert (patent["familyId"], patent["family"]) == ("docdb:7", [{"number": "EP9000000B1", "published": "2020-01-02"}])
    assert "notApplied" not in answer


async def test_what_nobody_has_of_a_number_is_told_as_not_applied() -> None:
    upstreams = Upstreams({"api.uspto.gov": FOUND["api.uspto.gov"]}, otherwise=(404, {}, {}))

    answer = await Product(upstreams, PATENT_KEYS).answer(
        "patent_search", query="US9000000B2", claims=True, family=True
    )

    assert [one["number"] for one in answer["patents"]] == ["US9000000"]
    assert answer["notApplied"] == ["claims", "family"]


async def test_claims_of_no_number_are_refused() -> None:
    result = await Product(Upstreams()).call("patent_search", query="otter float", claims=True)

    assert result["isError"]
    assert "claims and family are told of one patent" in result["content"][0]["text"]


# --- The web ---------------------------------------------------------------------------------------------------------


def organic(name: str, link: str = "link", date: str = "") -> dict[str, Any]:
    """Two pages as engines write them, of which the second is too old where days are told."""
    pages = [("A", "2020-03-04"), ("B", "2018-01-01")]
    return {
        name: [{"title": one, link: f"https://{one}.example/", **({date: day} if date else {})} for one, day in pages]
    }


WEB: dict[str, Any] = {
    "brave.com": {"web": organic("results", "url", "page_age")},
    "googleapis": organic("items"),
    "serper.dev": organic("organic", "link", "date"),
    "searchapi.io": organic("organic_results", "link", "date"),
    "tavily.com": organic("results", "url"),
    "exa.ai": organic("results", "url", "publishedDate"),
    "searx.example.org": organic("results", "url", "publishedDate"),
}
PAGES = {"date_from": {"date_from": "2020-02-01", "date_to": "2020-12-24"}, "file_type": {"file_type": "pdf"}}
SENT = {
    "brave": {"date_from": "freshness=2020-02-01to2020-12-24", "file_type": "filetype:pdf"},
    "google": {"date_from": "sort=date:r:20200201:20201224", "file_type": "fileType=pdf"},
    "serper": {"date_from": "cdr:1,cd_min:02/01/2020,cd_max:12/24/2020", "file_type": "filetype:pdf"},
    "searchapi": {"date_from": "time_period_min=02/01/2020", "file_type": "filetype:pdf"},
    "tavily": {"date_from": '"start_date":"2020-02-01"', "file_type": TOLD},
    "exa": {"date_from": '"startPublishedDate":"2020-02-01T00:00:00.000Z"', "file_type": TOLD},
    "searxng": {"date_from": TOLD, "file_type": "filetype:pdf"},
}


@pytest.mark.parametrize(
    ("provider", "filter_", "how"),
    [(provider, filter_, how) for provider, held in SENT.items() for filter_, how in held.items()],
)
async def test_a_filter_of_pages_is_sent_or_told(provider: str, filter_: str, how: str) -> None:
    asked = PAGES[filter_] | {"query": "otters"}
    await check("web_search", provider, filter_, how, asked, stubs=WEB, rows="results")


async def test_pages_known_to_be_of_other_days_are_left_out_whoever_found_them() -> None:
    answer = await Product(Upstreams(WEB), KEYS).answer(
        "web_search", query="otters", provider="searxng", date_from="2020-02-01"
    )

    assert [one["title"] for one in answer["results"]] == ["A"]
    assert answer["removed"] == {"otherSites": 0, "otherDays": 1}


# --- Courts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"judge": "Otter"}, "judge=Otter"),
        ({"docket_number": "70-18"}, "docket_number=70-18"),
        ({"jurisdiction": "scotus"}, "court=scotus"),
        ({"jurisdiction": "Ninth Circuit"}, "court=ca9"),
        (
            {"jurisdiction": "U.S. District Court for the Southern District of New York, Cal."},
            "court=nysd,cal,calctapp",
        ),
        ({"date_from": "2001-01-01"}, "filed_after=2001-01-01"),
        ({"date_to": "2001-01-01"}, "filed_before=2001-01-01"),
        ({"cites": "347 U.S. 483"}, "otters cites:(11)"),
    ],
)
async def test_a_filter_of_cases_is_sent(asked: dict[str, Any], words: str) -> None:
    found = {
        "count": 1,
        "next": None,
        "results": [{"absolute_url": "/opinion/1/a/", "caseName": "A", "opinions": [{"id": 11}]}],
    }
    upstreams = Upstreams({"courtlistener.com": found})

    answer = await Product(upstreams).answer("legal_search", query="otters", **asked)

    assert words in words_of(upstreams.asked)
    assert answer["resultCount"] == 1


async def test_what_is_no_court_is_refused_and_nobody_is_asked() -> None:
    upstreams = Upstreams()

    result = await Product(upstreams).call("legal_search", query="otters", jurisdiction="Court of Otters")

    assert result["isError"]
    assert "Court of Otters is no court that is known here" in result["content"][0]["text"]
    assert upstreams.asked == []
