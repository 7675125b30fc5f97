"""Rows of tables and bounds of numbers that no example reaches, told in one line for each file (W313).

What counts is what a spec decides by itself: a row of a table that is looked up by an argument with a closed list of
values, a bound that is written into `clamp` around an argument, and one of a tool's own inputs. A row that says its own
key, or null, decides nothing, and a dictionary of open keys is data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from specloom.core import Place, Report, dataclass
from specloom.language import Choice, Shape, parse, strip
from specloom.model import Model, Provider, Tool
from specloom.specs import Listing, Map, Node, Spec, YamlScalar, to_plain

from .examples.compare import Example

_MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class _Lapse:
    """Something that no example reaches: where it is written, and what it is in words."""

    place: Place
    what: str
    is_size: bool = False


@dataclass(frozen=True, slots=True)
class _ArgumentCall:
    """A call over one argument of an operation or a tool: `clamp(args.NAME, …)` or `lookup('TABLE', args.NAME)`."""

    place: Place
    function: str
    argument: str
    literals: tuple[Any, ...]


def check_reach(
    spec: Spec, compiled: Provider | Tool, examples: Sequence[Example], model: Model, report: Report
) -> None:
    """Warn once of all rows and bounds of a provider or a tool that its examples do not reach (W313)."""
    if isinstance(compiled, Tool):
        lapses = [*_lapses_of_tool(spec, compiled, examples)]
    else:
        lapses = [*_lapses_of_provider(spec, compiled, examples, model)]
    if not lapses:
        return
    first = min(lapses, key=lambda one: (one.place.line, one.place.column))
    listed = [f"{one.what} (line {one.place.line})" for one in lapses]
    rest = f" and {len(listed) - _MOST_NAMED} more" if len(listed) > _MOST_NAMED else ""
    message = f"no example reaches {'; '.join(listed[:_MOST_NAMED])}{rest}"
    hint = "give an argument that value, or one beyond the bound, in an example"
    if any(one.is_size for one in lapses):
        hint += "; `{characters: N}` or `{times: N, of: X}` under `accept` stands for a long one"
    report.add("W313", first.place, message, hint)


def _lapses_of_tool(spec: Spec, tool: Tool, examples: Sequence[Example]) -> Iterator[_Lapse]:
    values = _values_of(examples)
    for name, one in tool.inputs.items():
        if one.default is not None and any(name not in (example.stated.get("args") or {}) for example in examples):
            values.setdefault(name, []).append(one.default)
    yield from _input_lapses(spec.root.get("input"), values, examples)
    calls = list(_calls_in(spec.root))
    shapes = {name: strip(one.shape) for name, one in tool.inputs.items()}
    yield from _row_lapses(spec, [(call, shapes, values) for call in calls])
    yield from _bound_lapses(calls, values)


def _lapses_of_provider(spec: Spec, provider: Provider, examples: Sequence[Example], model: Model) -> Iterator[_Lapse]:
    """A row is reached by an example of any operation, a bound by one of the operation in which it stands."""
    operations = spec.root.get("operations")
    looked: list[tuple[_ArgumentCall, Mapping[str, Shape], Mapping[str, list[Any]]]] = []
    for entry in operations if isinstance(operations, Map) else ():
        operation = provider.operations.get(entry.key)
        contract = model.capabilities.get(operation.capability) if operation else None
        ran = [one for one in examples if one.stated.get("operation") == entry.key]
        if contract is None or not ran:
            continue
        shapes = {name: strip(one.shape) for name, one in contract.arguments.items()}
        values, calls = _values_of(ran), list(_calls_in(entry.value))
        looked += [(call, shapes, values) for call in [*calls, *_calls_in(spec.root.get("values"))]]
        yield from _bound_lapses(calls, values)
    yield from _row_lapses(spec, looked)


def _input_lapses(
    inputs: Node | None, values: Mapping[str, list[Any]], examples: Sequence[Example]
) -> Iterator[_Lapse]:
    """Bounds of a tool's inputs; the lower one of a number above 1, which is the least that anybody asks for."""
    for entry in inputs if isinstance(inputs, Map) else ():
        rules = entry.value if isinstance(entry.value, Map) else None
        numbers = [one for one in values.get(entry.key, ()) if _is_number(one)]
        sizes = [_size_of(one) for one in _given_to(entry.key, examples)]
        for rule in rules or ():
            bound = to_plain(rule.value)
            if not _is_number(bound):
                continue
            match rule.key:
                case "maximum" if not any(one >= bound for one in numbers):
                    yield _Lapse(rule.place, f"the bound {bound:g} of {entry.key}")
                case "minimum" if bound > 1 and not any(one <= bound for one in numbers):
                    yield _Lapse(rule.place, f"the bound {bound:g} of {entry.key}")
                case "max_length" | "max_items" if not any(one >= bound for one in sizes):
                    unit = "characters" if rule.key == "max_length" else "items"
                    yield _Lapse(rule.place, f"the {bound:g} {unit} of {entry.key}", is_size=True)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _size_of(value: Any) -> int:
    """How long a text or a list of an example is, also where `{characters: N}` or `{times: N, of: X}` stands for it."""
    if isinstance(value, dict):
        size = value.get("characters", value.get("times", 0))
        return size if isinstance(size, int) else 0
    return len(value) if isinstance(value, (str, list)) else 0


