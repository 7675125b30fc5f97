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


def answered(args: dict[str, Any], body: bytes, status: int = 200) -> tuple[list[Row], list[Request]]:
    """The rows that the body makes behind a recorded token, and every request."""
    spec = shipped_model().providers["epo"]
    settings, problems = read_settings(spec.settings, KEYS)
    assert not problems
    token = recorded("epo/oauth-accesstoken.json")
    sent: list[Request] = []
    running = perform(spec, spec.operations["patents"], args, settings, clock(NOW))
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


def test_a_bad_token_is_told_after_a_new_one_was_tried() -> None:
    with pytest.raises(Fault) as caught:
        answered({"query": "bricks"}, recorded("epo/error-400-invalid-access-token.xml"), 400)

    assert caught.value.kind == "auth_required"
