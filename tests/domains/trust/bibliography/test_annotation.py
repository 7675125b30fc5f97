"""A bibliography with notes: the findings stand in it, and nothing else of it changes."""

from __future__ import annotations

import json

import pytest

from specloom.domains.trust.bibliography.annotation import annotate
from specloom.domains.trust.bibliography.documents import parse_bibliography

NOTE = "audit of 2026-01-01: retracted; 100 % of {it} & more"
BIB = """% mine
@article{Otter_21:a, title = {Otters swim},
  annote = {my own},
  author = {Otter, Ann}}
@book{b&1,title={Weirs}}  @misc{c, title={Third}}
@article{broken, title={x
@misc{d, title={Fourth}}
"""
RIS = "TY  - JOUR\r\nTI  - Otters swim\r\nER  - \r\n\r\nTY  - BOOK\r\nTI  - Weirs\r\nER  - \r\n"
NBIB = "PMID- 1\nTI  - Otters swim\n\nPMID- 2\nTI  - Weirs\n"
CSL = '[{"id": "o", "title": "Otters swim", "annote": "my own", "x": [1]}, {"id": "w", "title": "Weirs"}]'
XML = "<xml><records><record><titles><title>Otters swim</title></titles></record></records></xml>"
MINE = '{"itemType": "book", "title": "Otters", "notes": [{"note": "<p>my own</p>"}]}'
ITEMS = f'[{MINE}, {{"itemType": "map", "title": "W"}}]'
TEXT = "References\n\n[1] Otter A. Otters swim in rivers. 2020.\n\n[2] Weir B. Weirs of the north\n    and south. 2021."


def noted(document: str, format_: str, *indexes: int) -> str:
    parsed = parse_bibliography(document, format_)
    lines = dict(parsed.places)
    return annotate(document, format_, dict.fromkeys(indexes, NOTE), lines)


@pytest.mark.parametrize(
    ("document", "format_"),
    [
        (BIB, "bibtex"),
        (RIS, "ris"),
        (NBIB, "nbib"),
        (CSL, "csl-json"),
        (XML, "endnote-xml"),
        (ITEMS, "zotero-json"),
        (TEXT, "text"),
    ],
)
def test_an_entry_with_a_note_is_read_as_it_was(document: str, format_: str) -> None:
    before, after = parse_bibliography(document, format_), parse_bibliography(noted(document, format_, 0), format_)

    assert [(one.key, one.title, one.authors) for one in after.entries] == [
        (one.key, one.title, one.authors) for one in before.entries
    ]
    assert len(after.problems) == len(before.problems)
    assert "retracted" in noted(document, format_, 0)


@pytest.mark.parametrize("format_", ["bibtex", "ris", "nbib", "text"])
def test_a_document_without_findings_stays_as_it_is(format_: str) -> None:
    document = {"bibtex": BIB, "ris": RIS, "nbib": NBIB, "text": TEXT}[format_]

    assert noted(document, format_) == document


def test_notes_of_bibtex_stand_behind_the_key_of_their_entry_and_cannot_end_it() -> None:
    text = noted(BIB, "bibtex", 0, 2, 4)

    assert "@article{Otter_21:a,\n  audit = {audit of 2026-01-01: retracted; 100 \\% of" in text
    assert "  annote = {my own},\n" in text
    assert "@misc{c,\n  annote = {audit of" in text
    assert "@misc{d,\n  annote = {audit of" in text
    assert "@book{b&1,title={Weirs}}" in text


def test_notes_of_others_stand_where_they_have_the_readers_own() -> None:
    assert noted(RIS, "ris", 1).endswith(f"TI  - Weirs\r\nN1  - {NOTE}\nER  - \r\n")
    assert noted(NBIB, "nbib", 0).startswith(f"PMID- 1\nTI  - Otters swim\nGN  - {NOTE}\n\nPMID- 2")
    assert json.loads(noted(CSL, "csl-json", 0))[0] == {
        "id": "o", "title": "Otters swim", "annote": f"my own\n{NOTE}", "x": [1],
    }  # fmt: skip
    assert noted(TEXT, "text", 1).endswith(f"    and south. 2021.\n    [{NOTE}]\n")
    assert noted(XML, "endnote-xml", 0).count("<research-notes>") == 1


def test_notes_of_items_of_zotero_stand_beside_those_of_the_reader() -> None:
    first, second = json.loads(noted(ITEMS, "zotero-json", 0))

    assert first["notes"] == [
        {"note": "<p>my own</p>"},
        {"note": "<p>audit of 2026-01-01: retracted; 100 % of {it} &amp; more</p>"},
    ]
    assert "notes" not in second


def test_a_note_of_an_item_in_the_envelope_of_the_web_api_stands_in_its_data() -> None:
    document = f'[{{"key": "ABCD2345", "data": {MINE}}}, {{"key": "K", "data": {{"itemType": "map", "title": "W"}}}}]'
    text = noted(document, "zotero-json", 0, 1)

    assert [set(item) for item in json.loads(text)] == [{"key", "data"}] * 2
    assert [entry.annote for entry in parse_bibliography(text).entries] == [f"my own\n\n{NOTE}", NOTE]
