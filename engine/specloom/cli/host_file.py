"""Edits of one entry in a host's configuration (JSON, JSONC, TOML) that leave every other byte as it is.

No library of Python does this for JSONC, and those for TOML part a comment from the table that it stands above. So an
entry is spliced into the text, and what comes of it is read again and compared: it holds what was there and the entry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specloom.core import dataclass

_JSON_STRING = re.compile(r'(?<!\\)"(?:[^"\\\x00-\x1f]|\\.)*+"')
_JSON_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
_JSON_TRIVIA = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))*+")
_MOST_DEEP = 200


class HostFileError(ValueError):
    """A configuration that cannot be changed: what is wrong, and where."""


def find_entry(text: str, form: str, path: Sequence[str]) -> dict[str, Any] | None:
    """The entry at a path; None where there is none. HostFileError where the file is not valid."""
    found: Any = _read(text, form)
    for depth, key in enumerate(path):
        if not isinstance(found, Mapping):
            raise HostFileError(f"{'.'.join(path[:depth])} is no table of names")
        if key not in found:
            return None
        found = found[key]
    if not isinstance(found, dict):
        raise HostFileError(f"{'.'.join(path)} is no table of names")
    return found


def put_entry(text: str, form: str, path: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with this entry at a path, in the place of one that is there."""
    old = find_entry(text, form, path)
    if old == entry:
        return text
    if form == "toml":
        bare = text if old is None else _cut_toml(text, path)
        changed = _append_toml(bare, path, entry)
    else:
        changed = _put_json(text, path, entry, strict=form == "json")
    return _checked(text, changed, form, path, entry)


def remove_entry(text: str, form: str, path: Sequence[str]) -> str:
    """The text without the entry at a path."""
    if find_entry(text, form, path) is None:
        return text
    changed = _cut_toml(text, path) if form == "toml" else _cut_json(text, path, strict=form == "json")
    return _checked(text, changed, form, path, None)


def render_entry(form: str, path: Sequence[str], entry: Mapping[str, Any]) -> str:
    """An entry as it stands alone in a file of this form."""
    return put_entry("", form, path, entry).strip()


def _read(text: str, form: str) -> Any:
    if form == "toml":
        import tomllib

        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise HostFileError(str(error)) from None
    return _JsonReader(text, strict=form == "json").read().value if text.strip() else {}


