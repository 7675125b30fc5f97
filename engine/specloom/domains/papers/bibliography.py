"""A bibliography file as papers to fetch: each entry by the identifier that it states, or why it has none to go by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specloom.domains.text import PaperId
from specloom.plugins import WHOLE, Context

from .answers import FETCHING, RECORDS, ROWS, paper_procedure, parse_ref
from .errors import PaperFault

BATCH = 100
"""The most papers of one call."""
LARGEST = 1_000_000
"""Bytes of a file, which is some thousand entries."""
FORMATS = {"auto": "", "csl_json": "csl-json", "biblatex": "bibtex"} | {
    one: one for one in ("csl-json", "bibtex", "refs")
}
"""The names of formats, and how each is read; an empty one is told by looking."""
SHOWN = 256
"""Characters of a key or of what is no identifier that are told, since a file may hold anything."""


@paper_procedure(
    {
        "summary": {"type": "object", "properties": dict.fromkeys(("total", "ok", "failed", "parse_errors"), WHOLE)},
        "results": ROWS,
    },
    asks=RECORDS,
    runs=("bibliography_records",),
    settings=FETCHING,
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
    refs: list[tuple[str, PaperId]] = []
    rows: list[dict[str, Any]] = []
    records, is_bibtex = await _read_records(context, path, format)
    for record in records:
        key, text = record["key"][:SHOWN], record["identifier"]
        try:
            refs.append((text, _to_ref(record, "line" if is_bibtex else "place")))
            keys.append(key)
        except PaperFault as fault:
            if strict:
                raise
            shown = (text or (record["address"] if record["is_software"] else ""))[:SHOWN]
            error = fault.to_error(in_row=True)
            rows.append({"entry_key": key or None, "ref": shown or None, "ok": False, "error": error})
    if len(refs) > BATCH:
        message = f"TOO_MANY_REFS: the file has {len(refs)} papers, and {BATCH} are taken at most; split it."
        raise PaperFault("INVALID_REF", message)
    fetched = await fetch_all(context, refs, force=force) if refs else []
    done, bad = sum(row["ok"] for row in fetched), len(rows)
    rows += [row | ({"entry_key": key} if key else {}) for key, row in zip(keys, fetched, strict=True)]
    summary = {"total": len(rows), "ok": done, "failed": len(fetched) - done, "parse_errors": bad}
    return {"summary": summary, "results": rows}


def _to_ref(record: Mapping[str, Any], where: str) -> PaperId:
    """The paper of a record, or why it names none."""
    if record["identifier"]:
        return parse_ref(record["identifier"])
    if record["problem"]:
        place = f"{where} {record['line']}"
        raise PaperFault("INVALID_REF", f"The entry at {place} cannot be read: {record['problem'][:SHOWN]}.")
    name = f"The entry {record['key'][:80]!r}" if record["key"] else "An entry"
    if record["is_software"]:
        raise PaperFault("NOT_IMPLEMENTED", f"{name} is a program and has no DOI; programs are not fetched.")
    raise PaperFault("INVALID_REF", f"{name} has no DOI, arXiv or PubMed identifier.")


async def _read_records(context: Context, path: str, format_: str) -> tuple[list[dict[str, Any]], bool]:
    """The records of a file in their order, and whether it is BibTeX; INVALID_REF for what is no bibliography."""
    how = FORMATS.get(format_.strip().lower())
    if how is None:
        known = "use auto, csl-json, bibtex or refs"
        raise PaperFault("INVALID_REF", f"{format_[:40]!r} is no format of bibliographies; {known}.")
    text, name = read_file(path), Path(path).name
    answer = await context.run("bibliography_records", {"document": text, "format": how})
    how, records = answer["format"], answer["records"]
    if how == "refs" and not any(map(_names_paper, records)):
        raise PaperFault("INVALID_REF", f"{name} holds no reference, and is neither CSL-JSON nor BibTeX.")
    if not records:
        raise PaperFault("INVALID_REF", f"{name} holds no entry in the format {how}.")
    if how == "csl-json" and all(record["problem"] for record in records):
        raise PaperFault("INVALID_REF", f"{name} is no JSON: line {records[0]['line']}, {records[0]['problem']}.")
    return records, how == "bibtex"


def _names_paper(record: Mapping[str, Any]) -> bool:
    try:
        return bool(parse_ref(record["identifier"]))
    except PaperFault:
        return False


def read_file(path: str) -> str:
    """The text of a file that an absolute path names; INVALID_REF for what is no such file or no UTF-8."""
    file = Path(path)
    try:
        if not file.is_absolute() or not file.is_file():
            kind = "file" if file.is_absolute() else "absolute path"
            raise PaperFault("INVALID_REF", f"{path[:200]!r} is no {kind}.")
        with file.open("rb") as opened:
            data = opened.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise PaperFault("INVALID_REF", f"{file.name} is larger than {LARGEST} bytes; split it.")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PaperFault("INVALID_REF", f"{file.name} is no text in UTF-8.") from None
    except (OSError, ValueError) as error:
        raise PaperFault("INVALID_REF", f"{path[:200]!r} cannot be read: {error}.") from None
