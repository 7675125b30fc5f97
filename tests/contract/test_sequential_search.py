"""sequential_search keeps its contract: inputs, annotations, answers; nothing of it is kept as an answer."""

from __future__ import annotations

from tests.support.shipped import shipped_tool

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
    "notices",
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
SOURCE = {"url", "title", "relevance", "author", "date", "doi", "foundInStep", "foundAgainInSteps"}


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
