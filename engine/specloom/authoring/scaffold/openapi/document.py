"""The document of a description in JSON or YAML, as plain values.

YAML is read by its version 1.2, in block or flow style, with anchors, merge keys and the tags of its core schema: dates
and `on` are text, keys are as they are written. What is wrong is told by its JSON pointer, or by its line where the
text cannot be taken apart at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import yaml

from specloom.core import dataclass
from specloom.specs import plain_value

from ..common import ScaffoldError

_DEEPEST = 200
_TAG = "tag:yaml.org,2002:"
_YAML_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_document(data: bytes) -> Any:
    """The values of a JSON or YAML text; a ScaffoldError says why there are none."""
    try:
        text = data.decode(json.detect_encoding(data)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ScaffoldError(
            f"the description is no text: the byte at {error.start:,} is not {error.encoding}"
        ) from None
    if text.lstrip().startswith(("{", "[")):
        # Most of these are JSON, which is read sooner; what is not may be YAML in flow style.
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
    return _DocumentBuilder(iter(_events(text))).build()


def _events(text: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=_YAML_PARSER)
    except yaml.MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        words = " ".join(one for one in (error.problem, error.context) if one)
        raise ScaffoldError(f"the description is neither JSON nor YAML{line}: {words}") from None
    except (ValueError, yaml.YAMLError) as error:
        raise ScaffoldError(f"the description is neither JSON nor YAML: {' '.join(str(error).split())}") from None


@dataclass(slots=True)
class _DocumentBuilder:
    """Makes values of the events of a YAML parser; what has a name is made once."""

    events: Iterator[Any]
    anchors: dict[str, Any] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """Names of lists and objects that were begun."""

    def build(self) -> Any:
        document: Any = None
        count = 0
        for event in self.events:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                count += 1
                if count > 1:
                    raise ScaffoldError(f"the description ends in line {line}, where another document begins")
            elif isinstance(event, yaml.NodeEvent):
                document = self._value(event, "", 0)
        return document

    def _value(self, event: Any, pointer: str, depth: int) -> Any:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                what = "which has this within it" if event.anchor in self.open else "which nothing above is called"
                raise ScaffoldError(f"{pointer or '/'} (line {line}) is *{event.anchor}, {what}")
            return self.anchors[event.anchor]
        if depth > _DEEPEST:
            raise ScaffoldError(f"{pointer[:60]}… (line {line}) is more than {_DEEPEST} levels deep")
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event, pointer)
        else:
            kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
            if event.tag not in (None, "!", f"{_TAG}{kind}"):
                raise ScaffoldError(f"{pointer or '/'} (line {line}) has a tag, {_shown(event.tag)}; leave it out")
            if event.anchor is not None:
                self.anchors.pop(event.anchor, None)
                self.open.add(event.anchor)
            value = self._list(pointer, depth) if kind == "seq" else self._object(pointer, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def _list(self, pointer: str, depth: int) -> list[Any]:
        values: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self._value(event, f"{pointer}/{len(values)}", depth + 1))
        return values

    def _object(self, pointer: str, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        taken_over: list[dict[str, Any]] = []
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line = event.start_mark.line + 1
            key = self._value(event, pointer, depth + 1) if isinstance(event, yaml.AliasEvent) else None
            if isinstance(event, yaml.ScalarEvent):
                key = event.value
                if event.anchor is not None:
                    self.anchors[event.anchor] = key
            if not isinstance(key, str):
                raise ScaffoldError(f"{pointer or '/'} (line {line}) has a key that is no text")
            value = self._value(next(self.events), f"{pointer}/{escape(key)}", depth + 1)
            if key == "<<" and isinstance(event, yaml.ScalarEvent) and not event.style:
                several = value if isinstance(value, list) else [value]
                if not all(isinstance(one, dict) for one in several):
                    raise ScaffoldError(f"{pointer}/<< (line {line}) takes over what is no object")
                taken_over += several
            else:
                values[key] = value
        for one in taken_over:
            values |= {name: value for name, value in one.items() if name not in values}
        return values


def _scalar(event: Any, pointer: str) -> Any:
    text: str = event.value
    if event.tag is None:
        return text if event.style else plain_value(text)
    if event.tag in ("!", *(f"{_TAG}{kind}" for kind in ("str", "timestamp", "binary"))):
        return text
    if event.tag in {f"{_TAG}{kind}" for kind in ("int", "float", "bool", "null")}:
        return plain_value(text)
    line = event.start_mark.line + 1
    raise ScaffoldError(f"{pointer or '/'} (line {line}) has a tag, {_shown(event.tag)}; write out what it stands for")


def _shown(tag: str) -> str:
    return tag.replace(_TAG, "!!")


def escape(name: str) -> str:
    """A name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
