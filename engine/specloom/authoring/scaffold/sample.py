"""What a sample of an API's answer is made of: where its results are, and which leaf could be which row field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from typing import Any

from specloom.core import dataclass, load_table, to_timestamp
from specloom.model import Argument

PathValue = tuple[tuple[str, ...], Any]
_DEPTH = 4
_LOOKED_AT = 10
"""Results that are looked at; a field that none of them has is not found."""
_ENOUGH = 0.6

WORDS: Mapping[str, Any] = load_table(__file__, "words.yaml")
"""Words of fields that mean one thing, and names of parameters, by which a draft is guessed."""
_SAME = [frozenset(words.split()) for words in WORDS["same"]]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value inside results: its path, what it holds, and whether every result has it."""

    path: tuple[str, ...]
    values: tuple[Any, ...]
    everywhere: bool

    @property
    def value(self) -> Any:
        """The first that was found."""
        return self.values[0]


@dataclass(slots=True)
class Sample:
    """An answer of an API taken apart."""

    decoder: str
    document: Any
    each: str
    """The selector of the results; empty when the whole answer is one."""
    results: list[Any] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    namespaces: dict[str, str] = field(default_factory=dict)


def parse_sample(data: bytes, fields: Mapping[str, Argument]) -> Sample:
    """The sample with its list of results and their leaves; a ValueError says why it cannot be read."""
    text = data.decode("utf-8-sig", "replace").strip()
    if text.startswith("<"):
        return _parse_xml(text)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the sample is neither JSON nor XML: {error}") from None
    return _parse_json(document, fields)


# --- JSON -----------------------------------------------------------------------------------------------------------


def _parse_json(document: Any, fields: Mapping[str, Argument]) -> Sample:
    def score(candidate: PathValue) -> float:
        path, items = candidate
        matched = sum(leaf is not None for leaf in match(fields, find_leaves(items, _walk)).values())
        return matched + min(len(items), 9) / 10 - len(path) / 20

    best = max(_object_lists(document, ()), key=score, default=None)
    path, items = best if best is not None else ((), [document])
    each = (to_jmespath(path) or "[]") if best is not None else ""
    return Sample("json", document, each, items, find_leaves(items, _walk))


