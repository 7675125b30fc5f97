"""The commands over the paper store: the toolset's own tools, called from the command line."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from specloom.core import cut, printable, to_json

from .common import PROBLEMS, USAGE, UsageError, say, tell

if TYPE_CHECKING:
    from specloom.runtime import Executor


# --- Calls of the paper store's tools and procedures from the command line, each with an engine of its own ------------


TOOLSET = "papers"


def run_procedure(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a procedure gives that is no tool, with the settings of the tools."""

    async def work(executor: Executor) -> dict[str, Any]:
        from specloom.plugins import PROCEDURES
        from specloom.runtime import LiveContext

        tool = executor.tool(_find_tool(executor, "fetch_paper"))
        return await PROCEDURES[name].function(LiveContext(executor, tool, "", None), parameters)

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

    from specloom.server import make_executor

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


# --- What the commands over the paper store show to a person: lines made of the answers of its tools ------------------


AUTHORS = 3
"""Authors that a line names before it says that there are more."""

_LEGS = {
    "no_oa_url": "no free copy is known to the sources that were asked; the record is kept",
    "preprint_fallback": "its preprint {arxiv_id} instead",
    "preprint_doi_fallback": "its preprint {preprint_doi} instead",
    "tdm_fetched": "from its publisher, under your agreement",
}

_FACTS = frozenset(
    {"ok", "doi", "title", "authors", "year", "venue", "abstract", "cited_by_count", "oa_status", "source"}
)
"""What is told of a work that is no identifier of its preprint."""

Answer = Mapping[str, Any]


def fetched_lines(row: Answer) -> Iterator[str]:
    """One paper after a fetch: what it is where that is told, and where its file is or why there is none."""
    if not row["ok"]:
        yield f"{row.get('ref')}: {said(row['error'])}"
        yield from remedy_lines(row["error"])
        return
    title = work_line(row) if row.get("title") else ""
    yield f"{row['ref']}{': ' if title else ''}{title}"
    leg = row["pdf"]
    status = leg["status"]
    if status == "blocked":
        yield f"  no PDF: {said(leg)}"
        yield from remedy_lines(leg)
        if leg.get("suggested_arxiv_id"):
            yield f"  its preprint could be fetched: {leg['suggested_arxiv_id']}"
    elif status == "no_oa_url":
        yield f"  no PDF: {_LEGS[status]}"
    else:
        how = f", {_LEGS[status].format(**leg)}" if status in _LEGS else ""
        yield f"  {row['path']} ({_size(row['size_bytes'])}, licence {row['license']}, found by {row['source']}{how})"
    for step in row.get("attempts") or () if status in {"blocked", "no_oa_url"} else ():
        if step.get("required_env"):
            yield f"  {step['source']} may know a copy: set {' and '.join(step['required_env'])}"


def plan_lines(told: Answer) -> Iterator[str]:
    """What a fetch would do."""
    plan = told["plan"]
    yield f"{next(iter(told['ref'].values()))}: nothing was asked or written"
    yield f"  records from  {', '.join(plan['metadata_sources']) or plan['pdf_sources'][0]['key']}"
    for one in plan["pdf_sources"]:
        yield f"  the PDF from  {one['key']}: any of {', '.join(one['candidate_hosts'])}"
    yield f"  it would be   {plan['target_pdf_path']}"
    yield f"  its record    {plan['target_metadata_path']}"


def entry_lines(entry: Answer) -> Iterator[str]:
    """A stored paper, a line a field; long ones are cut."""
    own = entry.get("doiget")
    for name, value in [*entry.items(), *(own.items() if isinstance(own, Mapping) else ())]:
        if name not in {"doiget", "schema_version"}:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield f"{name:<16}  {cut(text, 300)}"


def stored_lines(rows: Sequence[Answer]) -> Iterator[str]:
    """Stored papers, a line each."""
    width = max((len(row["safekey"]) for row in rows), default=0)
    for row in rows:
        yield f"{row['safekey']:<{width}}  {work_line(row)}"


def found_lines(rows: Sequence[Answer]) -> Iterator[str]:
    """Works that were found, two lines each: what it is, and what fetches it."""
    for row in rows:
        yield work_line(row)
        facts = [str(row.get("doi") or preprint_of(row) or "without an identifier that can be fetched")]
        facts += [str(row["venue"])] if row.get("venue") else []
        facts += [f"{row['cited_by_count']} citations"] if row.get("cited_by_count") is not None else []
        facts += [str(row["oa_status"])] if row.get("oa_status") else []
        yield f"  {', '.join(facts)}"


