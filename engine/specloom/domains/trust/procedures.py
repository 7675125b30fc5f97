"""The procedures of this package as specs name them. The work is imported when done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specloom.plugins import LISTS, Context, JsonObject, from_json, procedure

from .records import (
    Bibliography,
    BibliographyRecords,
    BrandResult,
    Capture,
    CheckedLink,
    CheckedLinks,
    Citation,
    EvidenceTable,
    PanelRequest,
    Recommendations,
    ReferenceAudit,
)

_REGISTRIES = (
    "work", "works", "notices", "handles", "article", "book", "scholarly", "snapshots", "patent_record", "trials",
    "cases",
)  # fmt: skip


_SETTINGS = {
    "RETRACTION_LIST": {
        "description": "A file with the Retraction Watch list, which is then a further source of notices; `specloom "
        "data refresh` gets it anew. When not set: Europe PMC alone is asked beside the registries."
    }
}


def _find_list() -> str:
    from .citations.retraction_list import ADDRESS

    return ADDRESS


@LISTS.register("retractions", variable="RETRACTION_LIST", address=_find_list, most_bytes=256 * 1024 * 1024)
def keep_retractions(path: Path, body: bytes) -> str:
    """Puts a list of retractions in its place: the columns of the Retraction Watch data as Crossref publishes it."""
    from .citations.retraction_list import write_list

    read = write_list(path, body)
    return f"{len(read.notices):,} works with notices; {read.left_out:,} lines name no DOI or no known notice"


@procedure("check_citation", asks=_REGISTRIES, runs=("read_page", "stored_text"), settings=_SETTINGS)
async def check_citation(context: Context, citation: str, claim: str = "", report: str = "") -> Citation:
    """Verifies one citation: a DOI, an address, another identifier or a reference in plain words.

    Registries are asked in turn and then the handle system of all DOIs, so that what nobody could say (`unchecked`) is
    told from what is not there (`not_found`). With a claim its source is read and what it has of the claim is measured.
    With a `report` (html, markdown, docx) the whole check is kept as a document.
    """
    from .citations.verify import verify

    return await verify(context, citation, claim, report)


@procedure(
    "check_references", asks=_REGISTRIES, runs=("read_page", "session_sources", "stored_text"), settings=_SETTINGS
)
async def check_references(
    context: Context,
    bibliography: str = "",
    entries: Sequence[JsonObject] | None = None,
    session: str = "",
    source: str = "",
    *,
    notes: bool = False,
    report: str = "",
    offset: int = 0,
    may_be_empty: bool = False,
    format: str,  # noqa: A002  the name of the tool's argument
) -> ReferenceAudit:
    """Audits up to 200 references in one bounded pass with progress: existence, retraction, links and claims.

    A longer list is gone on with from the index `offset`. A document without an entry is refused unless it
    `may_be_empty`.

    They come as a document (CSL-JSON, RIS, BibTeX, NBIB, EndNote XML, a list in plain words), as entries, out of the
    reference section of what stands under an address, or from a session. Of several the first in this order counts;
    only entries have claims. With `notes` the document is given again with the findings in it, and with a `report` the
    whole audit is kept as a document: html, markdown or docx.
    """
    from .bibliography.documents import read_references
    from .citations.audit import audit

    address = source if source and not entries and not bibliography.strip() else ""
    if address:
        bibliography, format = await read_references(context, address)  # noqa: A001
    return await audit(
        context,
        bibliography,
        format,
        entries,
        session,
        notes=notes,
        report=report,
        address=address,
        begin=offset,
        may_be_empty=may_be_empty,
    )


@procedure("bibliography_records")
async def bibliography_records(context: Context, document: str, format: str = "") -> BibliographyRecords:  # noqa: A002
    """Parts a bibliography (csl-json, bibtex, or refs: a reference a line) into records, the broken ones among them.

    Each is told with what it names its work by; without a format it is told by looking.
    """
    from .bibliography.documents import read_records_apart

    told_format, records = await read_records_apart(context, document, format)
    return BibliographyRecords(format=told_format, records=records)


@procedure("format_references", runs=("session_sources", "stored_text"))
async def format_references(
    context: Context,
    style: str,
    sources: Sequence[JsonObject] | None = None,
    session: str = "",
    bibliography: str = "",
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    source: str = "",
) -> Bibliography:
    """Formats sources, a document or a session as a bibliography: in a style, or in a format of reference managers.

    `source` is a stored paper or a kept text whose section of references is the document. Nobody is asked over a
    network.
    """
    from .bibliography.formatting import format_sources

    return await format_sources(context, style, sources, session, bibliography, format, source)


@procedure("check_recommendations", asks=("web", "ownership", "snapshots"), runs=("read_page",))
async def check_recommendations(
    context: Context,
    recommendations: Sequence[JsonObject],
    claim: str = "",
    lenses: Sequence[JsonObject] = (),
    *,
    num_results: int,
) -> Recommendations:
    """Audits recommendations: stakes of their authors, reputation and links of their sites, and what others say.

    `lenses` are the fields in which others are looked for, each with `name` and `domains`; without a claim nobody is
    asked.
    """
    from .sources.recommendations import audit_recommendations

    return await audit_recommendations(context, recommendations, claim=claim, lenses=lenses, most=num_results)


@procedure("weigh_evidence", runs=("read_page",))
async def weigh_evidence(context: Context, request: PanelRequest) -> EvidenceTable:
    """Reads the best of what was found about statements, and puts together what speaks for and against each.

    Sources that several searches have found are read once, and those that are not independent are put into groups.
    What decides is a cue of words, never a model; what nobody answered is told as a gap.
    """
    from .evidence.panel import weigh

    return await weigh(context, request)


@procedure("archive_page", asks=("archive", "snapshots"))
async def archive_page(context: Context, url: str) -> Capture:
    """Takes a public copy of a page in a web archive within 25 seconds, or tells of an earlier one and why.

    Private and loopback addresses are refused; a slow or throttled archive is an answer and no error.
    """
    from .sources.links import archive

    return await archive(context, url)


@procedure("check_links", asks=("snapshots",))
async def check_links(context: Context, urls: Sequence[str]) -> CheckedLinks:
    """Looks whether addresses still answer, eight at a time, and finds archived copies of those that do not.

    `linkLive` is left out for an address that was not looked at; `linkReason` then says why.
    """
    from .sources.links import check_links as check

    return CheckedLinks(links=[CheckedLink(url=link.url, link=link.to_status()) for link in await check(context, urls)])


@procedure("research_brand", asks=("brand", "brand_domains", "web"), runs=("read_page",))
async def research_brand(
    context: Context,
    url: str = "",
    company_name: str = "",
    *,
    depth: str,
    include_design_tokens: bool,
) -> BrandResult:
    """Researches a brand: what its homepage declares, what its portal says, and at depth `full` what searches find.

    Only what is stated is told; what a surer place says is never overwritten. `depth` is quick, standard or full.
    """
    from .brand.research import research

    record = await research(context, url.strip(), company_name.strip(), depth, tokens=include_design_tokens)
    return from_json(BrandResult, record)
