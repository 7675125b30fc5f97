"""brand_research keeps its contract: inputs, annotations and every documented part of the answer."""

from __future__ import annotations

from typing import Any

from specloom.model.tool import Tool
from tests.support.shipped import shipped_model, shipped_tool

ALWAYS = {
    "identity",
    "colors",
    "logos",
    "typography",
    "tone_of_voice",
    "social",
    "sources",
    "coverage",
    "cache_age",
    "trust",
}
SOMETIMES = {"guidelines_url", "brand_portal_resource", "suggestion", "design_tokens", "tier_errors", "notices"}
PARTS: dict[str, set[str]] = {
    "identity": {"name", "domain", "tagline", "description", "industry", "founded", "location"},
    "colors": {"primary", "secondary", "accent", "background", "text", "surface", "text_secondary", "palette"},
    "logos": {"primary", "dark", "icon", "favicon", "og_image"},
    "typography": {"heading", "body", "mono", "google_fonts_url", "scale"},
    "tone_of_voice": {"summary", "attributes", "dos_and_donts"},
    "social": {"twitter", "linkedin", "github", "youtube", "facebook", "instagram"},
    "coverage": {"colors", "logos", "typography", "tone_of_voice", "extraction_blocked"},
}


def _properties(tool: Tool, *path: str) -> dict[str, Any]:
    at: dict[str, Any] = dict(tool.output_schema)
    for key in path:
        at = at["items"] if key == "[]" else at["properties"][key]
    found: dict[str, Any] = at["properties"]
    return found


def test_the_output_schema_has_every_documented_key() -> None:
    one = shipped_tool("brand_research")

    assert set(one.output_schema["required"]) == ALWAYS
    assert set(one.output_schema["properties"]) == ALWAYS | SOMETIMES
    for part, keys in PARTS.items():
        assert set(_properties(one, part)) == keys, part
    assert set(_properties(one, "colors", "palette", "[]")) == {"hex", "name", "role", "brightness"}
    assert set(_properties(one, "logos", "primary")) == {"url", "format", "width", "height"}
    assert set(_properties(one, "typography", "heading")) == {"family", "weights", "origin", "origin_id"}
    assert set(_properties(one, "sources", "[]")) == {"name", "url", "fields", "scrapeQuality"}


def test_coverage_is_told_in_the_words_of_the_contract() -> None:
    coverage = _properties(shipped_tool("brand_research"), "coverage")

    for part in ("colors", "logos", "typography"):
        assert coverage[part]["enum"] == ["full", "partial", "none"]
    assert coverage["tone_of_voice"]["enum"] == ["found", "none"]


def test_an_answer_is_not_kept_longer_than_the_text_that_it_names() -> None:
    """What was found is remembered by domain and depth inside; a kept answer would name a resource that is gone."""
    assert shipped_tool("brand_research").cache is None


def test_the_index_of_brands_is_a_choice_and_no_condition() -> None:
    model = shipped_model()

    assert "BRANDFETCH_API_KEY" in model.providers["brandfetch"].settings
    assert "BRANDFETCH_CLIENT_ID" in model.providers["brandfetch_search"].settings
