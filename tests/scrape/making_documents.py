"""Small PDF, DOCX and PPTX files made by hand, so that a test says all that is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence

Text = tuple[float, float, float, str]
"""A text on a page: distance from the left and the bottom, size, and what it says (Latin letters)."""

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAW = "http://schemas.openxmlformats.org/drawingml/2006/main"
SHOW = "http://schemas.openxmlformats.org/presentationml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def make_pdf(
    pages: Sequence[Sequence[Text]],
    *,
    info: Mapping[str, str] | None = None,
    outline: Sequence[tuple[int, str]] = (),
    picture: bool = False,
    trailer: str = "",
) -> bytes:
    """A PDF file with texts at places; `outline` has (page from 0, title)."""
    objects: dict[int, bytes] = {}
    first = 10 + len(outline)
    numbers = [first + 2 * at for at in range(len(pages))]
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 5 0 R' if outline else ''} >>".encode()
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[4] = (
        "<< " + " ".join(f"/{name} ({_escape(value)})" for name, value in (info or {}).items()) + " >>"
    ).encode()
    if outline:
        objects[5] = f"<< /Type /Outlines /First 10 0 R /Last {9 + len(outline)} 0 R /Count {len(outline)} >>".encode()
    for at, (page, title) in enumerate(outline):
        following = f"/Next {11 + at} 0 R" if at + 1 < len(outline) else ""
        objects[10 + at] = (
            f"<< /Title ({_escape(title)}) /Parent 5 0 R {following} /Dest [{numbers[page]} 0 R /Fit] >>".encode()
        )
    image = "/XObject << /Im 6 0 R >>" if picture else ""
    if picture:
        objects[6] = _stream(
            b"\x00", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
        )
    for number, texts in zip(numbers, pages, strict=True):
        drawn = "\n".join(f"BT /F1 {size} Tf {x} {y} Td ({_escape(text)}) Tj ET" for x, y, size, text in texts)
        drawn += "\nq 500 0 0 700 0 0 cm /Im Do Q" if picture else ""
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {number + 1} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> {image} >> >>".encode()
        )
        objects[number + 1] = _stream(drawn.encode("cp1252"), "")
    return _assemble(objects, trailer)


def lines(
    texts: Iterable[str], *, left: float = 60, top: float = 700, size: float = 10, leading: float = 12
) -> list[Text]:
    """Texts under each other."""
    return [(left, top - leading * at, size, text) for at, text in enumerate(texts)]


def make_docx(
    body: str, *, parts: Mapping[str, str] | None = None, links: Mapping[str, str] | None = None, **properties: str
) -> bytes:
    """A DOCX file whose body has this XML (prefixes w and r); `links` maps ids to addresses."""
    document = f'<w:document xmlns:w="{WORD}" xmlns:r="{RELATION}"><w:body>{body}</w:body></w:document>'
    external = "".join(
        f'<Relationship Id="{name}" Type="{RELATION}/hyperlink" Target="{target}" TargetMode="External"/>'
        for name, target in (links or {}).items()
    )
    internal = "".join(
        f'<Relationship Id="p{name}" Type="{RELATION}/{name}" Target="{name}.xml"/>' for name in (parts or {})
    )
    return make_zip(
        {
            "_rels/.rels": _relations(("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{external}{internal}</Relationships>',
            "docProps/core.xml": _properties(properties),
            **{f"word/{name}.xml": text for name, text in (parts or {}).items()},
        }
    )


def paragraph(text: str, *, style: str = "", number: str = "", depth: int = 0) -> str:
    """A paragraph of a DOCX file, with its style and the list that it is in."""
    listed = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>' if number else ""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f'<w:p><w:pPr>{styled}{listed}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def make_pptx(slides: Sequence[str], *, notes: Mapping[int, str] | None = None, **properties: str) -> bytes:
    """A PPTX file: `slides` are the XML of shape trees (prefixes a and p) in the order shown.

    The parts are numbered the other way round, so that their names lie about the order.
    """
    count = len(slides)
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="r{at}"/>' for at in range(count))
    entries = {
        "_rels/.rels": _relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SHOW}" xmlns:r="{RELATION}">'
        f"<p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(
            *((f"r{at}", "slide", f"slides/slide{count - at}.xml") for at in range(count))
        ),
        "docProps/core.xml": _properties(properties),
    }
    for at, tree in enumerate(slides):
        name = f"slide{count - at}.xml"
        entries[f"ppt/slides/{name}"] = _slide("sld", tree)
        if text := (notes or {}).get(at):
            entries[f"ppt/slides/_rels/{name}.rels"] = _relations(("n", "notesSlide", f"../notesSlides/n{at}.xml"))
            entries[f"ppt/notesSlides/n{at}.xml"] = _slide("notes", shape(text, "body"))
    return make_zip(entries)


def shape(text: str, kind: str | None = None) -> str:
    """A shape with a paragraph for each line of a text, deeper in a list for each tab; `kind` names its placeholder."""
    place = "" if kind is None else f"<p:nvSpPr><p:nvPr><p:ph type='{kind}'/></p:nvPr></p:nvSpPr>"
    paragraphs = "".join(
        f'<a:p><a:pPr lvl="{len(line) - len(line.lstrip(chr(9)))}"/><a:r><a:t>{line.strip()}</a:t></a:r></a:p>'
        for line in text.split("\n")
    )
    return f"<p:sp>{place}<p:txBody>{paragraphs}</p:txBody></p:sp>"


def make_zip(entries: Mapping[str, str | bytes]) -> bytes:
    """An archive of some entries."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return data.getvalue()


def _slide(kind: str, tree: str) -> str:
    return (
        f'<p:{kind} xmlns:p="{SHOW}" xmlns:a="{DRAW}" xmlns:r="{RELATION}">'
        f"<p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:{kind}>"
    )


def _relations(*relations: tuple[str, str, str]) -> str:
    inner = "".join(
        f'<Relationship Id="{name}" Type="{RELATION}/{kind}" Target="{target}"/>' for name, kind, target in relations
    )
    return f'<Relationships xmlns="{_PACKAGE}">{inner}</Relationships>'


def _properties(values: Mapping[str, str]) -> str:
    inner = "".join(f"<x:{name}>{value}</x:{name}>" for name, value in values.items())
    return f'<c:coreProperties xmlns:c="core" xmlns:x="dc">{inner}</c:coreProperties>'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _stream(data: bytes, entries: str) -> bytes:
    return f"<< {entries} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def _assemble(objects: Mapping[int, bytes], trailer: str) -> bytes:
    body = bytearray(b"%PDF-1.4\n")
    places = {}
    for number, content in sorted(objects.items()):
        places[number] = len(body)
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    at, size = len(body), max(objects) + 1
    body += f"xref\n0 {size}\n".encode()
    for number in range(size):
        body += (f"{places[number]:010} 00000 n \n" if number in places else "0000000000 65535 f \n").encode()
    body += f"trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R {trailer} >>\nstartxref\n{at}\n%%EOF\n".encode()
    return bytes(body)
