"""The figures of the contract of reading, each tried just below and just above."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.domains.scrape.fetch.content_type import is_markdown
from specloom.domains.scrape.options import Options
from specloom.domains.scrape.read import TTL, to_failure_ttl
from specloom.domains.scrape.records import Scores, SourceResult
from specloom.domains.scrape.search.rank import recommend, score_content
from tests.domains.scrape.metadata.test_jsonld import block
from tests.domains.scrape.metadata.test_jsonld import read as find_structured
from tests.domains.scrape.sites.test_youtube import CAPTIONS, DESKTOP, ID, PLAYER, in_page, page_of, told, track, vtt
from tests.domains.scrape.test_client_sites import FIREBASE, ITEM, Sites, story
from tests.domains.scrape.test_tools import Web, numbered, to_html
from tests.domains.scrape.test_tools import read as scrape
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_client import ask, connected
from tests.support.scrape_context import HTML, OPTIONS, fail, read

KIB, MIB = 1024, 1024 * 1024
SHELL = "<html><head><title>App</title></head><body><div id=root>Loading</div><script src=/a.js></script></body></html>"


def test_limits_of_time_and_size_are_those_of_the_tiers() -> None:
    limits = Options()

    assert (limits.plain_timeout, limits.stealth_timeout, limits.service_timeout) == (15, 20, 30)
    assert (limits.browser_timeout, limits.document_timeout, limits.deadline, limits.redirects) == (30, 30, 60, 10)
    assert (limits.max_html_bytes, limits.max_document_bytes) == (8 * MIB, 50 * MIB)
    assert TTL == 3600


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("browser_unavailable", 4 * 3600),
        ("blocked", 1800),
        ("auth_required", 1800),
        ("rate_limited", 60),
        ("network", 120),
        ("not_found", 600),
        ("content_empty", 600),
        ("too_large", 600),
    ],
)
def test_it_is_remembered_for_a_while_that_a_page_cannot_be_read(kind: str, seconds: float) -> None:
    assert to_failure_ttl(Fault(kind, "x")) == seconds


def sentences(count: int, words: int) -> str:
    """So many words in so many sentences."""
    return " ".join(["otters"] * (words - count) + ["fish."] * count)


@pytest.mark.parametrize(
    ("text", "quality"),
    [
        (sentences(0, 50), 0.2),
        (sentences(0, 51), 0.3),
        (sentences(0, 200), 0.3),
        (sentences(0, 201), 0.4),
        (sentences(0, 500), 0.4),
        (sentences(0, 501), 0.5),
        (sentences(5, 50), 0.2),
        (sentences(6, 50), 0.4),
        ("\n\n".join(["otters"] * 3), 0.2),
        ("\n\n".join(["otters"] * 4), 0.4),
        ("http " + sentences(0, 40), 0.3),
        ("ab " * 40, 0.0),
        ("a" * 11, 0.0),
    ],
)
def test_the_quality_of_a_text_is_the_sum_of_what_it_has(text: str, quality: float) -> None:
    assert score_content(text) == pytest.approx(quality)


def test_three_sources_are_recommended_from_a_score_of_sixty_hundredths_on() -> None:
    def source(at: int, overall: float, content: str = "x") -> SourceResult:
        scores = Scores(overall=overall, relevance=0.5, freshness=0.5, authority=0.5, content_quality=0.5)
        url = f"https://{at}.example/"
        return SourceResult(url=url, content=content, content_type="text/html", trust="untrusted", scores=scores)

    sources = [source(at, overall) for at, overall in enumerate((0.59, 0.6, 0.7, 0.61, 0.8))]

    advice = recommend([*sources, source(5, 0.8, content="")])

    assert [one.score for one in advice] == [0.8, 0.7, 0.61]
    assert "authority" in advice[0].reason, "of equal figures the authority speaks first"
    assert [one.score for one in recommend(sources[:2])] == [0.6]


def test_markdown_has_fifty_bytes() -> None:
    text = "# Otters\n\n- " + "x" * 38

    assert is_markdown(text.encode())
    assert not is_markdown(text[:-1].encode())


def test_a_block_of_data_has_thirty_two_kibibytes_at_most() -> None:
    found = find_structured(block(json.dumps("x" * (32 * KIB - 2))))

    assert found is not None
    assert find_structured(block(json.dumps("x" * (32 * KIB - 1)))) is None


def test_all_data_has_sixty_four_kibibytes_at_most() -> None:
    just, more = (find_structured(block(json.dumps("x" * (32 * KIB - 2))) * 2 + block("1") * extra) for extra in (0, 1))

    assert just is not None
    assert more is not None
    assert (len(just.json_ld), len(more.json_ld)) == (2, 2)


@pytest.mark.parametrize(("words", "kept"), [(93, False), (94, True)])
async def test_a_transcript_has_more_than_a_hundred_bytes(words: int, kept: bool) -> None:
    page, _ = await page_of(
        {
            PLAYER: told(track("en"), shortDescription="They swim in the river."),
            DESKTOP: in_page(told()),
            f"{CAPTIONS}?v={ID}&signature=s&lang=en&fmt=vtt": vtt("x" * words),
        }
    )

    assert page.content.startswith("[0:01] x") is kept


async def test_a_description_has_twenty_characters() -> None:
    page, _ = await page_of({PLAYER: told(shortDescription="x" * 20), DESKTOP: in_page(told())})

    assert page.content.endswith("\n\n" + "x" * 20)
    with pytest.raises(Fault, match="neither captions nor a description"):
        await page_of({PLAYER: told(shortDescription="x" * 19), DESKTOP: in_page(told())})


async def test_two_frames_of_a_shell_are_followed() -> None:
    frames = "".join(f'<iframe src="/{at}"></iframe>' for at in range(4))
    with Loopback(lambda call: (200, HTML, SHELL.replace("Loading", frames))) as server:
        await fail(server.url)

    assert {call.path for call in server.calls} == {"/", "/0", "/1"}


async def test_what_a_tier_may_not_reach_tells_the_whole_call_whatever_was_read_before() -> None:
    def answer(call: Call) -> Reply:
        plain = "Mozilla/5.0 (" not in call.headers["user-agent"] or "specloom" in call.headers["user-agent"]
        return (200, HTML, SHELL) if plain else (302, {"Location": "http://169.254.169.254/"}, "")

    with Loopback(answer) as server:
        fault = await fail(server.url)
        honest = await read(server.url, options=OPTIONS, identity="honest")

    assert fault.kind == "validation"
    assert (honest.quality, honest.candidate.text) == ("partial", "Loading")


async def test_an_honest_reader_believes_the_first_404() -> None:
    asked: list[Any] = []
    services = {"contents": lambda arguments: Answer()}
    with Loopback(lambda call: (404, HTML, "")) as server:
        await fail(server.url, identity="honest", services=services, asked=asked)
        await fail(server.url, services=services, asked=asked)

    assert len(server.calls) == 1 + 2
    assert asked == []


async def test_the_doi_in_the_address_of_an_academic_host_is_told() -> None:
    web = Web()
    text = to_html("What otters eat", *numbered(4))
    for host in ("dspace.otters.edu", "otters.example"):
        web.page(f"https://{host}/doi/10.1000/otters.7", text)

    academic, other = [
        await scrape(web, f"https://{host}/doi/10.1000/otters.7") for host in ("dspace.otters.edu", "otters.example")
    ]

    assert (academic["sourceType"], academic["domainCategory"]) == ("unknown", "academic")
    assert academic["detectedDoi"] == "10.1000/otters.7"
    assert "detectedDoi" not in other


async def test_a_text_that_stands_twice_on_a_page_is_told_once_unless_it_is_no_page() -> None:
    passage = "\n\n".join(numbered(3))
    web = Web()
    web.page("https://otters.example/a", f"# Otters\n\n- One.\n\n{passage}\n\n{passage}\n", "text/markdown")
    web.page("https://otters.example/b.txt", f"{passage}\n\n{passage}\n", "text/plain")

    markdown, text = [await scrape(web, f"https://otters.example/{name}") for name in ("a", "b.txt")]

    assert (markdown["contentType"], markdown["content"].count("Paragraph 1.")) == ("markdown", 1)
    assert (text["contentType"], text["content"].count("Paragraph 1.")) == ("text", 2)


async def test_a_page_of_a_site_that_has_more_is_truncated_however_short_it_is() -> None:
    sites = Sites({**ITEM, f"{FIREBASE}/item/901.json": story(901, descendants=30, kids=[902])})
    async with connected(sender=sites) as client:
        said: dict[str, Any] = await ask(client, "scrape_page", url="https://news.ycombinator.com/item?id=901")

    assert (said["truncated"], said["contentLength"] < 1000) == (True, True)
