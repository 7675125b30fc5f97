"""What is read from a document, and how much of it may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from specloom.core import Fault, dataclass

PAGES_WITHOUT_TEXT: Final = "PagesWithoutText"
"""The name under which the metadata of a PDF file says which pages are pictures, when there is text on others."""

PAGES_NOT_READ: Final = "PagesNotRead"
"""The name under which the metadata of a PDF file says which pages would take too long to draw, beside others."""


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


def refuse(sentence: str) -> Fault:
    """The fault for a file that is broken or has nothing to read."""
    return Fault("content_empty", sentence, action="inform_user")


# --- The title of a document: what it states, unless a program stated it for want of one ------------------------------


_NO_TITLE: Final = re.compile(
    r"untitled.*|microsoft (?:word|powerpoint|excel).*|(?:powerpoint )?presentation\d*|slide ?\d*|document ?\d*"
    r"|book ?\d*|word document|\S+\.\w{2,5}|[\d\W_]+|pii: \S+|(?:no )?title|doi:\S+|normal|\(anonymous\)",
    re.IGNORECASE,
)


def to_title(stated: str, shown: str) -> str:
    """The stated title, the one that the text shows where the stated one is a file's name or a default, else ""."""
    return shown if not stated or _NO_TITLE.fullmatch(stated) else stated


# --- Rows of cells become a pipe table, or plain lines where a table would say nothing --------------------------------


def to_table(rows: Sequence[Sequence[str]]) -> str:
    """A GitHub-flavoured table whose first row is the header; lines of text for a single column; "" if all is empty."""
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    width = max(map(len, filled), default=0)
    if width == 0:
        return ""
    if width == 1:
        return "\n\n".join(row[0].strip() for row in filled)
    cells = [[" ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in filled]
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])
