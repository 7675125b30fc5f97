"""Writes metadata as TOML in one fixed layout, so that two writers of one entry give the same bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from .codes import Refusal

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}

INLINE = frozenset({"repaired_fields"})
"""Tables that stand inside another table, on one line."""


def write_toml(entry: Mapping[str, Any]) -> str:
    """The entry with `schema_version` first, then keys in alphabetical order, then tables, each after an empty line.

    STORE_ERROR for a table inside a table, which this layout has no place for: nothing is dropped silently.
    """
    plain = {key: value for key, value in entry.items() if not isinstance(value, Mapping)}
    tables = {key: value for key, value in entry.items() if isinstance(value, Mapping)}
    order = [*(["schema_version"] if "schema_version" in plain else []), *sorted(set(plain) - {"schema_version"})]
    lines = [f"{_key(key)} = {_value(plain[key], key)}" for key in order]
    for name in sorted(tables):
        lines += ["", f"[{_key(name)}]"]
        for key in sorted(tables[name]):
            value = tables[name][key]
            if isinstance(value, Mapping) and key not in INLINE:
                raise Refusal("STORE_ERROR", f"The entry cannot be written: [{name}.{key}] is a table inside a table.")
            lines.append(f"{_key(key)} = {_value(value, key)}")
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any, key: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value) if "\n" not in value else _lines(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ("nan" if math.isnan(value) else "inf" if value > 0 else "-inf")
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list):
        return "[" + ", ".join(_text(one) if isinstance(one, str) else _value(one, key) for one in value) + "]"
    if isinstance(value, Mapping) and key in INLINE:
        return "{ " + ", ".join(f"{_key(name)} = {_value(value[name], name)}" for name in sorted(value)) + " }"
    raise Refusal("STORE_ERROR", f"The entry cannot be written: {key} is a {type(value).__name__} inside a list.")


def _text(value: str) -> str:
    return f'"{"".join(_escaped(one) for one in value)}"'


def _lines(value: str) -> str:
    body = "".join(one if one == "\n" else _escaped(one) for one in value)
    return f'"""\n{body}"""'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return f"\\u{ord(character):04X}" if character < " " or character == "\x7f" else character
