"""Converters: named steps that turn a selected value into the value a row wants.

None stays None, an empty text counts as None, and a value that cannot be converted becomes None: data never raises.
A list is converted item by item, leaving out what became None, unless the converter is about lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import parse_qsl, urljoin, urlsplit

from specloom.core import dataclass, drop_tags, from_epoch, to_timestamp

from .signatures import read_examples

Returns: TypeAlias = Literal["text", "integer", "number", "boolean", "list", "any"]
Takes: TypeAlias = Literal["text", "any", "list"]
Kind: TypeAlias = Literal["text", "size", "values", "side", "unit"]
Function: TypeAlias = Callable[..., Any]
Step: TypeAlias = "Callable[[Any, Moment], Any]"


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where a value is read: epoch seconds, and the URL of the page it was found on."""

    now: float
    url: str


EXAMPLE_MOMENT: Final = Moment(1772521200.0, "https://demo.example/find?q=x")
"""The moment in which the examples are true: 2026-03-03T07:00:00Z."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value a converter needs from the spec; `kind` says which values will do."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Converter:
    """A named conversion."""

    name: str
    function: Callable[..., Any]
    """Takes the value, the moment, and the parameters in order."""
    parameters: tuple[Parameter, ...]
    returns: Returns
    doc: str
    takes: Takes

    @property
    def examples(self) -> list[list[Any]]:
        """A value each, with the parameters as YAML has them and what comes of it."""
        return read_examples("converters").get(self.name, [])


_CONVERTERS: Final[dict[str, Converter]] = {}
CONVERTERS: Final[Mapping[str, Converter]] = MappingProxyType(_CONVERTERS)
"""Every converter by the name it has in `then`."""


def converter(
    returns: Returns, *, takes: Takes = "text", parameters: tuple[Parameter, ...] = ()
) -> Callable[[Function], Function]:
    """Register a function under its name without the trailing underscore; its docstring is the documentation."""

    def register(function: Function) -> Function:
        name = function.__name__.rstrip("_")
        doc = (function.__doc__ or "").strip()
        _CONVERTERS[name] = Converter(name, function, parameters, returns, doc, takes)
        return function

    return register


def to_text(value: Any) -> str | None:
    """A text as it is, a number or a boolean the way JSON writes it; None for everything else and for empty text."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not isfinite(value):
            return None
        return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
    try:
        return str(value) if isinstance(value, int) else None
    except ValueError:  # more digits than Python writes
        return None


