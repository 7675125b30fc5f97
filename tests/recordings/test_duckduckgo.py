"""DuckDuckGo's page as recorded on 2025-08-20."""

from __future__ import annotations

import re

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay
from tests.support.shipped import shipped_model

PAGE = "duckduckgo/html-search.html"
QUERY = "golang programming language"


def test_results_are_read_from_the_page() -> None:
    rows, requests = replay("duckduckgo", "web", {"query": QUERY}, recorded(PAGE))

    assert requests[0]["get"] == "https://html.duckduckgo.com/html/"
    assert requests[0]["query"] == {"q": QUERY}
    assert len(rows) == 10
    assert rows[0] == {
        "title": "The Go Programming Language",
        "url": "https://go.dev/",
        "snippet": (
            "Go is an open source programming language that makes it simple to build secure, scalable systems."
        ),
        "display_link": "go.dev",
    }
    assert rows[1]["url"] == "https://en.wikipedia.org/wiki/Go_(programming_language)"
    assert rows[2]["url"] == (
        "https://www.geeksforgeeks.org/go-language/golang-tutorial-learn-go-programming-language/"
    )
    assert rows[7]["title"] == "The Go programming language — everything you should know"
    assert rows[9]["snippet"].endswith("Learn more about Go and what it's used for.")


def test_no_more_rows_come_than_were_asked_for() -> None:
    rows, _ = replay("duckduckgo", "web", {"query": QUERY, "num_results": 3}, recorded(PAGE))

    assert [row["display_link"] for row in rows] == ["go.dev", "en.wikipedia.org", "www.geeksforgeeks.org"]


def test_every_region_and_time_is_a_choice_of_the_page() -> None:
    choices = set(re.findall(r'<option value="([a-z-]+)"', recorded(PAGE).decode()))
    tables = shipped_model().providers["duckduckgo"].tables

    assert set(tables["region"].values()) <= choices
    assert set(tables["since"].values()) <= choices


def test_every_country_of_the_page_has_a_region() -> None:
    choices = set(re.findall(r'<option value="([a-z]{2})-[a-z]{2,3}"', recorded(PAGE).decode()))
    regions = {region[:2] for region in shipped_model().providers["duckduckgo"].tables["region"].values()}

    assert choices - regions == {"ct"}, "Catalonia is no country of ISO 3166-1"


def test_the_page_without_its_results_is_a_changed_layout() -> None:
    body = recorded(PAGE).replace(b"result__a", b"res-a")

    with pytest.raises(Fault) as caught:
        replay("duckduckgo", "web", {"query": QUERY}, body)

    assert caught.value.kind == "layout_changed"
