"""sequential_search keeps its contract: inputs, annotations, answers; nothing of it is kept as an answer."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "searchStep": {"type": "string", "required": True, "minLength": 1, "maxLength": 4000},
    "stepNumber": {"type": "integer", "required": True, "minimum": 1, "maximum": 100_000},
    "nextStepNeeded": {"type": "boolean", "required": True},
    "sessionId": {"type": "string", "maxLength": 128},
    "researchGoal": {"type": "string", "maxLength": 2000},
    "reasoning": {"type": "string", "maxLength": 4000},
    "confidence": {"type": "string", "enum": ["high", "medium", "low"]},
    "rejectedApproaches": {"type": "array", "maxItems": 20},
    "sessionSummary": {"type": "string", "maxLength": 8000},
    "responseMode": {"type": "string", "enum": ["auto", "full", "summary"], "default": "auto"},
    "totalStepsEstimate": {"type": "integer", "minimum": 0, "maximum": 100_000},
    "isRevision": {"type": "boolean", "default": False},
    "revisesStep": {"type": "integer", "minimum": 0},
    "branchFromStep": {"type": "integer", "minimum": 0},
    "branchId": {"type": "string", "maxLength": 100},
    "knowledgeGap": {"type": "string", "maxLength": 1000},
    "resolvedGaps": {"type": "array", "maxItems": 20},
    "depth": {"type": "string", "enum": ["quick", "standard", "thorough"], "default": "quick"},
}
ALWAYS = {
    "sessionId",
    "responseMode",
    "researchGoal",
    "currentStep",
    "totalStepsEstimate",
    "isComplete",
    "startedAt",
    "trust",
}
SOMETIMES = {
    "completedAt",
    "warning",
    "steps",
    "summary",
    "stepIndex",
    "lastSteps",
    "gaps",
    "sources",
    "depth",
    "coverage",
    "refinementQueries",
    "refinementResults",
    "refinementNote",
    "refinementWarning",
}
STEP = {
    "stepNumber",
    "description",
    "reasoning",
    "confidence",
    "rejectedApproaches",
    "isRevision",
    "revisesStep",
    "branchId",
    "branchFromStep",
    "timestamp",
    "supersededBy",
}
SOURCE = {"url", "title", "relevance", "author", "date", "doi", "foundInStep"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("sequential_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    # The contract names the mode that is chosen when none is forced only as the default.
    forced = {**INPUTS["responseMode"], "enum": ["full", "summary"]}

    check_against_contract_json("sequential_search", {**INPUTS, "responseMode": forced}, added={"resolvedGaps"})


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("sequential_search").output_schema
    properties = schema["properties"]

    assert set(schema["required"]) == ALWAYS
    assert set(properties) == ALWAYS | SOMETIMES
    index = {"stepNumber", "oneLiner", "branchId", "confidence"}
    for key in ("steps", "stepIndex"):
        assert set(properties[key]["items"]["properties"]) == index | {"supersededBy"}
        assert set(properties[key]["items"]["required"]) == index
    assert set(properties["lastSteps"]["items"]["properties"]) == STEP
    assert {"description", "foundInStep"} <= set(properties["gaps"]["items"]["properties"])
    assert set(properties["sources"]["items"]["properties"]) == SOURCE
    coverage = {"sourceCount", "uniqueDomains", "domainSpread", "dominantDomain", "sourceTypes", "gaps"}
    assert set(properties["coverage"]["properties"]) == coverage
    refinement = properties["refinementResults"]["items"]["properties"]
    assert set(refinement) == {"query", "resultCount", "results", "error"}
    assert set(refinement["results"]["items"]["properties"]) == {"title", "url", "snippet"}


def test_annotations_are_those_of_the_contract_and_nothing_is_kept() -> None:
    one = shipped_tool("sequential_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": False, "open_world": False}
    assert one.cache is None
    assert one.opt_in == ""
