"""local_search keeps its contract: inputs, annotations, answers, hints and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 400},
    "near": {"type": "string"},
    "latitude": {"type": "number", "minimum": -90, "maximum": 90},
    "longitude": {"type": "number", "minimum": -180, "maximum": 180},
    "radius": {"type": "number", "minimum": 0, "default": 0},
    "country": {"type": "string"},
    "units": {"type": "string", "enum": ["metric", "imperial"]},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"places", "query", "resultCount", "provider", "trust"}
SOMETIMES = {"requestedNumResults", "hints"}
OF_A_PLACE = {
    "id",
    "name",
    "address",
    "lat",
    "lon",
    "phone",
    "website",
    "categories",
    "rating",
    "ratingCount",
    "hours",
    "description",
    "source",
}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("local_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("local_search", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("local_search").output_schema
    item = schema["properties"]["places"]["items"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert item["required"] == ["name"]
    assert set(item["properties"]) == OF_A_PLACE


def test_annotations_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("local_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 6 * 3600
    assert one.cache.ignore == ("sessionId",)
    assert one.cache.unless is not None, "an empty answer is not kept"
    assert one.record == ("sessionId", "local")


def test_brave_answers_with_its_key() -> None:
    model = shipped_model()

    assert model.capabilities["places"].order == ("brave",)
    assert "BRAVE_API_KEY" in model.providers["brave"].settings
