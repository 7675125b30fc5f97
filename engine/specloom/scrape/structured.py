"""The machine-readable metadata that a page embeds, bounded, as the tool contract's `structuredData` wants it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from specloom.scrape.metadata_sources import Block, Sources, gather

if TYPE_CHECKING:
    from lxml import etree

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


def parse_structured(root: etree._Element) -> StructuredData | None:
    """The structured data of a parsed page whose scripts are still in the tree; None when it embeds none."""
    return to_structured(gather(root))


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
    found = StructuredData(tuple(blocks), open_graph, citation)
    return found if blocks or open_graph or citation else None


def cut(text: str, most: int) -> str:
    """The text cut after `most` bytes of UTF-8, never inside a character."""
    if len(text) * 4 <= most:
        return text
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore")


def _collect(
    meta: Mapping[str, tuple[str, ...]], prefixes: tuple[str, ...], budget: int
) -> tuple[dict[str, tuple[str, ...]], int]:
    found: dict[str, tuple[str, ...]] = {}
    for name, values in meta.items():
        if not name.startswith(prefixes):
            continue
        if len(found) == MOST_ENTRIES:
            break
        kept = []
        for value in values[:MOST_ENTRIES]:
            short = cut(value, LONGEST_VALUE)
            size = len(short.encode("utf-8", "replace")) + len(name) + 6
            if size > budget:
                break
            budget -= size
            kept.append(short)
        if kept:
            found[name[:200]] = tuple(kept)
    return found, budget


def _size(block: Block) -> int:
    """What a block takes in an answer: its text, or what the writer makes of it when that is longer."""
    written = len(block.text) if block.text.isascii() else len(block.text.encode("utf-8", "replace"))
    if written > LARGEST_BLOCK or "\\" not in block.text:
        return written
    return max(written, len(json.dumps(block.value, ensure_ascii=False).encode("utf-8")))


def _flatten(values: Mapping[str, tuple[str, ...]]) -> dict[str, str | list[str]]:
    return {name: each[0] if len(each) == 1 else list(each) for name, each in values.items()}
