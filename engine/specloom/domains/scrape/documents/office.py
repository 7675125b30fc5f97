"""The archive of an office document, opened so that none can fill the memory: counted, bounded, no entities."""

from __future__ import annotations

import io
import math
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final
from urllib.parse import unquote

from lxml import etree

from specloom.core import Fault

from ..metadata.authors import to_names, to_text
from .document import Limits, to_table

# APPNOTE.TXT 6.3.10, 4.3.16: the end of central directory record, found from the end because of its comment.
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_LONGEST_COMMENT: Final = 65_535
_ENTRY_SIZE: Final = 46
_SMALL: Final = 1024 * 1024

RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_RELATION: Final = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"


class Archive:
    """An opened office document. Every read counts against the limits; Fault `too_large` when they are passed."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        self._limits = limits
        self._read = 0
        _check_directory(body, limits)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
            raise _broken(str(error)) from None
        self._names = {name.lower(): name for name in self._zip.namelist()}

    def read(self, name: str) -> bytes | None:
        """The unpacked bytes of an entry, None when there is none."""
        found = self._names.get(name.lstrip("/").lower())
        if found is None:
            return None
        info = self._zip.getinfo(found)
        if info.flag_bits & 1:
            raise Fault("auth_required", "This document is encrypted with a password.", action="inform_user")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _broken(f"its entry {name!r} is packed in a way that office documents do not use")
        room = min(self._limits.entry_bytes, self._limits.total_bytes - self._read)
        try:
            with self._zip.open(info) as entry:
                data = entry.read(room + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            ValueError,
            NotImplementedError,
            struct.error,
        ) as error:
            raise _broken(f"its entry {name!r} cannot be unpacked ({type(error).__name__})") from None
        self._read += len(data)
        if len(data) > room:
            raise _too_large(f"{name!r} unpacks to more than {room} bytes")
        if len(data) > _SMALL and len(data) > self._limits.ratio * max(info.compress_size, 1):
            raise _too_large(f"{name!r} unpacks to more than {self._limits.ratio} times its size")
        return data

    def xml(self, name: str) -> etree._Element | None:
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

    def optional(self, name: str) -> etree._Element | None:
        """The root of an entry that the rest can be read without: None also when it is broken.

        Half of what may be read goes to such entries at most, and the others are left.
        """
        found = self._names.get(name.lstrip("/").lower())
        if found is None or self._read + self._zip.getinfo(found).file_size > self._limits.total_bytes // 2:
            return None
        try:
            return self.xml(name)
        except Fault as fault:
            if fault.kind != "content_empty":
                raise
            return None

    def relations(self, name: str) -> Mapping[str, str]:
        """What a part refers to by id: names of other parts, or addresses as they are."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, str] = {}
        for relation in root if root is not None else ():
            target = relation.get("Target") or ""
            if relation.get("TargetMode") != "External":
                target = _to_name(folder, target)
            found[relation.get("Id") or ""] = target
        return found

    def related(self, name: str, kind: str) -> str:
        """The first part that a part refers to as a `kind`, the last word of a relation's type; "" for none."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        for relation in root if root is not None else ():
            if (relation.get("Type") or "").rpartition("/")[2] == kind and relation.get("TargetMode") != "External":
                return _to_name(folder, relation.get("Target") or "")
        return ""


def get_relation(element: etree._Element, name: str = "id") -> str:
    """The id in an attribute of the relationship namespace, of either edition of the standard."""
    return element.get(RELATION + name) or element.get(_STRICT_RELATION + name) or ""


def local(element: etree._Element) -> str:
    """The name of an element without its namespace; "" for what is no element."""
    tag: object = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def children(element: etree._Element | None, *names: str) -> Iterator[etree._Element]:
    """The children with one of these names, in any namespace: both editions of the standard have their own."""
    for child in element if element is not None else ():
        if local(child) in names:
            yield child


def child(element: etree._Element | None, *path: str) -> etree._Element | None:
    """The first child of that name, its first of the next name and so on; None if there is none."""
    for name in path:
        element = next(children(element, name), None)
    return element


def attribute(element: etree._Element | None, name: str) -> str:
    """The value of an attribute in any namespace, "" without one."""
    if element is None:
        return ""
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def properties(archive: Archive) -> dict[str, str]:
    """The document's core properties by their names: `title`, `creator`, `created`, `language` and so on."""
    root = archive.xml("docProps/core.xml")
    found: dict[str, str] = {}
    for each in root if root is not None else ():
        if (name := local(each)) and (text := to_text(each.text or "", 1000)):
            found.setdefault(name, text)
    return found


