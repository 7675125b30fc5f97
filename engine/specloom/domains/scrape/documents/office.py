"""The archive of an office document, opened so that none can fill the memory: counted, bounded, no entities.

Below it what Word, PowerPoint and Excel files share: numbers, drawings, diagrams, pictures and equations.
"""

from __future__ import annotations

import io
import math
import posixpath
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import unquote

from lxml import etree

from specloom.core import Fault

from ..metadata.fields import to_iso, to_names, to_text
from .document import Document, Limits, refuse, to_table, to_title

Element = etree._Element  # noqa: SLF001 - the public name is a function

# APPNOTE.TXT 6.3.10, 4.3.16: the end of central directory record, found from the end because of its comment.
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LONGEST_COMMENT: Final = 65_535
_ENTRY_SIZE: Final = 46
_SMALL: Final = 1024 * 1024
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, struct.error)

_RELATIONS: Final = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}",
)
"""The relationship namespace in both editions of the standard."""


class Archive:
    """An opened office document. Every read counts against the limits; Fault `too_large` when they are passed."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        self.limits = limits
        self.cells = limits.cells
        """How many cells of tables may still be read; below zero when some were left out."""
        self.hidden = 0
        """How many stretches were left out because nobody sees them."""
        self._deadline = time.monotonic() + limits.seconds
        self._read = 0
        _check_directory(body, limits)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _BROKEN as error:
            raise _broken(str(error)) from None
        self._names = {name.lower(): name for name in self._zip.namelist()}

    @property
    def is_late(self) -> bool:
        """Whether the time for reading is over."""
        return time.monotonic() > self._deadline

    def read(self, name: str) -> bytes | None:
        """The unpacked bytes of an entry, None when there is none."""
        entry_name = self._names.get(name.lstrip("/").lower())
        if entry_name is None:
            return None
        info = self._zip.getinfo(entry_name)
        if info.flag_bits & 1:
            raise Fault("auth_required", "This document is encrypted with a password.", action="inform_user")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _broken(f"its entry {name!r} is packed in a way that office documents do not use")
        room = min(self.limits.entry_bytes, self.limits.total_bytes - self._read)
        try:
            with self._zip.open(info) as entry:
                data = entry.read(room + 1)
        except _BROKEN as error:
            raise _broken(f"its entry {name!r} cannot be unpacked ({type(error).__name__})") from None
        self._read += len(data)
        if len(data) > room:
            raise _too_large(f"{name!r} unpacks to more than {room} bytes")
        if len(data) > _SMALL and len(data) > self.limits.ratio * max(info.compress_size, 1):
            raise _too_large(f"{name!r} unpacks to more than {self.limits.ratio} times its size")
        return data

    def xml(self, name: str) -> Element | None:
        """The root of an entry, None when there is none or nothing in it; entities are not read."""
        data = self.read(name)
        if data is None:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(data, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise _broken(f"its part {name!r} is not XML ({type(error).__name__})") from None
        if root is not None and root.getroottree().docinfo.internalDTD is not None:
            raise _broken(f"its part {name!r} declares a document type, which office documents never do")
        return root

    def optional(self, name: str) -> Element | None:
        """The root of an entry that the rest can be read without: None also when it is broken.

        Half of what may be read goes to such entries at most, and the others are left.
        """
        entry_name = self._names.get(name.lstrip("/").lower())
        if entry_name is None or self._read + self._zip.getinfo(entry_name).file_size > self.limits.total_bytes // 2:
            return None
        try:
            return self.xml(name)
        except Fault as fault:
            if fault.kind != "content_empty":
                raise
            return None

    def relations(self, name: str) -> dict[str, str]:
        """What a part refers to by id: names of other parts, or addresses as they are."""
        return {identifier: target for identifier, _, target, _ in self._relations(name)}

    def related(self, name: str, kind: str, usual: str = "") -> str:
        """The first part that a part refers to as a `kind`, the last word of a relation's type; `usual` for none."""
        targets = (target for _, type_, target, is_inside in self._relations(name) if type_ == kind and is_inside)
        return next(targets, usual) or usual

    def _relations(self, name: str) -> Iterator[tuple[str, str, str, bool]]:
        """The id, kind and target of each relation of a part, and whether its target is in the archive."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        for relation in root if root is not None else ():
            target, is_inside = relation.get("Target") or "", relation.get("TargetMode") != "External"
            if is_inside:
                # It stays inside the archive however many `..` it has.
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            yield relation.get("Id") or "", (relation.get("Type") or "").rpartition("/")[2], target, is_inside

    def to_document(
        self, kind: str, text: str, *, shown_title: str = "", is_cut: bool, pages: int = 0, pages_read: int = 0
    ) -> Document:
        """The document with this text, and what its core properties say: `title`, `creator`, `created` and so on."""
        root = self.xml("docProps/core.xml")
        properties: dict[str, str] = {}
        for each in root if root is not None else ():
            if (name := local(each)) and (value := to_text(each.text or "", 1000)):
                properties.setdefault(name, value)
        return Document(
            kind,
            text,
            title=to_title(properties.get("title", ""), shown_title),
            authors=to_names(properties.get("creator", "").split(";"), split=False),
            published=to_iso(properties.get("created", "")),
            modified=to_iso(properties.get("modified", "")),
            language=properties.get("language", ""),
            pages=pages,
            pages_read=pages_read,
            metadata=properties,
            truncated=is_cut,
            stripped={"hidden": self.hidden} if self.hidden else {},
        )


def get_relation(element: Element | None, name: str = "id") -> str:
    """The id in an attribute of the relationship namespace, "" for none."""
    return next((value for space in _RELATIONS if element is not None and (value := element.get(space + name))), "")


def local(element: Element) -> str:
    """The name of an element without its namespace; "" for what is no element."""
    tag: object = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """The children with one of these names, in any namespace: both editions of the standard have their own."""
    return (each for each in (element if element is not None else ()) if local(each) in names)


def descendants(element: Element | None, *names: str) -> Iterator[Element]:
    """What is in an element, and itself, with one of these names."""
    return (each for each in (element.iter() if element is not None else ()) if local(each) in names)


def child(element: Element | None, *path: str) -> Element | None:
    """The first child of that name, its first of the next name and so on; None if there is none."""
    for name in path:
        element = next(children(element, name), None)
    return element


def attribute(element: Element | None, name: str) -> str:
    """The value of an attribute in any namespace, "" without one."""
    attributes = element.attrib.items() if element is not None else ()
    return next((str(value) for key, value in attributes if str(key).rpartition("}")[2] == name), "")


def value_of(element: Element | None, *path: str) -> str:
    """The `val` of the element that a path of names leads to, "" without one."""
    return attribute(child(element, *path), "val")


def is_on(text: str) -> bool:
    """Whether an attribute says yes."""
    return text in ("1", "true")


def to_int(text: str, default: int = 0) -> int:
    """A small whole number, or the default."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _check_directory(body: bytes, limits: Limits) -> None:
    """Refuse an archive by the size of its directory, before anything makes objects of its entries."""
    at = body.rfind(_END, max(0, len(body) - _END_SIZE - _LONGEST_COMMENT))
    if at < 0 or len(body) - at < _END_SIZE:
        raise _broken("its end is missing; it may have been cut while it was fetched")
    count, size = struct.unpack("<HI", body[at + 10 : at + 16])
    if count > limits.entries or (size > limits.entries * (_ENTRY_SIZE + 200)):
        raise _too_large(f"it has more than {limits.entries} entries")


