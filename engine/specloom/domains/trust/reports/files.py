"""A report as a file in one of its forms, and where it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specloom.plugins import Context

from .document import ReportDocument
from .markup import to_html, to_markdown
from .word import to_docx

REPORT_TYPES: Final[Mapping[str, str]] = {
    "html": "text/html",
    "markdown": "text/markdown",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""The media type of each form."""
UNKEPT = "The document was made and could not be kept, since this server keeps nothing."


def write_report(report: ReportDocument, form: str) -> str | bytes:
    """The report as html, markdown or docx."""
    return to_docx(report) if form == "docx" else to_html(report) if form == "html" else to_markdown(report)


async def keep_report(context: Context, written: str | bytes, form: str, name: str) -> str:
    """The address under which a report is kept for its owner; "" where nothing is kept, which the answer then says."""
    address = await context.keep_artifact(written, name=name, mime_type=REPORT_TYPES[form])
    if not address:
        context.notice(UNKEPT)
    return address
