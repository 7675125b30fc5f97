"""What is neither a page nor a document of the contract: read where it is text, and otherwise told in one sentence."""

from __future__ import annotations

import functools
import gzip
import io
import tarfile

import pytest

from tests.support.documents import lines, make_pdf, make_zip
from tests.support.loopback import Loopback
from tests.support.scrape_client import ask, connected, refused
from tests.support.scrape_context import ARTICLE

SITEMAP = b'<?xml version="1.0"?><urlset><url><loc>https://example.org/a</loc></url></urlset>'
# Without the time, so that a test is called the same in every process.
pack = functools.partial(gzip.compress, mtime=0)


def make_tar() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"), io.BytesIO())
    return data.getvalue()


@pytest.mark.parametrize(
    ("path", "content_type", "body", "text"),
    [
        ("/a.bib", "application/x-bibtex", b"@book{a, title = {Otters}}", "@book{a, title = {Otters}}"),
        ("/a.jsonl", "application/jsonl", b'{"a": 1}\n{"a": 2}\n', '{"a": 1}\n{"a": 2}'),
        ("/a.csv", "application/vnd.ms-excel", b"City;Bridges\nAldburg;12\n", "City;Bridges\nAldburg;12"),
        ("/a.xml", "application/octet-stream", b'<?xml version="1.0"?><a b="1"/>', '<?xml version="1.0"?><a b="1"/>'),
        ("/a.c", "application/octet-stream", b"#include <stdio.h>\nint a;\n", "#include <stdio.h>\nint a;"),
        ("/sitemap.xml.gz", "application/x-gzip", pack(SITEMAP), SITEMAP.decode()),
        ("/a.txt.gz", "application/octet-stream", pack("Brücke".encode("latin-1")), "Brücke"),
        ("/b.txt.gz", "application/gzip", pack(b"one and ") + pack(b"two") + b"\0\0", "one and two"),
    ],
)  # fmt: skip
async def test_text_is_read_whatever_it_is_called(path: str, content_type: str, body: bytes, text: str) -> None:
    with Loopback(lambda call: (200, {"Content-Type": content_type}, body)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + path)

    assert (said["contentType"], said["content"], said["extractionQuality"]) == ("text", text, "complete")
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [(make_pdf([lines(["Otters eat fish."])]), "pdf", "Otters eat fish."), (ARTICLE.encode(), "html", "Otters")],
)
async def test_what_is_packed_is_read_as_what_it_is(body: bytes, kind: str, text: str) -> None:
    with Loopback(lambda call: (200, {"Content-Type": "application/gzip"}, pack(body))) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/a.gz")

    assert said["contentType"] == kind
    assert text in said["content"]


async def test_raw_gives_a_packed_file_as_it_came() -> None:
    packed = pack(SITEMAP)
    with Loopback(lambda call: (200, {"Content-Type": "application/gzip"}, packed)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/a.gz", mode="raw")

    assert said["contentType"] == "application/gzip"
    assert "example.org" not in said["content"]


@pytest.mark.parametrize(
    ("content_type", "body", "says"),
    [
        ("image/svg+xml", b"<svg></svg>", "it is a picture; look for a page that describes it."),
        ("application/octet-stream", b"\x89PNG\r\n\x1a\n\0\0", "it is a picture;"),
        ("text/html", b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01" * 50, "it is a picture;"),
        ("audio/mpeg", b"\0\1" * 99, "it is a sound recording; look for a transcript."),
        ("application/octet-stream", b"\0\0\0\x18ftypmp42", "it is a film;"),
        ("", make_zip({"a.txt": "x"}), "what came is not a page or document that can be read: it is an archive;"),
        ("application/gzip", pack(make_tar()), "it is an archive; give the address of a single file of it."),
        (
            "application/gzip",
            pack(b"x" * 2000)[:-12],
            "This gzip file cannot be unpacked: its end is missing.",
        ),
        ("application/gzip", b"\x1f\x8b\x08" + b"\0" * 7 + b"\xff" * 50, "cannot be unpacked: it is damaged."),
        ("application/gzip", pack(b"x" * 9_000_000), "This gzip file unpacks to more than 8388608 bytes."),
        ("application/gzip", pack(b"x") * 65, "This gzip file is made of more than 64 others."),
        ("application/x-thing", b"\0\1\2\3" * 9, "it is binary data; give the address of a page, a text, or a PDF or"),
        ("application/pdf", b"", "This file is empty: what came has 0 bytes."),
    ],
)
async def test_what_is_not_read_is_told_in_one_sentence(content_type: str, body: bytes, says: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    with Loopback(lambda call: (200, headers, body)) as server:
        async with connected() as client:
            sentence, block = await refused(client, "scrape_page", url=server.url + "/file")

    assert says in sentence, sentence
    assert block["suggestedAction"] == "inform_user"
    assert len(server.calls) == 1
