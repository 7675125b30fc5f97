"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure

from .answers import AUDIT, BIBLIOGRAPHY, CAPTURE, CITATION, LINKS, RECOMMENDATIONS, TEXT, WHOLE, list_of

if TYPE_CHECKING:
    from specloom.desk import Desk

_REGISTRIES = (
    "work",
    "works",
    "handles",
    "article",
    "book",
    "scholarly",
    "snapshots",
    "patent_record",
    "trials",
    "cases",
)


@procedure(
    "check_citation",
    parameters={"citation": TEXT, "claim": TEXT},
    gives=CITATION,
    asks=_REGISTRIES,
    runs=("read_page",),
    needs=("citation",),
)
async def check_citation(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Verifies one citation: a DOI, an address, another identifier or a reference in plain words.

    Registries are asked in turn and then the handle system of all DOIs, so that what nobody could say (`unchecked`) is
    told from what is not there (`not_found`). With a claim its source is read and what it has of the claim is measured.
    """
    from .citation import verify

    return await verify(desk, str(given["citation"]), str(given.get("claim") or ""))


@procedure(
    "check_references",
    parameters={
        "bibliography": TEXT,
        "format": TEXT,
        "entries": list_of({"type": "object"}),
        "sessionId": TEXT,
    },
    gives=AUDIT,
    asks=_REGISTRIES,
    runs=("read_page", "session_sources"),
)
async def check_references(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Audits up to 200 references in one bounded pass with progress: existence, retraction, links and claims.

    They come as a document (CSL-JSON, RIS, BibTeX), as entries, or from a session. Entries win over the document and
    that over the session; only entries have claims.
    """
    from .audit import audit

    return await audit(
        desk,
        bibliography=str(given.get("bibliography") or ""),
        format=str(given.get("format") or "auto"),
        entries=given.get("entries"),
        session=str(given.get("sessionId") or ""),
    )


@procedure(
    "bibliography_records",
    parameters={"document": TEXT, "format": TEXT},
    gives={"type": "object", "properties": {"records": list_of({"type": "object"})}, "required": ["records"]},
    needs=("document", "format"),
)
async def bibliography_records(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Parts a bibliography (CSL-JSON or BibTeX) into its records as they stand there, the broken ones among them."""
    import asyncio

    from .bibliography.documents import split_records

    # A long document takes seconds to parse, in which other calls are answered.
    found = await asyncio.to_thread(lambda: list(split_records(str(given["document"]), str(given["format"]))))
    return {"records": [{"line": line, "fields": fields, "problem": problem} for line, fields, problem in found]}


@procedure(
    "format_references",
    parameters={"style": TEXT, "sources": list_of({"type": "object"}), "sessionId": TEXT},
    gives=BIBLIOGRAPHY,
    runs=("session_sources",),
)
async def format_references(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Formats sources as a bibliography: APA, MLA, BibTeX, RIS or CSL-JSON; nobody is asked over a network."""
    from .formatting import format_sources

    return await format_sources(
        desk, str(given.get("style") or "apa"), given.get("sources"), str(given.get("sessionId") or "")
    )


@procedure(
    "check_recommendations",
    parameters={
        "recommendations": list_of({"type": "object"}),
        "claim": TEXT,
        "lenses": list_of({"type": "object"}),
        "num_results": WHOLE,
    },
    gives=RECOMMENDATIONS,
    asks=("web", "ownership", "snapshots"),
    runs=("read_page",),
    needs=("recommendations",),
)
async def check_recommendations(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Audits recommendations: stakes of their authors, reputation and links of their sites, and what others say.

    `lenses` are the fields in which others are looked for, each with `name` and `domains`; without a claim nobody is
    asked.
    """
    from .recommendation import audit_recommendations

    return await audit_recommendations(
        desk,
        given["recommendations"],
        claim=str(given.get("claim") or ""),
        lenses=given.get("lenses") or [],
        most=int(given.get("num_results") or 5),
    )


@procedure("archive_page", parameters={"url": TEXT}, gives=CAPTURE, asks=("archive", "snapshots"), needs=("url",))
async def archive_page(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Takes a public copy of a page in a web archive within 25 seconds, or tells of an earlier one and why.

    Private and loopback addresses are refused; a slow or throttled archive is an answer and no error.
    """
    from .archiving import archive

    return await archive(desk, str(given["url"]))


@procedure("check_links", parameters={"urls": list_of(TEXT)}, gives=LINKS, asks=("snapshots",), needs=("urls",))
async def check_links(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Looks whether addresses still answer, eight at a time, and finds archived copies of those that do not.

    `linkLive` is left out for an address that was not looked at; `linkReason` then says why.
    """
    from .liveness import check_links as check
    from .liveness import tell_link

    links = await check(desk, [str(url) for url in given["urls"]])
    return {"links": [{"url": link.url, **tell_link(link)} for link in links]}
