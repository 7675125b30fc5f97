"""JSON Schemas (draft-07) of the four kinds of spec, made from the one grammar, for editors that complete and check."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from .grammar import GRAMMARS
from .rules import Anything, Either, Flag, Grammar, Items, Key, Named, Number, Record, Ref, Rule, Text

DRAFT = "http://json-schema.org/draft-07/schema#"
_READ_AS = {
    "expression": "an expression",
    "selector": "a selector",
    "path": "a path; `{args.NAME}` is percent-encoded",
    "duration": "a duration such as 30s",
}

Schema = dict[str, Any]


def editor_schemas() -> dict[str, Schema]:
    """The schema of each kind of spec, by kind: what `rules.check` accepts, it accepts too."""
    return {kind: editor_schema(kind, grammar) for kind, grammar in GRAMMARS.items()}


def editor_schema(kind: str, grammar: Grammar) -> Schema:
    """The schema of one grammar."""
    named = {name: to_schema(rule) for name, rule in grammar.named.items()}
    head: Schema = {"$schema": DRAFT, "title": f"specloom {kind}", **to_schema(grammar.root)}
    return {**head, "definitions": named} if named else head


def to_schema(rule: Rule) -> Schema:
    """One rule as a schema."""
    if isinstance(rule, Ref):
        return {"$ref": f"#/definitions/{rule.name}"}
    if isinstance(rule, Either):
        return {"anyOf": [to_schema(one) for one in (rule.scalar, rule.listing, rule.mapping) if one is not None]}
    if isinstance(rule, Record):
        return _record(rule)
    if isinstance(rule, Named):
        schema: Schema = {"type": "object", "additionalProperties": to_schema(rule.value)}
        if rule.pattern:
            schema["propertyNames"] = {**_pattern(rule.pattern, rule.says)}
        return schema
    if isinstance(rule, Items):
        schema = {"type": "array", "items": to_schema(rule.item)}
        return {**schema, "minItems": rule.least} if rule.least else schema
    return _scalar(rule)


def _scalar(rule: Text | Number | Flag | Anything) -> Schema:
    if isinstance(rule, Flag):
        return {"type": "boolean"}
    if isinstance(rule, Number):
        bounds = {"minimum": rule.least, "maximum": rule.most}
        return {
            "type": "integer" if rule.whole else "number",
            **{key: value for key, value in bounds.items() if value is not None},
        }
    if isinstance(rule, Anything):
        return {"type": ["string", "number", "boolean", "null"]} if rule.scalar else {}
    if rule.choices:
        return {"type": "string", "enum": list(rule.choices)}
    return {"type": "string", **_pattern(rule.pattern, rule.says)}


def _pattern(pattern: str, says: str) -> Schema:
    """A whole-text pattern as editors search it, with the sentence that those of the VS Code family show."""
    if not pattern:
        return {}
    found: Schema = {"pattern": f"^(?:{_with_line_breaks(pattern)})$"}
    return {**found, "patternErrorMessage": f"Write {says}."} if says else found


def _with_line_breaks(pattern: str) -> str:
    """The pattern with each dot as a class that also holds line breaks, because a schema cannot say DOTALL."""
    made: list[str] = []
    escaped = in_class = False
    for sign in pattern:
        made.append(r"[\s\S]" if sign == "." and not escaped and not in_class else sign)
        if not escaped and sign in "[]":
            in_class = sign == "["
        escaped = sign == "\\" and not escaped
    return "".join(made)


def _record(rule: Record) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {name: _described(key) for name, key in rule.keys.items()},
        "additionalProperties": False,
    }
    needed = [name for name, key in rule.keys.items() if key.required]
    if needed:
        schema["required"] = needed
    groups = [_group(names, must) for names, must in rule.one_of]
    if len(groups) == 1:
        return {**schema, **groups[0]}
    return {**schema, "allOf": groups} if groups else schema


def _described(key: Key) -> Schema:
    schema = to_schema(key.rule)
    if "$ref" in schema:
        # Draft-07 ignores what stands beside a reference.
        schema = {"allOf": [schema]}
    read_as = _READ_AS.get(key.rule.means) if isinstance(key.rule, Text) else None
    return {"description": f"{key.doc} ({read_as[0].upper()}{read_as[1:]}.)" if read_as else key.doc, **schema}


def _group(names: tuple[str, ...], must: bool) -> Schema:
    """Exactly one of the keys, or at most one."""
    if must:
        return {"oneOf": [{"required": [name]} for name in names]}
    return {"not": {"anyOf": [{"required": list(pair)} for pair in combinations(names, 2)]}}
