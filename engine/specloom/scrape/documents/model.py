"""What is read from a document, and how much of it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PAGES_WITHOUT_TEXT: Final = "PagesWithoutText"
"""The name under which the metadata of a PDF file says which pages are pictures, when there is text on others."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a document is read. Beyond `pages`, `text` and `seconds` it is cut; beyond the others refused.

    `pages` counts slides too, `text` characters of Markdown. `memory` is the address space in bytes of a process that
    reads apart. The others are about archives, in which office documents come: entries, bytes of one and of all
    entries when unpacked, the ratio of unpacked to packed bytes for an entry over 1 MB, and cells of all tables.
    """

    pages: int = 2000
    text: int = 5_000_000
    seconds: float = 20.0
    memory: int = 1024 * 1024 * 1024
    entries: int = 10_000
    entry_bytes: int = 32 * 1024 * 1024
    total_bytes: int = 96 * 1024 * 1024
    ratio: int = 300
    cells: int = 100_000


@dataclass(frozen=True, slots=True)
class Document:
    """A document as Markdown; "", () or 0 for what it does not say.

    `kind` is `pdf`, `docx`, `pptx` or `xlsx`; `pages` counts pages or slides (0 where the format has none), and
    `pages_read` those that `text` has; `published` is an ISO date, of the document's creation; `metadata` has what else
    it says of itself, by the format's own names.
    `truncated` says that a limit cut the text. `stripped` counts what was taken out because nobody sees it: `hidden`
    stretches of text, and `controls`, characters that show nothing.
    """

    kind: str
    text: str
    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    modified: str = ""
    language: str = ""
    pages: int = 0
    pages_read: int = 0
    metadata: Mapping[str, str] = field(default_factory=dict)
    truncated: bool = False
    stripped: Mapping[str, int] = field(default_factory=dict)
