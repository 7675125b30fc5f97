"""What the contract tests of single tools share: what a tool publishes, and the contract to hold a table against."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from specloom.model.tool import BUDGET, Tool

ROOT = Path(__file__).parents[2]
# Read when the tests are collected: while they run, the environment is empty.
CONTRACT = Path(os.environ.get("SPECLOOM_CONTRACT") or ROOT.parent / "shared" / "spec" / "tools-contract.json")
_PROSE = {"description", "pattern", "items"}
_WORDS = {"int": "integer", "string": "string", "bool": "boolean"}
_BOUNDS = re.compile(r"(\d+)\s*[-–]\s*(\d+)")

Table = Mapping[str, Mapping[str, Any]]


def published_inputs(tool: Tool) -> dict[str, dict[str, Any]]:
    """The inputs as the schema publishes them, without descriptions, patterns and item schemas; with `required`.

    The budget of an answer, which every tool with one has alike, is left out.
    """
    schema = tool.input_schema
    needed = schema.get("required", ())
    return {
        key: {word: value for word, value in said.items() if word not in _PROSE}
        | ({"required": True} if key in needed else {})
        for key, said in schema["properties"].items()
        if key != BUDGET
    }


def check_against_contract_json(name: str, table: Table, *, added: Collection[str] = ()) -> None:
    """Hold a hand-written table of inputs against the published contract; skips the test where that is not at hand.

    `added` are inputs of a newer edition. Defaults in words are not compared, nor bounds where the contract has none.
    """
    if not CONTRACT.exists():
        pytest.skip("the published contract is not at hand (SPECLOOM_CONTRACT)")
    published = json.loads(CONTRACT.read_text(encoding="utf-8"))[name]["input"]

    assert set(table) == set(published) | set(added)
    for key, said in published.items():
        here = table[key]
        assert here["type"] == _WORDS.get(said["type"], here["type"]), key
        assert here.get("required", False) == (said["required"] == "yes"), key
        if " " not in said["default"]:
            assert json.dumps(here.get("default", "—"), ensure_ascii=False).strip('"') == said["default"], key
        bounds = _BOUNDS.match(said["constraints"])
        if here["type"] == "integer" and bounds:
            assert [here["minimum"], here["maximum"]] == [int(bound) for bound in bounds.groups()], key
        for value in here.get("enum", ()):
            assert value in said["constraints"], key


def outline(schema: Mapping[str, Any]) -> Any:
    """The keys of a schema with their types: `key?` where one may be missing, `a | b` for a closed list."""
    if schema.get("properties"):
        needed = set(schema.get("required", ()))
        return {key + "?" * (key not in needed): outline(value) for key, value in schema["properties"].items()}
    if isinstance(schema.get("items"), Mapping):
        return [outline(schema["items"])]
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    said = schema.get("type", "any")
    return "/".join(said) if isinstance(said, list) else said
