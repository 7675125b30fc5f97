"""What the commands over the paper store show to a person: lines made of the answers of its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .show import cut, printable

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
