"""Arguments as models really send them, repaired, checked, filled up with defaults and moved into bounds; their key."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from specloom.core import Fault, Secret, dataclass, did_you_mean, field, find_nearest, is_day, replace
from specloom.language import MAX_CAPTURED, evaluate, truthy
from specloom.model import BUDGET, Input, Model, Tool

_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list of texts",
    "object": "an object",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 80
_MOST_OBJECT = 20_000
"""Bytes of an object as JSON; a schema of ten fields has a few hundred."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Checked arguments with defaults; `requested` has the original of every number that was moved to a bound."""

    given: dict[str, Any]
    requested: dict[str, Any] = field(default_factory=dict)
    explicit: frozenset[str] = frozenset()
    """The inputs that the caller set, as opposed to those filled with a default."""


class Digest(Protocol):
    """A digest under way, as `hashlib` makes them."""

    def copy(self) -> Digest:
        """Another that goes on from here."""

    def update(self, data: bytes, /) -> None:
        """Digest more."""

    def hexdigest(self) -> str:
        """What it comes to."""


class _Problem(NamedTuple):
    """What is wrong with a value in a sentence, which argument or field of one it is, and what is near to it."""

    sentence: str
    argument: str
    near: str = ""


def parse_arguments(tool: Tool, raw: Mapping[str, Any] | None) -> Arguments:
    """The arguments of a call, or a `validation` fault that says which field, what was given and what is allowed."""
    given: dict[str, Any] = {}
    requested: dict[str, Any] = {}
    raw = raw or {}
    for name in raw:
        if name not in tool.inputs:
            everything = f"known: {', '.join(sorted(tool.inputs))}" if tool.inputs else "it takes none"
            hint = did_you_mean(name, tool.inputs) or everything
            sentence = f"{tool.name} has no argument {name[:_SHOWN]!r}; {hint}"
            raise _refused(tool, _Problem(sentence, name[:_SHOWN], find_nearest(name[:_SHOWN], tool.inputs)))
    for one in tool.inputs.values():
        value = raw.get(one.name)
        if value is not None:
            value = _repaired(one, value)
        if value is None or (value == "" and not one.required):
            if one.required:
                raise _refused(tool, _Problem(f"{one.name} is required: {one.description}", one.name))
            continue
        wrong = _problem(one, value)
        if wrong:
            raise _refused(tool, wrong)
        if _stands_for_default(one, value):
            continue
        if one.clamp:
            bounded = _clamped(one, value)
            if bounded != value:
                requested[one.name] = value
                value = bounded
        given[one.name] = value
    explicit = frozenset(given)
    for one in tool.inputs.values():
        if one.default is not None and one.name not in given:
            given[one.name] = one.default
    if tool.checks:
        _check_together(tool, given, requested)
    return Arguments(given, requested, explicit)


def _check_together(tool: Tool, given: dict[str, Any], requested: dict[str, Any]) -> None:
    """Raise the fault of the first check of a tool that refuses what its arguments are together."""
    values: dict[str, Any] = {}
    context = {"args": given, "requested": requested, "now": 0.0, "values": values, "config": {}}
    needs_values = any(path[0] == "values" for check in tool.checks for one in check for path in one.uses)
    for name, definition in tool.values if needs_values else ():
        # What depends on who can be asked is not known yet, and no check may hang on it.
        known = all(path[0] in {"args", "requested", "now"} for path in definition.uses)
        values[name] = evaluate(definition, context) if known else None
    for refuse, message in tool.checks:
        if truthy(evaluate(refuse, context)):
            names = {path[1] for path in refuse.uses if path[0] == "args" and len(path) > 1}
            raise _refused(tool, _Problem(str(evaluate(message, context)), names.pop() if len(names) == 1 else ""))


def bound_budget(arguments: Arguments, most: int) -> Arguments:
    """The arguments with the tokens of the answer within what an operator admits, so that plans keep to it as well."""
    asked = arguments.given.get(BUDGET)
    if not asked or asked <= most:
        return arguments
    requested = arguments.requested
    if BUDGET in arguments.explicit:
        requested = {BUDGET: asked, **requested}
    return replace(arguments, given={**arguments.given, BUDGET: most}, requested=requested)


def _stands_for_default(one: Input, value: Any) -> bool:
    """Whether a number says that none was given: zero does where at least one is wanted (the tool contract's rule)."""
    return one.clamp and one.default is not None and (one.minimum or 0) > 0 and value == 0


