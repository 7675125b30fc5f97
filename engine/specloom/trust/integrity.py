"""What became of a work after it was published: retracted, doubted or corrected, from the updates a registry lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# Update types as Crossref defines them (https://www.crossref.org/documentation/crossmark/), by what they come to.
_KINDS: Mapping[str, str] = {
    "retraction": "retraction",
    "partial_retraction": "retraction",
    "withdrawal": "retraction",
    "removal": "retraction",
    "expression_of_concern": "expression_of_concern",
    "correction": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "addendum": "correction",
    "clarification": "correction",
}
_SEVERITY: Mapping[str, int] = {"correction": 1, "expression_of_concern": 2, "retraction": 3}


@dataclass(frozen=True, slots=True)
class Update:
    """One notice about a work: its type, the day it is dated (YYYY-MM-DD, as far as known), its DOI and who says so."""

    type: str
    date: str = ""
    notice: str = ""
    source: str = "publisher"


@dataclass(frozen=True, slots=True)
class Integrity:
    """The gravest notice about a work: `kind` is retraction, expression_of_concern or correction."""

    kind: str
    date: str
    notice: str
    source: str

    @property
    def retracted(self) -> bool:
        """Whether the work was retracted, withdrawn or removed."""
        return self.kind == "retraction"


def find_integrity(updates: Iterable[Update]) -> Integrity | None:
    """The gravest of some notices, the later in the list among equals; None when none of them counts."""
    gravest: Integrity | None = None
    for update in updates:
        kind = _KINDS.get(update.type.strip().lower().replace("-", "_").replace(" ", "_"))
        if kind and (gravest is None or _SEVERITY[kind] >= _SEVERITY[gravest.kind]):
            gravest = Integrity(kind, update.date, update.notice, update.source)
    return gravest


def parse_updates(message: Mapping[str, Any]) -> tuple[Update, ...]:
    """The notices that a record of the Crossref API lists about its work (`updated-by`); broken ones are left out."""
    listed = message.get("updated-by")
    return tuple(
        Update(
            type=each["type"],
            date=_to_day(each.get("updated")),
            notice=str(each.get("DOI") or "").lower(),
            source="retraction-watch" if each.get("source") == "retraction-watch" else "publisher",
        )
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping) and isinstance(each.get("type"), str)
    )


def _to_day(value: object) -> str:
    if not isinstance(value, Mapping):
        return ""
    if isinstance(moment := value.get("date-time"), str):
        return moment[:10]
    parts = value.get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    numbers = [part for part in first if isinstance(part, int)]
    return "-".join(f"{part:04}" if at == 0 else f"{part:02}" for at, part in enumerate(numbers[:3]))
