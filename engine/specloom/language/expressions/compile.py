"""From a JMESPath tree to nested Python closures that mean exactly what the package's interpreter means.

A closure costs a fraction of the interpreter's visit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from jmespath.visitor import Options, TreeInterpreter

from ..functions.registry import FUNCTIONS
from ..signatures import truthy
from .calls import SpecFunctions
from .failures import CAUGHT, FAILURES, EvaluationError, name_expression, to_error, unordered
from .parser import ExpressionProblem, Node, parse
from .support import ORDER, Applied, Types, equals, find_types, flatten, get, is_false, item_at, order, values_of

# --- The plain interpreter with our functions: the meaning that compiled expressions are held to ----------------------


class Interpreter(TreeInterpreter):
    """The package's interpreter, which knows secrets, evaluates only one branch of `when`, and fails in one way."""

    def _is_false(self, value: Any) -> bool:
        return not truthy(value)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        """The result of a call; `when` evaluates the branch that it takes."""
        if node["value"] == "when" and len(node["children"]) == 3:
            condition, then, otherwise = node["children"]
            return self.visit(then if truthy(self.visit(condition, value)) else otherwise, value)
        return super().visit_function_expression(node, value)

    def visit_comparator(self, node: Any, value: Any) -> Any:
        """The comparison; an order of unlike things is an `EvaluationError`."""
        try:
            return super().visit_comparator(node, value)
        except TypeError as error:
            raise unordered(node["value"]) from error


def make_interpreter(functions: SpecFunctions) -> Interpreter:
    """An interpreter that calls these functions."""
    return Interpreter(Options(custom_functions=functions))


def evaluate_reference(text: str, value: Any, tables: Mapping[str, Mapping[str, Any]]) -> Any:
    """What the expression gives when the package interprets it with our functions, without any static check."""
    node = parse(text)
    if isinstance(node, ExpressionProblem):
        raise EvaluationError(text, node.message)
    return guard(text, lambda item: make_interpreter(SpecFunctions(tables)).visit(node, item))(value)  # type: ignore[arg-type]


