"""Brings a provenance log of the format v1 into the one that is written now: two more columns and a new chain.

A row of v1 has neither `schema_version` nor `canonical_digest`. The digest is worked out from reference and source,
numbers and hashes are made anew, and nothing else of a row is touched. The log as it was stays beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .codes import Refusal
from .locks import held_now, write_whole
from .log import GENESIS, KEYS, OLDER_KEYS, ROW_VERSION, hash_row, parse_row, verify
from .places import log_path
from .refs import canonical_digest

if TYPE_CHECKING:
    from specloom.desk import Desk

BACKUP = ".v1-backup"
STAGED = ".v2-migrated"


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did or would do: rows in all, rows of v1 among them, and the first hash before and after."""

    rows: int
    rewritten: int
    anchor_before: str | None
    anchor_after: str | None


async def migrate_provenance(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite the log at `path`, or the configured one, and say what was done."""
    path = Path(given["path"]) if given.get("path") else log_path(desk.config)
    return {"path": str(path), **asdict(migrate(path, dry_run=bool(given.get("dry_run"))))}


def migrate(path: Path, *, dry_run: bool = False) -> Migrated:
    """Rewrite a log, unless `dry_run`; a log without rows of v1 is left as it is.

    LOG_ERROR for a line that is a row of neither format and where the log cannot be written: then nothing is changed.
    """
    if dry_run or not path.exists():
        return _rewrite(path)[0]
    try:
        with held_now(path.with_name(path.name + ".lock")):
            done, text = _rewrite(path)
            if not done.rewritten:
                return done
            before, staged = path.with_name(path.name + BACKUP), path.with_name(path.name + STAGED)
            if before.exists():
                raise Refusal("LOG_ERROR", f"{before} is there from an earlier migration; move it away first.")
            write_whole(before, path.read_bytes())
            write_whole(staged, text)
            verdict = verify(staged)
            if verdict.problem:
                raise Refusal("LOG_ERROR", f"The migrated log does not hold: {verdict.problem}.")
            staged.replace(path)
            return done
    except OSError as error:
        raise Refusal("LOG_ERROR", f"The provenance log {path} cannot be migrated: {error.strerror}.") from None


def _rewrite(path: Path) -> tuple[Migrated, bytes]:
    rows: list[dict[str, Any]] = []
    rewritten, before = 0, GENESIS
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise Refusal("LOG_ERROR", f"The provenance log {path} cannot be read: {error.strerror}.") from None
    for number, line in enumerate(lines, 1):
        said = parse_row(line)
        if said is None or set(said) not in (OLDER_KEYS, set(KEYS)):
            raise Refusal("LOG_ERROR", f"Line {number} of {path} is a row of no format that is known.")
        # How v1 hashed a row is not known for sure, but that a row names the one before it is.
        if said["prev_hash"] != before or (set(said) == set(KEYS) and said["this_hash"] != hash_row(said)):
            raise Refusal("LOG_ERROR", f"Row {number} of {path} does not hold, and a new chain would hide that.")
        before = said["this_hash"]
        rewritten += set(said) == OLDER_KEYS
        row = {**said, **_columns(said), "ts_seq": number}
        row["prev_hash"] = rows[-1]["this_hash"] if rows else GENESIS
        rows.append({**row, "this_hash": hash_row(row)})
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    first = parse_row(lines[0]) if lines else None
    anchors = (first["this_hash"] if first else None, rows[0]["this_hash"] if rows else None)
    return Migrated(len(rows), rewritten, *anchors), text.encode("utf-8", "surrogatepass")


def _columns(row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a row of v1 lacks; none for a row that has them."""
    if set(row) == set(KEYS):
        return {}
    ref, source = row["ref"], row["source"]
    kind = "doi" if str(ref).startswith("10.") else "arxiv"
    digest = canonical_digest(kind, str(ref), str(source)) if ref and source else None
    return {"schema_version": ROW_VERSION, "canonical_digest": digest}
