"""Notices about a work: what each source lists, which is the gravest, and where sources disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specloom.core import dataclass, load_table
from specloom.domains.text import to_doi

from ..records import Retraction

_TABLE = load_table(__file__, "notices.yaml")
_NATURES: Mapping[str, str] = _TABLE["natures"]
_ALIASES: Mapping[str, str] = _TABLE["aliases"]
_GRAVITY = {nature: at for at, nature in enumerate(_NATURES)}
_LONGEST = 200
REINSTATEMENT = "reinstatement"
REPLACEMENT = "retract_and_replace"


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice as a source lists it: what it is called, its day (YYYY-MM-DD, "" where unknown), its DOI, who says."""

    nature: str
    source: str
    date: str = ""
    doi: str = ""


@dataclass(frozen=True, slots=True)
class NoticeSource:
    """What one source that knows a work lists about it; () means that it was asked and lists nothing."""

    source: str
    notices: tuple[Notice, ...] = ()
    replaced_by: str = ""


def to_nature(text: object) -> str:
    """The name of a notice in small letters, with low lines for blanks and bars of its source; "" for no known one."""
    name = "_".join(str(text or "")[:_LONGEST].casefold().replace("-", " ").replace("_", " ").split())
    name = _ALIASES.get(name, name)
    return name if name in _NATURES or name in (REINSTATEMENT, REPLACEMENT) else ""


def to_notices(rows: object, source: str) -> tuple[Notice, ...]:
    """The notices that a row of a registry lists; what is no notice (a new version) is left out."""
    notices = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping) and (nature := to_nature(row.get("nature"))):
            named = str(row.get("source") or source)[:_LONGEST]
            date = str(row.get("date") or "")[:10]
            notices.append(Notice(nature, named, date, str(row.get("noticeDoi") or "")[:_LONGEST]))
    return tuple(notices)


def judge_notices(sources: Sequence[NoticeSource]) -> Retraction | None:
    """The gravest notice that any source lists, told by its name; None where none lists one.

    A reinstatement that is not older than the last retraction ends it. Where one source lists a retraction and another
    one that knows the work does not, both are said.
    """
    notices = [notice for source in sources for notice in source.notices]
    if not notices:
        return None
    replaced_by = next((source.replaced_by for source in sources if source.replaced_by), "")
    retractions = [notice for notice in notices if _is_retracting(notice)]
    reinstated = [notice for notice in notices if notice.nature == REINSTATEMENT]
    if reinstated and not any(notice.date > max(each.date for each in reinstated) for notice in retractions):
        notice = max(reinstated, key=lambda each: each.date)
        return _tell(notice, False, REINSTATEMENT, "", "")
    grave = [notice for notice in notices if notice.nature != REINSTATEMENT]
    if not grave:
        return None
    notice = min(grave, key=lambda each: _GRAVITY.get(each.nature, 0))
    is_retracted = _is_retracting(notice)
    is_replaced = is_retracted and (replaced_by or any(each.nature == REPLACEMENT for each in notices))
    nature = REPLACEMENT if is_replaced else notice.nature
    silent = [source.source for source in sources if not any(map(_is_retracting, source.notices))]
    disagreement = ""
    if is_retracted and silent:
        named = " and ".join(dict.fromkeys(each.source for each in retractions))
        disagreement = f"{named} says that it was retracted; {' and '.join(silent)} lists no retraction"
    return _tell(notice, is_retracted, nature, to_doi(replaced_by) if is_retracted else "", disagreement)


def _is_retracting(notice: Notice) -> bool:
    return notice.nature == REPLACEMENT or _NATURES.get(notice.nature) == "retraction"


def _tell(notice: Notice, retracted: bool, nature: str, replaced_by: str, disagreement: str) -> Retraction:
    # The kinds are those of the contract; what ends a retraction is told by its nature.
    kind = "retraction" if retracted else _NATURES.get(nature, "correction")
    return Retraction(
        retracted=retracted,
        kind=kind,
        nature=nature if nature != kind else None,
        date=notice.date or None,
        notice_doi=notice.doi or None,
        source=notice.source,
        replaced_by=replaced_by or None,
        disagreement=disagreement or None,
    )


def from_status(status: Mapping[str, Any], source: str) -> tuple[Notice, ...]:
    """The notice of a row that gives no more than the most severe one."""
    nature = to_nature(status.get("nature") or status.get("kind"))
    if not nature:
        return ()
    named = str(status.get("source") or source)
    return (Notice(nature, named, str(status.get("date") or ""), str(status.get("noticeDoi") or "")),)


def to_words(notice: Retraction) -> str:
    """What became of a work, in a few words: "partial retraction", "retracted and replaced"."""
    names = {REPLACEMENT: "retraction with a corrected version in its place"}
    nature = notice.nature or notice.kind or ""
    return names.get(nature, nature.replace("_", " "))


def merge(sources: Iterable[NoticeSource]) -> tuple[NoticeSource, ...]:
    """The sources, each name once, the first to be asked first."""
    merged: dict[str, NoticeSource] = {}
    for each in sources:
        merged.setdefault(each.source, each)
    return tuple(merged.values())
