"""What `specloom --help` says: every command in a line or two, as the parser would list them but without it."""

from __future__ import annotations

from specloom.core import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

INDENT = 14
"""Where what a command does begins."""


def overview(commands: Mapping[str, Mapping[str, Any]]) -> str:
    """The help of the whole, as wide as the terminal; `commands` as in `commands.yaml`."""
    options = {"-h, --help": "show this help message and exit", "--version": "the version and the digest of the specs"}
    width = columns() - 2
    return "\n".join(
        [
            "usage: specloom [-h] [--version] COMMAND ...",
            "",
            "Research tools for models, compiled from YAML specs.",
            "",
            "commands:",
            *(line for name, one in commands.items() if name != "shared" for line in _lines(name, one["help"], width)),
            "",
            "options:",
            *(line for name, says in options.items() for line in _lines(name, says, width)),
            "",
            "specloom COMMAND --help shows an example of each.",
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
