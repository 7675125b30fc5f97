"""Tavily as recorded for three general searches, one of them on 2025-08-12."""

from __future__ import annotations

import json

from tests.support.recordings import recorded, replay

KEY = {"TAVILY_API_KEY": "k"}


def test_a_web_result_has_its_title_address_score_and_no_date() -> None:
    rows, requests = replay(
        "tavily", "web", {"query": "What is Pydantic AI?"}, recorded("tavily/search-basic.json"), config=KEY
    )

    assert [request["post"] for request in requests] == ["https://api.tavily.com/search"]
    assert len(rows) == 5
    assert {name: value for name, value in rows[0].items() if name != "snippet"} == {
        "title": "Pydantic AI: Agent Framework",
        "url": "https://medium.com/ai-agent-insider/pydantic-ai-agent-framework-02b138e8db71",
        "display_link": "medium.com",
        "engagement": {"score": 0.9999875},
    }
    assert rows[0]["snippet"].startswith("## AI Agent Insider. # Pydantic AI: Agent Framework. Introducing")
    assert rows[2]["snippet"] == (
        "Pydantic AI lets you integrate large language models like GPT-5 **directly into your Python applications**."
    )
    assert [row["display_link"] for row in rows] == [
        "medium.com",
        "ai.pydantic.dev",
        "www.youtube.com",
        "medium.com",
        "www.reddit.com",
    ]


def test_included_domains_are_one_list_and_every_result_is_of_them() -> None:
    rows, requests = replay(
        "tavily",
        "web",
        {"query": "transformer architectures", "sites": ["arxiv.org"]},
        recorded("tavily/search-include-domains.json"),
        config=KEY,
    )

    assert requests[0]["json"]["include_domains"] == ["arxiv.org"]
    assert requests[0]["json"]["query"] == "transformer architectures"
    assert [row["url"] for row in rows] == [
        "https://arxiv.org/abs/2507.13043",
        "https://arxiv.org/abs/2505.13499",
        "https://arxiv.org/html/2507.13043v1",
        "https://www.arxiv.org/abs/2601.03290",
        "https://arxiv.org/abs/2505.21057",
    ]
    assert rows[1]["title"] == "[2505.13499] Optimal Control for Transformer Architectures"


def test_a_snippet_of_many_lines_becomes_one() -> None:
    body = recorded("tavily/search-openllmetry.json")
    rows, _ = replay("tavily", "web", {"query": "OpenLLMetry"}, body, config=KEY)

    assert len(rows) == 2
    assert json.loads(body)["results"][0]["content"].startswith("light logo\ndark logo\n\n##### Introduction")
    assert rows[0]["snippet"].startswith("light logo dark logo ##### Introduction ##### Quick Start")
    assert [row["title"] for row in rows] == ["What is OpenLLMetry? - traceloop", "OpenLLMetry | Arize Docs"]


def test_an_answer_is_read_as_news_as_well() -> None:
    rows, _ = replay(
        "tavily", "news", {"query": "What is Pydantic AI?"}, recorded("tavily/search-basic.json"), config=KEY
    )

    assert [row["source"] for row in rows[:2]] == ["medium.com", "ai.pydantic.dev"]
    assert not [row for row in rows if "published_at" in row]
