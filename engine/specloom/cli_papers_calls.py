"""Calls of the paper store's tools and procedures from the command line, each with an engine of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .cli_base import UsageError, tell

if TYPE_CHECKING:
    from .executor import Executor

TOOLSET = "papers"


def run_procedure(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a procedure gives that is no tool, with the settings of the tools."""

    async def work(executor: Executor) -> dict[str, Any]:
        from .hooks import PROCEDURES
        from .livedesk import LiveDesk

        tool = executor.tool(_find_tool(executor, "fetch_paper"))
        return await PROCEDURES[name].function(LiveDesk(executor, tool, "", None), parameters)

    return _with_executor(work)


def ask(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the tool whose name ends in `tool`; on a terminal its progress is shown."""

    def progress(done: float, total: float | None, message: str | None) -> None:
        tell(f"  {done:g}{f' of {total:g}' if total else ''}: {message}")

    async def work(executor: Executor) -> dict[str, Any]:
        name = _find_tool(executor, tool)
        return (await executor.call(name, arguments, progress=progress if sys.stderr.isatty() else None)).answer

    return _with_executor(work)


def _with_executor(work: Callable[[Executor], Any]) -> dict[str, Any]:
    import asyncio

    from .serving import make_executor

    async def run() -> dict[str, Any]:
        executor = make_executor(os.environ, disk_cache=False)
        for problem in executor.problems:
            tell(f"specloom: {problem}")
        try:
            told: dict[str, Any] = await work(executor)
            return told
        finally:
            await executor.aclose()

    try:
        return asyncio.run(run())
    except ValueError as error:
        raise UsageError(str(error)) from None


def _find_tool(executor: Executor, name: str) -> str:
    """The tool of the toolset that ends in a name: its tools share what stands before it."""
    for tool in executor.model.tools.values():
        if TOOLSET in tool.toolsets and tool.name.partition("_")[2] == name:
            return tool.name
    raise UsageError(f"the toolset {TOOLSET!r} has no tool for this; run `specloom list tools`")
