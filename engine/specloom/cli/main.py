"""The command line: what people, builds and hosts can ask for, each in one command that explains itself."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from specloom import __version__
from specloom.core import Fault
from specloom.server import OUTPUT_SCHEMAS

from .authoring import add_commands as add_new_commands
from .common import CALL_EXITS, INTERRUPTED, PROBLEMS, READER_LEFT, USAGE, UsageError, say, tell, tell_fault
from .storage import add_commands as add_state_commands


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 when all is well, 1 when problems were found or a call failed, 2 when it is not understood.

    130 says that it was interrupted, and 141 that who read its output left before the end, as a shell would say both.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Answers hold what others wrote, and half a surrogate in it must not end the command.
            stream.reconfigure(errors="replace")
    try:
        options, strange = make_parser().parse_known_args(list(sys.argv[1:] if argv is None else argv))
        if strange:
            options.parser.error(f"unrecognized arguments: {' '.join(strange)}")
        code: int = options.run(options)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse has said what is wrong
        return stop.code if isinstance(stop.code, int) else USAGE
    except UsageError as error:
        tell(f"specloom: {error}")
        return USAGE
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


def parse_serve(argv: Sequence[str]) -> argparse.Namespace:
    """The options of `serve`: toolset, tools and exclude (lists of names), replay, record, host and so on."""
    return make_parser().parse_args(["serve", *argv])


# --- the parser -----------------------------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Every command with its options; the help of each ends with an example."""
    parser = argparse.ArgumentParser(
        prog="specloom",
        description="Research tools for models, compiled from YAML specs.",
        epilog="specloom COMMAND --help shows an example of each.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="the version and the digest of the specs")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[argparse.Namespace], int], says: str, example: str) -> argparse.ArgumentParser:
        one = commands.add_parser(
            name,
            help=says,
            description=f"{says[0].upper()}{says[1:]}.",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        one.set_defaults(run=run, parser=one)
        return one

    _add_serve(
        add(
            "serve",
            _late("run", "serve"),
            "serve the tools to one client over stdio",
            "specloom serve --toolset core",
        )
    )
    one = add(
        "check",
        _late("authoring", "check"),
        "compile all specs and run their examples, offline",
        "specloom check my-specs/demo.yaml",
    )
    one.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="further files or folders, laid on top")
    one.add_argument("--warnings-as-errors", action="store_true", help="exit 1 for a warning too")
    one.add_argument("--no-cache", action="store_true", help="look at everything again although nothing changed")
    _add_json(one)
    one = add("call", _late("run", "call"), "run a tool", "specloom call TOOL query='sea otters' num_results=3")
    one.epilog = f"{one.epilog}\n\n{CALL_EXITS}"
    _add_tool(one)
    one.add_argument("--replay", default="", metavar="DIR", help="answer from recordings, offline")
    one.add_argument("--cache", action="store_true", help="use and fill the cache on disk")
    one.add_argument("--raw", action="store_true", help="the answer alone, byte for byte")
    _add_json(one)
    one = add(
        "explain",
        _late("run", "explain"),
        "show what a call would send; sends nothing",
        "specloom explain TOOL query=otters",
    )
    _add_tool(one)
    _add_json(one)
    one = add(
        "try",
        _late("run", "try_"),
        "run one operation of a provider once, live",
        "specloom try PROVIDER.web query=otters",
    )
    _add_operation(one)
    _add_json(one)
    says = "run one operation, keep what came back without secrets, and print an example for the spec"
    one = add("record", _late("run", "record"), says, "specloom record PROVIDER.web query=otters --to recordings")
    _add_operation(one)
    one.add_argument("--to", type=Path, default=Path("recordings"), metavar="DIR", help="where (default: recordings)")
    add_new_commands(add)
    one = add(
        "list",
        _late("authoring", "list_"),
        "list tools, providers, lenses, collections and resources",
        "specloom list providers",
    )
    one.add_argument(
        "what", nargs="?", choices=["tools", "providers", "lenses", "collections", "resources"], help="only these"
    )
    _add_json(one)
    one = add(
        "doctor",
        _late("authoring", "doctor"),
        "say what is configured, missing and reachable",
        "specloom doctor --reach",
    )
    one.add_argument("--reach", action="store_true", help="try a connection to each configured provider")
    _add_json(one)
    one = add(
        "docs", _late("authoring", "docs"), "generate the reference pages, tables and schemas", "specloom docs --check"
    )
    one.add_argument("--check", action="store_true", help="change nothing, exit 1 if a page is out of date")
    one = add(
        "schema",
        _late("authoring", "schema"),
        "write the JSON Schemas that editors complete specs with",
        "specloom schema --to schema",
    )
    one.add_argument("--to", type=Path, metavar="DIR", help="a file for each kind; without it all go to stdout")
    says = "change the specs one detail at a time; their examples must notice"
    one = add("mutate", _late("authoring", "mutate"), says, "specloom mutate demo --floor 0.9")
    one.add_argument("names", nargs="*", metavar="NAME", help="only these specs")
    one.add_argument("--floor", type=_share, metavar="SHARE", help="exit 1 when fewer are noticed, 0 to 1")
    _add_json(one)
    add_state_commands(add)
    return parser


def _late(module: str, name: str) -> Callable[[argparse.Namespace], int]:
    """A command whose module is imported when it runs, because help and usage errors need none of it."""

    def run(options: argparse.Namespace) -> int:
        code: int = getattr(importlib.import_module(f".{module}", __package__), name)(options)
        return code

    return run


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **keywords: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **keywords)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from specloom.compiler import digest_sources
        from specloom.core import Report
        from specloom.specs import layer_roots, load_library

        digest = digest_sources(load_library(layer_roots(os.environ), Report()).sources)
        say(f"specloom {__version__}, specs {digest[:12]}")
        parser.exit()


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; write a number from 0 to 1, such as 0.9")
    return share


def _add_json(one: argparse.ArgumentParser) -> None:
    one.add_argument("--json", action="store_true", help="for programs")


def _add_tool(one: argparse.ArgumentParser) -> None:
    one.add_argument("tool", metavar="TOOL", help="its name, as `specloom list tools` shows it")
    one.add_argument(
        "pairs", nargs="*", default=[], metavar="KEY=VALUE", help="arguments; a list by repetition or as JSON"
    )


def _add_operation(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "operation", metavar="PROVIDER[.OPERATION]", help="the operation may be left out if it is the only"
    )
    one.add_argument(
        "pairs", nargs="*", default=[], metavar="KEY=VALUE", help="arguments; a list by repetition or as JSON"
    )


def _add_serve(one: argparse.ArgumentParser) -> None:
    names: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAMES"}
    one.add_argument("--toolset", **names, help="tools of these toolsets (comma list, or repeat it); `all` for all")
    one.add_argument("--tools", **names, help="these tools as well")
    one.add_argument("--exclude", **names, help="but not these")
    one.add_argument("--replay", default="", metavar="DIR", help="answer from recordings, offline and without keys")
    one.add_argument("--record", default="", metavar="DIR", help="keep every exchange, without secrets")
    one.add_argument("--host", choices=["own", "sdk"], default="own", help="who speaks the protocol (default: own)")
    one.add_argument(
        "--output-schemas",
        choices=OUTPUT_SCHEMAS,
        help="how much of the schemas of answers is listed: every key, those at the top, or nothing (default: full)",
    )
    one.add_argument("--budget", action="store_true", help="show what the list of tools costs a model, and stop")
