"""archive_source keeps its contract: inputs, annotations and answers."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {"url": {"type": "string", "required": True, "minLength": 1, "maxLength": 8192}}


def test_inputs_are_those_of_the_contract() -> None:
    # The contract writes nothing where there is no default.
    check_against_contract_json("archive_source", {key: {**said, "default": ""} for key, said in INPUTS.items()})

    assert published_inputs(shipped_tool("archive_source")) == INPUTS
