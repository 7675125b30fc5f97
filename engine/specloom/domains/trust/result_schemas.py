"""What the procedures of this package give: the schemas of their records, under the names of the tool contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "number"}


def _texts(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, TEXT)


def _one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _record(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {**_record(properties, *required), "additionalProperties": False}


def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_STATUS = _closed({"retracted": _FLAG, **_texts("kind", "date", "noticeDoi", "source")})
# Hosts show schemas to models, which pay for every word: what lies deeper is described on the page of the tool.
_OBJECT = {"type": "object"}
_WORK = _OBJECT
_COMPARISON = list_of(_OBJECT)
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
    "claim": TEXT,
    "claimSupport": _SUPPORT,
    "claimCoverage": _NUMBER,
    "claimReason": TEXT,
    "claimEvidence": list_of(TEXT),
    "claimSourceUrl": TEXT,
    "claimFetchError": TEXT,
    "contrastSignal": _FLAG,
    "contrastCues": list_of(_OBJECT),
    "contrastNote": TEXT,
}
_LINK = {"linkLive": _FLAG, "httpStatus": WHOLE, **_texts("archivedUrl", "archivedAt", "linkReason")}

CITATION = _record(
    {
        "input": TEXT,
        "inputType": _one_of("doi", "url", "reference"),
        "identifier": _closed(_texts("kind", "value"), "kind", "value"),
        "exists": _FLAG,
        "verificationStatus": _one_of("confirmed", "not_found", "uncertain", "unchecked"),
        "statusReason": TEXT,
        "matchedRecord": _WORK,
        "matchConfidence": _CONFIDENCE,
        "possibleMatch": _WORK,
        "detectedDoi": TEXT,
        "titleMatch": _TITLE_MATCH,
        "comparison": _COMPARISON,
        "authenticityCaveat": TEXT,
        "retractionStatus": _STATUS,
        "conflictOfInterest": _CONFLICT,
        **{name: _LINK[name] for name in ("linkLive", "httpStatus", "archivedUrl", "archivedAt")},
        **_CLAIM,
        "contentWords": WHOLE,
        "sparsityNote": TEXT,
        "claimCheckSkipped": _FLAG,
        "claimCheckSkippedReason": TEXT,
        "provenance": list_of(TEXT),
    },
    "input",
    "inputType",
    "exists",
    "verificationStatus",
    "provenance",
)
"""What is told of one citation; what is not known is left out."""


AUDIT_FLAGS = ("retracted", "dead_link", "mischaracterized", "not_found", "unchecked")
"""The flags of an entry, in the order in which they are told."""
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
        "source": TEXT,
        "entryCount": WHOLE,
        "summary": _closed(dict.fromkeys(_COUNTS, WHOLE), *_COUNTS),
        "entries": list_of(
            _closed(
                {
                    "index": WHOLE,
                    **_texts("title", "doi", "url", "reason", "matchedTitle"),
                    "exists": _FLAG,
                    "retractionStatus": _STATUS,
                    "titleMatch": _TITLE_MATCH,
                    "matchConfidence": _CONFIDENCE,
                    "comparison": _COMPARISON,
                    **_LINK,
                    "flags": list_of(_one_of(*AUDIT_FLAGS)),
                    **_CLAIM,
                    "claimContentWords": WHOLE,
                    "claimSparsityNote": TEXT,
                    "provenance": list_of(TEXT),
                },
                "index",
                "title",
                "exists",
                "flags",
            )
        ),
        "unreadable": list_of(_closed({"index": WHOLE, "line": WHOLE, "message": TEXT}, "index", "line", "message")),
        "warning": TEXT,
        "checkedAt": TEXT,
        "skipped": WHOLE,
        "skippedNote": TEXT,
    },
    "source",
    "entryCount",
    "summary",
    "entries",
    "checkedAt",
)
"""What is told of a list of references."""


BIBLIOGRAPHY = _record(
    {
        "style": TEXT,
        "entryCount": WHOLE,
        "bibliography": TEXT,
        "sessionId": TEXT,
        "skipped": WHOLE,
        "skippedNote": TEXT,
    },
    "style",
    "entryCount",
    "bibliography",
)
"""What is told of a formatted bibliography."""


_REPUTATION = _closed({"tier": _one_of("high", "mixed", "low"), "basis": TEXT, "note": TEXT}, "tier", "basis")

RECOMMENDATIONS = _record(
    {
        "itemCount": WHOLE,
        "recommendations": list_of(
            _closed(
                {
                    **_texts("title", "url", "author", "archivedUrl"),
                    "selfPromotionSignal": _closed(
                        {
                            "detected": _FLAG,
                            **_texts("brandDomain", "brandToken", "confidence", "item"),
                            "rankPosition": WHOLE,
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
                    "httpStatus": WHOLE,
                    "corroborationSearches": list_of(
                        _closed(
                            {
                                **_texts("query", "lens"),
                                **dict.fromkeys(("resultCount", "agreeCount", "disagreeCount", "silentCount"), WHOLE),
                                "topResults": list_of(_OBJECT),
                                "flags": list_of(_one_of("lens_restriction_unreliable")),
                            },
                            "query",
                            "lens",
                            "resultCount",
                        )
                    ),
                    "flags": list_of(
                        _one_of(
                            "conflict_of_interest",
                            "dead_link",
                            "self_promotion",
                            "corporate_ownership",
                            "low_reputation",
                            "unknown_reputation",
                        )
                    ),
                    "reasons": list_of(TEXT),
                },
                "title",
                "flags",
                "reasons",
            )
        ),
        "aggregateFlags": list_of(_one_of("no_independent_corroboration")),
    },
    "itemCount",
    "recommendations",
)
"""What is told of a list of recommendations."""


CAPTURE = _record(
    {
        **_texts("requestedUrl", "snapshotUrl", "archivedAt", "reason", "pollUrl", "source"),
        "captured": _FLAG,
        "status": _one_of("archived", "existing", "pending", "unavailable"),
        "httpStatus": WHOLE,
        "provenance": list_of(TEXT),
    },
    "requestedUrl",
    "captured",
    "status",
    "source",
    "provenance",
)
"""What is told of one capture."""


LINKS = _record({"links": list_of(_closed({"url": TEXT, **_LINK}, "url"))}, "links")
"""What became of some addresses, in their order."""
