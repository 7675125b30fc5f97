"""Open Patent Services as recorded on 2024-05-22: single documents, in the shape that a search has as well."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.authoring.examples.providers import clock
from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.model.values import Row
from specloom.runtime.configuration import read_settings
from specloom.runtime.operation import perform
from tests.support.recordings import NOW, recorded
from tests.support.shipped import shipped_model

KEYS = {"EPO_OPS_CONSUMER_KEY": "k", "EPO_OPS_CONSUMER_SECRET": "s"}


def answered(
    args: dict[str, Any], body: bytes, status: int = 200, *, operation: str = "patents"
) -> tuple[list[Row], list[Request]]:
    """The rows that the body makes behind a recorded token, and every request."""
    spec = shipped_model().providers["epo"]
    settings, problems = read_settings(spec.settings, KEYS)
    assert not problems
    token = recorded("epo/oauth-accesstoken.json")
    sent: list[Request] = []
    running = perform(spec, spec.operations[operation], args, settings, clock(NOW))
    give: Response | None = None
    while True:
        try:
            asked = running.send(give)
        except StopIteration as stop:
            return stop.value.rows, sent
        assert isinstance(asked, Request)
        sent.append(asked)
        assert len(sent) < 10
        is_token = asked.step == "token"
        give = Response(200 if is_token else status, {}, token if is_token else body, asked.url)


def test_a_european_application_has_its_english_title_names_and_days() -> None:
    rows, sent = answered({"number": "EP1000000A1"}, recorded("epo/biblio-ep1000000.xml"))

    assert [one.step for one in sent] == ["token", "main"]
    assert dict(sent[1].query)["q"] == "pn=EP1000000"
    abstract = rows[0].pop("abstract")
    assert rows == [
        {
            "number": "EP1000000A1",
            "title": "Apparatus for manufacturing green bricks for the brick manufacturing industry",
            "url": "https://patents.google.com/patent/EP1000000A1",
            "assignee": "BOER BEHEER NIJMEGEN BV DE",
            "inventor": "KOSMAN WILHELMUS JACOBUS MARIA",
            "filed": "1999-11-08",
            "family": "docdb:19768124",
            "cpc": ["B28B1/29", "B28B5/022", "B28B5/025", "B28B7/0064"],
        }
    ]
    assert abstract.startswith("The invention relates to an apparatus (1) for manufacturing green bricks from clay")
    assert abstract.endswith("on at least one side of the green bricks.")


def test_an_international_application_is_read_as_well() -> None:
    rows, _ = answered({"query": "ceramic filtration"}, recorded("epo/biblio-wo2020081771.xml"))

    assert len(rows) == 1
    assert rows[0]["number"] == "WO2020081771A1"
    assert rows[0]["title"] == "REMOVAL OF WATER CONTAMINANTS USING ENHANCED CERAMIC FILTRATION MATERIALS"
    assert rows[0]["assignee"] == "UWM RES FOUNDATION INC"
    assert rows[0]["inventor"] == "WANG YIN"
    assert rows[0]["filed"] == "2019-10-17"
    assert "granted" not in rows[0]


def test_a_document_without_names_is_an_answer() -> None:
    rows, _ = answered({"query": "bricks"}, recorded("epo/abstract-ep1000000.xml"))

    assert [sorted(row) for row in rows] == [["abstract", "number", "url"]]


def test_numbers_without_documents_are_a_changed_layout() -> None:
    with pytest.raises(Fault) as caught:
        answered({"query": "plastic"}, recorded("epo/search-ti-plastic.xml"))

    assert caught.value.kind == "layout_changed"


def test_the_family_of_a_european_application_has_five_countries() -> None:
    rows, sent = answered({"number": "EP1000000A1"}, recorded("epo/family-ep1000000.xml"), operation="patent_family")

    assert sent[1].url == "https://ops.epo.org/3.2/rest-services/family/publication/docdb/EP.1000000.A1"
    assert rows == [
        {
            "number": "EP1000000A1",
            "family": "docdb:19768124",
            "members": [
                *("EP1000000A1 2000-05-17", "EP1000000B1 2003-02-12", "ATE232441T1 2003-02-15"),
                *("DE69905327D1 2003-03-20", "NL1010536C2 2000-05-15", "US6093011A 2000-07-25"),
            ],
        }
    ]


def test_members_of_the_extended_family_alone_are_left_out() -> None:
    head, tail = recorded("epo/family-ep1000000.xml").split(b"<country>US</country>", 1)
    at = head.rindex(b'family-id="')
    body = head[:at] + b'family-id="1' + head[at + len(b'family-id="') :] + b"<country>US</country>" + tail

    rows, _ = answered({"number": "EP1000000A1"}, body, operation="patent_family")

    assert [one.split()[0] for one in rows[0]["members"]] == [
        *("EP1000000A1", "EP1000000B1", "ATE232441T1", "DE69905327D1", "NL1010536C2")
    ]


def test_claims_of_a_european_application_are_told_one_by_one() -> None:
    rows, sent = answered({"number": "EP1000000A1"}, recorded("epo/claims-ep1000000.xml"), operation="patent_claims")

    assert sent[1].url == "https://ops.epo.org/3.2/rest-services/published-data/publication/docdb/EP.1000000.A1/claims"
    assert (rows[0]["number"], rows[0]["language"], len(rows[0]["claims"])) == ("EP1000000A1", "en", 11)
    assert rows[0]["claims"][0].startswith("1. Apparatus for manufacturing green bricks from clay")
    assert rows[0]["claims"][-1].startswith("11. Apparatus as claimed in claim 10, wherein the conveyor")


def test_a_bad_token_is_told_after_a_new_one_was_tried() -> None:
    with pytest.raises(Fault) as caught:
        answered({"query": "bricks"}, recorded("epo/error-400-invalid-access-token.xml"), 400)

    assert caught.value.kind == "auth_required"
