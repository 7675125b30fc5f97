"""archive_source keeps its contract: inputs, annotations and answers."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {"url": {"type": "string", "required": True, "minLength": 1, "maxLength": 8192}}
ALWAYS = {"requestedUrl", "captured", "status", "source", "provenance", "trust"}


def test_inputs_are_those_of_the_contract() -> None:
    # The contract writes nothing where there is no default.
    check_against_contract_json("archive_source", {key: {**said, "default": ""} for key, said in INPUTS.items()})

    assert published_inputs(shipped_tool("archive_source")) == INPUTS


def test_the_output_schema_has_every_documented_key() -> None:
    schema = shipped_tool("archive_source").output_schema

    assert set(schema["required"]) == ALWAYS
    assert set(schema["properties"]) == ALWAYS | {"snapshotUrl", "archivedAt", "httpStatus", "reason", "pollUrl"}
    assert schema["properties"]["status"]["enum"] == ["archived", "existing", "pending", "unavailable"]


def test_it_is_the_one_that_writes_and_nothing_is_kept() -> None:
    one = shipped_tool("archive_source")

    assert one.annotations == {"read_only": False, "destructive": False, "idempotent": True, "open_world": False}
    assert one.cache is None
