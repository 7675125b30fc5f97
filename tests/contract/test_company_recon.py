"""company_recon keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

from tests.support.contract import published_inputs
from tests.support.shipped import shipped_tool

PHASES = ["profiling", "ct_logs", "archives", "web"]
INPUTS: dict[str, dict[str, Any]] = {
    "target": {"type": "string", "required": True, "minLength": 2, "maxLength": 253},
    "phases": {"type": "array", "maxItems": 4},
    "num_results": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"target", "sources", "cert_sans", "archive_urls", "subdomains", "phase_errors", "cache_age", "trust"}
ITEMS: dict[str, set[str]] = {
    "sources": {"phase", "name", "url"},
    "cert_sans": {"domain", "issuer", "not_before", "not_after", "logged_at"},
    "archive_urls": {"url", "timestamp", "status_code", "mime_type", "category"},
    "subdomains": {"subdomain", "source"},
    "phase_errors": {"phase", "error"},
}


def test_inputs_are_those_of_the_contract() -> None:
    one = shipped_tool("company_recon")

    assert published_inputs(one) == INPUTS
    assert one.input_schema["properties"]["phases"]["items"] == {"type": "string", "enum": PHASES}


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("company_recon").output_schema

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | {"domain", "profile", "requestedNumResults"}
    for name, keys in ITEMS.items():
        assert set(schema["properties"][name]["items"]["properties"]) == keys
    assert schema["properties"]["cache_age"] == {"type": "integer"}
    assert set(schema["properties"]["profile"]["properties"]) == {"summary"}


def test_annotations_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("company_recon")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": False, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 24 * 3600
    assert one.cache.unless is not None, "an answer that lacks a phase is not kept"
