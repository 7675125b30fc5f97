"""A folder of Markdown notes: a note a work and one for the session or list that names them, linked with each other.

Links are relative (`[title](works/key.md)`), because every editor of Markdown follows them and the programs that know
`[[names]]` follow them as well. What is generated ends with a mark that has the digest of what stands above it. Below
the mark a person writes, and that is never touched; what was changed above it is kept as a copy before it is written
again; a file without the mark is somebody's own and stays as it is.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from specloom.core import Fault, dataclass, from_epoch
from specloom.core.paths import write_whole
from specloom.domains.trust.bibliography.entry import BibliographyEntry, find_path
from specloom.domains.trust.reports.markup import escape
from specloom.plugins import Context, procedure
from specloom.plugins.records import record

from .config import CACHE, NOTES, STORE, notes_root
from .exchange import select_works
from .record import join_name

WORKS = "works"
"""The folder of the notes of works, below that of the notes."""
LONGEST_NAME = 100
"""Bytes of a file name without its ending."""
_END = re.compile(r"^<!-- specloom:end ([0-9a-f]{16}) -->\r?$", re.MULTILINE)
_UNSAFE = re.compile(r"[^\w.+-]|_(?=_)")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{at}" for name in ("com", "lpt") for at in range(1, 10))})
"""Names that no file can have on Windows, whatever its ending."""


@record
class WrittenNote:
    """What became of a note, by its path below the folder: `created`, `updated`, `unchanged` or `skipped`.

    `copy` is where the note as a person had changed it is kept; a `skipped` one is a file that nobody here has written.
    """

    path: str
    status: str
    copy: str | None = None


@record
class WrittenNotes:
    """A folder of notes: how many works it tells, what became of each note, and references without a work."""

    folder: str
    work_count: int
    created: int
    updated: int
    unchanged: int
    skipped: int
    notes: Sequence[WrittenNote]
    missing: Sequence[str] | None = None
    dry_run: bool | None = None


@procedure("write_notes", settings={**STORE, **NOTES, **CACHE}, runs=("session_sources", "export_session"))
async def write_notes(
    context: Context,
    folder: str = "",
    refs: Sequence[str] = (),
    query: str = "",
    session: str = "",
    *,
    dry_run: bool = False,
) -> WrittenNotes:
    """Writes works of the store, or a session with its sources, as Markdown notes below the folder of the settings.

    The works are chosen as `export_references` chooses them. A `config` fault where no folder is set or it cannot be
    written, or the server is not one person's, and a `validation` fault for a folder that is not below it.
    """
    place = _find_folder(context, folder)
    chosen = await select_works(context, refs, query, session, keeps_keys=not dry_run)
    notes: dict[str, str] = {}
    lines: list[str] = []
    for work in chosen.works:
        path = f"{WORKS}/{to_file_name(work.key)}.md"
        notes[path] = _write_work(work)
        facts = (f"- [{_to_line(work.title or work.key)}]({quote(path)})", _to_line(_names_of(work)), work.date[:4])
        lines.append(" · ".join(filter(None, facts)))
    if session:
        told = (await context.run("export_session", {"session_id": session, "format": "json"}))["document"]
        notes[f"{_name_session(told)}.md"] = _write_session(told, lines)
    elif lines or not (query or refs):
        title = f"Works: {query}" if query else "Works"
        notes["index.md"] = _write_list(title, lines)
    else:
        context.notice("Nothing in the store is what was asked for, so that no note and no list was written.")
    stamp = (from_epoch(context.now()) or "").replace("-", "").replace(":", "")

    def write() -> list[WrittenNote]:
        for parent in {(place.folder / path).parent for path in notes}:
            _check_folder(parent)
        return [_put(place, path, text, stamp, dry_run=dry_run) for path, text in sorted(notes.items())]

    # A folder of two thousand notes is flushed to the disk file by file.
    written = await asyncio.to_thread(write) if context.is_live else write()
    counts = {
        name: sum(note.status == name for note in written) for name in ("created", "updated", "unchanged", "skipped")
    }
    return WrittenNotes(
        folder=str(place.folder),
        work_count=len(chosen.works),
        **counts,
        notes=written,
        missing=chosen.missing or None,
        dry_run=dry_run or None,
    )


# --- where notes may be written ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoteFolder:
    """The folder of the notes below the one that the operator names."""

    root: Path
    folder: Path


def _find_folder(context: Context, folder: str) -> NoteFolder:
    root = notes_root(context.config)
    if root is None:
        raise Fault(
            "config", "no folder for notes is set; set SPECLOOM_VAULT to its absolute path", action="inform_user"
        )
    if not context.is_alone:
        raise Fault("config", "notes are written only where one person runs the server")
    inner = PurePosixPath(folder.replace("\\", "/"))
    parts = [part for part in inner.parts if part != "."]
    if inner.is_absolute() or any(part.startswith(".") or ":" in part or not part.isprintable() for part in parts):
        advice = "give names parted by /, none of which begins with a dot"
        message = f"{folder[:200]!r} is no folder below that of the notes: {advice}"
        raise Fault("validation", message, action="fix_arguments")
    place = NoteFolder(root, root.joinpath(*parts))
    _check_inside(place, place.folder)
    return place


def _check_inside(place: NoteFolder, path: Path) -> None:
    """A `validation` fault where links lead a path out of the folder that the operator names."""
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(place.root))
    if real != root and root not in real.parents:
        raise Fault("validation", f"{path.name!r} leads out of the folder of the notes", action="fix_arguments")


def to_file_name(text: str) -> str:
    """A name that files can have everywhere; one that had to be changed ends with eight digits of its digest, so that
    no two are one."""
    name = _UNSAFE.sub("-", unicodedata.normalize("NFC", text)).strip("-. ")
    while len(name.encode()) > LONGEST_NAME:
        name = name[:-1]
    if not name or name.split(".")[0].lower() in _DEVICES:
        name = f"note-{name}".rstrip("-")
    if name == text:
        return name
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _name_session(told: Mapping[str, Any]) -> str:
    """The name of a session's note: its goal, with eight digits that no other session has, nor the list of works."""
    goal = to_file_name(told["researchGoal"])
    return f"{goal}-{hashlib.sha256(told['id'].encode()).hexdigest()[:8]}"


