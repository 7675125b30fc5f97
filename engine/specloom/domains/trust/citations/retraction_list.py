"""A list of retractions that is kept as a file: read once, looked up by DOI, and got anew by a command.

The file has the columns of the Retraction Watch data as Crossref publishes it; `notices.yaml` says which.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from specloom.core import Fault, dataclass, load_table, write_whole
from specloom.domains.text import to_doi

from .notices import REPLACEMENT, Notice, NoticeSource, to_nature

_LIST = load_table(__file__, "notices.yaml")["list"]
_COLUMNS: Mapping[str, str] = _LIST["columns"]
_REPLACED = load_table(__file__, "notices.yaml")["replaced"]
SETTING = "RETRACTION_LIST"
NAME: str = _LIST["name"]
ADDRESS: str = _LIST["url"]


@dataclass(frozen=True, slots=True)
class RetractionList:
    """The notices of a list by the DOI of the work, and how many lines of it named no DOI or no known notice."""

    notices: Mapping[str, tuple[Notice, ...]]
    left_out: int = 0

    def find(self, doi: str) -> NoticeSource | None:
        """What the list has about a work; None where it has nothing, since works without notices are not in it."""
        notices = self.notices.get(doi)
        return NoticeSource(NAME, notices) if notices else None


EMPTY = RetractionList({})


def read_list(lines: Iterable[str]) -> RetractionList:
    """The list in lines of CSV; raises a `validation` fault where a column that is needed is missing."""
    reader = csv.DictReader(lines)
    if lacking := [column for column in _COLUMNS.values() if column not in (reader.fieldnames or ())]:
        raise Fault("validation", f"the list of retractions has no column {', '.join(map(repr, lacking))}")
    notices: dict[str, list[Notice]] = {}
    left_out = 0
    for row in reader:
        doi, nature = to_doi(row[_COLUMNS["doi"]] or ""), to_nature(row[_COLUMNS["nature"]])
        if not doi or not nature:
            left_out += 1
            continue
        if nature == "retraction" and _REPLACED in (row[_COLUMNS["reason"]] or ""):
            nature = REPLACEMENT
        day, notice = _to_day(row[_COLUMNS["date"]] or ""), to_doi(row[_COLUMNS["notice"]] or "")
        notices.setdefault(doi, []).append(Notice(nature, NAME, day, notice))
    return RetractionList({doi: tuple(listed) for doi, listed in notices.items()}, left_out)


def _to_day(text: str) -> str:
    for form in _LIST["dates"]:
        try:
            return datetime.strptime(text.split(" ", maxsplit=1)[0], form).strftime("%Y-%m-%d")  # noqa: DTZ007  a day has no zone
        except ValueError:
            continue
    return ""


def load_list(path: str) -> RetractionList:
    """The list in a file, read again when the file was changed; raises a `config` fault where it cannot be read."""
    try:
        changed = Path(path).stat().st_mtime_ns
    except OSError as error:
        raise Fault("config", f"the list of retractions {path} cannot be read: {error.strerror}") from error
    return _load(path, changed)


@lru_cache(maxsize=2)
def _load(path: str, _changed: int) -> RetractionList:
    try:
        with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
            return read_list(file)
    except (OSError, csv.Error) as error:
        raise Fault("config", f"the list of retractions {path} cannot be read: {error}") from error


def write_list(path: Path, body: bytes) -> RetractionList:
    """Put a list that was got in its place; what is no such list is refused and the old one stays."""
    read = read_list(io.StringIO(body.decode("utf-8-sig", "replace"), newline=""))
    if not read.notices:
        raise Fault("validation", "the list of retractions that was got names no work, so the old one stays")
    write_whole(path, body, mode=0o644)
    return read
