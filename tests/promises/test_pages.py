"""Every search tool can be gone on with: each row once and in order, across restarts, and by nobody but who asked."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from specloom.cache import AnswerCache
from specloom.core import Request
from specloom.model import Model
from tests.promises.test_failing_providers import at_once
from tests.support import paged
from tests.support.paged import Pages, day, serve, title
from tests.support.shipped import shipped_model
from tests.support.stubbed import NOW, Product, Stub, Upstreams

KEYS = {
    "BRAVE_API_KEY": "made-up-1",
    "EDGAR_CONTACT_EMAIL": "ann@example.org",
    "EPO_OPS_CONSUMER_KEY": "made-up-2",
    "EPO_OPS_CONSUMER_SECRET": "made-up-3",
    "FRED_API_KEY": "made-up-4",
    "GOOGLE_CUSTOM_SEARCH_API_KEY": "made-up-5",
    "GOOGLE_CUSTOM_SEARCH_ID": "made-up-6",
    "LENS_API_TOKEN": "made-up-7",
    "SEARCHAPI_API_KEY": "made-up-8",
    "USPTO_API_KEY": "made-up-9",
    "SEARXNG_URL": "https://searx.example.org",
    "SERPER_API_KEY": "made-up-10",
    "YOUDOTCOM_API_KEY": "made-up-11",
    # Nobody's pace is kept here, since nobody would be waited for but the clock.
    **{f"{name.upper()}_RATE": "100000/s" for name in shipped_model().providers},
}


@dataclass(frozen=True)
class Walk:
    """A search that is gone on with to its end: who answers, how, with how many rows, and what a row shows."""

    tool: str
    operation: str
    """PROVIDER.OPERATION."""
    address: str
    pages: Pages
    total: int
    size: int
    rows: str
    """The key of the answer's list."""
    shows: str = "title"
    """The key of a row by which it is known."""
    arguments: Mapping[str, Any] | None = None
    also: Mapping[str, Stub] | None = None
    """What else is asked on the way."""

    @property
    def question(self) -> dict[str, Any]:
        """What a caller asks."""
        provider = self.operation.partition(".")[0]
        return {
            "provider": provider,
            "num_results": self.size,
            "max_tokens": 100_000,
            **({"query": "otters"} if self.arguments is None else self.arguments),
        }

    def upstreams(self) -> Upstreams:
        """Who answers, and nobody else does."""
        stubs = {self.address: serve(self.pages, self.total)}
        return Upstreams({**stubs, **(self.also or {})}, otherwise=(404, {}, {}))

    def expected(self) -> list[str]:
        """What the rows show, in order."""
        shown = {"date": day, "url": str}.get(self.shows, title)
        return [shown(n) for n in range(self.total)]


def papers(
    operation: str, address: str, pages: Pages, total: int, size: int, also: Mapping[str, Stub] | None = None
) -> Walk:
    """A search for papers by one index."""
    return Walk("academic_search", f"{operation}.scholarly", address, pages, total, size, "papers", also=also)


def of_kind(kind: str, operation: str, address: str, pages: Pages, size: int) -> Walk:
    """A search for works of one kind by who has nothing else."""
    asked = {"query": "otters", "type": kind}
    return Walk("academic_search", f"{operation}.scholarly", address, pages, 137, size, "papers", arguments=asked)


def edges(provider: str, address: str, pages: Pages, total: int, direction: str, also: Mapping[str, Stub]) -> Walk:
    """The works that cite a paper, or those that it cites."""
    asked = {"paper": "10.1000/seed", "direction": direction}
    shown = "citedBy" if direction == "cited_by" else "references"
    return Walk("citation_graph", f"{provider}.citations", address, pages, total, 20, shown, arguments=asked, also=also)


def text_of(request: Request) -> Stub:
    """A page that says which it is."""
    number = request.url.rpartition("/")[2]
    return 200, {"content-type": "text/markdown"}, f"# Otters\n\nOtters swim in river {number}, and sleep at its bank."


