"""Every tool keeps the contract of tools.yaml: inputs, hints, lifetime, links and every key of its answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.model import BUDGET, NOTICES
from tests.support.contract import check_against_contract_json, outline, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

CONTRACT: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("tools.yaml").read_text("utf-8"))
# Tools of the published contract, with their inputs of a newer edition.
PUBLISHED: dict[str, set[str]] = {
    "academic_search": {
        *("depth", "full_text", "date_from", "date_to"),
        *("author", "venue", "type", "field", "language", "min_citations"),
    },
    "answer": set(),
    "brand_research": set(),
    "citation_graph": set(),
    "clinical_search": {"phase", "outcome", "country", "min_enrollment", "completed_from", "has_results"},
    "econ_search": {"dimensions"},
    "filing_search": set(),
    "format_bibliography": {"bibliography", "format", "source"},
    "legal_search": {"judge", "docket_number", "cites"},
    "local_search": set(),
    "patent_search": {"depth", "legal_status", "claims", "family"},
    "research_export": set(),
    "scrape_page": {"links", "images"},
    "search_and_scrape": {"format"},
    "sequential_search": {"resolvedGaps"},
    "structured_search": set(),
    "verify_recommendation": set(),
}

CURSOR = "cursor"
"""The input by which an answer is gone on with; it is added to the contract, as are the keys that belong to it."""
GOING_ON = ("nextCursor?", "moreExists?")
WIDER = {
    "academic_search": 100,
    "filing_search": 50,
    "legal_search": 50,
    "local_search": 50,
    "patent_search": 50,
    "web_search": 50,
}
"""Tools that give more rows than the contract wants, and how many; their defaults are the contract's."""


def without(mapping: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The mapping without what the engine gives every tool that has a budget, or whose answers can be gone on with."""
    return {name: value for name, value in mapping.items() if name not in keys}


def test_the_contract_has_every_tool_but_those_of_the_paper_store_and_of_the_library() -> None:
    tools = {name for name, tool in shipped_model().tools.items() if not {"papers", "library"} & set(tool.toolsets)}

    assert set(CONTRACT) == tools


@pytest.mark.parametrize("name", CONTRACT)
def test_inputs_are_those_of_the_contract(name: str) -> None:
    tool = shipped_tool(name)
    inputs = published_inputs(tool)
    for key, schema in tool.input_schema["properties"].items():
        if "items" in schema:
            inputs[key]["items"] = outline(schema["items"])

    expected = {key: dict(schema) for key, schema in CONTRACT[name]["inputs"].items()}
    if name in WIDER:
        expected["num_results"]["maximum"] = WIDER[name]
    assert without(inputs, BUDGET, CURSOR) == expected


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_inputs_here_are_those_of_the_published_contract(name: str) -> None:
    inputs = dict(CONTRACT[name]["inputs"])
    if name == "sequential_search":
        # The published contract names the mode that is chosen when none is forced only as the default.
        inputs["responseMode"] = {**inputs["responseMode"], "enum": ["full", "summary"]}
    if name == "academic_search":
        # One more order than it wants.
        inputs["sort_by"] = {**inputs["sort_by"], "enum": ["relevance", "date"]}

    if name == "research_export":
        # A page and a file for word processors beside what it wants.
        inputs["format"] = {**inputs["format"], "enum": ["markdown", "json"]}

    check_against_contract_json(name, inputs, added=PUBLISHED[name])


@pytest.mark.parametrize("name", CONTRACT)
def test_the_answer_has_every_key_of_the_contract_and_no_other(name: str) -> None:
    outlined = outline(shipped_tool(name).output_schema)
    assert without(outlined, f"{NOTICES}?", *GOING_ON) == CONTRACT[name]["answer"]


@pytest.mark.parametrize("name", CONTRACT)
def test_hints_lifetime_links_and_switch_are_those_of_the_contract(name: str) -> None:
    tool, contract = shipped_tool(name), CONTRACT[name]
    cache = tool.cache
    kept = cache and {
        "seconds": cache.ttl,
        "ignoring": [key for key in cache.ignore if key != BUDGET],
        "unless": cache.unless is not None,
    }

    assert [hint for hint, holds in tool.annotations.items() if holds] == contract["hints"]
    assert kept == contract.get("kept")
    assert (tool.link.above if tool.link else None) == contract.get("linked_above")
    assert list(tool.record or ()) == contract.get("recorded", [])
    assert (tool.opt_in or None) == contract.get("switch")


def test_a_key_that_goes_or_comes_is_noticed() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"items": {"enum": ["x", "y"]}}}, "required": ["a"]}

    assert outline(schema) == {"a": "string", "b?": ["x | y"]}
    assert outline({**schema, "required": []}) != outline(schema)
