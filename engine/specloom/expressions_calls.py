"""What is known of the call of a function before it runs: what its arguments may be, and the shape of what it gives."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from .expressions_walk import UNKNOWN, Position, Value, Walk, suggest
from .functions import FUNCTIONS
from .functions_data import find_pattern_problem
from .functions_texts import placeholders
from .shapes import ANY, SECRET, ListOf, Record, Shape, describe, holds_secret, join, join_all, maybe, shape_of, strip
from .signatures import Function, admits

if TYPE_CHECKING:
    from .expressions_parse import Node


class Calls(Walk):
    """The part of a walk that looks at calls; how other nodes are visited is for the walk itself."""

    @abstractmethod
    def visit(self, node: Node, current: Value, position: Position, at: int) -> Value:
        """The value of the node where `@` is `current`; `at` is where its parent starts."""

    def one_of(self, first: Shape, second: Shape, joined: Shape, position: Position, at: int) -> Value:
        """The value that is one of two; where one is a secret, a result has to be a secret or null either way."""
        secret = holds_secret(first) or holds_secret(second)
        if secret and position is not Position.TEST and strip(joined) != SECRET:
            return self.report_secret(at)
        return Value(joined)

    def _function_expression(self, node: Node, current: Value, position: Position, at: int) -> Value:
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
            return Value(self._lookup(children[0], at))
        if name == "fill":
            self._check_template(children[0], shapes[1], at)
        if name == "capture":
            self._check_pattern(children[1], at)
        return Value(function.result_for(shapes))

    def _visit_loosely(self, children: list[Node], current: Value, at: int) -> None:
        """Finds what is wrong inside the arguments of a call that is wrong itself."""
        for child in children:
            if child["type"] != "expref":
                self.visit(child, current, Position.TEST, at)

    def _report_count(self, function: Function, count: int, at: int) -> Value:
        wanted = len(function.parameters)
        many = f"{'at least ' if function.variadic else ''}{wanted} argument{'' if wanted == 1 else 's'}"
        hint = f"{function.name}({', '.join(function.parameters)}{', …' if function.variadic else ''})"
        return self.report("E204", f"{function.name}() takes {many}, and got {count}", hint, at)

    def _arguments(self, function: Function, children: list[Node], current: Value, at: int) -> list[Shape]:
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
                items = Value(array.item, value.path)
            else:
                items = Value(ANY, value.path)
        for index, expression in inner:
            shapes[index] = self.visit(expression, items, Position.USE, at).shape
        return [shapes[index] for index in sorted(shapes)]

    def _map(self, children: list[Node], current: Value, at: int) -> Value:
        base = self.visit(children[1], current, Position.HANDED_ON, at)
        if holds_secret(base.shape) and not isinstance(strip(base.shape), Record):
            return self.report_secret(int(children[1].get("at", at)))
        if not admits("array", base.shape):
            message = f"map() takes array as argument 2, and got {describe(base.shape)}"
            return self.report("E204", message, "", int(children[1].get("at", at)))
        array = strip(base.shape)
        item = Value(array.item if isinstance(array, ListOf) else ANY, base.path)
        found = self.within(base, lambda: self.visit(children[0]["children"][0], item, Position.HANDED_ON, at))
        return Value(ListOf(found.shape), found.path)

    def _when(self, children: list[Node], current: Value, position: Position, at: int) -> Value:
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
        if template["type"] == "literal" and isinstance(text, str) and isinstance(record, Record) and record.closed:
            for name in placeholders(text):
                if name not in record.fields:
                    self.report_name(name, record.fields, int(template.get("at", at)))

    def _check_pattern(self, pattern: Node, at: int) -> None:
        text = pattern.get("value")
        at = int(pattern.get("at", at))
        if pattern["type"] != "literal":
            hint = "write capture(text, 'pattern')"
            self.report("E204", "capture() takes a pattern that is written out", hint, at)
        elif isinstance(text, str) and (problem := find_pattern_problem(text)):
            self.report("E204", f"capture(): {problem}", "", at)
