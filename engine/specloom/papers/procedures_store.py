"""The procedures that look into the store and note what its user says of a paper; none reaches the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure
from specloom.records import FLAG, TEXT, WHOLE, listed, record

from .declared import OPEN, REF, ROWS, STORE, TEXTS, gives

if TYPE_CHECKING:
    from specloom.desk import Desk

_LISTED = listed(
    record({"safekey": TEXT, "title": TEXT, "year": OPEN, "fetched_at": OPEN}, "safekey", "title"),
)


@procedure(
    "paper_info",
    parameters={"ref": TEXT},
    gives=gives({**REF, "safekey": TEXT, "metadata": OPEN}),
    settings=STORE,
)
async def paper_info(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The stored metadata of one paper, null when it is not stored."""
    from . import working

    return await working.answered(working.info, desk, parameters, echo="always")


@procedure(
    "search_papers",
    parameters={"query": TEXT, "limit": WHOLE},
    gives=gives({"scope": TEXT, "query": TEXT, "count": WHOLE, "results": _LISTED}),
    settings=STORE,
)
async def search_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers with a text in title, authors, venue or publisher."""
    from . import working

    return await working.answered(working.search_local, desk, parameters, echo="always")


@procedure(
    "recent_papers",
    parameters={"limit": WHOLE},
    gives=gives({"count": WHOLE, "entries": _LISTED}),
    settings=STORE,
)
async def recent_papers(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers, the newest first."""
    from . import working

    return await working.answered(working.list_recent, desk, parameters, echo="always")


@procedure(
    "paper_pdf_path",
    parameters={"ref": TEXT},
    gives=gives({**REF, "safekey": TEXT, "path": OPEN, "pdf_exists": FLAG, "origin": OPEN, "license": OPEN}),
    settings=STORE,
)
async def paper_pdf_path(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Where the PDF of a stored paper is; the file is not opened."""
    from . import working

    return await working.answered(working.pdf_path, desk, parameters, echo="always")


@procedure("papers_bibtex", parameters={"refs": TEXTS}, gives=gives({"entries": ROWS}), settings=STORE)
async def papers_bibtex(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers as BibTeX, one element for each reference."""
    from . import working

    return await working.answered(working.bibtex_export, desk, parameters, echo="never")


@procedure("papers_csl", parameters={"refs": TEXTS}, gives=gives({"entries": ROWS}), settings=STORE)
async def papers_csl(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Stored papers as CSL JSON, one element for each reference."""
    from . import working

    return await working.answered(working.csl_export, desk, parameters, echo="never")


@procedure(
    "tag_paper",
    parameters={
        "ref": TEXT,
        "add": TEXTS,
        "remove": TEXTS,
        "collection_add": TEXTS,
        "collection_remove": TEXTS,
    },
    gives=gives({**REF, "tags": TEXTS, "collections": TEXTS}),
    settings=STORE,
)
async def tag_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Add and remove tags and collections of a stored paper."""
    from . import working

    return await working.answered(working.tag, desk, parameters, echo="never")


@procedure(
    "annotate_paper",
    parameters={"ref": TEXT, "text": TEXT, "clear": FLAG},
    gives=gives({**REF, "annotation": OPEN}),
    settings=STORE,
)
async def annotate_paper(desk: Desk, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Set or take away the note on a stored paper."""
    from . import working

    return await working.answered(working.annotate, desk, parameters, echo="never")
