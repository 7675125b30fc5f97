"""What a page says about itself, gathered in one walk: meta elements, JSON-LD blocks, title, headings, times, links.

Metadata, structured data, forum signals and DOI detection all read from here, so it has to run before scripts are
stripped from the tree. The caps keep a hostile page from costing more than a large honest one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..html.parse import Attributes, gather_attributes

if TYPE_CHECKING:
    from lxml import etree


MOST_META: Final = 2000
MOST_BLOCKS: Final = 64
_LONGEST_BLOCK: Final = 512 * 1024
_LONGEST_VALUE: Final = 8192
# Deeper than any vocabulary nests; also below what the JSON writer of the answer can take.
_DEEPEST: Final = 64

_BEFORE: Final = ("//", "/*", "<![CDATA[", "<!--", "*/")
_AFTER: Final = ("*/", "]]>", "-->", "//", "/*")
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")
_LONGEST_LINE: Final = 4000
_OPENING: Final = re.compile(r"[\[{]")


@dataclass(frozen=True, slots=True)
class JsonLdBlock:
    """A JSON-LD script: its text as written, and its value read strictly, or leniently when `valid` is false."""

    text: str
    value: Any
    valid: bool


@dataclass(frozen=True, slots=True)
class Sources:
    """What a page says about itself. Names in `meta` are lower case, values in document order and not empty."""

    meta: Mapping[str, tuple[str, ...]]
    blocks: tuple[JsonLdBlock, ...]
    title: str
    heading: str
    language: str
    canonical: str
    times: tuple[etree._Element, ...]
    root: etree._Element
    attributes: Attributes

    def first(self, *names: str) -> str:
        """The first value of the first of these meta names that has one, or ""."""
        for name in names:
            if values := self.meta.get(name):
                return values[0]
        return ""


def gather(root: etree._Element) -> Sources:
    """The sources of a parsed page (an lxml HTML tree, scripts still in it). Never raises for odd markup."""
    meta: dict[str, list[str]] = {}
    blocks: list[JsonLdBlock] = []
    title = heading = canonical = ""
    times: list[etree._Element] = []
    seen = size = 0
    for element in root.iter("meta", "script", "title", "h1", "time", "link"):
        tag = element.tag
        if tag == "meta":
            if seen < MOST_META:
                seen += 1
                _add_meta(element, meta)
        elif tag == "script":
            if "ld+json" in (element.get("type") or "").lower() and len(blocks) < MOST_BLOCKS:
                text = element.text or ""
                size += len(text)
                if size <= _LONGEST_BLOCK and (block := _to_block(text)):
                    blocks.append(block)
        elif tag == "title":
            # An icon drawn in the page has a title too, below <svg>.
            if not title and (parent := element.getparent()) is not None and parent.tag != "svg":
                title = to_line(element)
        elif tag == "h1":
            heading = heading or to_line(element)
        elif tag == "time":
            if len(times) < MOST_BLOCKS:
                times.append(element)
        elif not canonical and "canonical" in (element.get("rel") or "").lower().split():
            canonical = (element.get("href") or "").strip()[:_LONGEST_VALUE]
    language = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or root.get("xml:lang") or ""
    kept = {name: tuple(values) for name, values in meta.items()}
    return Sources(
        kept,
        tuple(blocks),
        title,
        heading,
        language.strip()[:64],
        canonical,
        tuple(times),
        root,
        gather_attributes(root),
    )


def _add_meta(element: etree._Element, meta: dict[str, list[str]]) -> None:
    content = element.get("content")
    if not content or not (content := content.strip()):
        return
    content = content[:_LONGEST_VALUE]
    for attribute in ("property", "name", "http-equiv"):
        for name in (element.get(attribute) or "").lower().split()[:4]:
            values = meta.setdefault(name, [])
            if content not in values[-1:]:
                values.append(content)


def to_words(text: str) -> frozenset[str]:
    """The words of a text as a set, for tables of words."""
    return frozenset(text.split())


def to_line(element: etree._Element) -> str:
    """The text of an element and all below it (comments are none) on one line, cut after 1000 characters.

    No more than that is read, so that a thousand elements around one long text cost no more than the text.
    """
    if not len(element):
        return " ".join((element.text or "")[:_LONGEST_LINE].split())[:1000]
    parts, size = [], 0
    for part in element.itertext():
        parts.append(part)
        size += len(part)
        if size > _LONGEST_LINE:
            break
    return " ".join("".join(map(str, parts))[:_LONGEST_LINE].split())[:1000]


def _to_block(text: str) -> JsonLdBlock | None:
    text = text.strip()
    try:
        return JsonLdBlock(text, parse_strictly(text), valid=True)
    except (ValueError, RecursionError):
        pass
    try:
        return JsonLdBlock(text, _parse_leniently(text), valid=False)
    except (ValueError, RecursionError):
        return None


def parse_strictly(text: str) -> Any:
    """The value of a JSON text that is valid, of finite numbers, whole characters and at most 64 levels.

    ValueError or RecursionError for anything else.
    """
    return _check(json.loads(text, parse_constant=_refuse, parse_float=_to_finite), text)


def _parse_leniently(text: str) -> Any:
    """As a browser's tools read it: comment wrappings, raw line breaks in texts and trailing commas do no harm."""
    bare = _unwrap(text).rstrip("; \n")
    try:
        value = json.loads(bare, strict=False, parse_constant=_refuse, parse_float=_to_finite)
    except ValueError:
        bare = _TRAILING_COMMA.sub(r"\1", bare)
        value = json.loads(bare, strict=False, parse_constant=_refuse, parse_float=_to_finite)
    return _check(value, bare)


def _unwrap(text: str) -> str:
    """The text without the marks of a CDATA section or a comment around it, themselves commented out or not."""
    for mark in _BEFORE:
        text = text.removeprefix(mark).lstrip()
    for mark in _AFTER:
        text = text.removesuffix(mark).rstrip()
    return text


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _to_finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large")
    return number


def _check(value: Any, text: str) -> Any:
    if "\\ud" in text or "\\uD" in text:
        # Half of an escaped pair is JSON by its grammar and no text by any encoding.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    if len(_OPENING.findall(text)) > _DEEPEST and _is_deeper(value, _DEEPEST):
        raise ValueError("nested too deeply")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
