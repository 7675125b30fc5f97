"""academic_search keeps its contract."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 500},
    "num_results": {"type": "integer", "default": 5, "minimum": 1, "maximum": 10},
    "year_from": {"type": "integer", "minimum": 1900, "maximum": 2030},
    "year_to": {"type": "integer", "minimum": 1900, "maximum": 2030},
    "source": {"type": "string", "default": "all", "enum": ["all", "arxiv", "pubmed", "ieee", "nature", "springer"]},
    "pdf_only": {"type": "boolean", "default": False},
    "sort_by": {"type": "string", "default": "relevance", "enum": ["relevance", "date"]},
    "open_access": {"type": "boolean", "default": False},
    "full_text": {"type": "boolean", "default": False},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"papers", "query", "totalResults", "resultCount", "trust"}
SOMETIMES = {"source", "hints", "requestedNumResults", "removed"}
PAPER = {"title", "url"}
MAYBE = {
    "source",
    "doi",
    "authors",
    "journal",
    "year",
    "abstract",
    "citationCount",
    "openAccess",
    "pdfUrl",
    "isInDoaj",
    "fullText",
    "hasText",
    "hasPdf",
    "lowConfidenceDomain",
    "tldr",
    "isInfluential",
    "citationIntents",
    "retractionStatus",
}
ORDER = ["openalex", "crossref", "pubmed", "semanticscholar", "arxiv", "europepmc", "core", "doaj", "exa"]
WEB = {"google", "brave", "serper", "searxng", "searchapi", "duckduckgo", "tavily"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("academic_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("academic_search", INPUTS, added={"full_text"})


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("academic_search").output_schema
    paper = schema["properties"]["papers"]["items"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert set(paper["required"]) == PAPER
    assert set(paper["properties"]) == PAPER | MAYBE


def test_a_retraction_has_a_kind_a_day_and_a_notice() -> None:
    schema = shipped_tool("academic_search").output_schema

    status = schema["properties"]["papers"]["items"]["properties"]["retractionStatus"]

    assert set(status["properties"]) == {"retracted", "kind", "date", "noticeDoi", "source"}


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    tool = shipped_tool("academic_search")

    assert tool.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert tool.cache is not None
    assert tool.cache.ttl == 3600
    assert tool.cache.ignore == ("sessionId",)
    assert tool.record == ("sessionId", "academic")


def test_every_scholarly_and_every_web_provider_can_be_asked_for_by_name() -> None:
    model = shipped_model()

    assert [name for name in model.offering("scholarly") if name in ORDER] == ORDER
    assert set(model.offering("web")) >= WEB
