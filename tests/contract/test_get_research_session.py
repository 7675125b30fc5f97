"""get_research_session keeps its contract: inputs, annotations and answers."""

from __future__ import annotations

from typing import Any

from tests.contract.test_sequential_search import SOURCE, STEP
from tests.support.contract import published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "sessionId": {"type": "string", "required": True, "minLength": 1, "maxLength": 128},
    "stepId": {"type": "integer", "minimum": 0},
}
ALWAYS = {"sessionId", "responseMode", "researchGoal", "stepCount", "trust"}
SOMETIMES = {
    "totalStepsEstimate",
    "isComplete",
    "startedAt",
    "completedAt",
    "summary",
    "stepIndex",
    "lastSteps",
    "step",
    "gaps",
    "resolvedGaps",
    "sources",
    "sourcesNotKept",
    "errorPatterns",
    "providerStats",
}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("get_research_session")) == INPUTS


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("get_research_session").output_schema
    properties = schema["properties"]

    assert set(schema["required"]) == ALWAYS
    assert set(properties) == ALWAYS | SOMETIMES
    assert set(properties["step"]["properties"]) == STEP
    assert set(properties["lastSteps"]["items"]["properties"]) == STEP
    assert set(properties["sources"]["items"]["properties"]) == SOURCE
    pattern = {"kind", "count", "affectedUrls", "suggestion", "lastSeen"}
    assert set(properties["errorPatterns"]["items"]["properties"]) == pattern
    assert set(properties["errorPatterns"]["items"]["required"]) == pattern


def test_annotations_are_those_of_the_contract_and_nothing_is_kept() -> None:
    one = shipped_tool("get_research_session")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    assert one.cache is None
    assert one.opt_in == ""
