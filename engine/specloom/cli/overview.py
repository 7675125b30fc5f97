"""What `specloom --help` says: every command in a line or two, as the parser would list them but without it."""

from __future__ import annotations

import os

from specloom.core import NAME, columns, project_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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
            "commands:",
            *(
                line
                for command, one in commands.items()
                if command != "shared"
                for line in _lines(command, say_own(one["help"]), width)
            ),
            "",
            "options:",
            *(line for option, says in options.items() for line in _lines(option, says, width)),
            "",
            f"{name} COMMAND --help shows an example of each.",
            "",
        ]
    )


def _lines(name: str, says: str, width: int) -> list[str]:
    lines = [f"  {name:<{INDENT - 4}}  "]
    is_first = True
    for word in says.split():
        if not is_first and len(lines[-1]) + 1 + len(word) > width:
            lines.append(" " * INDENT + word)
        else:
            lines[-1] += word if is_first else f" {word}"
        is_first = False
    return lines
