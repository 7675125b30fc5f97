"""The procedure that reads a paper as specs name it: what it takes and gives. Its work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure
from specloom.records import FLAG, TEXT, WHOLE, closed, listed, record, texts

if TYPE_CHECKING:
    from specloom.desk import Desk

_CITATION = closed(
    {
        **texts("url", "accessedDate"),
        "metadata": closed(texts("title", "author", "site", "date")),
        "formatted": closed(texts("apa", "mla", "bibtex")),
    }
)

PAPER = record(
    {
        **texts("url", "title", "content", "source", "tier", "note"),
        "truncated": FLAG,
        **texts("doi", "pdf_url", "journal", "abstract", "tldr"),
        "open_access": FLAG,
        "authors": listed(TEXT),
        "year": WHOLE,
        "citation_count": WHOLE,
        "citation": _CITATION,
    },
    "url",
    "content",
    "source",
    "truncated",
    "citation",
)
"""What reading a paper gives; what is not known is left out."""


@procedure(
    "read_paper",
    parameters={"identifier": TEXT, "max_length": WHOLE},
    gives=PAPER,
    asks=("fulltext", "paper", "work", "oa_locations"),
    runs=("read_page",),
    needs=("identifier", "max_length"),
)
async def read_paper(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads one paper: its text from an archive, else a free PDF, else its page.

    `max_length` is in characters of content. `source` is who gave or found the text: the provider, or `direct-url` for
    an address; `note` says so where only the paper's page could be read. What names no paper is a `validation` fault.
    """
    from .paper_reading import read

    return await read(desk, given["identifier"], given["max_length"])
