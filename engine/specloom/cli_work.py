"""The commands of the workshop: check, list, doctor, docs, schema, mutate."""

from __future__ import annotations

import asyncio
import os
from argparse import Namespace
from pathlib import Path

from .cli_base import PROBLEMS, UsageError, make_executor, paint_stdout, say, show, tell, workbench
from .show import columns, printable, table, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .executor import Executor
    from .model import Model


def check(options: Namespace) -> int:
    from .names import layer_roots
    from .verdict import find_verdict, widen

    layers = layer_roots(os.environ)
    for path in options.paths:
        if not path.exists():
            raise UsageError(f"there is nothing at {path}")
    roots = [*layers, *widen(options.paths, layers)]
    verdict = find_verdict(roots, os.environ, remember=not options.no_cache)
    if options.json:
        say(to_json(verdict.to_json()))
    else:
        from .diagnostics import render

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
    }


def _sentence(text: str) -> str:
    return printable(text).partition(". ")[0]


def doctor(options: Namespace) -> int:
    from .doctor import examine, nothing_works, reach
    from .findings import finding_lines
    from .folders import cache_folder
    from .serving import read_switch

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
    from .docs import run

    return run(check=options.check)


def schema(options: Namespace) -> int:
    from .schema import editor_schemas

    schemas = editor_schemas()
    if options.to is None:
        say(to_json(schemas))
        return 0
    from .recording import write_whole

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
    from .mutate import run

    return run(options.names, json=options.json, floor=options.floor)