def _repaired(one: Input, value: Any) -> Any:
    """What was meant: JSON inside text, numbers as text, one text for a list, blanks around text."""
    if value is None:
        return None
    if one.items:
        return _repaired_items(one, value)
    if one.kind == "list":
        if isinstance(value, str):
            text = value.strip()
            if text.startswith("["):
                parsed = _json(text)
                return parsed if isinstance(parsed, list) else [text]
            return [text] if text else None
        return value
    if one.kind == "object" and isinstance(value, str):
        parsed = _json(value) if value.strip() else None
        return parsed if isinstance(parsed, dict) else value.strip() or None
    if not isinstance(value, str):
        if one.kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value)
        if one.kind == "string" and isinstance(value, (int, float)) and not isinstance(value, bool):
            return str(value)
        return value
    text = value.strip()
    if one.kind == "string":
        return text
    if text == "":
        return None
    if one.kind == "boolean" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if one.kind == "integer" and re.fullmatch(r"[-+]?\d{1,18}(?:\.0+)?", text):
        return int(text.partition(".")[0])
    if one.kind == "number" and re.fullmatch(r"[-+]?\d{1,18}(?:\.\d+)?(?:[eE][-+]?\d{1,2})?", text):
        return float(text)
    return value


def _repaired_items(one: Input, value: Any) -> Any:
    """A list of objects from JSON inside text, whole or item by item, and from one object alone; empty fields go."""
    if isinstance(value, str):
        parsed = _json(value)
        value = parsed if isinstance(parsed, (list, dict)) else value.strip() or None
    if isinstance(value, dict):
        value = [value]
    return [_repaired_item(one, item) for item in value] if isinstance(value, list) else value


def _repaired_item(one: Input, item: Any) -> Any:
    if isinstance(item, str) and isinstance(parsed := _json(item), dict):
        item = parsed
    if not isinstance(item, dict):
        return item
    fields = {field.name: field for field in one.items}
    given = {name: _repaired(fields[name], said) if name in fields else said for name, said in item.items()}
    return {name: said for name, said in given.items() if name not in fields or said not in (None, "")}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _problem(one: Input, value: Any) -> _Problem | None:
    """What is wrong with a value; None when nothing is."""
    if one.items:
        return _items_problem(one, value)
    if not _is_kind(one.kind, value):
        return _Problem(f"{one.name} is {_show(value)}; it should be {_WORDS[one.kind]}", one.name)
    if one.kind == "string":
        return _text_problem(one, value, one.name)
    if one.kind == "object":
        return _object_problem(one, value)
    if one.kind == "list":
        if too_many := _too_many(one, value):
            return too_many
        found = (_text_problem(one, item, f"{one.name}[{index}]") for index, item in enumerate(value))
        return next(filter(None, found), None)
    if one.kind in {"integer", "number"} and not one.clamp:
        below = one.minimum is not None and value < one.minimum
        if below or (one.maximum is not None and value > one.maximum):
            return _Problem(f"{one.name} is {value}; it may be {_bounds(one)}", one.name)
    return None


def _too_many(one: Input, value: list[Any]) -> _Problem | None:
    if one.max_items is None or len(value) <= one.max_items:
        return None
    return _Problem(f"{one.name} has {len(value)} items; it may have {one.max_items}", one.name)


def _items_problem(one: Input, value: Any) -> _Problem | None:
    if not isinstance(value, list):
        return _Problem(f"{one.name} is {_show(value)}; it should be a list of objects", one.name)
    if too_many := _too_many(one, value):
        return too_many
    return next(filter(None, (_item_problem(one, item, f"{one.name}[{at}]") for at, item in enumerate(value))), None)


def _item_problem(one: Input, item: Any, place: str) -> _Problem | None:
    """What is wrong with one object of a list; `place` is its name in the sentence."""
    fields = {field.name: field for field in one.items}
    if not isinstance(item, dict):
        return _Problem(f"{place} is {_show(item)}; it should be an object with {', '.join(fields)}", place)
    for name in item:
        if name not in fields:
            sentence = f"{place} has no field {_show(name)}; {did_you_mean(name, fields)}"
            return _Problem(sentence, f"{place}.{name[:_SHOWN]}", find_nearest(name[:_SHOWN], fields))
    for field_ in fields.values():
        if field_.name not in item:
            if field_.required:
                return _Problem(f"{place} needs {field_.name}: {field_.description}", f"{place}.{field_.name}")
        elif wrong := _problem(replace(field_, name=f"{place}.{field_.name}"), item[field_.name]):
            return wrong
    return None


