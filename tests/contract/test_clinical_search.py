"""clinical_search keeps its contract: inputs, annotations, answers and lifetime."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.runtime.arguments import parse_arguments
from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_model, shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "query": {"type": "string", "maxLength": 500},
    "condition": {"type": "string", "maxLength": 500},
    "intervention": {"type": "string", "maxLength": 500},
    "sponsor": {"type": "string", "maxLength": 500},
    "status": {"type": "string"},
    "phase": {"type": "string", "enum": ["EARLY_PHASE1", "PHASE1", "PHASE2", "PHASE3", "PHASE4"]},
    "num_results": {"type": "integer", "default": 10, "minimum": 1, "maximum": 100},
    "provider": {"type": "string"},
    "sessionId": {"type": "string", "maxLength": 128},
}
ALWAYS = {"trials", "query", "resultCount", "trust"}
SOMETIMES = {"provider", "phase", "hints", "requestedNumResults"}
TRIAL = {"nctId", "title", "status", "phases", "conditions", "interventions", "url"}
MAYBE = {"sponsor", "startDate", "hasResults", "source"}


def test_inputs_are_those_of_the_contract() -> None:
    assert published_inputs(shipped_tool("clinical_search")) == INPUTS


def test_the_table_here_is_that_of_the_published_contract() -> None:
    check_against_contract_json("clinical_search", INPUTS, added={"phase"})


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("clinical_search").output_schema
    trial = schema["properties"]["trials"]["items"]

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | SOMETIMES
    assert set(trial["required"]) == TRIAL
    assert set(trial["properties"]) == TRIAL | MAYBE


def test_hints_and_lifetime_are_those_of_the_contract() -> None:
    one = shipped_tool("clinical_search")

    assert one.annotations == {"read_only": True, "destructive": False, "idempotent": True, "open_world": True}
    assert one.cache is not None
    assert one.cache.ttl == 6 * 3600
    assert one.cache.ignore == ("sessionId",)
    assert one.cache.unless is not None, "an empty answer is not kept"
    assert one.record == ("sessionId", "clinical")


def test_one_of_four_inputs_is_needed() -> None:
    with pytest.raises(Fault) as refused:
        parse_arguments(shipped_tool("clinical_search"), {"status": "RECRUITING", "phase": "PHASE3"})

    assert refused.value.kind == "validation"


def test_the_registry_needs_no_key() -> None:
    model = shipped_model()

    assert model.capabilities["trials"].order == ("clinicaltrials",)
    assert not model.providers["clinicaltrials"].settings
