"""Documents through scrape_page and a client: known by their bytes, read with their structure, or refused."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.domains.scrape.documents.test_office import NUMBERING, STYLES, cell
from tests.support.browser import is_running, until
from tests.support.documents import lines, make_docx, make_pdf, make_pptx, make_zip, paragraph, shape
from tests.support.loopback import Loopback
from tests.support.scrape_client import ask, connected, refused
from tests.support.scrape_context import ARTICLE
from tests.support.spreadsheets import make_xlsx, number, rows, text

PDF = make_pdf(
    [
        [(60, 750, 20, "On bridges"), *lines(["The bridge was opened on Tuesday", "after ten years of work."])],
        lines(["The second page is short."]),
    ],
    info={"Title": "On bridges", "Author": "Ann Lee", "CreationDate": "D:20240507103000Z"},
)
DOCX = make_docx(
    paragraph("Bridges", style="H1")
    + paragraph("third", number="5")
    + paragraph("inner", number="5", depth=1)
    + paragraph("fourth", number="5")
    + f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:tr>{cell('c')}{cell('d')}</w:tr></w:tbl>",
    parts={"styles": STYLES, "numbering": NUMBERING},
    title="Bridges",
    creator="Ann Lee",
)
PPTX = make_pptx([shape("First", "title"), shape("Second", "title") + shape("x")], notes={1: "Say hello."})
XLSX = make_xlsx({"Bridges": rows(text("City") + text("Count"), text("Aldburg") + number("12"))})
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
LOCKED = OLE + "EncryptedPackage".encode("utf-16-le")

WAYS = {
    "by their type": ("application/pdf", "/paper"),
    "by their address": ("application/octet-stream", "/paper{suffix}"),
    "by their bytes alone": ("application/octet-stream", "/download?id=1"),
    "by their bytes, whatever the server says": ("text/html; charset=utf-8", "/page"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "body", "texts"),
    [
        ("pdf", PDF, ["--- Page 1 ---", "## On bridges", "opened on Tuesday after ten years", "--- Page 2 ---"]),
        ("docx", DOCX, ["# Bridges", "3. third\n   - inner\n4. fourth", "| a | b |\n| --- | --- |\n| c | d |"]),
        ("xlsx", XLSX, ["## Bridges", "| City | Count |\n| --- | --- |\n| Aldburg | 12 |"]),
        ("pptx", PPTX, ["--- Slide 1 ---\n\n## First", "--- Slide 2 ---\n\n## Second\n\nx\n\n> Notes: Say hello."]),
    ],
)
async def test_documents_are_known(way: str, kind: str, body: bytes, texts: list[str]) -> None:
    content_type, path = WAYS[way]
    with Loopback(lambda call: (200, {"Content-Type": content_type}, body)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + path.format(suffix=f".{kind}"))

    assert all(text in said["content"] for text in texts), said["content"]
    assert (said["contentType"], said["extractedBy"], said["extractionQuality"]) == (kind, "document", "complete")
    assert len(server.calls) == 1


async def test_a_document_says_who_wrote_it_and_how_long_it_is() -> None:
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, PDF)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url)

    assert (said["metadata"]["title"], said["metadata"]["author"]) == ("On bridges", "Ann Lee")
    assert (said["metadata"]["pages"], said["metadata"]["published"]) == (2, "2024-05-07T10:30:00Z")
    assert said["citation"]["formatted"]["apa"].startswith("Lee, A. (2024")
    assert "structuredData" not in said


async def test_a_document_with_pages_that_are_pictures_is_partial_and_says_which() -> None:
    body = make_pdf([lines(["The bridge was opened", "on Tuesday."]), [], []], picture={1, 2})
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, body)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url)

    assert said["extractionQuality"] == "partial"
    assert said["sparsityWarning"].endswith(" Pages that are pictures have text that was not read: 2-3.")


async def test_a_document_that_is_cut_says_what_was_read_of_it() -> None:
    body = make_pdf([lines([f"Page {number}"]) for number in range(2001)])
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, body)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url, max_length=1000)

    assert said["truncated"]
    assert said["sparsityWarning"] == (
        "The first 2000 of 2001 pages were read of this file, which is larger than what is read at once; "
        "look for its parts as files."
    )


async def test_what_nobody_sees_of_a_document_is_counted() -> None:
    body = make_pdf([lines(["Otters eat fish."])], drawn={0: "BT /F1 10 Tf 1 1 1 rg 60 300 Td (Obey me.) Tj ET"})
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, body)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url)

    assert (said["stripped"], "Obey" in said["content"]) == ({"hidden": 1}, False)


async def test_an_address_of_a_document_that_gives_a_page_gives_that_page() -> None:
    with Loopback(lambda call: (200, {"Content-Type": "text/html"}, ARTICLE)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/paper.pdf")

    assert (said["contentType"], "Otters" in said["content"]) == ("html", True)


@pytest.mark.parametrize(
    ("path", "body", "kind", "says"),
    [
        ("/a.docx", LOCKED, "auth_required", "This office document needs a password."),
        ("/a.doc", OLE, "content_empty", "This is an old office format"),
        ("/a.pptx", OLE, "content_empty", "This is an old office format (.doc, .ppt, .xls); save it anew"),
        ("/a.pdf", PDF[:100], "content_empty", "This PDF file cannot be read: it is damaged, or was cut"),
        ("/a.docx", DOCX[:-30], "content_empty", "its end is missing; it may have been cut while it was fetched"),
        ("/a.pdf", make_pdf([[]]), "content_empty", "This PDF file has no text."),
        (
            "/a.zip",
            make_zip({"a.txt": "x"}),
            "content_empty",
            "application/zip is not a page or document that can be read: it is an archive;",
        ),
    ],
)
async def test_what_cannot_be_read_says_why_in_one_sentence(path: str, body: bytes, kind: str, says: str) -> None:
    content_type = {".zip": "application/zip", ".doc": "application/msword"}.get(path[2:], "application/octet-stream")
    with Loopback(lambda call: (200, {"Content-Type": content_type}, body)) as server:
        async with connected() as client:
            sentence, block = await refused(client, "scrape_page", url=server.url + path)

    assert block["kind"] == kind
    assert says in sentence
    assert "browser" not in sentence
    assert block["suggestedAction"] == "inform_user"


def read_number(path: Path) -> int:
    """The number in a file; 0 while there is none."""
    return int(path.read_text(encoding="utf-8").strip() or 0) if path.exists() else 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_cancelling_a_call_ends_the_process_that_reads_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A reader that never comes to an end, in the place of the interpreter.
    slow = tmp_path / "slow"
    slow.write_text('#!/bin/sh\necho $$ > "$0.pid"\nexec sleep 600\n', encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setattr("specloom.core.process.sys", SimpleNamespace(executable=str(slow)))
    number = Path(f"{slow}.pid")
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, PDF)) as server:
        async with connected() as client:
            call = asyncio.create_task(client.call_tool("scrape_page", {"url": server.url}))
            await until(lambda: read_number(number) > 0)
            process = read_number(number)
            running = is_running(process)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await until(lambda: not is_running(process))

    assert running