def _broken(detail: str) -> Fault:
    return refuse(f"This office document cannot be read: {detail}.")


def _too_large(detail: str) -> Fault:
    return Fault("too_large", f"This office document is refused because {detail}.")


# --- The numbers that sheets and charts keep: dates, lengths of time, shares in per cent, and plain numbers -----------


# Days are counted from here on (ECMA-376 part 1, 18.17.4.1).
FIRST_DAY: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet knows no time zones
_MOST_DAYS: Final = 2_958_466
_LONGEST_NUMBER: Final = 30


def show_number(text: str, kind: str, first_day: datetime = FIRST_DAY, *, digits: int = 15) -> str:
    """What a number shows; what is none as it stands.

    `kind` is `day`, `time` or `both` for a date, `hours` for a length of time, `%2` for a share with so many decimals.
    """
    try:
        value = float(text)
    except ValueError:
        return " ".join(text.split())
    if not math.isfinite(value) or len(text) > _LONGEST_NUMBER:
        return text[:_LONGEST_NUMBER]
    if kind.startswith("%"):
        return f"{value * 100:.{kind[1:]}f}%"
    if kind == "hours" and abs(value) < _MOST_DAYS:
        hours, minutes = divmod(round(abs(value) * 1440), 60)
        return f"{'-' * (value < 0)}{hours}:{minutes:02}"
    if kind and 0 <= value < _MOST_DAYS:
        moment = first_day + timedelta(seconds=round(value * 86_400))
        day, clock = moment.date().isoformat(), moment.time().isoformat("seconds").removesuffix(":00")
        if kind == "time" or (kind == "both" and value < 1):
            return clock
        return day if kind == "day" or value == int(value) else f"{day} {clock}"
    # Without the digits that only binary arithmetic made.
    return f"{value:.{digits}g}" if abs(value) < 1e15 else text


