"""A page as it was read, whatever was behind its address: what scraping gives to whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Literal

from specloom.core import dataclass

if TYPE_CHECKING:
    from specloom.core import Fault


@dataclass(frozen=True, slots=True)
class Page:
    """What was read at one address, whole. `content` is Markdown; a text that is not known is ""."""

    url: str
    """Where redirects ended."""
    content: str
    content_type: str
    """`html`, `markdown`, `text`, `pdf`, `docx`, `pptx`, `xlsx`, or a site's own word such as `youtube`."""
    extracted_by: str = ""
    """The tier or the site's API that gave it."""
    quality: str = ""
    """`complete`, or `partial` where no tier gave an answer that looked whole."""
    title: str = ""
    author: str = ""
    authors: tuple[str, ...] = ()
    site: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    description: str = ""
    page_type: str = ""
    pages: int = 0
    """Pages or slides of a document."""
    document: dict[str, str] = field(default_factory=dict)
    """What a document says of itself, by its format's own names."""
    truncated: bool = False
    """More is there than `content` has."""
    extent: str = ""
    """How much of what is there a site gave, in words."""
    detour: str = ""
    """From where it was read in place of its own address, in a sentence; "" where it is from there."""
    lack: str = ""
    """What could not be read of it, in a sentence: pages that are pictures, text that only subscribers see."""
    declared_doi: str = ""
    """The DOI in the page's own metadata."""
    types: tuple[str, ...] = ()
    """The types of schema.org that it gives itself."""
    structured: dict[str, Any] | None = None
    forum: dict[str, Any] | None = None
    repository: dict[str, Any] | None = None
    highlights: list[dict[str, Any]] = field(default_factory=list)
    stripped: dict[str, int] = field(default_factory=dict)
    """How much hidden, scripted or invisible was taken out, by kind."""

    def to_json(self) -> dict[str, Any]:
        """The page as JSON data, from which `from_json` makes it again; what is nested is shared, not copied."""
        return {name: list(value) if isinstance(value := getattr(self, name), tuple) else value for name in _NAMES}


_NAMES = tuple(one.name for one in fields(Page))


def from_json(data: dict[str, Any]) -> Page:
    """The page that `to_json` made the data of."""
    return Page(**{**data, "authors": tuple(data["authors"]), "types": tuple(data["types"])})


# --- What reading a page handles: the bytes that were fetched, what was made of them, and how each tier fared ---------


Mode = Literal["full", "preview", "raw"]
Kind = Literal["html", "markdown", "text", "document", "other"]
"""`text` is readable as it is (plain text, JSON, source) or a feed; `other` is pictures, archives and the like."""
Quality = Literal["complete", "partial"]

PARTIAL = 206
"""The status of an answer that is a part of what is there (RFC 9110 §15.3.7)."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer: `body` as sent (decompressed), `headers` with lower-case names, `url` where redirects ended."""

    body: bytes
    url: str
    tier: str
    kind: Kind
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What a reader service says beside the text: `title`, `author`, `published`."""

    @property
    def content_type(self) -> str:
        """The Content-Type header as it was sent; it may be empty."""
        return self.headers.get("content-type", "")

    @property
    def is_part(self) -> bool:
        """Whether only the beginning was asked for and sent, because the whole is too large."""
        return self.status == PARTIAL


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an extractor made of an answer: the text to judge, what it is worth, and whatever its caller wants back."""

    text: str
    payload: Any = None
    title: str = ""
    frames: tuple[str, ...] = ()
    """Addresses of the page's iframes, absolute, in their order."""
    whole: bool | None = None
    """Whether the extractor is sure that this is what the page has to say; None where it cannot tell."""


@dataclass(frozen=True, slots=True)
class TierOutcome:
    """How one tier fared: `kind` is a kind of fault, or `ok`; `message` is one line of at most 120 characters."""

    tier: str
    kind: str
    message: str
    fault: Fault | None = None
    """Where who looked into it says what it is, in a sentence of its own, and what to do: documents, pictures, APIs."""
    by_service: bool = False
    """A service that reads pages for us failed, which says nothing of the page while its own host was asked."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The best that could be read: `quality` is `partial` when no tier gave an answer that looked whole.

    In raw mode `candidate` has no text and no payload, and `body` holds the original bytes, cut to the asked length.
    """

    fetched: Fetched
    candidate: Candidate
    tier: str
    quality: Quality
    outcomes: tuple[TierOutcome, ...]
    body: bytes = b""
    truncated: bool = False
    by_service: bool = False
    """A service had the page, and its own host gave nothing."""

    @property
    def url(self) -> str:
        """Where redirects ended."""
        return self.fetched.url
