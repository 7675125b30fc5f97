"""Unpaywall as recorded between 2025-08-11 and 2025-09-23."""

from __future__ import annotations

from specloom.model.values import Row
from tests.support.recordings import recorded, replay

CONFIG = {"UNPAYWALL_EMAIL": "ann@example.org"}


def look_up(doi: str, name: str) -> list[Row]:
    """The rows for one DOI from its recorded answer."""
    return replay("unpaywall", "open_access", {"doi": doi}, recorded(f"unpaywall/{name}.json"), config=CONFIG)[0]


def test_a_gold_paper_has_a_page_and_a_licence_but_not_always_a_pdf() -> None:
    assert look_up("10.1016/j.xgen.2025.100814", "doi-gold") == [
        {
            "doi": "10.1016/j.xgen.2025.100814",
            "open_access": True,
            "page_url": "https://doi.org/10.1016/j.xgen.2025.100814",
            "status": "gold",
            "version": "publishedVersion",
            "license": "cc-by",
            "is_in_doaj": True,
        }
    ]


def test_a_hybrid_paper_is_open_in_a_journal_that_is_not() -> None:
    (row,) = look_up("10.1016/j.addr.2015.01.008", "doi-green-multiple-locations")

    assert row["open_access"] is True
    assert row["status"] == "hybrid"
    assert row["license"] == "cc-by-nc-nd"
    assert row["is_in_doaj"] is False
    assert "pdf_url" not in row


def test_a_closed_paper_is_known_to_be_closed() -> None:
    assert look_up("10.1023/a:1007154515475", "doi-closed-old") == [
        {"doi": "10.1023/a:1007154515475", "open_access": False, "status": "closed", "is_in_doaj": False}
    ]
