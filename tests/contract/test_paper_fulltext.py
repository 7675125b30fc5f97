"""paper_fulltext keeps its contract."""

from __future__ import annotations

from tests.support.shipped import shipped_model


def test_archives_of_open_texts_are_asked_before_the_aggregator() -> None:
    assert shipped_model().capabilities["fulltext"].order == ("europepmc", "pubmed", "core")