def _put(place: NoteFolder, path: str, text: str, stamp: str, *, dry_run: bool) -> WrittenNote:
    """Write one note, with what a person wrote below its mark; a `config` fault where it cannot be written."""
    file = place.folder / path
    _check_inside(place, file.parent)
    generated = f"{text.rstrip()}\n\n"
    made = f"{generated}<!-- specloom:end {_digest(generated)} -->\n"
    try:
        before = None if file.is_symlink() or not file.exists() else file.read_bytes().decode("utf-8")
        mode = 0o644 if before is None else stat.S_IMODE(file.stat().st_mode)
    except (OSError, UnicodeDecodeError):
        return WrittenNote(path=path, status="skipped")
    if before is None and file.is_symlink():
        return WrittenNote(path=path, status="skipped")
    copy = None
    if before is not None:
        mark = _END.search(before)
        if mark is None:
            return WrittenNote(path=path, status="skipped")
        above, below = before[: mark.start()], before[mark.end() :].removeprefix("\n")
        if f"{_unify(above)}{mark[0].rstrip()}\n" == made:
            return WrittenNote(path=path, status="unchanged")
        made = (made.replace("\n", "\r\n") if "\r\n" in above else made) + below
        if _digest(above) != mark[1]:
            endings = chain([""], map("-{}".format, count(2)))
            names = (f"{path.removesuffix('.md')}.kept-{stamp}{ending}.md" for ending in endings)
            copy = next(name for name in names if not (place.folder / name).exists())
    if not dry_run:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if copy and before is not None:
                write_whole(place.folder / copy, before.encode(), mode=mode)
            write_whole(file, made.encode(), mode=mode)
        except OSError as error:
            raise _unwritable(file, error.strerror or str(error)) from error
    return WrittenNote(path=path, status="created" if before is None else "updated", copy=copy)


