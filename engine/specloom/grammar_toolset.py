"""The grammar of toolset files."""

from __future__ import annotations

from .grammar_words import STEM, prose, record
from .rules import Grammar, Items, Key, Text

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