def _checked(before: str, after: str, form: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    """The text after a change, once it was seen to change the entry alone; what it was put into may be new."""
    wanted = _read(before, form)
    table = wanted
    for key in path[:-1]:
        table = table.setdefault(key, {})
    table.pop(path[-1], None)
    if entry is not None:
        table[path[-1]] = entry
    try:
        is_right = _pruned(_read(after, form), path) == _pruned(wanted, path)
    except HostFileError:
        is_right = False
    if not is_right:
        raise HostFileError(f"{'.'.join(path[:-1])} is written in a way that nothing can be added to or taken from")
    return after


def _pruned(document: Any, path: Sequence[str]) -> Any:
    """A document without the tables on a path that hold nothing: TOML has no place for them."""
    if path and isinstance(document, dict) and path[0] in document:
        inner = _pruned(document[path[0]], path[1:])
        return {**document, path[0]: inner} if inner else {key: one for key, one in document.items() if key != path[0]}
    return document


# --- JSON, also with comments and trailing commas: read with the place of everything ----------------------------------


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value of a JSON text, and where it stands."""

    value: Any
    start: int
    end: int
    members: tuple[JsonMember, ...] = ()


@dataclass(frozen=True, slots=True)
class JsonMember:
    """A key of an object with its value, where the key begins, and where the comma after it ends (0: there is none)."""

    key: str
    start: int
    node: JsonNode
    comma: int


class _JsonReader:
    """Reads a JSON text; comments and trailing commas are mistakes when it is strict."""

    def __init__(self, text: str, *, strict: bool) -> None:
        self.text = text
        self.strict = strict
        self.at = 0

    def read(self) -> JsonNode:
        self._skip()
        node = self._value(0)
        self._skip()
        if self.at < len(self.text):
            raise self._error("there is more after its end")
        return node

    def _value(self, depth: int) -> JsonNode:
        start, sign = self.at, self.text[self.at : self.at + 1]
        if depth > _MOST_DEEP:
            raise self._error("it is nested too deep")
        if sign == "{":
            members = self._members(depth)
            return JsonNode({one.key: one.node.value for one in members}, start, self.at, tuple(members))
        if sign == "[":
            return JsonNode(self._items(depth), start, self.at)
        if sign == '"':
            return JsonNode(self._string(), start, self.at)
        scalar = _JSON_SCALAR.match(self.text, self.at)
        if scalar is None:
            raise self._error("a value is missing")
        try:
            value = json.loads(scalar[0])
        except ValueError:
            raise self._error("a number is too long") from None
        self.at = scalar.end()
        return JsonNode(value, start, self.at)

    def _members(self, depth: int) -> list[JsonMember]:
        members: list[JsonMember] = []
        while self._goes_on("}", has_items=bool(members)):
            start, key = self.at, self._string()
            self._skip()
            self._expect(":")
            self._skip()
            node = self._value(depth + 1)
            members.append(JsonMember(key, start, node, self._comma("}")))
        return members

    def _items(self, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._goes_on("]", has_items=bool(items)):
            items.append(self._value(depth + 1).value)
            self._comma("]")
        return items

    def _goes_on(self, closing: str, *, has_items: bool) -> bool:
        """Whether there is a further part of a list or an object; what closes it is read."""
        if not has_items:
            self.at += 1
        self._skip()
        if not self.text.startswith(closing, self.at):
            return True
        self.at += 1
        return False

    def _comma(self, closing: str) -> int:
        """Where the comma after a part ends; 0 where there is none because it is the last."""
        self._skip()
        if self.text.startswith(closing, self.at):
            return 0
        self._expect(",")
        comma = self.at
        self._skip()
        if self.strict and self.text.startswith(closing, self.at):
            raise self._error("a comma stands before the end")
        return comma

    def _string(self) -> str:
        found = _JSON_STRING.match(self.text, self.at)
        if found is None:
            raise self._error('a text in "…" is missing')
        try:
            value: str = json.loads(found[0])
        except ValueError:
            raise self._error("a text cannot be read") from None
        self.at = found.end()
        return value

    def _expect(self, sign: str) -> None:
        if not self.text.startswith(sign, self.at):
            raise self._error(f"{sign!r} is missing")
        self.at += 1

    def _skip(self) -> None:
        trivia = _JSON_TRIVIA.match(self.text, self.at)
        assert trivia is not None
        if self.strict and trivia[0].strip(" \t\r\n"):
            raise self._error("a comment, which this host does not read,")
        self.at = trivia.end()

    def _error(self, message: str) -> HostFileError:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        return HostFileError(f"{message} at line {line}, column {column}")


def _find_member(node: JsonNode, key: str) -> tuple[int, JsonMember] | None:
    found = [(at, one) for at, one in enumerate(node.members) if one.key == key]
    if len(found) > 1:
        raise HostFileError(f"{key!r} is there twice")
    return found[0] if found else None


def _put_json(text: str, path: Sequence[str], entry: Mapping[str, Any], *, strict: bool) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    if not text.strip():
        return _to_json(_nested(path, entry), "", "  ", newline) + newline
    root = node = _JsonReader(text, strict=strict).read()
    unit = _indent_of(text, root.members[0].start) if root.members else None
    unit = unit or "  "
    for depth, key in enumerate(path):
        found = _find_member(node, key)
        if found is None:
            added = _nested(path[depth + 1 :], entry)
            return _insert(text, node, key, added, unit, newline)
        node = found[1].node
        owner = found[1]
    indent = _indent_of(text, owner.start)
    value = _compact(entry) if indent is None else _to_json(entry, indent, unit, newline)
    return text[: node.start] + value + text[node.end :]


def _insert(text: str, node: JsonNode, key: str, value: Any, unit: str, newline: str) -> str:
    """The text with a further member at the end of an object."""
    name = json.dumps(key, ensure_ascii=False)
    if not node.members:
        inside = text[node.start + 1 : node.end - 1]
        outer = _line_indent(text, node.start)
        inner = outer + unit
        body = f"{newline}{inner}{name}: {_to_json(value, inner, unit, newline)}{newline}{outer}"
        return text[: node.start + 1] + inside.rstrip() + body + text[node.end - 1 :]
    last = node.members[-1]
    end = last.comma or last.node.end
    place = end + len(text[end : node.end - 1].rstrip())
    indent = _indent_of(text, last.start)
    if indent is None:
        # All on one line; what follows a comment to the end of its line needs a line of its own.
        lead = newline if "//" in text[end:place] else " "
        body = f"{lead}{name}: {_compact(value)}"
    else:
        body = f"{newline}{indent}{name}: {_to_json(value, indent, unit, newline)}"
    comma = "" if last.comma else ","
    return text[: last.node.end] + comma + text[last.node.end : place] + body + text[place:]


def _cut_json(text: str, path: Sequence[str], *, strict: bool) -> str:
    node = _JsonReader(text, strict=strict).read()
    before: JsonMember | None = None
    member: JsonMember | None = None
    for key in path:
        found = _find_member(node, key)
        assert found is not None
        at, member = found
        before = node.members[at - 1] if at else None
        node = member.node
    assert member is not None
    start, end = member.start, member.comma or member.node.end
    rest = re.compile(r"(?<![ \t])[ \t]*+(?=\r?\n|$)").match(text, end)
    indent = _indent_of(text, start)
    if rest is not None and indent is not None:
        # Its lines are its own, so they go with the end of the line before.
        end = rest.end()
        start -= len(indent)
        start -= 2 if text[:start].endswith("\r\n") else 1 if text[:start].endswith("\n") else 0
    if before is not None and not member.comma:
        # What stands between is others', such as a comment; the comma is not.
        return text[: before.comma - 1] + text[before.comma : start] + text[end:]
    return text[:start] + text[end:]


def _indent_of(text: str, at: int) -> str | None:
    """The blanks before a place on its line; None where something else stands before it."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return None if line.strip(" \t") else line


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _nested(path: Sequence[str], entry: Mapping[str, Any]) -> Any:
    value: Any = dict(entry)
    for key in reversed(path):
        value = {key: value}
    return value


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _to_json(value: Any, indent: str, unit: str, newline: str) -> str:
    """JSON over several lines, but lists of plain values on one, as people write them."""
    if isinstance(value, Mapping) and value:
        inner = indent + unit
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_to_json(one, inner, unit, newline)}"
            for key, one in value.items()
        ]
        return "{" + newline + f",{newline}".join(lines) + newline + indent + "}"
    return _compact(value)


