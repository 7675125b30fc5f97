"""What a check found, file by file, with what it read to find it; kept on disk as JSON.

It is taken only from a file that nobody but its owner and the administrator can write, and only if it is whole and of
this engine; else everything is checked again. Nothing of it is run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from specloom.core import Diagnostic, Place, dataclass
from specloom.model import ImageError, check_owner

from .facts import Fact

Head = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """What one check of one file found: `own` is what it is about, `reads` are the paths of what it read of others."""

    own: str
    reads: frozenset[str] = frozenset()
    found: tuple[Diagnostic, ...] = ()
    """In the order in which they were noticed."""
    shown: tuple[Diagnostic, ...] | None = None
    """What examples do not show; None where that was not asked."""
    head: Head | None = None
    """What is known of the file without reading it again; None where it came to nothing."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Every verdict of a check by its name, and the facts that they were found by."""

    verdicts: Mapping[str, FileVerdict] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    of: str = ""
    """A digest of everything that was checked; "" where nobody said."""


def load_memory(path: Path, engine: str) -> Memory:
    """What the last check by this engine left; nothing where it cannot be used."""
    try:
        with path.open("rb") as file:
            check_owner(str(path), file.fileno())
            digest, data = file.readline().strip(), file.read()
        if digest.decode("ascii", "replace") != _digest(data, engine):
            return Memory()
        written = json.loads(data)
    except (OSError, ValueError, ImageError):
        return Memory()
    paths, facts = written["paths"], written["facts"]
    verdicts = {
        name: FileVerdict(own, frozenset([paths[at] for at in reads]), _diagnostics(found), _maybe(shown), head)
        for name, (own, reads, found, shown, head) in written["verdicts"].items()
    }
    return Memory(verdicts, dict(zip(paths, facts, strict=True)), written["of"])


def save_memory(path: Path, engine: str, memory: Memory) -> None:
    """Keep it for the next check, for its owner alone; where that fails the next one only takes as long as this one."""
    from specloom.core import write_whole

    paths = list(memory.facts)
    numbers = {one: at for at, one in enumerate(paths)}
    written = {
        "of": memory.of,
        "paths": paths,
        "facts": [memory.facts[one] for one in paths],
        "verdicts": {
            name: [
                one.own,
                [numbers[path] for path in one.reads],
                _rows(one.found),
                None if one.shown is None else _rows(one.shown),
                one.head,
            ]
            for name, one in memory.verdicts.items()
        },
    }
    data = json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    with contextlib.suppress(OSError):
        write_whole(path, f"{_digest(data, engine)}\n".encode() + data)


def _digest(data: bytes, engine: str) -> str:
    return hashlib.sha256(engine.encode() + b"\n" + data).hexdigest()


def _maybe(rows: Sequence[Any] | None) -> tuple[Diagnostic, ...] | None:
    return None if rows is None else _diagnostics(rows)


def _diagnostics(rows: Sequence[Any]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(code, Place(*place), message, hint) for code, place, message, hint in rows)


def _rows(found: Sequence[Diagnostic]) -> list[Any]:
    return [[one.code, _spot(one.place), one.message, one.hint] for one in found]


def _spot(place: Place) -> list[Any]:
    return [place.file, place.line, place.column, place.width]
