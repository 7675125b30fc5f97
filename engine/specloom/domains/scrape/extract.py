"""A page as it was fetched becomes what is worth reading: Markdown of its content, and what it says about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from specloom.core import dataclass

from . import content
from .html import charset, sanitise
from .html import parse as tree
from .markdown import render as markdown
from .markdown.code import settle_listings
from .metadata.jsonld import StructuredData, to_structured
from .metadata.read import Metadata, to_metadata
from .metadata.signals import KEY, ForumSignals, find_forum_signals, find_lack
from .metadata.sources import gather, types

if TYPE_CHECKING:
    from lxml import etree


COMPLETE: Final = 0.8
"""Confidence from which an extract is complete; see docs/decisions/reading-pages.md for how often that is wrong."""

HEAD: Final = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)
"""Elements that belong into a head; others end it."""

THIN: Final = 60
"""Words below which a page may be a shell, whose text is looked for in its data."""


@dataclass(frozen=True, slots=True)
class Extract:
    """What is worth reading of one page."""

    markdown: str
    metadata: Metadata
    structured: StructuredData | None
    stripped: sanitise.Stripped
    page_type: str
    """One of the types of `content.Content`; "" for a page without text."""
    confidence: float
    """The F1 that the content is expected to have against what a person would choose, 0 to 1."""
    quality: Literal["complete", "partial"]
    """Whether the confidence is high enough to rely on the content being the page's, whole and alone, and the page says
    of nothing that it keeps it back."""
    words: int
    """Words of the content; a CJK character is a word."""
    charset: str
    source: Literal["markup", "data"]
    """`data`: the page's markup was a shell, and the content comes from the data that it carries."""
    types: tuple[str, ...] = ()
    """The types of schema.org that the page gives itself."""
    forum: ForumSignals | None = None
    frames: tuple[str, ...] = ()
    """The absolute web addresses of the pages that it frames, in their order."""
    lack: str = ""
    """What the page says that it has and did not give, in a sentence; "" where nothing is known to be missing."""


def extract(page: bytes | str, *, url: str = "", content_type: str = "") -> Extract:
    """The content of a page; of any page, an empty one included. No network is used.

    `url` is where the page came from: links are resolved against it. `content_type` is the header as it was sent.
    """
    encoding = "utf-8"
    if isinstance(page, bytes):
        decoded = charset.decode(page, content_type)
        page, encoding = decoded.text, decoded.charset
    root = tree.parse(page)
    empty_head(root)
    sources = gather(root)
    metadata, structured = to_metadata(sources, url=url), to_structured(sources)
    from .content.page import find_body, list_scripts, read_page

    about = read_page(sources, url)
    attributes = sources.attributes
    scripts = list_scripts(attributes)
    kinds = tuple(dict.fromkeys(kind for node in sources.graph.nodes[:20] for kind in types(node)))
    forum = find_forum_signals(sources, url=url)
    base = find_base(attributes, url)
    frames = find_frames(attributes, base)
    shadowed = None
    if attributes.tagged["template"] and (shadowed := sanitise.open_shadows(root)):
        attributes = tree.gather_attributes(root)
    stripped = sanitise.sanitise(root, attributes)
    if shadowed:
        stripped = shadowed + stripped
    if attributes.tagged["table"]:
        settle_listings(root)
    chosen = content.find_content(root, about)
    text = markdown.render(chosen.nodes, base=base, drop={*chosen.drop, *sanitise.find_skips(chosen.nodes)})
    words = chosen.words
    source: Literal["markup", "data"] = "markup"
    if words < THIN and (body := find_body(about.bodies, scripts)):
        other = tree.parse(body)
        sanitise.sanitise(other)
        lent = markdown.render([other], base=url)
        if len(lent.split()) > 2 * words:
            text, words, source = lent, len(lent.split()), "data"
    lack = ""
    if any(KEY in block.text for block in sources.blocks):
        addresses, titles = (url, sources.canonical), (metadata.title, sources.heading, sources.title)
        lack = find_lack(sources.graph, root, words, addresses=addresses, titles=titles)
    quality: Literal["complete", "partial"] = "complete" if chosen.confidence >= COMPLETE and not lack else "partial"
    return Extract(
        text,
        metadata,
        structured,
        stripped,
        chosen.page_type,
        chosen.confidence,
        quality,
        words,
        encoding,
        source,
        kinds,
        forum,
        frames,
        lack,
    )


def empty_head(root: etree._Element) -> None:
    """Moves what is shown out of the head: the parser leaves a page that begins with, say, `<article>` there."""
    head, body = root.find("head"), root.find("body")
    if head is None or body is None:
        return
    astray = [element for element in head.iterchildren("*") if element.tag not in HEAD]
    if astray:
        late = body.text
        body.text = None
        for at, element in enumerate(astray):
            body.insert(at, element)
        if late:
            astray[-1].tail = (astray[-1].tail or "") + late


def find_frames(attributes: tree.Attributes, base: str) -> tuple[str, ...]:
    """The web addresses that a page's iframes show, absolute, each once."""
    from urllib.parse import urljoin

    addresses: dict[str, None] = {}
    tagged = attributes.tagged
    both = tagged["iframe"] and tagged["frame"]
    for frame in attributes.root.iter("iframe", "frame") if both else tagged["iframe"] or tagged["frame"]:
        try:
            address = urljoin(base, (frame.get("src") or "").strip())
        except ValueError:
            continue
        if address.startswith(("http://", "https://")) and frame.get("src"):
            addresses[address] = None
    return tuple(addresses)


def find_base(attributes: tree.Attributes, url: str) -> str:
    """The address that the page's links are relative to."""
    from urllib.parse import urljoin

    for base in attributes.tagged["base"]:
        href = base.get("href")
        if href:
            try:
                return str(urljoin(url, href.strip()))
            except ValueError:
                return url
    return url
