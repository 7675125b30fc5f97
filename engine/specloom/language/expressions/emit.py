"""From a JMESPath tree to the syntax tree of a Python expression that means the same.

The code calls the functions of `support`, and what a module says once for all its expressions: the functions and
tables that they use. Names of its own are `t1`, `t2` … for what is worked out on the way and `i1`, `i2` … for items.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..functions.registry import FUNCTIONS
from ..signatures import to_text, truthy
from .calls import SpecFunctions
from .compile import build
from .parser import Node

Tables = Mapping[str, Mapping[str, Any]]
LOAD, STORE = ast.Load(), ast.Store()
_FOLDED = frozenset({"function_expression", "comparator", "or_expression", "and_expression", "not_expression"})


class Names(Protocol):
    """Where generated code stands: it knows by which name a module calls what its expressions use."""

    def support(self, name: str) -> ast.expr:
        """A function of `support`."""

    def function(self, name: str, applied: tuple[bool, ...]) -> ast.expr:
        """A function of the language, for arguments of which these are expressions."""

    def lookup(self, name: str, table: Mapping[str, Any]) -> ast.expr:
        """The look into a table, whose keys are texts."""


def name(text: str) -> ast.Name:
    """A variable that is read."""
    return ast.Name(text, LOAD)


def call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    """A call with these arguments."""
    return ast.Call(function, list(arguments), [])


def literal(value: Any) -> ast.expr:
    """Plain data as it is written out: scalars, lists and objects."""
    if isinstance(value, list):
        return ast.List([literal(item) for item in value], LOAD)
    if isinstance(value, dict):
        return ast.Dict([ast.Constant(key) for key in value], [literal(item) for item in value.values()])
    return ast.Constant(value)


def emit_expression(node: Node, tables: Tables, names: Names, root: str, *, rooted: bool) -> ast.expr:
    """The value of a tree over what the variable `root` holds: bindings where it is `rooted`, else an item."""
    return _Emitter(tables, names, root if rooted else "").visit(node, root)


class _Emitter:
    def __init__(self, tables: Tables, names: Names, bindings: str) -> None:
        self.tables = tables
        self.names = names
        self.bindings = bindings
        """The variable that holds bindings, which always have `get`; "" for none."""
        self.count = 0

    def fresh(self, letter: str = "t") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def visit(self, node: Node, at: str) -> ast.expr:
        """The value of a node where the variable `at` holds the current value."""
        if node["type"] in _FOLDED and (folded := _fold(node, self.tables)) is not None:
            return literal(folded[0])
        method: Callable[[Node, str], ast.expr] = getattr(self, f"_{node['type']}")
        return method(node, at)

    # What is read

    def _identity(self, _: Node, at: str) -> ast.expr:
        return name(at)

    _current = _identity

    def _literal(self, node: Node, _at: str) -> ast.expr:
        return literal(node["value"])

    def _field(self, node: Node, at: str) -> ast.expr:
        return self._get(name(at), node["value"])

    def _get(self, base: ast.expr, *fields: str) -> ast.expr:
        """A field of a field of the base."""
        if isinstance(base, ast.Name):
            get = call(ast.Attribute(base, "get", LOAD), ast.Constant(fields[0]))
            if base.id == self.bindings:
                return self._get(get, *fields[1:]) if len(fields) > 1 else get
            if len(fields) == 1:
                # The innermost step of every mapping is written out.
                is_dict = ast.Compare(call(name("type"), base), [ast.Is()], [name("dict")])
                return ast.IfExp(is_dict, get, call(self.names.support("get"), base, ast.Constant(fields[0])))
        way = "get" if len(fields) == 1 else "path"
        return call(self.names.support(way), base, *map(ast.Constant, fields))

    def _keep(self, value: ast.expr) -> tuple[str, ast.expr]:
        """The variable that has the value, and what gives it that, to stand where it is evaluated first."""
        if isinstance(value, ast.Name):
            return value.id, value
        kept = self.fresh()
        return kept, ast.NamedExpr(ast.Name(kept, STORE), value)

    def _index(self, node: Node, at: str) -> ast.expr:
        return call(self.names.support("item_at"), name(at), ast.Constant(node["value"]))

    def _slice(self, node: Node, at: str) -> ast.expr:
        return call(self.names.support("slice_of"), name(at), *map(ast.Constant, node["children"]))

    # What follows on another

    def _subexpression(self, node: Node, at: str) -> ast.expr:
        first, *rest = node["children"]
        value = self.visit(first, at)
        fields = [child["value"] for child in (first, *rest) if child["type"] == "field"]
        if len(fields) == len(node["children"]):
            return self._get(name(at), *fields)
        for child in rest:
            value = self._then(value, child)
        return value

    _index_expression = _subexpression
    _pipe = _subexpression

    def _then(self, value: ast.expr, node: Node) -> ast.expr:
        """The value of a node whose current value is another."""
        kind = node["type"]
        if isinstance(value, ast.Name):
            return self.visit(node, value.id)
        if kind == "field":
            return self._get(value, node["value"])
        if kind == "index":
            return call(self.names.support("item_at"), value, ast.Constant(node["value"]))
        if kind in ("identity", "current"):
            return value
        kept, first = self._keep(value)
        # Both are worked out, in this order, and the second counts.
        return ast.Subscript(ast.Tuple([first, self.visit(node, kept)], LOAD), ast.Constant(1), LOAD)

    # What is done with every item

    def _flatten(self, node: Node, at: str) -> ast.expr:
        return call(self.names.support("flatten"), self.visit(node["children"][0], at))

    def _projection(self, node: Node, at: str) -> ast.expr:
        base, item, *tests = node["children"]
        return self._each("items_of", self.visit(base, at), item, tests)

    _filter_projection = _projection

    def _value_projection(self, node: Node, at: str) -> ast.expr:
        base, item = node["children"]
        return self._each("values_of", self.visit(base, at), item, [])

    def _each(self, of: str, base: ast.expr, item: Node, tests: list[Node]) -> ast.expr:
        items, one = self.fresh(), self.fresh("i")
        conditions: list[ast.expr] = [call(self.names.support("truthy"), self.visit(test, one)) for test in tests]
        found, kept = self._keep(self.visit(item, one))
        conditions.append(ast.Compare(kept, [ast.IsNot()], [ast.Constant(None)]))
        given = ast.NamedExpr(ast.Name(items, STORE), call(self.names.support(of), base))
        loop = ast.comprehension(ast.Name(one, STORE), name(items), conditions, 0)
        return ast.IfExp(
            ast.Compare(given, [ast.Is()], [ast.Constant(None)]), ast.Constant(None), ast.ListComp(name(found), [loop])
        )

    # What is made

    def _multi_select_list(self, node: Node, at: str) -> ast.expr:
        return self._unless_null(at, ast.List([self.visit(child, at) for child in node["children"]], LOAD))

    def _multi_select_dict(self, node: Node, at: str) -> ast.expr:
        pairs = [(child["value"], self.visit(child["children"][0], at)) for child in node["children"]]
        return self._unless_null(at, ast.Dict([ast.Constant(key) for key, _ in pairs], [value for _, value in pairs]))

    def _unless_null(self, at: str, made: ast.expr) -> ast.expr:
        if at == self.bindings:
            return made
        return ast.IfExp(ast.Compare(name(at), [ast.Is()], [ast.Constant(None)]), ast.Constant(None), made)

    # What is decided

    def _or_expression(self, node: Node, at: str) -> ast.expr:
        left, right = node["children"]
        kept, first = self._keep(self.visit(left, at))
        return ast.IfExp(call(self.names.support("truthy"), first), name(kept), self.visit(right, at))

    def _and_expression(self, node: Node, at: str) -> ast.expr:
        left, right = node["children"]
        kept, first = self._keep(self.visit(left, at))
        return ast.IfExp(call(self.names.support("truthy"), first), self.visit(right, at), name(kept))

    def _not_expression(self, node: Node, at: str) -> ast.expr:
        return call(self.names.support("is_false"), self.visit(node["children"][0], at))

    def _comparator(self, node: Node, at: str) -> ast.expr:
        left, right = (self.visit(child, at) for child in node["children"])
        sign = node["value"]
        if sign not in ("eq", "ne"):
            return call(self.names.support("order"), ast.Constant(sign), left, right)
        if isinstance(right, ast.Constant) and isinstance(right.value, str):
            # Only 0, 1 and the booleans are otherwise than Python has it.
            return ast.Compare(left, [ast.Eq() if sign == "eq" else ast.NotEq()], [right])
        same = call(self.names.support("equals"), left, right)
        return same if sign == "eq" else ast.UnaryOp(ast.Not(), same)

    def _function_expression(self, node: Node, at: str) -> ast.expr:
        called: str = node["value"]
        children: list[Node] = node["children"]
        if called == "when" and len(children) == 3:
            condition, then, otherwise = children
            if (folded := _fold(condition, self.tables)) is not None:
                return self.visit(then if truthy(folded[0]) else otherwise, at)
            test = call(self.names.support("truthy"), self.visit(condition, at))
            return ast.IfExp(test, self.visit(then, at), self.visit(otherwise, at))
        first = children[0] if children else {}
        if called == "lookup" and first.get("type") == "literal" and first["value"] in self.tables:
            table = {to_text(key): value for key, value in self.tables[first["value"]].items()}
            return call(self.names.lookup(first["value"], table), self.visit(children[1], at))
        applied = tuple(child["type"] == "expref" for child in children)
        variadic = FUNCTIONS[called].variadic
        known = applied[: len(FUNCTIONS[called].parameters)] if variadic else applied
        return call(self.names.function(called, known), *(self._argument(child, at) for child in children))

    def _argument(self, node: Node, at: str) -> ast.expr:
        if node["type"] != "expref":
            return self.visit(node, at)
        one = self.fresh("i")
        parameters = ast.arguments([], [ast.arg(one)], None, [], [], None, [])
        return call(self.names.support("Applied"), ast.Lambda(parameters, self.visit(node["children"][0], one)))


def _fold(node: Node, tables: Tables) -> tuple[Any] | None:
    """The value of a tree that reads nothing; None for one that does, or that fails."""
    if node["type"] == "literal":
        return (node["value"],)
    if node["type"] not in _FOLDED or any(_fold(child, tables) is None for child in node["children"]):
        return None
    code = build(node, SpecFunctions(tables))
    return (code.run(None),) if code.constant else None
