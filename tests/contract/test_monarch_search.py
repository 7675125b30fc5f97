"""monarch_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import published_inputs
from tests.support.shipped import shipped_tool

IDS: dict[str, Any] = {"type": "array", "maxItems": 20}
INPUTS: dict[str, dict[str, Any]] = {
    "operation": {
        "type": "string",
        "required": True,
        "enum": ["semsim", "entity", "associations", "compare", "annotate"],
    },
    "phenotypes": IDS,
    "compareTo": IDS,
    "group": {
        "type": "string",
        "enum": ["Human Diseases", "Human Genes", "Mouse Genes", "Rat Genes", "Zebrafish Genes", "C. Elegans Genes"],
        "default": "Human Diseases",
    },
    "query": {"type": "string", "maxLength": 500},
    "entityId": {"type": "string"},
    "assocSubject": {"type": "string"},
    "assocObject": {"type": "string"},
    "category": {"type": "string"},
    "text": {"type": "string", "maxLength": 2000},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
OF_AN_ITEM = {
    "id",
    "label",
    "category",
    "description",
    "crossReferences",
    "score",
    "averageScore",
    "ancestorId",
    "ancestorLabel",
    "subjectId",
    "subjectLabel",
    "objectId",
    "objectLabel",
    "predicate",
    "negated",
    "primaryKnowledgeSource",
    "text",
    "url",
    "source",
}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("monarch_search")) == INPUTS


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("monarch_search").output_schema

    assert set(schema["required"]) == {"operation", "results", "resultCount", "provider", "trust"}
    assert set(schema["properties"]) == set(schema["required"]) | {"requestedNumResults", "notApplied", "hints"}
    assert set(schema["properties"]["results"]["items"]["properties"]) == OF_AN_ITEM


def test_annotations_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("monarch_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 6 * 3600
    assert one.cache.unless is not None, "an empty answer is not kept"
