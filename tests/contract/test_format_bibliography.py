"""format_bibliography keeps its contract: inputs, annotations and answers."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "style": {"type": "string", "enum": ["apa", "mla", "bibtex", "ris", "csl-json"], "default": "apa"},
    "sessionId": {"type": "string", "maxLength": 128},
    "sources": {"type": "array", "maxItems": 2000},
}


def test_inputs_are_those_of_the_contract() -> None:
    check_against_contract_json("format_bibliography", INPUTS)
    one = shipped_tool("format_bibliography")

    assert published_inputs(one) == INPUTS
    assert set(one.input_schema["properties"]["sources"]["items"]["properties"]) == {
        "url", "title", "author", "site", "date", "doi",
    }  # fmt: skip


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("format_bibliography").output_schema

    assert set(schema["required"]) == {"style", "entryCount", "bibliography", "trust"}
    assert set(schema["properties"]) == {*schema["required"], "sessionId", "skipped", "skippedNote"}


def test_annotations_are_those_of_the_contract_and_nobody_is_asked() -> None:
    one = shipped_tool("format_bibliography")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    assert one.cache is None
