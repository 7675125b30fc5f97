"""A client that does only what answers say reads a paper to its end: of the store, of an archive, or fetched anew."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from specloom.core import count_tokens
from specloom.domains.scrape.documents.read import read
from tests.support.documents import lines, make_pdf
from tests.support.scholar_client import Upstreams
from tests.support.scrape_client import ask, connected, refused

CALL = re.compile(r"\[.*read_more (\{.*\})\]$", re.MULTILINE)
PAGES = 60
DOI = "10.1234/bridges"


def paper(what: str) -> bytes:
    """A PDF of many pages, each line of which says where it stands."""
    return make_pdf(
        [
            lines(
                [f"Page {n} begins with a line about {what},", *[f"and goes on with line {n}.{k}." for k in range(40)]]
            )
            for n in range(1, PAGES + 1)
        ],
        info={"Title": "On bridges"},
    )


def store_paper(root: Path, body: bytes, *, key: str = "doi_10.1234_bridges", name: str = f'doi = "{DOI}"') -> Path:
    """A store with one paper, as another program writes it."""
    (root / ".metadata").mkdir(parents=True, exist_ok=True)
    pdf = root / f"{key}.pdf"
    pdf.write_bytes(body)
    entry = f'schema_version = "1.0"\nauthors = ["Ann Otter"]\n{name}\npdf_path = "{pdf.name}"\ntitle = "Of bridges"\n'
    (root / ".metadata" / f"{key}.toml").write_text(entry, encoding="utf-8")
    return pdf


async def read_to_the_end(
    client: Client, name: str = "read_more", **arguments: Any
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """The text and the structure of each answer, from the first to that which names no further call."""
    for _ in range(100):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content[0].text
        yield result.content[0].text, result.structured_content
        calls = CALL.findall(result.content[0].text)
        if not calls:
            return
        name, arguments = "read_more", json.loads(calls[-1])
    raise AssertionError("the answers name no end")


@pytest.mark.parametrize("source", [f"doi:{DOI}", DOI, "DOI:10.1234/Bridges"])
async def test_a_stored_paper_is_read_to_its_end_with_nothing_lost_or_repeated(tmp_path: Path, source: str) -> None:
    body = paper("bridges")
    store_paper(tmp_path, body)
    async with connected(cached=True, sender=Upstreams({}), DOIGET_STORE_ROOT=str(tmp_path)) as client:
        pieces = [piece async for piece in read_to_the_end(client, source=source, max_tokens=3000)]

    told = [structure for _, structure in pieces]
    assert "".join(one["content"] for one in told) == read(body, "application/pdf", "").text
    assert len(pieces) > 3
    assert all(one["content"].strip() in text for text, one in pieces)
    assert all(count_tokens(text) <= 6_000 for text, _ in pieces)
    assert told[0]["title"] == "Of bridges"
    assert told[0]["outline"] == ["60 without headings, up to Page 60, each a section of that name"]
    assert not any("note" in one for one in told)


async def test_a_store_that_is_nobodys_is_not_read(tmp_path: Path) -> None:
    store_paper(tmp_path, paper("bridges"))
    async with connected(sender=Upstreams({}), is_personal=False, DOIGET_STORE_ROOT=str(tmp_path)) as client:
        answer = await client.call_tool("read_more", {"source": f"doi:{DOI}"})

    assert answer.is_error
    assert "Of bridges" not in str(answer.content)


async def test_a_page_and_a_query_of_a_stored_preprint_are_read_alone(tmp_path: Path) -> None:
    store_paper(tmp_path, paper("bridges"), key="arxiv_2401.12345v2", name='arxiv_id = "2401.12345v2"')
    async with connected(sender=Upstreams({}), DOIGET_STORE_ROOT=str(tmp_path)) as client:
        page = await ask(client, "read_more", source="arxiv:2401.12345v2", section="Page 7")
        found = await ask(client, "read_more", source="arxiv:2401.12345v2", query="line 41.3", max_tokens=400)

    assert page["content"].startswith("--- Page 7 ---\n\nPage 7 begins")
    assert "Page 8" not in page["content"]
    assert "line 41.3" in found["content"]


async def test_a_stored_paper_that_was_put_there_anew_is_said_to_have_changed(tmp_path: Path) -> None:
    store_paper(tmp_path, paper("bridges"))
    async with connected(cached=True, sender=Upstreams({}), DOIGET_STORE_ROOT=str(tmp_path)) as client:
        first = await ask(client, "read_more", source=f"doi:{DOI}")
        store_paper(tmp_path, paper("tunnels"))
        changed = await ask(client, "read_more", **first["readOn"])

    assert "bridges" in first["content"]
    assert "tunnels" in changed["content"]
    assert changed["note"].startswith("This has changed since")


@pytest.mark.parametrize("body", [b"%PDF-1.7\notters\n%%EOF\n", None])
async def test_a_paper_that_cannot_be_read_in_the_store_is_read_anew_and_the_answer_says_so(
    tmp_path: Path, body: bytes | None
) -> None:
    if body is not None:
        store_paper(tmp_path, body)
    says = {f"https://doi.org/{DOI}": paper("bridges")}
    async with connected(cached=True, sender=Upstreams(says), DOIGET_STORE_ROOT=str(tmp_path)) as client:
        first = await ask(client, "read_more", source=f"doi:{DOI}")
        second = await ask(client, "read_more", **first["readOn"])

    assert first["note"] == "This was fetched now, because nothing was kept of it."
    assert "Page 1 begins" in first["content"]
    assert first["content"] + second["content"] == read(says[f"https://doi.org/{DOI}"], "", "").text[: second["end"]]
    assert "note" not in second


async def test_a_paper_that_is_read_is_read_on_in_the_text_that_was_told(tmp_path: Path) -> None:
    body = paper("bridges")
    upstreams = Upstreams({f"https://doi.org/{DOI}": body})
    async with connected(cached=True, sender=upstreams, DOIGET_STORE_ROOT=str(tmp_path)) as client:
        pieces = [piece async for piece in read_to_the_end(client, "paper_fulltext", identifier=DOI, max_tokens=3000)]

    told = [structure for _, structure in pieces]
    assert "".join(one["content"] for one in told) == read(body, "application/pdf", "").text
    assert told[0]["readOn"]["source"] == f"doi:{DOI}"
    assert told[0]["truncated"] is True
    assert len(pieces) > 3
    assert sum(request.url == f"https://doi.org/{DOI}" for request in upstreams.asked) == 1


async def test_what_names_no_paper_says_what_would(tmp_path: Path) -> None:
    async with connected(sender=Upstreams({}), DOIGET_STORE_ROOT=str(tmp_path)) as client:
        unknown, block = await refused(client, "read_more", source="doi:bridges")

    assert unknown.startswith("'doi:bridges' names no paper; write doi:10.1234/abc, arxiv:2401.12345")
    assert block["suggestedAction"] == "fix_arguments"


SENTENCE = "In section {number} the otters of river {number} are counted once more, and there are {number} of them. "
RENDERING = (
    "<html><head><title>[2401.12345] All rivers</title></head><body><article><h1>All rivers</h1>"
    + "".join(f"<h2>River {n}</h2><p>{SENTENCE.format(number=n) * 4}</p>" for n in range(1, 200))
    + "</article></body></html>"
)
TEX = "\\documentclass{article}\n\n" + "\n\n".join(SENTENCE.format(number=n) * 4 for n in range(1, 200))


@pytest.mark.parametrize(
    ("tool", "source", "url", "body"),
    [
        ("doiget_paper_text", "ar5iv:2401.12345", "https://ar5iv.labs.arxiv.org/html/2401.12345", RENDERING),
        ("doiget_paper_tex_source", "arxiv-tex:2401.12345", "https://export.arxiv.org/src/2401.12345", TEX.encode()),
    ],
)
@pytest.mark.parametrize("more", [{}, {"max_chars": 9_000}])
async def test_the_text_of_a_preprint_is_read_on_from_where_the_budget_or_the_caller_cut_it(
    tmp_path: Path, tool: str, source: str, url: str, body: Any, more: dict[str, int]
) -> None:
    upstreams = Upstreams({url: body})
    settings = {"DOIGET_STORE_ROOT": str(tmp_path / "papers"), "DOIGET_LOG_PATH": str(tmp_path / "log.jsonl")}
    async with connected(cached=True, sender=upstreams, **settings) as client:
        pieces = [piece async for piece in read_to_the_end(client, tool, ref="2401.12345", max_tokens=2000, **more)]
        whole = (await ask(client, "read_more", source=source, max_tokens=100_000))["content"]

    (first, data), *rest = pieces
    offset = rest[0][1]["offset"]
    assert whole[:offset].strip() in first
    assert whole[:offset] + "".join(told["content"] for _, told in rest) == whole
    assert "river 199" in whole
    assert count_tokens(first) <= 2000
    assert data["truncated"] is bool(more)
    assert not any(told.get("note", "").startswith("This has changed") for _, told in rest)
    assert [request.url for request in upstreams.asked] == [url]
