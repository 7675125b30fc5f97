"""The parser of the command line: its commands stand in `commands.yaml`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys

from specloom.core import load_table

from .exits import USAGE
from .overview import name_program, overview, say_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any, NoReturn

    _Table = Mapping[str, Any]


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command, with the function that `run`s it; SystemExit when help was shown or is needed."""
    commands = dict(load_table(__file__, "commands.yaml"))
    commands.pop("shared")
    command = _find_command(commands, words)
    options, strange = make_parser(words).parse_known_args(words)
    if strange:
        from specloom.core import did_you_mean

        known = [name for name in command.get("arguments", ()) if name.startswith("-")]
        slips = (did_you_mean(one.partition("=")[0], known) for one in strange if one[:2] == "--")
        near = next(filter(None, slips), "")
        options.parser.error(f"unrecognized arguments: {' '.join(strange)}" + (f"; {near}" if near else ""))
    return options


def _find_command(commands: _Table, words: Sequence[str]) -> _Table:
    """What the words name; one that is no command is told with the one that it is most like, and ends with 2."""
    path = [name_program()[0]]
    found: _Table = {"commands": commands}
    for word in words:
        if "commands" not in found or word.startswith("-"):
            break
        if word not in found["commands"]:
            from specloom.core import did_you_mean

            near = did_you_mean(word, found["commands"]) or f"`{' '.join(path)} --help` lists what there is"
            sys.stderr.write(f"{path[0]}: there is no command {' '.join([*path[1:], word])!r}; {near}\n")
            raise SystemExit(USAGE)
        path.append(word)
        found = found["commands"][word]
    return found


def make_parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Every command with its options; the help of each ends with an example.

    With the `words` of a command line, only the command that they ask for has its options.
    """
    commands = dict(load_table(__file__, "commands.yaml"))
    shared = commands.pop("shared")
    parser = _Parser(prog=name_program()[0], allow_abbrev=False, formatter_class=_Formatter)
    parser.commands = commands
    parser.add_argument("--version", action=_Version)
    _add_commands(parser, "COMMAND", commands, shared, words)
    return parser


def _add_commands(
    parser: argparse.ArgumentParser, metavar: str, commands: _Table, shared: _Table, words: Sequence[str] | None
) -> None:
    inner = parser.add_subparsers(metavar=metavar, required=True, dest=metavar.lower(), parser_class=_Command)
    asked = words[0] if words else None
    for name, command in commands.items():
        if asked in commands and name != asked:
            continue
        if words is not None and name != asked:
            inner.add_parser(name, help=say_own(command["help"]), add_help=False)
            continue
        texts: dict[str, Any] = {"formatter_class": _Formatter}
        if "example" in command:
            texts["description"] = say_own(f"{command['help'][0].upper()}{command['help'][1:]}.")
            texts["epilog"] = say_own(f"example:\n  {command['example']}")
            texts["formatter_class"] = _RawFormatter
        one = inner.add_parser(name, help=say_own(command["help"]), allow_abbrev=False, **texts)
        if "example" in command:
            one.set_defaults(parser=one)
        if "runs" in command:
            one.set_defaults(run=_late(command["runs"]))
        groups: dict[str, Any] = {}
        for argument, stated in command.get("arguments", {}).items():
            options = dict(shared[stated] if isinstance(stated, str) else stated)
            group = options.pop("group", "")
            options.pop("completes", None)
            if group and group not in groups:
                groups[group] = one.add_mutually_exclusive_group()
            if "help" in options:
                options["help"] = say_own(options["help"])
            for key in ("type", "choices"):
                if isinstance(options.get(key), str):
                    options[key] = _named(options[key])
            names = [name for name in (options.pop("short", ""), argument) if name]
            (groups[group] if group else one).add_argument(*names, **options)
        if "commands" in command:
            _add_commands(one, command.get("second", "ACT"), command["commands"], shared, words and words[1:])


def _named(word: str) -> Any:
    """What a word of `commands.yaml` stands for."""
    if word == "path":
        return _path
    if word == "share":
        return _share
    from specloom.server import CATALOGUES, OUTPUT_SCHEMAS

    return {"output schemas": OUTPUT_SCHEMAS, "catalogues": CATALOGUES}[word]


def _late(path: str) -> Callable[[argparse.Namespace], int]:
    """A command by `module:function`, which is imported when it runs, because help and usage errors need none of it."""
    module, _, name = path.partition(":")

    def run(options: argparse.Namespace) -> int:
        code: int = getattr(importlib.import_module(f".{module}", __package__), name)(options)
        return code

    return run


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; write a number from 0 to 1, such as 0.9")
    return share


class _Formatter(argparse.HelpFormatter):
    """As wide as the library makes it, which finds that out with a module that imports three compressors."""

    def __init__(self, prog: str) -> None:
        width = 0
        with contextlib.suppress(ValueError):
            width = int(os.environ.get("COLUMNS", ""))
        if width <= 0:
            with contextlib.suppress(AttributeError, ValueError, OSError):
                width = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
        super().__init__(prog, width=(width if width > 0 else 80) - 2)


class _RawFormatter(_Formatter, argparse.RawDescriptionHelpFormatter):
    """The same, with texts as they are."""


_CHOICE, _CHOICES = "invalid choice: ", " (choose from "
"""What argparse writes before a value that is no choice, and before what there is to choose from."""


class _Command(argparse.ArgumentParser):
    """The parser of a command: a value that is none of its choices is told with the one that it is most like."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        _, found, rest = message.partition(_CHOICE)
        value, _, choices = rest.rpartition(_CHOICES)
        if found and choices:
            from specloom.core import did_you_mean

            names = [one.strip(" '") for one in choices.removesuffix(")").split(",")]
            near = did_you_mean(value.strip("'"), names) or f"there is {', '.join(names)}"
            message = f"there is no {value} here; {near}"
        super().error(message)


class _Parser(_Command):
    """The parser of the whole, whose help is there without it as well."""

    commands: _Table

    def format_help(self) -> str:
        return overview(self.commands)


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **keywords: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **keywords)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from specloom.server import version_line

        sys.stdout.write(f"{version_line(os.environ)}\n")
        parser.exit()
