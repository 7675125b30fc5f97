"""The manual page of the command, made from its table of commands; `--check` says whether it is out of date."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "engine" / "specloom" / "cli" / "commands.yaml"
PAGE = ROOT / "docs" / "man" / "specloom.1"
EXITS = {
    "0": "it was done",
    "1": "what was asked for failed, or problems were found",
    "2": "it was asked for in the wrong way",
    "3": "it is not allowed, or a setting is missing",
    "75": "an upstream or the network is late, busy or down: try again later",
    "130": "it was interrupted",
    "141": "who read the output has left",
}


def draw(table: Mapping[str, Any]) -> str:
    """The page in the language of troff."""
    commands = dict(table)
    shared = commands.pop("shared")
    lines = [
        '.\\" Made from engine/specloom/cli/commands.yaml by scripts/manual.py; do not edit.',
        ".TH SPECLOOM 1",
        ".SH NAME",
        "specloom \\- research tools for models, compiled from YAML specs",
        ".SH SYNOPSIS",
        ".B specloom",
        "[\\-\\-version] [\\-h] \\fICOMMAND\\fR ...",
        ".SH COMMANDS",
    ]
    for name, command in commands.items():
        lines += _command(name, command, shared)
    lines.append(".SH EXIT STATUS")
    for code, says in EXITS.items():
        lines += [".TP", f".B {code}", _text(says)]
    lines += [
        ".SH ENVIRONMENT",
        "Variables are listed in docs/reference/configuration.md;",
        ".B specloom doctor",
        "says which of those that are set cannot be read. NO_COLOR keeps colours away.",
        ".SH SEE ALSO",
        ".B specloom COMMAND \\-\\-help",
    ]
    return "\n".join(lines) + "\n"


def _command(name: str, command: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[str]:
    yield from (".SS " + name, _text(command["help"][0].upper() + command["help"][1:] + "."))
    for argument, stated in command.get("arguments", {}).items():
        said = shared[stated] if isinstance(stated, str) else stated
        names = [one for one in (said.get("short", ""), argument) if one.startswith("-")]
        value = said.get("metavar") or argument.lstrip("-").upper()
        flag = said.get("action", "").startswith("store")
        head = ", ".join(f"\\fB{_text(one)}\\fR" for one in names) + ("" if flag or not names else " ")
        yield from (".TP", head + ("" if flag and names else f"\\fI{_text(value)}\\fR"), _text(said["help"]))
    for inner, one in command.get("commands", {}).items():
        yield from _command(f"{name} {inner}", one, shared)
    if "example" in command:
        lines = command["example"].splitlines()
        yield from (
            ".PP",
            ".nf",
            *(_text(line) for line in ["    " + lines[0], *("  " + one for one in lines[1:])]),
            ".fi",
        )


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def main() -> int:
    """Write the page, or with `--check` say whether it is what would be written: 0 when it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if the page is out of date")
    only_check = parser.parse_args().check
    wanted = draw(yaml.safe_load(TABLE.read_text(encoding="utf-8")))
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    if only_check:
        sys.stderr.write(f"{PAGE.relative_to(ROOT)} is out of date; run `make docs`\n")
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(wanted, encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
