"""The grammar of collection files."""

from __future__ import annotations

from .grammar_words import IDENTIFIER, SETTING, duration, name, prose, record
from .rules import Flag, Grammar, Items, Key, Named, Number, Text

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
        "lifetime": Key(duration, "How long an item is kept after it was written; without it until it is deleted."),
        "sliding": Key(Flag(), "Reading an item starts its lifetime anew."),
        "limits": Key(_limits, "How much there may be."),
        "indexes": Key(_fields, "Fields of a value, texts or lists of texts, by which items are found exactly."),
        "search": Key(_fields, "Fields of a value, texts or lists of texts, that a search by words reads."),
        "config": Key(Named(_bound, SETTING, "an environment variable"), "Variables by which an operator sets bounds."),
    },
)

COLLECTION = Grammar(_collection)