def preprint_of(work: Answer) -> str:
    """The preprint that an answer about a work names, as a reference that can be fetched; "" where it names none."""
    named = {key: one for key, one in work.items() if key not in _FACTS and not key.endswith("_id")}
    return next((f"{scheme}:{one}" for scheme, one in named.items() if one), "")


def candidate_lines(rows: Sequence[Answer]) -> Iterator[str]:
    """What a citation may mean, two lines each, the likeliest first."""
    for row in rows:
        yield f"{row['doi']}  {row['confidence']}, {row['score']:.0%} of its words"
        yield f"  {work_line({**row, 'authors': [row['author']] if row.get('author') else []})}"


def text_lines(told: Answer) -> Iterator[str]:
    """A paper's text as Markdown."""
    yield f"# {told['title']}"
    for section in told["sections"]:
        yield from ("", f"## {section['heading']}") if section["heading"] else ("",)
        if section["text"]:
            yield from ("", section["text"])


def work_line(row: Answer) -> str:
    """Authors, title and year on one line, as far as they are known."""
    authors = [str(one) for one in row.get("authors") or ()]
    more = ["and others"] if len(authors) > AUTHORS else []
    who = ", ".join([*authors[:AUTHORS], *more])
    when = f" ({row['year']})" if row.get("year") else ""
    return printable(f"{who}{': ' if who else ''}{row.get('title') or 'without a title'}{when}")


def said(error: Answer) -> str:
    """A failure in one line, with when to come back where that is known."""
    delay = error.get("retry_after_ms")
    later = f" Try again in {-(-delay // 1000)} s." if delay is not None else ""
    again = " (told again; --force asks anew)" if error.get("replayed") else ""
    hosts = ", ".join((error.get("denial_context") or {}).get("expected") or ())
    message = error["message"].replace(f" ({hosts})", "")  # a list of hosts says less to a person than what to set
    return printable(f"{message}{later}{again} [{error['code']}]")


def remedy_lines(error: Answer) -> Iterator[str]:
    """What the operator could set, the narrowest first."""
    for one in error.get("remediation") or ():
        if one["kind"] == "additional_host":
            yield f"  to allow it: DOIGET_ADDITIONAL_HOSTS={one['value']} ({one['note']})"
        else:
            yield f"  to allow it: {one['note']}"


def _size(size: int) -> str:
    """A size as people read it."""
    for least, unit in ((1_000_000, "MB"), (1000, "kB")):
        if size >= least:
            return f"{size / least:.1f} {unit}"
    return f"{size} bytes"


CHECKING, MIGRATING = "verify_provenance", "migrate_provenance"
"""The procedures about the log; they are no tools, because a model has no use for them."""

EXITS: Mapping[str, int] = MappingProxyType(
    {
        "INVALID_REF": USAGE,
        "AMBIGUOUS": USAGE,
        "CAPABILITY_DENIED": 3,
        "STORE_ERROR": 4,
        "LOG_ERROR": 4,
        "FETCH_TIMEOUT": 124,
    }
)
"""What a failure with a code exits with; any other is 1."""
MOST_FAILURES = 255

_CODES = """exit codes:
  0    all was done
  1    something was asked for and not had: no record, no free copy, nothing stored, a log that does not hold
  2    it was asked for in the wrong way: no reference, or a name that fits several
  3    it is not allowed: a host off the list, a source that is not switched on
  4    the store or the log cannot be read or written
  124  an upstream took too long
  of several papers (fetch with several, import): how many have no PDF, 255 at most"""

Told = dict[str, Any]


