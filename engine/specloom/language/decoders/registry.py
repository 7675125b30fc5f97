"""Decoders: each reads one format into a document, and says in which language selectors into it are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from specloom.core import Response, dataclass, field

from .formats import parse_csv, parse_html, parse_json, parse_text, parse_tsv, parse_xml
from .jsonstat import OBSERVATION, read_jsonstat, to_item
from .sdmx import SDMX_OBSERVATION, read_sdmx
from .webvtt import LINE, parse_webvtt

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


def decode(name: str, response: Response, options: Mapping[str, Any]) -> Any:
    """The document in the body, or a Fault that says why there is none."""
    if name not in DECODERS:
        raise ValueError(f"unknown decoder {name!r}; known: {', '.join(DECODERS)}")
    return DECODERS[name].parse(response, options)


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

_DECODERS: Final = (
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
        "webvtt", "jmespath", parse_webvtt,
        "Captions, as one item a line of what is said: `second` and `clock` (M:SS) say when it begins.",
        {"blank_ok": _BLANK_OK}, LINE,
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
)  # fmt: skip
DECODERS: Final[Mapping[str, Decoder]] = MappingProxyType({decoder.name: decoder for decoder in _DECODERS})
"""Every decoder by the key that names it in a step."""
