"""What drawings of office documents say: the data of a chart, the texts of a diagram, the words for a picture."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from lxml import etree

from specloom.scrape.documents.archive import Archive, attribute, child, children, get_relation, local
from specloom.scrape.documents.pipes import to_table

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
