"""The grammar of lens files."""

from __future__ import annotations

from .grammar_words import STEM, prose, record
from .rules import Grammar, Items, Key, Text

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