def _object_lists(value: Any, path: tuple[str, ...]) -> Iterator[PathValue]:
    """Every list of objects that names alone lead to."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield path, value
    if isinstance(value, dict) and len(path) < _DEPTH:
        for name, inner in value.items():
            yield from _object_lists(inner, (*path, name))


def find_leaves(items: Sequence[Any], walk: Callable[[Any], Iterable[PathValue]]) -> list[Leaf]:
    """The values inside results, in the order of the first result that has them; of a path that repeats the first."""
    values: dict[tuple[str, ...], list[Any]] = {}
    looked_at = items[:_LOOKED_AT]
    for item in looked_at:
        first: dict[tuple[str, ...], Any] = {}
        for path, value in walk(item):
            first.setdefault(path, value)
        for path, value in first.items():
            values.setdefault(path, []).append(value)
    return [Leaf(path, tuple(several), len(several) == len(looked_at)) for path, several in values.items()]


def _walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[PathValue]:
    if isinstance(value, dict):
        for name, inner in value.items() if len(path) < _DEPTH else ():
            yield from _walk(inner, (*path, name))
    elif value not in (None, "", []) and path:
        yield path, value


def to_jmespath(path: Sequence[str]) -> str:
    """Names as a JMESPath, quoted where they are no identifiers."""
    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    return ".".join(name if plain.fullmatch(name) else json.dumps(name) for name in path)


# --- XML ------------------------------------------------------------------------------------------------------------


def _parse_xml(text: str) -> Sample:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ValueError(f"the sample is not well-formed XML: {error}") from None
    prefixes: dict[str, str] = {}
    groups: dict[str, list[Any]] = {}
    for node in root.iter():
        if isinstance(node.tag, str):
            _name_of(node, prefixes)
            if node is not root and len(node):
                groups.setdefault(node.tag, []).append(node)
    results = max(groups.values(), key=lambda nodes: (len(nodes) > 1, sum(len(node) for node in nodes)), default=[root])
    leaves = find_leaves(results, lambda node: _walk_xml(node, (), prefixes))
    used = {prefix: uri for uri, prefix in prefixes.items() if prefix}
    return Sample("xml", root, f"//{_name_of(results[0], prefixes)}", results, leaves, used)


def _name_of(node: Any, prefixes: dict[str, str]) -> str:
    """The name of an element with the prefix of its namespace, which is made up where the document has none."""
    from lxml import etree

    name = etree.QName(node)
    if not name.namespace:
        return str(name.localname)
    if name.namespace not in prefixes:
        prefix = node.prefix if node.prefix and re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", node.prefix) else ""
        prefix = prefix or f"n{len(prefixes) + 1}"
        while prefix in prefixes.values():
            prefix += "x"
        prefixes[name.namespace] = prefix
    return f"{prefixes[name.namespace]}:{name.localname}"


def _walk_xml(node: Any, path: tuple[str, ...], prefixes: dict[str, str]) -> Iterator[PathValue]:
    for name, value in node.attrib.items():
        if not name.startswith("{") and value.strip() and path:
            yield (*path, f"@{name}"), value.strip()
    # An element with words of its own holds markup, not fields: its text is one value.
    has_words = any(part and part.strip() for part in (node.text, *(child.tail for child in node)))
    if has_words and path:
        yield path, " ".join("".join(node.itertext()).split())
    elif len(path) < _DEPTH:
        for child in node:
            if isinstance(child.tag, str):
                yield from _walk_xml(child, (*path, _name_of(child, prefixes)), prefixes)


# --- what could be what ---------------------------------------------------------------------------------------------


def match(fields: Mapping[str, Argument], leaves: Sequence[Leaf]) -> dict[str, Leaf | None]:
    """For each row field the leaf that is most like it, each leaf once; None where nothing is enough like it."""
    scored = (
        (_likeness(field, leaf), -at, name, leaf) for name, field in fields.items() for at, leaf in enumerate(leaves)
    )
    matched: dict[str, Leaf | None] = dict.fromkeys(fields)
    for score, _, name, leaf in sorted(scored, key=lambda entry: entry[:2], reverse=True):
        if score >= _ENOUGH and matched[name] is None and leaf not in matched.values():
            matched[name] = leaf
    return matched


def _likeness(field: Argument, leaf: Leaf) -> float:
    """0 when the value cannot be it; else how alike the names are, with a little for being everywhere and near."""
    if not fits(field.kind, leaf.value):
        return 0.0
    near = 0.05 * leaf.everywhere - 0.04 * (len(leaf.path) - 1)
    if field.kind in {"timestamp", "date"} and isinstance(leaf.value, str) and not re.search(r"\d{4}", leaf.value):
        near -= 0.26  # a distance such as "3 days ago" is less than a date
    ours, theirs = words_of(field.name), words_of(leaf.path[-1].partition(":")[2] or leaf.path[-1])
    if ours == theirs:
        return 1.0 + near
    if not theirs:
        return 0.0
    shared = ours & theirs
    shares = [_share(ours, group) * _share(theirs, group) for group in _SAME]
    return near + max(
        0.9 * len(shared) / len(ours | theirs) + 0.2 if shared else 0.0,
        0.35 + 0.5 * max(shares) if any(shares) else 0.0,
        0.8 * SequenceMatcher(None, field.name, leaf.path[-1].lower()).ratio(),
    )


def _share(words: set[str], group: frozenset[str]) -> float:
    """How much of a name belongs to a group of words that mean one thing."""
    return 1.0 if "".join(sorted(words)) in group else sum(word in group for word in words) / len(words)


def words_of(name: str) -> set[str]:
    """`publishedAt`, `published_at` and `@published-at` are the same two words."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.replace("@", ""))
    return {word.lower() for word in re.split(r"[^A-Za-z]+", parted) if word}


def fits(kind: str, value: Any) -> bool:
    """Whether a value of a sample can become a value of this kind."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = value if isinstance(value, str) else ""
    match kind:
        case "any":
            return True
        case "url":
            return re.match(r"(?:https?:)?//\S+$", text) is not None
        case "timestamp" | "date":
            return is_epoch(value) or is_date(text)
        case "integer" | "number":
            return is_number or re.fullmatch(r"-?\d[\d,]*(?:\.\d+)?", text) is not None
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "object":
            return False  # its fields would have to be chosen one by one
    # A whole number fits a text, as an id mostly is one.
    is_text = isinstance(value, str) and not re.match(r"https?://\S+$", value)
    return is_text or (is_number and isinstance(value, int))


def is_date(text: str) -> bool:
    """Whether the text is a date or a distance in time."""
    return (
        len(text) < 60
        and any(one.isdigit() for one in text)
        and not text.isdigit()
        and to_timestamp(text, 1e9) is not None
    )


def is_epoch(value: Any) -> bool:
    """Whether a number can be an instant between 1990 and 2100, in seconds or milliseconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (631_152_000 <= value <= 4_102_444_800 or 631_152_000_000 <= value <= 4_102_444_800_000)
