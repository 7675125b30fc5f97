"""Makers of what specs carry out: each makes a function from data, from values and from what other makers made.

A function remembers who made it of what, so that code which makes it again can be generated; see `made_by`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from specloom.core import Place, Secret, clean, is_clean

from .converters import Moment, absolute_http, compile_converter
from .evaluation import MISSING, Bindings, Evaluable, Layer, Unworkable, as_list, build, evaluate
from .expressions.failures import EvaluationError
from .signatures import truthy
from .types import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, Choice, ListOf, Maybe, RecordType, Shape
from .xpath import defer_xpath

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
Convert = Callable[[Any, Moment], Any]
Every = Callable[[Any, Bindings], list[Any]]
Read = Callable[[Any, Bindings], Any]
Select = Callable[[Any], Any]
Evaluate = Callable[[Bindings], Any]

MAKERS: dict[str, Callable[..., Any]] = {}
"""Every maker by its name, as generated code calls it."""


def maker(make: Callable[P, F]) -> Callable[P, F]:
    """Let what is made remember its maker and what it was made of."""
    name = make.__name__
    MAKERS[name] = make

    @wraps(make)
    def remember(*parts: P.args, **named: P.kwargs) -> F:
        function = make(*parts, **named)
        # A function of the module that several calls give, such as that for texts, keeps to the first of them: code
        # that is made of it is the same however often, and in whichever order, others were made since.
        vars(function).setdefault("made_by", (name, parts))
        return function

    return remember


def made_by(function: Callable[..., Any]) -> tuple[str, tuple[Any, ...]] | None:
    """The name of the maker of a function, and what it was made of; None for a function of a module."""
    found: tuple[str, tuple[Any, ...]] | None = getattr(function, "made_by", None)
    return found


# --- Values: from bindings to what is sent, shown or decided ----------------------------------------------------------


@maker
def constantly(value: Any) -> Evaluate:
    """The same each time."""
    return lambda _context: value


@maker
def list_of(parts: tuple[Evaluable, ...]) -> Evaluate:
    """A list of values."""
    return lambda context: [part.evaluate(context) for part in parts]


@maker
def object_of(pairs: tuple[tuple[str, Evaluable], ...]) -> Evaluate:
    """An object of values, without those that are null."""
    return lambda context: build(pairs, context)


@maker
def credentials(key: Evaluable, secret: Evaluable) -> Callable[[Bindings], Secret | None]:
    """A key and its secret as one secret, parted by a colon; null unless both have a value."""

    def evaluate_both(context: Bindings) -> Secret | None:
        values = [evaluate(one, context) for one in (key, secret)]
        if None in values:
            return None
        return Secret(":".join(one.reveal() if isinstance(one, Secret) else str(one) for one in values))

    return evaluate_both


@maker
def address_below(base: Evaluable, path: str) -> Callable[[Bindings], str]:
    """The address of a path under a base, which may be a setting."""
    return lambda context: str(evaluate(base, context)).rstrip("/") + path


# --- Readers: from an item to what a field holds ----------------------------------------------------------------------


def select(of: Select, one: Any, place: Place) -> Any:
    """What a selector finds in an item; an item that it cannot be applied to means that the upstream changed."""
    try:
        return of(one)
    except EvaluationError as error:
        raise Unworkable(error, place) from None


@maker
def selected(of: Select, place: Place) -> Read:
    """What a selector finds first."""

    def first(one: Any, _context: Bindings) -> Any:
        # The innermost loop of every mapping, so `select` is written out.
        try:
            return of(one)
        except EvaluationError as error:
            raise Unworkable(error, place) from None

    return first


@maker
def every_selected(of: Select, place: Place) -> Every:
    """All that a selector finds."""
    return lambda one, _context: as_list(select(of, one, place))


@maker
def from_context(value: Evaluable) -> Read:
    """The value of an expression that sees the item beside the bindings."""
    return lambda one, context: evaluate(value, Layer(context, item=one))


@maker
def every_from_context(value: Evaluable) -> Every:
    """The same as a list."""
    return lambda one, context: as_list(evaluate(value, Layer(context, item=one)))


@maker
def only_item() -> Every:
    """The item itself, for an expression that is told of nothing else."""
    return lambda one, _context: [one]


@maker
def xpath_first(text: str, namespaces: Mapping[str, str]) -> Read:
    """The text of the first node that an XPath selects."""
    later = defer_xpath(text, namespaces)
    return lambda one, _context: later().first(one)


@maker
def xpath_every(text: str, namespaces: Mapping[str, str]) -> Every:
    """The texts of all nodes that an XPath selects."""
    later = defer_xpath(text, namespaces)
    return lambda one, _context: later().all(one)


@maker
def xpath_nodes(text: str, namespaces: Mapping[str, str]) -> Every:
    """The nodes that an XPath selects."""
    later = defer_xpath(text, namespaces)
    return lambda one, _context: later().nodes(one)


@maker
def converted(steps: tuple[tuple[str, Any], ...]) -> Convert:
    """Converters one after the other, each by its name with its parameters."""
    functions = [compile_converter(name, parameters) for name, parameters in steps]
    if len(functions) == 1:
        return functions[0]

    def convert(value: Any, moment: Moment) -> Any:
        for function in functions:
            value = function(value, moment)
        return value

    return convert


@maker
def first_hit(readers: tuple[Read, ...], convert: Convert | None, fallback: Any, when: Evaluable | None) -> Read:
    """What the first reader gives that finds something, converted, or the fallback; null where `when` does not hold."""

    if len(readers) == 1 and when is None:
        return _only_hit(readers[0], convert, fallback)

    def read(one: Any, context: Bindings) -> Any:
        if when is not None and not truthy(evaluate(when, context)):
            return None
        for reader in readers:
            result = reader(one, context)
            if convert is not None and result not in MISSING:
                result = convert(result, context.get("moment"))
            if result not in MISSING:
                return result
        return fallback

    return read


def _only_hit(reader: Read, convert: Convert | None, fallback: Any) -> Read:
    """The same of one reader without a condition, which is most fields."""

    def read(one: Any, context: Bindings) -> Any:
        result = reader(one, context)
        if result in MISSING:
            return fallback
        if convert is None:
            return result
        result = convert(result, context.get("moment"))
        return fallback if result in MISSING else result

    return read


@maker
def of_each(nodes: Every, inner: Read, convert: Convert | None, fallback: Any, when: Evaluable | None) -> Read:
    """What a reader gives of every node, without what is missing, converted as a list, or the fallback."""

    def read(one: Any, context: Bindings) -> Any:
        if when is not None and not truthy(evaluate(when, context)):
            return None
        result: Any = [got for part in nodes(one, context) if (got := inner(part, context)) not in MISSING]
        if convert is not None and result not in MISSING:
            result = convert(result, context.get("moment"))
        return fallback if result in MISSING else result

    return read


# --- Selections: from a document to its items -------------------------------------------------------------------------

Selection = Callable[[Any], list[Any] | None]


@maker
def selection(of: Select, place: Place) -> Selection:
    """The list that a selector finds; None where a key is missing, which is not the same as empty."""

    def find(document: Any) -> list[Any] | None:
        found = select(of, document, place)
        return None if found is None else as_list(found)

    return find


@maker
def xpath_selection(text: str, namespaces: Mapping[str, str]) -> Selection:
    """The nodes that an XPath selects; a tree has no empty lists: what is not there is missing."""
    later = defer_xpath(text, namespaces)
    return lambda document: later().nodes(document) or None


@maker
def whole_document() -> Callable[[Any], list[Any]]:
    """The items of a document that is a list, or the document as the only one."""

    def find(document: Any) -> list[Any]:
        if document is None:
            return []
        return document if isinstance(document, list) else [document]

    return find


@maker
def holds(of: Selection) -> Callable[[Any], bool]:
    """Whether a selection finds anything that is neither empty nor false."""
    return lambda document: any(hit not in (None, "", False) for hit in of(document) or ())


# --- Conformance: from a value to the type that a capability declares -------------------------------------------------

MOST_BITS = 1023
"""Bits of the longest integer that is a number: a longer one is no double (IEEE 754), and most readers lose it."""


@maker
def conformer(kind: str, shape: Shape) -> Callable[[Any], Any]:
    """A function that gives the value in its declared type, or None when it cannot be that; nothing is rounded.

    Text comes without characters that nobody sees, which can carry a message past a reader. What stays as it came is a
    `document`, which whoever reads it cleans and tells of what was in it, and an object of undeclared fields outside
    lists.
    """
    choices = shape.values if isinstance(shape, Choice) else ()
    if kind == "integer":
        return _to_integer
    if kind == "number":
        return _to_number
    if kind == "boolean":
        return lambda value: value if isinstance(value, bool) else None
    if kind == "timestamp":
        return lambda value: value if isinstance(value, str) and _is_timestamp(value) else None
    if kind == "list":
        of = _kind_of(shape.item if isinstance(shape, ListOf) else TEXT)
        inner = _to_seen if of == "any" else conformer(of, ANY)
        return lambda value: (
            [got for one in value if (got := inner(one)) is not None] if isinstance(value, list) else None
        )
    if kind == "object":
        return _object_conformer(shape)
    if kind == "any":
        return lambda value: value
    if kind == "document":
        return lambda value: value if isinstance(value, str) else None
    if kind == "url":
        return _to_url
    if choices:
        return lambda value: value if value in choices else None
    return _to_text


def _object_conformer(shape: Shape) -> Callable[[Any], Any]:
    """For an object with declared fields these alone, without what is unknown or of another type; None of nothing."""
    shape = shape.shape if isinstance(shape, Maybe) else shape
    if not isinstance(shape, RecordType) or not shape.fields:
        return lambda value: value if isinstance(value, dict) else None
    inner = {name: conformer(_kind_of(one), one) for name, one in shape.fields.items()}

    def fit(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        return {name: got for name, to in inner.items() if (got := to(value.get(name))) is not None} or None

    return fit


def _to_seen(value: Any) -> Any:
    """An item of a list with all its texts as they are seen; None when it is nested too deeply to look into."""
    try:
        return _seen(value)
    except RecursionError:
        return None


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)[0]
    if isinstance(value, dict):
        return {name: _seen(one) for name, one in value.items()}
    return [_seen(one) for one in value] if isinstance(value, list) else value


def _kind_of(shape: Shape) -> str:
    shape = shape.shape if isinstance(shape, Maybe) else shape
    return (
        {INTEGER: "integer", NUMBER: "number", BOOLEAN: "boolean", ANY: "any"}.get(shape, "text")
        if not isinstance(shape, (RecordType, ListOf))
        else "object"
    )


def _to_url(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    url: str | None = absolute_http(value if is_clean(value) else clean(value)[0])
    return url


def _to_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value if is_clean(value) else clean(value)[0]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return str(value)


def _to_integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?\d{1,18}\s*", value):
        return int(value)
    return None


def _to_number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value.bit_length() <= MOST_BITS else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    return None


def _is_timestamp(text: str) -> bool:
    try:
        return text.endswith("Z") and datetime.fromisoformat(text).tzinfo is UTC
    except ValueError:
        return False
