"""Scores follow the contract's weights and bands."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.records import Scores
from specloom.domains.scrape.search.rank import score, score_content, score_freshness, score_relevance
from specloom.plugins.records import to_json

NOW = 1_715_068_800.0  # 2024-05-07T08:00:00Z


def test_the_parts_are_weighed() -> None:
    found = score(
        "bridge safety",
        title="Bridge safety",
        content="bridge safety",
        authority=0.9,
        published="2024-05-07T00:00:00Z",
        now=NOW,
    )

    assert found == Scores(overall=0.82, relevance=1.0, freshness=1.0, authority=0.9, content_quality=0.2)
    assert list(to_json(found)) == ["overall", "relevance", "freshness", "authority", "contentQuality"]


def test_long_words_weigh_more_and_fillers_nothing() -> None:
    title = score_relevance("the engineering of it", title="Engineering", content="")
    assert title == pytest.approx(0.4)
    assert score_relevance("engineering ab", title="", content="engineering") == pytest.approx(0.6 * 11 / 13)
    assert score_relevance("what is it", title="what is it", content="what is it") == pytest.approx(1.0)
    assert score_relevance("", title="x", content="x") == 0.5
    assert score_relevance("桥梁 安全", title="桥梁安全", content="桥梁安全检查") == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("query", "figure"),
    [
        ('"sea otters" kelp', 1.0),
        ("sea otters -zoo -aquarium kelp", 1.0),
        ("sea otters kelp site:example.org OR site:example.com filetype:pdf before:2020", 1.0),
        ("intitle:otters +kelp", 1.0),
        ("sea-otters", 0.0),
        ("site:example.org", 0.5),
    ],
)
def test_what_is_said_to_a_search_engine_is_not_looked_for(query: str, figure: float) -> None:
    text = "Sea otters and kelp"

    assert score_relevance(query, title=text, content=text) == pytest.approx(figure)


@pytest.mark.parametrize(
    ("query", "title", "content", "least", "most"),
    [
        ("水獺吃什麼魚", "水獺的食物", "水獺主要以魚類為食", 0.5, 0.6),
        ("東京の天気", "東京の天気予報", "今日の東京の天気は晴れです", 1.0, 1.0),
        ("iPhone電池更換", "電池更換", "iPhone 電池更換的費用", 0.7, 0.9),
        ("水獺吃什麼魚", "天氣", "今天下雨", 0.0, 0.0),
        ("什麼", "什麼", "什麼", 1.0, 1.0),
    ],
)
def test_a_query_without_blanks_is_found_in_parts(
    query: str, title: str, content: str, least: float, most: float
) -> None:
    assert least <= score_relevance(query, title=title, content=content) <= most + 1e-9


@pytest.mark.parametrize(
    ("published", "figure"),
    [
        ("2024-05-07T07:00:00Z", 1.0),
        ("2024-05-02", 0.9),
        ("2024-04-20", 0.7),
        ("2023-09-01", 0.5),
        ("2020-01-01", 0.3),
        ("2024-05", 1.0),
        ("2024", 1.0),
        ("2023", 0.5),
        ("2021", 0.3),
        ("", 0.5),
        ("soon", 0.5),
        ("2031-01-01", 0.5),
    ],
)
def test_freshness_falls_with_age_and_is_open_where_unknown(published: str, figure: float) -> None:
    assert score_freshness(published, NOW) == figure


def test_written_text_scores_higher_than_scraps() -> None:
    article = "\n\n".join("This is a sentence about the bridge. It has two of them." for _ in range(60))

    assert score_content("") == 0.0
    assert score_content("Menu Home") == pytest.approx(0.2)
    assert score_content(article) == pytest.approx(0.9)
    assert score_content(article + " http://x.example") == pytest.approx(1.0)
    assert score_content("桥梁安全检查。" * 100) == pytest.approx(0.7)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=200), st.floats(0, 1))
def test_every_figure_is_between_nothing_and_one(query: str, title: str, content: str, authority: float) -> None:
    found = score(query, title=title, content=content, authority=authority, now=NOW)

    assert all(0 <= figure <= 1 for figure in dataclasses.astuple(found))
