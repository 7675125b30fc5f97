"""The command line: what people, builds and hosts can ask for, each in one command that explains itself."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from specloom import __version__
from specloom.core import Fault, SafeStream, load_table
from specloom.server import CATALOGUES, OUTPUT_SCHEMAS

from .common import INTERRUPTED, PROBLEMS, READER_LEFT, USAGE, CommandError, say, tell, tell_fault

_Table = Mapping[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 when all is well, 1 when problems were found or a call failed, 2 when it is not understood.

    130 says that it was interrupted, and 141 that who read its output left before the end, as a shell would say both.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Answers hold what others wrote, and half a surrogate in it must not end the command.
            stream.reconfigure(errors="replace")
    # No command need think of what steers a terminal.
    with contextlib.redirect_stdout(SafeStream(sys.stdout)), contextlib.redirect_stderr(SafeStream(sys.stderr)):
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    try:
        options, strange = make_parser().parse_known_args(list(sys.argv[1:] if argv is None else argv))
        if strange:
            options.parser.error(f"unrecognized arguments: {' '.join(strange)}")
        code: int = options.run(options)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse has said what is wrong
        return stop.code if isinstance(stop.code, int) else USAGE
    except CommandError as error:
        tell(f"specloom: {error}")
        return error.code
    except Fault as fault:
        tell_fault(fault)
        return PROBLEMS
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has left. What is still buffered must go somewhere when the interpreter closes the stream.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
    return code


# --- The parser: its commands stand in `commands.yaml` ----------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Every command with its options; the help of each ends with an example."""
    commands = load_table(__file__, "commands.yaml")
    parser = argparse.ArgumentParser(
        prog="specloom",
        description="Research tools for models, compiled from YAML specs.",
        epilog="specloom COMMAND --help shows an example of each.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="the version and the digest of the specs")
    shared = commands.pop("shared")
    _add_commands(parser, "COMMAND", commands, shared)
    return parser


def _add_commands(parser: argparse.ArgumentParser, metavar: str, commands: _Table, shared: _Table) -> None:
    inner = parser.add_subparsers(metavar=metavar, required=True, dest=metavar.lower())
    for name, command in commands.items():
        texts: dict[str, Any] = {}
        if "example" in command:
            texts["description"] = f"{command['help'][0].upper()}{command['help'][1:]}."
            texts["epilog"] = f"example:\n  {command['example']}"
            texts["formatter_class"] = argparse.RawDescriptionHelpFormatter
        one = inner.add_parser(name, help=command["help"], allow_abbrev=False, **texts)
        if "example" in command:
            one.set_defaults(parser=one)
        if "runs" in command:
            one.set_defaults(run=_late(command["runs"]))
        groups: dict[str, Any] = {}
        for argument, stated in command.get("arguments", {}).items():
            options = dict(shared[stated] if isinstance(stated, str) else stated)
            group = options.pop("group", "")
            if group and group not in groups:
                groups[group] = one.add_mutually_exclusive_group()
            for key, values in _NAMED.items():
                if isinstance(options.get(key), str):
                    options[key] = values[options[key]]
            (groups[group] if group else one).add_argument(argument, **options)
        if "commands" in command:
            _add_commands(one, command.get("second", "ACT"), command["commands"], shared)


def _late(path: str) -> Callable[[argparse.Namespace], int]:
    """A command by `module:function`, which is imported when it runs, because help and usage errors need none of it."""
    module, _, name = path.partition(":")

    def run(options: argparse.Namespace) -> int:
        code: int = getattr(importlib.import_module(f".{module}", __package__), name)(options)
        return code

    return run


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **keywords: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **keywords)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from specloom.server import find_digest

        say(f"specloom {__version__}, specs {find_digest(os.environ)[:12]}")
        parser.exit()


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; write a number from 0 to 1, such as 0.9")
    return share


_NAMED: Mapping[str, Mapping[str, Any]] = {
    "type": {"path": Path, "share": _share},
    "choices": {"output schemas": OUTPUT_SCHEMAS, "catalogues": CATALOGUES},
}
"""What the words of `commands.yaml` stand for."""
