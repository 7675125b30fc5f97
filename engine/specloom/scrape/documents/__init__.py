"""PDF, Word and PowerPoint files become Markdown with their metadata, within limits."""

from __future__ import annotations

from specloom.faults import Fault
from specloom.scrape.documents.kinds import announced, detect, is_compound, is_encrypted
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
        if kind == "pdf":
            from specloom.scrape.documents.pdf import read_pdf

            return read_pdf(body, limits)
        if kind == "docx":
            from specloom.scrape.documents.docx import read_docx

            return read_docx(body, limits)
        if kind == "pptx":
            from specloom.scrape.documents.pptx import read_pptx

            return read_pptx(body, limits)
    except (RecursionError, MemoryError) as error:
        raise Fault(
            "too_large", f"This {kind.upper()} file is nested too deeply or too large to read ({type(error).__name__})."
        ) from None
    if is_encrypted(body):
        raise Fault("auth_required", "This office document needs a password.", action="inform_user")
    if is_compound(body):
        raise Fault(
            "content_empty",
            "This is an old office format (.doc, .ppt, .xls); save it anew as .docx or .pptx.",
            action="inform_user",
        )
    raise Fault(
        "content_empty",
        f"This is no PDF, DOCX or PPTX file, which are what can be read (announced as {said})."
        if (said := content_type.partition(";")[0].strip()[:100])
        else "This is no PDF, DOCX or PPTX file, which are what can be read.",
        action="inform_user",
    )
