"""arXiv as recorded on 2026-04-12; the recordings spell some accents in a broken way, which is theirs."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

QUERY = {"query": "testing", "num_results": 10}


def test_a_page_of_preprints_has_titles_years_and_dois() -> None:
    rows, requests = replay("arxiv", "scholarly", QUERY, recorded("arxiv/search-10.xml"))

    assert [request["get"] for request in requests] == ["https://export.arxiv.org/api/query"]
    assert requests[0]["query"]["search_query"] == "all:testing"
    assert len(rows) == 10
    first = rows[0]
    assert first["title"] == "Testing Deep Learning Models: A First Comparative Study of Multiple Testing Techniques"
    assert first["url"] == "https://arxiv.org/abs/2202.12139v1"
    assert first["pdf_url"] == "https://arxiv.org/pdf/2202.12139v1"
    assert first["doi"] == "10.1109/ICSTW55395.2022.00035"
    assert first["authors"] == ["Mohit Kumar Ahuja", "Arnaud Gotlieb", "Helge Spieker"]
    assert first["journal"].startswith("Artificial Intelligence in Software Testing @ 2022 IEEE")
    assert first["abstract"].startswith("Deep Learning (DL) has revolutionized the capabilities")
    assert [row["year"] for row in rows] == [2022, 2024, 2020, 2022, 2023, 2012, 2025, 2012, 2025, 2018]
    assert all(row["open_access"] for row in rows)


def test_a_preprint_without_a_published_doi_has_that_of_arxiv_without_a_version() -> None:
    rows, _ = replay("arxiv", "scholarly", QUERY, recorded("arxiv/search-10.xml"))

    assert rows[6]["url"] == "https://arxiv.org/abs/2503.05378v2"
    assert rows[6]["doi"] == "10.48550/arXiv.2503.05378"
    assert rows[6]["journal"] == "arXiv"


def test_an_old_id_keeps_its_archive_in_the_doi() -> None:
    rows, _ = replay("arxiv", "scholarly", QUERY, recorded("arxiv/id-old-style.xml"))

    assert len(rows) == 1
    assert rows[0]["doi"] == "10.48550/arXiv.astro-ph/0601001"
    assert rows[0]["journal"] == "ActaAstron.56:1-50,2006"
    assert rows[0]["year"] == 2006
    assert rows[0]["authors"] == ["Andrew Gould", "Susan Dorsher", "B. Scott Gaudi", "Andrzej Udalski"]


def test_forty_authors_are_all_there() -> None:
    rows, _ = replay("arxiv", "scholarly", QUERY, recorded("arxiv/id-two.xml"))

    assert len(rows) == 1
    assert rows[0]["year"] == 2017
    assert rows[0]["authors"][0] == "Kees A. Schouhamer Immink"
    assert len(rows[0]["authors"]) == recorded("arxiv/id-two.xml").count(b"<name>")


def test_a_feed_without_entries_is_an_empty_answer() -> None:
    assert replay("arxiv", "scholarly", QUERY, recorded("arxiv/id-empty.xml"))[0] == []


def test_a_refusal_is_told_in_its_own_words() -> None:
    with pytest.raises(Fault) as refused:
        replay("arxiv", "scholarly", QUERY, recorded("arxiv/error-400-bad-id.xml"), status=400)

    assert refused.value.kind == "bad_request"
    assert refused.value.message == "arXiv refuses the query: incorrect id format for abc"
