"""A bibliography file as papers to fetch: each entry by the identifier that it states, or why it has none to go by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specloom.domains.text import PaperId
from specloom.plugins import WHOLE, Context

from .answers import FETCHING, RECORDS, ROWS, paper_procedure, parse_ref
from .config import FILES
from .errors import PaperFault
from .local_file import read_local_file

BATCH = 100
"""The most papers of one call."""
FORMATS = {"auto": "", "csl_json": "csl-json", "biblatex": "bibtex"} | {
    one: one for one in ("csl-json", "bibtex", "refs")
}
"""The names of formats, and how each is read; an empty one is told by looking."""
SHOWN = 256
"""Characters of a key or of an identifier that are told."""
# What stands in a file in the place of an identifier and is told again: one that is misspelt; and where a program is.
_LIKE_A_REFERENCE = re.compile(
    r"(?:10\.\d{2,9}/|(?:doi|arxiv|pmid|pmcid):|pmc\d|https?://(?:[\w-]+\.)*(?:doi|arxiv|ncbi\.nlm\.nih)\.(?:org|gov)/)"
    r"[^\s@]{0,256}",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://[^\s@]{1,256}", re.IGNORECASE)


@paper_procedure(
    {
        "summary": {"type": "object", "properties": dict.fromkeys(("total", "ok", "failed", "parse_errors"), WHOLE)},
        "results": ROWS,
    },
    asks=RECORDS,
    runs=("bibliography_records",),
    settings={**FETCHING, **FILES},
)
async def fetch_bibliography(
    context: Context,
    path: str,
    format: str = "auto",  # noqa: A002  the name of the tool's argument
    strict: bool = False,
    force: bool = False,
) -> dict[str, Any]:
    """Fetch the papers of a bibliography file, a row each; entries that name no paper come first.

    With `strict` the first entry that names none ends the call with what is wrong with it.
    """
    from .fetch import fetch_all

    keys: list[str] = []
    lines: list[int] = []
    refs: list[tuple[str, PaperId]] = []
    rows: list[dict[str, Any]] = []
    text_, how, records = await _read_records(context, path, format)
    where = "place" if how == "csl-json" else "line"
    for record in records:
        key, text = record["key"][:SHOWN], record["identifier"]
        try:
            refs.append((text, _to_ref(record, where)))
            keys.append(key)
            lines.append(record["line"])
        except PaperFault as fault:
            if strict:
                raise
            shown, shape = (text, _LIKE_A_REFERENCE) if text else (record["address"], _ADDRESS)
            shown = shown[:SHOWN] if (text or record["is_software"]) and shape.fullmatch(shown) else ""
            error = fault.to_error(in_row=True)
            rows.append({"entry_key": key or None, "ref": shown or None, "ok": False, "error": error})
    if len(refs) > BATCH:
        message = f"TOO_MANY_REFS: the file has {len(refs)} papers, and {BATCH} are taken at most; split it."
        raise PaperFault("INVALID_REF", message)
    fetched = await fetch_all(context, refs, force=force) if refs else []
    done, bad = sum(row["ok"] for row in fetched), len(rows)
    if done and how != "refs":
        await _keep_entries(context, text_, how, {line: row["ok"] for line, row in zip(lines, fetched, strict=True)})
    rows += [row | ({"entry_key": key} if key else {}) for key, row in zip(keys, fetched, strict=True)]
    summary = {"total": len(rows), "ok": done, "failed": len(fetched) - done, "parse_errors": bad}
    return {"summary": summary, "results": rows}


async def _keep_entries(context: Context, text: str, how: str, fetched: Mapping[int, bool]) -> None:
    """Fill the stored papers with what the file says of them: the cite key, keywords, notes, files and groups."""
    from specloom.domains.trust.bibliography.documents import read_document

    from .exchange import fill_from

    parsed = await read_document(context, text, how, most=2 * BATCH, is_linked=False)
    works = [work for work, (_, line) in zip(parsed.entries, parsed.places, strict=True) if fetched.get(line)]
    await fill_from(context, works)


def _to_ref(record: Mapping[str, Any], where: str) -> PaperId:
    """The paper of a record, or why it names none: in words, since a file that is no bibliography may hold anything."""
    place = f"{where} {record['line']}"
    if record["identifier"]:
        try:
            return parse_ref(record["identifier"])
        except PaperFault:
            if _LIKE_A_REFERENCE.fullmatch(record["identifier"]):
                raise
            reason = "neither a DOI such as 10.1234/abc nor an arXiv or PubMed identifier"
            raise PaperFault("INVALID_REF", f"What stands at {place} is {reason}.") from None
    if record["problem"]:
        raise PaperFault("INVALID_REF", f"The entry at {place} cannot be read: {record['problem'][:SHOWN]}.")
    name = f"The entry {record['key'][:80]!r}" if record["key"] else "An entry"
    if record["is_software"]:
        raise PaperFault("NOT_IMPLEMENTED", f"{name} is a program and has no DOI; programs are not fetched.")
    raise PaperFault("INVALID_REF", f"{name} has no DOI, arXiv or PubMed identifier.")


async def _read_records(context: Context, path: str, format_: str) -> tuple[str, str, list[dict[str, Any]]]:
    """The text of a file, its format, and its records in their order.

    INVALID_REF for what is no bibliography.
    """
    how = FORMATS.get(format_.strip().lower())
    if how is None:
        known = "use auto, csl-json, bibtex or refs"
        raise PaperFault("INVALID_REF", f"{format_[:40]!r} is no format of bibliographies; {known}.")
    text, name = await read_local_file(context, path), Path(path).name
    answer = await context.run("bibliography_records", {"document": text, "format": how})
    how, records = answer["format"], answer["records"]
    if how == "refs" and not any(map(_names_paper, records)):
        raise PaperFault("INVALID_REF", f"{name} holds no reference, and is neither CSL-JSON nor BibTeX.")
    if not records:
        raise PaperFault("INVALID_REF", f"{name} holds no entry in the format {how}.")
    if how == "csl-json" and all(record["problem"] for record in records):
        raise PaperFault("INVALID_REF", f"{name} is no JSON: line {records[0]['line']}: {records[0]['problem']}.")
    return text, how, records


def _names_paper(record: Mapping[str, Any]) -> bool:
    try:
        return bool(parse_ref(record["identifier"]))
    except PaperFault:
        return False