def guard(text: str, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same, with every failure an `EvaluationError` that names the expression."""

    def evaluate(value: Any) -> Any:
        try:
            return run(value)
        except CAUGHT as error:
            raise name_expression(text, error) from error

    return evaluate


# --- The closures that compiled expressions are made of, each with the exact meaning of a node of the package's
# tree -----------------------------------------------------------------------------------------------------------------


Run = Callable[[Any], Any]


@lru_cache(maxsize=1024)
def make_field(name: str) -> Run:
    def run(value: Any) -> Any:
        return value.get(name) if type(value) is dict else get(value, name)

    return run


@lru_cache(maxsize=1024)
def make_path(names: tuple[str, ...]) -> Run:
    if len(names) == 2:
        first, second = names

        def run_two(value: Any) -> Any:
            value = value.get(first) if type(value) is dict else get(value, first)
            return value.get(second) if type(value) is dict else get(value, second)

        return run_two

    def run(value: Any) -> Any:
        for name in names:
            value = value.get(name) if type(value) is dict else get(value, name)
        return value

    return run


def make_index(position: int) -> Run:
    return lambda value: item_at(value, position)


def make_flatten(base: Run) -> Run:
    return lambda value: flatten(base(value))


def make_projection(base: Run, item: Run) -> Run:
    def run(value: Any) -> Any:
        items = base(value)
        if not isinstance(items, list):
            return None
        return [found for element in items if (found := item(element)) is not None]

    return run


def make_value_projection(base: Run, item: Run) -> Run:
    def run(value: Any) -> Any:
        items = values_of(base(value))
        return None if items is None else [found for element in items if (found := item(element)) is not None]

    return run


def make_filter(base: Run, item: Run, test: Run) -> Run:
    def run(value: Any) -> Any:
        items = base(value)
        if not isinstance(items, list):
            return None
        return [found for element in items if truthy(test(element)) and (found := item(element)) is not None]

    return run


def make_order(first: Run, second: Run, sign: str) -> Run:
    return lambda value: order(sign, first(value), second(value))


def make_checked_call(functions: SpecFunctions, name: str, runs: tuple[Run, ...]) -> Run:
    def run(value: Any) -> Any:
        return functions.call_function(name, [argument(value) for argument in runs])

    return run


def make_call(
    name: str,
    call: Callable[..., Any],
    runs: tuple[Run, ...],
    checks: Types,
    checked: Run,
) -> Run:
    def run(value: Any) -> Any:
        arguments = [argument(value) for argument in runs]
        for position, types in checks:
            if type(arguments[position]) not in types:
                return checked(value)
        try:
            return call(*arguments)
        except FAILURES as error:
            raise to_error(name, arguments, error) from error

    return run


class Code(NamedTuple):
    """A closure, whether it always gives the same (`constant`), and whether it can fail."""

    run: Run
    constant: bool = False
    fails: bool = False


def build(node: Node, functions: SpecFunctions) -> Code:
    """The closure of a tree that the type checker has nothing against."""
    return _ClosureBuilder(functions).visit(node)


class _ClosureBuilder:
    def __init__(self, functions: SpecFunctions) -> None:
        self.functions = functions

    def visit(self, node: Node) -> Code:
        method: Callable[[Node], Code] = getattr(self, f"_{node['type']}")
        return method(node)

    def _visit_all(self, node: Node) -> list[Code]:
        return [self.visit(child) for child in node["children"]]

    def _identity(self, _: Node) -> Code:
        return Code(_current)

    _current = _identity

    def _literal(self, node: Node) -> Code:
        return _constant(node["value"])

    def _field(self, node: Node) -> Code:
        return Code(make_field(node["value"]))

    def _index(self, node: Node) -> Code:
        return Code(make_index(node["value"]))

    def _slice(self, node: Node) -> Code:
        bounds = slice(*node["children"])
        return Code(lambda value: value[bounds] if isinstance(value, list) else None, fails=bounds.step == 0)

    def _subexpression(self, node: Node) -> Code:
        names = tuple(child["value"] for child in node["children"] if child["type"] == "field")
        if len(names) == len(node["children"]):
            return Code(make_path(names))
        return _chain(self._visit_all(node))

    def _index_expression(self, node: Node) -> Code:
        return _chain(self._visit_all(node))

    _pipe = _index_expression

    def _flatten(self, node: Node) -> Code:
        base = self.visit(node["children"][0])
        return Code(make_flatten(base.run), fails=base.fails)

    def _projection(self, node: Node) -> Code:
        base, item = self._visit_all(node)
        return Code(make_projection(base.run, item.run), fails=base.fails or item.fails)

    def _value_projection(self, node: Node) -> Code:
        base, item = self._visit_all(node)
        return Code(make_value_projection(base.run, item.run), fails=base.fails or item.fails)

    def _filter_projection(self, node: Node) -> Code:
        base, item, test = self._visit_all(node)
        run = make_filter(base.run, item.run, test.run)
        return Code(run, fails=base.fails or item.fails or test.fails)

    def _multi_select_list(self, node: Node) -> Code:
        items = self._visit_all(node)
        runs = tuple(item.run for item in items)

        def run(value: Any) -> Any:
            return None if value is None else [item(value) for item in runs]

        return Code(run, fails=any(item.fails for item in items))

    def _multi_select_dict(self, node: Node) -> Code:
        items = self._visit_all(node)
        pairs = tuple((child["value"], item.run) for child, item in zip(node["children"], items, strict=True))

        def run(value: Any) -> Any:
            return None if value is None else {name: item(value) for name, item in pairs}

        return Code(run, fails=any(item.fails for item in items))

    def _key_val_pair(self, node: Node) -> Code:
        return self.visit(node["children"][0])

    def _or_expression(self, node: Node) -> Code:
        left, right = self._visit_all(node)
        first, second = left.run, right.run

        def run(value: Any) -> Any:
            found = first(value)
            return found if truthy(found) else second(value)

        return _fold(run, [left, right])

    def _and_expression(self, node: Node) -> Code:
        left, right = self._visit_all(node)
        first, second = left.run, right.run

        def run(value: Any) -> Any:
            found = first(value)
            return second(value) if truthy(found) else found

        return _fold(run, [left, right])

    def _not_expression(self, node: Node) -> Code:
        inner = self.visit(node["children"][0])
        original = inner.run
        return _fold(lambda value: is_false(original(value)), [inner])

    def _comparator(self, node: Node) -> Code:
        left, right = self._visit_all(node)
        sign = node["value"]
        if sign not in ORDER:
            return _fold(_make_equality(left, right, negated=sign == "ne"), [left, right])
        return _fold(make_order(left.run, right.run, sign), [left, right], fails=True)

    def _function_expression(self, node: Node) -> Code:
        name: str = node["value"]
        children: list[Node] = node["children"]
        function = FUNCTIONS.get(name)
        if name == "when" and len(children) == 3:
            return _make_when(*self._visit_all(node))
        arguments = [self._argument(child) for child in children]
        run = make_checked_call(self.functions, name, tuple(argument.run for argument in arguments))
        if function is not None and function.takes(len(children)):
            fast = self._fast_call(name, children, tuple(argument.run for argument in arguments), run)
            has_expression = any(child["type"] == "expref" for child in children)
            return Code(fast, fails=True) if has_expression else _fold(fast, arguments, fails=True)
        return Code(run, fails=True)

    def _argument(self, node: Node) -> Code:
        return _constant(Applied(self.visit(node["children"][0]).run)) if node["type"] == "expref" else self.visit(node)

    def _fast_call(self, name: str, children: list[Node], runs: tuple[Run, ...], checked: Run) -> Run:
        """A call that looks at the arguments' types itself and leaves every doubt to the package's check."""
        function = FUNCTIONS[name]
        checks = find_types(function, tuple(child["type"] == "expref" for child in children))
        if checks is None:
            return checked
        if name == "lookup":
            first = children[0]
            if first["type"] != "literal" or first["value"] not in self.functions.tables:
                return checked
            table = self.functions.tables[first["value"]]
            runs = (lambda _: table, *runs[1:])
            checks = checks[1:]
        return make_call(name, function.call, runs, checks, checked)


def _current(value: Any) -> Any:
    return value


def _constant(value: Any) -> Code:
    return Code(lambda _: value, constant=True)


def _fold(run: Run, parts: list[Code], *, fails: bool = False) -> Code:
    if all(part.constant for part in parts):
        try:
            return _constant(run(None))
        except EvaluationError:
            return Code(run, fails=True)
    return Code(run, fails=fails or any(part.fails for part in parts))


def _chain(parts: list[Code]) -> Code:
    fails = any(part.fails for part in parts)
    runs = tuple(part.run for part in parts if part.run is not _current)
    if len(runs) < 2:
        return Code(runs[0] if runs else _current, fails=fails)
    if len(runs) == 2:
        first, second = runs
        return Code(lambda value: second(first(value)), fails=fails)

    def run(value: Any) -> Any:
        for part in runs:
            value = part(value)
        return value

    return Code(run, fails=fails)


def _make_equality(left: Code, right: Code, *, negated: bool) -> Run:
    first, second = left.run, right.run
    literal = right.run(None) if right.constant else None
    # Only 0, 1 and the booleans need the package's own comparison: Python takes them for equal.
    if isinstance(literal, str):
        if negated:
            return lambda value: first(value) != literal
        return lambda value: first(value) == literal
    if negated:
        return lambda value: not equals(first(value), second(value))
    return lambda value: equals(first(value), second(value))


def _make_when(condition: Code, then: Code, otherwise: Code) -> Code:
    if condition.constant:
        return then if truthy(condition.run(None)) else otherwise
    test, first, second = condition.run, then.run, otherwise.run
    fails = condition.fails or then.fails or otherwise.fails
    return Code(lambda value: first(value) if truthy(test(value)) else second(value), fails=fails)
