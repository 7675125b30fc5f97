"""The grammar of capability files."""

from __future__ import annotations

from .common import IDENTIFIER, SCALAR_TYPES, SETTING, STEM, duration, name, prose, record
from .rules import Flag, Grammar, Items, Key, Named, Number, Text

TYPED = {
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

_argument = record("an argument", TYPED)

_row_field = record("a row field", {**TYPED, "required": Key(Flag(), "Every provider maps it.")})

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


# --- The grammar of collection files ----------------------------------------------------------------------------------


BOUNDS = ("lifetime", "items", "events")
"""What an environment variable may set."""

_size = Text("size", r"[1-9]\d{0,11}(?:KiB|MiB|KB|MB|B)", "a size like 64KiB")
_fields = Items(Text("name", IDENTIFIER, "the name of a field"), 1)

_limits = record(
    "`limits`",
    {
        "items": Key(Number(1, 1_000_000), "Items of one owner, or of one space; 1000 when left out."),
        "when_full": Key(
            Text(choices=("refuse", "evict")),
            "What a new item meets when there are so many: a fault (when left out), or the room of the one that was "
            "used longest ago.",
        ),
        "value": Key(_size, "One value or event as JSON; 64KiB when left out."),
        "bytes": Key(_size, "All items of one owner, or of one space; 64MiB when left out."),
        "events": Key(Number(1, 100_000), "Events on the stream of one item; without it items have none."),
    },
)

_bound = record(
    "a bound",
    {
        "sets": Key(Text(choices=BOUNDS), "Which bound the variable sets.", required=True),
        "description": Key(prose, "What it means to whoever sets it.", required=True),
    },
)

_field = record("a field", {**TYPED, "required": Key(Flag(), "Every item has it.")})

_collection = record(
    "a collection",
    {
        "spec": Key(Text(choices=("collection/1",)), "collection/1", required=True),
        "name": Key(name, "The file's stem, by which code and examples open it.", required=True),
        "title": Key(prose, "For people.", required=True),
        "description": Key(prose, "What is kept in it, and of whom.", required=True),
        "scope": Key(
            Text(choices=("user", "shared")),
            "`user`: an item is seen by the owner who wrote it. `shared`: by everyone who is shown the space it is in.",
            required=True,
        ),
        "encryption": Key(
            Text(choices=("author",)),
            "Under whose key it lies. `author`: AES-256-GCM, with a key of who wrote it that an erasure destroys; "
            "nothing is kept in the clear.",
            required=True,
        ),
        "consent": Key(
            name,
            "The purpose that an owner has to have agreed to before a plan may read or write anything of them here.",
        ),
        "fields": Key(
            Named(_field, IDENTIFIER, "the name of a field"), "What a value holds, for plans that recall or save items."
        ),
        "lifetime": Key(duration, "How long an item is kept after it was written; without it until it is deleted."),
        "sliding": Key(Flag(), "Reading an item starts its lifetime anew."),
        "limits": Key(_limits, "How much there may be."),
        "indexes": Key(_fields, "Fields of a value, texts or lists of texts, by which items are found exactly."),
        "search": Key(_fields, "Fields of a value, texts or lists of texts, that a search by words reads."),
        "config": Key(Named(_bound, SETTING, "an environment variable"), "Variables by which an operator sets bounds."),
    },
)

COLLECTION = Grammar(_collection)


# --- The grammar of lens files ----------------------------------------------------------------------------------------


_example = record(
    "`example`",
    {
        "query": Key(Text("value"), "What is asked.", required=True),
        "makes": Key(
            Items(Text("value"), 1), "The queries it makes for an engine that takes ten sites.", required=True
        ),
    },
)

_lens = record(
    "a lens",
    {
        "spec": Key(Text(choices=("lens/1",)), "lens/1", required=True),
        "name": Key(Text("name", STEM), "The file's stem.", required=True),
        "title": Key(prose, "For people.", required=True),
        "description": Key(prose, "What it is for, in one line.", required=True),
        "notes": Key(prose, "What is odd about it."),
        "domains": Key(
            Items(
                Text("host", r"[a-z0-9.-]+\.[a-z]{2,}(?:/[A-Za-z0-9._~/-]*)?", "a host or host/path, without a scheme")
            ),
            "Sites, the most important first.",
        ),
        "goggle": Key(Text("value", r"https://\S+", "an https URL"), "A re-ranking file, for engines that take one."),
        "engine": Key(Text("value"), "The id of a dedicated search engine, for engines that take one."),
        "example": Key(_example, "The query it makes.", required=True),
    },
)

LENS = Grammar(_lens)


# --- The grammar of toolset files -------------------------------------------------------------------------------------


_toolset = record(
    "a toolset",
    {
        "spec": Key(Text(choices=("toolset/1",)), "toolset/1", required=True),
        "name": Key(Text("name", STEM), "The folder of its tools, and the file's stem.", required=True),
        "instructions": Key(
            Items(prose, 1),
            "What a client is told at the start, a paragraph each; `{tool}` names a tool of it, and a paragraph is "
            "left out where a tool that it names is not served.",
            required=True,
        ),
        "prompts": Key(
            Items(Text("name", STEM), 1),
            "Its prompts, which are listed only where one of its tools is served; a prompt that no toolset names is "
            "always listed.",
        ),
    },
)

TOOLSET = Grammar(_toolset)
