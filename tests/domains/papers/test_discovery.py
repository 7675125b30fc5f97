"""Papers found by words, by their preprint and by a citation: what is asked, what is told, and what is written down."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from specloom.domains.papers import discovery, provenance_log
from specloom.domains.papers.errors import PaperFault
from specloom.server.backend import ExecutorBackend
from tests.support.loopback import Call, Loopback, Reply
from tests.support.paper_store import Quiet, Rerouted, World, as_json

WORKS = "api.openalex.org/works"
DOI = "10.1234/otters"


def work(number: int, **more: Any) -> dict[str, Any]:
    """A work of OpenAlex with next to nothing."""
    return {"id": f"https://openalex.org/W{number}", "title": f"Otters {number}", **more}


def found(*works: dict[str, Any], total: int | None = None) -> Reply:
    return as_json({"meta": {"count": len(works) if total is None else total}, "results": list(works)})


# --- by words -----------------------------------------------------------------------------------------------------


def test_a_search_tells_every_key_of_a_result_and_writes_what_it_asked(world: World) -> None:
    world.pages[WORKS] = found(work(1, doi="https://doi.org/10.1234/OTTERS", cited_by_count=3), total=40)

    told = world.call("paper_search", query="otters", limit=1)

    assert told == {
        "ok": True,
        "scope": "external",
        "query": "otters",
        "total_results": 40,
        "count": 1,
        "next_cursor": told["next_cursor"],
        "results": [
            {
                "doi": "10.1234/otters",
                "openalex_id": "W1",
                "arxiv": None,
                "title": "Otters 1",
                "authors": None,
                "year": None,
                "venue": None,
                "abstract": None,
                "cited_by_count": 3,
                "oa_status": None,
                "source": "openalex",
            }
        ],
    }
    rows = [(row["event"], row["ref"], row["source"], row["result"]) for row in world.rows()]
    assert rows == [
        ("session_start", None, None, "ok"),
        ("resolve", None, "openalex", "ok"),
        ("session_end", None, None, "ok"),
    ]
    assert provenance_log.verify(world.log) == provenance_log.ChainVerdict(3)
    assert not world.root.exists()


def test_names_are_looked_up_and_held_to(world: World) -> None:
    asked: list[dict[str, str]] = []

    def search(call: Call) -> Reply:
        asked.append(dict(call.query))
        return found(work(1))

    world.pages[WORKS] = search
    world.pages["api.openalex.org/authors"] = as_json(
        {
            "results": [
                {"id": "https://openalex.org/A1", "display_name": "Ann Otter-Weir", "works_count": 900},
                {"id": "https://openalex.org/A2", "display_name": "Ann OTTER", "works_count": 3},
            ]
        }
    )

    world.call("paper_search", query="otters", author="ann otter", publisher="P7", oa_only=True, from_year="2019")

    assert asked[0]["filter"] == (
        "from_publication_date:2019-01-01,is_oa:true,authorships.author.id:A2,"
        "primary_location.source.publisher_lineage:P7"
    )
    assert (asked[0]["search"], asked[0]["sort"], asked[0]["per_page"]) == ("otters", "relevance_score:desc", "25")
    assert asked[0]["mailto"] == "ann@example.org"
    assert [row["event"] for row in world.rows()] == ["session_start", "resolve", "resolve", "session_end"]


def test_two_hundred_results_are_two_requests(world: World) -> None:
    def search(call: Call) -> Reply:
        start = 100 * (int(dict(call.query).get("page", "1")) - 1)
        return found(*(work(start + at) for at in range(100)), total=900)

    world.pages[WORKS] = search

    told = world.call("paper_search", query="otters", limit=180)

    assert (told["count"], told["total_results"]) == (180, 900)
    assert [one["openalex_id"] for one in told["results"]] == [f"W{at}" for at in range(180)]


def test_a_work_that_moved_to_the_next_page_is_told_once(world: World) -> None:
    def search(call: Call) -> Reply:
        start = 98 * (int(dict(call.query).get("page", "1")) - 1)
        return found(*(work(start + at) for at in range(100)), total=900)

    world.pages[WORKS] = search

    told = world.call("paper_search", query="otters", limit=180)

    assert [one["openalex_id"] for one in told["results"]] == [f"W{at}" for at in range(178)]
    assert told["count"] == 178


def library_of(count: int) -> Callable[[Call], Reply]:
    """An index with so many works, by pages."""

    def search(call: Call) -> Reply:
        query = dict(call.query)
        size, page = int(query["per_page"]), int(query.get("page", "1"))
        return found(*(work(at) for at in range(size * (page - 1), min(count, size * page))), total=count)

    return search


def read_on(world: World, **arguments: Any) -> list[list[str]]:
    """The identifiers of each answer until there is no cursor."""
    told = world.call("paper_search", query="otters", **arguments)
    pages = [[one["openalex_id"] for one in told["results"]]]
    while cursor := told.get("next_cursor"):
        told = world.call("paper_search", query="otters", **arguments, cursor=cursor)
        assert told["count"] == len(told["results"])
        pages.append([one["openalex_id"] for one in told["results"]])
    return pages


@pytest.mark.parametrize(("limit", "count", "sizes"), [(2, 5, [2, 2, 1]), (150, 320, [150, 150, 20]), (25, 25, [25])])
def test_who_goes_on_gets_every_work_once_and_then_no_cursor(
    world: World, limit: int, count: int, sizes: list[int]
) -> None:
    world.pages[WORKS] = library_of(count)

    pages = read_on(world, limit=limit, max_tokens=100_000)

    assert [len(page) for page in pages] == sizes
    assert [one for page in pages for one in page] == [f"W{at}" for at in range(count)]


def test_works_that_did_not_fit_the_text_come_first_in_the_next_answer(world: World) -> None:
    world.as_json = False
    world.pages[WORKS] = library_of(90)
    shown: list[str] = []
    more: dict[str, str] = {}
    while True:
        world.call("paper_search", query="otters", limit=60, max_tokens=300, **more)
        shown += re.findall(r"· (W\d+)$", world.texts[-1], re.MULTILINE)
        following = re.search(r"^Next page: cursor (\S+)$", world.texts[-1], re.MULTILINE)
        if following is None:
            break
        more = {"cursor": following[1]}

    assert len(world.texts) > 3
    assert shown == [f"W{at}" for at in range(90)]


def test_a_cursor_belongs_to_its_question_and_to_the_index_that_gave_it(world: World) -> None:
    world.pages[WORKS] = library_of(9)
    cursor = world.call("paper_search", query="otters", limit=2)["next_cursor"]
    before = len(world.asked)

    for arguments in ({"query": "weirs"}, {"query": "otters", "oa_only": True}):
        error = world.call("paper_search", **arguments, limit=2, cursor=cursor)["error"]
        assert error["code"] == "INVALID_REF"
        assert "it belongs to a call with other arguments" in error["message"]
    assert len(world.asked) == before
    world.pages[WORKS] = 503, {}, b"{}"
    error = world.call("paper_search", query="otters", limit=2, cursor=cursor)["error"]
    assert "the next page can only come from openalex_discovery: try again later" in error["message"]


@pytest.mark.parametrize(
    ("name", "rows", "wanted"),
    [
        ("Otter", [("Ann Otter", 1)], "A0"),
        ("ann otter", [("Anna Otter", 900), ("Ann Otter", 1)], "A1"),
        ("A. Otter", [("Ann Otter", 70), ("Amy Otter", 7), ("Abe Otter", None)], "A0"),
        ("A. Otter", [("Ann Otter", 69), ("Amy Otter", 7)], "AMBIGUOUS"),
        ("A. Otter", [("Ann Otter", 7), ("Amy Otter", 70)], "AMBIGUOUS"),
        ("A. Otter", [("Ann Otter", None), ("Amy Otter", None)], "AMBIGUOUS"),
        ("Ann Otter", [("Ann Otter", 40), ("ann otter", 4), ("Anna Otter", 90)], "A0"),
        ("Ann Otter", [("Ann Otter", 40), ("ann otter", 5)], "AMBIGUOUS"),
        ("Ann Otter", [], "NOT_FOUND"),
    ],
)
def test_a_name_means_the_only_one_of_it_or_by_far_the_largest(
    name: str, rows: list[tuple[str, int | None]], wanted: str
) -> None:
    listed = [{"id": f"A{at}", "name": one, "works_count": count} for at, (one, count) in enumerate(rows)]

    try:
        got = discovery.choose("author", name, listed)
    except PaperFault as refusal:
        got = refusal.code

    assert got == wanted


def test_a_name_that_fits_several_ends_the_call_with_the_candidates(world: World) -> None:
    authors = [{"id": f"https://openalex.org/A{at}", "display_name": f"A{at} Otter", "works_count": 5} for at in (1, 2)]
    world.pages["api.openalex.org/authors"] = as_json({"results": authors})

    told = world.call("paper_search", query="otters", author="Otter")

    assert told["ref"] is None
    assert told["error"]["code"] == "AMBIGUOUS"
    assert "A1 Otter (5 works, A1); A2 Otter (5 works, A2)" in told["error"]["message"]
    assert world.rows()[-1]["error_code"] == "AMBIGUOUS"
    assert WORKS not in " ".join(world.asked)


def test_nothing_has_to_be_set_and_no_placeholder_is_sent(world: World) -> None:
    world.environ = {"OPENALEX_EMAIL": ""}
    asked: list[dict[str, str]] = []

    def search(call: Call) -> Reply:
        asked.append(dict(call.query))
        return found(work(1))

    world.pages[WORKS] = search

    assert world.call("paper_search", query="otters")["count"] == 1
    assert not asked[0].keys() & {"mailto", "api_key"}


def test_a_used_up_credit_is_told_with_when_it_comes_back(world: World) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3600"}
    world.pages[WORKS] = 429, headers, b'{"error": "Rate limit exceeded"}'

    error = world.call("paper_search", query="otters")["error"]

    assert (error["code"], error["disposition"], error["retry_after_ms"]) == ("RATE_LIMITED", "retry_after", 3_600_000)
    assert (world.rows()[1]["result"], world.rows()[1]["error_code"]) == ("err", "RATE_LIMITED")


# --- by preprint --------------------------------------------------------------------------------------------------


def place(doi: str) -> str:
    return f"{WORKS}/doi%3A{doi.replace('/', '%2F')}"


def test_the_preprint_of_a_paper_is_told_whole(world: World) -> None:
    locations = [{"landing_page_url": "https://arxiv.org/abs/cond-mat/0701105v3", "pdf_url": None}]
    world.pages[place(DOI)] = as_json(work(1, doi=f"https://doi.org/{DOI}", locations=locations))

    told = world.call("link", ref=f"doi:{DOI}")

    assert told == {"ok": True, "doi": DOI, "arxiv": "cond-mat/0701105", "openalex_id": "W1", "title": "Otters 1"}
    assert [(row["event"], row["ref"], row["source"]) for row in world.rows()] == [
        ("session_start", DOI, None),
        ("resolve", DOI, "openalex"),
        ("session_end", DOI, None),
    ]
    assert not world.root.exists()


def test_a_paper_without_a_preprint_is_an_answer_and_one_that_is_not_known_is_none(world: World) -> None:
    world.pages[place(DOI)] = as_json(work(1))

    assert world.call("link", ref=DOI)["arxiv"] is None
    missing = world.call("link", ref="10.1234/nobody")
    assert (missing["ref"], missing["error"]["code"]) == ("10.1234/nobody", "NOT_FOUND")
    assert missing["error"]["message"] == "openalex has no record of 10.1234/nobody."
    assert world.rows()[-1]["error_code"] == "NOT_FOUND"


@pytest.mark.parametrize("ref", ["2401.12345", "pmid:12345"])
def test_only_dois_have_preprints_to_look_up(world: World, ref: str) -> None:
    assert world.call("link", ref=ref)["error"]["code"] == "INVALID_REF"
    assert world.asked == []
    assert world.rows() == []


def test_without_a_log_the_index_is_not_asked_and_a_citation_still_is(world: World) -> None:
    (world.folder / "log").write_text("in the way", "utf-8")
    world.pages["api.crossref.org/works"] = registered()

    assert world.call("paper_search", query="otters")["error"]["code"] == "LOG_ERROR"
    assert world.call("link", ref=DOI)["error"]["code"] == "LOG_ERROR"
    assert world.asked == []
    assert world.call("resolve_citation", query="otters")["candidates"] == []


# --- by citation --------------------------------------------------------------------------------------------------


def registered(*works: dict[str, Any]) -> Reply:
    return as_json({"message": {"items": list(works)}})


def test_a_citation_is_judged_by_the_share_of_its_words(world: World) -> None:
    otter, stream = {"given": "Ann", "family": "Otter"}, {"given": "Ben", "family": "Stream"}
    world.pages["api.crossref.org/works"] = registered(
        {"DOI": "10.1234/fish", "title": ["What fish fear"], "author": [otter]},
        {
            "DOI": "10.1234/Otters",
            "title": ["How otters swim"],
            "author": [stream, otter],
            "container-title": ["Otters & Co"],
            "issued": {"date-parts": [[2021]]},
        },
    )

    told = world.call(
        "resolve_citation", query="Otter, A. & Stream, B. (2021). How otters swim. Otters & Co", limit="9"
    )

    assert told["candidates"] == [
        {
            "doi": "10.1234/Otters",
            "title": "How otters swim",
            "author": "Ben Stream",
            "year": 2021,
            "score": 7 / 9,
            "confidence": "weak",
            "matched": ["otter", "stream", "2021", "how", "otters", "swim", "co"],
            "source": "crossref",
        }
    ]
    assert world.rows() == []
    assert list(world.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Otter, A. (2021): Otters' ways_home", ["otter", "a", "2021", "otters", "ways", "home"]),
        ("Müller MÜLLER Mu\u0308ller", ["müller"]),
        ("ﬁeld", ["field"]),
        ("物理学 1905", ["物理学", "1905"]),
        (" –_… ", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_each_once(text: str, words: list[str]) -> None:
    assert discovery.words_of(text) == words


@pytest.mark.parametrize(
    ("known", "confidence"), [(1000, "exact"), (999, "exact"), (998, "probable"), (800, "probable"), (799, "weak")]
)
def test_confidence_follows_the_share(known: int, confidence: str) -> None:
    words = [f"w{at}" for at in range(1000)]

    assert discovery.judge(words, {"doi": "x", "title": " ".join(words[:known])})["confidence"] == confidence


def test_citations_are_looked_for_side_by_side_and_told_in_their_order(world: World) -> None:
    def search(call: Call) -> Reply:
        words = dict(call.query)["query.bibliographic"]
        return (429, {}, b"{}") if "broken" in words else registered({"DOI": f"10.1234/{words}", "title": [words]})

    world.pages["api.crossref.org/works"] = search

    told = world.call("batch_resolve_citations", queries=["fish", "broken", "otters", "…", "fish"], limit=1)

    assert [row["query"] for row in told["results"]] == ["fish", "broken", "otters", "…", "fish"]
    assert [row.get("candidates", [{}])[0].get("doi") for row in told["results"]] == [
        "10.1234/fish",
        None,
        "10.1234/otters",
        None,
        "10.1234/fish",
    ]
    assert [row["error"]["code"] for row in told["results"] if "error" in row] == ["RATE_LIMITED", "INVALID_REF"]
    assert sum("crossref" in url for url in world.asked) == 3
    assert list(world.folder.iterdir()) == []


async def test_progress_is_told_for_every_citation(world: World) -> None:
    world.pages["api.crossref.org/works"] = registered({"DOI": "10.1234/a", "title": ["Otters"]})
    quiet = Quiet()
    with Loopback(world._answer) as server:
        executor = world.engine(Rerouted(server.url))
        try:
            arguments = {"queries": ["otters", "fish", "otters"]}
            await ExecutorBackend(executor).call_tool("doiget_batch_resolve_citations", arguments, quiet)
        finally:
            await executor.aclose()

    assert [(done, total) for done, total, _ in quiet.told] == [(1, 2), (2, 2)]


def test_a_citation_that_is_no_citation_any_more_is_refused_in_its_row(world: World) -> None:
    [row] = world.call("batch_resolve_citations", queries=["otters " * 300])["results"]

    assert row["error"]["code"] == "INVALID_REF"
    assert row["error"]["message"] == "A citation has 2100 characters, and 2000 are taken at most."
    assert world.asked == []


@pytest.mark.parametrize("count", [0, 51])
def test_more_than_fifty_citations_are_refused(world: World, count: int) -> None:
    told = world.call("batch_resolve_citations", queries=["otters"] * count)

    assert told["error"]["code"] == "INVALID_REF"
    assert "ref" not in told
    assert world.asked == []
