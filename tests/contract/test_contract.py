"""The tools keep their contract: inputs, types, bounds, defaults, enums, annotations, and documented output keys.

The tables here are the contract's, written out by hand; where the published contract is at hand as data, they are held
against it too.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from specloom.model import BUDGET, NOTICES
from specloom.model.model import Model
from specloom.model.tool import Tool
from tests.support.shipped import shipped_model

ROOT = Path(__file__).parents[2]
CONTRACT = Path(os.environ.get("SPECLOOM_CONTRACT", ROOT.parent / "shared" / "spec" / "tools-contract.json"))
ADDED = {"web_search": {"sites", "depth", "date_from", "date_to", "file_type"}, "news_search": {"depth"}}
"""Inputs of a newer edition than the table of the contract."""

CURSOR = "cursor"
GOING_ON = {"nextCursor", "moreExists"}
"""What belongs to going on with an answer, which is added to the contract."""
WIDER = {"web_search": 50}
"""Tools that give more rows than the contract wants, and how many; their defaults are the contract's."""

SAFE = ["off", "medium", "high"]
INPUTS: dict[str, dict[str, dict[str, Any]]] = {
    "web_search": {
        "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 500},
        "num_results": {"type": "integer", "default": 5, "minimum": 1, "maximum": 10},
        "time_range": {"type": "string", "enum": ["day", "week", "month", "year"]},
        "safe": {"type": "string", "default": "medium", "enum": SAFE},
        "language": {"type": "string"},
        "site": {"type": "string"},
        "sites": {"type": "array", "maxItems": 10},
        "exact_terms": {"type": "string"},
        "exclude_terms": {"type": "string"},
        "country": {"type": "string"},
        "lens": {"type": "string"},
        "provider": {"type": "string"},
        "depth": {"type": "string", "default": "quick", "enum": ["quick", "wide"]},
        "date_from": {"type": "string"},
        "date_to": {"type": "string"},
        "file_type": {"type": "string"},
        "sessionId": {"type": "string"},
        "claim": {"type": "string", "maxLength": 2000},
    },
    "image_search": {
        "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 500},
        "num_results": {"type": "integer", "default": 5, "minimum": 1, "maximum": 200},
        "size": {"type": "string", "enum": ["huge", "icon", "large", "medium", "small", "xlarge", "xxlarge"]},
        "type": {"type": "string", "enum": ["clipart", "face", "lineart", "stock", "photo", "animated"]},
        "color_type": {"type": "string", "enum": ["color", "gray", "mono", "trans"]},
        "dominant_color": {
            "type": "string",
            "enum": "black blue brown gray green orange pink purple red teal white yellow".split(),  # noqa: SIM905
        },
        "file_type": {"type": "string", "enum": ["jpg", "gif", "png", "bmp", "svg", "webp"]},
        "safe": {"type": "string", "default": "medium", "enum": SAFE},
        "country": {"type": "string"},
        "language": {"type": "string"},
        "provider": {"type": "string"},
    },
    "news_search": {
        "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 500},
        "num_results": {"type": "integer", "default": 5, "minimum": 1, "maximum": 50},
        "time_range": {"type": "string", "default": "week", "enum": ["hour", "day", "week", "month", "year"]},
        "sort_by": {"type": "string", "default": "relevance", "enum": ["relevance", "date"]},
        "news_source": {"type": "string"},
        "country": {"type": "string"},
        "language": {"type": "string"},
        "safe": {"type": "string", "enum": ["off", "moderate", "strict"]},
        "depth": {"type": "string", "default": "quick", "enum": ["quick", "wide"]},
        "provider": {"type": "string"},
        "sessionId": {"type": "string"},
    },
}
OUTPUTS: dict[str, tuple[str, set[str], set[str], set[str], set[str]]] = {
    # the list, keys that always stand, keys that may stand, and the same two for an item of the list
    "web_search": (
        "results",
        {"urls", "query", "resultCount", "results", "trust"},
        {"hints", "requestedNumResults", "notApplied", "removed"},
        {"title", "url", "snippet", "displayLink"},
        {"sourceReputation", "claimSignal", "publishedAt", "engagement", "extraSnippets", "foundBy", "snippetFrom"},
    ),
    "image_search": (
        "images",
        {"images", "query", "resultCount", "trust"},
        {"hints", "requestedNumResults", "notApplied"},
        {"title", "link", "displayLink"},
        {"thumbnailLink", "contextLink", "width", "height", "fileSize", "license", "attribution"},
    ),
    "news_search": (
        "articles",
        {"articles", "query", "resultCount", "trust"},
        {"hints", "requestedNumResults", "notApplied", "removed", "warning"},
        {"title", "url", "source", "snippet"},
        {"publishedAt", "extraSnippets", "engagement", "foundBy", "sourceType", "isSocialMedia"},
    ),
}
LIFETIMES = {"web_search": 1800, "image_search": 1800, "news_search": 900}


