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
from specloom.core import Fault
from specloom.server import OUTPUT_SCHEMAS

from .common import CALL_EXITS, INTERRUPTED, PROBLEMS, READER_LEFT, USAGE, CommandError, say, tell, tell_fault


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

    def add(name: str, run: str, says: str, example: str, *shared: str) -> argparse.ArgumentParser:
        return _add_command(commands, name, run, says, example, *shared)

    _add_serve(add("serve", "run:serve", "serve the tools to one client over stdio", "specloom serve --toolset core"))
    says = "compile all specs and run their examples, offline"
    one = add("check", "authoring:check", says, "specloom check my-specs/demo.yaml", "--json")
    one.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="further files or folders, laid on top")
    one.add_argument("--warnings-as-errors", action="store_true", help="exit 1 for a warning too")
    one.add_argument("--no-cache", action="store_true", help="look at everything again although nothing changed")
    example = "specloom call TOOL query='sea otters' num_results=3"
    one = add("call", "run:call", "run a tool", example, "tool", "pairs", "--json")
    one.epilog = f"{one.epilog}\n\n{CALL_EXITS}"
    one.add_argument("--replay", default="", metavar="DIR", help="answer from recordings, offline")
    one.add_argument("--cache", action="store_true", help="use and fill the cache on disk")
    one.add_argument("--raw", action="store_true", help="the answer alone, byte for byte")
    says = "show what a call would send; sends nothing"
    add("explain", "run:explain", says, "specloom explain TOOL query=otters", "tool", "pairs", "--json")
    says = "run one operation of a provider once, live"
    add("try", "run:try_", says, "specloom try PROVIDER.web query=otters", "operation", "pairs", "--json")
    says = "run one operation, keep what came back without secrets, and print an example for the spec"
    example = "specloom record PROVIDER.web query=otters --to recordings"
    one = add("record", "run:record", says, example, "operation", "pairs")
    one.add_argument("--to", type=Path, default=Path("recordings"), metavar="DIR", help="where (default: recordings)")
    says = "start a spec: a file that compiles, with what only you can know marked `decide`"
    example = "specloom new provider demo --capability web --from sample.json"
    _add_kinds(add("new", "authoring:new", says, example))
    says = "list tools, providers, lenses, collections and resources"
    one = add("list", "authoring:list_", says, "specloom list providers", "--json")
    kinds = ["tools", "providers", "lenses", "collections", "resources"]
    one.add_argument("what", nargs="?", choices=kinds, help="only these")
    says = "say what is configured, missing and reachable"
    one = add("doctor", "authoring:doctor", says, "specloom doctor --reach", "--json")
    one.add_argument("--reach", action="store_true", help="try a connection to each configured provider")
    says = "generate the reference pages, tables and schemas"
    one = add("docs", "authoring:docs", says, "specloom docs --check")
    one.add_argument("--check", action="store_true", help="change nothing, exit 1 if a page is out of date")
    says = "write the JSON Schemas that editors complete specs with"
    one = add("schema", "authoring:schema", says, "specloom schema --to schema")
    one.add_argument("--to", type=Path, metavar="DIR", help="a file for each kind; without it all go to stdout")
    says = "change the specs one detail at a time; their examples must notice"
    one = add("mutate", "authoring:mutate", says, "specloom mutate demo --floor 0.9", "--json")
    one.add_argument("names", nargs="*", metavar="NAME", help="only these specs")
    one.add_argument("--floor", type=_share, metavar="SHARE", help="exit 1 when fewer are noticed, 0 to 1")
    says = "export or erase what is kept of a user; record consent and members"
    _add_data(add("data", "storage:export", says, "specloom data erase --tenant acme --user ann --yes"))
    one = add("audit", "storage:verify_audit", "look after the audit log", "specloom audit verify")
    says = "whether every row holds; exit 1 names the first that does not"
    one = one.add_subparsers(metavar="ACT", required=True).add_parser("verify", help=says, allow_abbrev=False)
    one.add_argument("path", nargs="?", default="", metavar="FILE", help="the log (default: the configured one)")
    one.add_argument("--log", default="", metavar="NAME", help="another log of this installation, such as provenance")
    one.add_argument("--json", **_SHARED["--json"])
    return parser


_SHARED: Mapping[str, Mapping[str, Any]] = {
    "tool": {"metavar": "TOOL", "help": "its name, as `specloom list tools` shows it"},
    "operation": {
        "metavar": "PROVIDER[.OPERATION]",
        "help": "the operation may be left out if it is the only",
    },
    "pairs": {
        "nargs": "*",
        "default": [],
        "metavar": "KEY=VALUE",
        "help": "arguments; a list by repetition or as JSON",
    },
    "--json": {"action": "store_true", "help": "for programs"},
}
"""Arguments that several commands take."""