def add_commands(add: Callable[[str, Callable[[Namespace], int], str, str], ArgumentParser]) -> None:
    """Put `papers` on the command line."""
    papers = add("papers", _run, "fetch papers into a store and look into it", "specloom papers fetch 10.1234/abc")
    papers.epilog = f"{papers.epilog}\n\n{_CODES}"
    acts = papers.add_subparsers(metavar="ACT", required=True)

    def act(name: str, work: Callable[[Namespace], int], says: str) -> ArgumentParser:
        one = acts.add_parser(
            name, help=says, description=f"{says[0].upper()}{says[1:]}.", epilog=_CODES, allow_abbrev=False
        )
        one.formatter_class = RawDescriptionHelpFormatter
        one.add_argument("--json", action="store_true", help="the whole answer as JSON")
        one.set_defaults(act=work)
        return one

    refs: dict[str, Any] = {"metavar": "REF", "help": "a DOI, or the identifier of a preprint or an article"}
    kept: dict[str, Any] = {"metavar": "REF", "help": "a DOI or the identifier of a preprint"}
    limit: dict[str, Any] = {"type": int, "metavar": "N", "help": "how many at most (default: %(default)s)"}
    log: dict[str, Any] = {"nargs": "?", "default": "", "metavar": "FILE", "help": "the log (default: yours)"}
    dry: dict[str, Any] = {"action": "store_true", "help": "say what would be done and do nothing"}
    force: dict[str, Any] = {"action": "store_true", "help": "ask the sources again"}

    one = act("fetch", fetch, "resolve papers and fetch their open PDFs")
    one.add_argument("refs", nargs="+", **refs)
    one.add_argument("--dry-run", **dry)
    one.add_argument("--force", **force)
    one = act("import", import_, "fetch the papers of a bibliography file")
    one.add_argument("path", metavar="FILE", help="BibTeX, CSL-JSON, or a reference a line")
    one.add_argument("--format", default="auto", metavar="NAME", help="auto, csl-json, bibtex or refs (default: auto)")
    one.add_argument("--strict", action="store_true", help="end at the first entry that names no paper")
    one.add_argument("--force", **force)
    one = act("find", find, "find papers by words, wherever they are")
    one.add_argument("query", metavar="TEXT")
    one.add_argument("--limit", default=25, **limit)
    for name in ("author", "venue", "publisher"):
        one.add_argument(f"--{name}", metavar="NAME", help=f"only of this {name}")
    for name, says in (("from", "not before"), ("to", "not after")):
        one.add_argument(f"--{name}", dest=f"{name}_year", type=int, metavar="YEAR", help=f"{says} this year")
    one.add_argument("--open", dest="oa_only", action="store_true", help="only with an open copy")
    one = act("resolve", resolve, "find the DOI of a citation in words")
    one.add_argument("query", nargs="+", metavar="CITATION")
    one.add_argument("--limit", default=5, **limit)
    one = act("text", text, "read the text of a preprint, as Markdown or as its TeX")
    one.add_argument("ref", metavar="REF", help="the identifier of a preprint")
    one.add_argument("--tex", action="store_true", help="the source that its authors sent")
    one.add_argument("--max-chars", type=int, metavar="N", help="how many characters at most (default: all)")
    act("link", link, "find the preprint of a DOI").add_argument("ref", metavar="DOI")
    act("info", info, "what is stored of a paper").add_argument("ref", **kept)
    one = act("search", search, "stored papers with a text in title, authors, journal or publisher")
    one.add_argument("query", metavar="TEXT")
    one.add_argument("--limit", default=50, **limit)
    act("bib", bib, "stored papers as BibTeX").add_argument("refs", nargs="+", **kept)
    act("verify", verify, "whether every row of the provenance log holds").add_argument("path", **log)
    one = act("migrate", migrate, "bring a log of the older format into the present one")
    one.add_argument("path", **log)
    one.add_argument("--dry-run", **dry)


def _run(options: Namespace) -> int:
    code: int = options.act(options)
    return code


# --- the network --------------------------------------------------------------------------------------------------


def fetch(options: Namespace) -> int:
    """Fetch one paper or many; the exit code tells the failure of one, or how many of many have no PDF."""
    more = {"dry_run": options.dry_run, "force": options.force}
    if len(options.refs) > 1:
        return _fetched(options, ask("batch_fetch", {"refs": options.refs, **more}))
    told = ask("fetch_paper", {"ref": options.refs[0], **more})
    code = _show(options, told, plan_lines if options.dry_run else fetched_lines)
    status = told.get("pdf", {}).get("status", "")
    return _exit(told["pdf"]) if status == "blocked" else PROBLEMS if status == "no_oa_url" else code


def import_(options: Namespace) -> int:
    """Fetch what a bibliography names; the exit code tells how many of its entries have no PDF."""
    asked = {"path": str(Path(options.path).absolute()), "format": options.format}
    return _fetched(
        options, ask("batch_from_bibliography", {**asked, "strict": options.strict, "force": options.force})
    )


def _fetched(options: Namespace, told: Told) -> int:
    rows = told.get("results", ())
    missing = [row for row in rows if row.get("pdf", {}).get("status") in {None, "blocked", "no_oa_url"}]

    def show(told: Told) -> Iterable[str]:
        for plan in told.get("plans", ()):
            yield from plan_lines(plan)
        for row in rows:
            yield from fetched_lines({**row, "ref": row["ref"] or row.get("entry_key") or "an entry"})
        if "results" in told:
            yield f"{len(rows) - len(missing)} of {len(rows)} papers have a PDF"

    code = _show(options, told, show)
    return min(len(missing), MOST_FAILURES) if told["ok"] else code


