"""What `specloom --help` says: every command in a line or two, as the parser would list them but without it."""

from __future__ import annotations

import os

from specloom.core import NAME, columns, project_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_PARTS = {"": "use the tools", "specs": "write specs", "keep": "run a server, and look after what it keeps"}
"""What each `part` of the commands is for."""
INDENT = 14
"""Where what a command does begins."""


def name_program() -> tuple[str, str]:
    """What the command is called and what it is for: of a project its name and title."""
    if not project_folder(os.environ):
        return NAME, "Research tools for models, compiled from YAML specs."
    from specloom.server import name_server

    name, title, _ = name_server(os.environ)
    return name, f"{title}: tools for models, compiled from YAML specs."


def say_own(text: str) -> str:
    """A text of a help in which the command has the name that it is called by."""
    if not project_folder(os.environ):
        return text
    import re

    return re.sub(r"\bspecloom\b", name_program()[0], text)


def overview(commands: Mapping[str, Mapping[str, Any]]) -> str:
    """The help of the whole, as wide as the terminal; `commands` as in `commands.yaml`."""
    name, purpose = name_program()
    options = {"-h, --help": "show this help message and exit", "--version": "the version and the digest of the specs"}
    width = columns() - 2
    return "\n".join(
        [
            f"usage: {name} [-h] [--version] COMMAND ...",
            "",
            purpose,
            "",
            *(line for part in _PARTS for line in _part_lines(part, commands, width)),
            "options:",
            *(line for option, says in options.items() for line in _lines(option, says, width)),
            "",
            *_fill(
                "",
                f"Begin with `{name} install`, which puts the tools into Claude, Cursor, Codex and others, or with "
                f"`{name} list tools` and `{name} call TOOL`. `{name} COMMAND --help` shows an example of each.",
                width,
            ),
            "",
        ]
    )


def _part_lines(part: str, commands: Mapping[str, Mapping[str, Any]], width: int) -> list[str]:
    own = {name: one for name, one in commands.items() if name != "shared" and one.get("part", "") == part}
    told = [line for name, one in own.items() for line in _lines(name, say_own(one["help"]), width)]
    return [f"{_PARTS[part]}:", *told, ""]


def _lines(name: str, says: str, width: int) -> list[str]:
    return _fill(f"  {name:<{INDENT - 4}}  ", says, width)


def _fill(start: str, text: str, width: int) -> list[str]:
    """The words of a text in lines of a width, all as far in as the first, which begins with `start`."""
    lines = [start]
    is_first = True
    for word in text.split():
        if not is_first and len(lines[-1]) + 1 + len(word) > width:
            lines.append(" " * len(start) + word)
        else:
            lines[-1] += word if is_first else f" {word}"
        is_first = False
    return lines
