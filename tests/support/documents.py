"""Small PDF, DOCX and PPTX files made by hand, so that a test says all that is in them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence

Text = tuple[float, float, float, str]
"""A text on a page: distance from the left and the bottom, size, and what it says (Latin letters)."""

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAW = "http://schemas.openxmlformats.org/drawingml/2006/main"
SHOW = "http://schemas.openxmlformats.org/presentationml/2006/main"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def make_pdf(
    pages: Sequence[Sequence[Text]],
    *,
    info: Mapping[str, str] | None = None,
    outline: Sequence[tuple[int, str]] = (),
    picture: bool | Collection[int] = False,
    drawn: Mapping[int, str] | None = None,
    font: str = "Helvetica",
    bold: Collection[str] = (),
    mode: int = 0,
    turned: int = 0,
    trailer: str = "",
    resources: str = "",
    image: bool = False,
    catalog: str = "",
    fields: Sequence[str] = (),
    more: Mapping[int, bytes] | None = None,
    named: str = "",
) -> bytes:
    """A PDF file with texts at places; `outline` has (page from 0, title).

    `picture` draws one on all pages or on those named, and `image` gives it the name `Im` without drawing it; `drawn`
    has what else is drawn on a page (its operators), `bold` are texts set in bold letters, `resources` are more of
    those of a page, `catalog` is what else the catalog says, `fields` are those of a form on the first page, `more` are
    objects by number, `named` the names of forms among them, `mode` is the rendering mode of text (3 for unseen), and
    `turned` the degrees by which pages are turned when shown.
    """
    objects: dict[int, bytes] = {}
    first = 10 + len(outline)
    numbers = [first + 2 * at for at in range(len(pages))]
    last = first + 2 * len(pages)
    objects |= {last + at: text.encode() for at, text in enumerate(fields)}
    shown = f"[{' '.join(f'{last + at} 0 R' for at in range(len(fields)))}]"
    catalog += f" /AcroForm << /Fields {shown} >>" if fields else ""
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 5 0 R' if outline else ''} {catalog} >>".encode()
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % font.encode()
    objects[7] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>"
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
    named = f"/XObject << {'/Im 6 0 R' if picture or image else ''} {named} >>" if picture or image or named else ""
    if picture or image:
        objects[6] = pdf_stream(
            b"\x00", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
        )
    for at, (number, texts) in enumerate(zip(numbers, pages, strict=True)):
        content = "\n".join(
            f"BT {mode} Tr /F{1 + (text in bold)} {size} Tf {x} {y} Td ({_escape(text)}) Tj ET"
            for x, y, size, text in texts
        )
        has_picture = picture if isinstance(picture, bool) else at in picture
        content += "\nq 500 0 0 700 0 0 cm /Im Do Q" if has_picture else ""
        content += f"\n{(drawn or {}).get(at, '')}"
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate {turned} /Contents {number + 1} 0 R"
            f" /Resources << /Font << /F1 3 0 R /F2 7 0 R >> {named} {resources} >>"
            f" {f'/Annots {shown}' if fields and at == 0 else ''} >>".encode()
        )
        objects[number + 1] = pdf_stream(content.encode("cp1252"), "")
    return assemble_pdf(objects | dict(more or {}), trailer)


def lines(
    texts: Iterable[str], *, left: float = 60, top: float = 700, size: float = 10, leading: float = 12
) -> list[Text]:
    """Texts under each other."""
    return [(left, top - leading * at, size, text) for at, text in enumerate(texts)]


def rows(cells: Iterable[Sequence[str]], at: Sequence[float], **place: float) -> list[Text]:
    """Cells beside each other, in columns that begin at these distances from the left; one that ends there for < 0."""
    top, leading, size = place.get("top", 700.0), place.get("leading", 14.0), place.get("size", 10.0)
    return [
        (left if left >= 0 else -left - width(text) * size, top - leading * number, size, text)
        for number, row in enumerate(cells)
        for left, text in zip(at, row, strict=True)
        if text
    ]


def width(text: str) -> float:
    """About how wide a text of digits and letters is in Helvetica, in its sizes (digits exactly)."""
    return sum(0.278 if each in " .,il:" else 0.556 for each in text)


def grid(columns: Sequence[float], heights: Sequence[float]) -> str:
    """The operators that draw lines at these distances from the left and from the bottom, from end to end."""
    across = [f"{columns[0]} {at} m {columns[-1]} {at} l S" for at in heights]
    return "\n".join([*across, *(f"{at} {heights[0]} m {at} {heights[-1]} l S" for at in columns)])


def make_docx(
    body: str,
    *,
    parts: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    entries: Mapping[str, str] | None = None,
    **properties: str,
) -> bytes:
    """A DOCX file whose body has this XML (prefixes w, r and m).

    `links` maps ids to addresses; a part `x` is `word/x.xml` and has the id `px`; `entries` are written as they are.
    """
    names = f'xmlns:w="{WORD}" xmlns:r="{RELATION}" xmlns:m="{MATH}"'
    document = f"<w:document {names}><w:body>{body}</w:body></w:document>"
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
            **(entries or {}),
        }
    )


def paragraph(text: str, *, style: str = "", number: str = "", depth: int = 0) -> str:
    """A paragraph of a DOCX file, with its style and the list that it is in."""
    listed = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>' if number else ""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f'<w:p><w:pPr>{styled}{listed}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def make_pptx(
    slides: Sequence[str],
    *,
    notes: Mapping[int, str] | None = None,
    related: Mapping[str, str] | None = None,
    size: str = "",
    **properties: str,
) -> bytes:
    """A PPTX file: `slides` are the XML of shape trees (prefixes a, p and r) in the order shown.

    The parts are numbered the other way round, so that their names lie about the order. `related` are parts to which
    every slide refers by their names, which are kinds of relations as well; `size` is the element for that of slides.
    """
    count = len(slides)
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="r{at}"/>' for at in range(count))
    entries = {
        "_rels/.rels": _relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SHOW}" xmlns:r="{RELATION}">'
        f"<p:sldIdLst>{ids}</p:sldIdLst>{size}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(
            *((f"r{at}", "slide", f"slides/slide{count - at}.xml") for at in range(count))
        ),
        "docProps/core.xml": _properties(properties),
    }
    for at, tree in enumerate(slides):
        name = f"slide{count - at}.xml"
        entries[f"ppt/slides/{name}"] = _slide("sld", tree)
        refers = [(kind, kind, f"../{kind}.xml") for kind in related or {}]
        if text := (notes or {}).get(at):
            refers.append(("n", "notesSlide", f"../notesSlides/n{at}.xml"))
            entries[f"ppt/notesSlides/n{at}.xml"] = _slide("notes", shape(text, "body"))
        entries[f"ppt/slides/_rels/{name}.rels"] = _relations(*refers)
    entries |= {f"ppt/{kind}.xml": text for kind, text in (related or {}).items()}
    return make_zip(entries)


def shape(text: str, kind: str | None = None, at: Sequence[int] = ()) -> str:
    """A shape with a paragraph for each line of a text, deeper in a list for each tab; `kind` names its placeholder.

    `at` has its distances from the left and the top, its width and its height.
    """
    place = "" if kind is None else f"<p:nvSpPr><p:nvPr><p:ph type='{kind}'/></p:nvPr></p:nvSpPr>"
    place += f"<p:spPr>{area(*at)}</p:spPr>" if at else ""
    paragraphs = "".join(
        f'<a:p><a:pPr lvl="{len(line) - len(line.lstrip(chr(9)))}"/><a:r><a:t>{line.strip()}</a:t></a:r></a:p>'
        for line in text.split("\n")
    )
    return f"<p:sp>{place}<p:txBody>{paragraphs}</p:txBody></p:sp>"


def area(left: int, top: int, width: int, height: int, name: str = "a") -> str:
    """Where something stands on a slide."""
    return f'<{name}:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></{name}:xfrm>'


def chart(title: str, names: Sequence[str], series: Mapping[str, Sequence[float]], dates: str = "General") -> str:
    """The part of a chart with the values that a file keeps of its sheet; `dates` is the format of the names."""

    def kept(name: str, values: Sequence[object], form: str = "") -> str:
        points = "".join(f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values))
        return f"<c:{name}><c:numRef><c:numCache>{form}{points}</c:numCache></c:numRef></c:{name}>"

    form = f"<c:formatCode>{dates}</c:formatCode>"
    drawn = "".join(
        f"<c:ser><c:tx><c:v>{name}</c:v></c:tx>{kept('cat', names, form)}{kept('val', values)}</c:ser>"
        for name, values in series.items()
    )
    said = f"<c:title><c:tx><c:rich>{_said(title)}</c:rich></c:tx></c:title>"
    inner = f"<c:chart>{said}<c:plotArea><c:barChart>{drawn}</c:barChart></c:plotArea></c:chart>"
    return f'<c:chartSpace xmlns:c="{CHART}" xmlns:a="{DRAW}">{inner}</c:chartSpace>'


def diagram(texts: Mapping[str, str], below: Mapping[str, Sequence[str]]) -> str:
    """The data of a diagram: texts by name, and what stands below what; the whole is called `top`."""
    points = "".join(f'<d:pt modelId="{name}"><d:t>{_said(text)}</d:t></d:pt>' for name, text in texts.items())
    links = "".join(
        f'<d:cxn modelId="l{one}{two}" srcId="{one}" destId="{two}" srcOrd="{at}"/>'
        for one, others in below.items()
        for at, two in enumerate(others)
    )
    inner = f'<d:ptLst><d:pt modelId="top" type="doc"/>{points}</d:ptLst><d:cxnLst>{links}</d:cxnLst>'
    return f'<d:dataModel xmlns:d="{DIAGRAM}" xmlns:a="{DRAW}">{inner}</d:dataModel>'


def _said(text: str) -> str:
    return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"


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


def pdf_stream(data: bytes, entries: str) -> bytes:
    """A stream of a PDF file, with the entries of its dictionary."""
    return f"<< {entries} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def assemble_pdf(objects: Mapping[int, bytes], trailer: str = "") -> bytes:
    """A PDF file of objects by number, of which 1 is the catalog."""
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
