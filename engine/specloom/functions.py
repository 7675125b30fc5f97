"""The functions that expressions may call: those of JMESPath and our own, in one registry with examples that are run.

Null into a typed parameter is an error, as in JMESPath, except where the description says what null gives.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from .functions_data import DATA, registrar
from .functions_jmespath import describe_builtins
from .shapes import ANY, BOOLEAN, INTEGER, NUMBER, TEXT, ListOf, Shape, join, may_be_null, maybe, strip
from .signatures import Function, ResultOf
from .vault import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

_STOP_WORDS = """
a about an and any are as at be by can could did do does for from had has have how i in is it me my of on or please
should so that the their there this to was we what when where which who why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WORDS = re.compile(r"\w+")
_PHRASES = re.compile(r'[^\s"]*"[^"]*"|\S+')
_EDGES = "?!.,;:\"'()[]…“”‘’"
_MAX_WIDTH = 1000
_OWN: dict[str, Function] = {}
_function = registrar(_OWN)


def is_true(value: Any) -> bool:
    """Truth as in JMESPath: null, false and the empty text, list, object or secret are false; zero is true."""
    if value is None or value is False:
        return False
    if isinstance(value, (str, list, dict, Secret)):
        return bool(value)
    return value not in ("", [], {})


def to_text(value: Any) -> str:
    """A value as it is written into a text or compared with a table's key; lists and objects as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def placeholders(template: str) -> list[str]:
    """The names that a template of `fill` takes from its object."""
    return _PLACEHOLDER.findall(template)


def _clamped(arguments: tuple[Shape, ...]) -> Shape:
    bounded = _arithmetic(arguments)
    return maybe(bounded) if may_be_null(arguments[0]) else bounded


def _null_or(shape: Shape) -> ResultOf:
    """The result of a function that hands null through."""
    return lambda arguments: maybe(shape) if may_be_null(arguments[0]) else shape


def _arithmetic(arguments: tuple[Shape, ...]) -> Shape:
    return INTEGER if all(strip(shape) == INTEGER for shape in arguments) else NUMBER


def _either(arguments: tuple[Shape, ...]) -> Shape:
    return join(arguments[1], arguments[2])


@_function(
    "nullable number",
    "number",
    "number",
    result=_clamped,
    examples=(("clamp(`50`, `1`, `20`)", 20), ("clamp(`null`, `1`, `20`)", None)),
)
def _clamp(number: float | None, low: float, high: float) -> float | None:
    """The number, or the bound that it is beyond; null gives null."""
    return None if number is None else max(low, min(number, high))


@_function(
    "any",
    "any",
    "any",
    result=_either,
    examples=(("when('x', `1`, `2`)", 1), ("when(`[]`, `1`, `2`)", 2)),
)
def _when(condition: Any, then: Any, otherwise: Any) -> Any:
    """The second argument if the first is true as JMESPath sees it, else the third; the other one is not evaluated."""
    return then if is_true(condition) else otherwise


@_function(
    "table",
    "nullable string or number or boolean",
    result=ANY,
    examples=(("lookup('demo', 'day')", "d"), ("lookup('demo', `null`)", None), ("lookup('demo', 'never')", None)),
)
def _lookup(table: Mapping[str, Any], key: Any) -> Any:
    """The entry of a declared table, named literally; null where the key is null or not in the table. Keys are compared
    as texts."""
    return None if key is None else table.get(to_text(key))


@_function(
    "string",
    "nullable object",
    result=maybe(TEXT),
    examples=(("fill('{a} of {b}', {a: `1`, b: 'two'})", "1 of two"), ("fill('{a}', {a: `null`})", None)),
)
def _fill(template: str, values: Mapping[str, Any] | None) -> str | None:
    """The text with each `{name}` replaced by that field of the object; null where a field is missing or null, or the
    object is null. Other braces stay."""
    found = {name: (values or {}).get(name) for name in placeholders(template)}
    if values is None or any(value is None for value in found.values()):
        return None
    return _PLACEHOLDER.sub(lambda match: to_text(found[match[1]]), template)


@_function(
    "string",
    "nullable array or string",
    result=maybe(TEXT),
    examples=(
        ("any_of('site:{}', ['a', 'b'])", "(site:a OR site:b)"),
        ("any_of('site:{}', ['a'])", "site:a"),
        ("any_of('site:{}', `[]`)", None),
    ),
)
def _any_of(template: str, items: list[Any] | str | None) -> str | None:
    """The template with `{}` filled by each item, joined by OR in brackets; one alone without brackets; null for a null
    or empty list. Null and empty items are passed over, and a text is a list of one."""
    listed = [items] if isinstance(items, str) else items or []
    parts = [template.replace("{}", to_text(item)) for item in listed if is_true(item)]
    return f"({' OR '.join(parts)})" if len(parts) > 1 else parts[0] if parts else None


@_function("number", "number", result=_arithmetic, examples=(("add(`1`, `2`)", 3),))
def _add(first: float, second: float) -> float:
    """The sum of two numbers."""
    return _finite(first + second)


@_function("number", "number", result=_arithmetic, examples=(("subtract(`3`, `2`)", 1),))
def _subtract(first: float, second: float) -> float:
    """The first number less the second."""
    return _finite(first - second)


@_function("number", "number", result=_arithmetic, examples=(("multiply(`3`, `2`)", 6),))
def _multiply(first: float, second: float) -> float:
    """The product of two numbers."""
    return _finite(first * second)


@_function(
    "nullable number",
    result=_null_or(TEXT),
    examples=(("timestamp(`0`)", "1970-01-01T00:00:00Z"), ("timestamp(`null`)", None)),
)
def _timestamp(seconds: float | None) -> str | None:
    """Seconds since 1970 as RFC 3339 text in UTC, to the second; null gives null."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(math.floor(seconds), UTC).replace(tzinfo=None).isoformat() + "Z"


