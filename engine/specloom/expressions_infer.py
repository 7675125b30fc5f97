"""What is known of an expression before it runs: its shape, what it reads, and what is wrong with it.

A value carries the path it was read from. Lists are transparent to paths: `rows[*].title` and `rows[0].title` both read
`("rows", "title")`. The result depends on the value at each path in `uses`, and of what lies above such a path only on
whether it is null, an object, a list (and how long) or something else. Where a step cannot be followed, the shorter
path is noted, which covers all that lies below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .expressions_calls import Calls
from .expressions_walk import UNKNOWN, Position, Value
from .functions import FUNCTIONS
from .shapes import (
    ANY,
    BOOLEAN,
    NOTHING,
    NULL,
    SECRET,
    Any_,
    Choice,
    ListOf,
    Record,
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from .expressions_parse import Node

_NUMBERS = ("integer", "number")
_COMPARED = {"text", "number", "boolean"}


class Inference(Calls):
    """One walk over one expression, a method for each kind of node."""

    def run(self, node: Node) -> Shape:
        """The shape of the whole expression."""
        return self.visit(node, Value(self.context, ()), Position.RESULT, 0).shape

    def visit(self, node: Node, current: Value, position: Position, at: int) -> Value:
        """The value of the node where `@` is `current`; `at` is where its parent starts."""
        at = int(node.get("at", at))
        method: Callable[[Node, Value, Position, int], Value] = getattr(self, f"_{node['type']}", self._unforeseen)
        return self.consume(method(node, current, position, at), position, at)

    # What is read

    def _identity(self, _node: Node, current: Value, _position: Position, _at: int) -> Value:
        return current

    _current = _identity

    def _literal(self, node: Node, _current: Value, _position: Position, _at: int) -> Value:
        return Value(shape_of(node["value"]))

    def _field(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        name: str = node["value"]
        path = None if current.path is None else (*current.path, name)
        shape = strip(current.shape)
        if isinstance(shape, Record):
            if name in shape.fields:
                sure = (current.path == () and self.rooted) or (name in shape.required and current.shape == shape)
                return Value(shape.fields[name] if sure else maybe(shape.fields[name]), path)
            if shape.closed:
                return self.report_name(name, shape.fields, at)
        elif shape == SECRET:
            return self.report_secret(at)
        elif isinstance(shape, ListOf):
            return self.report("E202", f"a list has no field '{name}'", f"write [*].{name} for that of each item", at)
        elif isinstance(shape, Choice) or (isinstance(shape, Scalar) and shape not in (NULL, NOTHING)):
            return self.report("E202", f"{describe(shape)} has no field '{name}'", "", at)
        return Value(ANY, path)

    def _index(self, _node: Node, current: Value, _position: Position, at: int) -> Value:
        return Value(maybe(self._item(current, at)), current.path)

    def _slice(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        item = self._item(current, at)
        if node["children"][2] == 0:
            return self.report("E204", "the step of a slice cannot be 0", "leave it out, or write -1 for backwards", at)
        return Value(ListOf(item) if isinstance(current.shape, ListOf) else maybe(ListOf(item)), current.path)

    def _item(self, value: Value, at: int) -> Shape:
        """The shape of the items of what has to be a list."""
        shape = strip(value.shape)
        if isinstance(shape, ListOf):
            return shape.item
        if holds_secret(shape) and not isinstance(shape, Record):
            self.report_secret(at)
        elif not isinstance(shape, Any_) and shape not in (NULL, NOTHING):
            self.report("E204", f"[…] takes the items of a list, and this is {describe(shape)}", "", at)
        return ANY

    # What hands a value on

    def _subexpression(self, node: Node, current: Value, position: Position, at: int) -> Value:
        first, *rest = node["children"]
        if node["type"] != "pipe" and first["type"] == "not_expression":
            return self._report_negation(at)
        return self._hand_on(self.visit(first, current, Position.HANDED_ON, at), rest, position, at)

    _index_expression = _subexpression
    _pipe = _subexpression

    def _hand_on(self, base: Value, rest: list[Node], position: Position, at: int) -> Value:
        if not rest:
            return base
        place = Position.HANDED_ON if len(rest) > 1 else position
        return self.within(base, lambda: self._hand_on(self.visit(rest[0], base, place, at), rest[1:], position, at))

    def _report_negation(self, at: int) -> Value:
        return self.report("E205", "'!a.b' means '(!a).b', which is always null", "write !(a.b)", at)

    def _projection(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        return self._project(node, current, at)

    _filter_projection = _projection

    def _project(self, node: Node, current: Value, at: int) -> Value:
        base_node, item_node, *tests = node["children"]
        if base_node["type"] == "not_expression":
            return self._report_negation(at)
        base = self.visit(base_node, current, Position.HANDED_ON, at)
        item = Value(self._item(base, at), base.path)

        def project() -> Value:
            for test in tests:
                self.visit(test, item, Position.TEST, at)
            return self.visit(item_node, item, Position.HANDED_ON, at)

        found = self.within(base, project)
        shape: Shape = ListOf(NOTHING if found.shape == NULL else strip(found.shape))
        return Value(shape if isinstance(base.shape, ListOf) else maybe(shape), found.path)

    def _flatten(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        (inner,) = node["children"]
        if inner["type"] == "not_expression":
            return self._report_negation(at)
        base = self.visit(inner, current, Position.HANDED_ON, at)
        item = self._item(base, at)
        shape: Shape = ListOf(_flattened(item))
        return Value(shape if isinstance(base.shape, ListOf) else maybe(shape), base.path)

    def _value_projection(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        base_node, item_node = node["children"]
        if base_node["type"] == "not_expression":
            return self._report_negation(at)
        # The names are not known, so the whole object counts as read.
        base = self.visit(base_node, current, Position.USE, at)
        shape = strip(base.shape)
        item = join_all(shape.fields.values()) if isinstance(shape, Record) and shape.closed else ANY
        found = self.visit(item_node, Value(item), Position.HANDED_ON, at)
        values = ListOf(strip(found.shape))
        return Value(values if isinstance(base.shape, Record) else maybe(values))

    # What is made

    def _multi_select_list(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        items = [self.visit(child, current, Position.USE, at).shape for child in node["children"]]
        return Value(_unless_null(current, ListOf(join_all(items))))

    def _multi_select_dict(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        fields: dict[str, Shape] = {}
        for child in node["children"]:
            fields[child["value"]] = self.visit(child["children"][0], current, Position.USE, at).shape
        return Value(_unless_null(current, Record(fields, required=frozenset(fields))))

    def _not_expression(self, node: Node, current: Value, _position: Position, at: int) -> Value:
        self.visit(node["children"][0], current, Position.TEST, at)
        return Value(BOOLEAN)

    def _or_expression(self, node: Node, current: Value, position: Position, at: int) -> Value:
        place = Position.USE if position is Position.HANDED_ON else position
        left, right = (self.visit(child, current, place, at).shape for child in node["children"])
        return self.one_of(left, right, join(strip(left), right) if left != NULL else right, position, at)

    def _and_expression(self, node: Node, current: Value, position: Position, at: int) -> Value:
        place = Position.USE if position is Position.HANDED_ON else position
        left = self.visit(node["children"][0], current, Position.TEST, at).shape
        right = self.visit(node["children"][1], current, place, at).shape
        # A secret on the left comes out only where it is empty.
        left = NULL if strip(left) == SECRET else left
        return self.one_of(left, right, join(left, right), position, at)

    def _comparator(self, node: Node, current: Value, _position: Position, at: int) -> Value:
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
            return Value(BOOLEAN)
        if kinds == {"text", "number"}:
            message = f"{describe(left)} and {describe(right)} have no order"
            return self.report("E204", message, "to_number(text) gives a number", at)
        return Value(maybe(BOOLEAN))

    def _expref(self, node: Node, _current: Value, _position: Position, at: int) -> Value:
        self.visit(node["children"][0], UNKNOWN, Position.USE, at)
        takers = ", ".join(name for name, function in FUNCTIONS.items() if "expref" in function.parameters)
        return self.report("E204", "an expression (&…) is not a value", f"it is taken by {takers}", at)

    def _unforeseen(self, _node: Node, current: Value, _position: Position, _at: int) -> Value:
        if current.path is not None:
            self.reads.append(current.path)
        return UNKNOWN


def _flattened(item: Shape) -> Shape:
    inner = strip(item)
    if isinstance(inner, ListOf):
        return maybe(inner.item) if inner != item else inner.item
    return item


def _unless_null(current: Value, shape: Shape) -> Shape:
    return maybe(shape) if may_be_null(current.shape) else shape


def _order_kind(shape: Shape) -> str:
    if isinstance(shape, Choice):
        return "text"
    if isinstance(shape, Scalar):
        return "number" if shape.kind in _NUMBERS else shape.kind
    return ""
