"""Converters of texts."""

from __future__ import annotations

import re
from html import unescape
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from .converter import Converter, Moment, Parameter, register_in

OF_TEXTS: Final[dict[str, Converter]] = {}
converter = register_in(OF_TEXTS)


@converter("text", (" a\n", None, "a"), (" ", None, None))
def trim(value: str, _: Moment) -> str | None:
    """The text without white space at either end."""
    return value.strip() or None


@converter("text", ("ÄB", None, "äb"), (["A", "b"], None, ["a", "b"]))
def lower(value: str, _: Moment) -> str:
    """The text in lower case."""
    return value.lower()


@converter("text", ("äb", None, "ÄB"), (None, None, None))
def upper(value: str, _: Moment) -> str:
    """The text in upper case."""
    return value.upper()


@converter("text", (" a\n\t b ", None, "a b"), ("\n", None, None))
def collapse(value: str, _: Moment) -> str | None:
    """The text with every run of white space made one blank, and none at either end."""
    return " ".join(value.split()) or None


# An unclosed comment or script runs to the end, as in a browser; that also keeps these patterns linear.
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_BREAK: Final = re.compile(r"</(?:jats:)?(?:p|title|sec|li|tr|div|h[1-6])\s*>|<br\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>|<[!?][^<>]*>")
_TWICE: Final = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")


@converter(
    "text",
    ("<p>CO<sub>2</sub> &amp; more</p><p>p &lt; 0.05</p>", None, "CO2 & more p < 0.05"),
    ("<jats:title>Abstract</jats:title><jats:p>Text.</jats:p>", None, "Abstract Text."),
    ("if a < b or b > c", None, "if a < b or b > c"),
    ("<br/>", None, None),
)
def strip_tags(value: str, _: Moment) -> str | None:
    """The text of a piece of HTML or JATS: no tags, entities written out, single blanks, a blank where a block ends."""
    text = _unescape(_TAG.sub("", _BREAK.sub(" ", _HIDDEN.sub(" ", value))))
    return " ".join((_unescape(text) if _TWICE.search(text) else text).split()) or None


@converter("text", ("a &amp; b", None, "a & b"), ("&amp;lt;", None, "&lt;"))
def unescape_(value: str, _: Moment) -> str:
    """The text with HTML entities written out, once."""
    return _unescape(value)


def _unescape(text: str) -> str:
    try:
        return unescape(text)
    except ValueError:  # a numeric reference of thousands of digits
        return text


@converter("text", ("1", "no. ", "no. 1"), (7, "#", "#7"), parameters=(Parameter("text", "text"),))
def prefix(value: str, _: Moment, text: str) -> str:
    """The text with another before it."""
    return text + value


@converter("text", ("a", "/", "a/"), ("", "/", None), parameters=(Parameter("text", "text"),))
def suffix(value: str, _: Moment, text: str) -> str:
    """The text with another after it."""
    return value + text


@converter(
    "text",
    ("a-b-c", ["-", "."], "a.b.c"),
    ("a-b", {"old": "-", "new": ""}, "ab"),
    parameters=(Parameter("old", "text"), Parameter("new", "text")),
)
def replace(value: str, _: Moment, old: str, new: str) -> str | None:
    """The text with one piece replaced wherever it occurs."""
    return value.replace(old, new) or None


@converter(
    "text",
    ("one two three", 8, "one two…"),
    ("abcdefghij", 4, "abcd…"),
    ("short", 10, "short"),
    parameters=(Parameter("limit", "size"),),
)
def truncate(value: str, _: Moment, limit: int) -> str:
    """At most that many characters and then "…", cut between words when a blank lies in the last fifth."""
    if len(value) <= limit:
        return value
    blank = value.rfind(" ", 0, limit + 1)
    return value[: blank if blank >= limit * 0.8 else limit].rstrip() + "…"


# --- Converters of links ----------------------------------------------------------------------------------------------


OF_ADDRESSES: Final[dict[str, Converter]] = {}
converter = register_in(OF_ADDRESSES)


@converter("text", ("https://WWW.Demo.example:8080/a", None, "www.demo.example"), ("demo", None, None))
def host(value: str, _: Moment) -> str | None:
    """The host of a URL in lower case, without port."""
    try:
        return (urlsplit(value.strip()).hostname or "").rstrip(".") or None
    except ValueError:
        return None


@converter("text", ("/a", None, "https://demo.example/a"), ("//cdn.example/b", None, "https://cdn.example/b"))
def absolute(value: str, moment: Moment) -> str | None:
    """The URL a link on the page leads to."""
    try:
        url = urljoin(moment.url, value.strip())
        return url if urlsplit(url).scheme else None
    except ValueError:
        return None


@converter(
    "text",
    ("//demo.example/a b", None, "https://demo.example/a%20b"),
    ("javascript:void(0)", None, None),
    ("/relative", None, None),
)
def absolute_http(value: str, _: Moment) -> str | None:
    """The URL if it is a complete http or https one; one without a scheme (`//host/…`) gets https."""
    return to_http(value)


def to_http(text: str) -> str | None:
    """What the converter `absolute_http` makes of a text."""
    url = text.strip()
    url = f"https:{url}" if url.startswith("//") else url
    if not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", parts.netloc)
        good = good and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return url.replace(" ", "%20") if good else None


@converter(
    "text",
    ("/l/?to=https%3A%2F%2Fdemo.example%2F%3Fa%3D%2525&x=1", "to", "https://demo.example/?a=%25"),
    ("/l/?x=1", "to", None),
    parameters=(Parameter("name", "text"),),
)
def query_param(value: str, _: Moment, name: str) -> str | None:
    """The value of one parameter in the query of a URL, decoded once."""
    try:
        return next((found for key, found in parse_qsl(urlsplit(value.strip()).query) if key == name), None)
    except ValueError:
        return None
