"""Fields that an encoding went wrong for, told anew by a source that is switched on and says the same but for that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .entries import mends, quality_of, to_plain
from .metadata import ENABLED, Found, Trace, attempt, turned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specloom.desk import Desk

    from .journal import Journal
    from .refs import Ref

FIELDS = ("title", "authors", "venue", "publisher", "abstract")
"""What sources tell alike, so that one can stand in for the other."""


async def repair(desk: Desk, ref: Ref, found: Found, journal: Journal, trace: Trace) -> tuple[Found, dict[str, str]]:
    """The record with its broken fields told anew, and by whom each was; nobody is asked where none is broken."""
    fields, repaired = dict(found.fields), dict[str, str]()
    for source, (variable, provider) in ENABLED.items() if ref.kind == "doi" else ():
        broken = [name for name in FIELDS if _is_broken(name, fields)]
        if not broken:
            break
        if source == found.source or desk.config.get(variable) is None:
            continue
        row = await attempt(desk, ref, journal, trace, [], source, "work", provider)
        said = {**row, "authors": turned(row.get("authors"))} if row is not None else {}
        for name in broken:
            if mends(_plain(fields[name]), _plain(said.get(name))):
                fields[name], repaired[name] = said[name], source
    return (replace(found, fields=fields), repaired) if repaired else (found, {})


def _is_broken(name: str, fields: Mapping[str, Any]) -> bool:
    return bool(quality_of({name: fields.get(name)}))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [to_plain(str(one)) for one in value]
    return to_plain(value) if isinstance(value, str) else None
