"""Wikidata as recorded by others; no recorded answer of the query service is about a parent organisation."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

BINDINGS = {
    "results": {
        "bindings": [
            {
                "owner": {"type": "uri", "value": "http://www.wikidata.org/entity/Q7414"},
                "ownerLabel": {"xml:lang": "en", "type": "literal", "value": "The Walt Disney Company"},
            }
        ]
    }
}


def test_the_best_known_thing_of_a_name_is_asked_about() -> None:
    entities = recorded("wikidata/wbsearchentities.json")
    rows, requests = replay("wikidata", "ownership", {"company": "abc"}, {"entities": entities, "owners": BINDINGS})

    assert [one["get"] for one in requests] == [
        "https://www.wikidata.org/w/api.php",
        "https://query.wikidata.org/sparql",
    ]
    assert "wd:Q169889 wdt:P749" in requests[1]["query"]["query"]
    assert rows[0] == {
        "entity_id": "Q169889",
        "entity": "American Broadcasting Company",
        "description": "American broadcast television network",
        "owner_id": "Q7414",
        "owner": "The Walt Disney Company",
    }


def test_a_name_that_nothing_bears_asks_for_no_owner() -> None:
    rows, requests = replay("wikidata", "ownership", {"company": "x"}, recorded("wikidata/wbsearchentities-empty.json"))

    assert (rows, len(requests)) == ([], 1)


@pytest.mark.parametrize(
    ("name", "kind"), [("error-maxlag", "upstream_unavailable"), ("error-no-such-entity", "bad_request")]
)
def test_errors_inside_a_200_are_told(name: str, kind: str) -> None:
    body = recorded(f"wikidata/{name}.json")

    with pytest.raises(Fault) as caught:
        replay("wikidata", "ownership", {"company": "x"}, body)

    assert caught.value.kind == kind


def test_answers_of_the_query_service_about_other_things_are_a_changed_layout() -> None:
    bodies = {
        "entities": recorded("wikidata/wbsearchentities.json"),
        "owners": recorded("wikidata/sparql-statements.json"),
    }

    with pytest.raises(Fault) as caught:
        replay("wikidata", "ownership", {"company": "abc"}, bodies)

    assert caught.value.kind == "layout_changed"
