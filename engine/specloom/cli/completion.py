"""What a shell offers after Tab: commands, options, choices, and the names of tools, their arguments, and hosts.

The script of each shell asks `specloom __complete WORD …` at every Tab, so that it knows what the specs say now.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specloom.core import NAME, command_name, load_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from specloom.model import Heads

_Table = Mapping[str, Any]
_COMPLETES = {"tool": "tools", "operation": "operations", "pairs": "arguments"}
"""What the shared arguments of `commands.yaml` are completed with."""


def print_script(options: Namespace) -> int:
    """Print the script of a shell."""
    from .common import say, tell

    shell = load_table(__file__, "completion.yaml")[options.shell]
    name = command_name(os.environ)
    say(shell["script"].rstrip().replace(NAME, name))
    tell(f"{name}: {shell['use'].replace(NAME, name)}")
    return 0


def complete(words: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """What the last of these words of a command line may become; nothing where only files can stand."""
    commands = dict(load_table(__file__, "commands.yaml"))
    shared = commands.pop("shared")
    *before, last = words or [""]
    command: _Table = {"commands": commands}
    while before and before[0] in command.get("commands", ()):
        command = command["commands"][before[0]]
        before = before[1:]
    if "commands" in command:
        return [] if before else _beginning(command["commands"], last)
    arguments = {
        name: {**(shared[stated] if isinstance(stated, str) else stated), "completes": _completer(stated)}
        for name, stated in command.get("arguments", {}).items()
    }
    if last.startswith("-"):
        return _beginning([*arguments, "--help"], last)
    if before and before[-1] in arguments and not _is_flag(arguments[before[-1]]):
        return _beginning(_values(arguments[before[-1]], before, environ), last)
    return _beginning(_positional(arguments, before, last, environ), "" if last == "=" else last)


def _completer(stated: Any) -> str:
    return _COMPLETES.get(stated, "") if isinstance(stated, str) else stated.get("completes", "")


def _is_flag(argument: _Table) -> bool:
    return argument.get("action") in ("store_true", "store_const")


def _positional(arguments: _Table, before: Sequence[str], last: str, environ: Mapping[str, str]) -> Iterable[str]:
    """What the argument may be that stands at this place, counted without options and their values."""
    places = [one for name, one in arguments.items() if not name.startswith("-")]
    options = {name: one for name, one in arguments.items() if name.startswith("-")}
    given: list[str] = []
    takes_value = False
    for word in before:
        if takes_value:
            takes_value = False
        elif word.startswith("-"):
            takes_value = word in options and not _is_flag(options[word])
        else:
            given.append(word)
    if not places:
        return ()
    place = places[min(len(given), len(places) - 1)]
    if len(given) >= len(places) and place.get("nargs") != "*":
        return ()
    return _values(place, [*given, last], environ)


def _values(argument: _Table, given: Sequence[str], environ: Mapping[str, str]) -> Iterable[str]:
    choices = argument.get("choices")
    if isinstance(choices, str):
        from specloom.server import CATALOGUES, OUTPUT_SCHEMAS

        return {"output schemas": OUTPUT_SCHEMAS, "catalogues": CATALOGUES}[choices]
    if choices:
        return tuple(choices)
    match argument["completes"]:
        case "hosts":
            return list(load_table(__file__, "hosts.yaml"))
        case "tools":
            return _heads(environ).tools
        case "operations":
            providers = _heads(environ).providers.values()
            return [f"{one.name}.{operation}" for one in providers for operation in one.operations]
        case "arguments":
            return _tool_arguments(given, environ)
        case _:
            return ()


def _heads(environ: Mapping[str, str]) -> Heads:
    from specloom.server import load_heads

    return load_heads(environ)[0]


def _tool_arguments(given: Sequence[str], environ: Mapping[str, str]) -> Iterable[str]:
    """`NAME=` for each argument that is not there yet, or `NAME=VALUE` for those of a closed list.

    Some shells cut a word at its `=`: then what stands behind it is a word of its own.
    """
    from specloom.server import load_served

    tool, *pairs = given
    model = load_served(environ).model
    if tool not in model.heads.tools:
        return ()
    listed = model.listed(tool)
    schema = listed["inputSchema"] if listed else model.tools[tool].input_schema
    properties: Mapping[str, Mapping[str, Any]] = schema["properties"]

    def values(name: str) -> list[str]:
        one = properties.get(name, {})
        if one.get("type") == "boolean":
            return ["true", "false"]
        return [str(value) for value in one.get("enum") or one.get("items", {}).get("enum") or ()]

    if pairs[-1] == "=" and len(pairs) > 1:
        return values(pairs[-2])
    if len(pairs) > 2 and pairs[-2] == "=":
        return values(pairs[-3])
    name, sign, _ = pairs[-1].partition("=")
    if sign:
        return [f"{name}={value}" for value in values(name)]
    there = {pair.partition("=")[0] for pair in pairs[:-1]}
    return [f"{name}=" for name in properties if name not in there]


def _beginning(names: Iterable[str], start: str) -> list[str]:
    return [name for name in names if name.startswith(start)]