# --- What drawings of office documents say: the data of a chart, the texts of a diagram, the words for a picture ------


_MOST_POINTS: Final = 2000
_DEEPEST: Final = 8
# Points of a diagram's data model that are no nodes of it.
_NO_NODES: Final = frozenset({"pres", "parTrans", "sibTrans", "doc"})
_LONGEST: Final = 1000
# What programs write where a person wrote nothing.
_MADE_UP: Final = re.compile(
    r"(?:(?<!\s)\s++)?(?:Description automatically generated.*|AI-generated content may be incorrect\.?)"
    r"|^\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|[ew]mf|webp)$",
    re.DOTALL | re.IGNORECASE,
)
_DATE_FORMAT: Final = re.compile(r"yy|d/m|m/d|mmm", re.IGNORECASE)


def read_drawing(archive: Archive, drawing: Element, links: Mapping[str, str]) -> str:
    """The chart or diagram in a drawing as Markdown, "" when it has none; `links` are those of its part."""
    for each in descendants(drawing, "chart", "relIds"):
        is_chart = local(each) == "chart"
        if target := links.get(get_relation(each, "id" if is_chart else "dm")):
            root = archive.optional(target)
            return _read_chart(root, archive) if is_chart else _read_diagram(root)
    return ""


def _read_chart(root: Element | None, archive: Archive) -> str:
    """The title of a chart and a table of what it shows, from the values that the file keeps."""
    chart = child(root, "chart")
    title = _text(child(chart, "title"))
    series = list(descendants(child(chart, "plotArea"), "ser"))
    names = [_text(child(each, "tx")) for each in series]
    places: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for each in series:
        places = _points(child(each, "cat")) or _points(child(each, "xVal")) or places
        columns.append(_points(child(each, "val")) or _points(child(each, "yVal")))
    rows = sorted({at for column in columns for at in column} | set(places))[:_MOST_POINTS]
    room = archive.cells // (len(series) + 1)
    archive.cells -= len(rows) * (len(series) + 1)
    cells = [[places.get(at, str(at + 1)), *(column.get(at, "") for column in columns)] for at in rows[: max(room, 0)]]
    table = to_table([["", *names], *cells]) if cells else " ".join(filter(None, names))
    return "\n\n".join(filter(None, (title, table)))


def _read_diagram(root: Element | None) -> str:
    """The texts of a diagram as a nested list."""
    texts: dict[str, str] = {}
    tops: list[str] = []
    for point in children(child(root, "ptLst"), "pt"):
        kind, name = attribute(point, "type"), attribute(point, "modelId")
        if kind == "doc":
            tops.append(name)
        elif kind not in _NO_NODES:
            texts[name] = _text(child(point, "t"))
    below: dict[str, list[tuple[int, str]]] = {}
    for link in children(child(root, "cxnLst"), "cxn"):
        if attribute(link, "type") in ("", "parOf"):
            place = to_int(attribute(link, "srcOrd")), attribute(link, "destId")
            below.setdefault(attribute(link, "srcId"), []).append(place)
    lines: list[str] = []

    def tell(name: str, depth: int) -> None:
        text = texts.pop(name, None)
        if text:
            lines.append(f"{'   ' * min(depth, _DEEPEST)}- {text}")
        if text is not None or name in tops:
            for _, each in sorted(below.pop(name, [])):
                tell(each, depth + (text is not None))

    for top in tops:
        tell(top, 0)
    return "\n".join([*lines, *(f"- {text}" for text in texts.values() if text)])


