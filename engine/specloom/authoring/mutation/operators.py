"""Ways to break one text of a spec so that it still looks like one: expressions, selectors and constants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from specloom.core import Place, dataclass, load_table
from specloom.specs import (
    GRAMMARS,
    Anything,
    Either,
    Flag,
    Grammar,
    Items,
    Listing,
    Map,
    Named,
    Node,
    Number,
    RecordRule,
    Rule,
    RuleReference,
    Spec,
    Text,
    YamlEntry,
    YamlScalar,
    to_plain,
)

_TOKEN = re.compile(
    r"""(?<!\\)(?:(?P<raw>'(?:\\.|[^'\\])*+') | (?P<literal>`(?:\\.|[^`\\])*+`) | (?P<quoted>"(?:\\.|[^"\\])*+"))
      | (?P<name>[A-Za-z_]\w*) | (?P<number>-?\d+) | (?P<operator>&&|\|\||==|!=|<=|>=|<|>|!)
      | (?P<mark>[()\[\]{},.:])""",
    re.VERBOSE,
)
_SWAPPED = {"&&": "||", "||": "&&", "==": "!=", "!=": "==", "<=": ">", ">": "<=", ">=": "<", "<": ">=", "!": ""}
_XPATH_WORDS = frozenset({"and", "or", "div", "mod", "self", "text", "node", "not"})

Broken = tuple[str, str, int]
"""The new text, what was changed in it, and at which character."""


def _with_x(word: str) -> str:
    """A quoted text with another one in its quotes."""
    return f"{word[:-1]}x{word[-1]}"


def _other_literal(word: str) -> str:
    """Another JSON value between backticks; nothing for what is no single value."""
    text = word[1:-1].strip()
    if re.fullmatch(r"-?\d+", text):
        new = str(int(text) + 1)
    elif re.fullmatch(r"-?\d*\.\d+", text):
        new = str(float(text) + 1)
    else:
        new = {"true": "false", "false": "true", "null": "0"}.get(text, f'{text[:-1]}x"' if text[:1] == '"' else "")
    return f"`{new}`" if new else ""


_TOKEN_BREAKS: Mapping[str, Callable[[str], str]] = {
    "raw": _with_x,
    "quoted": _with_x,
    "literal": _other_literal,
    "number": lambda word: str(int(word) + 1),
    "operator": _SWAPPED.__getitem__,
}
"""What stands instead of a token of an expression, by its kind; names and calls are broken by what follows them."""


def _replaced(text: str, start: int, stop: int, new: str) -> Broken:
    old = text[start:stop]
    return text[:start] + new + text[stop:], f"{old} → {new}" if new else f"{old} left out", start


def break_expression(text: str) -> Iterator[Broken]:
    """Each literal, operator, last name of a path and call of an expression, changed one at a time."""
    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        kind = str(token.lastgroup)
        if kind in _TOKEN_BREAKS:
            new = _TOKEN_BREAKS[kind](token[0])
            if new or kind == "operator":
                yield _replaced(text, *token.span(), new)
        elif kind == "name" and after == "(":
            yield from _break_call(text, tokens[index:])
        elif kind == "name" and after != ".":
            yield _replaced(text, *token.span(), f"{token[0]}x")


def _break_call(text: str, tokens: list[re.Match[str]]) -> Iterator[Broken]:
    """A call without its last argument, and its first argument instead of the call."""
    depth = 0
    commas: list[int] = []
    for token in tokens[1:]:
        depth += (token[0] in {"(", "[", "{"}) - (token[0] in {")", "]", "}"})
        if token[0] == "," and depth == 1:
            commas.append(token.start())
        if depth == 0:
            start, inside, stop = tokens[0].start(), tokens[1].end(), token.end()
            if commas:
                yield _replaced(text, start, stop, text[start : commas[-1]] + ")")
            first = text[inside : commas[0] if commas else token.start()].strip()
            if first and not first.startswith("&"):
                yield _replaced(text, start, stop, first)
            return


def break_selector(text: str) -> Iterator[Broken]:
    """A selector in either language with each quoted text, each index and the last name changed."""
    last: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        is_called = text.startswith(("(", "::"), token.end())
        is_index = token.lastgroup == "number" and text[token.start() - 1 : token.start()] == "["
        if token.lastgroup == "name" and not is_called and token[0] not in _XPATH_WORDS:
            last = token
        elif token.lastgroup in {"raw", "quoted"} or is_index:
            yield _replaced(text, *token.span(), _TOKEN_BREAKS[str(token.lastgroup)](token[0]))
    if last is not None:
        # A name may go on after a hyphen (`data-url`), which the pattern of an expression does not know.
        word = re.compile(r"\w+(?:-[\w-]+)?").match(text, last.start())
        assert word is not None
        yield _replaced(text, *word.span(), f"{word[0]}x")


# --- Every way to break the tree of a spec in one place, found by walking it along its grammar ------------------------


_SMALL_TABLE = 8
_KEYS: Mapping[str, Any] = load_table(__file__, "keys.yaml")

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One break: where, what was changed, and the tree that came of it."""

    place: Place
    change: str
    path: Path
    root: Map


