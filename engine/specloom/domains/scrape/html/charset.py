"""Bytes of a page become text: by the charset that is declared where that fits, else by the one that is detected.

The order is that of the HTML standard (WHATWG, "determining the character encoding"): byte-order mark, HTTP header,
`<meta>`, XML declaration, then a guess. Three things differ because pages and their servers disagree: text that is
valid UTF-8 with characters beyond ASCII is UTF-8 whatever a header says; a declaration under which much of the text is
unreadable is passed over, and so is a Western one of text in another alphabet. Labels mean what they mean to browsers:
`iso-8859-1` is windows-1252, `gb2312` is GB18030.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final

from specloom.core import dataclass

from .parse import VOCABULARY

PRESCAN: Final = 16 * 1024
"""Bytes in which a declaration is looked for. The standard asks for 1024; many pages put scripts before it."""
SAMPLE: Final = 256 * 1024
"""Bytes that the detector sees."""
MAX_BROKEN: Final = 0.005
"""The share of replacement characters at which a declared charset is not believed."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text, the charset as Python names it, and whether it was declared or proven rather than guessed."""

    text: str
    charset: str
    certain: bool


_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META: Final = re.compile(rb"<meta\s[^>]{0,500}?charset\s*+=\s*+[\"']?\s*+([a-zA-Z0-9_:.\-]{2,40})", re.IGNORECASE)
_XML: Final = re.compile(rb"\s*+<\?xml[^>]{0,200}?encoding\s*+=\s*+[\"']([a-zA-Z0-9_:.\-]{2,40})")
_COMMENT: Final = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_WESTERN: Final = "cp1252"
_HIGH: Final = bytes(range(0x80, 0x100))
_RUN: Final = re.compile(rb"[\x80-\xff]{4,}")
_FEWEST: Final = 16
"""Bytes beyond ASCII from which they tell anything."""
_HEADER: Final = re.compile(r"charset\s*+=\s*+[\"']?\s*+([a-zA-Z0-9_:.\-]{2,40})", re.IGNORECASE)

_WEB: Final = {label: codec for codec, labels in VOCABULARY["charsets"].items() for label in labels.split()}
"""Python's codecs by the labels that mean something wider on the web."""
_ISO: Final = re.compile(r"iso[-_]?8859[-_]?(\d{1,2})(?::\d{4})?$")
_TEXTUAL: Final = re.compile(
    r"utf[-_](?:8|16[-_][lb]e|32[-_][lb]e)|cp(?:125[0-8]|866|874|932|949)|iso8859[-_]\d+|koi8[-_][ru]|mac[-_]\w+"
    r"|gb18030|big5hkscs|euc_jp|iso2022_jp\w*"
)


def find_codec(label: str) -> str | None:
    """Python's name for what browsers read under this label; nothing if it is no charset of text."""
    name = label.strip().lower()
    numbered = _ISO.match(name)
    if numbered and name not in _WEB:
        name = f"iso8859-{numbered[1]}"
    try:
        name = codecs.lookup(_WEB.get(name, name)).name
    except LookupError:
        return None
    return name if _TEXTUAL.fullmatch(name) else None


def decode(body: bytes, content_type: str = "") -> Decoded:
    """The page as text. Bytes that the charset cannot read become U+FFFD; a byte-order mark is left out."""
    for mark, charset in _MARKS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(charset, "replace"), charset, certain=True)
    wide = _find_wide(body)
    if wide:
        return Decoded(body.decode(wide, "replace"), wide, certain=False)
    as_utf8 = _read_utf8(body)
    if as_utf8 is not None and not body.isascii():
        return Decoded(as_utf8, "utf-8", certain=True)
    declared = list(_declared(body, content_type))
    for charset in declared:
        text = body.decode(charset, "replace")
        if text.count("\ufffd") <= MAX_BROKEN * len(text):
            if charset == _WESTERN and _is_mislabelled(body):
                other = _detect(body)
                if other != charset and "\ufffd" not in (read := body.decode(other, "replace")):
                    return Decoded(read, other, certain=False)
            return Decoded(text, charset, certain=True)
    if as_utf8 is not None and b"\x1b" not in body:
        return Decoded(as_utf8, "utf-8", certain=True)
    charset = _detect(body)
    text = body.decode(charset, "replace")
    for other in declared:
        # Broken under its own declaration, and no better under a guess: damaged rather than mislabelled.
        as_declared = body.decode(other, "replace")
        if as_declared.count("\ufffd") <= text.count("\ufffd"):
            return Decoded(as_declared, other, certain=True)
    return Decoded(text, charset, certain=False)


def _is_mislabelled(body: bytes) -> bool:
    """Whether what is said to be Western is written in another alphabet: words of Western languages hold no four
    letters beyond ASCII in a row, and all words of others do. Servers say it of pages that they know nothing of."""
    start = body[:SAMPLE]
    high = len(start) - len(start.translate(None, _HIGH))
    if high < _FEWEST:
        return False
    return sum(map(len, _RUN.findall(start))) * 2 > high


def _read_utf8(body: bytes) -> str | None:
    """The text if it is UTF-8, but for a character that the end cuts and a damaged one among a hundred whole ones."""
    try:
        return codecs.getincrementaldecoder("utf-8")("strict").decode(body)
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
    return text if text.count("\ufffd") * 100 <= (len(body) - len(text)) // 2 else None


def _declared(body: bytes, content_type: str) -> Iterator[str]:
    if (header := _HEADER.search(content_type)) and (codec := find_codec(header[1])):
        yield codec
    head = body[:PRESCAN]
    if b"charset" not in head.lower() and b"encoding" not in head:
        return
    head = _COMMENT.sub(b"", head)
    for match in (_META.search(head), _XML.match(head)):
        codec = find_codec(match[1].decode("ascii")) if match else None
        if codec:
            # The declaration could be read as ASCII, so these bytes are not UTF-16.
            yield "utf-8" if codec.startswith(("utf-16", "utf-32")) else codec


def _find_wide(body: bytes) -> str:
    """UTF-16 without a mark, which shows by its zeros: every other byte of the markup is one."""
    start = body[:1024]
    odd, even = start[1::2].count(0), start[::2].count(0)
    if max(odd, even) * 4 < len(start) or len(start) < 4:
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _detect(body: bytes) -> str:
    """What the detector of a browser (chardetng) makes of the bytes."""
    from chardetng_py import EncodingDetector

    detector = EncodingDetector()
    detector.feed(body[:SAMPLE], last=len(body) <= SAMPLE)
    return find_codec(detector.guess(tld=None, allow_utf8=True)) or "cp1252"
