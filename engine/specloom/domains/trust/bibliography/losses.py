"""What a format has no place for: found by reading what was written, so that no list of fields can be out of date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from specloom.domains.text import Name

from .csl import VARIABLES
from .documents import parse_bibliography
from .entry import BibliographyEntry, find_path

READ_AS = {"biblatex": "bibtex"}
"""Formats that are read under the name of another."""
_NAMES: Mapping[str, str] = {
    **{name: variable for variable, name in VARIABLES.items()},
    "kind": "type",
    "issued": "issued",
    "dated": "issued",
    "authors": "author",
    "editors": "editor",
    "translators": "translator",
    "keywords": "keyword",
    "key": "citation-key",
    "unnamed": "et-al",
}
"""What CSL calls the fields of an entry; those that it has no name for stand under ours."""
_NOBODY_WROTE = ("text",)


def find_losses(entries: Sequence[BibliographyEntry], text: str, format_: str) -> dict[str, int]:
    """How many of the entries, of which `text` was made in their order, lost or changed a field, by its name in CSL.

    Particles of names that are merely no longer told apart from them are `name-particle`.
    """
    if not entries:
        return {}
    read = parse_bibliography(text, READ_AS.get(format_, format_), is_linked=False)
    if len(read.entries) != len(entries):
        return {"entry": abs(len(entries) - len(read.entries))}
    lost: Counter[str] = Counter()
    for before, after in zip(entries, read.entries, strict=True):
        lost.update(set(_compare(before, after)))
    return dict(sorted(lost.items()))


def _compare(before: BibliographyEntry, after: BibliographyEntry) -> list[str]:
    names: list[str] = []
    for field in fields(BibliographyEntry):
        if field.name in _NOBODY_WROTE:
            continue
        old, new = getattr(before, field.name), getattr(after, field.name)
        if field.name in ("roles", "more"):
            kept = dict(new)
            names += [name for name, value in old if kept.get(name) != value]
        elif field.name == "files":
            # Some formats have the paths alone.
            names += ["files"] if [*map(find_path, old)] != [*map(find_path, new)] else []
        elif old and old != new:
            is_parted = field.name in ("authors", "editors", "translators") and _join(old) == _join(new)
            names.append("name-particle" if is_parted else _NAMES.get(field.name, field.name))
    return names


def _join(names: Sequence[Name]) -> list[Any]:
    return [replace(name, particle="", dropped="") for name in names]
