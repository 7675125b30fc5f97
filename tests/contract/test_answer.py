"""answer keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "required": True, "minLength": 1},
    "provider": {"type": "string"},
}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("answer")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("answer", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("answer").output_schema
    citation = schema["properties"]["citations"]["items"]

    assert set(schema["required"]) == {"answer", "citations", "provider", "trust"}
    assert set(schema["properties"]) == {"answer", "citations", "provider", "costUsd", "trust"}
    assert citation["required"] == ["url"]
    assert citation["properties"] == {name: {"type": "string"} for name in ("title", "url", "publishedDate")}


def test_annotations_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("answer")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 3600


def test_one_provider_is_asked_and_paid_for() -> None:
    strategies = shipped_tool("answer").plan

    assert [one.kind for one in strategies] == ["call"]
    assert shipped_model().capabilities["answer"].order == ("exa",)