TEXTS = {"//x.example/": text_of}
SEED = {"/paper/batch": [{"paperId": "5eed", "title": "Seed"}]}
CITED = [f"https://openalex.org/W{n}" for n in range(90)]
OPEN_SEED = {"/works/doi": {"id": "https://openalex.org/W10", "title": "Seed", "referenced_works": CITED}}
TOKEN = {"auth/accesstoken": {"access_token": "t", "expires_in": 1200}}
TICKERS = {"company_tickers": {"0": {"cik_str": 9000001, "ticker": "OTTR", "title": "Otter Inc."}}}
SERIES = {"series_id": "OTTER"}
ENTITIES, LINKS = {"operation": "entity", "query": "otters"}, {"operation": "associations", "entityId": "MONDO:1"}
OECD = {"series_id": "OECD.OTT,DF_O,1.0"}

WALKS = [
    papers("openalex", "api.openalex.org/works", paged.openalex, 300, 50),
    papers("crossref", "api.crossref.org/works", paged.crossref, 300, 100),
    papers("europepmc", "europepmc/webservices/rest/search", paged.europepmc, 300, 45),
    papers("semanticscholar", "/paper/search", paged.semanticscholar, 137, 30),
    papers("pubmed", "esearch.fcgi", paged.pubmed_ids, 137, 60, {"efetch.fcgi": serve(paged.pubmed_records, 137)}),
    papers("arxiv", "export.arxiv.org/api/query", paged.arxiv, 137, 25),
    papers("core", "api.core.ac.uk", paged.core, 137, 25),
    papers("doaj", "doaj.org/api", paged.doaj, 137, 25),
    of_kind("book", "openlibrary", "openlibrary.org", paged.openlibrary, 20),
    of_kind("book", "doab", "directory.doabooks.org", paged.doab, 25),
    of_kind("dataset", "datacite", "api.datacite.org/dois", paged.datacite, 15),
    of_kind("dataset", "zenodo", "zenodo.org/api", paged.zenodo, 10),
    edges("semanticscholar", "/paper/5eed/citations", paged.semanticscholar_citations, 237, "cited_by", SEED),
    edges("semanticscholar", "/paper/5eed/references", paged.semanticscholar_references, 137, "references", SEED),
    edges("openalex", "api.openalex.org/works?", paged.openalex, 137, "cited_by", OPEN_SEED),
    edges("openalex", "api.openalex.org/works?", paged.openalex, 90, "references", OPEN_SEED),
    Walk("search_and_scrape", "brave.web", "/web/search", paged.brave_web, 95, 10, "sources", "url", also=TEXTS),
    Walk("web_search", "brave.web", "/web/search", paged.brave_web, 200, 50, "results"),
    # However few are told at once, the pages that an engine has are not smaller for it.
    Walk("web_search", "brave.web", "/web/search", paged.brave_web, 60, 1, "results"),
    Walk("news_search", "brave.news", "/news/search", paged.brave_news, 60, 1, "articles"),
    Walk("web_search", "youcom.web", "ydc-index.io", paged.youcom, 60, 1, "results"),
    Walk("news_search", "youcom.news", "ydc-index.io", paged.youcom, 60, 1, "articles"),
    Walk("web_search", "google.web", "googleapis.com", paged.google, 100, 15, "results"),
    Walk("news_search", "brave.news", "/news/search", paged.brave_news, 137, 20, "articles"),
    Walk("news_search", "google.news", "googleapis.com", paged.google, 95, 10, "articles"),
    Walk("image_search", "google.images", "googleapis.com", paged.google, 95, 10, "images"),
    Walk("web_search", "serper.web", "serper.dev", paged.organic, 95, 25, "results"),
    Walk("web_search", "searchapi.web", "searchapi.io", paged.organic, 95, 7, "results"),
    Walk("web_search", "youcom.web", "ydc-index.io", paged.youcom, 95, 10, "results"),
    Walk("web_search", "searxng.web", "searx.example.org", paged.searxng, 95, 10, "results"),
    Walk("web_search", "wikipedia_search.web", "wikipedia.org", paged.wikipedia, 137, 15, "results"),
    Walk("web_search", "marginalia.web", "marginalia", paged.marginalia, 137, 15, "results"),
    Walk("web_search", "hackernews.web", "algolia.com", paged.hackernews, 95, 10, "results"),
    Walk("web_search", "github.web", "/search/issues", paged.github_issues, 95, 10, "results"),
    Walk("news_search", "youcom.news", "ydc-index.io", paged.youcom, 137, 15, "articles"),
    Walk("news_search", "hackernews.news", "algolia.com", paged.hackernews, 137, 15, "articles"),
    Walk("news_search", "github.news", "/search/issues", paged.github_issues, 137, 15, "articles"),
    Walk("image_search", "openverse.images", "openverse.org", paged.openverse, 137, 15, "images"),
    Walk("image_search", "commons.images", "commons.wikimedia.org", paged.commons, 137, 15, "images"),
    Walk("patent_search", "searchapi.patents", "searchapi.io", paged.google_patents, 137, 15, "patents"),
    Walk("patent_search", "searchapi.patents", "searchapi.io", paged.google_patents, 137, 3, "patents"),
    Walk("patent_search", "epo.patents", "ops.epo.org", paged.epo, 137, 20, "patents", also=TOKEN),
    Walk("patent_search", "lens.patents", "api.lens.org", paged.lens, 137, 20, "patents"),
    Walk("patent_search", "uspto.patents", "api.uspto.gov", paged.uspto, 137, 50, "patents"),
    Walk(
        "filing_search", "edgar.filings", "efts.sec.gov", paged.edgar_texts, 230, 15, "filings", "company", also=TICKERS
    ),
    Walk(
        "filing_search",
        "edgar.filings",
        "/submissions/",
        paged.edgar_filings,
        137,
        20,
        "filings",
        "description",
        {"query": "9000001"},
    ),
    Walk(
        "filing_search",
        "edgar.facts",
        "companyfacts",
        paged.edgar_facts,
        5,
        2,
        "filings",
        "description",
        {"query": "9000001", "facts": True},
    ),
    Walk(
        "filing_search",
        "xbrl_filings.filings",
        "filings.xbrl.org",
        paged.xbrl,
        137,
        20,
        "filings",
        "url",
        {"query": "724500otter000000011"},
    ),
    Walk("legal_search", "courtlistener.cases", "courtlistener.com", paged.courtlistener, 137, 50, "cases", "caseName"),
    Walk("legal_search", "courtlistener.cases", "courtlistener.com", paged.courtlistener, 137, 7, "cases", "caseName"),
    Walk("clinical_search", "clinicaltrials.trials", "clinicaltrials.gov", paged.clinicaltrials, 300, 100, "trials"),
    Walk("econ_search", "fred.series", "/series/search", paged.fred_series, 137, 10, "results"),
    Walk(
        "econ_search",
        "fred.observations",
        "/series/observations",
        paged.fred_observations,
        137,
        50,
        "results",
        "date",
        SERIES,
    ),
    Walk("econ_search", "worldbank.series", "/v2/indicator", paged.worldbank_series, 137, 10, "results"),
    Walk(
        "econ_search",
        "worldbank.observations",
        "/indicator/",
        paged.worldbank_observations,
        137,
        50,
        "results",
        "date",
        SERIES,
    ),
    Walk("econ_search", "oecd.series", "/dataflow/", paged.oecd_series, 137, 10, "results"),
    Walk("econ_search", "oecd.observations", "/data/", paged.oecd_observations, 137, 50, "results", "date", OECD),
    Walk("econ_search", "eurostat.series", "toc/txt", paged.eurostat_series, 137, 10, "results"),
    Walk(
        "econ_search",
        "eurostat.observations",
        "/data/",
        paged.eurostat_observations,
        137,
        50,
        "results",
        "date",
        {"series_id": "ott_pop"},
    ),
    Walk("local_search", "photon.places", "photon.komoot.io", paged.photon, 8, 20, "places", "name"),
    Walk(
        "monarch_search", "monarch.entities", "/search", paged.monarch_entities, 137, 25, "results", "label", ENTITIES
    ),
    Walk(
        "monarch_search",
        "monarch.associations",
        "/association",
        paged.monarch_associations,
        137,
        25,
        "results",
        "subjectLabel",
        LINKS,
    ),
    Walk(
        "awesome_list_search",
        "ecosystems.awesome_lists",
        "/lists",
        paged.ecosystems,
        137,
        25,
        "lists",
        "name",
        {"topic": "otters"},
    ),
    Walk(
        "awesome_list_search",
        "github.awesome_lists",
        "/search/repositories",
        paged.github_lists,
        137,
        25,
        "lists",
        "name",
        {"topic": "otters"},
    ),
]
BY_TOOL = {walk.tool: walk for walk in reversed(WALKS)}
"""The first walk of each tool."""
NAMES = [f"{walk.operation}-{walk.size}" for walk in WALKS]


