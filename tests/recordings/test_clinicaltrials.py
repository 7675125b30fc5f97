"""ClinicalTrials.gov as recorded on 2026-08-11, by a client that did not ask whether there are results."""

from __future__ import annotations

from tests.support.recordings import recorded, replay

SYNDROME = {"condition": "Phelan-McDermid Syndrome", "num_results": 5}


def test_studies_have_their_sponsor_their_phases_and_their_page() -> None:
    rows, requests = replay("clinicaltrials", "trials", SYNDROME, recorded("clinicaltrials/search-page1.json"))

    assert [request["get"] for request in requests] == ["https://clinicaltrials.gov/api/v2/studies"]
    assert requests[0]["query"]["query.cond"] == "Phelan-McDermid Syndrome"
    assert requests[0]["query"]["pageSize"] == "5"
    assert len(rows) == 5
    assert rows[1] == {
        "nct_id": "NCT05105685",
        "title": "Effectiveness of Recombinant Human Growth Hormone Therapy for Children With PMS",
        "status": "COMPLETED",
        "phases": ["PHASE1", "PHASE2"],
        "conditions": ["Phelan-McDermid Syndrome", "Growth Hormone Treatment"],
        "interventions": ["recombinant human growth hormone", "Saline"],
        "sponsor": "Affiliated Hospital of Jiangnan University",
        "start_date": "2020-06-14",
        "completion_date": "2021-06-08",
        "enrollment": 6,
        "url": "https://clinicaltrials.gov/study/NCT05105685",
    }


def test_a_start_that_is_known_to_the_month_stays_so() -> None:
    rows, _ = replay("clinicaltrials", "trials", SYNDROME, recorded("clinicaltrials/search-page1.json"))

    assert [row["start_date"] for row in rows] == ["2016-04-29", "2020-06-14", "2012-02", "2018-05-30", "2025-09-01"]


def test_status_and_phases_are_in_the_words_of_the_registry() -> None:
    rows, _ = replay("clinicaltrials", "trials", SYNDROME, recorded("clinicaltrials/search-next-page.json"))

    assert [row["status"] for row in rows] == [
        "COMPLETED",
        "ENROLLING_BY_INVITATION",
        "ACTIVE_NOT_RECRUITING",
        "COMPLETED",
        "RECRUITING",
    ]
    assert [row["phases"] for row in rows] == [["PHASE2"], ["NA"], ["PHASE1"], ["PHASE2"], ["PHASE3"]]


def test_a_count_beside_the_studies_changes_nothing() -> None:
    rows, _ = replay("clinicaltrials", "trials", {"query": "pain"}, recorded("clinicaltrials/search-total-count.json"))

    assert [row["nct_id"] for row in rows] == ["NCT01595035"]
    assert rows[0]["conditions"] == ["Postoperative Pain", "Chronic Pain"]