def find(options: Namespace) -> int:
    """Show works for some words; exit 1 when there is none."""
    names = ("query", "limit", "author", "venue", "publisher", "from_year", "to_year", "oa_only")
    given = {name: getattr(options, name) for name in names}
    told = ask("paper_search", {name: value for name, value in given.items() if value is not None})

    def show(told: Told) -> Iterable[str]:
        yield from found_lines(told["results"])
        yield told.get("hint") or f"{told['count']} of {told['total_results']} works"

    return _show(options, told, show) or int(not told["count"])


def resolve(options: Namespace) -> int:
    """Show what a citation may mean; exit 1 when nothing fits."""
    told = ask("resolve_citation", {"query": " ".join(options.query), "limit": options.limit})

    def show(told: Told) -> Iterable[str]:
        yield from candidate_lines(told["candidates"])
        if not told["candidates"]:
            yield "no registered work has half of its words"

    return _show(options, told, show) or int(not told["candidates"])


def text(options: Namespace) -> int:
    """Write the text of a preprint, and say beside it when there is more."""
    asked = {"ref": options.ref, **({"max_chars": options.max_chars} if options.max_chars is not None else {})}
    told = ask("paper_tex_source" if options.tex else "paper_text", asked)
    code = _show(options, told, lambda told: [told["tex_source"]] if options.tex else text_lines(told))
    if told.get("truncated") and not options.json:
        tell("specloom: there is more; raise --max-chars")
    return code


def link(options: Namespace) -> int:
    """Show the preprint of a DOI; exit 1 when none is known."""
    told = ask("link", {"ref": options.ref})
    preprint = preprint_of(told) if told["ok"] else ""
    return _show(options, told, lambda _: [preprint or "no preprint is known"]) or int(not preprint)


# --- the store ----------------------------------------------------------------------------------------------------


def info(options: Namespace) -> int:
    """Show what is stored of a paper; exit 1 when nothing is."""
    told = ask("info", {"ref": options.ref})

    def show(told: Told) -> Iterable[str]:
        return entry_lines(told["metadata"]) if told["metadata"] else [f"{told['ref']} is not in the store"]

    return _show(options, told, show) or int(told["metadata"] is None)


def search(options: Namespace) -> int:
    """Show the stored papers that have a text in them; none is no failure."""
    told = ask("search_local", {"query": options.query, "limit": options.limit})

    def show(told: Told) -> Iterable[str]:
        return stored_lines(told["results"]) if told["count"] else ["nothing in the store has this text"]

    return _show(options, told, show)


def bib(options: Namespace) -> int:
    """Write BibTeX of stored papers; exit 1 when one is not stored."""
    told = ask("bibtex_export", {"refs": options.refs})
    code = _show(options, told, lambda told: [one["bibtex"] for one in told["entries"] if one.get("bibtex")])
    missing = [one for one in told.get("entries", ()) if not one.get("bibtex")]
    for entry in missing:
        tell(f"specloom: {entry['ref']}: {said(entry['error']) if 'error' in entry else 'not in the store'}")
    return code or int(bool(missing))


def verify(options: Namespace) -> int:
    """Look at every row of the log; exit 1 when one does not hold."""
    told = run_procedure(CHECKING, {"path": options.path})

    def show(told: Told) -> Iterable[str]:
        held = f"every row holds ({told['rows']})" if told["rows"] else "nothing is written in it yet"
        yield f"{told['path']}: {held if told['holds'] else told['problem']}"

    return _show(options, told, show) or int(not told["holds"])


def migrate(options: Namespace) -> int:
    """Rewrite a log of the older format; what it was stays beside it."""
    told = run_procedure(MIGRATING, {"path": options.path, "dry_run": options.dry_run})

    def show(told: Told) -> Iterable[str]:
        done, begins = ("would be", "would begin") if options.dry_run else ("were", "begins")
        yield f"{told['path']}: {told['rewritten']} of {told['rows']} rows {done} rewritten"
        if told["rewritten"]:
            yield f"the chain began with {told['anchor_before']} and {begins} with {told['anchor_after']}"

    return _show(options, told, show)


# --- showing ------------------------------------------------------------------------------------------------------


def _show(options: Namespace, told: Told, show: Callable[[Told], Iterable[str]]) -> int:
    """Print an answer, as JSON or as lines, or on standard error why there is none; gives the exit code."""
    if options.json:
        say(to_json(told))
    elif told["ok"]:
        for line in show(told):
            say(_printed(line))
    else:
        tell(f"specloom: {said(told['error'])}")
        for line in remedy_lines(told["error"]):
            tell(line)
    return _exit(told)


def _printed(text: str) -> str:
    """A text of strangers as it is, or on a terminal without what would steer it."""
    return "\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text


def _exit(told: Mapping[str, Any]) -> int:
    error = told.get("error", told)
    return EXITS.get(str(error["code"]), PROBLEMS) if "code" in error else 0
