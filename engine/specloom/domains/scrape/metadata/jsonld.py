"""JSON-LD as nodes: which of the things that a page describes is the page itself, and what it says of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from specloom.core import dataclass

from .fields import to_text
from .sources import Graph, JsonLdBlock, Node, Sources, is_of, types


def find_main(graph: Graph, *, addresses: Iterable[str], titles: Iterable[str]) -> Node | None:
    """The node of the work that the page is; None when only the site, the way to the page or a list is described.

    Of several works the one with the page's address or title is taken. When none has them, a page of several works is
    taken for a list.
    """
    for kinds in ("works", "things"):
        nodes = [node for node in graph.nodes if is_of(kinds, node)]
        if len(nodes) == 1:
            return nodes[0]
        if nodes:
            return _pick(nodes, set(map(_to_place, addresses)) - {""}, {to_key(title)[:80] for title in titles} - {""})
    return None


def find_page(graph: Graph) -> Node | None:
    """The node of the web page as such."""
    return next((node for node in graph.nodes if is_of("pages", node)), None)


def find_site(graph: Graph) -> str:
    """The name of the web site that the page says it is part of, or ""."""
    return next(
        (name for node in graph.nodes if "WebSite" in types(node) if (name := to_text(node.get("name"), 200))), ""
    )


def names(graph: Graph, value: Any) -> Iterator[str]:
    """The names in an `author` or `publisher`: texts, nodes with a name, references to nodes, or lists of these."""
    for each in graph.all(value):
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            name = each.get("name")
            if isinstance(name, list):
                yield from (part for part in name if isinstance(part, str))
            elif isinstance(name, str) and name.strip():
                yield name
            elif isinstance(each.get("familyName"), str):
                yield f"{to_text(each.get('givenName'), 60)} {each['familyName']}".strip()


def text(node: Node | None, *keys: str) -> str:
    """The first of some properties that is a text (or a list with one), on one line; "" without one."""
    for key in keys if node is not None else ():
        assert node is not None
        value = node.get(key)
        if isinstance(value, dict):
            value = value.get("@value") or value.get("name")
        for each in value if isinstance(value, list) else (value,):
            if line := to_text(each, 4000):
                return line
    return ""


def _pick(nodes: list[Node], places: set[str], keys: set[str]) -> Node | None:
    for node in nodes:
        own = (node.get("url"), node.get("@id"), node.get("mainEntityOfPage"))
        for value in own:
            at = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(at, str) and _to_place(at.partition("#")[0]) in places:
                return node
    for node in nodes:
        key = to_key(text(node, "headline", "name"))[:80]
        # Titles carry the site's name at their end, headlines are cut for search engines.
        if key in keys or (len(key) >= 12 and any(title.startswith(key) for title in keys)):
            return node
    # A question and its page, or one article described by two plug-ins.
    headlines = {to_key(text(node, "headline", "name"))[:80] for node in nodes} - {""}
    if len(headlines) <= 1:
        return max(nodes, key=lambda node: ("author" in node) + ("datePublished" in node))
    return None


def _to_place(url: str) -> str:
    """An address without scheme, `www.` and trailing slash, for comparing; "" for that of a home page."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    path = parts.path.rstrip("/")
    return f"{parts.netloc.lower().removeprefix('www.')}{path}?{parts.query}" if path or parts.query else ""


def to_key(title: str) -> str:
    """The letters and digits of a title in small letters, for comparing."""
    return "".join(filter(str.isalnum, title.casefold()))


# --- The machine-readable metadata that a page embeds, bounded, as the tool contract's `structuredData` wants it ------


# The tool contract's caps, in bytes of UTF-8 where they are sizes.
MOST_BLOCKS: Final = 16
LARGEST_BLOCK: Final = 32 * 1024
MOST_ENTRIES: Final = 64
LONGEST_VALUE: Final = 2 * 1024
LARGEST: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class StructuredData:
    """JSON-LD values in document order, and the values of `og:*`/`article:*` and of `citation_*` elements by name.

    A name that is repeated, as `citation_author` is, keeps all its values.
    """

    json_ld: tuple[Any, ...] = ()
    open_graph: Mapping[str, tuple[str, ...]] | None = None
    citation: Mapping[str, tuple[str, ...]] | None = None

    def to_json(self) -> dict[str, Any]:
        """The contract's object: `jsonLd`, `openGraph`, `citation`, each left out when empty.

        A name with one value has a text, a repeated one a list of texts.
        """
        parts = {
            "jsonLd": list(self.json_ld),
            "openGraph": _flatten(self.open_graph or {}),
            "citation": _flatten(self.citation or {}),
        }
        return {name: value for name, value in parts.items() if value}


def to_structured(sources: Sources) -> StructuredData | None:
    """The structured data in what a page says about itself; None when there is none.

    At most 16 JSON-LD blocks of 32 KB, 64 names (of at most 64 values, each cut after 2 KB) a map, and 64 KB in all.
    Blocks that are not valid JSON are left out, and so is what no longer fits; names go before blocks because they
    are small and cite.
    """
    if not sources.blocks and not sources.meta:
        return None
    budget = LARGEST
    citation, budget = _collect(sources.meta, ("citation_",), budget)
    open_graph, budget = _collect(sources.meta, ("og:", "article:"), budget)
    blocks: list[Any] = []
    for block in sources.blocks:
        size = _size(block)
        if block.valid and size <= min(LARGEST_BLOCK, budget) and len(blocks) < MOST_BLOCKS:
            blocks.append(block.value)
            budget -= size
    structured = StructuredData(tuple(blocks), open_graph, citation)
    return structured if blocks or open_graph or citation else None


def cut(text: str, most: int) -> str:
    """The text cut after `most` bytes of UTF-8, never inside a character."""
    if len(text) * 4 <= most:
        return text
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


def _collect(
    meta: Mapping[str, tuple[str, ...]], prefixes: tuple[str, ...], budget: int
) -> tuple[dict[str, tuple[str, ...]], int]:
    entries: dict[str, tuple[str, ...]] = {}
    for name, values in meta.items():
        if not name.startswith(prefixes):
            continue
        if len(entries) == MOST_ENTRIES:
            break
        texts = []
        for value in values[:MOST_ENTRIES]:
            short = cut(value, LONGEST_VALUE)
            size = len(short.encode("utf-8", "replace")) + len(name) + 6
            if size > budget:
                break
            budget -= size
            texts.append(short)
        if texts:
            entries[name[:200]] = tuple(texts)
    return entries, budget


def _size(block: JsonLdBlock) -> int:
    """What a block takes in an answer: its text, or what the writer makes of it when that is longer."""
    written = len(block.text) if block.text.isascii() else len(block.text.encode("utf-8", "replace"))
    if written > LARGEST_BLOCK or "\\" not in block.text:
        return written
    return max(written, len(json.dumps(block.value, ensure_ascii=False).encode("utf-8")))


def _flatten(values: Mapping[str, tuple[str, ...]]) -> dict[str, str | list[str]]:
    return {name: each[0] if len(each) == 1 else list(each) for name, each in values.items()}
