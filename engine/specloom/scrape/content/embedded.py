"""The text that a page carries as data: for pages whose script has not run, and whose markup is an empty shell."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from specloom.scrape.content.page import walk_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lxml import etree

MAX_STATE: Final = 2_000_000
"""Characters of one script that are read as JSON."""

MIN_WORDS: Final = 8
"""Words that make a text of a page's state prose rather than a label."""

MAX_TEXTS: Final = 400

_MARKUP: Final = re.compile(
    r"<(?:p|div|h[1-6]|ul|ol|li|br|span|a|strong|em|section|article|table|figure|blockquote|pre)\b[^<>]*>", re.I
)
_STATE: Final = re.compile(r"^\s*(?:window\.|self\.|var |const |let )[\w.$\[\]\"']{1,60}\s*=\s*(?=[{\[])")
_PROSE: Final = frozenset(
    (
        "articlebody", "body", "content", "text", "description", "html", "markdown", "summary", "excerpt", "bio",
        "abstract", "caption", "paragraph", "bodyhtml", "contenthtml", "rawbody", "bodytext", "longdescription",
        "answer", "question", "message", "lead", "intro", "subtitle", "title", "headline", "heading", "children",
        "value",
    )
)  # fmt: skip
"""Names under which applications keep what they show; `__typename`, `className` and tracking data are none of them."""


def list_scripts(root: etree._Element) -> list[etree._Element]:
    """The scripts that may hold data; list them before they are taken out of the tree."""
    return [script for script in root.iter("script") if script.get("src") is None]


def find_body(bodies: Sequence[str], scripts: Iterable[etree._Element]) -> str:
    """The longest text that stands for the content, as HTML: of the JSON-LD first, else of the state; "" if none."""
    best = max(bodies, key=len, default="")
    if len(best.split()) >= 5 * MIN_WORDS:
        return to_html([best])
    texts = max((list(read_state(script)) for script in scripts), key=lambda found: sum(map(len, found)), default=[])
    return to_html(texts) if sum(len(text.split()) for text in texts) >= len(best.split()) else to_html([best])


def read_state(script: etree._Element) -> Iterator[str]:
    """The prose in the JSON of one script, in its order, each text once."""
    text = script.text or ""
    if len(text) > MAX_STATE or "ld+json" in (script.get("type") or ""):
        return
    start = _STATE.match(text)
    if start is None and text.lstrip()[:1] not in {"{", "["}:
        return
    try:
        data, _ = json.JSONDecoder(strict=False).raw_decode(
            text, start.end() if start else len(text) - len(text.lstrip())
        )
    except (ValueError, RecursionError):
        return
    seen: set[str] = set()
    for node in walk_data(data):
        for key, value in node.items():
            if (
                isinstance(value, str)
                and key.lower().replace("_", "") in _PROSE
                and value not in seen
                and (len(value.split()) >= MIN_WORDS or len(value) > 60)
                and not value.startswith(("http://", "https://", "data:", "{", "["))
            ):
                seen.add(value)
                yield value
                if len(seen) >= MAX_TEXTS:
                    return


def to_html(texts: Sequence[str]) -> str:
    """Texts as one HTML fragment: markup stays, plain lines become paragraphs."""
    from html import escape

    parts = []
    for text in texts:
        if _MARKUP.search(text):
            parts.append(f"<div>{text}</div>")
        else:
            parts.extend(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.strip())
    return "".join(parts)
