"""Headings of a PDF page are told by their size, their weight, their number or the outline, and nothing else is one."""

from __future__ import annotations

import pytest

from specloom.domains.scrape.documents import read as documents
from tests.support.documents import Text, lines, make_pdf

pytest.importorskip("pypdfium2")

PROSE = [
    "The bridge over the harbour was opened on Tuesday after ten",
    "years of work. It carries two tracks and a path for people",
    "who walk, and it replaces the ferry that had been there.",
]


def read(body: bytes) -> str:
    return documents.read(body, "application/pdf", "").text


def test_large_text_numbers_and_the_outline_make_headings() -> None:
    page = [
        (60, 760, 20, "On bridges"),
        (60, 730, 10, "1 Materials used"),
        *lines(PROSE),
        (60, 640, 10, "Costs"),
        *lines(PROSE, top=610),
    ]

    text = read(make_pdf([page], outline=[(0, "Costs")]))

    assert "## On bridges" in text
    assert "### 1 Materials used" in text
    assert "## Costs\n" in text


def test_bold_lines_above_prose_are_headings() -> None:
    page = [
        *lines(["What it costs"], top=730),
        *lines(PROSE, top=714),
        (60, 660, 10, "How it"),
        (60, 648, 10, "was built"),
    ]

    text = read(make_pdf([[*page, *lines(PROSE, top=634)]], bold={"What it costs", "How it", "was built"}))

    assert "### What it costs\n\nThe bridge" in text
    assert "### How it was built\n\nThe bridge" in text


@pytest.mark.parametrize(
    ("page", "bold"),
    [
        ([*lines(["Table 1: Costs"], top=730), *lines(PROSE, top=714)], {"Table 1: Costs"}),
        ([*lines(["It was said that:"], top=730), *lines(PROSE, top=714)], {"It was said that:"}),
        ([*lines(["Total"], top=730), *lines(["of 7"], top=714), *lines(PROSE, top=640)], {"Total"}),
        ([*lines(["Ends", *PROSE[:1]], top=730), (60, 640, 10, "Foot"), *lines(PROSE, top=690)], {"Foot"}),
        ([(60, 730, 10, "The fee"), (300, 730, 10, "is thirty crowns for each"), *lines(PROSE)], {"The fee"}),
        ([*lines(PROSE, top=714), *lines(["Small print"], top=640)], set(PROSE)),
        ([*lines([*PROSE, *PROSE, *PROSE, *PROSE], top=714)], set(PROSE)),
    ],
)
def test_what_is_bold_and_no_heading_stays_text(page: list[Text], bold: set[str]) -> None:
    assert "#" not in read(make_pdf([page], bold=bold))


def test_numbered_headings_below_each_other_are_two() -> None:
    page = [(60, 760, 14, "1 Materials"), (60, 742, 14, "1.1 Stone"), *lines(PROSE)]

    assert "### 1 Materials\n\n### 1.1 Stone\n\nThe bridge" in read(make_pdf([page]))
