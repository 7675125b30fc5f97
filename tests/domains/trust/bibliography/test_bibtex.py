"""The records of a bibliography as they stand there: fields are neither decoded nor brought into one form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.domains.trust.bibliography.documents import split_records
from specloom.plugins.registry import PROCEDURES


def records(document: str, format_: str) -> list[dict[str, Any]]:
    """What the procedure gives; it asks nobody, so that it needs no context."""
    run = PROCEDURES["bibliography_records"].function(None, {"document": document, "format": format_})  # type: ignore[arg-type]
    found: list[dict[str, Any]] = asyncio.run(run)["records"]  # type: ignore[arg-type]
    return found


def test_bibtex_keeps_case_and_commands() -> None:
    text = '@string{w = "Weir"}\n@Article{Otter, DOI = {10.1234/A\\_b--C}, publisher = w # " Press"}\n@book{broken'

    whole, broken = records(text, "bibtex")

    assert whole == {
        "line": 2,
        "fields": {"doi": "10.1234/A\\_b--C", "publisher": "Weir Press", "type": "article", "key": "Otter"},
        "problem": "",
    }
    assert (broken["line"], broken["fields"]) == (3, {})


def test_csl_json_gives_its_items_as_they_are() -> None:
    assert records('[{"DOI": "10.1234/A", "x": [1]}, 7]', "auto") == [
        {"line": 1, "fields": {"DOI": "10.1234/A", "x": [1]}, "problem": ""},
        {"line": 2, "fields": 7, "problem": ""},
    ]


@pytest.mark.parametrize(
    ("text", "format_", "sentence"),
    [
        ("TY  - JOUR\nER  - \n", "auto", "records of RIS have no fields by name"),
        ("otters", "auto", "the bibliography is none of csl-json, ris, bibtex"),
        ("otters", "endnote", "unknown bibliography format 'endnote'"),
        ("x" * 1_000_001, "bibtex", "the bibliography is longer than 1000000 characters"),
        ("@article{a,\n" * 5001, "bibtex", "the bibliography has more than 5000 entries"),
    ],
)
def test_what_is_not_to_be_read_is_refused(text: str, format_: str, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence) as caught:
        list(split_records(text, format_))

    assert caught.value.kind == "validation"
