"""A bibliography file as papers to fetch: each entry by the identifier that it states, or why it has none to go by."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specloom.core import Fault, run_apart
from specloom.domains.text import PaperId
from specloom.plugins import WHOLE, Context

from .answers import FETCHING, RECORDS, ROWS, paper_procedure, parse_ref
from .config import FILES, file_roots
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
"""Characters of a key or of an identifier that are told."""
SECONDS = 10.0
"""Time for the file, the start of the process that reads it included."""
MEMORY = 512 * 1024**2
"""Bytes of address space that this process may have."""
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
    refs: list[tuple[str, PaperId]] = []
    rows: list[dict[str, Any]] = []
    records, where = await _read_records(context, path, format)
    for record in records:
        key, text = record["key"][:SHOWN], record["identifier"]
        try:
            refs.append((text, _to_ref(record, where)))
            keys.append(key)
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
    rows += [row | ({"entry_key": key} if key else {}) for key, row in zip(keys, fetched, strict=True)]
    summary = {"total": len(rows), "ok": done, "failed": len(fetched) - done, "parse_errors": bad}
    return {"summary": summary, "results": rows}


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


async def _read_records(context: Context, path: str, format_: str) -> tuple[list[dict[str, Any]], str]:
    """The records of a file in their order, and whether `line` or `place` counts them.

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
        raise PaperFault("INVALID_REF", f"{name} is no JSON: line {records[0]['line']}, {records[0]['problem']}.")
    return records, "place" if how == "csl-json" else "line"


def _names_paper(record: Mapping[str, Any]) -> bool:
    try:
        return bool(parse_ref(record["identifier"]))
    except PaperFault:
        return False


async def read_local_file(context: Context, path: str) -> str:
    """The text of a file below a folder that the operator allows; INVALID_REF for any other.

    It is opened and read in a process of its own: a network folder that does not answer keeps it alone.
    """
    if not Path(path).is_absolute():
        raise PaperFault("INVALID_REF", f"{path[:200]!r} is no absolute path.")
    roots = file_roots(context.config)
    try:
        if not context.is_live:
            return read_file(b"", path, roots)
        text: str = await run_apart(read_file, b"", path, roots, what="file", seconds=SECONDS, memory=MEMORY)
    except Fault as fault:
        raise PaperFault("INTERNAL_ERROR" if fault.kind == "internal" else "INVALID_REF", fault.message) from None
    return text


def read_file(_: bytes, path: str, roots: Sequence[str]) -> str:
    """The text of a regular file below one of some folders, links followed; a `validation` fault for any other.

    Nothing waits for a pipe or a device, and no name below the folder may begin with a dot.
    """
    name = Path(path).name[:200]
    try:
        # Whether there is such a file is told of none that may not be read.
        real = os.path.realpath(path)
        if not any(_is_below(real, os.path.realpath(root)) for root in roots):
            raise Fault(
                "validation",
                "The file is not below a folder that may be read, or its path has a name that begins with a dot; the "
                "operator names such folders in DOIGET_FILE_ROOTS.",
            )
        data = _read_regular(real)
        if data is None:
            raise Fault("validation", f"{path[:200]!r} is no file.")
        if len(data) > LARGEST:
            raise Fault("validation", f"{name} is larger than {LARGEST} bytes; split it.")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Fault("validation", f"{name} is no text in UTF-8.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise Fault("validation", f"{path[:200]!r} is no file.") from None
        why = error.strerror if isinstance(error, OSError) else "the path is none"
        raise Fault("validation", f"{path[:200]!r} cannot be read: {why}.") from None


def _is_below(real: str, root: str) -> bool:
    try:
        inner = Path(real).relative_to(root)
    except ValueError:
        return False
    return not any(part.startswith(".") for part in inner.parts)


def _read_regular(real: str) -> bytes | None:
    """The bytes of a regular file, one more than are taken at most; None for anything else."""
    # Not through a link that was put there since the path was looked at.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(real, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(LARGEST + 1)
    finally:
        os.close(descriptor)
