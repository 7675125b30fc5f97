"""The Open Data Portal as recorded on 2024-05-22, when its answers were still flat."""

from __future__ import annotations

import json

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

KEY = {"USPTO_API_KEY": "k"}


def test_applications_have_their_parties_days_and_classes() -> None:
    rows, requests = replay("uspto", "patents", {"assignee": "STM"}, recorded("uspto/search-first-3.json"), config=KEY)

    assert [request["post"] for request in requests] == ["https://api.uspto.gov/api/v1/patent/applications/search"]
    assert rows == [
        {
            "number": "US90019500",
            "title": "MULTIPLE-BODY-CONFIGURATION MULTIMEDIA AND SMARTPHONE MULTIFUNCTION WIRELESS DEVICES",
            "url": "https://patentcenter.uspto.gov/applications/90019500",
            "filed": "2024-04-30",
            "status": "Reexam Assigned to Examiner for Determination",
        },
        {
            "number": "US18693690",
            "title": "A METHOD FOR CONDITION MONITORING OF A MOVING MACHINE COMPONENT",
            "url": "https://patentcenter.uspto.gov/applications/18693690",
            "assignee": "Tetra Laval Holdings & Finance S.A.",
            "inventor": "Peter LINDBERG",
            "filed": "2024-03-20",
            "status": "Docketed New Case - Ready for Examination",
            "legal_status": "pending",
            "cpc": ["B65B57/00", "G05B19/4062", "G05B2219/37373", "G05B2219/42271", "G05B2219/43036"],
        },
        {
            "number": "US18693396",
            "title": "COLD-PRESSED SOLID AGGLOMERATE, AND ITS PRODUCTION PROCESS",
            "url": "https://patentcenter.uspto.gov/applications/18693396",
            "assignee": "TECNORED DESENVOLVIMENTO TECNOLOGICO S.A.",
            "inventor": "Ronald Lopes DE OLIVEIRA",
            "filed": "2024-03-19",
            "status": "Docketed New Case - Ready for Examination",
            "legal_status": "pending",
            "cpc": ["C10L5/14", "C08K3/22", "C08L3/02", "C10L2290/30"],
        },
    ]


def test_a_published_application_has_its_number_and_a_page() -> None:
    rows, _ = replay("uspto", "patents", {"query": "tongue"}, recorded("uspto/application-data.json"), config=KEY)

    assert len(rows) == 1
    assert rows[0]["number"] == "US20170071586A1"
    assert rows[0]["url"] == "https://patents.google.com/patent/US20170071586A1"
    assert rows[0]["assignee"] == "The General Hospital Corporation"
    assert rows[0]["status"] == "Abandoned -- Failure to Respond to an Office Action"
    assert rows[0]["legal_status"] == "withdrawn"


def test_nothing_found_is_a_404() -> None:
    body = recorded("uspto/error-404-transactions.json")

    rows, _ = replay("uspto", "patents", {"query": "x"}, body, config=KEY, status=404)

    assert rows == []


def test_a_renamed_list_is_a_changed_layout_and_an_empty_one_an_answer() -> None:
    body = json.loads(recorded("uspto/search-first-3.json"))
    body["files"] = body.pop("patentBag")

    with pytest.raises(Fault) as caught:
        replay("uspto", "patents", {"query": "x"}, body, config=KEY)
    rows, _ = replay("uspto", "patents", {"query": "x"}, {**body, "patentBag": []}, config=KEY)

    assert caught.value.kind == "layout_changed"
    assert rows == []
