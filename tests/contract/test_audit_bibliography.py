"""audit_bibliography keeps its contract: inputs, annotations, answers and freshness."""

from __future__ import annotations

from typing import Any

from tests.support.contract import published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "bibliography": {"type": "string", "maxLength": 5_000_000},
    "format": {"type": "string", "enum": ["auto", "csl-json", "ris", "bibtex"], "default": "auto"},
    "entries": {"type": "array", "maxItems": 5000},
    "sessionId": {"type": "string", "maxLength": 128},
}
FIELDS = {"url", "title", "author", "site", "date", "doi", "claim"}
ALWAYS = {"source", "entryCount", "summary", "entries", "checkedAt", "trust"}
ENTRY = {
    "index", "title", "doi", "url", "exists", "retractionStatus", "linkLive", "httpStatus", "archivedUrl", "flags",
    "reason", "claim", "claimSupport", "claimEvidence", "claimSourceUrl", "contrastSignal", "claimContentWords",
    "claimSparsityNote", "claimFetchError",
}  # fmt: skip
ADDED_ENTRY = {
    "archivedAt", "linkReason", "matchedTitle", "titleMatch", "matchConfidence", "comparison", "claimCoverage",
    "claimReason", "contrastCues", "contrastNote", "provenance",
}  # fmt: skip
SUMMARY = {
    "total", "retracted", "deadLink", "notFound", "unchecked", "mischaracterized", "ok", "claimCheckSkippedCount",
    "thinContentCount",
}  # fmt: skip


def test_inputs_are_those_of_the_contract() -> None:
    one = shipped_tool("audit_bibliography")
    assert published_inputs(one) == INPUTS
    items = one.input_schema["properties"]["entries"]["items"]
    assert set(items["properties"]) == FIELDS
    assert items["additionalProperties"] is False
    assert "required" not in items


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("audit_bibliography").output_schema
    entry = schema["properties"]["entries"]["items"]["properties"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | {"skipped", "skippedNote", "warning", "unreadable"}
    assert set(entry) == ENTRY | ADDED_ENTRY
    assert set(schema["properties"]["summary"]["properties"]) == SUMMARY
    assert set(entry["flags"]["items"]["enum"]) == {
        "retracted", "dead_link", "not_found", "unchecked", "mischaracterized",
    }  # fmt: skip


def test_annotations_are_those_of_the_contract_and_nothing_is_kept() -> None:
    one = shipped_tool("audit_bibliography")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is None, "an audit is a check at a point in time"
