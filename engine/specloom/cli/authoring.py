"""The commands of the workshop: check, list, doctor, docs, schema, mutate."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

from specloom.core import Paint, columns, printable, table, to_json

from .common import PROBLEMS, UsageError, make_executor, paint_stdout, say, show, tell, workbench

TYPE_CHECKING = False
if TYPE_CHECKING:
    from specloom.model import Model
    from specloom.runtime import Executor


def check(options: Namespace) -> int:
    from specloom.authoring import find_verdict, widen
    from specloom.specs import layer_roots

    layers = layer_roots(os.environ)
    for path in options.paths:
        if not path.exists():
            raise UsageError(f"there is nothing at {path}")
    roots = [*layers, *widen(options.paths, layers)]
    verdict = find_verdict(roots, os.environ, remember=not options.no_cache)
    if options.json:
        say(to_json(verdict.to_json()))
    else:
        from specloom.core import render

        paint = paint_stdout()
        for one in verdict.diagnostics:
            say(render(one, verdict.sources, colour=paint.on))
        say(verdict.summary())
    return PROBLEMS if verdict.errors or (options.warnings_as_errors and verdict.warnings) else 0


def list_(options: Namespace) -> int:
    executor = workbench()
    said = {name: rows for name, rows in _things(executor.model, executor).items() if options.what in (None, name)}
    if options.json:
        say(
            to_json(
                {kind: [dict(zip(("name", "says"), row, strict=True)) for row in rows] for kind, rows in said.items()}
            )
        )
        return 0
    paint, width = paint_stdout(), columns()
    for kind, rows in said.items():
        if len(said) > 1:
            say(paint(f"{kind}:", "bold"))
        for line in table(rows, width):
            say(line)
    return 0


def _things(model: Model, executor: Executor) -> dict[str, list[list[str]]]:
    def provider_line(name: str) -> str:
        offers = ", ".join(model.providers[name].operations)
        missing = executor.missing.get(name)
        return f"{model.providers[name].title}: {offers}" + (f" (set {' and '.join(missing)})" if missing else "")

    return {
        "tools": [[one.name, f"{one.title}. {_sentence(one.description)}"] for one in model.tools.values()],
        "providers": [[name, provider_line(name)] for name in model.providers],
        "lenses": [[one.name, f"{one.title}. {one.description}"] for one in model.lenses.values()],
        "collections": [[one.name, f"{one.title}. {one.description}"] for one in model.collections.values()],
        "resources": [[one.name, f"{one.uri}: {one.title}. {one.description}"] for one in model.resources.values()],
    }


def _sentence(text: str) -> str:
    return printable(text).partition(". ")[0]


def doctor(options: Namespace) -> int:
    from specloom.core import cache_folder
    from specloom.server import read_switch

    from .doctor import examine, finding_lines, nothing_works, reach

    executor, errors = make_executor(os.environ)
    found = examine(executor, errors, os.environ, Path(cache_folder(os.environ)))
    if options.reach:
        found += asyncio.run(reach(executor, allow_private=read_switch(os.environ, "SPECLOOM_ALLOW_PRIVATE", [])))
    if options.json:
        say(to_json([one.to_json() for one in found]))
    else:
        show(finding_lines(found, paint_stdout(), columns()))
    return PROBLEMS if nothing_works(executor) else 0


def docs(options: Namespace) -> int:
    from specloom.authoring.docs.generate import run

    return run(check=options.check)


def schema(options: Namespace) -> int:
    from specloom.specs import editor_schemas

    schemas = editor_schemas()
    if options.to is None:
        say(to_json(schemas))
        return 0
    from specloom.runtime import write_whole

    for kind, schema in schemas.items():
        path = options.to / f"{kind}.json"
        try:
            write_whole(path, (to_json(schema) + "\n").encode())
        except OSError as error:
            tell(f"specloom: {path} cannot be written: {error.strerror}")
            return PROBLEMS
        say(str(path))
    return 0


def mutate(options: Namespace) -> int:
    from specloom.authoring.mutation.run import run

    return run(options.names, json=options.json, floor=options.floor)


# --- The command `new`: starts a spec of any kind, says what is wrong with it yet, and what comes next ----------------


_HYPHENS = "lower case, digits, hyphens and underscores"
_PLAIN = "lower case, digits and underscores"


def add_commands(add: Callable[[str, Callable[[Namespace], int], str, str], ArgumentParser]) -> None:
    """Put `new` with a command for each kind of spec on the command line."""
    says = "start a spec: a file that compiles, with what only you can know marked `decide`"
    example = "specloom new provider demo --capability web --from sample.json"
    kinds = add("new", new, says, example).add_subparsers(metavar="KIND", required=True, dest="kind")

    def kind(name: str, says: str, example: str, signs: str = _PLAIN) -> ArgumentParser:
        one = kinds.add_parser(
            name,
            help=says,
            description=f"{says[0].upper()}{says[1:]}.",
            epilog=f"example:\n  specloom new {name} {example}",
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        one.set_defaults(parser=one, toolset="")
        one.add_argument("name", metavar="NAME", help=signs)
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
    one = kind("lens", "a field of sites for a search", "birds --domain otters.example", _HYPHENS)
    one.add_argument("--domain", action="append", default=[], metavar="HOST", help="a site; repeat it for each")
    kind("toolset", "what a client is told about the tools of a folder", "birds", _HYPHENS)
    kind("collection", "other bounds for what the server remembers, or a place for more", "artifacts")


def new(options: Namespace) -> int:
    """Write the file, say where, and hold it against what there is."""
    from specloom.authoring import ScaffoldError, default_folder, folder_of, judge_one

    executor = workbench(founding=True)
    try:
        text = _draft(options, executor.model)
    except ScaffoldError as error:
        raise UsageError(str(error)) from None
    folder = options.to or default_folder(os.environ, folder_of(options.kind, options.toolset))
    path = folder / f"{options.name}.yaml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists and is not overwritten; choose another name or remove it") from None
    except OSError as error:
        tell(f"specloom: {path} cannot be written: {error.strerror}")
        return PROBLEMS
    say(str(path))
    from specloom.core import render

    for one in judge_one(str(path), text.encode(), executor.model):
        tell(render(one, {str(path): text}, colour=Paint(sys.stderr, os.environ).on))
    first = f"settle what is marked `decide` in {path}, then run" if "decide" in text else "run"
    tell(f"next: {first} `specloom check {path}`{_afterwards(options)}")
    return 0


def _draft(options: Namespace, model: Model) -> str:
    """The text of the new spec."""
    kind, name = options.kind, options.name
    if kind == "provider":
        from specloom.authoring import draft_provider

        return draft_provider(model, name, options.capability, _sample(options), options.base)
    if kind == "capability":
        from specloom.authoring import draft_capability

        return draft_capability(model, name, _sample(options))
    if kind == "tool":
        from specloom.authoring import draft_tool

        return draft_tool(model, name, options.toolset, options.capability, options.procedure)
    if kind == "lens":
        from specloom.authoring import draft_lens

        return draft_lens(model, name, options.domain)
    if kind == "toolset":
        from specloom.authoring import draft_toolset

        return draft_toolset(model, name)
    from specloom.authoring import draft_collection

    return draft_collection(model, name)


def _sample(options: Namespace) -> bytes | None:
    try:
        return options.sample.read_bytes() if options.sample else None
    except OSError as error:
        raise UsageError(f"{options.sample} cannot be read: {error.strerror}") from None


def _afterwards(options: Namespace) -> str:
    """What to do with the file once it is settled."""
    name = options.name
    after = {
        "capability": f", and start who offers it: `specloom new provider NAME --capability {name}`",
        "tool": f", and serve it: `specloom serve --toolset research,{options.toolset}`",
    }
    return after.get(options.kind, "")
