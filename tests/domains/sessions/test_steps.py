"""What the calls of a session leave in it, through a client: every source, with all that citing it needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.core.messages import Request, Response
from tests.support.research_server import ADA, ENVIRON, Server, Web, ask, begin, read, refused

PROSE = "".join(
    f"<p>Otters eat fish and crabs, and in week {at} keepers saw {at + 2} of them hunt.</p>" for at in range(40)
)
HEAD = (
    '<title>What keepers feed</title><meta name="author" content="Ada Diver">'
    '<meta property="og:site_name" content="Otter News"><meta name="citation_doi" content="10.1234/otters.9">'
    '<meta property="article:published_time" content="2024-05-06">'
)
PAGE = f"<html><head>{HEAD}</head><body><article>{PROSE}</article></body></html>".encode()
ADDRESS = "https://keepers.example/feed"


def to_paper(at: int) -> dict[str, Any]:
    return {
        "paperId": f"{at}" * 40,
        "title": f"Paper {at}",
        "year": 2020,
        "authors": [{"name": "Ada Diver"}, {"name": "Bo Weir"}],
        "venue": "Journal of Otters",
        "externalIds": {"DOI": f"10.1234/otters.{at}"},
        "url": f"https://scholar.example/{at}",
    }


class Library(Web):
    """One page that any search finds, and a paper that one other cites and that rests on another."""

    async def send(self, request: Request) -> Response:
        if request.url == ADDRESS:
            return Response(200, {"content-type": "text/html"}, PAGE, request.url)
        if "semanticscholar" not in request.url:
            self.results = [{"title": "A hit", "url": ADDRESS, "description": "Feed."}]
            return await super().send(request)
        answer: dict[str, Any] = to_paper(0)
        if request.url.endswith("/citations"):
            answer = {"data": [{"citingPaper": to_paper(1)}]}
        elif request.url.endswith("/references"):
            answer = {"data": [{"citedPaper": to_paper(2)}]}
        return Response(200, {"content-type": "application/json"}, json.dumps(answer).encode(), request.url)


@pytest.fixture
def server() -> Server:
    return Server(web=Library())


@pytest.mark.parametrize(
    ("direction", "found"),
    [("cited_by", ["Paper 1"]), ("references", ["Paper 2"]), ("both", ["Paper 1", "Paper 2"])],
)
async def test_papers_of_both_directions_are_kept(server: Server, direction: str, found: list[str]) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, "citation_graph", paper="10.1234/otters.0", direction=direction, sessionId=session)
        kept = (await ask(client, "get_research_session", sessionId=session))["sources"]

    assert [one["title"] for one in kept] == found


async def test_sources_that_are_told_in_the_joined_text_alone_are_kept(server: Server) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        said = await ask(client, "search_and_scrape", query="otters", include_sources=False, sessionId=session)
        kept = (await ask(client, "get_research_session", sessionId=session))["sources"]

    assert said["sources"] == []
    assert [(one["url"], one["title"]) for one in kept] == [(ADDRESS, "A hit")]


@pytest.mark.parametrize(
    ("tool", "arguments"), [("scrape_page", {"url": ADDRESS}), ("search_and_scrape", {"query": "otters"})]
)
async def test_a_page_that_was_read_is_cited_from_the_session_as_it_cites_itself(
    server: Server, tool: str, arguments: dict[str, str]
) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, tool, **arguments, sessionId=session)
        told = await ask(client, "format_bibliography", sessionId=session)

    assert told["bibliography"] == ("Diver, A. (2024). What keepers feed. Otter News. https://doi.org/10.1234/otters.9")


async def test_papers_are_cited_from_the_session_with_their_authors_and_journal(server: Server) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, "citation_graph", paper="10.1234/otters.0", direction="references", sessionId=session)
        told = await ask(client, "format_bibliography", sessionId=session, style="ris")
        report = await ask(client, "research_export", sessionId=session)
        data = await ask(client, "research_export", sessionId=session, format="json")

    lines = told["bibliography"].splitlines()
    assert {"AU  - Diver, Ada", "AU  - Weir, Bo", "T2  - Journal of Otters", "DO  - 10.1234/otters.2"} <= set(lines)
    assert "Ada Diver; Bo Weir. Journal of Otters. 2020. doi:10.1234/otters.2" in report["document"]
    assert data["document"]["sources"][0]["site"] == "Journal of Otters"


async def test_many_sources_are_told_by_who_takes_the_session_up_and_the_newest_by_a_step() -> None:
    server = Server()
    async with server.client(ADA) as client:
        session = await begin(client)
        for at in range(7):
            server.web.results = [
                {"title": f"Hit {at} {one}", "url": f"https://a.example/{at}/{one}", "description": "x"}
                for one in range(10)
            ]
            await ask(client, "web_search", query=f"otters {at}", num_results=10, sessionId=session)
        told = await ask(
            client, "sequential_search", searchStep="Go on", stepNumber=2, nextStepNeeded=True, sessionId=session
        )
        whole = await ask(client, "get_research_session", sessionId=session)
        rest = await ask(client, "get_research_session", sessionId=session, offset=whole["nextOffset"], limit=50)
        resource = await read(client, f"research://session/{session}")

    assert len(told["sources"]) == 50
    assert told["sources"][-1] == whole["sources"][-1]
    assert told["warning"] == "Of 70 sources only the newest 50 are shown here; get_research_session tells the others."
    assert (len(whole["sources"]), len(rest["sources"]), whole["sourceCount"]) == (20, 50, 70)
    assert "nextOffset" not in rest
    assert resource["sources"][-20:] == whole["sources"]


async def test_one_page_under_two_addresses_is_one_result_of_a_thorough_step() -> None:
    server = Server()
    first = "https://m.news.example/otters-eat-crabs?utm_source=x"
    server.web.results = [
        {"title": "Crabs", "url": url, "description": "x"}
        for url in (first, "https://www.news.example/otters-eat-crabs/", "https://other.example/")
    ]
    async with server.client(ADA) as client:
        session = await begin(client)
        more = {"nextStepNeeded": True, "sessionId": session, "depth": "thorough", "knowledgeGap": "Which crabs?"}
        told = await ask(client, "sequential_search", searchStep="Go on", stepNumber=2, **more)

    (asked,) = told["refinementResults"]
    assert [one["url"] for one in asked["results"]] == [first, "https://other.example/"]
    assert (asked["resultCount"], len(told["sources"])) == (2, 2)


async def test_a_watch_tells_no_edition_of_a_page_that_it_knows() -> None:
    server = Server()
    await server.agree(ADA, "monitoring")
    page = {"title": "Crabs", "url": "https://www.news.example/otters-eat-crabs", "description": "x"}
    editions = ("https://m.news.example/otters-eat-crabs", f"{page['url']}/amp", f"{page['url']}?srsltid=A")
    async with server.client(ADA) as client:
        server.web.results = [page]
        await ask(client, "monitor_query_save", query="otters")
        server.web.results = [{**page, "url": url} for url in (*editions, "https://new.example/")]
        told = await ask(client, "monitor_query_check", query="otters")

    assert [one["url"] for one in told["newResults"]] == ["https://new.example/"]


async def test_of_several_reasons_why_nothing_is_found_the_one_that_can_be_mended_comes_first() -> None:
    server = Server({**ENVIRON, "SEARCH_ROUTING": "serper,brave"})
    server.web.failing = {"otters"}
    await server.agree(ADA, "monitoring")
    async with server.client(ADA) as client:
        fault = await refused(client, "monitor_query_save", query="otters")

    assert (fault["kind"], fault["provider"]) == ("auth_required", "serper")
    assert "brave" in fault["detail"]


async def test_an_export_that_looks_at_links_tells_when_it_is_through(server: Server) -> None:
    steps: list[tuple[float, float | None]] = []

    async def hear(progress: float, total: float | None, _: str | None) -> None:
        steps.append((progress, total))

    async with server.client(ADA) as client:
        session = await begin(client)
        await ask(client, "scrape_page", url=ADDRESS, sessionId=session)
        told = {"sessionId": session, "verify_links": True}
        await client.call_tool("research_export", told, progress_callback=hear)

    assert steps == [(0.0, 1.0), (1.0, 1.0)]


@pytest.mark.parametrize("name", ["rejectedApproaches", "resolvedGaps"])
async def test_a_text_in_a_list_of_a_step_is_no_longer_than_the_step(server: Server, name: str) -> None:
    told = {"searchStep": "Go", "stepNumber": 1, "nextStepNeeded": True}
    async with server.client(ADA) as client:
        await ask(client, "sequential_search", **told, **{name: ["a", "o" * 4000]})
        result = await client.call_tool("sequential_search", {**told, name: ["a", "o" * 4001]})

    assert result.content[0].text.startswith(f"{name}[1] has 4001 characters, and the most is 4000: shorten it.")


async def test_pages_that_cannot_be_read_again_and_again_are_a_pattern_of_the_session() -> None:
    class Walls(Web):
        async def send(self, request: Request) -> Response:
            if "wall.example" in request.url:
                return Response(403, {}, b"", request.url)
            return await super().send(request)

    server = Server(web=Walls())
    server.web.results = [{"title": "A", "url": f"https://wall.example/{at}", "description": "x"} for at in range(3)]
    async with server.client(ADA) as client:
        session = await begin(client)
        said = await ask(client, "search_and_scrape", query="otters", sessionId=session)
        found = await ask(client, "get_research_session", sessionId=session)

    (pattern,) = found["errorPatterns"]
    assert (pattern["kind"], pattern["count"]) == ("blocked", 3)
    assert set(pattern["affectedUrls"]) == {one["url"] for one in said["scrapeFailures"]}
    assert list(found["providerStats"]) == ["brave"]
