"""Recorded answers whose list goes by another name: a changed layout for every provider, and never an empty answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

KEYS = {
    "brave": {"BRAVE_API_KEY": "k"},
    "exa": {"EXA_API_KEY": "k"},
    "google": {"GOOGLE_CUSTOM_SEARCH_API_KEY": "k", "GOOGLE_CUSTOM_SEARCH_ID": "cx"},
    "serper": {"SERPER_API_KEY": "k"},
    "tavily": {"TAVILY_API_KEY": "k"},
}
LISTS = [
    ("brave", "web", "brave/web.json", ["web", "results"]),
    ("brave", "web", "brave/web.json", ["web"]),
    ("brave", "images", "brave/images.json", ["results"]),
    ("brave", "news", "brave/news.json", ["results"]),
    ("exa", "web", "exa/search-with-text.json", ["results"]),
    ("exa", "news", "exa/search-with-text.json", ["results"]),
    ("google", "web", "google-cse/search-page1.json", ["items"]),
    ("google", "images", "google-cse/search-page1.json", ["items"]),
    ("google", "news", "google-cse/search-page1.json", ["items"]),
    ("serper", "web", "serper/search.json", ["organic"]),
    ("serper", "images", "serper/images.json", ["images"]),
    ("serper", "news", "serper/news.json", ["news"]),
    ("tavily", "web", "tavily/search-basic.json", ["results"]),
    ("tavily", "news", "tavily/search-basic.json", ["results"]),
]


def changed(name: str, path: list[str], put: dict[str, Any]) -> dict[str, Any]:
    """The recorded answer with other keys in the place of the last one of the path."""
    body: dict[str, Any] = json.loads(recorded(name))
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    holder.update(put)
    return body


@pytest.mark.parametrize(("provider", "operation", "name", "path"), LISTS)
def test_a_renamed_list_is_a_changed_layout(provider: str, operation: str, name: str, path: list[str]) -> None:
    body = changed(name, path, {"renamed": [{"title": "T", "url": "https://example.org/"}]})

    with pytest.raises(Fault) as caught:
        replay(provider, operation, {"query": "x"}, body, config=KEYS[provider])

    assert caught.value.kind == "layout_changed"


# Google leaves an empty list out, and Brave's web part is no list.
@pytest.mark.parametrize(
    ("provider", "operation", "name", "path"), [one for one in LISTS if one[0] != "google" and one[3] != ["web"]]
)
def test_an_empty_list_is_an_empty_answer(provider: str, operation: str, name: str, path: list[str]) -> None:
    body = changed(name, path, {path[-1]: []})

    rows, _ = replay(provider, operation, {"query": "x"}, body, config=KEYS[provider])

    assert rows == []


def test_a_page_of_videos_alone_is_an_empty_answer_for_the_web() -> None:
    body = changed("brave/web.json", ["web"], {"mixed": {"type": "mixed", "main": [{"type": "videos", "all": True}]}})

    rows, _ = replay("brave", "web", {"query": "x"}, body, config=KEYS["brave"])

    assert rows == []
