"""Reads an accepted brand page and those below it about colours, fonts, logos and voice, and tells what they say."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from specloom.faults import Fault
from specloom.trust.brand.findings import Findings
from specloom.trust.brand.fonts import find_google_fonts
from specloom.trust.brand.guidelines import read_guidelines
from specloom.trust.brand.homepage import to_image
from specloom.trust.brand.markup import join
from specloom.trust.hosts import to_host

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from specloom.desk import Desk
    from specloom.trust.brand.portal import BrandPage

THIN_WORDS = 150
"""Words below which a page says too little for its silence to mean anything (the tool contract's figure)."""
MOST_BELOW = 4
"""Pages below a portal that are read with it."""
MOST_BYTES = 100_000
"""Bytes of one page's text."""
_BELOW = re.compile(r"\b(?:colou?rs?|palette|typography|typefaces?|fonts?|logos?|voice|tone|visual identity)\b", re.I)
_MARKDOWN_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,100})\]\((https?://[^()\s]{1,2000})\)")
_LOGO_WORDS = re.compile(r"\b(?:logo|logotype|wordmark|brandmark|logomark|symbol)\b", re.IGNORECASE)
_DARK = re.compile(r"\b(?:dark|white|reversed?|inverted?|negative|knockout)\b", re.IGNORECASE)
_ICON = re.compile(r"\b(?:icon|symbol|logomark|brandmark|glyph|avatar)\b", re.IGNORECASE)
_MOST_IMAGES = 1000
_IMAGE = re.compile(r"\.(?:svg|png|webp)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadPages:
    """What a portal says: the findings, its text with that of the pages below, how many words, and where it stands."""

    findings: Findings
    text: str
    words: int
    urls: Sequence[str] = field(default_factory=tuple)

    @property
    def is_thin(self) -> bool:
        """Whether there is too little text for its silence to mean anything."""
        return self.words < THIN_WORDS


async def read_portal(desk: Desk, page: BrandPage, label: str) -> ReadPages:
    """What a brand page and up to four pages below it say; `label` is the brand's name as its domain has it.

    The page is read as any other, with a browser where it needs one; what cannot be read that way is taken as it came.
    """
    rendered = await read_text(desk, page.url)
    below = find_below(page, rendered)
    more = await asyncio.gather(*[read_text(desk, url) for url in below])
    found = read_guidelines(rendered)
    found.fill(read_guidelines(page.text))
    texts = [(page.url, rendered if len(rendered.split()) * 2 > len(page.text.split()) else page.text)]
    for url, text in zip(below, more, strict=True):
        if text:
            found.fill(read_guidelines(text))
            texts.append((url, text))
    links = "\n".join(url for url, _ in page.links)
    sheet = find_google_fonts("\n".join(str(href) for href in page.root.xpath("//link/@href")) + "\n" + links)
    if sheet:
        found.typography.setdefault("google_fonts_url", sheet)
    for role, image in find_logos(page.root, page.url, label).items():
        found.logos.setdefault(role, image)
    whole = "\n\n".join(f"# {url}\n\n{text}" for url, text in texts if text)
    words = sum(len(text.split()) for _, text in texts)
    return ReadPages(found, whole, words, tuple(url for url, _ in texts))


async def read_text(desk: Desk, url: str) -> str:
    """The text of a page as it is read for people, "" where it cannot be read."""
    try:
        page = await desk.run("read_page", {"url": url, "mode": "full", "max_length": MOST_BYTES})
    except Fault:
        return ""
    return str(page["content"])


def find_below(page: BrandPage, rendered: str) -> list[str]:
    """Pages of the same host that a brand page links to as its colours, fonts, logos or voice, by text or path."""
    links = [*page.links, *((match[2], match[1]) for match in _MARKDOWN_LINK.finditer(rendered))]
    host = to_host(page.url)
    found: dict[str, None] = {}
    for url, text in links:
        at = url.partition("#")[0]
        path = re.sub(r"[-_/]+", " ", unquote(urlsplit(at).path))
        own = to_host(at) == host and at.rstrip("/") != page.url.rstrip("/")
        if own and not re.search(r"\.\w{2,4}$", urlsplit(at).path) and (_BELOW.search(text) or _BELOW.search(path)):
            found.setdefault(at)
    return list(found)[:MOST_BELOW]


def find_logos(root: HtmlElement, base: str, label: str) -> dict[str, Any]:
    """Logos that a brand page shows or lets download: those that are named logos, of the brand or of nobody else.

    A logo for dark grounds is `dark`, one without the name is `icon`, and any other is `primary`; the first counts.
    """
    found: dict[str, Any] = {}
    shown = [
        (str(node.get("src")), str(node.get("alt") or ""), node) for node in root.xpath("//img[@src]")[:_MOST_IMAGES]
    ]
    given = [
        (str(node.get("href")), str(node.text_content()), None) for node in root.xpath("//a[@href]")[:_MOST_IMAGES]
    ]
    for address, words, node in [*shown, *given]:
        url = join(base, address)
        path = urlsplit(url).path
        if not url or not _IMAGE.search(path):
            continue
        file = re.sub(r"[-_.]+", " ", unquote(path.rpartition("/")[2]))
        said = f"{words} {file}"
        if not _LOGO_WORDS.search(said) or not _is_own(said, label):
            continue
        role = "dark" if _DARK.search(said) else "icon" if _ICON.search(said) else "primary"
        width, height = (_pixels(node, name) for name in ("width", "height"))
        found.setdefault(role, to_image(url, width, height))
    return found


_KNOWN = re.compile(
    r"\b(?:logo|logotype|wordmark|brandmark|logomark|symbol|icon|dark|light|white|black|reversed?|inverted?|negative"
    r"|colou?r|full|primary|secondary|horizontal|vertical|stacked|mono|rgb|cmyk|svg|png|webp|download|our|the|for|on"
    r"|backgrounds?|version|avatar|glyph|knockout|of|and|mark|print|web|site|main|small|large|\d+x?\d*)\b",
    re.IGNORECASE,
)


def _is_own(said: str, label: str) -> bool:
    """Whether words name the brand, or nobody at all; the logo of a partner names the partner."""
    squeezed = re.sub(r"[^a-z0-9]", "", said.lower())
    return (bool(label) and label in squeezed) or not re.sub(r"[\W_]+", "", _KNOWN.sub(" ", said))


def _pixels(node: HtmlElement | None, name: str) -> int | None:
    value = str(node.get(name) or "") if node is not None else ""
    return int(value) if re.fullmatch(r"\d{1,5}", value) else None