def _add_command(commands: Any, name: str, run: str, says: str, example: str, *shared: str) -> argparse.ArgumentParser:
    """A command that explains itself, and what it takes of the arguments that others take too."""
    one: argparse.ArgumentParser = commands.add_parser(
        name,
        help=says,
        description=f"{says[0].upper()}{says[1:]}.",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    one.set_defaults(run=_late(run), parser=one)
    for argument in shared:
        one.add_argument(argument, **_SHARED[argument])
    return one


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


def _add_kinds(new: argparse.ArgumentParser) -> None:
    """A command for each kind of spec that can be started."""
    kinds = new.add_subparsers(metavar="KIND", required=True, dest="kind")

    def kind(name: str, says: str, example: str, hyphens: str = "") -> argparse.ArgumentParser:
        one = _add_command(kinds, name, "authoring:new", says, f"specloom new {name} {example}")
        one.set_defaults(toolset="")
        one.add_argument("name", metavar="NAME", help=f"lower case, digits{hyphens} and underscores")
        one.add_argument("--to", type=Path, metavar="DIR", help="the folder to write it to")
        return one

    one = kind("provider", "an API that answers, from a sample of its answer", "demo --from sample.json")
    one.add_argument("--capability", metavar="NAME", help="what it will offer (default: web if there is such a one)")
    one.add_argument("--from", dest="sample", type=Path, metavar="FILE", help="an answer of the API, JSON or XML")
    one.add_argument("--base", default="", metavar="URL", help="an address of the API, with a query if you have one")
    one = kind("capability", "what tools may ask and providers answer", "birds --from sample.json")
    one.add_argument("--from", dest="sample", type=Path, metavar="FILE", help="an answer of an API, for the row")
    one = kind("tool", "what a model calls", "bird_search --toolset birds --capability birds")
    one.add_argument("--toolset", default="", metavar="NAME", help="the toolset, which is the folder, it belongs to")
    says = "what it asks (default: web); repeat it to ask several things at once"
    one.add_argument("--capability", action="append", default=[], metavar="NAME", help=says)
    one.add_argument("--procedure", default="", metavar="NAME", help="the procedure it runs instead")
    one = kind("lens", "a field of sites for a search", "birds --domain otters.example", ", hyphens")
    one.add_argument("--domain", action="append", default=[], metavar="HOST", help="a site; repeat it for each")
    kind("toolset", "what a client is told about the tools of a folder", "birds", ", hyphens")
    kind("collection", "other bounds for what the server remembers, or a place for more", "artifacts")
    one = kind("resource", "what a host reads by its address", "bird_notes --collection memories")
    one.add_argument("--collection", default="", metavar="NAME", help="what it reads of its caller")
    one.add_argument("--procedure", default="", metavar="NAME", help="the procedure it runs instead")


def _add_data(data: argparse.ArgumentParser) -> None:
    """What can be done with what is kept of a user."""
    acts = data.add_subparsers(metavar="ACT", required=True)

    def act(name: str, says: str, *, of_one: bool = False) -> argparse.ArgumentParser:
        one = acts.add_parser(name, help=says, allow_abbrev=False)
        one.set_defaults(run=_late(f"storage:{name}"))
        if name == "members":
            one.add_argument("--workspace", required=True, metavar="NAME", help="the workspace_id of its tools")
        one.add_argument("--tenant", default="default", metavar="NAME", help="(default: default)")
        one.add_argument("--user", default="", required=of_one, metavar="NAME", help="whose data it is")
        return one

    one = act("export", "everything that a user has here, as JSON", of_one=True)
    one.add_argument("--to", metavar="FILE", help="write it there, for its owner alone to read")
    one = act("erase", "remove everything that a user has here")
    one.add_argument("--whole-tenant", action="store_true", help="of every user of the tenant")
    one.add_argument("--yes", action="store_true", help="yes, it cannot be undone")
    one = act("consent", "show or record what a user has agreed to", of_one=True)
    one.add_argument("--purpose", default="", metavar="NAME", help="memory, analytics, workspace or monitoring")
    one.add_argument("--terms", default="", metavar="TEXT", help="the version of the terms that were agreed to")
    decision = one.add_mutually_exclusive_group()
    decision.add_argument("--grant", dest="granted", action="store_const", const=True, help="they agree")
    decision.add_argument("--withdraw", dest="granted", action="store_const", const=False, help="they no longer do")
    change = act("members", "show, add or remove members of a workspace").add_mutually_exclusive_group()
    change.add_argument("--add", dest="adds", action="store_const", const=True, help="let this user in")
    change.add_argument("--remove", dest="adds", action="store_const", const=False, help="no longer")
