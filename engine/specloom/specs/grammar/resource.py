"""The grammar of resource files."""

from __future__ import annotations

from .common import IDENTIFIER, SHARED, STEM, duration, expression, name, prose, record, tables, values
from .rules import Anything, Flag, Grammar, Items, Key, Named, Number, Text
from .tool import answer

HOLE = r"\{([a-z][a-z0-9_]*)\}"
_URI = rf"[a-z][a-z0-9+.-]*://(?:[A-Za-z0-9/._~-]|{HOLE})*"
_hole = Text("name", IDENTIFIER, "a hole of the address")

_completion = record(
    "a completion",
    {
        "collection": Key(name, "The collection whose keys they are.", required=True),
        "limit": Key(Number(1, 1000), "How many at most, the newest first; 100 when left out."),
    },
)

_one_of = record(
    "`one_of`",
    {
        "rows": Key(expression, "The rows, of which one is meant.", required=True),
        "by": Key(_hole, "The field that is the same as the address's hole of this name.", required=True),
    },
)

_procedure = record(
    "`procedure`",
    {"name": Key(name, "A registered procedure.", required=True), "with": Key(values, "Its parameters.")},
)

_source = record(
    "`source`",
    {
        "collection": Key(name, "The newest hundred items of the caller's, as `rows` with `key` and `value`."),
        "one_of": Key(_one_of, "One of several rows, as `row`; where none is meant, nothing is there."),
        "procedure": Key(_procedure, "Registered Python gives the `result`; nothing is there where it finds nothing."),
        "artifact": Key(_hole, "The hole that names a large answer that is kept for the caller; it is read as it is."),
    },
    one_of=((("collection", "one_of", "procedure", "artifact"), True),),
)

_example = record(
    "an example",
    {
        "name": Key(prose, "A sentence about behaviour.", required=True),
        "args": Key(Named(Text("value"), IDENTIFIER, "a hole of the address"), "What fills the holes of the address."),
        "engine": Key(Named(Anything()), "What the engine knows of itself: the tables that are looked into."),
        "rows": Key(Items(Named(Anything())), "The items of the collection."),
        "result": Key(Named(Anything()), "What the procedure gives."),
        "expect": Key(
            record(
                "`expect`",
                {
                    "answer": Key(Named(Anything()), "Keys of the answer; null says absent."),
                    "missing": Key(Flag(), "Nothing is there."),
                },
                one_of=((("answer", "missing"), True),),
            ),
            "What must come of it.",
            required=True,
        ),
    },
)

_resource = record(
    "a resource",
    {
        "spec": Key(Text(choices=("resource/1",)), "resource/1", required=True),
        "name": Key(Text("name", STEM), "The file's stem, and the resource's name.", required=True),
        "uri": Key(
            Text("value", _URI, "an address like library://books, with {name} where it has a hole"),
            "Its address; one with holes is a template, which is listed apart.",
            required=True,
        ),
        "title": Key(prose, "For people.", required=True),
        "description": Key(prose, "What is read there.", required=True),
        "mime_type": Key(Text("value", r"[a-z]+/[a-z0-9.+-]+", "a MIME type"), "application/json when left out."),
        "order": Key(Number(1), "Where it stands in the list; those without come last, by name."),
        "ttl": Key(duration, "How long a client may keep what it has read; not at all when left out."),
        "tables": Key(tables, "Look-up tables."),
        "values": Key(Named(expression, IDENTIFIER), "Named expressions, seen as values.NAME."),
        "source": Key(_source, "Where it comes from, beside what the engine knows of itself."),
        "missing": Key(prose, "What is said where nothing is there: how to get it, or what there is instead."),
        "complete": Key(
            Named(_completion, IDENTIFIER, "a hole of the address"),
            "What may fill a hole of the address, by its name; `one_of` completes its own.",
        ),
        "changes_with": Key(
            Named(Text("name", IDENTIFIER), IDENTIFIER, "a hole of the address"),
            "Who watches it is told of calls that change something and have this argument, by the hole that it fills.",
        ),
        "answer": Key(answer, "What is read, as in a tool; sees `engine`, `args` and what the source gives."),
        "examples": Key(Items(_example), "Run offline, through the code that serves."),
    },
)

RESOURCE = Grammar(_resource, SHARED)
