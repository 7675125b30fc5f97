"""The functions that make texts of texts: filled in, cut, joined, compared by their words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from specloom.core import canonical_url

from ..signatures import function, limit_text, null_or, to_text, truthy
from ..types import BOOLEAN, INTEGER, TEXT, ListOf, RecordType, maybe

_STOP_WORDS = """
a about an and any are as at be by can could did do does for from had has have how i in is it me my of on or please
should so that the their there this to was we what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WORDS = re.compile(r"\w+")
_PHRASES = re.compile(r'[^\s"]*"[^"]*"|\S+')
_EDGES = "?!.,;:\"'()[]…“”‘’"
_MAX_WIDTH = 1000


def placeholders(template: str) -> list[str]:
    """The names that a template of `fill` takes from its object."""
    return _PLACEHOLDER.findall(template)


@function("nullable string", result=null_or(TEXT))
def _canonical_url(url: str | None) -> str | None:
    """The address for comparison, without scheme, `www.`, fragment and what only tracks; null gives null."""
    return None if url is None else canonical_url(url)


@function("string", "nullable object", result=maybe(TEXT))
def _fill(template: str, values: Mapping[str, Any] | None) -> str | None:
    """The text with each `{name}` replaced by that field of the object; null where a field is missing or null, or the
    object is null. Other braces stay."""
    found = {name: (values or {}).get(name) for name in placeholders(template)}
    if values is None or any(value is None for value in found.values()):
        return None
    texts = {name: to_text(value) for name, value in found.items()}
    limit_text(len(template) + sum(len(texts[name]) for name in placeholders(template)))
    return _PLACEHOLDER.sub(lambda match: texts[match[1]], template)


@function("string", "nullable array or string", result=maybe(TEXT))
def _any_of(template: str, items: list[Any] | str | None) -> str | None:
    """The template with `{}` filled by each item, joined by OR in brackets; one alone without brackets; null for a null
    or empty list. Null and empty items are passed over, and a text is a list of one."""
    listed = [items] if isinstance(items, str) else items or []
    texts = [to_text(item) for item in listed if truthy(item)]
    limit_text(len(texts) * len(template) + template.count("{}") * sum(map(len, texts)))
    parts = [template.replace("{}", one) for one in texts]
    return f"({' OR '.join(parts)})" if len(parts) > 1 else parts[0] if parts else None


@function("string", result=maybe(TEXT))
def _keywords(text: str) -> str | None:
    """The text without common English words; null where none is in it or nothing else is left."""
    words = text.split()
    kept = [word for word in words if word.strip(_EDGES).lower() not in STOP_WORDS]
    return " ".join(kept) if 0 < len(kept) < len(words) else None


@function("string", "string or array of string", result=BOOLEAN)
def _words_all_in(text: str, words: str | list[str]) -> bool:
    """Whether every word is in the text as a whole word, in any case and order; the words are a text or a list."""
    wanted = words if isinstance(words, str) else " ".join(words)
    return {*_WORDS.findall(wanted.casefold())} <= {*_WORDS.findall(text.casefold())}


@function("nullable string", "nullable string or array", result=INTEGER)
def _words_in(text: str | None, words: str | list[Any] | None) -> int:
    """How many different words of the second argument, a text or a list, are in the text as whole words, in any case;
    0 where either is null. What is no text in the list is passed over."""
    wanted = words if isinstance(words, str) else " ".join(word for word in words or () if isinstance(word, str))
    return len({*_WORDS.findall(wanted.casefold())} & {*_WORDS.findall((text or "").casefold())})


@function("string", result=INTEGER)
def _word_count(text: str) -> int:
    """How many blank-separated words the text has."""
    return len(text.split())


@function("nullable string", "number", result=null_or(TEXT))
def _truncate(text: str | None, count: float) -> str | None:
    """The first so many characters (code points) of the text; null gives null."""
    if text is None:
        return None
    if count < 0:
        raise ValueError("a length cannot be negative")
    return text[: int(count)]


@function("nullable string", "number", result=null_or(TEXT))
def _shorten(text: str | None, count: float) -> str | None:
    """At most so many characters and then "…", cut behind a sentence or else between words; null gives null."""
    if text is None:
        return None
    most = int(count)
    if most < 1:
        raise ValueError("a length to shorten to is above 0")
    if len(text) <= most:
        return text
    head = text[: most + 1]
    stop = max(head.rfind(mark) for mark in (". ", "! ", "? ", "。"))
    if stop >= most // 2:
        return f"{head[: stop + 1]} …"
    blank = head.rfind(" ")
    return f"{head[: blank if blank >= most // 2 else most].rstrip()} …"


