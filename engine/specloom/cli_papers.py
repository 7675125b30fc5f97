"""The commands over the paper store: the toolset's own tools, called from the command line."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import cli_papers_lines as lines
from .cli_base import PROBLEMS, USAGE, say, tell
from .cli_papers_calls import ask, run_procedure
from .show import printable, to_json

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
    code = _show(options, told, lines.plan_lines if options.dry_run else lines.fetched_lines)
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
            yield from lines.plan_lines(plan)
        for row in rows:
            yield from lines.fetched_lines({**row, "ref": row["ref"] or row.get("entry_key") or "an entry"})
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
        yield from lines.found_lines(told["results"])
        yield told.get("hint") or f"{told['count']} of {told['total_results']} works"

    return _show(options, told, show) or int(not told["count"])


def resolve(options: Namespace) -> int:
    """Show what a citation may mean; exit 1 when nothing fits."""
    told = ask("resolve_citation", {"query": " ".join(options.query), "limit": options.limit})

    def show(told: Told) -> Iterable[str]:
        yield from lines.candidate_lines(told["candidates"])
        if not told["candidates"]:
            yield "no registered work has half of its words"

    return _show(options, told, show) or int(not told["candidates"])


def text(options: Namespace) -> int:
    """Write the text of a preprint, and say beside it when there is more."""
    asked = {"ref": options.ref, **({"max_chars": options.max_chars} if options.max_chars is not None else {})}
    told = ask("paper_tex_source" if options.tex else "paper_text", asked)
    code = _show(options, told, lambda told: [told["tex_source"]] if options.tex else lines.text_lines(told))
    if told.get("truncated") and not options.json:
        tell("specloom: there is more; raise --max-chars")
    return code


def link(options: Namespace) -> int:
    """Show the preprint of a DOI; exit 1 when none is known."""
    told = ask("link", {"ref": options.ref})
    preprint = lines.preprint_of(told) if told["ok"] else ""
    return _show(options, told, lambda _: [preprint or "no preprint is known"]) or int(not preprint)


# --- the store ----------------------------------------------------------------------------------------------------


def info(options: Namespace) -> int:
    """Show what is stored of a paper; exit 1 when nothing is."""
    told = ask("info", {"ref": options.ref})

    def show(told: Told) -> Iterable[str]:
        return lines.entry_lines(told["metadata"]) if told["metadata"] else [f"{told['ref']} is not in the store"]

    return _show(options, told, show) or int(told["metadata"] is None)


def search(options: Namespace) -> int:
    """Show the stored papers that have a text in them; none is no failure."""
    told = ask("search_local", {"query": options.query, "limit": options.limit})

    def show(told: Told) -> Iterable[str]:
        return lines.stored_lines(told["results"]) if told["count"] else ["nothing in the store has this text"]

    return _show(options, told, show)


def bib(options: Namespace) -> int:
    """Write BibTeX of stored papers; exit 1 when one is not stored."""
    told = ask("bibtex_export", {"refs": options.refs})
    code = _show(options, told, lambda told: [one["bibtex"] for one in told["entries"] if one.get("bibtex")])
    missing = [one for one in told.get("entries", ()) if not one.get("bibtex")]
    for entry in missing:
        tell(f"specloom: {entry['ref']}: {lines.said(entry['error']) if 'error' in entry else 'not in the store'}")
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
        tell(f"specloom: {lines.said(told['error'])}")
        for line in lines.remedy_lines(told["error"]):
            tell(line)
    return _exit(told)


def _printed(text: str) -> str:
    """A text of strangers as it is, or on a terminal without what would steer it."""
    return "\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text


def _exit(told: Mapping[str, Any]) -> int:
    error = told.get("error", told)
    return EXITS.get(str(error["code"]), PROBLEMS) if "code" in error else 0
