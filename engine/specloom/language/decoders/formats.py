"""Bodies become documents: text, JSON, XML, HTML and tables; one that is not what it should be is a fault that says so.

Which kind of fault: a body with nothing in it, and an HTML page where data was asked for, are `upstream_unavailable`
(a proxy or a login page answers in the upstream's place; another provider may do better). Everything else that cannot
be read is `layout_changed`: the upstream did answer, in a form that the spec does not describe.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final, NoReturn

from specloom.core import Fault, Response

_EXCERPT: Final = 80
_CHARSET: Final = re.compile(r"""charset\s*+=\s*+["']?([A-Za-z0-9_:.+-]{1,40})""", re.IGNORECASE)
_META: Final = re.compile(rb"<meta\b[^>]{0,300}?charset\s*+=\s*+[\"']?\s*+([A-Za-z0-9_:.+-]{1,40})", re.IGNORECASE)
_PAGE: Final = re.compile(
    r"\s*+(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*+<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# What is sent under these names is in practice their superset, which is also how browsers read them.
_SUPERSETS: Final = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874", "iso8859-11": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}  # fmt: skip
# Only these: some of Python's codecs (unicode_escape, utf-7) are ways to smuggle characters past a check.
_CODECS: Final = frozenset(
    {
        "utf-8", "utf-16-le", "utf-16-be", "cp874", "cp932", "cp949", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp",
        "koi8-r", "koi8-u", "mac-roman", *(f"cp125{n}" for n in range(9)), *(f"iso8859-{n}" for n in range(2, 17)),
    }
)  # fmt: skip


def to_text(response: Response, *, page: bool = False) -> str:
    """The body as text by its Content-Type, byte order mark, <meta> (of a page), else UTF-8, else Windows-1252."""
    body = response.body
    mark, marked = next(((mark, name) for mark, name in _BOMS if body.startswith(mark)), (b"", None))
    named = _CHARSET.search(response.headers.get("content-type", ""))
    codec = (_find_codec(named[1]) if named else None) or marked
    if codec is None and page and (inside := _META.search(body[:4096])):
        codec = _find_codec(inside[1].decode("ascii"))
        if codec in ("utf-16-le", "utf-16-be"):  # it could not have been read as ASCII
            codec = "utf-8"
    if marked == codec:
        body = body[len(mark) :]
    if codec is not None:
        return body.decode(codec, "replace").removeprefix("\ufeff")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def require_data(response: Response, form: str) -> None:
    """Nothing, or the fault of a body that is empty or is an HTML page where `form` was asked for."""
    require_body(response, form)
    if is_page(response):
        raise Fault(
            "upstream_unavailable",
            f"the upstream answered with an HTML page where {form} was expected",
            detail=to_excerpt(response.body),
        )


def require_body(response: Response, form: str) -> None:
    """Nothing, or the fault of a body with nothing in it."""
    if is_blank(response):
        raise Fault("upstream_unavailable", f"the upstream answered with an empty body where {form} was expected")


def is_blank(response: Response) -> bool:
    """Whether the body holds nothing but white space and a byte order mark."""
    return not response.body.removeprefix(codecs.BOM_UTF8).strip(b" \t\r\n\f\v\0")


def is_page(response: Response) -> bool:
    """Whether the body begins the way an HTML page does."""
    start = response.body[:2048].replace(b"\0", b"").removeprefix(codecs.BOM_UTF8)
    return _PAGE.match(start.decode("latin-1")) is not None


def unreadable(response: Response, form: str, why: str) -> Fault:
    """The fault of an answer that is there but is not `form`; `why` completes the sentence."""
    return Fault("layout_changed", f"the answer cannot be read as {form}: {why}", detail=to_excerpt(response.body))


def to_excerpt(body: bytes) -> str:
    """The first printable characters of a body on one line."""
    text = body[: _EXCERPT * 8].removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())[:_EXCERPT]


def _find_codec(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = _SUPERSETS.get(name, name)
    return name if name in _CODECS else None


# --- JSON and plain text ----------------------------------------------------------------------------------------------


MAX_DEPTH: Final = 200
"""How deep arrays and objects may be nested: far more than data needs, far less than a stack holds."""


def parse_json(response: Response, options: Mapping[str, Any]) -> Any:
    """The value. UTF-8 only; NaN and Infinity are refused; of a repeated key the last one counts."""
    if options.get("blank_ok") and is_blank(response):
        return None
    require_data(response, "JSON")
    body = response.body
    try:
        text = body.decode("utf-8-sig")
        if _SURROGATE.search(text):
            text = _ESCAPE.sub(_mend, text)
        document = json.loads(text, parse_constant=_refuse, parse_float=_to_float)
    except UnicodeDecodeError as error:
        raise unreadable(response, "JSON", f"byte {error.start} is not UTF-8") from error
    except RecursionError as error:
        raise unreadable(response, "JSON", f"it is nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise unreadable(response, "JSON", str(error).partition(";")[0]) from error
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(document):
        raise unreadable(response, "JSON", f"it is nested deeper than {MAX_DEPTH} levels")
    return document


def parse_text(response: Response, options: Mapping[str, Any]) -> dict[str, str]:
    """One item whose `text` is the whole body, its line ends written as line feeds."""
    if not options.get("blank_ok"):
        require_body(response, "text")
    return {"text": to_text(response).replace("\r\n", "\n").replace("\r", "\n")}


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def _mend(match: re.Match[str]) -> str:
    """Half of a surrogate pair is no character and could not be written out again, so it becomes U+FFFD."""
    return "\\ufffd" if match["half"] else match[0]


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _to_float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is too large for a number")
    return number


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


# --- XML and HTML become trees that never load anything: no entities, no DTD, no file, no network ---------------------


MAX_BYTES: Final = 32 * 1024 * 1024
"""What a tree is built from at most: a tree takes several times the memory of its text."""

_DECLARATION: Final = re.compile(r"(?:(?<!\s)\s++)?<\?xml[^<>]*>", re.IGNORECASE)
_OPENING_TAG: Final = re.compile(r"<[a-zA-Z!]")


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
    if not _OPENING_TAG.search(text):
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
    from html.entities import html5

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
    text = _read_table(response, options, "TSV")
    delimiter = options.get("delimiter", "\t")
    lines = (line.split(delimiter) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return _rows(response, options, "TSV", ([_unquote(cell) for cell in line] for line in lines))


def parse_csv(response: Response, options: Mapping[str, Any]) -> list[Row]:
    """The rows. A quoted cell may hold delimiters, line ends and doubled quotes (RFC 4180)."""
    import csv

    text = _read_table(response, options, "CSV")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=options.get("delimiter", ","), skipinitialspace=True)
    try:
        return _rows(response, options, "CSV", ([cell.strip() for cell in line] for line in reader))
    except csv.Error as error:
        raise unreadable(response, "CSV", str(error)) from error


def _read_table(response: Response, options: Mapping[str, Any], form: str) -> str:
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
