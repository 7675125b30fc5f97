"""The commands over the paper store: the toolset's own tools, called from the command line."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .cli_base import PROBLEMS, USAGE, UsageError, say, tell
from .show import to_json

if TYPE_CHECKING:
    from .executor import Executor

TOOLSET = "papers"
CHECKING = "verify_provenance"
"""The procedure that looks at the log; it is no tool, because a model has no use for it."""

EXITS: Mapping[str, int] = MappingProxyType(
    {"INVALID_REF": USAGE, "CAPABILITY_DENIED": 3, "STORE_ERROR": 4, "LOG_ERROR": 4, "FETCH_TIMEOUT": 124}
)
"""What a failure with a code exits with; any other is 1."""
MOST_FAILURES = 255


def add_commands(add: Callable[[str, Callable[[Namespace], int], str, str], ArgumentParser]) -> None:
    """Put `papers` on the command line."""
    acts = add(
        "papers", _run, "fetch papers into a store and look into it", "specloom papers fetch 10.1234/abc"
    ).add_subparsers(metavar="ACT", required=True)
    one = acts.add_parser("fetch", help="resolve papers and fetch their open PDFs", allow_abbrev=False)
    one.add_argument("refs", nargs="+", metavar="REF", help="DOIs or identifiers of preprints")
    one.add_argument("--dry-run", action="store_true", help="say what would be done and do nothing")
    one.add_argument("--force", action="store_true", help="ask the sources again")
    one.set_defaults(act=fetch)
    one = acts.add_parser("info", help="what is stored of a paper", allow_abbrev=False)
    one.add_argument("ref", metavar="REF", help="a DOI or the identifier of a preprint")
    one.set_defaults(act=info)
    one = acts.add_parser("search", help="stored papers with a text in title, authors, journal or publisher")
    one.add_argument("query", metavar="TEXT")
    one.add_argument("--limit", type=int, default=50, metavar="N", help="how many at most (default: 50)")
    one.set_defaults(act=search)
    one = acts.add_parser("bib", help="stored papers as BibTeX", allow_abbrev=False)
    one.add_argument("refs", nargs="+", metavar="REF", help="DOIs or identifiers of preprints")
    one.set_defaults(act=bib)
    one = acts.add_parser("verify", help="whether every row of the provenance log holds", allow_abbrev=False)
    one.add_argument("path", nargs="?", default="", metavar="FILE", help="the log (default: the configured one)")
    one.set_defaults(act=verify)


def _run(options: Namespace) -> int:
    code: int = options.act(options)
    return code


def fetch(options: Namespace) -> int:
    """Fetch one paper or many; the exit code tells the failure of one, or how many of many failed."""
    more = {"dry_run": options.dry_run, "force": options.force}
    if len(options.refs) == 1:
        told = _ask("fetch_paper", {"ref": options.refs[0], **more})
        say(to_json(told))
        status = told.get("pdf", {}).get("status", "")
        return _exit(told["pdf"]) if status == "blocked" else PROBLEMS if status == "no_oa_url" else _exit(told)
    told = _ask("batch_fetch", {"refs": options.refs, **more})
    say(to_json(told))
    missing = [
        row for row in told.get("results", ()) if row.get("pdf", {}).get("status") in {None, "blocked", "no_oa_url"}
    ]
    return min(len(missing), MOST_FAILURES) if told["ok"] else _exit(told)


def info(options: Namespace) -> int:
    """Show what is stored of a paper; exit 1 when nothing is."""
    told = _ask("info", {"ref": options.ref})
    say(to_json(told))
    return PROBLEMS if told["ok"] and told["metadata"] is None else _exit(told)


def search(options: Namespace) -> int:
    """Show the stored papers that have a text in them."""
    told = _ask("search_local", {"query": options.query, "limit": options.limit})
    say(to_json(told))
    return _exit(told)


def bib(options: Namespace) -> int:
    """Write BibTeX of stored papers; exit 1 when one is not stored."""
    told = _ask("bibtex_export", {"refs": options.refs})
    if not told["ok"]:
        say(to_json(told))
        return _exit(told)
    missing = 0
    for entry in told["entries"]:
        if entry.get("bibtex"):
            say(entry["bibtex"])
        else:
            missing += 1
            tell(f"specloom: {entry['ref']}: {entry['error']['message'] if 'error' in entry else 'not in the store'}")
    return PROBLEMS if missing else 0


def verify(options: Namespace) -> int:
    """Look at every row of the log; exit 1 when one does not hold."""

    async def look(executor: Executor) -> dict[str, Any]:
        from .hooks import PROCEDURES
        from .livedesk import LiveDesk

        tool = executor.tool(_find_tool(executor, "fetch_paper"))
        return await PROCEDURES[CHECKING].function(LiveDesk(executor, tool, "", None), {"path": options.path})

    told = _with_executor(look)
    if not told["ok"]:
        say(to_json(told))
        return _exit(told)
    held = f"{told['rows']} rows"
    say(f"{told['path']}: {held}, and all of them hold" if told["holds"] else f"{told['path']}: {told['problem']}")
    return 0 if told["holds"] else PROBLEMS


def _ask(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    async def work(executor: Executor) -> dict[str, Any]:
        return (await executor.call(_find_tool(executor, tool), arguments)).answer

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


def _exit(told: Mapping[str, Any]) -> int:
    error = told.get("error", told)
    return EXITS.get(str(error["code"]), PROBLEMS) if "code" in error else 0
