"""XML and HTML bodies become trees that never load anything: no entities, no DTD, no file, no network."""

from __future__ import annotations

import csv
import io
import re
from html.entities import html5
from typing import TYPE_CHECKING, Any, Final

from specloom.core import Fault

from .body import is_blank, require_body, require_data, to_text, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specloom.core import Response


MAX_BYTES: Final = 32 * 1024 * 1024
"""What a tree is built from at most: a tree takes several times the memory of its text."""

_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[a-zA-Z!]")


def parse_xml(response: Response, options: Mapping[str, Any]) -> Any:  # noqa: ARG001 - namespaces serve the selectors
    """The root element. A DOCTYPE is passed over; one that declares entities is refused."""
    from lxml import etree

    _require_size(response)
    require_data(response, "XML")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, attribute_defaults=False,
        huge_tree=False, recover=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(response.body.lstrip(b" \t\r\n"), parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise unreadable(response, "XML", str(error).partition(" (<string>")[0] or "it is malformed") from error
    declared: Any = root.getroottree().docinfo.internalDTD
    if declared is not None:
        if next(iter(declared.iterentities()), None) is not None:
            raise unreadable(response, "XML", "it declares entities, which are never expanded")
        _write_out_references(root)
    if etree.QName(root).localname.lower() == "html":
        raise Fault("upstream_unavailable", "the upstream answered with an HTML page where XML was expected")
    return root


def parse_html(response: Response, options: Mapping[str, Any]) -> Any:  # noqa: ARG001 - it has none
    """The <html> element of the page, however broken its markup is."""
    import lxml.html
    from lxml import etree

    _require_size(response)
    require_body(response, "HTML")
    text = _DECLARATION.sub("", to_text(response, page=True).replace("\0", ""), count=1)
    if not _TAG.search(text):
        raise unreadable(response, "HTML", "there is no tag in it")
    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False)
    try:
        return lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser, ensure_head_body=True)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise unreadable(response, "HTML", "there is no element in it") from error


def _require_size(response: Response) -> None:
    if len(response.body) > MAX_BYTES:
        raise Fault("too_large", f"the answer is larger than the {MAX_BYTES >> 20} MiB a tree may be built from")


def _write_out_references(root: Any) -> None:
    """References that only an unread DTD explains (`&nbsp;`) become the character they name in HTML, or nothing."""
    from lxml import etree

    for reference in list(root.iter(etree.Entity)):
        text = html5.get(f"{reference.name};", "") + (reference.tail or "")
        parent, before = reference.getparent(), reference.getprevious()
        if before is None:
            parent.text = (parent.text or "") + text
        else:
            before.tail = (before.tail or "") + text
        reference.tail = None
        parent.remove(reference)


# --- Tables of text, separated by tabs or commas, become one mapping a line, from column name to cell -----------------


Row = dict[str, str | None]


def parse_tsv(response: Response, options: Mapping[str, Any]) -> list[Row]:
    """The rows. A tab always parts cells and a line end always ends a row; quotes only wrap a cell."""
    text = _read(response, options, "TSV")
    delimiter = options.get("delimiter", "\t")
    lines = (line.split(delimiter) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return _rows(response, options, "TSV", ([_unquote(cell) for cell in line] for line in lines))


def parse_csv(response: Response, options: Mapping[str, Any]) -> list[Row]:
    """The rows. A quoted cell may hold delimiters, line ends and doubled quotes (RFC 4180)."""
    text = _read(response, options, "CSV")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=options.get("delimiter", ","), skipinitialspace=True)
    try:
        return _rows(response, options, "CSV", ([cell.strip() for cell in line] for line in reader))
    except csv.Error as error:
        raise unreadable(response, "CSV", str(error)) from error


def _read(response: Response, options: Mapping[str, Any], form: str) -> str:
    if options.get("blank_ok") and is_blank(response):
        return ""
    require_data(response, form)
    return to_text(response)


def _rows(response: Response, options: Mapping[str, Any], form: str, lines: Iterable[list[str]]) -> list[Row]:
    filled = [line for line in lines if any(line)]
    names: list[str] = list(options.get("columns") or ())
    if options.get("header", True):
        if not filled:
            return []
        header = filled.pop(0)
        if len(header) == 1 and len(names) != 1:
            raise unreadable(response, form, "its first line is no row of column names")
        names = names or _name(header)
    names = names or [f"c{number}" for number in range(1, max(map(len, filled), default=0) + 1)]
    return [{name: (line[at] or None) if at < len(line) else None for at, name in enumerate(names)} for line in filled]


def _name(header: list[str]) -> list[str]:
    """A name for every column: a blank one is `c` and its number, a repeated one gets its number behind it."""
    names: list[str] = []
    for number, name in enumerate(header, 1):
        unique = name or f"c{number}"
        while unique in names:
            unique = f"{unique}_{number}"
        names.append(unique)
    return names


def _unquote(cell: str) -> str:
    cell = cell.strip()
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"').strip()
    return cell
