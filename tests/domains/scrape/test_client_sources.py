"""search_and_scrape through a client, against a loopback server that searches and is read: every documented field."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from specloom.core import count_tokens
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import ask, connected, refused, served

MARKDOWN = {"Content-Type": "text/markdown; charset=utf-8"}
HTML = {"Content-Type": "text/html; charset=utf-8"}
JSON = {"Content-Type": "application/json"}
FISH = (
    "Otters eat fish every day, and where there are few of them they turn to crabs, frogs and the eggs of birds that "
    "nest on the shore."
)
SHARED = "This paragraph stands on both pages, word for word, and it is long enough to count as prose of its own."
SOURCE = {"url", "title", "content", "contentType", "trust", "scores", "sourceType", "authorityTier", "domainCategory"}
SCORES = {"overall", "relevance", "freshness", "authority", "contentQuality"}


def to_page(title: str, *paragraphs: str) -> str:
    return "\n\n".join([f"# {title}", "- A list.", *paragraphs]) + "\n"


def prose(about: str, count: int = 6) -> list[str]:
    """Paragraphs that differ, so that none is a repeat."""
    return [
        f"Paragraph {at} of {about}. {FISH} It was seen {at + 2} times. It is told with care." for at in range(count)
    ]


def hits(call: Call) -> str:
    """One hit: the page `/a` of the server that is asked."""
    return json.dumps({"hits": [{"title": "A hit", "url": f"http://{call.headers['host']}/a", "snippet": "s"}]})


class Shelf:
    """Pages by path, and the hits that a search gives: (path, age in days) or a path alone."""

    def __init__(self, pages: dict[str, str], *hits: str | tuple[str, float]) -> None:
        self.pages = pages
        self.hits: Sequence[str | tuple[str, float]] = hits or list(pages)
        self.server = Loopback(self.answer)

    def answer(self, call: Call) -> Reply:
        if call.path == "/search":
            return (
                200,
                {"Content-Type": "application/json"},
                json.dumps({"hits": [self.tell(one) for one in self.hits]}),
            )
        page = self.pages.get(call.path)
        return (200, MARKDOWN, page) if page is not None else (410, MARKDOWN, "")

    def tell(self, hit: str | tuple[str, float]) -> dict[str, Any]:
        path, age = hit if isinstance(hit, tuple) else (hit, None)
        said = {"title": f"Hit {path}", "url": self.server.url + path, "snippet": "s"}
        when = None if age is None else (datetime.now(UTC) - timedelta(days=age)).isoformat()
        return said if when is None else {**said, "at": when}

    def read(self) -> list[str]:
        return [call.path for call in self.server.calls if call.path != "/search"]


async def gather(shelf: Shelf, *, settings: dict[str, str] | None = None, **arguments: Any) -> dict[str, Any]:
    """The structure of an answer; whole texts, and all as one, unless passages are asked for."""
    asked = {"query": "otters eat fish", "format": "combined", "max_tokens": 100_000, **arguments}
    with shelf.server as server:
        async with connected(SHELF_URL=server.url, **(settings or {})) as client:
            return await ask(client, "search_and_scrape", **asked)


def two() -> Shelf:
    pages = {
        "/rain": to_page(
            "Weather", SHARED, *[f"It rains in week {at}, and in the week after that." for at in range(9)]
        ),
        "/otters": to_page("Otters eat fish", *prose("otters"), SHARED),
    }
    return Shelf(pages, ("/rain", 1), ("/otters", 0), "/gone")


async def test_every_documented_field_is_told() -> None:
    switches = {"GENERATIVE_UI_ENABLED": "true", "SOURCE_RECOMMENDATIONS": "true"}
    shelf = two()

    said = await gather(shelf, claim="Otters eat fish every day", num_results=99, settings=switches)

    assert set(said) == {
        *("query", "status", "sources", "combinedContent", "trust", "scrapeFailures", "summary", "sizeMetadata"),
        *("recommendations", "components", "requestedNumResults", "notices"),
    }
    assert (said["query"], said["status"], said["trust"]) == (
        "otters eat fish",
        "partial",
        "untrusted-external-content",
    )
    assert said["requestedNumResults"] == 99
    first, second = said["sources"]
    assert {*SOURCE, "publishedAt", "extractionQuality", "wordCount", "claimSignal", "keySentences"} == set(first)
    assert set(second) >= SOURCE
    assert set(first["scores"]) == SCORES
    assert first["url"].endswith("/otters")
    assert (first["title"], first["contentType"], first["trust"]) == ("Otters eat fish", "markdown", said["trust"])
    assert (first["sourceType"], first["authorityTier"], first["domainCategory"]) == ("unknown", "medium", "general")
    (failure,) = said["scrapeFailures"]
    assert set(failure) == {"url", "kind", "reason", "retryable", "suggestedAction"}
    assert (failure["kind"], failure["retryable"], failure["suggestedAction"]) == ("not_found", False, "inform_user")
    assert {"urlsSearched": 3, "urlsScraped": 2, "urlsFailed": 1}.items() <= said["summary"].items()
    assert said["summary"]["processingTimeMs"] >= 0
    size = said["sizeMetadata"]
    assert size["contentLength"] == len(said["combinedContent"].encode())
    assert size["estimatedTokens"] == size["contentLength"] // 4
    assert (size["sizeCategory"], size["truncated"]) == ("small", False)


async def test_sources_are_ranked_by_the_weights_of_the_contract() -> None:
    said = await gather(two())

    for one in said["sources"]:
        scores = one["scores"]
        weighed = 0.35 * scores["relevance"] + 0.2 * scores["freshness"] + 0.25 * scores["authority"]
        assert scores["overall"] == pytest.approx(weighed + 0.2 * scores["contentQuality"], abs=0.011)
    overall = [one["scores"]["overall"] for one in said["sources"]]
    assert overall == sorted(overall, reverse=True)


@pytest.mark.parametrize(("age", "freshness"), [(0, 1.0), (3, 0.9), (20, 0.7), (200, 0.5), (900, 0.3), (None, 0.5)])
async def test_freshness_is_that_of_the_hit(age: float | None, freshness: float) -> None:
    shelf = Shelf({"/a": to_page("Otters", *prose("a"))}, ("/a", age) if age is not None else "/a")

    (source,) = (await gather(shelf))["sources"]

    assert source["scores"]["freshness"] == freshness
    assert ("publishedAt" in source) == (age is not None)


async def test_of_two_equal_pages_the_newer_comes_first() -> None:
    shelf = Shelf(
        {"/old": to_page("Otters", *prose("old")), "/new": to_page("Otters", *prose("new"))}, ("/old", 900), ("/new", 0)
    )

    said = await gather(shelf, deduplicate=False)

    assert [one["url"].rpartition("/")[2] for one in said["sources"]] == ["new", "old"]


@pytest.mark.parametrize(("wanted", "times"), [(True, 1), (False, 2)])
async def test_what_two_sources_say_alike_is_told_once_by_the_better_one(wanted: bool, times: int) -> None:
    said = await gather(two(), deduplicate=wanted)

    assert said["combinedContent"].count(SHARED) == times
    assert SHARED in said["sources"][0]["content"]


async def test_filtering_leaves_out_what_has_little_of_the_query() -> None:
    said = await gather(two(), query="otters crabs frogs", filter_by_query=True)

    assert [one["url"].rpartition("/")[2] for one in said["sources"]] == ["otters"]
    assert said["summary"]["urlsScraped"] == 2
    assert "rains" not in said["combinedContent"]


async def test_a_claim_finds_its_sentences_in_their_order_and_nothing_where_there_are_none() -> None:
    with_claim = await gather(two(), claim="Otters eat fish every day")
    without = await gather(two())

    first, second = with_claim["sources"]
    assert "fish every day" in first["claimSignal"]
    assert first["claimSignal"] in first["keySentences"]
    assert len(first["keySentences"]) <= 5
    places = [first["content"].index(one) for one in first["keySentences"]]
    assert places == sorted(places)
    assert not {"claimSignal", "keySentences"} & set(second)
    assert not any({"claimSignal", "keySentences"} & set(one) for one in without["sources"])


async def test_what_stands_in_an_address_is_no_evidence_and_evidence_has_no_marks() -> None:
    link = "It is told [elsewhere](https://a.example/otters-eat-fish-every-day-crabs), so they say."
    shelf = Shelf(
        {
            "/links": to_page("Weather", *[f"{link} Week {at} was wet." for at in range(4)]),
            "/says": to_page("Rivers", "- **Otters** eat [fish](https://a.example/) every day, with crabs."),
        }
    )

    said = await gather(shelf, query="otters crabs", claim="Otters eat fish every day", deduplicate=False)

    says, links = sorted(said["sources"], key=lambda one: one["url"], reverse=True)
    assert says["keySentences"] == ["Otters eat fish every day, with crabs."]
    assert not {"claimSignal", "keySentences"} & set(links)
    assert (says["scores"]["relevance"], links["scores"]["relevance"]) == (0.6, 0.0)


async def test_what_is_left_out_is_no_failure_and_is_told() -> None:
    said = await gather(two(), query="helicopters", filter_by_query=True)
    without = await gather(two(), query="helicopters", claim="Otters eat fish every day")

    assert (said["status"], said["sources"]) == ("partial", [])
    assert said["note"] == (
        "Left out by filter_by_query, because they have little of the query: 2 of 2 sources that were read. "
        "Ask without it to see them."
    )
    assert len(without["sources"]) == 2, "a claim alone leaves nothing out"
    assert "note" not in without


async def test_a_copy_of_a_source_before_it_says_nothing_and_is_not_recommended() -> None:
    page = to_page("Otters eat fish", *prose("otters"), "- A list of theirs.", "Yes.")
    shelf = Shelf({"/a": page, "/copy": page}, "/a", "/copy")

    said = await gather(shelf, settings={"GENERATIVE_UI_ENABLED": "true"})
    both = await gather(Shelf({"/a": page, "/copy": page}, "/a", "/copy"), deduplicate=False)

    first, copy = said["sources"]
    assert (first["content"], copy["content"]) == (said["combinedContent"], "")
    assert copy["wordCount"] == first["wordCount"]
    assert [one["url"] for one in said["recommendations"]] == [first["url"]]
    assert [one["sourceRefs"] for one in said["components"]] == [[first["url"]]]
    assert [one["content"] for one in both["sources"]] == [first["content"]] * 2


async def test_sources_that_repeat_another_are_named_and_not_recommended_beside_it() -> None:
    wire = prose("the wire")
    shelf = Shelf(
        {
            "/wire": to_page(
                "Otters eat fish", *wire, "One more paragraph that only the agency has, long enough to be one."
            ),
            "/copy": to_page(
                "Otters eat fish", *wire, "One more paragraph that only the agency has, long enough to be one."
            ),
            "/paper": to_page(
                "Otters of the river eat fish", *wire, "Our reporter in Holt adds that two of them were seen at dusk."
            ),
            "/own": to_page("Otters eat fish and crabs", *prose("our own study")),
        }
    )

    said = await gather(shelf, num_results=4)
    urls = {path: shelf.server.url + path for path in shelf.pages}
    all_of_it = await gather(shelf, num_results=4, deduplicate=False)

    assert said["note"] == (
        "Not independent of each other, and what they share told once: "
        f"{urls['/copy']} says the same as {urls['/wire']}; {urls['/paper']} says mostly the same as {urls['/wire']}."
    )
    contents = {one["url"]: one["content"] for one in said["sources"]}
    assert contents[urls["/copy"]] == ""
    assert "adds that two of them" in contents[urls["/paper"]]
    assert "Paragraph 0 of the wire" not in contents[urls["/paper"]]
    assert {one["url"] for one in said["recommendations"]} == {urls["/wire"], urls["/own"]}
    assert "note" not in all_of_it
    assert len(all_of_it["recommendations"]) == 3


async def test_a_quotation_that_two_sources_share_makes_neither_a_copy() -> None:
    shelf = Shelf({"/a": to_page("Otters eat fish", SHARED), "/b": to_page("Otters and fish", SHARED)})

    said = await gather(shelf)

    assert said["combinedContent"].count(SHARED) == 1
    assert "note" not in said


async def test_what_a_citation_needs_is_told_with_each_source() -> None:
    head = (
        '<meta name="author" content="Ada Diver"><meta property="og:site_name" content="Otter News">'
        '<meta property="article:published_time" content="2024-05-06">'
        '<meta name="citation_doi" content="10.1234/otters.1">'
    )
    body = "".join(f"<p>{one}</p>" for one in prose("a study"))
    page = f"<html><head><title>What otters eat</title>{head}</head><body><article>{body}</article></body></html>"
    with Loopback(lambda call: (200, HTML, page) if call.path == "/a" else (200, JSON, hits(call))) as server:
        async with connected(SHELF_URL=server.url) as client:
            (source,) = (await ask(client, "search_and_scrape", query="otters eat fish"))["sources"]

    told = {name: source.get(name) for name in ("title", "author", "site", "publishedAt", "detectedDoi")}
    assert told == {
        "title": "What otters eat",
        "author": "Ada Diver",
        "site": "Otter News",
        "publishedAt": "2024-05-06",
        "detectedDoi": "10.1234/otters.1",
    }


async def test_evidence_that_is_said_again_is_told_once() -> None:
    shelf = Shelf({"/a": to_page("Rivers", "- Otters eat fish every day. Otters eat fish every day. Otters swim.")})

    (source,) = (await gather(shelf, claim="Otters eat fish every day"))["sources"]

    assert source["keySentences"] == ["Otters eat fish every day.", "Otters swim."]


async def test_recommendations_name_the_best_and_say_why_and_can_be_switched_off() -> None:
    said = await gather(two())
    without = await gather(two(), settings={"SOURCE_RECOMMENDATIONS": "false"})

    first = said["recommendations"][0]
    assert set(first) == {"url", "title", "score", "reason"}
    assert first["url"] == said["sources"][0]["url"]
    assert first["score"] == said["sources"][0]["scores"]["overall"] >= 0.6
    assert "Advisory" in first["reason"]
    assert "recommendations" not in without
    assert [one["url"].rpartition("/")[2] for one in without["sources"]] == ["otters", "rain"]


async def test_components_are_labelled_and_refer_to_their_sources() -> None:
    said = await gather(two(), settings={"GENERATIVE_UI_ENABLED": "true"})

    urls = {one["url"] for one in said["sources"]}
    assert [one["type"] for one in said["components"]] == ["card", "card", "table"]
    for one in said["components"]:
        assert (one["autoFormatted"], one["label"]) == (True, "mcp-auto-formatted")
        assert set(one["sourceRefs"]) <= urls
        assert set(one) == {"type", "autoFormatted", "label", "title", "sourceRefs", one["type"]}
    assert "components" not in await gather(two())


async def test_lengths_bound_each_source_and_the_joined_text_and_those_out_of_bounds_are_told() -> None:
    said = await gather(two(), max_length_per_source=500, total_max_length=700)
    most = await gather(two(), max_length_per_source=9_000_000, total_max_length=9_000_000)

    assert all(len(one["content"].encode()) <= 500 for one in said["sources"])
    assert len(said["combinedContent"].encode()) <= 700
    assert said["combinedContent"].endswith("[Cut here: more was read, and total_max_length has no room for it.]")
    assert said["sizeMetadata"]["truncated"] is True
    assert (most["requestedMaxLengthPerSource"], most["requestedTotalMaxLength"]) == (9_000_000, 9_000_000)


async def test_the_joined_text_alone_can_be_had() -> None:
    shelf = two()
    said = await gather(shelf, include_sources=False)
    claimed = await gather(two(), include_sources=False, claim="Otters eat fish every day")
    with_sources = await gather(two())
    days = [one["publishedAt"][:10] for one in with_sources["sources"]]

    assert said["sources"] == []
    assert "fish every day" in said["combinedContent"]
    parts = said["combinedContent"].split("\n\n---\n\n")
    url = shelf.server.url
    assert [part.splitlines()[0] for part in parts] == [
        f"Source: [Otters eat fish]({url}/otters), {days[0]}",
        f"Source: [Weather]({url}/rain), {days[1]}",
    ], "what is told nowhere else has its address and date"
    assert "note" not in said
    assert (
        claimed["note"] == "What each source has of the claim is told with the sources only: ask with include_sources."
    )
    assert "Source: " not in with_sources["combinedContent"]


async def test_passages_of_every_source_are_quoted_with_their_places_and_failures_are_lines() -> None:
    pages = {f"/{name}": to_page(f"Otters {name}", *prose(name, 80), f"The {name} pups eat crabs.") for name in "ab"}
    shelf = Shelf(pages, "/a", "/b", "/gone")
    with shelf.server as server:
        async with connected(SHELF_URL=server.url, cached=True) as client:
            result = await client.call_tool("search_and_scrape", {"query": "what do pups eat", "max_tokens": 1500})
            text, told = result.content[0].text, result.structured_content
            places = [
                (one["url"], int(place), quoted)
                for one in told["sources"]
                for place, quoted in re.findall(r"^@(\d+)[^\n]*\n([^\n]+)", one["content"], re.MULTILINE)
            ]
            onward = [await ask(client, "read_more", source=url, offset=place) for url, place, _ in places]

    assert len(told["sources"]) == 2
    assert all(one["content"] in text and one["truncated"] for one in told["sources"])
    assert all("pups eat crabs" in one["content"] for one in told["sources"])
    assert {url.rpartition("/")[2] for url, _, _ in places} == {"a", "b"}
    assert all(piece["content"].startswith(quoted) for piece, (_, _, quoted) in zip(onward, places, strict=True))
    assert f"- {server.url}/gone: " in text
    assert max(count_tokens(text), count_tokens(json.dumps(told, ensure_ascii=False))) <= 1650


async def test_when_nothing_can_be_read_the_answer_says_what_would_help() -> None:
    said = await gather(Shelf({}, "/a", "/b"))

    assert (said["status"], said["sources"], said["combinedContent"]) == ("failed", [], "")
    assert said["note"]
    assert len(said["scrapeFailures"]) == 2


async def test_when_nothing_is_found_there_are_hints_and_it_is_no_failure() -> None:
    shelf = Shelf({})
    shelf.hits = []

    said = await gather(shelf, provider="shelf")

    assert (said["status"], said["summary"]["urlsSearched"]) == ("complete", 0)
    assert said["hints"]["reason"] in {"no_match", "filters_too_restrictive"}
    assert said["hints"]["epistemicWarning"]


async def test_one_address_that_is_found_twice_is_read_once() -> None:
    shelf = Shelf({"/a": to_page("Otters", *prose("a"))}, "/a", "/a")

    said = await gather(shelf)

    assert len(said["sources"]) == 1
    assert shelf.read() == ["/a"]


async def test_searches_and_pages_are_kept_although_the_whole_is_not() -> None:
    shelf = two()
    with shelf.server as server:
        async with connected(cached=True, SHELF_URL=server.url) as client:
            first = await ask(client, "search_and_scrape", query="otters eat fish")
            again = await client.call_tool("search_and_scrape", {"query": "otters eat fish", "claim": "Otters eat"})
            page = await ask(client, "scrape_page", url=server.url + "/otters")

    assert sorted(shelf.read()) == ["/gone", "/otters", "/rain"]
    assert (again.meta or {}).get("cached") is not True
    assert [one["url"] for one in again.structured_content["sources"]] == [one["url"] for one in first["sources"]]
    assert "fish every day" in page["content"]


# Large answers, over stdio: only a server of its own keeps artifacts


@pytest.mark.process
async def test_the_texts_of_long_pages_are_kept_whole_beside_what_is_quoted_of_them(tmp_path: Path) -> None:
    shelf = Shelf(
        {"/a": to_page("Otters", *prose("a", 200)), "/b": to_page("Weather", *prose("b", 9))}, "/a", "/b", "/c"
    )
    with shelf.server as server:
        async with served(tmp_path, SHELF_URL=server.url) as client:
            result = await client.call_tool("search_and_scrape", {"query": "otters eat fish"})
            told = result.structured_content
            kept = (await client.read_resource(told["whole"])).contents[0].text
            onward = await ask(client, "read_more", source=told["whole"], query="Paragraph 199 of a")

    assert f'read_more {{"source":"{told["whole"]}"}}' in result.content[0].text
    assert all(one["content"] for one in told["sources"])
    assert told["combinedContent"] == ""
    assert "Paragraph 199" in kept
    assert "Paragraph 199" in onward["content"]
    assert kept.count("Source: [") == 2


@pytest.mark.process
async def test_a_large_original_is_linked_and_a_large_text_is_not(tmp_path: Path) -> None:
    page = to_page("Otters", *prose("a", 200))
    shelf = Shelf({"/a": page})
    with shelf.server as server:
        async with served(tmp_path, SHELF_URL=server.url) as client:
            url = server.url + "/a"
            raw = await client.call_tool("scrape_page", {"url": url, "mode": "raw"})
            full = await ask(client, "scrape_page", url=url, max_tokens=100_000)
            whole = json.loads((await client.read_resource(raw.structured_content["resource"])).contents[0].text)

    assert (raw.structured_content["linked"], raw.structured_content["contentSizeBytes"]) == (True, len(page.encode()))
    assert (whole["content"], whole["raw"], whole["contentType"]) == (page, True, "text/markdown; charset=utf-8")
    assert len(full["content"]) > 24 * 1024


async def test_who_cannot_be_named_is_not_offered_in_the_place_of_an_unknown_provider() -> None:
    async with connected() as client:
        _, block = await refused(client, "search_and_scrape", query="otters", provider="altavista")

    assert {"brave", "shelf"} <= set(block["alternatives"])
    assert not {"jina", "brave_context", "github_raw"} & set(block["alternatives"])
