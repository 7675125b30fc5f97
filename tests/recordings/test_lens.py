"""Lens as its publisher documents it: one patent, whole."""

from __future__ import annotations

import json

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

KEY = {"LENS_API_TOKEN": "k"}
ANSWER = "lens/doc-example-patent-search.json"


def test_a_patent_has_its_english_title_names_days_and_status() -> None:
    rows, requests = replay("lens", "patents", {"query": "blood group"}, recorded(ANSWER), config=KEY)

    assert [request["post"] for request in requests] == ["https://api.lens.org/patent/search"]
    assert len(rows) == 1
    abstract = rows[0].pop("abstract")
    assert rows[0] == {
        "number": "EP2471949A1",
        "title": (
            "Method for the identification by molecular techniques of genetic variants "
            "that encode no D antigen (D-) and altered C antigen (C+W)"
        ),
        "url": "https://patents.google.com/patent/EP2471949A1",
        "assignee": "PROGENIKA BIOPHARMA SA",
        "inventor": "OCHOA JORGE",
        "filed": "2010-12-31",
        "granted": "2013-12-25",
        "status": "ACTIVE",
        "legal_status": "active",
        "family": "lens:212482337",
        "family_size": 5,
        "cpc": ["C12Q1/6881", "C12Q2600/156", "A61K35/14"],
    }
    assert abstract.startswith("The invention relates to the field of genotyping")


def test_its_family_and_claims_are_asked_for_by_number() -> None:
    number = {"number": "EP2471949A1"}

    families, _ = replay("lens", "patent_family", number, recorded(ANSWER), config=KEY)
    claims, _ = replay("lens", "patent_claims", number, recorded(ANSWER), config=KEY)

    assert families == [
        {
            "number": "EP2471949A1",
            "family": "lens:212482337",
            "members": [
                *("EP2471949B1 2013-12-25", "EP2471949A1 2012-07-04", "US20120172239A1 2012-07-05"),
                *("ES2445709T3 2014-03-04", "US20160060696A1 2016-03-03"),
            ],
        }
    ]
    assert (claims[0]["language"], len(claims[0]["claims"])) == ("en", 15)
    assert claims[0]["claims"][0].startswith("A method of genotyping a subject, the method comprising: determining")


def test_a_renamed_list_is_a_changed_layout_and_an_empty_one_an_answer() -> None:
    body = json.loads(recorded(ANSWER))
    body["hits"] = body.pop("data")

    with pytest.raises(Fault) as caught:
        replay("lens", "patents", {"query": "x"}, body, config=KEY)
    rows, _ = replay("lens", "patents", {"query": "x"}, {**body, "data": []}, config=KEY)

    assert caught.value.kind == "layout_changed"
    assert rows == []
