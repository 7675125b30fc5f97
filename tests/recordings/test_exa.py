"""Exa as recorded on 2026-02-11; the recording asked for text, which the specs do not, and so has no highlights."""

from __future__ import annotations

import pytest

from specloom.core.messages import Request, Response
from specloom.runtime.operation import perform
from tests.support.recordings import recorded, replay
from tests.support.shipped import shipped_model

KEY = {"EXA_API_KEY": "k"}
QUERY = {"query": "AI agents in 2025"}


def test_a_web_result_has_its_title_address_and_day() -> None:
    rows, requests = replay("exa", "web", QUERY, recorded("exa/search-with-text.json"), config=KEY)

    assert [request["post"] for request in requests] == ["https://api.exa.ai/search"]
    assert len(rows) == 10
    assert rows[0] == {
        "title": "AI agents arrived in 2025 – here's what happened and the ...",
        "url": (
            "https://theconversation.com/"
            "ai-agents-arrived-in-2025-heres-what-happened-and-the-challenges-ahead-in-2026-272325"
        ),
        "display_link": "theconversation.com",
        "published_at": "2025-12-29T00:00:00Z",
    }
    assert rows[9]["url"] == "https://arxiv.org/abs/2502.07056"
    assert [row["published_at"][:10] for row in rows] == [
        "2025-12-29",
        "2025-07-31",
        "2025-09-23",
        "2025-10-07",
        "2025-05-19",
        "2025-09-02",
        "2025-10-07",
        "2025-09-08",
        "2025-10-22",
        "2025-02-10",
    ]


def test_the_answer_says_what_it_cost() -> None:
    exa = shipped_model().providers["exa"]
    running = perform(exa, exa.operations["web"], QUERY, {"EXA_API_KEY": None}, 0.0)
    asked = next(running)
    assert isinstance(asked, Request)

    with pytest.raises(StopIteration) as ended:
        running.send(Response(200, {}, recorded("exa/search-with-text.json"), asked.url))

    assert ended.value.value.meta == {"cost_dollars": 0.015}


def test_an_answer_is_read_as_news_as_well() -> None:
    rows, requests = replay(
        "exa", "news", {**QUERY, "time_range": "week"}, recorded("exa/search-with-text.json"), config=KEY
    )

    assert requests[0]["json"]["startPublishedDate"] == "2025-12-25T00:00:00Z"
    assert len(rows) == 10
    assert rows[8] == {
        "title": "Discovering state-of-the-art reinforcement learning algorithms",
        "url": "https://www.nature.com/articles/s41586-025-09761-x",
        "source": "www.nature.com",
        "published_at": "2025-10-22T00:00:00Z",
    }


def test_an_answer_is_read_as_papers_as_well() -> None:
    args = {"query": "agents", "year_from": 2025}
    rows, requests = replay("exa", "scholarly", args, recorded("exa/search-with-text.json"), config=KEY)

    assert requests[0]["json"]["category"] == "research paper"
    assert requests[0]["json"]["startPublishedDate"] == "2025-01-01T00:00:00.000Z"
    assert len(rows) == 10
    assert rows[9]["url"] == "https://arxiv.org/abs/2502.07056"
    assert {row["year"] for row in rows} == {2025}


def test_an_answer_is_read_by_the_structured_search_as_well() -> None:
    rows, requests = replay(
        "exa", "structured", {**QUERY, "num_results": 10}, recorded("exa/search-with-text.json"), config=KEY
    )

    assert requests[0]["json"]["contents"] == {"highlights": True, "summary": True}
    assert len(rows) == 10
    assert rows[9]["url"] == "https://arxiv.org/abs/2502.07056"
    assert rows[9]["published_at"] == "2025-02-10T00:00:00Z"
    assert not [row for row in rows if "summary" in row or "highlights" in row], "the recording asked for text"
