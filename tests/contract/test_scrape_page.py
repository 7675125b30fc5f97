"""scrape_page keeps its contract: inputs, annotations, answers, lifetime and links."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "url": {"type": "string", "required": True, "minLength": 1, "maxLength": 8192},
    "mode": {"type": "string", "enum": ["full", "preview", "raw"], "default": "full"},
    "max_length": {"type": "integer", "minimum": 1, "maximum": 5_000_000, "default": 50_000},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {
    "url",
    "content",
    "contentType",
    "trust",
    "contentLength",
    "truncated",
    "estimatedTokens",
    "sizeCategory",
    "citation",
    "sourceType",
    "authorityTier",
    "domainCategory",
}
SOMETIMES = {
    "raw",
    "extractedBy",
    "extractionQuality",
    "metadata",
    "structuredData",
    "forumSignals",
    "detectedDoi",
    "retractionStatus",
    "wordCount",
    "sparsityWarning",
    "highlights",
    "githubTrustSignals",
    "domainReputation",
    "selfPromotionSignal",
    "requestedMaxLength",
    "stripped",
}
LINKED = {"resource", "bytes", "mimeType", "summary", "expiresAt", "linked", "contentSizeBytes"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("scrape_page")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("scrape_page", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("scrape_page").output_schema

    assert set(schema["properties"]) == ALWAYS | SOMETIMES | LINKED
    assert schema["required"] == [], "a linked answer has none of them"
    citation = schema["properties"]["citation"]["properties"]
    assert set(citation) == {"url", "accessedDate", "metadata", "formatted"}
    assert set(citation["metadata"]["properties"]) == {"title", "author", "site", "date"}
    assert set(citation["formatted"]["properties"]) == {"apa", "mla", "bibtex"}


def test_annotations_lifetime_and_link_are_those_of_the_contract() -> None:
    one = shipped_tool("scrape_page")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 3600
    assert one.cache.ignore == ("sessionId",)
    assert one.link is not None
    assert one.link.above == 24 * 1024
    assert one.record == ("sessionId", "scraped")
