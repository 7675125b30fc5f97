"""A client that does only what answers say reads what was cut to its end, with nothing repeated or lost."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from specloom.cache.cache import AnswerCache
from specloom.core import count_tokens
from tests.support.documents import lines, make_pdf
from tests.support.loopback import Loopback
from tests.support.scrape_client import ask, connected, refused

CALL = re.compile(r"\[.*read_more (\{.*\})\]$", re.MULTILINE)
SENTENCE = "In section {number} the otters of river {number} are counted once more, and there are {number} of them. "
SECTIONS = 400
PAGE = (
    "<html><head><title>All rivers</title></head><body><article><h1>All rivers</h1>"
    + "".join(f"<h2>River {n}</h2><p>{SENTENCE.format(number=n) * 4}</p>" for n in range(1, SECTIONS + 1))
    + "</article></body></html>"
)
PDF = make_pdf(
    [
        lines([f"Page {n} begins with a line about bridges,", *[f"and goes on with line {n}.{k}." for k in range(30)]])
        for n in range(1, 81)
    ],
    info={"Title": "On bridges"},
)
HTML = {"Content-Type": "text/html; charset=utf-8"}


async def read_to_the_end(client: Client, url: str, **more: Any) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """The text and the structure of each answer, from the first to that which names no further call."""
    name, arguments = "scrape_page", {"url": url, **more}
    for _ in range(400):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content[0].text
        yield result.content[0].text, result.structured_content
        calls = CALL.findall(result.content[0].text)
        if not calls:
            return
        name, arguments = "read_more", json.loads(calls[-1])
    raise AssertionError("the answers name no end")


@pytest.mark.parametrize(("kind", "body"), [("text/html; charset=utf-8", PAGE), ("application/pdf", PDF)])
async def test_a_long_text_is_read_to_its_end_by_the_calls_that_its_answers_name(kind: str, body: bytes | str) -> None:
    with Loopback(lambda _: (200, {"Content-Type": kind}, body)) as server:
        async with connected(cached=True) as client:
            pieces = [piece async for piece in read_to_the_end(client, f"{server.url}/long")]
            whole = await ask(client, "scrape_page", url=f"{server.url}/long", max_length=5_000_000, max_tokens=100_000)

    texts, told = [text for text, _ in pieces], [structure for _, structure in pieces]
    assert whole["truncated"] is False
    assert "".join(one["content"] for one in told) == whole["content"]
    assert all(one["content"].strip() in text for text, one in pieces)
    assert len(pieces) > 2
    assert all(count_tokens(text) <= 6_600 for text in texts)
    assert all(count_tokens(json.dumps(one, ensure_ascii=False)) <= 6_600 for one in told)
    assert min(count_tokens(text) for text in texts[:-1]) > 4_000
    assert len([call for call in server.calls if call.path == "/long"]) <= 2


async def test_in_the_least_budget_the_place_to_read_on_is_where_the_text_ends() -> None:
    body = " ".join(SENTENCE.format(number=n) for n in range(20)).strip()
    with Loopback(lambda _: (200, {"Content-Type": "text/plain"}, body)) as server:
        async with connected(cached=True) as client:
            pieces = [piece async for piece in read_to_the_end(client, f"{server.url}/rivers", max_tokens=200)]
            whole = await ask(client, "scrape_page", url=f"{server.url}/rivers")

    assert pieces[0][1]["readOn"]["offset"] == len(pieces[0][1]["content"])
    assert len(pieces) == 2
    assert "".join(told["content"] for _, told in pieces) == whole["content"]


@pytest.mark.parametrize("budget", [200, 500, 6_000])
async def test_a_page_of_links_is_read_to_its_end_with_the_same_number_for_the_same_address(budget: int) -> None:
    rows = "".join(
        f'<p>River {n} has <a href="/otters/{n % 7}?utm_source=a&amp;at={n % 7}">otters of a kind</a> and '
        f'<img src="/pictures/{n}.jpg" alt="a picture of river {n}"> <a href="https://fish.example/{n}">fish</a>.</p>'
        for n in range(1, 300)
    )
    page = f"<html><head><title>Rivers</title></head><body><article><h1>Rivers</h1>{rows}</article></body></html>"
    with Loopback(lambda _: (200, HTML, page)) as server:
        async with connected(cached=True) as client:
            pieces = [piece async for piece in read_to_the_end(client, f"{server.url}/rivers", max_tokens=budget)]
            words = await ask(
                client,
                "scrape_page",
                url=f"{server.url}/rivers",
                links="none",
                max_length=5_000_000,
                max_tokens=100_000,
            )

    addresses: dict[str, str] = {}
    bodies = []
    for text, told in pieces:
        body, mark, listed = told["content"].rpartition("\n\n[")
        assert told["content"].strip() in text
        lines = re.findall(r"^\[(\d+)\]: (\S+)$", f"[{listed}", re.MULTILINE)
        assert mark
        assert set(re.findall(r"\]\[(\d+)\]", body)) == {number for number, _ in lines}
        assert all(addresses.setdefault(number, address) == address for number, address in lines)
        if "readOn" in told:
            assert json.loads(CALL.findall(text)[-1]) == told["readOn"]
        bodies.append(re.sub(r"\[([^\[\]]+)\]\[\d+\]", r"\1", body))
    assert len(set(addresses.values())) == len(addresses) == 7 + 299
    assert {"/otters/3?at=3", "https://fish.example/299"} <= set(addresses.values())
    assert " ".join(" ".join(bodies).split()) == " ".join(words["content"].split())


async def test_an_original_that_was_cut_is_read_on_as_it_was_sent() -> None:
    with Loopback(lambda _: (200, HTML, PAGE[:20_000])) as server:
        async with connected(cached=True, keeping=True) as client:
            cut = await ask(client, "scrape_page", url=f"{server.url}/long", mode="raw", max_tokens=1000)
            (source,) = re.findall(r'read_more \{"source": "([^"]+)"\}', cut["notices"][0])
            onward = await ask(client, "read_more", source=source, max_tokens=20_000)

    assert PAGE.startswith(cut["content"])
    assert len(cut["content"]) < 10_000
    assert PAGE[:20_000].strip() in onward["content"]


async def test_a_page_is_read_on_after_a_restart_and_a_change_of_it_is_said(tmp_path: Path) -> None:
    body = ["Otters eat fish. " * 2000]
    key = b"k" * 32
    with Loopback(lambda _: (200, {"Content-Type": "text/plain"}, body[0])) as server:
        url, path = f"{server.url}/long", tmp_path / "cache"
        async with connected(cache=AnswerCache(disk=path, key=key, warn=print)) as client:
            first = await ask(client, "scrape_page", url=url)
        body[0] = "Beavers eat wood. " * 2000
        async with connected(cache=AnswerCache(disk=path, key=key, warn=print)) as client:
            kept = await ask(client, "read_more", **first["readOn"])
        async with connected(cache=AnswerCache(disk=None, key=None, warn=print)) as client:
            changed = await ask(client, "read_more", **first["readOn"])

    assert first["content"].startswith("Otters")
    assert kept["content"].startswith("Otters eat fish.")
    assert "note" not in kept
    assert "Beavers" in changed["content"]
    assert changed["note"].startswith("This has changed since")


async def test_a_section_and_a_query_are_read_without_what_stands_around_them() -> None:
    with Loopback(lambda _: (200, HTML, PAGE)) as server:
        async with connected(cached=True) as client:
            url = f"{server.url}/long"
            section = await ask(client, "read_more", source=url, section="River 77")
            onward = await ask(client, "read_more", **section["readOn"])
            found = await ask(client, "read_more", source=url, query="river 311", max_tokens=600)

    assert section["content"].startswith("## River 77\n\nIn section 77")
    assert "River 78" not in section["content"]
    assert onward["content"].startswith("## River 78\n")
    assert "In section 311 the otters of river 311" in found["content"]
    assert re.match(r"@\d+ ", found["content"])


async def test_what_cannot_be_read_on_says_what_can() -> None:
    async with connected() as client:
        unknown, block = await refused(client, "read_more", source="page 2")
        gone, _ = await refused(client, "read_more", source=f"research://artifact/{'0' * 64}")

    assert "scrape_page" in unknown
    assert block["suggestedAction"] == "fix_arguments"
    assert "repeat the call" in gone
