"""The commands that run tools and operations: serve, call, explain, try, record."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specloom.core import Fault, answer_lines, columns, fault_line, table, to_json

from .common import (
    EXITS,
    PROBLEMS,
    UsageError,
    paint_stdout,
    say,
    show,
    tell,
    tell_fault,
    to_pairs,
    to_raw,
    workbench,
)


def serve(options: Namespace) -> int:
    from specloom.server import Selection, ServeOptions, default_selection, run

    toolsets, tools, exclude = (_names(one) for one in (options.toolset, options.tools, options.exclude))
    usual = default_selection(os.environ)
    selection = Selection(
        toolsets if toolsets or tools else usual.toolsets,
        tools,
        exclude,
        output_schemas=options.output_schemas or usual.output_schemas,
    )
    if options.replay and not Path(options.replay).is_dir():
        raise UsageError(f"there is no folder {options.replay} to replay")
    if options.budget:
        return _budget(selection)
    return run(ServeOptions(selection, host=options.host, replay=options.replay, record=options.record))


def _names(said: Sequence[str]) -> list[str]:
    return [name.strip() for one in said for name in one.split(",") if name.strip()]


def _budget(selection: Any) -> int:
    from specloom.server import make_catalogue

    executor = workbench()
    try:
        listed = json.loads(make_catalogue(executor.model, selection).tools)
    except ValueError as error:
        raise UsageError(str(error)) from None
    sizes = {one["name"]: len(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode()) for one in listed}
    rows = [[name, f"{size:>7} bytes", f"about {size // 4} tokens"] for name, size in sizes.items()]
    rows.append(["all", f"{sum(sizes.values()):>7} bytes", f"about {sum(sizes.values()) // 4} tokens"])
    return show(table(rows, columns()))


def call(options: Namespace) -> int:
    from specloom.server import make_executor as make_live_executor

    if options.replay and not Path(options.replay).is_dir():
        raise UsageError(f"there is no folder {options.replay} to replay")
    try:
        executor = make_live_executor(os.environ, replay=options.replay, disk_cache=options.cache)
    except ValueError as error:
        tell(f"specloom: {error}")
        return PROBLEMS
    for problem in executor.problems:
        tell(f"specloom: {problem}")
    raw = to_raw(executor.tool(options.tool), options.pairs)

    def progress(_: float, __: float | None, says: str | None) -> None:
        tell(f"  {says}")

    async def run() -> Any:
        try:
            return await executor.call(options.tool, raw, progress=progress if sys.stderr.isatty() else None)
        finally:
            await executor.aclose()

    try:
        done = asyncio.run(run())
    except Fault as fault:
        tell_fault(fault)
        return EXITS.get(fault.kind, PROBLEMS)
    if options.raw:
        say(done.body)
    elif options.json or not sys.stdout.isatty():
        say(to_json({"answer": done.answer, "_meta": done.meta}))
    else:
        show(answer_lines(done.answer, paint_stdout(), columns()))
    return EXITS.get(done.fault, PROBLEMS) if done.fault else 0


def explain(options: Namespace) -> int:
    from specloom.authoring import explanation_lines
    from specloom.authoring.explain import explain as explain_call

    executor = workbench()
    found = explain_call(executor, options.tool, to_raw(executor.tool(options.tool), options.pairs))
    if options.json:
        say(to_json(found.to_json()))
        return 0
    return show(explanation_lines(found, paint_stdout(), columns()))


def _attempt(options: Namespace) -> Any:
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
    if options.json:
        say(to_json(done.to_json()))
    else:
        show(attempt_lines(done, paint_stdout(), columns()))
    return PROBLEMS if done.fault else 0


def record(options: Namespace) -> int:
    from specloom.authoring import example_of, to_yaml, write_recordings

    done = _attempt(options)
    if not any(one.response for one in done.exchanges):
        raise done.fault or Fault("internal", f"{options.operation} sent nothing, so there is nothing to record")
    try:
        written = write_recordings(done, options.to)
    except OSError as error:
        tell(f"specloom: {options.to} cannot be written: {error.strerror}")
        return PROBLEMS
    for path in written:
        tell(f"wrote {path}")
    if done.fault:
        tell(f"specloom: {fault_line(done.fault)}")
    say(to_yaml([example_of(done)]).rstrip())
    return 0