def to_authors(found: Mapping[str, str]) -> tuple[str, ...]:
    """The people that the core properties name."""
    return to_names(found.get("creator", "").split(";"), split=False)


def _to_name(folder: str, target: str) -> str:
    """The entry that a target means; it stays inside the archive however many `..` it has."""
    path = unquote(target)
    return posixpath.normpath(path if path.startswith("/") else posixpath.join("/", folder, path)).lstrip("/")


def _check_directory(body: bytes, limits: Limits) -> None:
    """Refuse an archive by the size of its directory, before anything makes objects of its entries."""
    at = body.rfind(_END, max(0, len(body) - _END_SIZE - _LONGEST_COMMENT))
    if at < 0 or len(body) - at < _END_SIZE:
        raise _broken("its end is missing; it may have been cut while it was fetched")
    count, size = struct.unpack("<HI", body[at + 10 : at + 16])
    if count > limits.entries or (size > limits.entries * (_ENTRY_SIZE + 200)):
        raise _too_large(f"it has more than {limits.entries} entries")


def _broken(detail: str) -> Fault:
    return Fault("content_empty", f"This office document cannot be read: {detail}.", action="inform_user")


def _too_large(detail: str) -> Fault:
    return Fault("too_large", f"This office document is refused because {detail}.")


# --- What drawings of office documents say: the data of a chart, the texts of a diagram, the words for a picture ------


_MOST_POINTS: Final = 2000
_DEEPEST: Final = 8
# Points of a diagram's data model that are no nodes of it.
_NO_NODES: Final = frozenset({"pres", "parTrans", "sibTrans", "doc"})
_LONGEST: Final = 1000
# What programs write where a person wrote nothing.
_MADE_UP: Final = re.compile(
    r"\s*(?:Description automatically generated.*|AI-generated content may be incorrect\.?)"
    r"|^\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|[ew]mf|webp)$",
    re.DOTALL | re.IGNORECASE,
)
# Sheets count days from here on (ECMA-376 part 1, 18.17.4.1).
_FIRST_DAY: Final = date(1899, 12, 30)
_DATE_FORMAT: Final = re.compile(r"yy|d/m|m/d|mmm", re.IGNORECASE)
_MOST_DAYS: Final = 300_000
_LONGEST_NUMBER: Final = 30


@dataclass(slots=True)
class Budget:
    """How many cells of tables may still be read; below zero when some were left out."""

    cells: int


def read_drawing(archive: Archive, drawing: etree._Element, links: Mapping[str, str], budget: Budget) -> str:
    """The chart or diagram in a drawing as Markdown, "" when it has none; `links` are those of its part."""
    for each in drawing.iter():
        name = local(each)
        if name == "chart" and (target := links.get(get_relation(each), "")):
            return read_chart(archive.optional(target), budget)
        if name == "relIds" and (target := links.get(get_relation(each, "dm"), "")):
            return read_diagram(archive.optional(target))
    return ""


def read_chart(root: etree._Element | None, budget: Budget) -> str:
    """The title of a chart and a table of what it shows, from the values that the file keeps."""
    chart = child(root, "chart")
    title = _text(child(chart, "title"))
    series = list(_find(child(chart, "plotArea"), "ser"))
    names = [_text(child(each, "tx")) for each in series]
    places: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for each in series:
        places = _points(child(each, "cat")) or _points(child(each, "xVal")) or places
        columns.append(_points(child(each, "val")) or _points(child(each, "yVal")))
    rows = sorted({at for column in columns for at in column} | set(places))[:_MOST_POINTS]
    room = budget.cells // (len(series) + 1)
    budget.cells -= len(rows) * (len(series) + 1)
    cells = [[places.get(at, str(at + 1)), *(column.get(at, "") for column in columns)] for at in rows[: max(room, 0)]]
    table = to_table([["", *names], *cells]) if cells else " ".join(filter(None, names))
    return "\n\n".join(filter(None, (title, table)))


