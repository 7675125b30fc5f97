"""What is known of an expression before it runs: its shape, what it reads, and what is wrong with it.

A value carries the path it was read from. Lists are transparent to paths: `rows[*].title` and `rows[0].title` both read
`("rows", "title")`. The result depends on the value at each path in `uses`, and of what lies above such a path only on
whether it is null, an object, a list (and how long) or something else. Where a step cannot be followed, the shorter
path is noted, which covers all that lies below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Any, TypeVar

from specloom.core import dataclass

from ..backtracking import ADVICE, find_slow_part
from ..functions.data import MAX_CAPTURED, find_pattern_problem
from ..functions.registry import FUNCTIONS
from ..functions.strings import placeholders
from ..signatures import Function, admits
from ..types import (
    ANY,
    BOOLEAN,
    NOTHING,
    NULL,
    SECRET,
    Any_,
    Choice,
    ListOf,
    RecordType,
    Scalar,
    Shape,
    describe,
    holds_secret,
    join,
    join_all,
    may_be_null,
    maybe,
    shape_of,
    strip,
)
from .parser import ExpressionProblem, Node

Path = tuple[str, ...]
Item = TypeVar("Item")

WHOLE_ROOTS = frozenset({"args", "config", "steps", "values", "route", "order", "configured", "providers"})
"""Roots that only group named values; one as a whole would hide what an expression depends on."""


@lru_cache(maxsize=4096)
def share(found: frozenset[Item]) -> frozenset[Item]:
    """One set in place of all that are equal to it: each takes 200 bytes, and of the thousands kept most are empty."""
    return found


class Position(Enum):
    """What becomes of a value: it is returned, only tested for truth, used, or handed on to the next part."""

    RESULT = "result"
    TEST = "test"
    USE = "use"
    HANDED_ON = "handed on"


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A shape and, where the value is read and not made, the path it is read from."""

    shape: Shape
    path: Path | None = None


UNKNOWN = TypedValue(ANY)
"""A value of which nothing is known, and that causes no further problems."""
_NUMBERS = ("integer", "number")
_COMPARED = {"text", "number", "boolean"}


