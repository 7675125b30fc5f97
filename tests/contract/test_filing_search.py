"""filing_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "maxLength": 500},
    "form_type": {"type": "string", "maxLength": 100},
    "ticker": {"type": "string"},
    "date_from": {"type": "string"},
    "date_to": {"type": "string"},
    "facts": {"type": "boolean", "default": False},
    "num_results": {"type": "integer", "default": 5, "minimum": 1, "maximum": 10},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"filings", "query", "resultCount", "trust"}
SOMETIMES = {"provider", "hints", "requestedNumResults", "notApplied"}
FILING = {"company", "cik", "formType", "filingDate", "periodOfReport", "accession", "url", "description", "source"}
FIGURE = {"concept", "unit", "value"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("filing_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("filing_search", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("filing_search").output_schema

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert set(schema["properties"]["filings"]["items"]["properties"]) == FILING | FIGURE


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("filing_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 24 * 3600
    assert one.cache.ignore == ("sessionId",)
    assert one.cache.unless is not None, "an empty answer is not kept"
    assert one.record == ("sessionId", "filing")


def test_the_sec_is_not_asked_without_an_address() -> None:
    model = shipped_model()

    assert model.capabilities["filings"].order == model.capabilities["facts"].order == ("edgar",)
    assert [one.name for one in model.providers["edgar"].settings.values() if one.required] == ["EDGAR_CONTACT_EMAIL"]