def make(upstreams: Upstreams, *, cached: bool = True, model: Model | None = None) -> Product:
    cache = AnswerCache(disk=None, key=None, clock=lambda: NOW, warn=pytest.fail) if cached else None
    return Product(upstreams, KEYS, cache=cache, model=model)


async def follow(walk: Walk, product: Product, cursor: str | None) -> tuple[list[str], str | None]:
    """What one page shows, and the cursor behind it."""
    answer = await product.answer(walk.tool, **walk.question, **({"cursor": cursor} if cursor else {}))
    shown = [
        row[walk.shows].rpartition("/")[2] if walk.shows == "url" else row[walk.shows] for row in answer[walk.rows]
    ]
    return shown, answer.get("nextCursor")


def test_every_tool_with_a_cursor_and_every_operation_with_pages_is_walked_through() -> None:
    model = shipped_model()
    paged_operations = {
        f"{name}.{operation.name}"
        for name, provider in model.providers.items()
        for operation in provider.operations.values()
        if operation.paging is not None
    }

    # What a procedure asks page by page is walked through in tests/domains/papers/test_discovery.py.
    tools = {name for name, tool in model.tools.items() if tool.cursor is not None} - {"doiget_paper_search"}
    assert {walk.tool for walk in WALKS} == tools
    assert paged_operations - {"openalex_discovery.discovery"} <= {walk.operation for walk in WALKS}


