"""verify_citation keeps its contract: inputs, annotations, answers and freshness."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "citation": {"type": "string", "required": True, "minLength": 1, "maxLength": 8192},
    "claim": {"type": "string", "maxLength": 2000},
}
ALWAYS = {"input", "inputType", "exists", "verificationStatus", "provenance", "trust"}
SOMETIMES = {
    "matchedRecord", "matchConfidence", "possibleMatch", "detectedDoi", "titleMatch", "authenticityCaveat",
    "retractionStatus", "conflictOfInterest", "httpStatus", "archivedUrl", "claim", "claimSupport", "claimEvidence",
    "claimSourceUrl", "claimFetchError", "contrastSignal", "contentWords", "sparsityNote", "claimCheckSkipped",
    "claimCheckSkippedReason",
}  # fmt: skip
ADDED = {
    "identifier", "comparison", "linkLive", "archivedAt", "claimCoverage", "claimReason", "contrastCues",
    "contrastNote", "statusReason",
}  # fmt: skip
ENUMS = {
    "inputType": ["doi", "url", "reference"],
    "verificationStatus": ["confirmed", "not_found", "uncertain", "unchecked"],
    "matchConfidence": ["high", "medium", "low", "none"],
    "titleMatch": ["match", "mismatch", "not_checked"],
    "claimSupport": ["addressed", "partially_addressed", "not_addressed", "source_unavailable"],
}


def test_inputs_are_those_of_the_contract() -> None:
    # The contract writes nothing where there is no default.
    check_against_contract_json("verify_citation", {key: {**said, "default": ""} for key, said in INPUTS.items()})

    assert published_inputs(shipped_tool("verify_citation")) == INPUTS


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("verify_citation").output_schema

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES | ADDED
    for key, values in ENUMS.items():
        assert schema["properties"][key]["enum"] == values
    assert set(schema["properties"]["retractionStatus"]["properties"]) == {
        "retracted", "kind", "date", "noticeDoi", "source",
    }  # fmt: skip


def test_annotations_are_those_of_the_contract_and_nothing_is_kept() -> None:
    one = shipped_tool("verify_citation")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is None, "a verification is a check at a point in time"