def mutations(spec: Spec) -> Iterator[Mutation]:
    """Every break of a spec, each as a whole tree with one thing changed."""
    walk = _TreeWalk(GRAMMARS[spec.kind])
    for place, change, path, node in walk.record(spec.root, GRAMMARS[spec.kind].root, ()):
        if path[0] not in _KEYS["prose"]:
            assert isinstance(node, Map)
            yield Mutation(place, change, path, node)
    cache, inputs = spec.root.get("cache"), spec.root.get("input")
    if isinstance(cache, Map) and isinstance(inputs, Map):
        yield from _ignore_more(spec.root, cache, inputs)


def _ignore_more(root: Map, cache: Map, inputs: Map) -> Iterator[Mutation]:
    """The cache key without one more input: the proof has to notice."""
    listed = cache.get("ignore")
    items = listed.items if isinstance(listed, Listing) else ()
    recorded = (to_plain(root.get("record")) or {}).get("session")
    for entry in inputs:
        if entry.key == recorded or any(isinstance(item, YamlScalar) and item.value == entry.key for item in items):
            continue
        ignore = Listing((*items, YamlScalar(entry.key, cache.place)), cache.place)
        changed = _with(cache, YamlEntry("ignore", cache.place, ignore))
        new = _with(root, replace(root.entries["cache"], value=changed))
        yield Mutation(root.entries["cache"].place, f"the cache ignores {entry.key!r} too", ("proof", entry.key), new)


def _with(node: Map, entry: YamlEntry) -> Map:
    return Map({**node.entries, entry.key: entry}, node.place)


def _without(node: Map, key: str) -> Map:
    return Map({name: entry for name, entry in node.entries.items() if name != key}, node.place)


Change = tuple[Place, str, Path, Node]


@dataclass(frozen=True, slots=True)
class _TreeWalk:
    """Walks a tree along its grammar, which knows what every text means."""

    grammar: Grammar

    def node(self, node: Node, rule: Rule, path: Path) -> Iterator[Change]:
        """Every break of a value that this rule is for."""
        if isinstance(rule, RuleReference):
            rule = self.grammar.named[rule.name]
        if isinstance(rule, Either):
            kinds = {Map: rule.mapping, Listing: rule.listing, YamlScalar: rule.scalar}
            chosen = kinds[type(node)]
            if chosen is not None:
                yield from self.node(node, chosen, path)
        elif isinstance(node, Map):
            if isinstance(rule, RecordRule):
                yield from self.record(node, rule, path)
            else:
                yield from self.named(node, rule.value if isinstance(rule, Named) else Anything(), path)
        elif isinstance(node, Listing):
            items = rule if isinstance(rule, Items) else Items(Anything())
            yield from self.items(node, items.item, items.least, path)
        else:
            for value, change, offset in _break_scalar(node, rule):
                place = node.at(offset) if offset else node.place
                yield place, change, path, replace(node, value=value, verbatim=False)

    def record(self, node: Map, rule: RecordRule, path: Path) -> Iterator[Change]:
        """Every break of a mapping with known keys."""
        for entry in node:
            key = rule.keys[entry.key]
            inner = (*path, entry.key)
            group = next((names for names, _ in rule.one_of if entry.key in names), ())
            # A flag that is left out is a flag that is flipped, which comes by itself.
            if not (key.required or group or isinstance(key.rule, Flag) or _is_prose(key.rule, entry.key)):
                yield entry.place, f"`{entry.key}` left out", inner, _without(node, entry.key)
            if set(group) == {"get", "post"}:
                other = "post" if entry.key == "get" else "get"
                renamed = {other if name == entry.key else name: one for name, one in node.entries.items()}
                renamed[other] = replace(entry, key=other)
                yield entry.place, f"{entry.key} → {other}", inner, Map(renamed, node.place)
            yield from self.inside(node, entry, key.rule, inner)

    def named(self, node: Map, rule: Rule, path: Path) -> Iterator[Change]:
        """Every break of a mapping whose keys an author chose."""
        if len(path) == 2 and path[0] == "tables" and len(node.entries) > _SMALL_TABLE:
            yield node.place, f"every value of the table {path[1]!r} changed", path, _spoiled(node)
            return
        for entry in node:
            inner = (*path, entry.key)
            if not (isinstance(entry.value, YamlScalar) and entry.value.value is None):
                yield entry.place, f"`{entry.key}` left out", inner, _without(node, entry.key)
            yield from self.inside(node, entry, rule, inner)

    def inside(self, node: Map, entry: YamlEntry, rule: Rule, path: Path) -> Iterator[Change]:
        """Every break of one value of a mapping."""
        for place, change, where, new in self.node(entry.value, rule, path):
            yield place, change, where, _with(node, replace(entry, value=new))

    def items(self, node: Listing, rule: Rule, least: int, path: Path) -> Iterator[Change]:
        """Every break of a list."""
        listed = node.items
        if path[0] == "tables" and len(listed) > _SMALL_TABLE:
            yield node.place, f"every item of {path[-1]!r} changed", path, _spoiled(node)
            return
        for at, item in enumerate(listed):
            before, after = listed[:at], listed[at + 1 :]
            if len(listed) > least:
                change = f"item {at + 1} of `{path[-1]}` left out"
                yield item.place, change, path, replace(node, items=before + after)
            if path[-1] in _KEYS["ordered"] and after:
                change = f"items {at + 1} and {at + 2} of `{path[-1]}` swapped"
                yield item.place, change, path, replace(node, items=(*before, after[0], item, *after[1:]))
            for place, change, where, new in self.node(item, rule, path):
                yield place, change, where, replace(node, items=(*before, new, *after))


