"""The table of who answers a search is made by asking, and where everybody refuses each is named with its reason."""

from __future__ import annotations

import pytest

from specloom.authoring.search_routes import StubbedUpstreams, collect_replies, list_routes
from specloom.core import Fault, Request
from specloom.runtime import Executor
from tests.support.shipped import shipped_model, shipped_specs
from tests.support.stubbed import Product, Upstreams

KEYS = {
    "GOOGLE_CUSTOM_SEARCH_API_KEY": "k",
    "GOOGLE_CUSTOM_SEARCH_ID": "k",
    "BRAVE_API_KEY": "k",
    "SERPER_API_KEY": "k",
}


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], object]:
    """The rows of the table by tool and set of keys."""
    specs = shipped_specs()
    return {(row.tool, row.keys): row for row in list_routes(specs.model, specs.library)}


def test_with_all_keys_every_tool_has_an_answer_and_whoever_answers_is_asked_first(rows: dict) -> None:
    for (tool, keys), row in rows.items():
        if keys == "all" and row.order:
            assert row.served or row.rows == 0, tool
            assert not row.says, tool


def test_who_has_no_key_is_told_what_to_set_or_answered(rows: dict) -> None:
    for (tool, keys), row in rows.items():
        if keys == "none":
            assert row.order or row.says, tool


async def test_a_stub_answers_with_what_the_example_of_its_file_replies() -> None:
    specs = shipped_specs()
    replies = collect_replies(specs.model, specs.library)
    engine = Executor(specs.model, environ=KEYS, sender=StubbedUpstreams(replies, refuses=False), clock=lambda: 0.0)

    done = await engine.call("web_search", {"query": "otters", "provider": "brave"})

    assert done.answer["resultCount"] > 0


async def test_what_has_no_reply_refuses() -> None:
    with pytest.raises(Fault):
        await StubbedUpstreams({}, refuses=False).send(Request("GET", "https://a.example/", provider="nobody"))


@pytest.mark.parametrize("tool", ["web_search", "image_search", "news_search", "academic_search"])
async def test_where_everybody_fails_each_is_named_with_its_reason(tool: str) -> None:
    failures = iter(range(400, 1000))
    upstreams = Upstreams(otherwise=lambda _: Fault("blocked", f"refusal {next(failures)}"))

    result = await Product(upstreams, KEYS).call(tool, query="otters")

    told = result["content"][0]["text"]
    assert result["isError"]
    asked = list(dict.fromkeys(upstreams.providers()))
    assert len(asked) >= 3
    for provider in asked:
        assert f"{provider}: refusal" in told


async def test_a_second_failure_says_as_much_as_the_first() -> None:
    reasons = {"googleapis": Fault("blocked", "no robots"), "brave.com": (402, {}, {}), "serper.dev": (500, {}, {})}

    result = await Product(Upstreams(reasons), KEYS).call("image_search", query="otters")

    told = result["content"][0]["text"]
    assert all(f"{name}: " in told for name in ("google", "brave", "serper"))
    assert "no robots" in told


def test_the_table_is_of_tools_that_ask_somebody(rows: dict) -> None:
    tools = {tool for tool, _ in rows}

    assert tools <= set(shipped_model().tools)
    assert len(tools) >= 15