@pytest.mark.parametrize("walk", WALKS, ids=NAMES)
async def test_a_walk_to_the_end_gives_every_row_once_and_in_order(walk: Walk) -> None:
    product, cursor = make(walk.upstreams()), None
    shown: list[str] = []
    for _ in range(200):
        page, cursor = await follow(walk, product, cursor)
        assert len(page) <= walk.size
        shown += page
        if cursor is None:
            break

    assert cursor is None
    assert shown == walk.expected()


@pytest.mark.parametrize(
    "walk", [walk for walk in BY_TOOL.values() if walk.total > walk.size], ids=lambda walk: walk.tool
)
async def test_a_cursor_outlives_the_server_that_gave_it_and_a_page_asked_for_twice_is_sent_for_once(
    walk: Walk,
) -> None:
    _, cursor = await follow(walk, make(walk.upstreams()), None)
    upstreams = walk.upstreams()
    product = make(upstreams)

    page, _ = await follow(walk, product, cursor)
    count = len(upstreams.asked)
    again, _ = await follow(walk, product, cursor)

    assert page == again == walk.expected()[walk.size : 2 * walk.size]
    assert len(upstreams.asked) == count


INDEXES: Mapping[str, Stub] = {
    "api.openalex.org/works": serve(paged.part_of_openalex, 0),
    "api.crossref.org/works": serve(paged.part_of_crossref, 0),
    "europepmc/webservices/rest/search": serve(paged.part_of_europepmc, 0),
}
"""Three indexes that know parts of the same three hundred works."""


BROKEN: Stub = (503, {}, {})
ADDRESS = {name.split(".")[1]: name for name in INDEXES if "europepmc" not in name} | {
    "europepmc": "europepmc/webservices/rest/search"
}


