"""citation_graph keeps its contract."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    # The contract bounds no title; a thousand characters are more than any has.
    "paper": {"type": "string", "required": True, "minLength": 1, "maxLength": 1000},
    "direction": {"type": "string", "default": "both", "enum": ["cited_by", "references", "both"]},
    "num_results": {"type": "integer", "default": 10, "minimum": 1, "maximum": 25},
    "influential_only": {"type": "boolean", "default": False},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"seed", "direction", "provider", "trust"}
BY_DIRECTION = {"citedBy", "citedByCount", "references", "referencesCount"}
ADDED = {"seedTitle", "note"}
PAPER = {"title", "url", "source"}
MAYBE = {
    "doi",
    "authors",
    "journal",
    "year",
    "abstract",
    "citationCount",
    "openAccess",
    "pdfUrl",
    "tldr",
    "isInfluential",
    "citationIntents",
    "retractionStatus",
}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("citation_graph")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("citation_graph", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("citation_graph").output_schema

    assert set(schema["required"]) >= ALWAYS
    assert set(schema["properties"]) == ALWAYS | BY_DIRECTION | ADDED
    assert not {"citedByCount", "referencesCount"} & set(schema["required"])
    for direction in ("citedBy", "references"):
        paper = schema["properties"][direction]["items"]
        assert set(paper["required"]) == PAPER
        assert set(paper["properties"]) == PAPER | MAYBE


def test_lifetime_and_annotations_are_those_of_the_contract() -> None:
    tool = shipped_tool("citation_graph")

    assert tool.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert tool.hints is None
    assert tool.cache is not None
    assert tool.cache.ttl == 86_400
    assert tool.cache.ignore == ("sessionId",)
    assert tool.cache.unless is not None
    assert tool.record == ("sessionId", "academic")


def test_semantic_scholar_is_preferred() -> None:
    assert shipped_model().capabilities["citations"].order == ("semanticscholar", "openalex")
    assert set(shipped_tool("citation_graph").inputs["provider"].choices) == {"semanticscholar", "openalex"}
