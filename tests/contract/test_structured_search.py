"""structured_search keeps its contract: inputs, annotations, answers, the category check and lifetime."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.runtime.arguments import parse_arguments
from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "required": True, "minLength": 1},
    "category": {"type": "string"},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
    "schema": {"type": "object"},
    "provider": {"type": "string"},
}

CATEGORIES = ["company", "people", "research paper", "news", "pdf", "github", "financial report", "personal site"]


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("structured_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("structured_search", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("structured_search").output_schema
    item = schema["properties"]["results"]["items"]

    assert set(schema["required"]) == {"query", "category", "resultCount", "results", "provider", "trust"}
    assert set(schema["properties"]) == set(schema["required"]) | {"costUsd", "requestedNumResults"}
    assert item["required"] == ["url"]
    assert set(item["properties"]) == {
        "title",
        "url",
        "publishedDate",
        "author",
        "summary",
        "highlights",
        "entities",
    }


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_of_the_contract_is_taken(category: str) -> None:
    taken = parse_arguments(shipped_tool("structured_search"), {"query": "otters", "category": category})

    assert taken.given["category"] == category


def test_another_category_is_refused_with_the_list_of_those_that_are_known() -> None:
    with pytest.raises(Fault) as refused:
        parse_arguments(shipped_tool("structured_search"), {"query": "otters", "category": "weather"})

    assert refused.value.kind == "validation"
    assert refused.value.message.endswith(", ".join(CATEGORIES))


def test_annotations_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("structured_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 3600


def test_one_provider_is_asked_and_paid_for() -> None:
    strategies = shipped_tool("structured_search").plan

    assert [one.kind for one in strategies] == ["call"]
    assert shipped_model().capabilities["structured"].order == ("exa",)
