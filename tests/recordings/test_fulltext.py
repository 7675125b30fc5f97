"""A text of PubMed Central as recorded, reached over a recorded entry of PubMed."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_a_number_of_pubmed_leads_to_the_text() -> None:
    body = {
        "record": recorded("pubmed/efetch-pmid-38801034.xml"),
        "text": recorded("pubmed/efetch-pmc-jats-correction.xml"),
    }

    rows, requests = replay("pubmed", "fulltext", {"pmid": "38801034"}, body)

    assert [request["query"]["db"] for request in requests] == ["pubmed", "pmc"]
    assert requests[1]["query"]["id"] == "PMC11112658"
    assert len(rows) == 1
    row = rows[0]
    assert row["title"].startswith("“Lung diffusing capacity for nitric oxide measured by two commercial devices")
    assert row["text"].startswith("This article was originally published with an error in table 2.")
    assert row["doi"] == "10.1183/23120541.50193-2021"
    assert row["journal"] == "ERJ Open Research"
    assert row["year"] == 2021
    assert row["url"] == "https://pmc.ncbi.nlm.nih.gov/articles/PMC11112658/"
