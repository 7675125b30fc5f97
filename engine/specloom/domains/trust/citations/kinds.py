"""What kind of work a citation is of, as far as it tells whether the indexes that are asked would have it.

An index that lists articles says nothing about a statute by not having it, and little about a book in Chinese: only
where a citation is of what they cover does their silence mean that somebody who would know has nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from specloom.core import load_table
from specloom.domains.text import find_script, terms

from .reference import Reference

_TABLE = load_table(__file__, "kinds.yaml")
_KINDS = tuple((kind["says"], re.compile("|".join(f"(?:{each})" for each in kind["any"]))) for kind in _TABLE["kinds"])
_LONGEST = 2000
# So many words of substance make a title by which a work would be found.
_FEWEST_TERMS = 3
_WELL_COVERED = 1950
"""The year from which on registers have nearly every article in a journal; of older ones they have what publishers have
digitised. Of judging_not_found.yaml, four real works from 1543 to 1898 were called not found without this."""


def find_uncovered(text: str, years: Collection[int] = ()) -> str:
    """Why the silence of scholarly indexes says nothing about a citation; "" where nothing speaks for that."""
    text = text[:_LONGEST]
    if years and max(years) < _WELL_COVERED:
        return f"the indexes that were asked have few works from before {_WELL_COVERED}"
    script = find_script(text)
    if script not in ("LATIN", ""):
        return f"the indexes that were asked hardly cover works in {_name(script)} script"
    kind = next((says for says, pattern in _KINDS if pattern.search(text)), "")
    return f"it reads like {kind}, which the indexes that were asked do not list" if kind else ""


def _name(script: str) -> str:
    return "Chinese, Japanese or Korean" if script == "CJK" else script.capitalize()


def is_covered(reference: Reference, venue: str = "") -> bool:
    """Whether a reference gives what an article in a journal has, so that the indexes would have it: all four parts.

    `venue` is where it appeared, where that is known beside the reference.
    """
    titled = len(terms(reference.title)) >= _FEWEST_TERMS
    return titled and bool(reference.authors and reference.years and (reference.venue or venue))