def _object_problem(one: Input, value: dict[str, Any]) -> _Problem | None:
    """An object is sent on as it is, so it has to be JSON, and no larger than a caller needs."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (ValueError, TypeError, RecursionError, UnicodeEncodeError):
        return _Problem(f"{one.name} is no JSON object: it holds something that JSON cannot say", one.name)
    if size <= _MOST_OBJECT:
        return None
    return _Problem(f"{one.name} has {size} bytes as JSON; it may have {_MOST_OBJECT}", one.name)


def _text_problem(one: Input, value: str, name: str) -> _Problem | None:
    wrong = _say_wrong(one, value, name)
    if not wrong:
        return None
    is_choice = one.choices and value not in one.choices
    return _Problem(wrong, name, find_nearest(value[:_SHOWN], one.choices) if is_choice else "")


def _say_wrong(one: Input, value: str, name: str) -> str:
    """What is wrong with a text, in a sentence; "" when nothing is."""
    if _SURROGATE.search(value):
        return f"{name} holds half a character (a lone surrogate); send whole text"
    if one.choices and value not in one.choices:
        if one.catalogue.startswith("providers."):
            return ""  # resolved when the plan runs, because unknown and unconfigured names are different answers
        return f"{name} is {_show(value)}; it may be {', '.join(one.choices)}"
    if one.min_length is not None and len(value) < one.min_length:
        return f"{name} is {_show(value)}; it needs at least {one.min_length} character{'s'[: one.min_length > 1]}"
    if one.max_length is not None and len(value) > one.max_length:
        return f"{name} has {len(value)} characters; it may have {one.max_length}"
    if one.pattern and len(value) > (most := one.max_length or MAX_CAPTURED):
        return f"{name} has {len(value)} characters; it may have {most}"
    if one.pattern and not re.fullmatch(one.pattern, value):
        return f"{name} is {_show(value)}; it should be {one.says or one.pattern}"
    if one.format and not is_day(value):
        return f"{name} is {_show(value)}, which no calendar has; it should be {one.says}"
    return ""


def _is_kind(kind: str, value: Any) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "object":
        return isinstance(value, dict)
    if isinstance(value, bool):
        return False
    if kind == "list":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == "number":
        return isinstance(value, (int, float)) and math.isfinite(value)
    return isinstance(value, int if kind == "integer" else str)


def _clamped(one: Input, value: Any) -> Any:
    if one.minimum is not None and value < one.minimum:
        return int(one.minimum) if one.kind == "integer" else one.minimum
    if one.maximum is not None and value > one.maximum:
        return int(one.maximum) if one.kind == "integer" else one.maximum
    return value


def _bounds(one: Input) -> str:
    if one.minimum is None:
        return f"at most {one.maximum:g}"
    if one.maximum is None:
        return f"at least {one.minimum:g}"
    return f"{one.minimum:g} to {one.maximum:g}"


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _refused(tool: Tool, problem: _Problem) -> Fault:
    argument = problem.argument
    detail = argument and f"argument {argument} of {tool.name}"
    sentence, near = problem.sentence, problem.near
    return Fault("validation", sentence, detail=detail, action="fix_arguments", argument=argument, near=near)


# --- The key under which the answer to arguments is kept: all that can change it, and nothing that can be read back ---


def digest_prefix(
    tool: Tool,
    model: Model,
    orders: Iterable[Mapping[str, tuple[str, ...]]],
    settings: Mapping[str, Mapping[str, Any]],
    own: Mapping[str, Any],
) -> Digest:
    """The digest, so far, of what is the same for every call of a tool: the specs and settings behind it, and who is
    asked in which order, and who there is beside them."""
    parts: list[Any] = [model.digest, tool.name, tool.digest, tool.cache.shape if tool.cache else 0, _plain(own)]
    parts += [{name: list(order) for name, order in one.items()} for one in orders]
    parts.append({name: _plain(values) for name, values in settings.items()})
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode())


def answer_key(tool: Tool, arguments: Arguments, prefix: Digest, owner: str) -> str:
    """SHA-256 of the prefix, as far as that is known, and of all inputs but those which are proved to change nothing.

    What the caller wrote out counts apart from what was filled in, because hints tell them apart.
    """
    ignored = tool.cache.ignore if tool.cache else ()
    explicit = (name for name in arguments.explicit if name not in ignored and tool.inputs[name].default is not None)
    given = {name: value for name, value in arguments.given.items() if name not in ignored}
    requested = {name: value for name, value in arguments.requested.items() if name not in ignored}
    said = [given, requested, sorted(explicit), owner]
    digest = prefix.copy()
    digest.update(json.dumps(said, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they count for a digest; secrets only as digests of their own."""

    def one(value: Any) -> Any:
        if isinstance(value, Secret):
            return hashlib.sha256(b"setting\0" + value.reveal().encode()).hexdigest()
        return {name: one(inner) for name, inner in value.items()} if isinstance(value, dict) else value

    return {name: one(value) for name, value in values.items()}
