"""The commands of the workshop: check, list, doctor, docs, schema, mutate."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from specloom.core import Paint, printable, project_folder, table, to_json

from .common import CommandError, answer, create, say, tell, tell_errors, workbench, writing
from .exits import PROBLEMS
from .overview import name_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from specloom.model import Heads, Model, OtherHead, ProviderHead, ToolHead


def check(options: Namespace) -> int:
    for path in options.paths:
        if not path.exists():
            raise CommandError(f"there is nothing at {path}")
    if not options.watch:
        return _check(options)
    if options.json:
        raise CommandError("--watch is for a person to look at, and --json for programs; leave one out")
    from specloom.authoring import stamp_files
    from specloom.core import ChangeDetector

    changes = ChangeDetector(lambda: stamp_files(_roots(options.paths)))
    while True:
        _check(options)
        tell("watching for changes; Ctrl-C ends it")
        sys.stdout.flush()
        changes.wait()


def _check(options: Namespace) -> int:
    from specloom.authoring import find_verdict
    from specloom.core import render

    verdict = find_verdict(_roots(options.paths), os.environ, remember=not options.no_cache, paths=options.paths)
    code = PROBLEMS if verdict.errors or (options.warnings_as_errors and verdict.warnings) else 0

    def lines(paint: Paint, _width: int) -> list[str]:
        return [*(render(one, verdict.sources, colour=paint.on) for one in verdict.diagnostics), verdict.summary()]

    return answer(verdict.to_json, lines, as_json=options.json, code=code)


def _order_hint(model: Model, options: Namespace) -> str:
    """Where to write a new provider down so that tools ask it; nothing where others are asked already."""
    contract = model.capabilities.get(options.capability or "") if options.kind == "provider" else None
    if contract is None or contract.order:
        return ""
    return f", and let tools ask it: `order: [{options.name}]` in {contract.place.file}"


def _roots(paths: Sequence[Path]) -> list[Path]:
    """The layers of the environment, and what a person lays on top."""
    from specloom.authoring import widen
    from specloom.specs import layer_roots

    layers = layer_roots(os.environ)
    return [*layers, *widen(paths, layers)]


def list_(options: Namespace) -> int:
    from specloom.runtime import configure
    from specloom.server import load_heads

    heads, errors = load_heads(os.environ)
    tell_errors(errors)
    configured = configure(heads.providers.values(), os.environ)
    for problem in configured.problems:
        tell(f"specloom: {problem}")
    things = _things(heads, configured.missing)
    kinds = {kind: rows for kind, rows in things.items() if options.what in (None, kind)}

    def data() -> dict[str, list[dict[str, str]]]:
        return {kind: [{"name": name, "says": text} for name, text in rows] for kind, rows in kinds.items()}

    def lines(paint: Paint, width: int) -> list[str]:
        titles = {kind: [paint(f"{kind}:", "bold")] if len(kinds) > 1 else [] for kind in kinds}
        return [line for kind, rows in kinds.items() for line in (*titles[kind], *table(rows, width))]

    return answer(data, lines, as_json=options.json)


def _things(heads: Heads, unset: Mapping[str, Sequence[str]]) -> dict[str, list[list[str]]]:
    def provider_line(one: ProviderHead) -> str:
        missing = unset.get(one.name)
        return f"{one.title}: {', '.join(one.operations)}" + (f" (set {' and '.join(missing)})" if missing else "")

    def tool_line(one: ToolHead) -> str:
        return f"{one.title}. {printable(one.description).partition('. ')[0]}"

    def other_line(one: OtherHead) -> str:
        return f"{one.uri}: {one.title}. {one.description}".removeprefix(": ")

    return {
        "tools": [[one.name, tool_line(one)] for one in heads.tools.values()],
        "providers": [[one.name, provider_line(one)] for one in heads.providers.values()],
        "lenses": [[one.name, other_line(one)] for one in heads.lenses],
        "collections": [[one.name, other_line(one)] for one in heads.collections],
        "resources": [[one.name, other_line(one)] for one in heads.resources],
    }


def doctor(options: Namespace) -> int:
    if options.http is not None:
        return _doctor_http(options)
    from .diagnosis import diagnose

    found = diagnose(os.environ, reaches=options.reach)
    return answer(
        found.to_json,
        lambda paint, width: found.lines(paint, width, details=options.details),
        as_json=options.json,
        code=found.code,
    )


def _doctor_http(options: Namespace) -> int:
    if options.reach:
        raise CommandError("--reach is about providers of this machine, and --http about a server; ask for one of them")
    from .http_doctor import examine_server

    found = examine_server(options.http, os.environ)
    return answer(found.to_json, found.lines, as_json=options.json, code=found.code)


def docs(options: Namespace) -> int:
    from specloom.authoring.docs import run

    return run(check=options.check)


def schema(options: Namespace) -> int:
    from specloom.specs import editor_schemas

    schemas = editor_schemas()
    if options.to is None:
        say(to_json(schemas))
        return 0
    from specloom.core import write_whole

    for kind, schema in schemas.items():
        path = options.to / f"{kind}.json"
        with writing(path):
            write_whole(path, (to_json(schema) + "\n").encode())
        say(str(path))
    return 0


def mutate(options: Namespace) -> int:
    from specloom.authoring.mutation.run import run

    return run(options.names, json=options.json, floor=options.floor)


# --- The command `new`: starts a spec of any kind, says what is wrong with it yet, and what comes next ----------------


def new(options: Namespace) -> int:
    """Write the file, say where, and hold it against what there is."""
    from specloom.authoring import ScaffoldError, default_folder, folder_of, folder_within, judge_one
    from specloom.core import render
    from specloom.specs import FOLDERS, layer_roots

    executor = workbench(founding=True)
    try:
        text = _draft(options, executor.model)
    except ScaffoldError as error:
        raise CommandError(str(error)) from None
    toolset = getattr(options, "toolset", "")
    folder = (
        folder_within(options.to, options.kind, toolset)
        if options.to
        else default_folder(os.environ, folder_of(options.kind, toolset))
    )
    path = folder / f"{options.name}.yaml"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    create(path, text)
    say(str(path))
    lines = text.splitlines()
    for one in judge_one(str(path), text.encode(), executor.model):
        # What its line asks the author to decide is said by that already.
        if one.code == "E401" and "# decide: " in lines[one.place.line - 1]:
            continue
        tell(render(one, {str(path): text}, colour=Paint(sys.stderr, os.environ).on))
    first = f"settle what is marked `decide` in {path}, then run" if "decide" in text else "run"
    program = name_program()[0]
    check, serve = f"{program} check {path}", f"{program} serve --toolset research,{toolset}"
    if project_folder(os.environ):
        check, serve = f"{program} check", f"{program} serve"
    after = {
        "capability": f", and start who offers it: `{program} new provider NAME --capability {options.name}`",
        "tool": f", and serve it: `{serve}`",
        "provider": _order_hint(executor.model, options),
    }
    tell(f"next: {first} `{check}`{after.get(options.kind, '')}")
    whole = path.absolute()
    if options.to and not any(root.absolute() in whole.parents for root in layer_roots(os.environ)):
        layer = next((one.parent for one in whole.parents if one.name in FOLDERS), whole.parent)
        tell(f"it is read with SPECLOOM_PATH={layer}")
    return 0


def new_project(options: Namespace) -> int:
    """Write the files of a package that serves specs of its own, and say what comes next."""
    from pathlib import Path

    from specloom.authoring import ScaffoldError, draft_project
    from specloom.authoring.docs import run_project

    try:
        texts = draft_project(options.name)
    except ScaffoldError as error:
        raise CommandError(str(error)) from None
    folder = Path(options.to or "") / options.name
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CommandError(f"{folder} exists and is not overwritten; choose another name, or --to another folder")
    for path, text in texts.items():
        file = folder / path
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        create(file, text)
        say(str(file))
    run_project((folder / "src" / options.name.replace("-", "_")).absolute())
    tell(f"next: cd {folder}, run `pip install -e '.[test]'`, then `{options.name} check` and `{options.name} dev`")
    return 0


def _draft(options: Namespace, model: Model) -> str:
    """The text of the new spec."""
    from specloom import authoring

    name = options.name
    sample = _read(getattr(options, "sample", None))
    match options.kind:
        case "provider" if options.openapi is not None:
            if sample is not None or options.body is not None:
                raise CommandError("--openapi describes request and reply; leave out --from and --body")
            described = _read(options.openapi) or b""
            return authoring.draft_from_openapi(
                model, name, options.capability, described, options.operation, options.base
            )
        case "provider":
            if options.operation:
                raise CommandError("--operation names one of a description; say which with --openapi FILE")
            return authoring.draft_provider(model, name, options.capability, sample, options.base, _read(options.body))
        case "capability":
            return authoring.draft_capability(model, name, sample)
        case "tool":
            return authoring.draft_tool(model, name, options.toolset, options.capability, options.procedure)
        case "lens":
            return authoring.draft_lens(model, name, options.domain)
        case "resource":
            return authoring.draft_resource(model, name, options.collection, options.procedure)
        case "toolset":
            return authoring.draft_toolset(model, name)
        case _:
            return authoring.draft_collection(model, name)


def _read(path: Path | None) -> bytes | None:
    """The bytes of a file that was named."""
    try:
        return path.read_bytes() if path is not None else None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
