"""The schemas that editors get say the same as the grammar that the compiler checks against."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.diagnostics import Place, Report
from specloom.specs.grammar import GRAMMARS, Text, check
from specloom.specs.json_schema import DRAFT, editor_schemas, to_schema
from specloom.specs.library import Library, load_library, shipped_root
from specloom.specs.yaml import Listing, Map, Node, YamlEntry, YamlScalar, to_plain

PLACE = Place("spec.yaml")
KINDS = sorted(GRAMMARS)

LEAST: dict[str, dict[str, Any]] = {
    "provider": {
        "spec": "provider/1",
        "name": "demo",
        "title": "Demo",
        "service": {"base": "https://demo.example"},
        "operations": {"find": {"input": ["query"], "steps": [{"get": "/", "json": {"map": {"title": "title"}}}]}},
    },
    "capability": {
        "spec": "capability/1",
        "name": "find",
        "title": "Find",
        "description": "What is found.",
        "routing": {"order": ["demo"]},
        "arguments": {"query": {"type": "text", "description": "What is asked."}},
        "row": {"title": {"type": "text", "description": "Its title."}},
    },
    "tool": {
        "spec": "tool/1",
        "name": "demo_find",
        "title": "Find",
        "description": "Finds.",
        "annotations": {"read_only": True, "destructive": False, "idempotent": True, "open_world": True},
        "input": {"query": {"type": "string", "description": "What is asked."}},
        "plan": [{"name": "ask", "first_of": {"providers": "=route.find", "operation": "find"}}],
        "answer": {"rows": "=rows"},
    },
    "toolset": {"spec": "toolset/1", "name": "demo", "instructions": ["Ask {demo_find} first."]},
    "resource": {
        "spec": "resource/1",
        "name": "rows",
        "uri": "demo://rows",
        "title": "Rows",
        "description": "What was found.",
        "answer": {"rows": "=[]"},
    },
    "lens": {
        "spec": "lens/1",
        "name": "demo-field",
        "title": "Demo",
        "description": "A field.",
        "domains": ["demo.example"],
        "example": {"query": "x", "makes": ["x site:demo.example"]},
    },
    "collection": {
        "spec": "collection/1",
        "name": "demo_notes",
        "title": "Notes",
        "description": "Notes of a user.",
        "scope": "user",
        "encryption": "author",
        "limits": {"items": 10, "value": "4KiB"},
    },
}
"""The smallest spec of each kind."""


@cache
def library() -> Library:
    return load_library([shipped_root()], Report())


@cache
def validator(kind: str) -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(editor_schemas()[kind])


def to_node(value: Any) -> Node:
    """A plain value as the loader would give it."""
    if isinstance(value, dict):
        return Map({key: YamlEntry(key, PLACE, to_node(inner)) for key, inner in value.items()}, PLACE)
    if isinstance(value, list):
        return Listing(tuple(to_node(inner) for inner in value), PLACE)
    return YamlScalar(value, PLACE)


def grammar_accepts(kind: str, value: Any) -> bool:
    node = to_node(value)
    return isinstance(node, Map) and check(node, GRAMMARS[kind], Report())


def edited(kind: str, *changes: tuple[tuple[Any, ...], Any]) -> dict[str, Any]:
    """The smallest spec with values put at paths; `...` as the value removes the key."""
    spec = copy.deepcopy(LEAST[kind])
    for path, value in changes:
        inside: Any = spec
        for step in path[:-1]:
            inside = inside[step]
        if value is ...:
            del inside[path[-1]]
        else:
            inside[path[-1]] = value
    return spec


def broken(kind: str, *changes: tuple[tuple[Any, ...], Any]) -> tuple[str, dict[str, Any]]:
    return kind, edited(kind, *changes)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_valid_draft_07(kind: str) -> None:
    schema = editor_schemas()[kind]

    jsonschema.Draft7Validator.check_schema(schema)

    assert schema["$schema"] == DRAFT


@pytest.mark.parametrize("kind", KINDS)
def test_every_shipped_spec_fits_its_schema(kind: str) -> None:
    specs = library().of(kind)

    problems = [
        f"{spec.source.file}: {error.json_path}: {error.message}"
        for spec in specs.values()
        for error in validator(kind).iter_errors(to_plain(spec.root))
    ]

    assert specs
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_spec_fits(kind: str) -> None:
    assert grammar_accepts(kind, LEAST[kind])
    assert validator(kind).is_valid(LEAST[kind])


STEP = ("operations", "find", "steps", 0)
BROKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "an unknown key": broken("provider", (("titel",), "x")),
    "a missing key": broken("provider", (("service",), ...)),
    "another kind": broken("provider", (("spec",), "tool/1")),
    "a name that is no name": broken("provider", (("name",), "Demo API")),
    "a base without https": broken("provider", (("service", "base"), "ftp://demo.example")),
    "an unknown key of a step": broken("provider", ((*STEP, "querry"), {})),
    "two verbs": broken("provider", ((*STEP, "post"), "/")),
    "two decoders": broken("provider", ((*STEP, "xml"), {})),
    "no decoder": broken("provider", ((*STEP, "json"), ...)),
    "no steps": broken("provider", (("operations", "find", "steps"), [])),
    "a list where a mapping belongs": broken("provider", ((*STEP, "query"), ["q"])),
    "an unknown converter": broken("provider", ((*STEP, "json", "map", "title"), {"at": "t", "then": ["shout"]})),
    "a field with both forms": broken("provider", ((*STEP, "json", "map", "title"), {"at": "t", "each": "t"})),
    "an operation that is no name": broken("provider", (("operations", "Find It"), {})),
    "a setting in lower case": broken("provider", (("config",), {"demo_key": {"description": "A key."}})),
    "a rate without a time": broken("provider", (("service", "limits"), {"rate": "3"})),
    "an unknown kind of fault": broken("provider", (("service", "errors"), [{"when": "a", "kind": "sad"}])),
    "a number that is text": broken("provider", (("service", "limits"), {"concurrency": "3"})),
    "a reply with two bodies": broken(
        "provider",
        (
            ("examples",),
            [{"name": "x", "operation": "find", "replies": {"main": {"json": 1, "text": ""}}, "expect": {}}],
        ),
    ),
    "a row field without a description": broken("capability", (("row", "title", "description"), ...)),
    "an unknown type": broken("capability", (("row", "title", "type"), "word")),
    "an annotation that is text": broken("tool", (("annotations", "read_only"), "yes")),
    "an unknown outcome": broken("tool", (("plan", 0, "on"), {"tired": "next"})),
    "a stage that does two things": broken("tool", (("after",), [{"take": "`1`", "keep": "a"}])),
    "an empty text": broken("tool", (("description",), "  ")),
    "a collection in the clear": broken("collection", (("encryption",), "none")),
    "a limit without a unit": broken("collection", (("limits", "value"), "4096")),
    "a domain with a scheme": broken("lens", (("domains",), ["https://demo.example"])),
    "nothing at all": ("provider", {}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_the_grammar_refuses_the_schema_refuses(what: str) -> None:
    kind, spec = BROKEN[what]

    assert not grammar_accepts(kind, spec)
    assert not validator(kind).is_valid(spec)


SHIPPED = [(spec.kind, name) for kind in KINDS for name, spec in library().of(kind).items()]
INSTEAD = st.sampled_from(
    [None, True, 0, 7, -1, 1.5, "", " ", "x", "a b", "line\nbreak", "Q-1", [], {}, ["x"], [{}], {"x": "y"}, {"x": {}}]
)


@given(st.data())
def test_schema_and_grammar_agree_about_shipped_specs_with_one_change(data: st.DataObject) -> None:
    kind, name = data.draw(st.sampled_from(SHIPPED))
    spec = to_plain(library().of(kind)[name].root)
    inside: Any = spec
    key: Any = None
    for _ in range(data.draw(st.integers(1, 7))):
        if key is not None:
            inside = inside[key]
        key = data.draw(st.sampled_from(list(inside) if isinstance(inside, dict) else range(len(inside))))
        if not isinstance(inside[key], dict | list) or not inside[key]:
            break

    change = data.draw(st.sampled_from(["replace", "remove", "add", "rename"]))
    if change == "replace" or not isinstance(inside, dict):
        inside[key] = data.draw(INSTEAD)
    elif change == "add":
        inside["no_such_key"] = data.draw(INSTEAD)
    else:
        value = inside.pop(key)
        if change == "rename":
            inside[f"{key}x"] = value

    assert validator(kind).is_valid(spec) == grammar_accepts(kind, spec)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_described(kind: str) -> None:
    """An editor shows the grammar's own words beside each key."""
    grammar = GRAMMARS[kind]

    said = editor_schemas()[kind]["properties"]

    assert {name: one["description"] for name, one in said.items()}.keys() == grammar.root.keys.keys()
    assert all(said[name]["description"].startswith(key.doc) for name, key in grammar.root.keys.items())


def test_a_pattern_holds_for_the_whole_text_and_over_line_breaks() -> None:
    schema = to_schema(Text("prose", r"\s*\S.*", "say it in a sentence"))

    found = [jsonschema.Draft7Validator(schema).is_valid(text) for text in ("one\ntwo\n", "\n\n", "")]

    assert found == [True, False, False]


def test_a_dot_in_a_class_or_behind_a_backslash_stays_a_dot() -> None:
    assert to_schema(Text("x", r"[.a]\.b."))["pattern"] == r"^(?:[.a]\.b[\s\S])$"