def _spoiled(node: Node) -> Node:
    """A tree with every value changed."""
    if isinstance(node, Map):
        return Map({entry.key: replace(entry, value=_spoiled(entry.value)) for entry in node}, node.place)
    if isinstance(node, Listing):
        return replace(node, items=tuple(_spoiled(item) for item in node.items))
    return replace(node, value=f"{node.value}x" if node.value is not None else None)


def _is_prose(rule: Rule, key: str) -> bool:
    """Text for people changes nothing, except what an input `says` when it refuses."""
    return isinstance(rule, Text) and rule.means == "prose" and key not in {"says", "detail"} and not rule.choices


def _break_scalar(node: YamlScalar, rule: Rule) -> Iterator[tuple[Any, str, int]]:
    value = node.value
    if isinstance(value, bool):
        yield not value, f"{value} → {not value}".lower(), 0
    elif isinstance(value, (int, float)):
        step = 1 if not isinstance(rule, Number) or rule.most is None or value < rule.most else -1
        yield value + step, f"{value} → {value + step}", 0
    elif isinstance(value, str):
        yield from _break_text(value, rule)


def _break_text(text: str, rule: Rule) -> Iterator[Broken]:
    means = rule.means if isinstance(rule, Text | Anything) else "data"
    if isinstance(rule, Text) and rule.choices:
        at = rule.choices.index(text) + 1 if text in rule.choices else 0
        other = rule.choices[at % len(rule.choices)]
        if other != text:
            yield other, f"{text} → {other}", 0
    elif means == "expression" or (means in {"value", "selector", "path"} and text.startswith("=")):
        start = len(text) - len(text.removeprefix("="))
        for new, change, offset in break_expression(text[start:]):
            yield text[:start] + new, change, offset + start
    elif means == "selector":
        yield from break_selector(text)
    elif means in {"duration", "rate", "size"}:
        yield f"1{text}", f"{text} → 1{text}", 0
    elif means != "prose" or (isinstance(rule, Text) and rule.pattern == ""):
        yield f"{text}x", f"{_short(text)} → {_short(text)}x", 0


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else line[:20] + "…" + line[-19:]


def unseen_reason(path: Path) -> str:
    """Why no example can notice a break under this path, or nothing."""
    if path[0] == "pages":
        return str(_KEYS["unseen"]["deadline"]) if path[-1] == "within" else ""
    if any(key in _KEYS["seen"] for key in path):
        return ""
    for key in path:
        at = path.index(key)
        # A name that an author chose (a parameter, a field, an input called `cache`) means nothing to us.
        if key in _KEYS["unseen"] and not (at and path[at - 1] in _KEYS["named_by_authors"]):
            return str(_KEYS["unseen"][key])
    return ""