class TypeChecker:
    """One walk over an expression, a method a kind of node; `problems`, `reads` and `tables` fill up on the way."""

    def __init__(self, context: Shape, tables: Mapping[str, Mapping[str, Any]], *, rooted: bool) -> None:
        self.context = context
        self.declared = tables
        self.rooted = rooted
        self.problems: dict[tuple[str, int, str], ExpressionProblem] = {}
        self.reads: list[Path] = []
        self.tables: set[str] = set()

    def run(self, node: Node) -> Shape:
        """The shape of the whole expression."""
        return self.visit(node, TypedValue(self.context, ()), Position.RESULT, 0).shape

    def visit(self, node: Node, current: TypedValue, position: Position, at: int) -> TypedValue:
        """The value of the node where `@` is `current`; `at` is where its parent starts."""
        at = int(node.get("at", at))
        method: Callable[[Node, TypedValue, Position, int], TypedValue] = getattr(
            self, f"_{node['type']}", self._unforeseen
        )
        return self.consume(method(node, current, position, at), position, at)

    def uses(self) -> frozenset[Path]:
        """The paths read, without those below another one."""
        found = set(self.reads)
        return share(frozenset(path for path in found if not any(path[:end] in found for end in range(len(path)))))

    def report(self, code: str, message: str, hint: str, offset: int) -> TypedValue:
        """Notes a problem, and gives a value that causes no further ones."""
        self.problems.setdefault((code, offset, message), ExpressionProblem(code, message, hint, offset))
        return UNKNOWN

    def consume(self, value: TypedValue, position: Position, at: int) -> TypedValue:
        """Notes that the value is read here, or why it may not be."""
        if position is Position.HANDED_ON:
            return value
        if self.rooted and value.path is not None:
            if not value.path:
                return self.report("E206", "'@' is the whole context here", "name the value that is meant", at)
            if len(value.path) == 1 and value.path[0] in WHOLE_ROOTS:
                root = value.path[0]
                message, hint = f"'{root}' as a whole hides what is used of it", f"name a value, like {root}.name"
                return self.report("E206", message, hint, at)
        refused = strip(value.shape) != SECRET if position is Position.RESULT else position is Position.USE
        if refused and holds_secret(value.shape):
            return self.report_secret(at)
        if value.path is not None:
            self.reads.append(value.path)
        return value

    def report_secret(self, at: int) -> TypedValue:
        """Refuses a secret in another value (E207)."""
        hint = "send it alone, or only test it: when(config.KEY, …, …), !(config.KEY)"
        return self.report("E207", "a secret may not be part of another value", hint, at)

    def within(self, base: TypedValue, inner: Callable[[], TypedValue]) -> TypedValue:
        """What `inner` gives, which sees `base` as `@`; notes the base as read unless something below it was."""
        mark = len(self.reads)
        value = inner()
        path = base.path
        if path is not None and (path or not self.rooted):
            below = self.reads[mark:] if value.path is None else [*self.reads[mark:], value.path]
            if not any(read[: len(path)] == path for read in below):
                self.reads.append(path)
        return value

    def report_name(self, name: str, known: Mapping[str, Any], at: int) -> TypedValue:
        """Refuses an unknown name (E202)."""
        return self.report("E202", f"unknown name '{name}'", suggest(name, known), at)

    # What is read

    def _identity(self, _node: Node, current: TypedValue, _position: Position, _at: int) -> TypedValue:
        return current

    _current = _identity

    def _literal(self, node: Node, _current: TypedValue, _position: Position, _at: int) -> TypedValue:
        return TypedValue(shape_of(node["value"]))

    def _field(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        name: str = node["value"]
        path = None if current.path is None else (*current.path, name)
        shape = strip(current.shape)
        if isinstance(shape, RecordType):
            if name in shape.fields:
                sure = (current.path == () and self.rooted) or (name in shape.required and current.shape == shape)
                return TypedValue(shape.fields[name] if sure else maybe(shape.fields[name]), path)
            if shape.closed:
                return self.report_name(name, shape.fields, at)
        elif shape == SECRET:
            return self.report_secret(at)
        elif isinstance(shape, ListOf):
            return self.report("E202", f"a list has no field '{name}'", f"write [*].{name} for that of each item", at)
        elif isinstance(shape, Choice) or (isinstance(shape, Scalar) and shape not in (NULL, NOTHING)):
            return self.report("E202", f"{describe(shape)} has no field '{name}'", "", at)
        return TypedValue(ANY, path)

    def _index(self, _node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        return TypedValue(maybe(self._item(current, at)), current.path)

    def _slice(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        item = self._item(current, at)
        if node["children"][2] == 0:
            return self.report("E204", "the step of a slice cannot be 0", "leave it out, or write -1 for backwards", at)
        return TypedValue(ListOf(item) if isinstance(current.shape, ListOf) else maybe(ListOf(item)), current.path)

    def _item(self, value: TypedValue, at: int) -> Shape:
        """The shape of the items of what has to be a list."""
        shape = strip(value.shape)
        if isinstance(shape, ListOf):
            return shape.item
        if holds_secret(shape) and not isinstance(shape, RecordType):
            self.report_secret(at)
        elif not isinstance(shape, Any_) and shape not in (NULL, NOTHING):
            self.report("E204", f"[…] takes the items of a list, and this is {describe(shape)}", "", at)
        return ANY

    # What hands a value on

    def _subexpression(self, node: Node, current: TypedValue, position: Position, at: int) -> TypedValue:
        first, *rest = node["children"]
        if node["type"] != "pipe" and first["type"] == "not_expression":
            return self._report_negation(at)
        return self._hand_on(self.visit(first, current, Position.HANDED_ON, at), rest, position, at)

    _index_expression = _subexpression
    _pipe = _subexpression

    def _hand_on(self, base: TypedValue, rest: list[Node], position: Position, at: int) -> TypedValue:
        if not rest:
            return base
        place = Position.HANDED_ON if len(rest) > 1 else position
        return self.within(base, lambda: self._hand_on(self.visit(rest[0], base, place, at), rest[1:], position, at))

    def _report_negation(self, at: int) -> TypedValue:
        return self.report("E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", at)

    def _projection(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        base_node, item_node, *tests = node["children"]
        if base_node["type"] == "not_expression":
            return self._report_negation(at)
        base = self.visit(base_node, current, Position.HANDED_ON, at)
        item = TypedValue(self._item(base, at), base.path)

        def project() -> TypedValue:
            for test in tests:
                self.visit(test, item, Position.TEST, at)
            return self.visit(item_node, item, Position.HANDED_ON, at)

        found = self.within(base, project)
        shape: Shape = ListOf(NOTHING if found.shape == NULL else strip(found.shape))
        return TypedValue(shape if isinstance(base.shape, ListOf) else maybe(shape), found.path)

    _filter_projection = _projection

    def _flatten(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        (inner,) = node["children"]
        if inner["type"] == "not_expression":
            return self._report_negation(at)
        base = self.visit(inner, current, Position.HANDED_ON, at)
        item = self._item(base, at)
        shape: Shape = ListOf(_flattened(item))
        return TypedValue(shape if isinstance(base.shape, ListOf) else maybe(shape), base.path)

    def _value_projection(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        base_node, item_node = node["children"]
        if base_node["type"] == "not_expression":
            return self._report_negation(at)
        # The names are not known, so the whole object counts as read.
        base = self.visit(base_node, current, Position.USE, at)
        shape = strip(base.shape)
        item = join_all(shape.fields.values()) if isinstance(shape, RecordType) and shape.closed else ANY
        found = self.visit(item_node, TypedValue(item), Position.HANDED_ON, at)
        values = ListOf(strip(found.shape))
        return TypedValue(values if isinstance(base.shape, RecordType) else maybe(values))

    # What is made

    def _multi_select_list(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        items = [self.visit(child, current, Position.USE, at).shape for child in node["children"]]
        return TypedValue(_unless_null(current, ListOf(join_all(items))))

    def _multi_select_dict(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        fields: dict[str, Shape] = {}
        for child in node["children"]:
            fields[child["value"]] = self.visit(child["children"][0], current, Position.USE, at).shape
        return TypedValue(_unless_null(current, RecordType(fields, required=frozenset(fields))))

    def _not_expression(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        self.visit(node["children"][0], current, Position.TEST, at)
        return TypedValue(BOOLEAN)

    def _or_expression(self, node: Node, current: TypedValue, position: Position, at: int) -> TypedValue:
        place = Position.USE if position is Position.HANDED_ON else position
        left, right = (self.visit(child, current, place, at).shape for child in node["children"])
        return self.one_of(left, right, join(strip(left), right) if left != NULL else right, position, at)

    def _and_expression(self, node: Node, current: TypedValue, position: Position, at: int) -> TypedValue:
        place = Position.USE if position is Position.HANDED_ON else position
        left = self.visit(node["children"][0], current, Position.TEST, at).shape
        right = self.visit(node["children"][1], current, place, at).shape
        # A secret on the left comes out only where it is empty.
        left = NULL if strip(left) == SECRET else left
        return self.one_of(left, right, join(left, right), position, at)

    def _comparator(self, node: Node, current: TypedValue, _position: Position, at: int) -> TypedValue:
        sides = [self.visit(child, current, Position.USE, at).shape for child in node["children"]]
        left, right = map(strip, sides)
        kinds = {_order_kind(left), _order_kind(right)}
        if node["value"] in ("eq", "ne"):
            # Two nulls are equal, whatever they are null of.
            if len(kinds) == 2 and kinds <= _COMPARED and not all(map(may_be_null, sides)):
                message = f"{describe(left)} and {describe(right)} are never equal"
                return self.report(
                    "E204", message, "numbers, true and false stand in backticks, texts in single quotes", at
                )
            return TypedValue(BOOLEAN)
        if kinds == {"text", "number"}:
            message = f"{describe(left)} and {describe(right)} have no order"
            return self.report("E204", message, "to_number(text) gives a number", at)
        return TypedValue(maybe(BOOLEAN))

    def _expref(self, node: Node, _current: TypedValue, _position: Position, at: int) -> TypedValue:
        self.visit(node["children"][0], UNKNOWN, Position.USE, at)
        takers = ", ".join(name for name, function in FUNCTIONS.items() if "expref" in function.parameters)
        return self.report("E204", "an expression (&…) is not a value", f"it is taken by {takers}", at)

    def _unforeseen(self, _node: Node, current: TypedValue, _position: Position, _at: int) -> TypedValue:
        if current.path is not None:
            self.reads.append(current.path)
        return UNKNOWN

    # What is called

    def one_of(self, first: Shape, second: Shape, joined: Shape, position: Position, at: int) -> TypedValue:
        """The value that is one of two; where one is a secret, a result has to be a secret or null either way."""
        secret = holds_secret(first) or holds_secret(second)
        if secret and position is not Position.TEST and strip(joined) != SECRET:
            return self.report_secret(at)
        return TypedValue(joined)

    def _function_expression(self, node: Node, current: TypedValue, position: Position, at: int) -> TypedValue:
        name: str = node["value"]
        children: list[Node] = node["children"]
        function = FUNCTIONS.get(name)
        if function is None:
            self._visit_loosely(children, current, at)
            return self.report("E203", f"unknown function '{name}'", suggest(name, FUNCTIONS), at)
        if not function.takes(len(children)):
            self._visit_loosely(children, current, at)
            return self._report_count(function, len(children), at)
        if name == "when":
            return self._when(children, current, position, at)
        if name == "map" and children[0]["type"] == "expref":
            return self._map(children, current, at)
        shapes = tuple(self._arguments(function, children, current, at))
        if name == "lookup":
            return TypedValue(self._lookup(children[0], at))
        if name == "fill":
            self._check_template(children[0], shapes[1], at)
        if name == "capture":
            self._check_pattern(children[1], at)
        if name == "clamp":
            self._check_bounds(children[1], children[2])
        return TypedValue(function.result_for(shapes))

    def _visit_loosely(self, children: list[Node], current: TypedValue, at: int) -> None:
        """Finds what is wrong inside the arguments of a call that is wrong itself."""
        for child in children:
            if child["type"] != "expref":
                self.visit(child, current, Position.TEST, at)

    def _report_count(self, function: Function, count: int, at: int) -> TypedValue:
        wanted = len(function.parameters)
        many = f"{'at least ' if function.variadic else ''}{wanted} argument{'' if wanted == 1 else 's'}"
        hint = f"{function.name}({', '.join(function.parameters)}{', …' if function.variadic else ''})"
        return self.report("E204", f"{function.name}() takes {many}, and got {count}", hint, at)

    def _arguments(self, function: Function, children: list[Node], current: TypedValue, at: int) -> list[Shape]:
        shapes: dict[int, Shape] = {}
        inner: list[tuple[int, Node]] = []
        items = UNKNOWN
        for index, child in enumerate(children):
            kind = function.kind_of(index)
            if kind == "expref" and child["type"] == "expref":
                inner.append((index, child["children"][0]))
                continue
            if kind == "expref":
                shapes[index] = ANY
                hint = "write &name for an expression that is applied to each item"
                message = f"{function.name}() takes an expression as argument {index + 1}, and got a value"
                self.report("E204", message, hint, int(child.get("at", at)))
                continue
            value = self.visit(child, current, Position.USE, at)
            shapes[index] = value.shape
            if kind != "table" and not admits(kind, value.shape):
                message = f"{function.name}() takes {kind} as argument {index + 1}, and got {describe(value.shape)}"
                self.report("E204", message, "", int(child.get("at", at)))
            elif isinstance(array := strip(value.shape), ListOf):
                items = TypedValue(array.item, value.path)
            else:
                items = TypedValue(ANY, value.path)
        for index, expression in inner:
            shapes[index] = self.visit(expression, items, Position.USE, at).shape
        return [shapes[index] for index in sorted(shapes)]

    def _map(self, children: list[Node], current: TypedValue, at: int) -> TypedValue:
        base = self.visit(children[1], current, Position.HANDED_ON, at)
        if holds_secret(base.shape) and not isinstance(strip(base.shape), RecordType):
            return self.report_secret(int(children[1].get("at", at)))
        if not admits("array", base.shape):
            message = f"map() takes array as argument 2, and got {describe(base.shape)}"
            return self.report("E204", message, "", int(children[1].get("at", at)))
        array = strip(base.shape)
        item = TypedValue(array.item if isinstance(array, ListOf) else ANY, base.path)
        found = self.within(base, lambda: self.visit(children[0]["children"][0], item, Position.HANDED_ON, at))
        return TypedValue(ListOf(found.shape), found.path)

    def _when(self, children: list[Node], current: TypedValue, position: Position, at: int) -> TypedValue:
        place = Position.USE if position is Position.HANDED_ON else position
        self.visit(children[0], current, Position.TEST, at)
        then, otherwise = (self.visit(child, current, place, at).shape for child in children[1:])
        return self.one_of(then, otherwise, join(then, otherwise), position, at)

    def _lookup(self, table: Node, at: int) -> Shape:
        name = table.get("value")
        at = int(table.get("at", at))
        if table["type"] != "literal" or not isinstance(name, str):
            self.report("E208", "lookup() takes the literal name of a table", "write lookup('table', key)", at)
            return ANY
        if name not in self.declared:
            self.report("E208", f"unknown table '{name}'", suggest(name, self.declared), at)
            return ANY
        self.tables.add(name)
        return maybe(join_all(shape_of(value) for value in self.declared[name].values()))

    def _check_template(self, template: Node, values: Shape, at: int) -> None:
        record = strip(values)
        text = template.get("value")
        if template["type"] == "literal" and isinstance(text, str) and isinstance(record, RecordType) and record.closed:
            for name in placeholders(text):
                if name not in record.fields:
                    self.report_name(name, record.fields, int(template.get("at", at)))

    def _check_bounds(self, low: Node, high: Node) -> None:
        bounds = [one.get("value") for one in (low, high) if one["type"] == "literal"]
        numbers = [one for one in bounds if isinstance(one, (int, float))]
        if len(numbers) == 2 and numbers[0] > numbers[1]:
            message = (
                f"clamp() has {numbers[0]:g} as its least and {numbers[1]:g} as its most, so it always gives the one"
            )
            self.report("E204", message, "write clamp(number, least, most)", int(low.get("at", 0)))

    def _check_pattern(self, pattern: Node, at: int) -> None:
        text = pattern.get("value")
        at = int(pattern.get("at", at))
        if pattern["type"] != "literal":
            hint = "write capture(text, 'pattern')"
            self.report("E204", "capture() takes a pattern that is written out", hint, at)
        elif isinstance(text, str) and (problem := find_pattern_problem(text)):
            self.report("E204", f"capture(): {problem}", "", at)
        elif isinstance(text, str) and (slow := find_slow_part(text, MAX_CAPTURED)):
            self.report("E212", f"capture(): {slow}", ADVICE, at)


MAX_COPIES = 1_000
"""How often the value of an expression may hold what it reads; the widest that is shipped holds it 735 times."""
_WIDER: Mapping[str, int] = {"to_string": 2, "with_query": 3}
"""How much longer functions make what they take: signs that are written with others before them."""
_CHAINED = frozenset({"subexpression", "index_expression", "pipe", "projection", "value_projection"})


def count_copies(node: Node) -> int:
    """How often the value of a tree can hold what the tree reads; each step of a chain multiplies the one before."""
    kind = node["type"]
    children = [child for child in node.get("children", ()) if isinstance(child, dict)]
    if kind == "key_val_pair":
        return 0 if children[0]["type"] == "literal" else count_copies(children[0])
    # A literal is as large as it is written, so that beside what is read it adds nothing.
    is_sum = kind not in _CHAINED
    counts = [0 if is_sum and child["type"] == "literal" else count_copies(child) for child in children]
    if kind == "filter_projection":
        return counts[0] * counts[1]
    if kind in _CHAINED:
        return prod(counts)
    if kind == "function_expression":
        count = prod(counts) if node["value"] == "map" else sum(counts)
        return max(1, count * _WIDER.get(node["value"], 1))
    if kind in ("comparator", "not_expression"):
        return 1
    return max(1, sum(counts))


def suggest(name: str, known: Mapping[str, Any]) -> str:
    """The nearest known name as a question, or the known names."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    if close:
        return f'did you mean "{close[0]}"?'
    names = sorted(known)
    listed = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"known: {listed}" if names else "none is declared"


def _flattened(item: Shape) -> Shape:
    inner = strip(item)
    if isinstance(inner, ListOf):
        return maybe(inner.item) if inner != item else inner.item
    return item


def _unless_null(current: TypedValue, shape: Shape) -> Shape:
    return maybe(shape) if may_be_null(current.shape) else shape


def _order_kind(shape: Shape) -> str:
    if isinstance(shape, Choice):
        return "text"
    if isinstance(shape, Scalar):
        return "number" if shape.kind in _NUMBERS else shape.kind
    return ""
