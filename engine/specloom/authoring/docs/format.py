"""The keys of the spec language as tables, read from the one grammar."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specloom.core import Rate
from specloom.language import Any_, Choice, ListOf, Maybe, RecordType, Scalar, Shape
from specloom.model import Service, Step
from specloom.specs import (
    GRAMMARS,
    Anything,
    Either,
    Flag,
    Grammar,
    Items,
    Named,
    Number,
    RecordRule,
    Rule,
    RuleReference,
    Text,
)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key: what it holds, whether it must stand, what it means."""

    name: str
    holds: str
    required: bool
    doc: str


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one record, and where in a file it stands."""

    path: str
    name: str
    rows: tuple[KeyRow, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KindPage:
    """All records of one kind of spec, the outermost first."""

    name: str
    tables: tuple[KeyTable, ...]


def list_kinds() -> list[KindPage]:
    """Every kind of spec with its tables."""
    return [KindPage(name, tuple(_tables(grammar))) for name, grammar in GRAMMARS.items()]


def _tables(grammar: Grammar) -> Iterator[KeyTable]:
    found: dict[tuple[KeyRow, ...], KeyTable] = {}
    roots: list[tuple[str, Rule]] = [("", grammar.root), *((f"({name})", rule) for name, rule in grammar.named.items())]
    for start, root in roots:
        for path, record in _records(root, start):
            rows = tuple(KeyRow(name, describe(key.rule), key.required, key.doc) for name, key in record.keys.items())
            table = KeyTable(path, record.name, rows, tuple(_group(names, must) for names, must in record.one_of))
            # Records that stand in several places, such as request bodies, are shown once.
            if found.setdefault(rows, table) is table:
                yield table


def _records(rule: Rule, path: str) -> Iterator[tuple[str, RecordRule]]:
    if isinstance(rule, RecordRule):
        yield path, rule
        for name, key in rule.keys.items():
            yield from _records(key.rule, f"{path}.{name}" if path else name)
    elif isinstance(rule, Items):
        yield from _records(rule.item, f"{path}[]")
    elif isinstance(rule, Named):
        yield from _records(rule.value, f"{path}.NAME")
    elif isinstance(rule, Either):
        for one in (rule.scalar, rule.listing, rule.mapping):
            if one is not None:
                yield from _records(one, path)


def _group(names: tuple[str, ...], must: bool) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"{'Exactly' if must else 'At most'} one of {listed}."


def describe(rule: Rule) -> str:
    """What a rule wants, in words."""
    if isinstance(rule, RuleReference):
        return {"value": "a request value", "field": "a field", "converter": "a converter"}.get(rule.name, rule.name)
    if isinstance(rule, Either):
        return " or ".join(describe(one) for one in (rule.scalar, rule.listing, rule.mapping) if one is not None)
    if isinstance(rule, RecordRule):
        return "a mapping"
    if isinstance(rule, Named):
        inner = describe(rule.value)
        return "names, each with " + (inner if inner != "a mapping" else "a mapping of its own")
    if isinstance(rule, Items):
        return f"a list, each {describe(rule.item)}"
    return _scalar(rule)


def _scalar(rule: Text | Number | Flag | Anything) -> str:
    if isinstance(rule, Flag):
        return "true or false"
    if isinstance(rule, Number):
        bounds = [f"{word} {bound:g}" for word, bound in (("from", rule.least), ("to", rule.most)) if bound is not None]
        return " ".join(["a whole number" if rule.whole else "a number", *bounds])
    if isinstance(rule, Anything):
        return "a single value" if rule.scalar else "any value"
    if rule.means == "kind":
        return "a kind of [fault](faults.md)" + (" or `empty`" if "empty" in rule.choices else "")
    if rule.choices:
        return "one of " + ", ".join(f"`{choice}`" for choice in rule.choices)
    read = {"expression": "an expression", "selector": "a selector", "path": "a path", "duration": "a duration"}
    if rule.means in read:
        return read[rule.means]
    return f"text: {rule.says}" if rule.says and rule.means != "prose" else "text"


# --- How values are written in generated pages: Markdown that survives any text, and amounts as people write them -----


_TIMES = (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0))
_SIZES = (("MiB", 1024 * 1024), ("KiB", 1024), ("B", 1))


def to_line(text: object) -> str:
    """The text on one line."""
    return " ".join(str(text).split())


def to_comment(text: str) -> str:
    """The text as the lines of a comment, without the sign before the first."""
    return "\n# ".join(textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False))


def to_prose(text: object) -> str:
    """Text of a spec as Markdown prose: nothing in it is markup."""
    return re.sub(r"([\\<*_\[\]])", r"\\\1", str(text).strip())


def to_cell(text: object) -> str:
    """Prose for one cell of a table."""
    return re.sub(r"([\\<|])", r"\\\1", to_line(text))


def to_code(text: object) -> str:
    """The text as inline code, also where it holds backticks or, in a table, bars."""
    shown = to_line(text).replace("|", r"\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def to_codes(texts: Any) -> str:
    """Several texts as inline code, with commas."""
    return ", ".join(to_code(text) for text in texts)


def to_json(value: Any) -> str:
    """The value as compact JSON."""
    return json.dumps(value, ensure_ascii=False)


def to_pretty(value: Any) -> str:
    """The value as JSON over several lines, its first key on the first line."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return re.sub(r"\A\{\n  ", "{", text)


def to_duration(seconds: float) -> str:
    """Seconds in the largest unit that leaves a whole number."""
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    unit, size = next((unit, size) for unit, size in (*_TIMES, ("s", seconds)) if seconds % size == 0 or unit == "s")
    return f"{seconds / (size if unit != 's' else 1):g} {unit}"


def to_size(count: int) -> str:
    """Bytes in the largest unit that leaves a whole number."""
    unit, size = next((unit, size) for unit, size in _SIZES if count % size == 0)
    return f"{count // size} {unit}"


def to_rate(rate: Rate) -> str:
    """A rate as specs write it."""
    unit, size = next(((unit, size) for unit, size in _TIMES if rate.per == size), ("s", 1.0))
    return f"{rate.count:g}/{'' if rate.per == size else f'{rate.per:g}'}{unit}"


def to_kind(shape: Shape) -> str:
    """A shape in words."""
    if isinstance(shape, Maybe):
        return f"{to_kind(shape.shape)} or null"
    if isinstance(shape, ListOf):
        return "list" if isinstance(shape.item, Any_) else f"list of {to_kind(shape.item)}"
    if isinstance(shape, Choice):
        return "text"
    if isinstance(shape, RecordType):
        return "object"
    return shape.kind if isinstance(shape, Scalar) else "anything"


def to_type(schema: Mapping[str, Any]) -> str:
    """The type that a JSON Schema asks for, in words."""
    found = schema.get("type", "anything")
    inner = schema.get("items")
    if found == "array" and inner:
        return f"list of {to_type(inner)}" if to_type(inner) != "anything" else "list"
    return {"string": "text", "array": "list"}.get(found, str(found))


def to_address(step: Step, service: Service) -> str:
    """The URL of a step, with a placeholder for what depends on the call."""
    base = service.base
    parts = [part if isinstance(part, str) else f"{{{part.text}}}" for part in step.path]
    host = str(base.evaluate({})) if base.constant else f"{{{base.text.removeprefix('=')}}}"
    return (step.base or host).rstrip("/") + "".join(parts)


FILTERS: dict[str, Callable[..., object]] = {
    "line": to_line,
    "prose": to_prose,
    "comment": to_comment,
    "cell": to_cell,
    "code": to_code,
    "codes": to_codes,
    "json": to_json,
    "pretty": to_pretty,
    "duration": to_duration,
    "size": to_size,
    "rate": to_rate,
    "kind": to_kind,
    "type": to_type,
    "address": to_address,
}
"""What templates may call, by name."""
