"""The procedures of this package as specs name them: what each takes and gives. The work is imported when done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.hooks import procedure

if TYPE_CHECKING:
    from specloom.desk import Desk

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "number"}


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, _TEXT)


def _one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _record(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {**_record(properties, *required), "additionalProperties": False}


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


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

_STATUS = _closed({"retracted": _FLAG, **_texts("kind", "date", "noticeDoi", "source")})
# Hosts show schemas to models, which pay for every word: what lies deeper is described on the page of the tool.
_OBJECT = {"type": "object"}
_WORK = _OBJECT
_COMPARISON = _list(_OBJECT)
_CONFLICT = _closed(
    {
        "detected": _FLAG,
        **_texts("authorAffiliation", "citedEntityName", "evidence"),
        "conflictType": _one_of("employed_by", "funded_by", "owns_equity"),
        "confidence": _one_of("high", "medium"),
    },
    "detected",
)
_SUPPORT = _one_of("addressed", "partially_addressed", "not_addressed", "source_unavailable")
_TITLE_MATCH = _one_of("match", "mismatch", "not_checked")
_CONFIDENCE = _one_of("high", "medium", "low", "none")
_CLAIM = {
    "claim": _TEXT,
    "claimSupport": _SUPPORT,
    "claimCoverage": _NUMBER,
    "claimReason": _TEXT,
    "claimEvidence": _list(_TEXT),
    "claimSourceUrl": _TEXT,
    "claimFetchError": _TEXT,
    "contrastSignal": _FLAG,
    "contrastCues": _list(_OBJECT),
    "contrastNote": _TEXT,
}
_LINK = {"linkLive": _FLAG, "httpStatus": _WHOLE, **_texts("archivedUrl", "archivedAt", "linkReason")}

CITATION = _record(
    {
        "input": _TEXT,
        "inputType": _one_of("doi", "url", "reference"),
        "identifier": _closed(_texts("kind", "value"), "kind", "value"),
        "exists": _FLAG,
        "verificationStatus": _one_of("confirmed", "not_found", "uncertain", "unchecked"),
        "matchedRecord": _WORK,
        "matchConfidence": _CONFIDENCE,
        "possibleMatch": _WORK,
        "detectedDoi": _TEXT,
        "titleMatch": _TITLE_MATCH,
        "comparison": _COMPARISON,
        "authenticityCaveat": _TEXT,
        "retractionStatus": _STATUS,
        "conflictOfInterest": _CONFLICT,
        **{name: _LINK[name] for name in ("linkLive", "httpStatus", "archivedUrl", "archivedAt")},
        **_CLAIM,
        "contentWords": _WHOLE,
        "sparsityNote": _TEXT,
        "claimCheckSkipped": _FLAG,
        "claimCheckSkippedReason": _TEXT,
        "provenance": _list(_TEXT),
    },
    "input",
    "inputType",
    "exists",
    "verificationStatus",
    "provenance",
)
"""What is told of one citation; what is not known is left out."""


@procedure(
    "check_citation",
    parameters={"citation": _TEXT, "claim": _TEXT},
    gives=CITATION,
    asks=_REGISTRIES,
    runs=("read_page",),
)
async def check_citation(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Verifies one citation: a DOI, an address, another identifier or a reference in plain words.

    Registries are asked in turn and then the handle system of all DOIs, so that what nobody could say (`unchecked`) is
    told from what is not there (`not_found`). With a claim its source is read and what it has of the claim is measured.
    """
    from .citation import verify

    return await verify(desk, str(given["citation"]), str(given.get("claim") or ""))


_FLAGS = _one_of("retracted", "dead_link", "mischaracterized", "not_found", "unchecked")
_COUNTS = (
    "total",
    "retracted",
    "deadLink",
    "notFound",
    "unchecked",
    "mischaracterized",
    "ok",
    "claimCheckSkippedCount",
    "thinContentCount",
)

AUDIT = _record(
    {
        "source": _TEXT,
        "entryCount": _WHOLE,
        "summary": _closed(dict.fromkeys(_COUNTS, _WHOLE), *_COUNTS),
        "entries": _list(
            _closed(
                {
                    "index": _WHOLE,
                    **_texts("title", "doi", "url", "reason", "matchedTitle"),
                    "exists": _FLAG,
                    "retractionStatus": _STATUS,
                    "titleMatch": _TITLE_MATCH,
                    "matchConfidence": _CONFIDENCE,
                    "comparison": _COMPARISON,
                    **_LINK,
                    "flags": _list(_FLAGS),
                    **_CLAIM,
                    "claimContentWords": _WHOLE,
                    "claimSparsityNote": _TEXT,
                    "provenance": _list(_TEXT),
                },
                "index",
                "title",
                "exists",
                "flags",
            )
        ),
        "unreadable": _list(_closed({"index": _WHOLE, "line": _WHOLE, "message": _TEXT}, "index", "line", "message")),
        "warning": _TEXT,
        "checkedAt": _TEXT,
        "skipped": _WHOLE,
        "skippedNote": _TEXT,
    },
    "source",
    "entryCount",
    "summary",
    "entries",
    "checkedAt",
)
"""What is told of a list of references."""