def _check_folder(folder: Path) -> None:
    """A `config` fault where a file stands where a folder of notes is to be."""
    try:
        there = next(path for path in (folder, *folder.parents) if path.exists())
        is_folder = there.is_dir()
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error)) from error
    if not is_folder:
        raise _unwritable(there, "it is a file, and a folder is needed")


def _unwritable(path: Path, reason: str) -> Fault:
    message = f"notes cannot be written at {path}: {reason}; mend that, or write into another folder"
    return Fault("config", message, action="inform_user")


def _unify(text: str) -> str:
    """A text whose lines end alike, whatever editor has saved it."""
    return text.replace("\r\n", "\n")


def _digest(text: str) -> str:
    return hashlib.sha256(_unify(text).encode()).hexdigest()[:16]


# --- what stands in a note --------------------------------------------------------------------------------------------


def _front_matter(fields: Mapping[str, Any]) -> str:
    """Properties of a note, one a line and none in another, so that every program reads them."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value]
    return "\n".join(["---", *lines, "---", ""])


def _names_of(work: BibliographyEntry) -> str:
    names = [name.family for name in work.authors]
    return f"{names[0]} et al." if len(names) > 3 else ", ".join(names)


def _write_work(work: BibliographyEntry) -> str:
    year = work.date[:4]
    facts = {
        "citekey": work.key,
        "aliases": [f"{_names_of(work)} ({year}) {work.title}".strip()] if work.title and year and work.authors else [],
        "title": work.title,
        "authors": [join_name(name) for name in work.authors],
        "editors": [join_name(name) for name in work.editors],
        "year": int(year) if year.isdigit() else None,
        "type": work.kind,
        "venue": work.container,
        "publisher": work.publisher,
        "doi": work.doi,
        "url": work.url,
        "files": [find_path(file) for file in work.files],
        "tags": ["-".join(word.split()) for word in work.keywords],
        "collections": list(work.collections),
        "specloom": 1,
    }
    parts = [_front_matter(facts), f"# {_to_line(work.title or work.key)}", ""]
    for title, text in (("Abstract", work.abstract), ("Notes", work.annote)):
        if text:
            parts += [f"## {title}", "", *_quote(text), ""]
    return "\n".join(parts)


def _quote(text: str) -> list[str]:
    """A text of others as a quotation in which Markdown and HTML are text."""
    return [f"> {_to_line(line)}".rstrip() for line in text.strip().splitlines()]


def _write_list(title: str, lines: Sequence[str]) -> str:
    return "\n".join([_front_matter({"title": title, "specloom": 1}), f"# {_to_line(title)}", "", *lines])


def _write_session(told: Mapping[str, Any], lines: Sequence[str]) -> str:
    facts = {
        "title": told["researchGoal"],
        "session": told["id"],
        "created": told["createdAt"][:10],
        "completed": (told.get("completedAt") or "")[:10],
        "specloom": 1,
    }
    parts = [_front_matter(facts), f"# {_to_line(told['researchGoal'])}", ""]
    # What is made where the caller gave no summary is the goal and the newest steps, which the note has already.
    if told["summary"] and not told["summary"].startswith(f"Goal: {told['researchGoal']}\n"):
        parts += ["## Summary", "", *_quote(told["summary"]), ""]
    if told["steps"]:
        parts += ["## Steps", "", *map(_write_step, told["steps"]), ""]
    gaps = [gap["description"] for gap in told["gaps"] if not gap.get("resolvedInStep")]
    if gaps:
        parts += ["## Open questions", "", *(f"- {_to_line(gap)}" for gap in gaps), ""]
    parts += ["## Sources", "", *lines]
    return "\n".join(parts)


def _write_step(step: Mapping[str, Any]) -> str:
    named = (("confidence", "confidence"), ("branch", "branchId"), ("superseded by step", "supersededBy"))
    more = [f"{name} {step[key]}" for name, key in named if step.get(key)]
    return " · ".join((f"{step['stepNumber']}. {_to_line(step['description'])}", *map(_to_line, more)))


def _to_line(text: str) -> str:
    """Words of others on one line, in which Markdown and HTML are text."""
    return escape(" ".join(text.split()))