class ConverterProblem(Exception):  # noqa: N818 - it becomes a diagnostic, which is not an error of the program
    """A converter that cannot be used: E209 there is none of that name, E210 its parameters are wrong."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def compile_converter(name: str, params: Any) -> Step:
    """The conversion with its parameters bound; a problem in either is raised as ConverterProblem."""
    converter = CONVERTERS.get(name)
    if converter is None:
        from difflib import get_close_matches

        near = get_close_matches(str(name), CONVERTERS, n=1)
        raise ConverterProblem("E209", f"unknown converter {name!r}", f'did you mean "{near[0]}"?' if near else "")
    function, bound = converter.function, _bind(converter, params)
    if converter.takes == "list":
        return lambda value, moment: None if value is None else function(_to_list(value), moment, *bound)
    flatten = converter.returns == "list"

    def one(value: Any, moment: Moment) -> Any:
        if converter.takes == "text" and (value := to_text(value)) is None:
            return None
        return function(value, moment, *bound)

    takes_text = converter.takes == "text"

    def step(value: Any, moment: Moment) -> Any:
        if takes_text and type(value) is str:
            return function(value, moment, *bound) if value else None
        if value is None or value == "":
            return None
        if not isinstance(value, list):
            return one(value, moment)
        found = [made for item in value if (made := step(item, moment)) is not None]
        return [inner for outer in found for inner in outer] if flatten else found

    return step


def _to_list(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None and item != ""]


_WANTED: Final[Mapping[Kind, str]] = MappingProxyType(
    {
        "text": "text",
        "size": "a whole number above 0",
        "values": "a value or a list of values",
        "side": "width or height",
        "unit": "seconds or milliseconds",
    }
)


def _fits(kind: Kind, value: Any) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "size":
            return isinstance(value, int) and not isinstance(value, bool) and value > 0
        case "values":
            values = value if isinstance(value, list) else [value]
            return bool(values) and all(isinstance(item, str | int | float) for item in values)
        case "side":
            return value in ("width", "height")
        case "unit":
            return value in ("seconds", "milliseconds")


def _bind(converter: Converter, params: Any) -> tuple[Any, ...]:
    """The parameters in order, from none, one value, a list or a mapping by name."""
    wanted = converter.parameters
    usage = f"write {converter.name}" if not wanted else f"write {{{converter.name}: {_usage(wanted)}}}"
    if params is None:
        values: list[Any] = []
    elif isinstance(params, Mapping):
        unknown = [name for name in params if name not in {parameter.name for parameter in wanted}]
        if unknown:
            raise ConverterProblem("E210", f"{converter.name} has no parameter {unknown[0]!r}", usage)
        values = [params[parameter.name] for parameter in wanted if parameter.name in params]
    else:
        values = params if isinstance(params, list) and len(wanted) > 1 else [params]
    if len(values) != len(wanted):
        count = {0: "no parameter", 1: "one parameter"}.get(len(wanted), f"{len(wanted)} parameters")
        raise ConverterProblem("E210", f"{converter.name} takes {count}, not {len(values)}", usage)
    for parameter, value in zip(wanted, values, strict=True):
        if not _fits(parameter.kind, value):
            message = f"{converter.name}: {parameter.name} is {_WANTED[parameter.kind]}, not {value!r}"
            raise ConverterProblem("E210", message, usage)
    if converter.name == "replace" and not values[0]:
        raise ConverterProblem("E210", "replace: old is at least one character", usage)
    return tuple(values)


def _usage(wanted: tuple[Parameter, ...]) -> str:
    names = [f"<{parameter.name}: {_WANTED[parameter.kind]}>" for parameter in wanted]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


# --- Of texts ---------------------------------------------------------------------------------------------------------


@converter("text")
def trim(value: str, _: Moment) -> str | None:
    """The text without white space at either end."""
    return value.strip() or None


@converter("text")
def lower(value: str, _: Moment) -> str:
    """The text in lower case."""
    return value.lower()


@converter("text")
def upper(value: str, _: Moment) -> str:
    """The text in upper case."""
    return value.upper()


@converter("text")
def abstract(value: str, moment: Moment) -> str | None:
    """The text of an abstract in HTML or JATS, like `strip_tags`, without the heading "Abstract" before it."""
    heading = _HEADING.match(value)
    text = strip_tags(value[heading.end() :] if heading else value, moment)
    word = None if heading or text is None else _FIRST_WORD.match(text)
    return text[word.end() :] or None if text is not None and word else text


@converter("text")
def collapse(value: str, _: Moment) -> str | None:
    """The text with every run of white space made one blank, and none at either end."""
    return " ".join(value.split()) or None


# An unclosed comment or script runs to the end, as in a browser; that also keeps these patterns linear.
_HIDDEN: Final = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_BREAK: Final = re.compile(r"</(?:jats:)?(?:p|title|sec|li|tr|div|h[1-6])\s*>|<br\s*/?>", re.IGNORECASE)
_TWICE: Final = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")


# A heading is an element, or a word in capitals, before a mark, or before a word that begins a sentence.
_HEADING: Final = re.compile(
    r"\s*(?:<(?!/)[^<>]*>\s*)*<(?:jats:)?(title|h[1-6]|b|bold|strong|p)\b[^<>]*>\s*(?:<[^<>/]*>\s*)?(?:abstract|summary)\s*[:.]?\s*"
    r"(?:</[^<>]*>\s*)?</(?:jats:)?\1\s*>",
    re.IGNORECASE,
)
_FIRST_WORD: Final = re.compile(
    r"(?:[Aa]bstract|ABSTRACT)(?:\s*(?::|\.(?=\s)|\s[\u2013\u2014-](?=\s))\s*|(?<=ABSTRACT)\s+"
    r"|\s+(?=(?:Background|Introduction|Objectives?|Purpose|Aims?|Context|Importance|Motivation|Methods"
    r"|The|This|These|We|In|A|An|It|Our|Here)\b))"
)


@converter("text")
def strip_tags(value: str, _: Moment) -> str | None:
    """The text of a piece of HTML or JATS: no tags, entities written out, single blanks, a blank where a block ends.

    What is in angle brackets and no tag stays, and tags that are written as entities go where they are closed as well.
    """
    if "<" not in value and "&" not in value:
        return " ".join(value.split()) or None
    text = _unescape(drop_tags(_BREAK.sub(" ", _HIDDEN.sub(" ", value))))
    text = _unescape(text) if _TWICE.search(text) else text
    if "&" in value and "</" in text:
        text = drop_tags(text, is_closed=True)
    return " ".join(text.split()) or None


@converter("text")
def unescape_(value: str, _: Moment) -> str:
    """The text with HTML entities written out, once."""
    return _unescape(value)


def _unescape(text: str) -> str:
    if "&" not in text:
        return text
    from html import unescape  # with a table of two thousand names, which most answers need not

    try:
        return unescape(text)
    except ValueError:  # a numeric reference of thousands of digits
        return text


@converter("text", parameters=(Parameter("text", "text"),))
def prefix(value: str, _: Moment, text: str) -> str:
    """The text with another before it."""
    return text + value


@converter("text", parameters=(Parameter("text", "text"),))
def suffix(value: str, _: Moment, text: str) -> str:
    """The text with another after it."""
    return value + text


@converter("text", parameters=(Parameter("old", "text"), Parameter("new", "text")))
def replace(value: str, _: Moment, old: str, new: str) -> str | None:
    """The text with one piece replaced wherever it occurs."""
    return value.replace(old, new) or None


@converter("text", parameters=(Parameter("limit", "size"),))
def truncate(value: str, _: Moment, limit: int) -> str:
    """At most that many characters and then "…", cut between words when a blank lies in the last fifth."""
    if len(value) <= limit:
        return value
    blank = value.rfind(" ", 0, limit + 1)
    return value[: blank if blank >= limit * 0.8 else limit].rstrip() + "…"


# --- That make lists or read them whole -------------------------------------------------------------------------------


@converter("text", takes="list", parameters=(Parameter("by", "text"),))
def join(values: list[Any], _: Moment, by: str) -> str | None:
    """One text of all items, with another between them."""
    return by.join(text for value in values if (text := to_text(value))) or None


@converter("list", parameters=(Parameter("by", "text"),))
def split(value: str, _: Moment, by: str) -> list[str]:
    """The pieces between a separator, trimmed, without empty ones; several texts make one list."""
    return [piece for part in (value.split(by) if by else value.split()) if (piece := part.strip())]


@converter("any", takes="list")
def first(values: list[Any], _: Moment) -> Any:
    """The first item of a list."""
    return values[0] if values else None


@converter("any", takes="list")
def last(values: list[Any], _: Moment) -> Any:
    """The last item of a list."""
    return values[-1] if values else None


@converter("list", takes="list")
def unique(values: list[Any], _: Moment) -> list[Any]:
    """The items of a list without repetitions, each where it came first."""
    kept: dict[str, Any] = {}
    for value in values:
        kept.setdefault(_key(value), value)
    return list(kept.values())


def _key(value: Any) -> str:
    """What equal values share; unlike Python's equality it tells 1 from true."""
    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except ValueError:  # a number with more digits than Python writes: equal to nothing else
        return f"at {id(value)}"