@procedure(
    "check_references",
    parameters={
        "bibliography": _TEXT,
        "format": _TEXT,
        "entries": _list({"type": "object"}),
        "sessionId": _TEXT,
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


BIBLIOGRAPHY = _record(
    {
        "style": _TEXT,
        "entryCount": _WHOLE,
        "bibliography": _TEXT,
        "sessionId": _TEXT,
        "skipped": _WHOLE,
        "skippedNote": _TEXT,
    },
    "style",
    "entryCount",
    "bibliography",
)
"""What is told of a formatted bibliography."""


@procedure(
    "format_references",
    parameters={"style": _TEXT, "sources": _list({"type": "object"}), "sessionId": _TEXT},
    gives=BIBLIOGRAPHY,
    runs=("session_sources",),
)
async def format_references(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Formats sources as a bibliography: APA, MLA, BibTeX, RIS or CSL-JSON; nobody is asked over a network."""
    from .formatting import format_sources

    return await format_sources(
        desk, str(given.get("style") or "apa"), given.get("sources"), str(given.get("sessionId") or "")
    )


_REPUTATION = _closed({"tier": _one_of("high", "mixed", "low"), "basis": _TEXT, "note": _TEXT}, "tier", "basis")

RECOMMENDATIONS = _record(
    {
        "itemCount": _WHOLE,
        "recommendations": _list(
            _closed(
                {
                    **_texts("title", "url", "author", "archivedUrl"),
                    "selfPromotionSignal": _closed(
                        {
                            "detected": _FLAG,
                            **_texts("brandDomain", "brandToken", "confidence", "item"),
                            "rankPosition": _WHOLE,
                        },
                        "detected",
                    ),
                    "conflictOfInterest": _CONFLICT,
                    "corporateOwnershipSignal": _closed(
                        {
                            "detected": _FLAG,
                            **_texts("brandDomain", "brandToken", "entityLabel", "entityQID"),
                            **_texts("ownerLabel", "ownerQID", "confidence"),
                        },
                        "detected",
                    ),
                    "domainReputation": _REPUTATION,
                    "linkLive": _FLAG,
                    "httpStatus": _WHOLE,
                    "corroborationSearches": _list(
                        _closed(
                            {
                                **_texts("query", "lens"),
                                **dict.fromkeys(("resultCount", "agreeCount", "disagreeCount", "silentCount"), _WHOLE),
                                "topResults": _list(_OBJECT),
                                "flags": _list(_one_of("lens_restriction_unreliable")),
                            },
                            "query",
                            "lens",
                            "resultCount",
                        )
                    ),
                    "flags": _list(
                        _one_of(
                            "conflict_of_interest",
                            "dead_link",
                            "self_promotion",
                            "corporate_ownership",
                            "low_reputation",
                            "unknown_reputation",
                        )
                    ),
                    "reasons": _list(_TEXT),
                },
                "title",
                "flags",
                "reasons",
            )
        ),
        "aggregateFlags": _list(_one_of("no_independent_corroboration")),
    },
    "itemCount",
    "recommendations",
)
"""What is told of a list of recommendations."""


@procedure(
    "check_recommendations",
    parameters={
        "recommendations": _list({"type": "object"}),
        "claim": _TEXT,
        "lenses": _list({"type": "object"}),
        "num_results": _WHOLE,
    },
    gives=RECOMMENDATIONS,
    asks=("web", "ownership", "snapshots"),
    runs=("read_page",),
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


CAPTURE = _record(
    {
        **_texts("requestedUrl", "snapshotUrl", "archivedAt", "reason", "pollUrl", "source"),
        "captured": _FLAG,
        "status": _one_of("archived", "existing", "pending", "unavailable"),
        "httpStatus": _WHOLE,
        "provenance": _list(_TEXT),
    },
    "requestedUrl",
    "captured",
    "status",
    "source",
    "provenance",
)
"""What is told of one capture."""


@procedure("archive_page", parameters={"url": _TEXT}, gives=CAPTURE, asks=("archive", "snapshots"))
async def archive_page(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Takes a public copy of a page in a web archive within 25 seconds, or tells of an earlier one and why.

    Private and loopback addresses are refused; a slow or throttled archive is an answer and no error.
    """
    from .archiving import archive

    return await archive(desk, str(given["url"]))


LINKS = _record({"links": _list(_closed({"url": _TEXT, **_LINK}, "url"))}, "links")
"""What became of some addresses, in their order."""


@procedure("check_links", parameters={"urls": _list(_TEXT)}, gives=LINKS, asks=("snapshots",))
async def check_links(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Looks whether addresses still answer, eight at a time, and finds archived copies of those that do not.

    `linkLive` is left out for an address that was not looked at; `linkReason` then says why.
    """
    from .liveness import check_links as check
    from .liveness import tell_link

    links = await check(desk, [str(url) for url in given["urls"]])
    return {"links": [{"url": link.url, **tell_link(link)} for link in links]}
