"""legal_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 500},
    "jurisdiction": {"type": "string", "maxLength": 200},
    "date_from": {"type": "string"},
    "date_to": {"type": "string"},
    "num_results": {"type": "integer", "default": 10, "minimum": 1, "maximum": 20},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"cases", "query", "resultCount", "trust"}
SOMETIMES = {"provider", "hints", "requestedNumResults"}
CASE = {"caseName", "citation", "court", "courtId", "dateFiled", "docketNumber", "citationCount", "url", "source"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("legal_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("legal_search", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("legal_search").output_schema
    case = schema["properties"]["cases"]["items"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert set(case["required"]) == {"caseName", "url"}
    assert set(case["properties"]) == CASE


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("legal_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 24 * 3600
    assert one.cache.ignore == ("sessionId",)
    assert one.cache.unless is not None, "an empty answer is not kept"
    assert one.record == ("sessionId", "legal")


def test_courtlistener_answers_without_a_key() -> None:
    model = shipped_model()

    assert model.capabilities["cases"].order == ("courtlistener",)
    assert not [one for one in model.providers["courtlistener"].settings.values() if one.required]
