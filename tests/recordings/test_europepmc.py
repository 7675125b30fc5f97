"""Europe PMC as recorded in August 2026; the recordings asked for `lite`, so abstracts and links are missing."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

QUERY = {"query": "MLH1 p.Gly67Glu", "num_results": 25}


def test_an_article_has_its_title_doi_authors_and_count() -> None:
    rows, requests = replay("europepmc", "scholarly", QUERY, recorded("europepmc/search-by-pmid.json"))

    assert [request["get"] for request in requests] == ["https://www.ebi.ac.uk/europepmc/webservices/rest/search"]
    assert len(rows) == 1
    row = rows[0]
    assert row["title"] == (
        "Comprehensive analysis of missense variations in the BRCT domain of BRCA1 by structural and functional assays"
    )
    assert row["doi"] == "10.1158/0008-5472.can-09-4563"
    assert row["url"] == "https://doi.org/10.1158/0008-5472.can-09-4563"
    assert row["authors"][0] == "Lee MS"
    assert row["authors"][-1] == "Glover JN"
    assert len(row["authors"]) == 11
    assert row["journal"] == "Cancer Res"
    assert row["year"] == 2010
    assert row["citation_count"] == 133
    assert row["open_access"] is True


def test_a_page_keeps_its_order_and_an_article_without_a_doi_has_a_page() -> None:
    rows, _ = replay("europepmc", "scholarly", QUERY, recorded("europepmc/search-hits-2.json"))

    assert [row["citation_count"] for row in rows] == [4, 39, 30, 12, 13, 0]
    assert [row["year"] for row in rows] == [2022, 2020, 2018, 2009, 2009, 2024]
    assert [row["open_access"] for row in rows] == [True] * 6
    assert rows[5]["url"] == "https://europepmc.org/article/PMC/PMC11627200"
    assert "doi" not in rows[5]
    assert "authors" not in rows[5]


def test_markup_in_titles_goes_whether_it_is_escaped_or_not() -> None:
    rows, _ = replay("europepmc", "scholarly", QUERY, recorded("europepmc/search-several-hits.json"))

    assert [row["doi"] for row in rows][:2] == ["10.3390/cancers16172955", "10.20892/j.issn.2095-3941.2018.0022"]
    assert rows[3]["title"].startswith("Rare, protein-truncating variants in ATM, ")
    assert not any("<" in row["title"] or "&" in row["title"] for row in rows)


def test_a_record_leads_to_its_text_only_when_it_is_open() -> None:
    rows, requests = replay("europepmc", "fulltext", {"pmid": "20516115"}, recorded("europepmc/search-by-pmid.json"))

    assert rows == []
    assert len(requests) == 1
    assert requests[0]["query"]["query"] == "EXT_ID:20516115 AND SRC:MED"


def test_a_text_that_is_not_open_is_not_found() -> None:
    refusal = recorded("europepmc/error-supplementary-not-open-access.xml")
    found = {"hitCount": 1, "resultList": {"result": [{"pmcid": "PMC3040717", "isOpenAccess": "Y"}]}}

    with pytest.raises(Fault) as refused:
        replay("europepmc", "fulltext", {"pmcid": "PMC3040717"}, {"found": found, "text": refusal})

    assert refused.value.kind == "not_found"


def test_a_recorded_text_of_pubmed_central_is_read() -> None:
    document = recorded("pubmed/efetch-pmc-jats-correction.xml").decode()
    article = document[document.index("<article ") : document.index("</article>") + len("</article>")]
    found = {"hitCount": 1, "resultList": {"result": [{"pmcid": "PMC8435807", "isOpenAccess": "Y", "citedByCount": 1}]}}

    rows, requests = replay("europepmc", "fulltext", {"pmcid": "PMC8435807"}, {"found": found, "text": article})

    assert requests[1]["get"] == "https://www.ebi.ac.uk/europepmc/webservices/rest/PMC8435807/fullTextXML"
    assert rows[0]["doi"] == "10.1183/23120541.50193-2021"
    assert rows[0]["citation_count"] == 1
    assert rows[0]["text"].startswith("This article was originally published with an error in table 2.")