def _given_to(name: str, examples: Iterable[Example]) -> Iterator[Any]:
    """What each example gives an argument, what is refused and accepted included."""
    return (given[name] for example in examples for given in _arguments_of(example) if name in given)


def _arguments_of(example: Example) -> list[Mapping[str, Any]]:
    stated = example.stated
    return [one or {} for one in (stated.get("args"), *(stated.get("refuse") or ()), *(stated.get("accept") or ()))]


def _values_of(examples: Iterable[Example]) -> dict[str, list[Any]]:
    """Every value that an example gives an argument, those among what is refused or accepted included."""
    found: dict[str, list[Any]] = {}
    for example in examples:
        for given in _arguments_of(example):
            for name, value in given.items():
                found.setdefault(name, []).extend(value if isinstance(value, list) else [value])
    return found


def _bound_lapses(calls: Iterable[_ArgumentCall], values: Mapping[str, list[Any]]) -> Iterator[_Lapse]:
    for call in calls:
        if call.function != "clamp":
            continue
        low, high = call.literals
        numbers = [one for one in values.get(call.argument, ()) if isinstance(one, (int, float))]
        if high is not None and not any(one >= high for one in numbers):
            yield _Lapse(call.place, f"the bound {high:g} of {call.argument}")
        # One is the least that anybody asks for.
        if low is not None and low > 1 and not any(one <= low for one in numbers):
            yield _Lapse(call.place, f"the bound {low:g} of {call.argument}")


def _row_lapses(
    spec: Spec, looked: Iterable[tuple[_ArgumentCall, Mapping[str, Shape], Mapping[str, list[Any]]]]
) -> Iterator[_Lapse]:
    reached: dict[str, set[str]] = {}
    closed: dict[str, set[str]] = {}
    for call, shapes, values in looked:
        shape = shapes.get(call.argument)
        if call.function == "lookup" and isinstance(shape, Choice):
            (table,) = call.literals
            closed.setdefault(table, set()).update(shape.values)
            reached.setdefault(table, set()).update(str(one) for one in values.get(call.argument, ()))
    tables = spec.root.get("tables")
    for name, keys in closed.items():
        rows = tables.get(name) if isinstance(tables, Map) else None
        missed = [
            entry
            for entry in (rows if isinstance(rows, Map) else ())
            if to_plain(entry.value) not in (None, entry.key) and entry.key in keys - reached[name]
        ]
        if missed:
            yield _Lapse(missed[0].place, f"{', '.join(entry.key for entry in missed)} of table {name}")


def _calls_in(node: Node | None) -> Iterator[_ArgumentCall]:
    """The calls over one argument in the expressions of a tree; examples have none."""
    if isinstance(node, YamlScalar):
        if isinstance(node.value, str) and ("clamp(" in node.value or "lookup(" in node.value):
            tree = parse(node.value.removeprefix("="))
            if isinstance(tree, dict):
                yield from _calls_of(tree, node.place)
        return
    if isinstance(node, Map):
        for entry in node:
            if entry.key != "examples":
                yield from _calls_in(entry.value)
    elif isinstance(node, Listing):
        for item in node.items:
            yield from _calls_in(item)


def _calls_of(tree: Mapping[str, Any], place: Place) -> Iterator[_ArgumentCall]:
    children = tree.get("children") or []
    if tree.get("type") == "function_expression":
        if tree["value"] == "clamp" and len(children) == 3 and (name := _argument_of(children[0])):
            bounds = [_number_of(one) for one in children[1:]]
            yield _ArgumentCall(place, "clamp", name, tuple(bounds))
        if tree["value"] == "lookup" and len(children) == 2 and (name := _argument_of(children[1])):
            yield _ArgumentCall(place, "lookup", name, (children[0].get("value"),))
    for child in children:
        if isinstance(child, dict):
            yield from _calls_of(child, place)


def _argument_of(tree: Mapping[str, Any]) -> str:
    """NAME where the tree is `args.NAME`; nothing for any other."""
    parts = tree.get("children") or []
    if tree.get("type") != "subexpression" or len(parts) != 2:
        return ""
    is_argument = all(one.get("type") == "field" for one in parts) and parts[0]["value"] == "args"
    return str(parts[1]["value"]) if is_argument else ""


def _number_of(tree: Mapping[str, Any]) -> float | None:
    value = tree.get("value") if tree.get("type") == "literal" else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