@pytest.fixture(scope="module")
def model() -> Model:
    return shipped_model()


def tool(model: Model, name: str) -> Tool:
    return model.tools[name]


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_are_those_of_the_contract(model: Model, name: str) -> None:
    schema = tool(model, name).input_schema

    published = {
        key: {word: said[word] for word in said if word not in {"description", "pattern", "items"}}
        | ({"required": True} if key in schema["required"] else {})
        for key, said in schema["properties"].items()
    }

    for key, wanted in INPUTS[name].items():
        found = dict(published[key])
        if key in {
            "lens",
            "provider",
            "sessionId",
            "site",
            "exact_terms",
            "exclude_terms",
            "country",
            "language",
            "news_source",
        }:
            found = {word: found[word] for word in wanted}
        wider = {"maximum": WIDER[name]} if key == "num_results" and name in WIDER else {}
        assert found == {**wanted, **wider}, key
    assert set(published) - {BUDGET, CURSOR} == set(INPUTS[name])


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_output_schema_has_every_documented_key(model: Model, name: str) -> None:
    rows, always, maybe, row_always, row_maybe = OUTPUTS[name]

    schema = tool(model, name).output_schema
    item = schema["properties"][rows]["items"]

    assert set(schema["required"]) == always
    assert set(schema["properties"]) - {NOTICES, *GOING_ON} == always | maybe
    assert set(item["required"]) == row_always
    assert set(item["properties"]) == row_always | row_maybe


@pytest.mark.parametrize("name", INPUTS)
def test_hints_and_lifetimes_are_those_of_the_contract(model: Model, name: str) -> None:
    one = tool(model, name)

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == LIFETIMES[name]


def test_all_twenty_lenses_can_be_chosen(model: Model) -> None:
    assert len(model.lenses) == 20
    assert set(tool(model, "web_search").inputs["lens"].choices) == set(model.lenses)


@pytest.mark.skipif(not CONTRACT.exists(), reason="the published contract is not at hand (SPECLOOM_CONTRACT)")
@pytest.mark.parametrize("name", INPUTS)
def test_the_table_here_is_that_of_the_published_contract(name: str) -> None:
    published = json.loads(CONTRACT.read_text(encoding="utf-8"))[name]

    words = {"int": "integer", "string": "string", "bool": "boolean"}

    assert set(INPUTS[name]) == set(published["input"]) | ADDED.get(name, set())
    for key, said in published["input"].items():
        here = INPUTS[name][key]
        assert here["type"] == words[said["type"]], key
        assert here.get("required", False) == (said["required"] == "yes"), key
        default = said["default"]
        assert str(here.get("default", "—")) == default, key
        if here["type"] == "integer":
            assert said["constraints"].startswith(f"{here['minimum']}-{here['maximum']}"), key
        for value in here.get("enum", []):
            assert value in said["constraints"], key
