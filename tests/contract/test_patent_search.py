"""patent_search keeps its contract."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "maxLength": 500},
    "num_results": {"type": "integer", "default": 5, "minimum": 1, "maximum": 10},
    "search_type": {"type": "string", "default": "prior_art", "enum": ["prior_art", "specific", "landscape"]},
    "patent_office": {"type": "string", "default": "all", "enum": ["all", "US", "EP", "WO", "JP", "CN", "KR"]},
    "assignee": {"type": "string", "maxLength": 200},
    "inventor": {"type": "string", "maxLength": 200},
    "cpc_code": {"type": "string"},
    "year_from": {"type": "integer"},
    "year_to": {"type": "integer"},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"patents", "query", "searchType", "resultCount", "searchUrl", "trust"}
SOMETIMES = {"assigneeClusters", "source", "hints", "requestedNumResults", "removed"}
PATENT = {"title", "number", "url"}
MAYBE = {"abstract", "assignee", "inventor", "filed", "granted", "pdf", "status"}
ORDER = ["searchapi", "epo", "lens", "uspto"]


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("patent_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("patent_search", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("patent_search").output_schema
    patent = schema["properties"]["patents"]["items"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert set(patent["required"]) == PATENT
    assert set(patent["properties"]) == PATENT | MAYBE


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    tool = shipped_tool("patent_search")

    assert tool.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert tool.hints is not None
    assert tool.cache is not None
    assert tool.cache.ttl == 86_400
    assert tool.cache.ignore == ("sessionId",)
    assert tool.cache.unless is not None
    assert tool.record == ("sessionId", "patent")


def test_every_patent_and_every_web_provider_can_be_asked_for_by_name() -> None:
    model = shipped_model()

    choices = shipped_tool("patent_search").inputs["provider"].choices

    assert list(model.offering("patents")) == ORDER
    assert set(choices) == set(ORDER) | set(model.offering("web"))
    assert len(choices) == len(set(choices))
