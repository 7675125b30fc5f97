"""A page as it was read, whatever was behind its address: what scraping gives to whoever asked."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


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


def from_json(said: dict[str, Any]) -> Page:
    """The page that `to_json` made the data of."""
    return Page(**{**said, "authors": tuple(said["authors"]), "types": tuple(said["types"])})