async def walk_merged(
    broken: Callable[[int], Mapping[str, Stub]], size: int, *, cached: bool = False, tokens: int = 100_000
) -> tuple[list[str], list[list[str]]]:
    """The titles of a walk through three indexes of which some are broken at its Nth call, and the notices of each.

    A page that is refused is asked for once more.
    """
    shown: list[str] = []
    notices: list[list[str]] = []
    cursor: dict[str, str] = {}
    upstreams = Upstreams(otherwise=(404, {}, {}))
    product = make(upstreams, model=at_once())
    for call in range(1, 200):
        # Nothing is kept where it is not: each call is one of a server of its own.
        product = product if cached else make(upstreams, cached=False, model=at_once())
        upstreams.stubs = {**INDEXES, **broken(call)}
        asked = {"query": "otters", "num_results": size, "max_tokens": tokens, **cursor}
        result = await product.call("academic_search", **asked)
        if result.get("isError"):
            assert broken(call), result
            continue
        answer = result["structuredContent"]
        notices.append(answer.get("notices", []))
        shown += [paper["title"] for paper in answer["papers"]]
        if answer.get("nextCursor") is None:
            return shown, notices
        cursor = {"cursor": answer["nextCursor"]}
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    ("index", "size", "tokens", "cached", "calls"),
    [
        ("crossref", 15, 100_000, False, 5),
        ("europepmc", 40, 100_000, True, 8),
        ("openalex", 100, 100_000, False, 3),
        ("crossref", 60, 3_000, False, 6),
        ("openalex", 60, 3_000, True, 6),
    ],
)
async def test_an_index_that_fails_once_beside_others_is_asked_again_and_no_row_is_lost(
    index: str, size: int, tokens: int, cached: bool, calls: int
) -> None:
    for at in range(1, calls + 1):
        broken = {ADDRESS[index]: BROKEN}
        shown, _ = await walk_merged(
            lambda call, at=at, broken=broken: broken if call == at else {}, size, tokens=tokens, cached=cached
        )
        assert sorted(shown) == [title(n) for n in range(300)], at


async def test_an_index_that_fails_beside_others_is_told_as_one_that_comes_again() -> None:
    _, notices = await walk_merged(lambda call: {ADDRESS["crossref"]: BROKEN} if call == 1 else {}, 100)

    assert notices[0][0] == "Crossref failed; its rows are missing, and the next page asks it again."
    assert not any("its rows are missing" in one for page in notices[1:] for one in page)


async def test_an_index_that_fails_twice_in_a_row_is_told_as_one_that_is_left_out_and_asked_no_more() -> None:
    shown, notices = await walk_merged(lambda _: {ADDRESS["crossref"]: BROKEN}, 50)

    told = [one for page in notices for one in page if "Crossref failed; its rows" in one]
    assert told == [
        "Crossref failed; its rows are missing, and the next page asks it again.",
        "Crossref failed; its rows are missing, and further pages are without it.",
    ]
    others = {title(n) for n in (*paged.OPENALEX, *paged.EUROPEPMC)}
    assert len(shown) == len(set(shown))
    assert set(shown) == others


async def test_the_last_index_that_is_left_is_waited_for_however_often_it_fails() -> None:
    # The others have ended by then, so that a page without it would be no page.
    upstreams = Upstreams(INDEXES, otherwise=(404, {}, {}))
    question = {"query": "otters", "num_results": 100, "max_tokens": 100_000}
    indexes = {
        **INDEXES,
        ADDRESS["openalex"]: serve(paged.openalex, 0),
        ADDRESS["europepmc"]: serve(paged.europepmc, 1),
    }
    upstreams.stubs = {**indexes, ADDRESS["crossref"]: BROKEN}
    first = await make(upstreams, cached=False, model=at_once()).answer("academic_search", **question)

    for _ in range(3):
        product = make(upstreams, cached=False, model=at_once())
        refused = await product.call("academic_search", **question, cursor=first["nextCursor"])
        assert refused["isError"]
        assert "the next page can only come from crossref" in refused["content"][0]["text"]
    upstreams.stubs = indexes
    second = await make(upstreams, cached=False).answer("academic_search", **question, cursor=first["nextCursor"])

    assert len(first["papers"]) == 1
    assert len(second["papers"]) == 100