def read_diagram(root: etree._Element | None) -> str:
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
            order = attribute(link, "srcOrd")
            at = int(order) if order.isascii() and order.isdigit() and len(order) < 9 else 0
            below.setdefault(attribute(link, "srcId"), []).append((at, attribute(link, "destId")))
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
    lines += [f"- {text}" for text in texts.values() if text]
    return "\n".join(lines)


def to_picture(element: etree._Element | None) -> str:
    """The words that stand for a picture, as an image without an address; "" without any or for a hidden one."""
    if attribute(element, "hidden") in ("1", "true"):
        return ""
    said = " ".join(_MADE_UP.sub("", attribute(element, "descr")).split())[:_LONGEST]
    return f"![{said.replace('[', '(').replace(']', ')')}]()" if said else ""


def _points(element: etree._Element | None) -> dict[int, str]:
    """The values that are kept of a row or a column of a sheet, by their place."""
    found: dict[int, str] = {}
    has_dates = any(_DATE_FORMAT.search(each.text or "") for each in _find(element, "formatCode"))
    for each in _find(element, "pt"):
        at, value = attribute(each, "idx"), child(each, "v")
        if value is not None and at.isascii() and at.isdigit() and len(at) < 6:
            text = _to_value(value.text or "", has_dates)
            # Several levels of names: the nearest comes first.
            found[int(at)] = f"{found[int(at)]} {text}" if int(at) in found else text
        if len(found) >= _MOST_POINTS:
            break
    return found


def _to_value(text: str, is_date: bool) -> str:
    """A value without the digits that only binary arithmetic made."""
    try:
        number = float(text)
    except ValueError:
        return text
    if is_date and 0 < number < _MOST_DAYS:
        return (_FIRST_DAY + timedelta(days=int(number))).isoformat()
    return f"{number:.12g}" if math.isfinite(number) and len(text) < _LONGEST_NUMBER else text


def _find(element: etree._Element | None, name: str) -> Iterator[etree._Element]:
    return (each for each in (element.iter() if element is not None else ()) if local(each) == name)


def _text(element: etree._Element | None) -> str:
    """All the text in an element: runs, and values kept of cells."""
    if element is None:
        return ""
    paragraphs = ["".join(run.text or "" for run in _find(each, "t")) for each in _find(element, "p")]
    values = [each.text or "" for each in _find(element, "v")]
    return " ".join(" ".join([*paragraphs, *values]).split())


# --- An equation of an office document (Office Math, ECMA-376 part 1, 22.1) in one line: `(a+b)/2`, `x^2`, `√(y)` -----


_SETTINGS: Final = "Pr"


def to_line(element: etree._Element) -> str:
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
        settings = child(element, "dPr")
        first, between, last = (
            _sign(settings, each, usual) for each, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
        )
        return first + between.join(map(_inside, children(element, "e"))) + last
    if name == "m":
        return "[" + "; ".join(", ".join(map(_inside, children(row, "e"))) for row in children(element, "mr")) + "]"
    if name == "eqArr":
        return "; ".join(map(_inside, children(element, "e")))
    if name == "func":
        return f"{_part(element, 'fName')}({_part(element, 'e')})"
    return _inside(element)


def _with_scripts(element: etree._Element, name: str) -> str:
    base, low, high = _part(element, "e"), _part(element, "sub"), _part(element, "sup")
    if name == "limLow":
        low = _part(element, "lim")
    if name == "limUpp":
        high = _part(element, "lim")
    low, high = f"_{_grouped(low)}" if low else "", f"^{_grouped(high)}" if high else ""
    if name == "nary":
        return f"{_sign(child(element, 'naryPr'), 'chr', '∫')}{low}{high} {base}"
    return f"{low}{high}{base}" if name == "sPre" else f"{base}{low}{high}"


def _inside(element: etree._Element) -> str:
    return "".join(to_line(each) for each in element if not local(each).endswith(_SETTINGS))


def _part(element: etree._Element, name: str) -> str:
    found = child(element, name)
    return _inside(found) if found is not None else ""


def _sign(settings: etree._Element | None, name: str, usual: str) -> str:
    found = child(settings, name)
    return usual if found is None else attribute(found, "val")


def _grouped(text: str) -> str:
    """In parentheses what is more than a name or a number."""
    return text if text.isalnum() or not text else f"({text})"
