"""The bytes of a body become text, and a body that is not what it should be becomes a fault that says so.

Which kind of fault: a body with nothing in it, and an HTML page where data was asked for, are `upstream_unavailable`
(a proxy or a login page answers in the upstream's place; another provider may do better). Everything else that cannot
be read is `layout_changed`: the upstream did answer, in a form that the spec does not describe.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Final

from specloom.core import Fault

if TYPE_CHECKING:
    from specloom.core import Response


_EXCERPT: Final = 80
_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_:.+-]{1,40})""", re.IGNORECASE)
_META: Final = re.compile(rb"<meta\b[^>]{0,300}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.+-]{1,40})", re.IGNORECASE)
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