def _seal(content: list[Any]) -> str:
    """A cursor with this content, as whoever knows how it is made would write it."""
    written = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    sealed = json.dumps([*content, hashlib.sha256(written).hexdigest()[:6]], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


LAWLESS = ["1" * 2000, "\n", "a\x00", 2, None]
FORGED = [*LAWLESS, "../", "-1", "1e9", "https://evil.example/", " 2"]
"""Pages that no upstream has, whether it hands out tokens or counts."""
TOKENS = {"courtlistener.cases", "clinicaltrials.trials"}
"""Operations whose upstream hands out tokens, which may be any text."""


@pytest.mark.parametrize("walk", BY_TOOL.values(), ids=BY_TOOL)
async def test_a_forged_cursor_and_one_of_another_question_or_tool_are_refused_and_nobody_is_asked(walk: Walk) -> None:
    upstreams = walk.upstreams()
    product = make(upstreams)
    _, cursor = await follow(walk, make(walk.upstreams()), None)
    other = BY_TOOL["web_search" if walk.tool != "web_search" else "news_search"]
    _, foreign = await follow(other, make(other.upstreams()), None)
    if cursor is None:
        # A place has no further page, so its cursor is one that was made up from the start.
        cursor = _seal([1, "000000", 0, 0, walk.size, 0, [walk.operation.partition(".")[0], ""]])
    content = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))[:-1]
    name = content[-1][0]
    is_token = walk.operation in TOKENS
    forged = [_seal([*content[:-1], [name, page]]) for page in (LAWLESS if is_token else FORGED)]
    forged += [
        _seal([*content[:-1], ["nobody", ""]]),
        _seal([*content[:2], 99, *content[3:]]),
        cursor[:-1],
        cursor + "A",
        foreign,
    ]
    questions = [(walk.question, one) for one in forged] + [({**walk.question, "query": "beavers"}, cursor)]

    for question, one in questions:
        result = await product.call(walk.tool, **question, cursor=one)
        assert result["isError"], one
        assert "cursor" in result["content"][0]["text"]
        assert '"kind":"validation"' in result["content"][0]["text"]

    assert not upstreams.asked


@pytest.mark.parametrize("size", [10, 40, 100])
async def test_three_hundred_works_of_three_indexes_that_overlap_come_once_each(size: int) -> None:
    indexes = {
        "api.openalex.org/works": serve(paged.part_of_openalex, 0),
        "api.crossref.org/works": serve(paged.part_of_crossref, 0),
        "europepmc/webservices/rest/search": serve(paged.part_of_europepmc, 0),
    }
    shown: list[str] = []
    cursor = None
    for _ in range(60):
        # Each page is asked of a server of its own, which knows nothing of those before.
        product = make(Upstreams(indexes, otherwise=(404, {}, {})), cached=False)
        question = {"query": "otters", "num_results": size, "max_tokens": 100_000}
        answer = await product.answer("academic_search", **question, **({"cursor": cursor} if cursor else {}))
        shown += [paper["title"] for paper in answer["papers"]]
        cursor = answer.get("nextCursor")
        if cursor is None:
            break

    assert cursor is None
    assert len(shown) == len(set(shown)), "a work came twice"
    assert set(shown) == {title(n) for n in range(300)}


@pytest.mark.parametrize("size", [10, 50])
async def test_three_hundred_patents_of_three_registers_that_overlap_come_once_each(size: int) -> None:
    registers = {
        "auth/accesstoken": {"access_token": "t"},
        "searchapi.io": serve(paged.part_of_searchapi, 0),
        "ops.epo.org": serve(paged.part_of_epo, 0),
        "api.lens.org": serve(paged.part_of_lens, 0),
    }
    shown: list[str] = []
    cursor = None
    for _ in range(60):
        product = make(Upstreams(registers, otherwise=(404, {}, {})), cached=False)
        question = {"query": "otters", "depth": "wide", "num_results": size, "max_tokens": 100_000}
        answer = await product.answer("patent_search", **question, **({"cursor": cursor} if cursor else {}))
        shown += [patent["title"] for patent in answer["patents"]]
        cursor = answer.get("nextCursor")
        if cursor is None:
            break

    assert cursor is None
    assert len(shown) == len(set(shown)), "a patent came twice"
    assert set(shown) == {title(n) for n in range(300)}
