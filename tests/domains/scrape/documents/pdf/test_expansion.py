"""A PDF page that would draw the same things without end is told by what its streams name, before anything is drawn.

Without the sums each of these takes a gigabyte or half a minute; see `scrape/documents/pdf/expansion.py`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.documents import read as documents
from tests.support.documents import assemble_pdf, make_pdf, pdf_stream

pytest.importorskip("pypdfium2")

TEXT = "BT /F1 12 Tf 50 700 Td (Otters eat fish and crabs) Tj ET"
FONT = "/Font << /F1 5 0 R >>"


def make(
    content: str,
    resources: str = "",
    objects: Mapping[int, bytes] | None = None,
    *,
    contents: str = "4 0 R",
    kids: str = "3 0 R",
    count: int = 1,
    catalog: str = "",
    fonts: str = "",
    page: str = "",
) -> bytes:
    """A file of one page with this content; its own objects have numbers from 10 on."""
    inner = f"/Font << /F1 5 0 R {fonts} >> {resources}"
    return assemble_pdf(
        {
            1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
            2: f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
            3: f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {contents}"
            f" /Resources << {inner} >> {page} >>".encode(),
            4: pdf_stream(content.encode(), ""),
            5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            **(objects or {}),
        }
    )


def form(content: str, resources: str = "", *, more: str = "") -> bytes:
    entries = f"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << {resources} >> {more}"
    return pdf_stream(content.encode(), entries)


def tiling(content: str, resources: str = "", *, box: str = "0 0 5 5", step: float = 5) -> bytes:
    kind = f"/PatternType 1 /PaintType 1 /TilingType 1 /BBox [{box}] /XStep {step} /YStep {step}"
    return pdf_stream(content.encode(), f"{kind} /Resources << {resources} >>")


def glyphs(content: str, resources: str) -> dict[int, bytes]:
    """A font whose letters a, b and c are drawn by one stream."""
    font = (
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 97"
        " /LastChar 99 /Widths [1000 1000 1000] /Encoding << /Differences [97 /a /b /c] >>"
        f" /CharProcs << /a 11 0 R /b 11 0 R /c 11 0 R >> /Resources << {resources} >> >>"
    )
    return {10: font.encode(), 11: pdf_stream(content.encode(), "")}


def to_x(number: int) -> str:
    return f"/XObject << /X {number} 0 R >>"


def chain(length: int, times: int, *, first: int = 10) -> dict[int, bytes]:
    """Forms of which each draws the next so many times, and the last a text."""
    links = {first + at: form("/X Do " * times, to_x(first + 1 + at)) for at in range(length)}
    return {**links, first + length: form(TEXT, FONT)}


ALL = " ".join(f"/X{at} {10 + at} 0 R" for at in range(12))
RING = "".join(f"/X{at} Do " for at in range(12))
ENDLESS = {
    "forms that name themselves": make(f"{TEXT} /X Do", to_x(10), {10: form("/X Do " * 10, to_x(10))}),
    "forms that name each other": make(
        f"{TEXT} /X Do", to_x(10), {10: form("/X Do " * 10, to_x(11)), 11: form("/X Do " * 10, to_x(10))}
    ),
    "each of twelve forms names all": make(
        f"{TEXT} /X0 Do", f"/XObject << {ALL} >>", {10 + at: form(RING, f"/XObject << {ALL} >>") for at in range(12)}
    ),
    "a chain that doubles": make(f"{TEXT} /X Do", to_x(10), chain(30, 2)),
    "a chain of tens": make(f"{TEXT} /X Do", to_x(10), chain(9, 10)),
    "a chain whose resources are the page's": make(
        f"{TEXT} /X0 Do",
        f"/XObject << {ALL} >>",
        {10 + at: pdf_stream(f"/X{at + 1} Do ".encode() * 9, "/Subtype /Form /BBox [0 0 9 9]") for at in range(12)},
    ),
    "names written as strings and with escapes": make(
        f"{TEXT} /X Do", to_x(10), {10: form("(X) Do <58> Do /#58 Do /X %\n Do " * 3, to_x(10))}
    ),
    "a kind that stands elsewhere": make(
        f"{TEXT} /X Do",
        to_x(10),
        {
            10: pdf_stream(b"/X Do " * 10, f"/Subtype 12 0 R /BBox [0 0 9 9] /Resources << {to_x(10)} >>"),
            12: b"/F#6frm",
        },
    ),
    "one form very often": make(f"{TEXT} {'/X Do ' * 60_000}", to_x(10), {10: form(TEXT, FONT)}),
    "one part of the page very often": make(TEXT * 3000, contents=f"[{'4 0 R ' * 500}]"),
    "glyphs of a chain": make(
        f"{TEXT} BT /T 12 Tf (abcabc) Tj ET",
        fonts="/T 10 0 R",
        objects={**glyphs("1000 0 d0 /X Do /X Do", to_x(12)), **chain(8, 10, first=12)},
    ),
}


@pytest.mark.parametrize("how", ENDLESS)
def test_a_page_that_is_drawn_without_end_is_refused_at_once(how: str) -> None:
    with pytest.raises(Fault, match=r"its only page would draw the same things over and over") as caught:
        documents.read(ENDLESS[how], "", "")

    assert caught.value.kind == "too_large"


COVER = f"BT /F1 12 Tf 50 100 Td (A text below it) Tj ET /Pattern cs /P scn 0 0 600 800 re f 0 g {TEXT}"
PATTERN = "/Pattern << /P 10 0 R >>"
GROUP = "/Group << /S /Transparency /CS /DeviceRGB >>"
MASK = "/ExtGState << /G << /SMask << /S /Luminosity /G 10 0 R >> >> >>"
READ = {
    "a tile that is filled with itself": make(
        COVER, PATTERN, {10: tiling("/Pattern cs /P scn 0 0 5 5 re f " * 5, PATTERN)}
    ),
    "a tile of a chain": make(COVER, PATTERN, {10: tiling("/X Do " * 10, to_x(11)), **chain(8, 10, first=11)}),
    "a large tile in tiny steps": make(
        COVER, PATTERN, {10: tiling("1 0 0 rg 0 0 2 2 re f " * 100, box="0 0 700 900", step=0.01)}
    ),
    "a glyph that draws itself": make(
        f"{TEXT} BT /T 12 Tf (abcabc) Tj ET",
        fonts="/T 10 0 R",
        objects=glyphs("1000 0 d0 BT /T 1 Tf (abcabc) Tj ET", "/Font << /T 10 0 R >>"),
    ),
    "a mask that is under itself": make(
        f"/G gs {TEXT}", MASK, {10: form("/G gs /X Do 0 0 9 9 re f", f"{to_x(10)} {MASK}", more=GROUP)}
    ),
    "pages that are below themselves": make(TEXT, kids="2 0 R 3 0 R"),
    "an outline that goes in a circle": make(
        TEXT,
        catalog="/Outlines 10 0 R",
        objects={
            10: b"<< /First 11 0 R /Last 11 0 R /Count 1 >>",
            11: b"<< /Title (a) /Parent 10 0 R /Next 12 0 R /First 12 0 R /Dest [3 0 R /Fit] >>",
            12: b"<< /Title (b) /Parent 10 0 R /Next 11 0 R /First 11 0 R /Dest (name) >>",
        },
    ),
    "a tree of names that doubles": make(
        TEXT,
        catalog="/Outlines 10 0 R /Names << /Dests 13 0 R >>",
        objects={
            10: b"<< /First 11 0 R /Last 11 0 R /Count 1 >>",
            11: b"<< /Title (a) /Parent 10 0 R /Dest (name) >>",
            **{13 + at: f"<< /Kids [{14 + at} 0 R {14 + at} 0 R] /Limits [(a) (z)] >>".encode() for at in range(40)},
            53: b"<< /Names [(zz) [3 0 R /Fit]] /Limits [(a) (z)] >>",
        },
    ),
    "a tree of fields that doubles": make(
        TEXT,
        catalog="/AcroForm << /Fields [20 0 R] >>",
        objects={
            **{20 + at: f"<< /T (p) /Kids [{21 + at} 0 R {21 + at} 0 R] >>".encode() for at in range(35)},
            55: b"<< /T (x) /FT /Tx /V (y) >>",
        },
    ),
    "a remark whose look names itself": make(
        TEXT,
        page="/Annots [20 0 R]",
        objects={
            20: b"<< /Type /Annot /Subtype /Stamp /Rect [10 10 200 40] /AP << /N 21 0 R >> >>",
            21: form("/X Do " * 10, to_x(21)),
        },
    ),
    "a form that names itself once": make(f"{TEXT} /X Do", to_x(10), {10: form("/X Do", to_x(10))}),
    "forms in forms": make("/X Do /X Do", to_x(10), chain(4, 2)),
    "a form with nothing of its own": make(
        "/X Do", f"/XObject << /X 10 0 R /Y 11 0 R >> {FONT}", {10: form("/Y Do"), 11: form(TEXT, FONT)}
    ),
}


@pytest.mark.parametrize("how", READ)
def test_what_goes_in_circles_beside_the_text_takes_none_of_it_away(how: str) -> None:
    assert "Otters eat fish and crabs" in documents.read(READ[how], "", "").text


def test_the_other_pages_of_a_file_are_read_and_the_one_that_is_not_is_told() -> None:
    body = make_pdf(
        [[(60, 700, 10, f"Text of page {at} that is read.")] for at in range(3)],
        drawn={1: "/X Do"},
        resources="/XObject << /X 20 0 R >>",
        more={20: form("/X Do " * 10, to_x(20))},
    )

    found = documents.read(body, "", "")

    assert (found.pages, found.pages_read, found.truncated) == (3, 3, True)
    assert found.metadata["PagesNotRead"] == "2"
    assert (
        "--- Page 2 ---\n\n(This page was not read: what it draws is repeated too often.)\n\n--- Page 3" in found.text
    )
    assert "Text of page 0 that is read." in found.text
    assert "Text of page 2 that is read." in found.text


def test_a_text_under_tiles_stays_unless_they_cannot_be_drawn_to_look_through_them() -> None:
    sparse = make(COVER, PATTERN, {10: tiling("1 0 0 rg 0 0 1 1 re f")})

    assert "A text below it" in documents.read(sparse, "", "").text
    assert "A text below it" not in documents.read(READ["a tile that is filled with itself"], "", "").text


LAUGHS = make(f"{TEXT} /X Do", to_x(10), chain(30, 2))


@pytest.mark.parametrize(
    ("how", "body"),
    [
        ("changed later", LAUGHS.replace(b"%%EOF", b"%%EOF\n10 0 obj\n<< >>\nendobj\n")),
        ("a comment in a number", LAUGHS.replace(b"11 0 obj", b"11 %\n 0 obj")),
        ("a comment in a dictionary", LAUGHS.replace(b"/Subtype /Form", b"/Subtype %\n /Form")),
        ("an escaped name", LAUGHS.replace(b"/XObject", b"/#58Object")),
        ("a second catalog beside the first", LAUGHS.replace(b"/Root 1 0 R", b"/R#6fot 1 0 R /Note (/Root 9 0 R)")),
    ],
)
def test_the_way_in_which_a_file_is_written_hides_nothing(how: str, body: bytes) -> None:
    with pytest.raises(Fault, match=r"its only page would draw the same things over and over"):
        documents.read(body, "", "")


def test_objects_that_are_packed_are_looked_at() -> None:
    resources = b"<< /XObject << /X 10 0 R >> >>"
    packed = zlib.compress(b"20 0 " + resources)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources 20 0 R >>",
        4: pdf_stream(b"/X Do", ""),
        10: pdf_stream(b"/X Do " * 10, "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources 20 0 R"),
        30: pdf_stream(packed, "/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode"),
    }
    body = assemble_pdf(objects)
    table = b"".join(
        bytes([2, 0, 0, 30, 0]) if number == 20 else bytes([1]) + body.index(b"\n%d 0 obj" % number).to_bytes(3) + b"\0"
        for number in [*objects, 20]
    )
    index = " ".join(f"{number} 1" for number in [*objects, 20])
    kind = f"/Type /XRef /Size 31 /Root 1 0 R /W [1 3 1] /Index [{index}]"
    start = body.index(b"xref\n0")
    streamed = body[:start] + b"31 0 obj\n" + pdf_stream(table, kind) + b"\nendobj\nstartxref\n%d\n%%%%EOF" % start

    with pytest.raises(Fault, match=r"its only page would draw the same things over and over"):
        documents.read(streamed, "", "")
