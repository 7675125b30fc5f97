"""What a client is told of providers, filters and fields is what the contract of the tools promises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client

from tests.support.research_server import ADA, ENVIRON, Server, ask
from tests.support.stubbed import Product, Upstreams


async def fail(client: Client, tool: str, **arguments: Any) -> str:
    """What a call that fails is told: a sentence and the error behind it."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))


def error_of(result: dict[str, Any]) -> dict[str, Any]:
    """What a client is told of a call that fails, for programs."""
    assert result["isError"]
    error: dict[str, Any] = json.loads(result["content"][0]["text"].partition("\n\n")[2])["error"]
    return error


# --- A watched query is told of a wrong provider as a search is -------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "says"),
    [
        ("nosuch", "there is no provider 'nosuch'; those that do: google, brave, serper"),
        ("serper", "provider 'serper' is not configured; set SERPER_API_KEY"),
    ],
)
async def test_a_watch_with_a_wrong_provider_fails_as_a_search_does(provider: str, says: str) -> None:
    server = Server({name: value for name, value in ENVIRON.items() if name != "SERPER_API_KEY"})
    await server.agree(ADA, "monitoring")

    async with server.client(ADA) as client:
        searched = await fail(client, "web_search", query="otters", provider=provider)
        watched = await fail(client, "monitor_query_save", query="otters", provider=provider)

    assert says in watched
    assert watched == searched


@pytest.mark.parametrize("pair", [{}, {"provider": "brave"}])
async def test_a_watch_tells_with_which_provider_it_is_asked_for_again(pair: dict[str, str]) -> None:
    server = Server()
    await server.agree(ADA, "monitoring")

    async with server.client(ADA) as client:
        saved = await ask(client, "monitor_query_save", query="otters", **pair)
        listed = (await ask(client, "monitor_query_list"))["queries"][0]
        checked = [
            await ask(client, "monitor_query_check", query="otters", provider=one["provider"])
            for one in (saved, listed)
        ]

    assert [one["provider"] for one in (saved, listed)] == [pair.get("provider", "")] * 2
    assert [one["status"] for one in checked] == ["ok", "ok"]


# --- Whoever else has a key is named where nothing was found ----------------------------------------------------------

BRAVE = {"BRAVE_API_KEY": "made-up-1"}
TWO = {**BRAVE, "SERPER_API_KEY": "made-up-2", "SEARCH_PROVIDER": "brave"}
EMPTY = {"brave.com": {"web": {"results": []}, "results": []}}


def others_of(answer: dict[str, Any]) -> list[str]:
    """The providers that the advice of an empty answer names."""
    actions = answer["hints"]["suggestedActions"]
    return [one["value"] for one in actions if one["action"] == "try_different_provider"]


@pytest.mark.parametrize("tool", ["web_search", "image_search", "news_search", "search_and_scrape"])
async def test_an_empty_answer_names_who_else_has_a_key_whatever_route_is_written(tool: str) -> None:
    answer = await Product(Upstreams(EMPTY), TWO).answer(tool, query="otters", provider="brave")

    assert others_of(answer) == ["serper"]


async def test_a_named_provider_is_no_filter_of_what_is_read() -> None:
    answer = await Product(Upstreams(EMPTY), BRAVE).answer("search_and_scrape", query="qwxz nothing", provider="brave")

    assert answer["hints"]["reason"] == "no_match"
    assert "filtersApplied" not in answer["hints"]


async def test_where_the_whole_route_fails_those_who_need_no_key_are_named() -> None:
    challenge = '<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js"></form></body></html>'
    product = Product(Upstreams({"duckduckgo": challenge, "youcom": (429, {}, {})}, otherwise=(429, {}, {})))

    result = await product.call("web_search", query="otters")

    error = error_of(result)
    assert error["kind"] == "rate_limited"
    assert error["alternatives"] == ["bluesky", "github", "hackernews", "reddit"]


# --- A document that cannot be read is an argument to mend ------------------------------------------------------------


@pytest.mark.parametrize("document", [{"bibliography": "zzz"}, {"bibliography": "zzz", "format": "bibtex"}])
async def test_a_bibliography_that_cannot_be_read_is_an_argument_to_mend(document: dict[str, str]) -> None:
    error = error_of(await Product(Upstreams()).call("audit_bibliography", **document))

    assert (error["kind"], error["suggestedAction"]) == ("validation", "fix_arguments")


# --- A patent has a page and an inventor who is a person --------------------------------------------------------------


async def test_what_the_office_of_the_united_states_has_no_patent_number_of_has_its_file_as_page() -> None:
    particulars = {"inventionTitle": "Otter box", "firstInventorName": "99123456"}
    reexamination = {"applicationNumberText": "90999001", "applicationMetaData": particulars}
    found = {"api.uspto.gov": {"count": 1, "patentFileWrapperDataBag": [reexamination]}}

    answer = await Product(Upstreams(found), {"USPTO_API_KEY": "made-up"}).answer(
        "patent_search", query="otter box", provider="uspto"
    )

    row = answer["patents"][0]
    assert row["url"] == "https://patentcenter.uspto.gov/applications/90999001"
    assert "inventor" not in row


# --- Who has only data sets or books is not offered for papers --------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "kind"), [("zenodo", "dataset"), ("datacite", "dataset"), ("openlibrary", "book"), ("doab", "book")]
)
async def test_who_is_not_asked_for_papers_says_for_what_it_is(provider: str, kind: str) -> None:
    upstreams = Upstreams()

    answer = await Product(upstreams).answer("academic_search", query="climate", provider=provider)

    assert upstreams.asked == []
    action = answer["hints"]["suggestedActions"][0]
    assert (action["action"], action["parameter"], action["value"]) == ("add_parameter", "type", kind)


async def test_who_has_no_papers_is_not_named_in_the_place_of_who_failed() -> None:
    product = Product(Upstreams(otherwise=(429, {}, {})))

    papers = error_of(await product.call("academic_search", query="climate", provider="crossref"))
    books = error_of(await product.call("academic_search", query="climate", provider="crossref", type="book"))

    assert {"zenodo", "datacite", "openlibrary", "doab"}.isdisjoint(papers["alternatives"])
    assert {"openlibrary", "doab"} <= {*books["alternatives"]}


# --- A lens stands in the place of a site, which is told --------------------------------------------------------------


@pytest.mark.parametrize("within", [{"site": "example.org"}, {"sites": ["example.org"]}])
async def test_a_site_beside_a_lens_is_told_as_not_applied(within: dict[str, Any]) -> None:
    answer = await Product(Upstreams(EMPTY), BRAVE).answer(
        "web_search", query="otters", provider="brave", lens="academic", **within
    )

    assert answer["notApplied"] == list(within)