@converter("integer", takes="list")
def count(values: list[Any], _: Moment) -> int:
    """How many items a list has."""
    return len(values)


# --- Of links ---------------------------------------------------------------------------------------------------------


@converter("text")
def host(value: str, _: Moment) -> str | None:
    """The host of a URL in lower case, without port."""
    try:
        return (urlsplit(value.strip()).hostname or "").rstrip(".") or None
    except ValueError:
        return None


@converter("text")
def absolute(value: str, moment: Moment) -> str | None:
    """The URL a link on the page leads to."""
    try:
        url = urljoin(moment.url, value.strip())
        return url if urlsplit(url).scheme else None
    except ValueError:
        return None


_PLAIN_HTTP: Final = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*+(?:[/?#][!-~]*+)?")
"""A complete address of ASCII without a port, a user and anything to be escaped."""


@converter("text")
def absolute_http(value: str, _: Moment | None = None) -> str | None:
    """The URL if it is a complete http or https one; one without a scheme (`//host/…`) gets https."""
    if _PLAIN_HTTP.fullmatch(value):
        return value
    url = value.strip()
    url = f"https:{url}" if url.startswith("//") else url
    if not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", parts.netloc)
        good = good and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return url.replace(" ", "%20") if good else None


@converter("text", parameters=(Parameter("name", "text"),))
def query_param(value: str, _: Moment, name: str) -> str | None:
    """The value of one parameter in the query of a URL, decoded once."""
    try:
        return next((found for key, found in parse_qsl(urlsplit(value.strip()).query) if key == name), None)
    except ValueError:
        return None


# --- That give numbers, truth and times -------------------------------------------------------------------------------


_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?")
_YEAR: Final = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")
_SIZE: Final = re.compile(r"(?<![0-9.])([0-9]{1,6})\s{0,3}[x×X*]\s{0,3}([0-9]{1,6})(?![0-9.])")


@converter("number", takes="any")
def number(value: Any, _: Moment) -> int | float | None:
    """The number a text spells; commas may only part thousands."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        return value if isinstance(value, int) or isfinite(value) else None
    text = value.strip()
    if not _NUMBER.fullmatch(text) or not re.match(r"[+-]?\.?[0-9]", text):
        return None
    text = text.replace(",", "")
    try:
        return int(text)
    except ValueError:
        made = float(text)
        return made if isfinite(made) else None


@converter("integer", takes="any")
def integer(value: Any, moment: Moment) -> int | None:
    """The whole number a text spells or a number is; a fraction makes it None."""
    made = number(value, moment)
    return int(made) if made is not None and made == int(made) else None


@converter("number", takes="any")
def positive(value: Any, moment: Moment) -> int | float | None:
    """The number if it is above 0."""
    made = number(value, moment)
    return made if made is not None and made > 0 else None


@converter("boolean")
def boolean(value: str, _: Moment) -> bool | None:
    """True for true, yes, on and 1; False for false, no, off and 0."""
    word = value.strip().lower()
    return True if word in ("true", "yes", "on", "1") else False if word in ("false", "no", "off", "0") else None


@converter("text")
def text(value: str, _: Moment) -> str:
    """A number or a boolean as text."""
    return value


@converter("integer")
def year(value: str, _: Moment) -> int | None:
    """The first year from 1000 to 2999 that stands by itself in a text."""
    match = _YEAR.search(value)
    return int(match[0]) if match else None


@converter("integer", parameters=(Parameter("side", "side"),))
def dimension(value: str, _: Moment, side: str) -> int | None:
    """One side of a size written as width x height."""
    match = _SIZE.search(value)
    return int(match[1 if side == "width" else 2]) if match else None


@converter("any", takes="any", parameters=(Parameter("values", "values"),))
def null_if(value: Any, _: Moment, values: Any) -> Any:
    """None for the values that mean nothing, whether they come as text or as numbers; everything else unchanged."""
    said = value.strip() if isinstance(value, str) else to_text(value)
    meaningless = [to_text(item) or "" for item in (values if isinstance(values, list) else [values])]
    return None if said in meaningless else value


# Times


@converter("text")
def timestamp(value: str, moment: Moment) -> str | None:
    """The instant a date or a distance ("3 days ago") means, in RFC 3339 and UTC."""
    return to_timestamp(value, moment.now)


@converter("text")
def day(value: str, moment: Moment) -> str | None:
    """The day of the instant in UTC, as YYYY-MM-DD."""
    found = to_timestamp(value, moment.now)
    return found[:10] if found else None


@converter("text", takes="any", parameters=(Parameter("unit", "unit"),))
def epoch(value: Any, moment: Moment, unit: str) -> str | None:
    """The instant that many seconds or milliseconds after 1970 began, in RFC 3339 and UTC."""
    made = number(value, moment)
    if made is None:
        return None
    return from_epoch(made // 1000 if unit == "milliseconds" else made)
