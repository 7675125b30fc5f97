"""search_and_scrape keeps its contract: inputs, annotations, answers and links; it is not kept as a whole."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "required": True, "minLength": 1, "maxLength": 500},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
    "include_sources": {"type": "boolean", "default": True},
    "deduplicate": {"type": "boolean", "default": True},
    "max_length_per_source": {"type": "integer", "minimum": 1, "maximum": 5_000_000, "default": 50_000},
    "total_max_length": {"type": "integer", "minimum": 1, "maximum": 5_000_000, "default": 300_000},
    "filter_by_query": {"type": "boolean", "default": False},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
    "claim": {"type": "string", "maxLength": 2000},
}
KEYS = {
    "query",
    "status",
    "sources",
    "combinedContent",
    "trust",
    "scrapeFailures",
    "note",
    "summary",
    "sizeMetadata",
    "_contextSource",
    "recommendations",
    "components",
    "hints",
    "requestedNumResults",
    "requestedMaxLengthPerSource",
    "requestedTotalMaxLength",
}
LINKED = {"resource", "bytes", "mimeType", "summary", "expiresAt", "linked", "sourceCount", "status"}
OF_A_SOURCE = {
    "url",
    "title",
    # What a citation needs beside the documented fields.
    "author",
    "site",
    "detectedDoi",
    "content",
    "contentType",
    "trust",
    "scores",
    "sourceType",
    "authorityTier",
    "domainCategory",
    "claimSignal",
    "keySentences",
    "publishedAt",
    "extractionQuality",
    "wordCount",
}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("search_and_scrape")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("search_and_scrape", INPUTS)


def test_the_output_schema_has_every_documented_key() -> None:
    properties = shipped_tool("search_and_scrape").output_schema["properties"]

    assert set(properties) == KEYS | LINKED
    source = properties["sources"]["items"]["properties"]
    assert set(source) == OF_A_SOURCE
    assert set(source["scores"]["properties"]) == {"overall", "relevance", "freshness", "authority", "contentQuality"}
    failure = properties["scrapeFailures"]["items"]["properties"]
    assert set(failure) == {"url", "kind", "reason", "retryable", "suggestedAction"}
    inlined, linked = properties["summary"]["anyOf"]
    assert {"urlsSearched", "urlsScraped", "urlsFailed", "processingTimeMs"} <= set(inlined["properties"])
    assert linked == {"type": "string"}, "a linked answer has a sentence in the same place"


def test_annotations_and_link_are_those_of_the_contract_and_nothing_is_kept() -> None:
    one = shipped_tool("search_and_scrape")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is None
    assert one.link is not None
    assert one.link.above == 24 * 1024
    assert one.record == ("sessionId", "web")