# --- TOML: a table of its own at the end of the text ------------------------------------------------------------------


def _append_toml(text: str, path: Sequence[str], entry: Mapping[str, Any]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _toml_lines(path, entry)
    if text and not text.endswith("\n"):
        text += newline
    if text.strip():
        lines = ["", *lines]
    return text + newline.join([*lines, ""])


def _toml_lines(path: Sequence[str], entry: Mapping[str, Any]) -> list[str]:
    lines = [f"[{'.'.join(map(_toml_key, path))}]"]
    tables: list[str] = []
    for key, value in entry.items():
        if isinstance(value, Mapping):
            tables += ["", *_toml_lines([*path, key], value)]
        else:
            lines.append(f"{_toml_key(key)} = {_toml_value(value)}")
    return [*lines, *tables]


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (str, bool, int)):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    return str(value.isoformat())  # a date or a time


def _cut_toml(text: str, path: Sequence[str]) -> str:
    """The text without the table at a path and those below it, but with what stands between them and the next."""
    keys = r"\s*\.\s*".join(rf"""["']?{re.escape(key)}["']?""" for key in path)
    ours = re.compile(rf"\s*\[\s*{keys}\s*(\.[^\]]*)?\]\s*(#.*)?$")
    kept: list[str] = []
    inside, waiting = False, list[str]()
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        if ours.match(bare):
            # One blank line before it came with it.
            if not inside and kept and not kept[-1].strip():
                kept.pop()
            inside, waiting = True, []
        elif inside and re.match(r"\s*\[", bare):
            inside = False
            kept += [*waiting, line]
        elif inside:
            blank = not bare.strip() or bare.lstrip().startswith("#")
            waiting = [*waiting, line] if blank else []
        else:
            kept.append(line)
    return "".join(kept + (waiting if inside else []))
