"""Whether the authors of a citation are those of a record."""

from __future__ import annotations

from collections.abc import Sequence

from specloom.trust.bibliography.names import Name, to_display
from specloom.trust.folding import compact, find_script
from specloom.trust.judgements import Judgement, Record
from specloom.trust.people import same_person, stands_in
from specloom.trust.references import Reference
from specloom.trust.words import to_word_set


def compare_authors(reference: Reference, record: Record) -> Judgement:
    """Whether the authors of a reference are authors of a record; the order of the later ones does not matter."""
    supplied, recorded = (tuple(filter(_is_named, names)) for names in (reference.authors, record.authors))
    shown, known = _show(supplied), _show(recorded)
    if not recorded:
        return Judgement("authors", "not_checked", shown, known, "the record names no authors")
    # What reads as a name in loose text may be more than one ("as Doe et al. showed"), or none.
    inside = next((name for name in recorded if _is_named_in(name, reference, record)), None)
    if not supplied:
        if inside is not None:
            return Judgement("authors", "match", inside.family, known, "the text names an author of the record")
        return Judgement("authors", "not_checked", shown, known, "no authors were supplied")
    if any(same_person(supplied[0], name) for name in recorded):
        first = same_person(supplied[0], recorded[0])
        reason = "the first author is the same" if first else "the first author supplied is a later one of the record"
        return Judgement("authors", "match", shown, known, reason)
    if any(same_person(one, two) for one in supplied for two in recorded):
        return Judgement("authors", "match", shown, known, "a later author is the same")
    if inside is not None:
        return Judgement("authors", "match", inside.family, known, "the text names an author of the record")
    if any(not name.given for name in (*supplied, *recorded)):
        corporate = any(not name.given and " " in name.family for name in (*supplied, *recorded))
        if corporate:
            return Judgement("authors", "not_checked", shown, known, "an organisation may sign for the people in it")
    if {find_script(name.family) for name in supplied}.isdisjoint(find_script(name.family) for name in recorded):
        return Judgement("authors", "not_checked", shown, known, "the names are in different scripts")
    return Judgement("authors", "mismatch", shown, known, "none of the supplied authors is one of the record")


def _is_named_in(name: Name, reference: Reference, record: Record) -> bool:
    """Whether loose text names an author; a name that is a word of the title (Brown, on brown rice) does not count."""
    if reference.title_sign == "field" or any(stands_in(name, title) for title in record.titles):
        return False
    return stands_in(name, reference.text)


_NOBODY = to_word_set("anonymous anon author authors editor editors na staff unknown various noauthor")


def _is_named(name: Name) -> bool:
    """Whether a name is somebody's, and not what lists write where nobody signed."""
    return any(character.isalpha() for character in name.family) and compact(to_display(name)) not in _NOBODY


def _show(names: Sequence[Name]) -> str:
    shown = "; ".join(f"{name.family}, {name.given}" if name.given else name.family for name in names[:5])
    return f"{shown}; and {len(names) - 5} more" if len(names) > 5 else shown
