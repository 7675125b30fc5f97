"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.plugins import procedure

from .result_schemas import AUDIT, BIBLIOGRAPHY, CAPTURE, CITATION, LINKS, RECOMMENDATIONS, TEXT, WHOLE, list_of

if TYPE_CHECKING:
    from specloom.plugins import Context


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
async def check_citation(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Verifies one citation: a DOI, an address, another identifier or a reference in plain words.

    Registries are asked in turn and then the handle system of all DOIs, so that what nobody could say (`unchecked`) is
    told from what is not there (`not_found`). With a claim its source is read and what it has of the claim is measured.
    """
    from .citations.verify import verify

    return await verify(context, str(given["citation"]), str(given.get("claim") or ""))


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
async def check_references(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Audits up to 200 references in one bounded pass with progress: existence, retraction, links and claims.

    They come as a document (CSL-JSON, RIS, BibTeX), as entries, or from a session. Entries win over the document and
    that over the session; only entries have claims.
    """
    from .citations.audit import audit

    return await audit(
        context,
        bibliography=str(given.get("bibliography") or ""),
        format=str(given.get("format") or "auto"),
        entries=given.get("entries"),
        session=str(given.get("sessionId") or ""),
    )


_RECORD = {
    **dict.fromkeys(("key", "identifier", "problem", "address"), TEXT),
    "line": WHOLE,
    "is_software": {"type": "boolean"},
}


@procedure(
    "bibliography_records",
    parameters={"document": TEXT, "format": TEXT},
    gives={
        "type": "object",
        "properties": {"format": TEXT, "records": list_of({"type": "object", "properties": _RECORD})},
        "required": ["format", "records"],
    },
    needs=("document",),
)
async def bibliography_records(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Parts a bibliography (csl-json, bibtex, or refs: a reference a line) into records, the broken ones among them.

    Each is told with what it names its work by; without a format it is told by looking.
    """
    import asyncio
    from dataclasses import asdict

    from .bibliography.records import read_records

    # A long document takes seconds to parse, in which other calls are answered.
    format_, records = await asyncio.to_thread(read_records, str(given["document"]), str(given.get("format") or ""))
    return {"format": format_, "records": [asdict(record) for record in records]}


@procedure(
    "format_references",
    parameters={"style": TEXT, "sources": list_of({"type": "object"}), "sessionId": TEXT},
    gives=BIBLIOGRAPHY,
    runs=("session_sources",),
)
async def format_references(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Formats sources as a bibliography: APA, MLA, BibTeX, RIS or CSL-JSON; nobody is asked over a network."""
    from .bibliography.documents import format_sources

    return await format_sources(
        context, str(given.get("style") or "apa"), given.get("sources"), str(given.get("sessionId") or "")
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
async def check_recommendations(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Audits recommendations: stakes of their authors, reputation and links of their sites, and what others say.

    `lenses` are the fields in which others are looked for, each with `name` and `domains`; without a claim nobody is
    asked.
    """
    from .sources.recommendations import audit_recommendations

    return await audit_recommendations(
        context,
        given["recommendations"],
        claim=str(given.get("claim") or ""),
        lenses=given.get("lenses") or [],
        most=int(given.get("num_results") or 5),
    )


@procedure("archive_page", parameters={"url": TEXT}, gives=CAPTURE, asks=("archive", "snapshots"), needs=("url",))
async def archive_page(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Takes a public copy of a page in a web archive within 25 seconds, or tells of an earlier one and why.

    Private and loopback addresses are refused; a slow or throttled archive is an answer and no error.
    """
    from .sources.links import archive

    return await archive(context, str(given["url"]))


@procedure("check_links", parameters={"urls": list_of(TEXT)}, gives=LINKS, asks=("snapshots",), needs=("urls",))
async def check_links(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Looks whether addresses still answer, eight at a time, and finds archived copies of those that do not.

    `linkLive` is left out for an address that was not looked at; `linkReason` then says why.
    """
    from .sources.links import check_links as check
    from .sources.links import tell_link

    links = await check(context, [str(url) for url in given["urls"]])
    return {"links": [{"url": link.url, **tell_link(link)} for link in links]}


# --- The procedure of this package as specs name it: what it takes and gives. The work is imported when done ----------


_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_TEXTS = {"type": "array", "items": _TEXT}


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _TEXT)


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_GRADE = {"type": "string", "enum": ["full", "partial", "none"]}
_IMAGE = _closed({**_texts("url", "format"), "width": _WHOLE, "height": _WHOLE}, "url")
_FONT = _closed({**_texts("family", "origin", "origin_id"), "weights": {"type": "array"}}, "family")
_SLOTS = _texts("primary", "secondary", "accent", "background", "text", "surface", "text_secondary")
_TIER = {"type": "string", "enum": ["homepage_meta", "brandfetch_api", "brand_page", "web_search"]}

BRAND = {
    "type": "object",
    "properties": {
        "identity": _closed(
            {
                **_texts("name", "domain", "tagline", "description", "industry"),
                "founded": _WHOLE,
                "location": _closed(_texts("city", "country_code")),
            }
        ),
        "colors": _closed(
            {
                **_SLOTS,
                "palette": _list(_closed({**_texts("hex", "name", "role"), "brightness": _WHOLE}, "hex", "brightness")),
            }
        ),
        "logos": _closed({**dict.fromkeys(("primary", "dark", "icon"), _IMAGE), **_texts("favicon", "og_image")}),
        "typography": _closed(
            {
                **dict.fromkeys(("heading", "body", "mono"), _FONT),
                "google_fonts_url": _TEXT,
                "scale": {"type": "object"},
            }
        ),
        "tone_of_voice": _closed(
            {"summary": _TEXT, "attributes": _TEXTS, "dos_and_donts": _closed({"dos": _TEXTS, "donts": _TEXTS})}
        ),
        "social": _closed(_texts("twitter", "linkedin", "github", "youtube", "facebook", "instagram")),
        "sources": _list(
            _closed(
                {
                    "name": _TIER,
                    "url": _TEXT,
                    "fields": _TEXTS,
                    "scrapeQuality": {"type": "string", "enum": ["thin"]},
                },
                "name",
                "url",
                "fields",
            )
        ),
        **_texts("guidelines_url", "brand_portal_resource", "suggestion"),
        "design_tokens": {"type": "object"},
        "coverage": _closed(
            {
                **dict.fromkeys(("colors", "logos", "typography"), _GRADE),
                "tone_of_voice": {"type": "string", "enum": ["found", "none"]},
                "extraction_blocked": {"type": "boolean"},
            },
            "colors",
            "logos",
            "typography",
            "tone_of_voice",
        ),
        "tier_errors": _list(_closed({"tier": _TIER, "error": _TEXT}, "tier", "error")),
        "cache_age": _WHOLE,
    },
    "required": [
        "identity", "colors", "logos", "typography", "tone_of_voice", "social", "sources", "coverage", "cache_age",
    ],
}  # fmt: skip
"""What is told of a brand; what was not found is left out."""


@procedure(
    "research_brand",
    parameters={"url": _TEXT, "company_name": _TEXT, "depth": _TEXT, "include_design_tokens": {"type": "boolean"}},
    gives=BRAND,
    asks=("brand", "brand_domains", "web"),
    runs=("read_page",),
)
async def research_brand(context: Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Researches a brand: what its homepage declares, what its portal says, and at depth `full` what searches find.

    Only what is stated is told; what a surer place says is never overwritten. `depth` is quick, standard or full.
    """
    from .brand.research import research

    return await research(
        context,
        str(given.get("url") or "").strip(),
        str(given.get("company_name") or "").strip(),
        str(given.get("depth") or "standard"),
        tokens=bool(given.get("include_design_tokens")),
    )
