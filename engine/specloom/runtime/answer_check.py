"""Answers held against the JSON Schema that their tool publishes."""

from __future__ import annotations

from typing import Any

from specloom.core import Fault
from specloom.model import Tool


def check_answer(tool: Tool, answer: dict[str, Any]) -> None:
    """Nothing, or an `internal` fault that names the first part of an answer that does not fit its published schema."""
    from jsonschema import Draft7Validator

    for error in Draft7Validator(tool.output_schema).iter_errors(answer):
        where = "/".join(str(part) for part in error.absolute_path) or "the answer"
        raise Fault("internal", f"{tool.name}: {where} does not fit the published schema", detail=error.message[:300])
