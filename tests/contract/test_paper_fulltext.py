"""paper_fulltext keeps its contract."""

from __future__ import annotations

from typing import Any

from tests.support.contract import published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "identifier": {"type": "string", "required": True, "minLength": 1, "maxLength": 2048},
    "max_length": {"type": "integer", "default": 50_000, "minimum": 1000, "maximum": 200_000},
}
ALWAYS = {"identifier", "resolvedUrl", "content", "source", "truncated", "citation", "trust"}
MAYBE = {
    "title",
    "scrapeTier",
    "tldr",
    "doi",
    "pdfUrl",
    "openAccess",
    "authors",
    "year",
    "citationCount",
    "abstract",
    "journal",
}
ADDED = {"note", "requestedMaxLength"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("paper_fulltext")) == INPUTS


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("paper_fulltext").output_schema

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | MAYBE | ADDED


def test_lifetime_and_annotations_are_those_of_the_contract() -> None:
    tool = shipped_tool("paper_fulltext")

    assert tool.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert tool.cache is not None
    assert tool.cache.ttl == 3600
    assert tool.cache.unless is not None
    assert tool.record is None


def test_archives_of_open_texts_are_asked_before_the_aggregator() -> None:
    assert shipped_model().capabilities["fulltext"].order == ("europepmc", "pubmed", "core")
