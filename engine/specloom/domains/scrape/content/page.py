"""What a page says about itself: its kind by markup, its title and description, and texts that it carries as data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from lxml import etree

from specloom.core import dataclass

from ..html.parse import Attributes
from ..metadata.sources import Sources, to_path
from .blocks import VOCABULARY

MAX_DATA: Final = 400_000
"""Characters of texts in one JSON-LD block that are read; more are a catalogue, not a description of the page."""

MAX_NAME: Final = 2000
"""Characters of an address or a list of classes that are read."""

SAID: Final = {
    part: [(name, re.compile(pattern, re.I if part != "data" else 0)) for name, pattern in VOCABULARY[part].items()]
    for part in ("data", "made", "place", "body")
}
"""What tells of a page what it is: its types, its generator, its address, the classes of its body."""

SIGNALS: Final = (
    *(f"{part}:{name}" for part, patterns in SAID.items() for name, _ in patterns),
    "place:root", "place:depth", "og:article", "og:product", "og:website", "og:other", "published", "price", "author",
    "amp",
)  # fmt: skip
"""Names of `PageFacts.signals`, in their order."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says about itself; read it before scripts are taken out."""

    signals: tuple[float, ...]
    """One number for each of `SIGNALS`."""
    title: str
    description: str
    bodies: tuple[str, ...]
    """Texts of the page's data that stand for its content, such as `articleBody`; may hold markup."""


def read_page(sources: Sources, url: str = "") -> PageFacts:
    """The page's words about itself, from what was gathered of it."""
    root = sources.root
    types: set[str] = set()
    bodies: list[str] = []
    for block in sources.blocks:
        read_data(block.value, types, bodies)
    for _, kind in sources.attributes.valued["itemtype"]:
        types.add(kind.rstrip("/").rpartition("/")[2])
    made = " ".join(
        (sources.first("generator"), sources.first("application-name"), root.get("id") or "", root.get("class") or "")
    )
    body = root.find("body")
    called = "" if body is None else f"{body.get('class') or ''} {body.get('id') or ''}"[:MAX_NAME]
    place = (sources.first("og:url") or sources.canonical or url)[:MAX_NAME]
    path = to_path(place).strip("/")
    kind = sources.first("og:type").lower()
    signals = (
        *(any(map(pattern.match, types)) for _, pattern in SAID["data"]),
        *(bool(pattern.search(made)) for _, pattern in SAID["made"]),
        *(bool(pattern.search(place)) for _, pattern in SAID["place"]),
        *(bool(pattern.search(called)) for _, pattern in SAID["body"]),
        bool(place) and path == "",
        path.count("/"),
        kind == "article",
        kind in {"product", "og:product"},
        kind == "website",
        kind not in {"", "article", "product", "og:product", "website"},
        "article:published_time" in sources.meta,
        "product:price:amount" in sources.meta or "og:price:amount" in sources.meta,
        "author" in sources.meta,
        root.get("amp") is not None,
    )
    description = sources.first("og:description", "description")
    title = sources.first("og:title") or sources.title
    return PageFacts(tuple(map(float, signals)), title, description, tuple(bodies))


def read_data(data: object, types: set[str], bodies: list[str]) -> None:
    """Adds the types and content texts of one JSON-LD value."""
    size = 0
    for node in walk_data(data):
        kind = node.get("@type")
        for name in kind if isinstance(kind, list) else [kind]:
            if isinstance(name, str):
                types.add(name.rpartition("/")[2])
        for key in ("articleBody", "reviewBody", "text", "description"):
            body = node.get(key)
            if isinstance(body, str) and len(body) > 40 and size < MAX_DATA:
                size += len(body)
                bodies.append(body)


def walk_data(data: object) -> Iterator[dict[str, object]]:
    """Every object of a JSON value, outer ones first."""
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(reversed(value))


# --- The text that a page carries as data: for pages whose script has not run, and whose markup is an empty shell -----


MAX_STATE: Final = 2_000_000
"""Characters of one script that are read as JSON."""

MIN_WORDS: Final = 8
"""Words that make a text of a page's state prose rather than a label."""

MAX_TEXTS: Final = 400

_MARKUP: Final = re.compile(
    r"<(?:p|div|h[1-6]|ul|ol|li|br|span|a|strong|em|section|article|table|figure|blockquote|pre)\b[^<>]*>", re.I
)
_STATE: Final = re.compile(r"^\s*(?:window\.|self\.|var |const |let )[\w.$\[\]\"']{1,60}\s*=\s*(?=[{\[])")
_PROSE: Final = frozenset(VOCABULARY["words"]["prose"].split())


def list_scripts(attributes: Attributes) -> list[etree._Element]:
    """The scripts that may hold data; list them before they are taken out of the tree."""
    return [script for script in attributes.tagged["script"] if script.get("src") is None]


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
