"""YAML 1.2 text becomes a tree in which every key and every value knows its place."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

import yaml

from specloom.core import Place, Report, dataclass

# --- The tree of a spec: every key and every value knows its place ----------------------------------------------------


Plain = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class YamlScalar:
    """A single value: text, a number, true, false or null."""

    value: Plain
    place: Place
    verbatim: bool = False
    """The text stands on one line exactly as written, so an offset into it is an offset into the line."""
    shift: int = 0

    def at(self, offset: int, width: int = 1) -> Place:
        """The place of a character inside the text; the start where the text was folded or escaped."""
        if not self.verbatim:
            return self.place
        return Place(self.place.file, self.place.line, self.place.column + self.shift + offset, width)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of values."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """One key of a mapping with its value."""

    key: str
    place: Place
    value: Node


@dataclass(frozen=True, slots=True)
class Map:
    """A mapping, in the order it was written."""

    entries: Mapping[str, YamlEntry]
    place: Place

    def get(self, key: str) -> Node | None:
        """The value of a key, or None."""
        entry = self.entries.get(key)
        return entry.value if entry else None

    def __iter__(self) -> Iterator[YamlEntry]:
        return iter(self.entries.values())

    def __contains__(self, key: str) -> bool:
        return key in self.entries


Node = YamlScalar | Listing | Map


def texts_of(node: Node) -> Iterator[str]:
    """Every text among the values of a tree, in its order; keys are none."""
    if isinstance(node, YamlScalar):
        if isinstance(node.value, str):
            yield node.value
        return
    for part in [entry.value for entry in node] if isinstance(node, Map) else node.items:
        yield from texts_of(part)


def to_plain(node: Node | None) -> Any:
    """The value without places, as `json.loads` would give it."""
    if node is None:
        return None
    if isinstance(node, YamlScalar):
        return node.value
    if isinstance(node, Listing):
        return [to_plain(item) for item in node.items]
    return {entry.key: to_plain(entry.value) for entry in node}


MAX_BYTES = 1024 * 1024  # the largest spec written so far has 40 KiB
MAX_DEPTH = 64
MAX_VALUES = 50_000  # the largest has 3,000
MAX_PROBLEMS = 100

YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# The core schema of YAML 1.2 (§10.3.2): `on`, `no` and `off` are text, and so are dates.
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOL = re.compile(r"(?:(true|True|TRUE)|false|False|FALSE)\Z")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_OCT_HEX = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")


@dataclass(frozen=True, slots=True)
class SourceText:
    """One spec file: its name as shown to people, its text, and its tree (None when it could not be read as YAML)."""

    file: str
    text: str
    root: Map | None


def decode_source(data: bytes) -> str:
    """The text of a spec as its digest is taken of; "" of one that is too large to be read."""
    if len(data) > MAX_BYTES:
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#")
_MARK = re.compile(r"# ?decide: ?(.*)")


def find_marks(source: SourceText) -> list[tuple[Place, str]]:
    """What comments of a spec mark as `decide`, each with its place; a text that reads so is none."""
    if "decide:" not in source.text:
        return []
    try:
        tokens = list(yaml.scan(source.text, Loader=YAML_LOADER))
    except yaml.YAMLError:
        return []
    texts = [(one.start_mark.index, one.end_mark.index) for one in tokens if isinstance(one, yaml.ScalarToken)]
    marks, at = [], 0
    for number, line in enumerate(source.text.split("\n"), start=1):
        for sign in _COMMENT.finditer(line) if "decide:" in line else ():
            start = at + sign.start()
            if any(first <= start < last for first, last in texts):
                continue
            if found := _MARK.match(line, sign.start()):
                place = Place(source.file, number, sign.start() + 1, len(found[0].rstrip()))
                marks.append((place, found[1].strip()))
            break
        at += len(line) + 1
    return marks


def parse_source(file: str, data: bytes, report: Report, *, skip: frozenset[str] = frozenset()) -> SourceText:
    """Read one file; what is wrong with it is reported with its place, and the tree is then None.

    Keys of the root in `skip` are passed over without building what stands under them.
    """
    start = Place(file)
    if len(data) > MAX_BYTES:
        report.add("E008", start, f"the file is too large: a spec may have {MAX_BYTES:,} bytes", "split it")
        return SourceText(file, "", None)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        place = Place(file, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
        byte = f"0x{data[error.start]:02X}"
        report.add("E006", place, f"the byte {byte} at {error.start:,} is not UTF-8", "save the file as UTF-8")
        return SourceText(file, data.decode("utf-8", "replace"), None)
    foreign = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if foreign is not None:
        lines = f"{text[: foreign.start()]}.".splitlines()  # a stop in place of the sign, which may itself break lines
        place = Place(file, len(lines), len(lines[-1]))
        message = f"not valid YAML: the character U+{ord(foreign[0]):04X} cannot be seen and may not stand here"
        report.add("E001", place, message, "remove it")
        return SourceText(file, text, None)
    builder = _TreeBuilder(file, report, skip)
    try:
        root = builder.build(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else start
        # libyaml 0.2.6 and newer have a limit of their own, which its scanner may reach before ours is.
        if "maximum nesting depth" in (error.problem or ""):
            report.add("E008", place, f"more than {MAX_DEPTH} levels deep")
        else:
            report.add("E001", place, _sentence(error), _hint(error, text))
        return SourceText(file, text, None)
    except _StopError:
        return SourceText(file, text, None)
    except yaml.YAMLError as error:
        report.add("E001", start, f"not valid YAML: {' '.join(str(error).split())}")
        return SourceText(file, text, None)
    if not isinstance(root, Map):
        if not builder.failed:
            report.add("E007", start, "a spec is one mapping that starts with `spec: …`")
        return SourceText(file, text, None)
    return SourceText(file, text, None if builder.failed else root)


def _sentence(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "not valid YAML"
    return f"not valid YAML: {problem}" + (f" {error.context}" if error.context else "")


def _hint(error: yaml.MarkedYAMLError, text: str) -> str:
    problem, mark = error.problem or "", error.problem_mark
    # YAML breaks lines at more signs than this does, so that the marked line may not be there.
    line = "".join(text.split("\n")[mark.line : mark.line + 1]) if mark else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "YAML is not indented with tabs; use spaces"
    if "mapping values are not allowed" in problem or "expected ',' or" in problem:
        return 'a value with ": ", a comma or a bracket inside wants quotes or a line of its own'
    if "could not find expected ':'" in problem:
        return "a key ends in a colon and a blank; the line above lacks one of them"
    if "did not find expected '-'" in problem or "did not find expected key" in problem:
        return "this line is indented otherwise than the lines above it that it belongs to"
    if "cannot start any token" in problem:
        return "this character opens YAML syntax here; put the value in quotes"
    return ""


class _StopError(Exception):
    """Nothing behind this point is read; it was reported."""


@dataclass(slots=True)
class _TreeBuilder:
    """Builds the tree from parser events, because only events still know anchors, tags and quotes."""

    file: str
    report: Report
    skip: frozenset[str] = frozenset()
    failed: bool = False
    depth: int = 0
    values: int = 0
    problems: int = 0
    documents: int = 0
    events: Iterator[Any] = field(default_factory=lambda: iter(()))

    def build(self, text: str) -> Node | None:
        self.events = iter(yaml.parse(text, Loader=YAML_LOADER))
        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    self._fail("E007", self._place(event), "a file holds one document")
                    return None
            elif isinstance(event, yaml.NodeEvent):
                root = self._node(event)
        return root

    def _place(self, event: Any, width: int = 1) -> Place:
        mark = event.start_mark
        return Place(self.file, mark.line + 1, mark.column + 1, width)

    def _fail(self, code: str, place: Place, message: str, hint: str = "") -> None:
        self.failed = True
        self.problems += 1
        if self.problems > MAX_PROBLEMS:
            message = f"more than {MAX_PROBLEMS} problems in one file; what follows is not read"
            self.report.add("E008", place, message, "mend these first")
            raise _StopError
        self.report.add(code, place, message, hint)

    def _node(self, event: Any) -> Node:
        place = self._place(event, max(1, event.end_mark.column - event.start_mark.column))
        self.values += 1
        if self.values > MAX_VALUES:
            self._fail("E008", place, f"more than {MAX_VALUES:,} values", "split the file")
            raise _StopError
        if isinstance(event, yaml.AliasEvent):
            self._fail("E003", place, f"*{event.anchor} stands for another value", "write the value out")
            return YamlScalar(None, place)
        if event.anchor is not None:
            self._fail(
                "E003", place, f"&{event.anchor} names a value", "leave it out; write the value out where it is used"
            )
        if event.tag is not None and event.tag != "!":
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._fail("E004", place, f"{tag} is a tag", "leave it out; a value in quotes is text")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, place)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._fail("E008", place, f"more than {MAX_DEPTH} levels deep")
            raise _StopError
        node = self._sequence(place) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(place)
        self.depth -= 1
        return node

    def _sequence(self, place: Place) -> Listing:
        items = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event))
        return Listing(tuple(items), Place(place.file, place.line, place.column))

    def _mapping(self, place: Place) -> Map:
        entries: dict[str, YamlEntry] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key_node = self._node(event)
            if self.depth == 1 and isinstance(key_node, YamlScalar) and key_node.value in self.skip:
                self._pass_over()
                continue
            value = self._node(next(self.events))
            key = self._key(key_node)
            if key == "<<":
                self._fail("E003", key_node.place, "`<<` takes over the keys of another mapping", "write them out")
            elif key in entries:
                first = entries[key].place
                self._fail("E002", key_node.place, f"key {key!r} stands twice", f"the first is in line {first.line}")
            else:
                entries[key] = YamlEntry(key, key_node.place, value)
        return Map(entries, Place(place.file, place.line, place.column))

    def _pass_over(self) -> None:
        depth = 0
        for event in self.events:
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth == 0:
                return

    def _key(self, node: Node) -> str:
        if isinstance(node, YamlScalar):
            if isinstance(node.value, str):
                return sys.intern(node.value)  # a few hundred names are the keys of all specs
            if isinstance(node.value, int) and not isinstance(node.value, bool):
                return str(node.value)  # a table may be keyed by numbers; look-ups compare text
        if isinstance(node, YamlScalar):
            shown = (
                "nothing"
                if node.value is None
                else f"the {'flag' if isinstance(node.value, bool) else 'number'} {node.value}".lower()
            )
            self._fail("E005", node.place, f"a key must be text, not {shown}", "put it in quotes")
        else:
            self._fail("E005", node.place, "a key must be text, not a list or a mapping")
        return ""


def _scalar(event: Any, place: Place) -> YamlScalar:
    text: str = event.value
    one_line = event.start_mark.line == event.end_mark.line
    if not event.style and event.tag is None:
        width = event.end_mark.column - event.start_mark.column
        return YamlScalar(plain_value(text), place, one_line and width == len(text))
    width = event.end_mark.column - event.start_mark.column - 2
    return YamlScalar(text, place, one_line and event.style in "'\"" and width == len(text), 1)


def plain_value(text: str) -> Plain:
    """What a plain scalar stands for in the core schema of YAML 1.2."""
    if _NULL.match(text):
        return None
    found = _BOOL.match(text)
    if found:
        return found.group(1) is not None
    if _INT.match(text):
        return int(text) if len(text) < 20 else text
    if _OCT_HEX.match(text):
        return int(text, 0) if len(text) < 20 else text
    if _FLOAT.match(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text
