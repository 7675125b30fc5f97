"""verify_recommendation keeps its contract: inputs, annotations and answers."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "recommendations": {"type": "array", "required": True, "maxItems": 100},
    "claim": {"type": "string", "maxLength": 2000},
    "numCorroborationResults": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
}
ITEM = {
    "title", "url", "author", "selfPromotionSignal", "conflictOfInterest", "corporateOwnershipSignal",
    "domainReputation", "linkLive", "httpStatus", "corroborationSearches", "flags", "reasons",
}  # fmt: skip
SEARCH = {
    "query", "lens", "resultCount", "agreeCount", "disagreeCount", "silentCount", "topResults", "flags",
}  # fmt: skip


def test_inputs_are_those_of_the_contract() -> None:
    check_against_contract_json("verify_recommendation", INPUTS)
    one = shipped_tool("verify_recommendation")

    assert published_inputs(one) == INPUTS
    items = one.input_schema["properties"]["recommendations"]["items"]
    assert set(items["properties"]) == {"title", "url", "author", "authorBio"}
    assert items["required"] == ["title"]


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("verify_recommendation").output_schema
    item = schema["properties"]["recommendations"]["items"]["properties"]

    assert set(schema["required"]) == {"itemCount", "recommendations", "trust"}
    assert set(schema["properties"]) == {
        *schema["required"], "aggregateFlags", "requestedNumCorroborationResults",
    }  # fmt: skip
    assert set(item) == ITEM | {"archivedUrl"}
    assert set(item["corroborationSearches"]["items"]["properties"]) == SEARCH
    assert {"conflict_of_interest", "dead_link", "unknown_reputation", "low_reputation"} <= set(
        item["flags"]["items"]["enum"]
    )
    assert schema["properties"]["aggregateFlags"]["items"]["enum"] == ["no_independent_corroboration"]


def test_annotations_are_those_of_the_contract() -> None:
    one = shipped_tool("verify_recommendation")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
