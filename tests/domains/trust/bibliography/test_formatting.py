"""Entries reach their format as their fields are, and a long list of people does not hold the event loop."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from types import FrameType

from specloom.domains.trust.bibliography.entry import BibliographyEntry, Name
from specloom.domains.trust.bibliography.formatting import serialise_entries

FULL = BibliographyEntry(
    title="Où vont les loutres ?",
    authors=(Name(family="Weir", given="Ada"), Name("River Board")),
    issued=(2020, 3, 1),
    editors=(Name(family="Lake"),),
    roles=(("composer", (Name(family="Dam"),)),),
    keywords=("otters", "weirs"),
)


def test_entries_are_in_json_as_their_fields_are() -> None:
    assert json.loads(serialise_entries([FULL, BibliographyEntry()])) == json.loads(
        json.dumps([asdict(FULL), asdict(BibliographyEntry())])
    )
    assert json.loads(serialise_entries([])) == []


def test_a_person_of_a_long_list_costs_a_call_or_two() -> None:
    people = 2000
    entry = BibliographyEntry(title="Otters", authors=tuple(Name(family=f"Weir {at}") for at in range(people)))
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        serialise_entries([entry])
    finally:
        sys.setprofile(before)

    assert people <= calls <= 3 * people
