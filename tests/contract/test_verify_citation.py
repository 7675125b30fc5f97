"""verify_citation keeps its contract: inputs, annotations, answers and freshness."""

from __future__ import annotations

from typing import Any

from tests.support.contract import check_against_contract_json, published_inputs
from tests.support.shipped import shipped_tool

INPUTS: dict[str, dict[str, Any]] = {
    "citation": {"type": "string", "required": True, "minLength": 1, "maxLength": 8192},
    "claim": {"type": "string", "maxLength": 2000},
}


def test_inputs_are_those_of_the_contract() -> None:
    # The contract writes nothing where there is no default.
    check_against_contract_json("verify_citation", {key: {**said, "default": ""} for key, said in INPUTS.items()})

    report = {"type": "string", "enum": ["html", "markdown", "docx"]}
    assert published_inputs(shipped_tool("verify_citation")) == {**INPUTS, "report": report}