@_function("nullable number", result=_null_or(TEXT), examples=(("date(`86400`)", "1970-01-02"), ("date(`null`)", None)))
def _date(seconds: float | None) -> str | None:
    """Seconds since 1970 as the day in UTC; null gives null."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(math.floor(seconds), UTC).date().isoformat()


@_function(
    "string",
    result=maybe(TEXT),
    examples=(("keywords('what is the best demo')", "best demo"), ("keywords('best demo')", None)),
)
def _keywords(text: str) -> str | None:
    """The text without common English words; null where none is in it or nothing else is left."""
    words = text.split()
    kept = [word for word in words if word.strip(_EDGES).lower() not in STOP_WORDS]
    return " ".join(kept) if 0 < len(kept) < len(words) else None


@_function(
    "string",
    "string or array of string",
    result=BOOLEAN,
    examples=(("words_all_in('A deep Net', 'net deep')", True), ("words_all_in('A network', 'net')", False)),
)
def _words_all_in(text: str, words: str | list[str]) -> bool:
    """Whether every word is in the text as a whole word, in any case and order; the words are a text or a list."""
    wanted = words if isinstance(words, str) else " ".join(words)
    return {*_WORDS.findall(wanted.casefold())} <= {*_WORDS.findall(text.casefold())}


@_function(
    "nullable string",
    "nullable string or array",
    result=INTEGER,
    examples=(
        ("words_in('A deep net, a deep pool', 'deep net of nets')", 2),
        ("words_in('A deep net', ['net', 'DEEP'])", 2),
        ("words_in(`null`, 'net')", 0),
    ),
)
def _words_in(text: str | None, words: str | list[Any] | None) -> int:
    """How many different words of the second argument, a text or a list, are in the text as whole words, in any case;
    0 where either is null. What is no text in the list is passed over."""
    wanted = words if isinstance(words, str) else " ".join(word for word in words or () if isinstance(word, str))
    return len({*_WORDS.findall(wanted.casefold())} & {*_WORDS.findall((text or "").casefold())})


@_function("string", result=INTEGER, examples=(("word_count('one two')", 2), ("word_count('')", 0)))
def _word_count(text: str) -> int:
    """How many blank-separated words the text has."""
    return len(text.split())


@_function(
    "nullable string",
    "number",
    result=_null_or(TEXT),
    examples=(("truncate('abcdef', `3`)", "abc"), ("truncate(`null`, `3`)", None)),
)
def _truncate(text: str | None, count: float) -> str | None:
    """The first so many characters (code points) of the text; null gives null."""
    if text is None:
        return None
    if count < 0:
        raise ValueError("a length cannot be negative")
    return text[: int(count)]


@_function(
    "nullable string or number",
    "number",
    "string",
    result=_null_or(TEXT),
    examples=(("pad('42', `5`, '0')", "00042"), ("pad(`42`, `5`, '0')", "00042"), ("pad(`null`, `5`, '0')", None)),
)
def _pad(text: str | float | None, width: float, fill: str) -> str | None:
    """The text or number with one character repeated in front of it until it has the width; null gives null."""
    if text is None:
        return None
    if len(fill) != 1:
        raise ValueError("the text is filled up with one character")
    if not 0 <= width <= _MAX_WIDTH:
        raise ValueError(f"a width is between 0 and {_MAX_WIDTH:,}")
    return to_text(text).rjust(int(width), fill)


@_function(
    "string",
    result=maybe(TEXT),
    examples=(
        ("host('https://User@Example.org:8080/a')", "example.org"),
        ("host('https://Bücher.example')", "xn--bcher-kva.example"),
        ("host('not a url')", None),
    ),
)
def _host(url: str) -> str | None:
    """The host of the URL in lower case and as DNS has it, without the port; null where it has none."""
    try:
        host = urlsplit(url.strip()).hostname or ""
        if not host.isascii():
            # Imported here because most hosts are ASCII and the tables are large.
            import idna

            host = idna.encode(host, uts46=True).decode("ascii")
    except ValueError:  # a malformed address or name; the errors of IDNA are among them
        return None
    return host or None


@_function(
    "nullable string",
    "string",
    result=_null_or(ListOf(TEXT)),
    examples=(("split('a,b', ',')", ["a", "b"]), ("split(`null`, ',')", None)),
)
def _split(text: str | None, separator: str) -> list[str] | None:
    """The parts of the text between separators; null gives null."""
    return None if text is None else text.split(separator)


@_function(
    "nullable string or number or boolean",
    "array",
    result=lambda arguments: maybe(strip(arguments[0])),
    examples=(
        ("one_of('de', ['de', 'fr'])", "de"),
        ("one_of('xx', ['de', 'fr'])", None),
        ("one_of(`null`, ['de'])", None),
    ),
)
def _one_of(value: str | float | None, known: list[Any]) -> str | float | None:
    """The value if the list has it, else null."""
    return value if any(type(item) is type(value) and item == value for item in known) else None


@_function("nullable string", result=_null_or(TEXT), examples=(("lower('ABC')", "abc"), ("lower(`null`)", None)))
def _lower(text: str | None) -> str | None:
    """The text in lower case; null gives null."""
    return None if text is None else text.lower()


@_function("nullable string", result=_null_or(TEXT), examples=(("upper('abc')", "ABC"), ("upper(`null`)", None)))
def _upper(text: str | None) -> str | None:
    """The text in upper case; null gives null."""
    return None if text is None else text.upper()


@_function("nullable string", result=_null_or(TEXT), examples=(("trim('  a b ')", "a b"), ("trim(`null`)", None)))
def _trim(text: str | None) -> str | None:
    """The text without blanks at its ends; null gives null."""
    return None if text is None else text.strip()


@_function(
    "nullable string",
    "string",
    "string",
    result=_null_or(TEXT),
    examples=(("replace('a-b', '-', '+')", "a+b"), ("replace(`null`, 'a', 'b')", None)),
)
def _replace(text: str | None, old: str, new: str) -> str | None:
    """The text with every `old` (not empty) replaced; null gives null."""
    if text is None:
        return None
    if not old:
        raise ValueError("the text to replace is empty")
    return text.replace(old, new)


@_function(
    "nullable string",
    result=maybe(TEXT),
    examples=(("quote('a \"b\" c')", '"a b c"'), ("quote(`null`)", None)),
)
def _quote(text: str | None) -> str | None:
    """The text in double quotes, those inside it removed; null gives null."""
    return None if text is None else '"' + text.replace('"', "") + '"'


@_function(
    "string",
    "object",
    result=TEXT,
    examples=(
        (
            "with_query('https://example.org/find', {q: 'a b', n: `2`, x: `null`})",
            "https://example.org/find?q=a%20b&n=2",
        ),
        ("with_query('https://example.org/', {tag: ['a', 'b']})", "https://example.org/?tag=a&tag=b"),
    ),
)
def _with_query(address: str, query: dict[str, Any]) -> str:
    """The address with these query parameters, encoded; null leaves one out, and a list repeats it."""
    pairs = [(name, one) for name, value in query.items() for one in (value if isinstance(value, list) else [value])]
    text = urlencode([(name, to_text(one)) for name, one in pairs if one is not None], quote_via=quote)
    return f"{address}?{text}" if text else address


@_function(
    "string",
    "nullable string or array",
    result=maybe(TEXT),
    examples=(
        ("prefix_each('-', 'a \"b c\"')", '-a -"b c"'),
        ("prefix_each('-', ['a b', 'c'])", "-a b -c"),
        ("prefix_each('-', `null`)", None),
    ),
)
def _prefix_each(prefix: str, items: str | list[Any] | None) -> str | None:
    """Each word of a text (a quoted phrase is one), or each item of a list, behind the prefix and joined by blanks;
    null for null or nothing."""
    parts = (
        _PHRASES.findall(items) if isinstance(items, str) else [to_text(item) for item in items or () if is_true(item)]
    )
    return " ".join(prefix + part for part in parts) or None


def _finite(number: float) -> float:
    # An integer may be too large for isfinite, and is always finite.
    if type(number) is float and not math.isfinite(number):
        raise ValueError("the result is not a finite number")
    return number


FUNCTIONS: Mapping[str, Function] = MappingProxyType({**describe_builtins(), **_OWN, **DATA})
"""Every function by name."""
