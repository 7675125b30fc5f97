"""The grammar of capability files."""

from __future__ import annotations

from .grammar_words import IDENTIFIER, SCALAR_TYPES, name, prose, record
from .rules import Flag, Grammar, Items, Key, Named, Text

_typed = {
    "type": Key(Text(choices=SCALAR_TYPES), "What kind of value.", required=True),
    "description": Key(prose, "What it means; units where there are any.", required=True),
    "enum": Key(Items(Text("value"), 1), "The values that it can have."),
    "items": Key(Text(choices=SCALAR_TYPES), "What a list holds; text when left out."),
    "fields": Key(Named(Text(choices=SCALAR_TYPES), IDENTIFIER), "What an object holds."),
}

_routing = record(
    "`routing`",
    {
        "key": Key(name, "Its key in SEARCH_ROUTING."),
        "order": Key(
            Items(name),
            "The order in which configured providers are asked; others are asked only by name.",
            required=True,
        ),
    },
)

_argument = record("an argument", _typed)

_row_field = record("a row field", {**_typed, "required": Key(Flag(), "Every provider maps it.")})

_capability = record(
    "a capability",
    {
        "spec": Key(Text(choices=("capability/1",)), "capability/1", required=True),
        "name": Key(name, "The file's stem.", required=True),
        "title": Key(prose, "For people.", required=True),
        "description": Key(prose, "What a provider of it promises.", required=True),
        "routing": Key(_routing, "Who is asked first.", required=True),
        "arguments": Key(Named(_argument, IDENTIFIER), "What a tool may ask of it.", required=True),
        "row": Key(Named(_row_field, IDENTIFIER), "What one row holds.", required=True),
    },
)

CAPABILITY = Grammar(_capability)
