"""The grammar of provider files."""

from __future__ import annotations

from .grammar_examples import provider_example
from .grammar_operation import operation
from .grammar_service import service
from .grammar_words import IDENTIFIER, NAME, SETTING, SHARED, expression, prose, record, setting, tables
from .rules import Grammar, Items, Key, Named, Text

_provider = record(
    "a provider",
    {
        "spec": Key(Text(choices=("provider/1",)), "provider/1", required=True),
        "name": Key(Text("name", NAME, "lower case, digits and underscores"), "The file's stem.", required=True),
        "title": Key(prose, "The upstream's name, for people.", required=True),
        "homepage": Key(Text("value", r"https?://\S+", "a URL"), "Where its documentation is."),
        "notes": Key(prose, "Why it is odd: the surprise, before the code that handles it."),
        "config": Key(
            Named(setting, SETTING, "an environment variable: upper case, digits and underscores"),
            "The only door to the environment.",
        ),
        "tables": Key(tables, "Look-up tables, for lookup('name', key)."),
        "service": Key(service, "What all operations share.", required=True),
        "values": Key(
            Named(expression, IDENTIFIER, "a value's name"),
            "Named expressions that several operations use, seen as values.NAME; an operation has those that it names.",
        ),
        "operations": Key(Named(operation, NAME, "an operation's name"), "What it can do.", required=True),
        "examples": Key(Items(provider_example), "Run offline, through the code that serves."),
    },
)

PROVIDER = Grammar(_provider, SHARED)