def to_picture(element: Element | None) -> str:
    """The words that stand for a picture, as an image without an address; "" without any or for a hidden one."""
    if is_on(attribute(element, "hidden")):
        return ""
    words = " ".join(_MADE_UP.sub("", attribute(element, "descr")).split())[:_LONGEST]
    return f"![{words.replace('[', '(').replace(']', ')')}]()" if words else ""


def to_link(text: str, target: str) -> str:
    """A text as a link of Markdown; as it is where its target is no address of the web, or where it says nothing."""
    if not target.startswith(("http://", "https://")) or not text.strip():
        return text
    address = target.replace(" ", "%20").replace("(", "%28").replace(")", "%29")[:2000]
    return f"[{text.strip()}]({address})"


def _points(element: Element | None) -> dict[int, str]:
    """The values that are kept of a row or a column of a sheet, by their place."""
    points: dict[int, str] = {}
    kind = "day" if any(_DATE_FORMAT.search(each.text or "") for each in descendants(element, "formatCode")) else ""
    for each in descendants(element, "pt"):
        at, value = to_int(attribute(each, "idx"), -1), child(each, "v")
        if value is not None and 0 <= at < 100_000:
            text = show_number(value.text or "", kind, digits=12)
            # Several levels of names: the nearest comes first.
            points[at] = f"{points[at]} {text}" if at in points else text
        if len(points) >= _MOST_POINTS:
            break
    return points


def _text(element: Element | None) -> str:
    """All the text in an element: runs, and values kept of cells."""
    paragraphs = ["".join(run.text or "" for run in descendants(each, "t")) for each in descendants(element, "p")]
    return " ".join(" ".join([*paragraphs, *(each.text or "" for each in descendants(element, "v"))]).split())


# --- An equation of an office document (Office Math, ECMA-376 part 1, 22.1) in one line: `(a+b)/2`, `x^2`, `√(y)` -----


def to_line(element: Element) -> str:
    """What an equation or a part of it says, in one line."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name == "f":
        return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"
    if name in ("sSup", "sSub", "sSubSup", "limLow", "limUpp", "nary", "sPre"):
        return _with_scripts(element, name)
    if name == "rad":
        return f"{_part(element, 'deg')}√({_part(element, 'e')})"
    if name == "d":
        first, between, last = (_sign(element, "dPr", *sign) for sign in _DELIMITERS)
        return first + between.join(map(_inside, children(element, "e"))) + last
    if name == "m":
        return "[" + "; ".join(", ".join(map(_inside, children(row, "e"))) for row in children(element, "mr")) + "]"
    if name == "eqArr":
        return "; ".join(map(_inside, children(element, "e")))
    return f"{_part(element, 'fName')}({_part(element, 'e')})" if name == "func" else _inside(element)


_DELIMITERS: Final = (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))


def _with_scripts(element: Element, name: str) -> str:
    base, low, high = (_part(element, part) for part in ("e", "sub", "sup"))
    if name in ("limLow", "limUpp"):
        low, high = (_part(element, "lim") if name == each else "" for each in ("limLow", "limUpp"))
    low, high = f"_{_grouped(low)}" if low else "", f"^{_grouped(high)}" if high else ""
    if name == "nary":
        return f"{_sign(element, 'naryPr', 'chr', '∫')}{low}{high} {base}"
    return f"{low}{high}{base}" if name == "sPre" else f"{base}{low}{high}"


def _inside(element: Element | None) -> str:
    """What the parts of an element say, without its settings."""
    return "".join(to_line(each) for each in (element if element is not None else ()) if not local(each).endswith("Pr"))


def _part(element: Element, name: str) -> str:
    return _inside(child(element, name))


def _sign(element: Element, settings: str, name: str, usual: str) -> str:
    sign = child(element, settings, name)
    return usual if sign is None else attribute(sign, "val")


def _grouped(text: str) -> str:
    """In parentheses what is more than a name or a number."""
    return text if text.isalnum() or not text else f"({text})"
