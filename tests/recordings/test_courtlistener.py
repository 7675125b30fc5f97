"""CourtListener as recorded on 2026-07-07; the recording holds two of the page's opinions."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_an_opinion_has_its_first_citation_and_its_page() -> None:
    rows, requests = replay(
        "courtlistener",
        "cases",
        {"query": "miranda", "jurisdiction": "cal", "num_results": 2},
        recorded("courtlistener/search-opinions.json"),
    )

    assert [request["get"] for request in requests] == ["https://www.courtlistener.com/api/rest/v4/search/"]
    assert requests[0]["query"] == {"type": "o", "q": "miranda", "court": "cal"}
    assert rows == [
        {
            "case_name": "People v. Miranda-Guerrero",
            "url": "https://www.courtlistener.com/opinion/8512159/people-v-miranda-guerrero/",
            "citation": "519 P.3d 1004",
            "citations": ["519 P.3d 1004", "301 Cal. Rptr. 3d 15", "14 Cal. 5th 1"],
            "court": "California Supreme Court",
            "court_id": "cal",
            "date_filed": "2022-11-17",
            "docket_number": "S118147",
            "citation_count": 35,
        },
        {
            "case_name": "In Re Miranda",
            "url": "https://www.courtlistener.com/opinion/2567623/in-re-miranda/",
            "citation": "182 P.3d 513",
            "citations": ["182 P.3d 513", "76 Cal. Rptr. 3d 172", "43 Cal. 4th 541", "2008 Cal. LEXIS 4819"],
            "court": "California Supreme Court",
            "court_id": "cal",
            "date_filed": "2008-05-05",
            "docket_number": "S058528, S060781",
            "citation_count": 19,
        },
    ]


def test_no_more_opinions_than_were_asked_for() -> None:
    rows, _ = replay(
        "courtlistener",
        "cases",
        {"query": "miranda", "num_results": 1},
        recorded("courtlistener/search-opinions.json"),
    )

    assert [row["case_name"] for row in rows] == ["People v. Miranda-Guerrero"]
