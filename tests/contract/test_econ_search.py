"""econ_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "maxLength": 500},
    "series_id": {"type": "string"},
    "country": {"type": "string", "default": "WLD"},
    "date_from": {"type": "string"},
    "date_to": {"type": "string"},
    "frequency": {"type": "string", "enum": ["d", "w", "m", "q", "a"]},
    "units": {"type": "string", "maxLength": 40},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 1000},
    "provider": {"type": "string"},
}
ALWAYS = {"results", "mode", "resultCount", "trust"}
SOMETIMES = {
    "query",
    "seriesId",
    "country",
    "requestedNumResults",
    "notApplied",
    "provider",
    "truncationWarning",
    "hints",
}
OF_SERIES = {"seriesId", "title", "units", "frequency", "lastUpdated", "popularity", "notes"}
OF_OBSERVATIONS = {"seriesId", "title", "units", "date", "value", "available", "notes"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("econ_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("econ_search", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("econ_search").output_schema
    item = schema["properties"]["results"]["items"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert item["required"] == ["seriesId"]
    assert set(item["properties"]) == OF_SERIES | OF_OBSERVATIONS


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("econ_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 6 * 3600
    assert one.cache.unless is not None, "an empty answer is not kept"


def test_the_four_providers_are_asked_in_the_order_of_the_contract() -> None:
    model = shipped_model()

    for name in ("series", "observations"):
        assert model.capabilities[name].order == ("fred", "worldbank", "oecd", "eurostat")
        assert set(model.offering(name)) == {"fred", "worldbank", "oecd", "eurostat"}


def test_only_fred_wants_a_key() -> None:
    wanted = {
        name: list(shipped_model().providers[name].settings) for name in ("fred", "worldbank", "oecd", "eurostat")
    }

    assert wanted == {"fred": ["FRED_API_KEY"], "worldbank": [], "oecd": [], "eurostat": []}
