"""research_export keeps its contract: inputs, annotations, answers and links."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "sessionId": {"type": "string", "required": True, "minLength": 1, "maxLength": 128},
    "format": {"type": "string", "enum": ["markdown", "json"], "default": "markdown"},
    "verify_links": {"type": "boolean", "default": False},
}
KEYS = {
    "sessionId",
    "format",
    "researchGoal",
    "stepCount",
    "sourceCount",
    "startedAt",
    "exportedAt",
    "tenantId",
    "document",
    "trust",
}
LINKED = {"resource", "bytes", "mimeType", "summary", "expiresAt", "linked"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("research_export")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("research_export", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    assert set(shipped_tool("research_export").output_schema["properties"]) == KEYS | LINKED


def test_annotations_and_link_are_those_of_the_contract_and_nothing_is_kept() -> None:
    one = shipped_tool("research_export")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    assert one.cache is None
    assert one.link is not None
    assert one.link.above == 24 * 1024
    assert one.opt_in == ""
