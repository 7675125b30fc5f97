"""The words that every kind of spec shares: names, expressions, request values, fields, settings and tables."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from specloom.language import CONVERTERS

from .rules import Anything, Either, Flag, Items, Key, Named, RecordRule, Rule, RuleReference, Text

NAME = r"[a-z][a-z0-9_]{0,39}"
STEM = r"[a-z][a-z0-9_-]{0,39}"
SETTING = r"[A-Z][A-Z0-9_]{1,63}"
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
COUNT = r"\d{1,12}(?:\.\d{1,9})?"
ABOVE_ZERO = rf"(?=[0.]*[1-9]){COUNT}"
DURATION = rf"{COUNT}(?:ms|s|m|h|d)"
SCALAR_TYPES = ("text", "document", "integer", "number", "boolean", "timestamp", "date", "url", "list", "object", "any")


def record(title: str, keys: Mapping[str, Key], one_of: tuple[tuple[tuple[str, ...], bool], ...] = ()) -> RecordRule:
    """A mapping with closed keys that nobody can change."""
    return RecordRule(title, MappingProxyType(dict(keys)), one_of)


expression = Text("expression")
prose = Text("prose", r"\s*\S.*", "say it in a sentence")
name = Text("name", NAME, "lower case, digits and underscores, starting with a letter")
duration = Text("duration", DURATION, "a number with ms, s, m, h or d, like 30s")

values = Named(RuleReference("value"))
"""Request values: a string is itself, a string that starts with `=` is an expression, null leaves the key out."""

headers = Named(
    RuleReference("value"), r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", "a header's name has letters, digits and hyphens"
)
"""Request values that are sent as headers (RFC 9110 §5.1)."""

value = Either(Anything(scalar=True, means="value"), Items(RuleReference("value")), Named(RuleReference("value")))

_called = record("a converter", {n: Key(Anything(), c.doc.split("\n")[0]) for n, c in CONVERTERS.items()})

converter = Either(Text("converter", choices=tuple(CONVERTERS)), None, _called)

_long_field = record(
    "a field",
    {
        "at": Key(
            Either(Text("selector"), Items(Text("selector"), 1)), "A selector, or several of which the first hit wins."
        ),
        "all": Key(Flag(), "Take every hit as a list, not only the first."),
        "each": Key(Text("selector"), "A selector of nodes; `value` is then read from each of them."),
        "value": Key(Text("selector"), "What is read from each node of `each`."),
        "then": Key(Items(RuleReference("converter"), 1), "Named converters, applied in order."),
        "else": Key(Anything(), "The value when nothing was found; null keeps the key, which is left out otherwise."),
        "when": Key(expression, "The field exists only when this holds."),
        "required": Key(Flag(), "A row without this field is dropped."),
    },
    one_of=((("at", "each"), True),),
)

field = Either(Text("selector"), None, _long_field)

setting = record(
    "a setting",
    {
        "description": Key(prose, "What it is for and where to get it.", required=True),
        "type": Key(
            Text(choices=("text", "boolean", "integer", "number", "url", "headers", "credentials")),
            "How the environment's text is read.",
        ),
        "secret": Key(Flag(), "Never shown, logged or stored."),
        "required": Key(Flag(), "The provider is not configured without it."),
        "rotate": Key(Flag(), "It may hold several values, with commas, which are used in turn."),
        "or": Key(Text("name", SETTING), "The variable that is read when this one is not set."),
        "default": Key(Anything(scalar=True), "The value when it is not set."),
    },
)

tables = Named(Either(None, None, Named(Anything(), "", "")), IDENTIFIER, "a table's name")

SHARED: Mapping[str, Rule] = MappingProxyType({"value": value, "field": field, "converter": converter})
"""The rules that refer to themselves or to each other, by name."""
