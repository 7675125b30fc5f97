"""PDF, Word, PowerPoint and Excel files become Markdown with their metadata, within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from specloom.faults import Fault
from specloom.invisible import clean
from specloom.scrape.documents.kinds import announced, detect, tell_unread
from specloom.scrape.documents.model import Document, Limits

__all__ = ["Document", "Limits", "announced", "detect", "read"]


def read(body: bytes, content_type: str, url: str, *, limits: Limits = Limits()) -> Document:  # noqa: B008 - frozen
    """The document in some bytes, of a kind told by what they begin with; type and address break ties.

    Works in this thread and takes up to `limits.seconds`; `specloom.scrape.documents.apart` does the same in a process
    of its own, where a hostile file can be ended. Fault `content_empty` for what is broken or has no text,
    `auth_required` for what needs a password, `too_large` beyond a limit, `config` when a library is missing.
    """
    kind = detect(body, content_type, url)
    try:
        if kind:
            return _clean(_find_reader(kind)(body, limits))
    except (RecursionError, MemoryError) as error:
        raise Fault(
            "too_large", f"This {kind.upper()} file is nested too deeply or too large to read ({type(error).__name__})."
        ) from None
    raise tell_unread(body, content_type, url)


def _find_reader(kind: str) -> Callable[[bytes, Limits], Document]:
    """What reads a kind; the libraries that it needs are loaded here."""
    if kind == "pdf":
        from specloom.scrape.documents.pdf import read_pdf

        return read_pdf
    if kind == "docx":
        from specloom.scrape.documents.docx import read_docx

        return read_docx
    if kind == "pptx":
        from specloom.scrape.documents.pptx import read_pptx

        return read_pptx
    from specloom.scrape.documents.xlsx import read_xlsx

    return read_xlsx


def _clean(document: Document) -> Document:
    """The document without characters that show nothing, in its text and in what it says of itself."""
    text, controls = clean(document.text)
    found = replace(
        document,
        text=text,
        title=clean(document.title)[0],
        authors=tuple(clean(name)[0] for name in document.authors),
        metadata={name: clean(value)[0] for name, value in document.metadata.items()},
    )
    return replace(found, stripped={**found.stripped, "controls": controls}) if controls else found
