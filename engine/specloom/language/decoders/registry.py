"""Decoders: each reads one format into a document, and says in which language selectors into it are written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

from .body import is_blank, require_body, require_data, to_text, unreadable
from .jsonstat import OBSERVATION, read_jsonstat, to_item
from .markup import parse_csv, parse_html, parse_tsv, parse_xml
from .sdmx import SDMX_OBSERVATION, read_sdmx

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specloom.core import Response


Language = Literal["jmespath", "xpath"]


@dataclass(frozen=True, slots=True)
class Option:
    """One key a decoder takes beside the common ones; `kind` is boolean, character, texts or namespaces."""

    kind: Literal["boolean", "character", "texts", "namespaces"]
    doc: str
    default: Any = None


@dataclass(frozen=True, slots=True)
class Decoder:
    """How one format is read. `item` is the fixed shape of what it hands out, None when the upstream decides."""

    name: str
    language: Language
    parse: Callable[[Response, Mapping[str, Any]], Any]
    doc: str
    options: Mapping[str, Option] = field(default_factory=dict)
    item: Mapping[str, Any] | None = None


_REGISTRY: Final[dict[str, Decoder]] = {}
DECODERS: Final[Mapping[str, Decoder]] = MappingProxyType(_REGISTRY)
"""Every decoder by the key that names it in a step."""

MAX_DEPTH: Final = 200
"""How deep arrays and objects may be nested: far more than data needs, far less than a stack holds."""


def register(decoder: Decoder) -> None:
    """From now on `decoder.name` is a decoder; a name is given once."""
    if decoder.name in _REGISTRY:
        raise ValueError(f"there is a decoder {decoder.name!r} already; give the new one another name")
    _REGISTRY[decoder.name] = decoder


def decode(name: str, response: Response, options: Mapping[str, Any]) -> Any:
    """The document in the body, or a Fault that says why there is none."""
    if name not in _REGISTRY:
        raise ValueError(f"unknown decoder {name!r}; known: {', '.join(_REGISTRY)}")
    return _REGISTRY[name].parse(response, options)


def parse_json(response: Response, options: Mapping[str, Any]) -> Any:
    """The value. UTF-8 only; NaN and Infinity are refused; of a repeated key the last one counts."""
    if options.get("blank_ok") and is_blank(response):
        return None
    require_data(response, "JSON")
    body = response.body
    try:
        text = body.decode("utf-8-sig")
        if _SURROGATE.search(text):
            text = _ESCAPE.sub(_mend, text)
        document = json.loads(text, parse_constant=_refuse, parse_float=_to_float)
    except UnicodeDecodeError as error:
        raise unreadable(response, "JSON", f"byte {error.start} is not UTF-8") from error
    except RecursionError as error:
        raise unreadable(response, "JSON", f"it is nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:
        raise unreadable(response, "JSON", str(error).partition(";")[0]) from error
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(document):
        raise unreadable(response, "JSON", f"it is nested deeper than {MAX_DEPTH} levels")
    return document


def parse_text(response: Response, options: Mapping[str, Any]) -> dict[str, str]:
    """One item whose `text` is the whole body, its line ends written as line feeds."""
    if not options.get("blank_ok"):
        require_body(response, "text")
    return {"text": to_text(response).replace("\r\n", "\n").replace("\r", "\n")}


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def _mend(match: re.Match[str]) -> str:
    """Half of a surrogate pair is no character and could not be written out again, so it becomes U+FFFD."""
    return "\\ufffd" if match["half"] else match[0]


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _to_float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:20]} is too large for a number")
    return number


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _of_json(
    read: Callable[[Response, Any, Mapping[str, Any]], list[Any]],
) -> Callable[[Response, Mapping[str, Any]], list[Any]]:
    """A parser of a format that is written in JSON."""
    return lambda response, options: read(response, parse_json(response, options), options)


_BLANK_OK: Final = Option("boolean", "A body with nothing in it is an answer without rows, not a fault.", default=False)
_TABLE: Final = MappingProxyType(
    {
        "header": Option("boolean", "The first line holds the names of the columns.", default=True),
        "columns": Option("texts", "Names of the columns, in order; they replace those of a header line."),
        "delimiter": Option("character", "What parts two cells."),
        "blank_ok": _BLANK_OK,
    }
)
_CUBE: Final = MappingProxyType(
    {
        "newest_first": Option(
            "boolean", "The latest time of each series comes first, which is what a `take` then keeps.", default=False
        ),
        "blank_ok": _BLANK_OK,
    }
)

for _decoder in (
    Decoder("json", "jmespath", parse_json, "A JSON document.", {"blank_ok": _BLANK_OK}),
    Decoder(
        "xml", "xpath", parse_xml, "An XML document, read without entities, DTD or network.",
        {"namespaces": Option("namespaces", "Prefixes the selectors use, each with the URI it stands for.")},
    ),
    Decoder("html", "xpath", parse_html, "A page made for people; broken markup is repaired the way browsers do."),
    Decoder("tsv", "jmespath", parse_tsv, "Lines of cells parted by tabs.", _TABLE),
    Decoder("csv", "jmespath", parse_csv, "Lines of cells parted by commas.", _TABLE),
    Decoder(
        "text", "jmespath", parse_text, "Plain text, as one item.", {"blank_ok": _BLANK_OK},
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    ),
    Decoder(
        "jsonstat", "jmespath", _of_json(read_jsonstat),
        "A JSON-stat 2.0 cube, as one item an observation, in the order of `series` and `time`. "
        "`series` joins the labels of the dimensions that vary; `time`, `value` (null where `available` is false), "
        "`status`, `status_label` and `unit` are the observation's own; `dims.<id>.code` and `.label` have each "
        "dimension, `cube.label` and `cube.updated` the whole.",
        _CUBE, to_item(OBSERVATION),
    ),
    Decoder(
        "sdmx", "jmespath", _of_json(read_sdmx),
        "An SDMX-JSON data message (1.0, 2.0 or 2.1), as one item an observation, in the order of `series` and `time`. "
        "The fields are those of `jsonstat`, and `series` joins the names of all dimensions but time and unit; "
        "`attributes.<id>.code` and `.label` have each attribute, `measure` names the measure where there are several, "
        "and `cube.updated` is when the message was made.",
        _CUBE, to_item(SDMX_OBSERVATION),
    ),
):  # fmt: skip
    register(_decoder)
