"""Texts of stored PDFs: extracted once, kept outside the store, made again where their PDF or file changed."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers.texts import StoredTexts
from tests.domains.papers.test_client_reading_on import DOI, paper, store_paper
from tests.support.documents import lines, make_pdf
from tests.support.scholar_client import connected as scholar_client
from tests.support.scrape_client import ask, connected, refused

SOURCE = f"doi:{DOI}"


def pdf(what: str) -> bytes:
    return make_pdf([lines([f"The first page is about {what}."]), lines([f"And so is the second, on {what}."])])


def texts_file(folder: Path) -> Path:
    (file,) = folder.glob("texts-*.db")
    return file


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


async def read(folder: Path, *, source: str = SOURCE) -> str:
    """What a server that is started anew tells of a stored paper."""
    store, cache = str(folder / "papers"), str(folder / "cache")
    async with connected(DOIGET_STORE_ROOT=store, DOIGET_CACHE_ROOT=cache) as client:
        answer = await ask(client, "read_more", source=source)
    assert answer["title"] == "Of bridges"
    return str(answer["content"])


async def test_a_pdf_that_seems_unchanged_is_not_opened_again(tmp_path: Path) -> None:
    path = store_paper(tmp_path / "papers", pdf("bridges"))
    about = path.stat()
    first = await read(tmp_path)
    # The same file, time and size with other bytes: only who opens it can tell.
    path.write_bytes(b"?" * about.st_size)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))

    assert await read(tmp_path) == first
    assert "--- Page 2 ---\n\nAnd so is the second, on bridges." in first


async def test_a_pdf_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = store_paper(tmp_path / "papers", pdf("bridges"))
    await read(tmp_path)
    path.write_bytes(pdf("tunnels"))

    assert "tunnels" in await read(tmp_path)


async def test_a_pdf_that_was_only_touched_keeps_its_text(tmp_path: Path) -> None:
    path = store_paper(tmp_path / "papers", pdf("bridges"))
    first = await read(tmp_path)
    os.utime(path, (1, 1))

    assert await read(tmp_path) == first


async def test_a_file_of_texts_that_is_cut_or_gone_is_made_again(tmp_path: Path) -> None:
    store_paper(tmp_path / "papers", pdf("bridges"))
    first = await read(tmp_path)
    texts_file(tmp_path / "cache").write_bytes(b"no database at all, and longer than a header of one has to be. " * 40)
    cut = await read(tmp_path)
    texts_file(tmp_path / "cache").unlink()

    assert first == cut == await read(tmp_path)


async def test_texts_are_for_their_owner_alone_and_the_store_stays_as_it_was(tmp_path: Path) -> None:
    store_paper(tmp_path / "papers", pdf("bridges"))
    before = snapshot(tmp_path / "papers")
    await read(tmp_path)

    assert snapshot(tmp_path / "papers") == before
    assert stat.S_IMODE(texts_file(tmp_path / "cache").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


async def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    store_paper(tmp_path / "papers", pdf("bridges"))
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")

    assert "bridges" in await read(tmp_path)


async def test_a_stored_work_is_read_by_its_cite_key_and_passages_name_their_page(tmp_path: Path) -> None:
    name = "\n[specloom]\ncitekey = 'Otter:21'\n"
    path = store_paper(tmp_path, paper("bridges"), key="key_otter", name="")
    entry = tmp_path / ".metadata" / "key_otter.toml"
    entry.write_text(entry.read_text("utf-8") + name, encoding="utf-8")
    async with connected(DOIGET_STORE_ROOT=str(tmp_path), DOIGET_CACHE_ROOT=str(tmp_path / "cache")) as client:
        whole = await ask(client, "read_more", source="@otter:21")
        passage = await ask(client, "read_more", source="@otter:21", query="line 41.3", max_tokens=400)
        sentence, _ = await refused(client, "read_more", source="@weasel")
        near, _ = await refused(client, "read_more", source="@oter:21")

    assert path.exists()
    assert whole["title"] == "Of bridges"
    assert re.search(r"^@\d+ Page 41\n.*line 41\.3", passage["content"], re.MULTILINE | re.DOTALL)
    assert sentence == "No stored work has the cite key 'weasel'; doiget_search_local finds those that there are."
    assert near == "No stored work has the cite key 'oter:21'; did you mean @otter:21?"


async def test_the_references_of_a_stored_pdf_are_audited_by_its_reference(tmp_path: Path) -> None:
    listed = ["Abel, A. (2019). How otters swim. Rivers, 4(1), 1-12.", "Brook, C. (2020). Weirs. Rivers, 5(1), 3-9."]
    texts = [(60.0, 700.0, 14.0, "References"), *lines([f"{at}. {one}" for at, one in enumerate(listed, 1)], top=670)]
    store_paper(tmp_path, make_pdf([lines(["Otters swim in rivers that nobody has seen."] * 9), texts]))
    settings = {"DOIGET_STORE_ROOT": str(tmp_path), "DOIGET_CACHE_ROOT": str(tmp_path / "cache")}
    async with scholar_client({}, **settings) as (client, _):
        answer = await ask(client, "audit_bibliography", source=f"doi:{DOI}")
        sentence, _ = await refused(client, "audit_bibliography", source="10.1234/nowhere")
        formatted = await ask(client, "format_bibliography", source=DOI, style="bibtex")
        imported = await ask(client, "library_import", source=DOI)
        found = await ask(client, "doiget_search_local", query="Brook weirs year:2020")

    assert [entry["title"] for entry in answer["entries"]] == ["How otters swim", "Weirs"]
    assert formatted["entryCount"] == 2
    assert "title = {How otters swim}" in formatted["bibliography"]
    assert (imported["format"], imported["added"]) == ("text", 2)
    assert [row["title"] for row in found["results"]] == ["Weirs"]
    assert sentence.startswith("10.1234/nowhere is not in the paper store; give the address of a page or document")


async def test_the_outline_of_a_stored_pdf_names_pages(tmp_path: Path) -> None:
    heads = ["Methods of the study", "Results of the study", "Limits of the study"]
    pages = [[(60.0, 740.0, 18.0, head), *lines([f"Line {n} of {head}." for n in range(50)])] for head in heads]
    store_paper(tmp_path, make_pdf(pages))
    async with connected(DOIGET_STORE_ROOT=str(tmp_path), DOIGET_CACHE_ROOT=str(tmp_path / "cache")) as client:
        answer = await ask(client, "read_more", source=SOURCE, max_tokens=500)

    assert [line.partition(" · ")[2] for line in answer["outline"]] == ["Page 1", "Page 2", "Page 3"]


async def test_texts_that_are_kept_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    pages = "\n\n".join(f"--- Page {number} ---\n\n{'Otters swim. ' * 40}" for number in range(1, 100))
    many = [f"{pages}{number}" for number in range(8)]
    async with StoredTexts(tmp_path / "texts.db") as texts:
        await texts._make_ready()
        await asyncio.gather(
            *(texts._run(texts._put, str(at), (at, at, at), str(at), (text, "", "")) for at, text in enumerate(many))
        )

        assert [texts._find_text(str(at)) for at in range(8)] == [(text, "", "") for text in many]


def damage(file: Path) -> None:
    """Overwrite all pages but the first, so that the file opens and cannot be used."""
    body = file.read_bytes()
    file.write_bytes(body[:4096] + b"\xa5" * (len(body) - 4096))


async def search(folder: Path) -> list[dict[str, Any]]:
    settings = {"DOIGET_STORE_ROOT": str(folder / "papers"), "DOIGET_CACHE_ROOT": str(folder / "cache")}
    async with connected(**settings) as client:  # type: ignore[arg-type]
        answer = await ask(client, "doiget_search_local", query="second")
    rows: list[dict[str, Any]] = answer["results"]
    return rows


async def test_a_file_that_opens_and_is_damaged_is_made_again(tmp_path: Path) -> None:
    store_paper(tmp_path / "papers", pdf("bridges"))
    first = await read(tmp_path)
    damage(texts_file(tmp_path / "cache"))

    assert await read(tmp_path) == first
    with closing(sqlite3.connect(texts_file(tmp_path / "cache"))) as file:
        assert file.execute("SELECT count(*) FROM texts").fetchone() == (1,)


async def test_a_search_makes_a_damaged_file_again(tmp_path: Path) -> None:
    store_paper(tmp_path / "papers", pdf("bridges"))
    rows = await search(tmp_path)
    damage(texts_file(tmp_path / "cache"))

    assert [row["in_text"]["page"] for row in rows] == [2]
    assert await search(tmp_path) == rows


async def test_texts_are_read_and_searched_while_another_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specloom.domains.papers.texts.PATIENCE", 0.0)
    store_paper(tmp_path / "papers", pdf("bridges"))
    rows = await search(tmp_path)
    other = store_paper(tmp_path / "papers", pdf("tunnels"), key="doi_10.1234_tunnels", name='doi = "10.1234/tunnels"')
    await search(tmp_path)
    other.unlink()
    (tmp_path / "papers" / ".metadata" / "doi_10.1234_tunnels.toml").unlink()
    with closing(sqlite3.connect(texts_file(tmp_path / "cache"), isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        while_held = await search(tmp_path)
        store_paper(tmp_path / "papers", pdf("weirs"))
        text = await read(tmp_path)

    assert while_held == rows
    assert "And so is the second, on weirs." in text
