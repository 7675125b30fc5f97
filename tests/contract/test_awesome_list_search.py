"""awesome_list_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "topic": {"type": "string", "maxLength": 100},
    "query": {"type": "string", "maxLength": 100},
    "min_stars": {"type": "integer", "minimum": 0},
    "min_projects": {"type": "integer", "minimum": 0},
    "sort_by": {"type": "string", "enum": ["stars", "projects", "updated"], "default": "stars"},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
OF_A_LIST = {"name", "fullName", "url", "description", "projectsCount", "stars", "topics", "lastSyncedAt", "source"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("awesome_list_search")) == INPUTS


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("awesome_list_search").output_schema
    item = schema["properties"]["lists"]["items"]

    assert set(schema["required"]) == {"lists", "query", "resultCount", "provider", "trust"}
    assert set(schema["properties"]) == set(schema["required"]) | {"requestedNumResults", "hints"}
    assert set(item["required"]) == {"name", "url"}
    assert set(item["properties"]) == OF_A_LIST


def test_annotations_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("awesome_list_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 6 * 3600
    assert one.cache.unless is not None, "an empty answer is not kept"


def test_nobody_needs_a_key_and_github_comes_second() -> None:
    model = shipped_model()

    assert model.capabilities["awesome_lists"].order == ("ecosystems", "github")
    for name in ("ecosystems", "github"):
        assert not [one for one in model.providers[name].settings.values() if one.required]
