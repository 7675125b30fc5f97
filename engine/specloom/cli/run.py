"""The commands that run tools and operations: serve, call, explain, try, record."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

from specloom.core import Fault, answer_lines, columns, fault_line, printable, table

from .common import (
    EXITS,
    CommandError,
    answer,
    find_tool,
    say,
    tell,
    tell_fault,
    to_pairs,
    to_raw,
    workbench,
    writing,
)
from .exits import INTERRUPTED, PROBLEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from specloom.model import Model
    from specloom.runtime import Executor
    from specloom.server import Selection

LEAVING = 2.0
"""Seconds after Ctrl-C until the command ends at the latest."""


def serve(options: Namespace) -> int:
    from specloom.server import ServeOptions, run

    selection = _select(options, options.output_schemas, options.catalogue)
    check_replay(options)
    if options.budget:
        return _budget(selection)
    if options.workers and options.http is None:
        raise CommandError("--workers is for --http: a server on stdio has one client")
    if options.http is not None:
        return _serve_http(options, selection)
    return run(ServeOptions(selection, host=options.host, replay=options.replay, record=options.record))


def dev(options: Namespace) -> int:
    from specloom.server import ServeOptions, run

    check_replay(options)
    return run(ServeOptions(_select(options), replay=options.replay, record=options.record, reloads=True))


def _select(options: Namespace, output_schemas: str | None = None, catalogue: str | None = None) -> Selection:
    """What the options and the environment say that is served."""
    from specloom.server import Selection, default_selection

    toolsets, tools, exclude = (_names(one) for one in (options.toolset, options.tools, options.exclude))
    usual = default_selection(os.environ, catalogue=catalogue)
    return Selection(
        toolsets if toolsets or tools else usual.toolsets,
        tools,
        exclude,
        output_schemas=output_schemas or usual.output_schemas,
        catalogue=usual.catalogue,
    )


def _serve_http(options: Namespace, selection: Selection) -> int:
    try:
        from specloom.http import serve_http
    except ModuleNotFoundError as error:
        raise CommandError(f"HTTP needs {error.name}: pip install 'specloom[http]'") from None
    return serve_http(options.http, selection, workers=options.workers, replay=options.replay, record=options.record)


def check_replay(options: Namespace) -> None:
    """Refuse to replay a folder that is not there."""
    from pathlib import Path

    if options.replay and not Path(options.replay).is_dir():
        raise CommandError(f"there is no folder {options.replay} to replay")


def _names(lists: Sequence[str]) -> list[str]:
    return [name.strip() for listed in lists for name in listed.split(",") if name.strip()]


def _budget(selection: Any) -> int:
    from specloom.core import count_tokens
    from specloom.server import make_catalogue

    executor = workbench()
    try:
        catalogue = make_catalogue(executor.model, selection, os.environ)
    except ValueError as error:
        raise CommandError(str(error)) from None
    texts = {
        one["name"]: json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in json.loads(catalogue.tools)
    }
    texts["instructions"] = catalogue.instructions
    counts = {name: (len(text.encode()), count_tokens(text)) for name, text in texts.items()}
    counts[f"all {len(texts) - 1} tools"] = (
        sum(one for one, _ in counts.values()),
        sum(one for _, one in counts.values()),
    )
    rows = [[name, f"{size:>9,} bytes", f"about {tokens:>6,} tokens"] for name, (size, tokens) in counts.items()]
    say("\n".join(table(rows, columns())))
    return 0


def call(options: Namespace) -> int:
    import asyncio
    import threading

    from specloom.server import make_executor as make_live_executor
    from specloom.server import make_presenter
    from specloom.storage import local_owner

    check_replay(options)
    try:
        executor = make_live_executor(os.environ, replay=options.replay, disk_cache=options.cache)
    except ValueError as error:
        raise CommandError(str(error), PROBLEMS) from None
    presenter = make_presenter(executor, os.environ)
    # Whose the calls of a server in the same environment are, so that what is kept there is found here.
    owner = local_owner(os.environ, executor.problems)
    for problem in executor.problems:
        tell(f"specloom: {problem}")
    raw = to_raw(find_tool(executor, options.tool), options.pairs)
    _check_view(executor, options)
    for path in filter(None, (options.output, options.html)):
        _check_place(path)

    def progress(_: float, __: float | None, says: str | None) -> None:
        tell(f"  {says}")

    async def run() -> Any:
        try:
            told = progress if sys.stderr.isatty() else None
            done = await executor.call(options.tool, raw, owner=owner, progress=told)
            if options.save:
                await _save_linked(executor, owner, done.answer, options.save)
            return done, await presenter.present(options.tool, done, owner)
        except asyncio.CancelledError:
            # Somebody pressed Ctrl-C. A thread that waits for a name, or a browser, does not keep the process.
            leaving = threading.Timer(LEAVING, lambda: os._exit(INTERRUPTED))
            leaving.daemon = True
            leaving.start()
            raise
        finally:
            await executor.aclose()

    try:
        done, presented = asyncio.run(run())
    except Fault as fault:
        tell_fault(fault)
        return EXITS.get(fault.kind, PROBLEMS)
    code = EXITS.get(done.fault, PROBLEMS) if done.fault else 0
    if options.html:
        _write_view(executor, options, done)
        return code
    if options.output:
        from pathlib import Path

        path = Path(options.output)
        with writing(path), path.open("w", encoding="utf-8") as file, redirect_stdout(file):
            _show(options, done, presented, as_json=options.output.endswith(".json"))
        return code
    return _show(options, done, presented, as_json=not sys.stdout.isatty(), code=code)


def _write_view(executor: Executor, options: Namespace, done: Any) -> None:
    """Write the view of an answer as a document that stands alone, and say where."""
    from pathlib import Path

    from specloom.runtime import fill_view, view_document

    tool, model = executor.tool(options.tool), executor.model
    if done.fault or done.linked is not None or done.arguments is None:
        raise CommandError("there is no answer to show; leave --html out and read what came instead", PROBLEMS)
    assert tool.view is not None
    document = view_document(model.views[tool.view.template], fill_view(tool, model, done.arguments, done.answer))
    path = Path(options.html)
    with writing(path):
        path.write_text(document, encoding="utf-8", newline="\n")
    tell(f"wrote {path}")


def _check_view(executor: Executor, options: Namespace) -> None:
    """Refuse to write the view of a tool that has none, before anything is asked."""
    tool = executor.tool(options.tool)
    if options.html and tool.view is None:
        able = sorted(one.name for one in executor.model.heads.tools.values() if one.view)
        raise CommandError(f"{tool.name} has no view; tools that have one: {', '.join(able)}")


def _check_place(path: str) -> None:
    """Refuse a file that cannot be written, before anything is asked for it."""
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH120, PTH100 - pathlib is for who writes it
    if os.path.isdir(path):  # noqa: PTH112
        raise CommandError(f"{path} is a folder; name a file in it")
    if not os.path.isdir(folder):  # noqa: PTH112
        raise CommandError(f"there is no folder {folder}; make it first")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):  # noqa: PTH110
        raise CommandError(f"{path} cannot be written; name another file")


def _show(options: Namespace, done: Any, presented: Any, *, as_json: bool, code: int = 0) -> int:
    """Print an answer as it was asked for."""
    if options.raw:
        say(presented.body)
        return code
    return answer(
        lambda: {"answer": json.loads(presented.body), "_meta": done.meta},
        lambda paint, width: (
            [printable(line) for line in presented.text.split("\n")]
            if presented.text
            else answer_lines(done.answer, paint, width)
        ),
        as_json=options.json or as_json,
        code=code,
    )


_ENDINGS = {
    "text/html": ".html",
    "text/markdown": ".md",
    "application/json": ".json",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}
"""How files of a type end; any other is a .txt, or .bin where it is no text."""


async def _save_linked(executor: Executor, owner: str, found: Any, folder: str) -> None:
    """Write what an answer links as kept to files of a folder, and say which."""
    from pathlib import Path

    if isinstance(found, dict | list):
        for each in found.values() if isinstance(found, dict) else found:
            await _save_linked(executor, owner, each, folder)
        return
    linked = executor.model.find_artifact(found) if isinstance(found, str) else None
    kept = await executor.artifacts.read(owner, linked[1]) if linked and executor.artifacts is not None else None
    if kept is None:
        return
    body = kept.content.encode("utf-8", "replace") if isinstance(kept.content, str) else kept.content
    ending = _ENDINGS.get(kept.mime_type) or (".txt" if isinstance(kept.content, str) else ".bin")
    stem = re.sub(r"[^a-z0-9]+", "-", kept.name.lower()).strip("-")[:80] or "answer"
    path = Path(folder) / f"{stem}{ending}"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("xb") as file:
                file.write(body)
        except FileExistsError:
            raise CommandError(f"{path} exists and is not overwritten; choose another folder or remove it") from None
    tell(f"wrote {path}")


def explain(options: Namespace) -> int:
    from specloom.authoring import explanation_lines
    from specloom.authoring.explain import explain as explain_call

    executor = workbench()
    if options.code:
        return _show_code(executor.model, options.tool, options.pairs, as_json=options.json)
    raw = to_raw(find_tool(executor, options.tool), options.pairs)
    try:
        found = explain_call(executor, options.tool, raw)
    except Fault as fault:
        tell_fault(fault)
        return EXITS.get(fault.kind, PROBLEMS)
    return answer(found.to_json, lambda paint, width: explanation_lines(found, paint, width), as_json=options.json)


def _show_code(model: Model, name: str, pairs: list[str], *, as_json: bool) -> int:
    from specloom.authoring import code_lines

    if pairs:
        raise CommandError("--code shows all of a tool or provider and takes no arguments of a call; leave them out")
    lines = code_lines(_woven(model), name)
    return answer(lambda: lines, lambda _paint, _width: lines, as_json=as_json)


def _woven(model: Model) -> Model:
    """The model with its closures, of which code is made; that of an image has the code itself."""
    if model.given is None:
        return model
    from specloom.compiler import weave_from
    from specloom.specs import layer_roots

    return weave_from(layer_roots(os.environ), examples=False)[0]


def _attempt(options: Namespace) -> Any:
    import asyncio

    from specloom.authoring import attempt, find_operation, to_arguments
    from specloom.net import Transport
    from specloom.server import read_switch

    executor = workbench()
    provider, operation = find_operation(executor, options.operation)
    arguments = to_arguments(operation, executor.model.capabilities[operation.capability], to_pairs(options.pairs))

    async def run() -> Any:
        async with Transport(allow_private=read_switch(os.environ, "SPECLOOM_ALLOW_PRIVATE", [])) as transport:
            return await attempt(executor, provider, operation, arguments, transport)

    return asyncio.run(run())


def try_(options: Namespace) -> int:
    from specloom.authoring import attempt_lines

    done = _attempt(options)
    code = PROBLEMS if done.fault else 0
    return answer(done.to_json, lambda paint, width: attempt_lines(done, paint, width), as_json=options.json, code=code)


def record(options: Namespace) -> int:
    from specloom.authoring import example_of, to_yaml, write_recordings

    done = _attempt(options)
    if not any(one.response for one in done.exchanges):
        raise done.fault or Fault("internal", f"{options.operation} sent nothing, so there is nothing to record")
    with writing(options.to):
        written = write_recordings(done, options.to)
    for path in written:
        tell(f"wrote {path}")
    if done.fault:
        tell(f"specloom: {fault_line(done.fault)}")
    say(to_yaml([example_of(done)]).rstrip())
    return 0