@function("nullable string or number", "number", "string", result=null_or(TEXT))
def _pad(text: str | float | None, width: float, fill: str) -> str | None:
    """The text or number with one character repeated in front of it until it has the width; null gives null."""
    if text is None:
        return None
    if len(fill) != 1:
        raise ValueError("the text is filled up with one character")
    if not 0 <= width <= _MAX_WIDTH:
        raise ValueError(f"a width is between 0 and {_MAX_WIDTH:,}")
    return to_text(text).rjust(int(width), fill)


@function("string", result=maybe(TEXT))
def _host(url: str) -> str | None:
    """The host of the URL in lower case and as DNS has it, without the port; null where it has none."""
    try:
        host = urlsplit(url.strip()).hostname or ""
        if not host.isascii():
            # Imported here because most hosts are ASCII and the tables are large.
            import idna

            host = idna.encode(host, uts46=True).decode("ascii")
    except ValueError:  # a malformed address or name; the errors of IDNA are among them
        return None
    return host or None


@function("nullable string", "nullable array", result=BOOLEAN)
def _within(url: str | None, sites: list[Any] | None) -> bool:
    """Whether the address is on one of the sites, hosts or `host/path`, or below it; true where no site is named."""
    if not sites:
        return True
    found = _host(url) if url is not None else None
    if found is None:
        return False
    path = f"{urlsplit(str(url).strip()).path}/"
    for site in sites:
        host, _, below = str(site).strip().lower().removeprefix("www.").partition("/")
        if (found == host or found.endswith(f".{host}")) and path.lower().startswith(
            f"/{below.strip('/')}/".replace("//", "/")
        ):
            return True
    return False


@function("nullable string", "string", result=null_or(ListOf(TEXT)))
def _split(text: str | None, separator: str) -> list[str] | None:
    """The parts of the text between separators; null gives null."""
    return None if text is None else text.split(separator)


@function("nullable string", result=null_or(TEXT))
def _lower(text: str | None) -> str | None:
    """The text in lower case; null gives null."""
    return None if text is None else text.lower()


@function("nullable string", result=null_or(TEXT))
def _upper(text: str | None) -> str | None:
    """The text in upper case; null gives null."""
    return None if text is None else text.upper()


@function("nullable string", result=null_or(TEXT))
def _trim(text: str | None) -> str | None:
    """The text without blanks at its ends; null gives null."""
    return None if text is None else text.strip()


@function("nullable string", "string", "string", result=null_or(TEXT))
def _replace(text: str | None, old: str, new: str) -> str | None:
    """The text with every `old` (not empty) replaced; null gives null."""
    if text is None:
        return None
    if not old:
        raise ValueError("the text to replace is empty")
    limit_text(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


@function("nullable string", result=maybe(TEXT))
def _quote(text: str | None) -> str | None:
    """The text in double quotes, those inside it removed; null gives null."""
    return None if text is None else '"' + text.replace('"', "") + '"'


@function("nullable string", result=maybe(RecordType({}, closed=False)))
def _query_of(address: str | None) -> dict[str, Any] | None:
    """The query parameters of an address, decoded; one that is repeated is a list. Null gives null."""
    if address is None:
        return None
    pairs = parse_qsl(address.partition("#")[0].partition("?")[2], keep_blank_values=True)
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}


@function("string", "object", result=TEXT)
def _with_query(address: str, query: dict[str, Any]) -> str:
    """The address with these query parameters, encoded; null leaves one out, and a list repeats it."""
    pairs = [(name, one) for name, value in query.items() for one in (value if isinstance(value, list) else [value])]
    text = urlencode([(name, to_text(one)) for name, one in pairs if one is not None], quote_via=quote)
    return f"{address}?{text}" if text else address


@function("string", "nullable string or array", result=maybe(TEXT))
def _prefix_each(prefix: str, items: str | list[Any] | None) -> str | None:
    """Each word of a text (a quoted phrase is one), or each item of a list, behind the prefix and joined by blanks;
    null for null or nothing."""
    parts = (
        _PHRASES.findall(items) if isinstance(items, str) else [to_text(item) for item in items or () if truthy(item)]
    )
    limit_text(len(parts) * len(prefix) + sum(map(len, parts)))
    return " ".join(prefix + part for part in parts) or None
