"""The main job through a real MCP client: the shipped tools, over stdio, in both eras, on both hosts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.support.loopback import Call as Received
from tests.support.loopback import Loopback

ROOT = Path(__file__).parents[2]
FIXTURES = Path(os.environ.get("SPECLOOM_FIXTURES") or ROOT.parent / "shared" / "fixtures") / "providers"
ERAS = ("2026-07-28", "legacy")

OTTERS = {
    "query": {"original": "otters", "more_results_available": True},
    "web": {
        "results": [
            {
                "title": "Sea <strong>otters</strong>",
                "url": "https://otters.example.org/sea",
                "description": "They hold hands.",
                "page_age": "2026-01-05T09:00:00",
            },
            {"title": "River otters", "url": "https://otters.example.org/river", "description": "They do not."},
        ]
    },
}
IMAGES = {
    "results": [
        {
            "title": "Otter",
            "url": "https://o.example.org/p",
            "properties": {"url": "https://o.example.org/o.jpg", "width": 9, "height": 8},
        }
    ]
}
YESTERDAY = (datetime.now(UTC) - timedelta(days=1)).strftime("%Y-%m-%dT07:00:00")
"""News are those of a week, so that rows of a fixed day would be too old one day."""
NEWS = {"results": [{"title": "Back", "url": "https://n.example.org/a", "description": "Seen.", "page_age": YESTERDAY}]}


def record(folder: Path, step: str, body: Any) -> None:
    target = folder / "brave"
    target.mkdir(parents=True, exist_ok=True)
    said = {"response": {"status": 200, "headers": {"content-type": "application/json"}, "json": body}}
    (target / f"{step}.json").write_text(json.dumps(said), encoding="utf-8")


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    folder = tmp_path / "recordings"
    record(folder, "web.main", OTTERS)
    record(folder, "images.main", IMAGES)
    record(folder, "news.main", NEWS)
    return folder


@asynccontextmanager
async def served(era: str, tmp_path: Path, *options: str, host: str = "own", **environ: str) -> AsyncIterator[Client]:
    env = {**os.environ, "SPECLOOM_CACHE_DIR": str(tmp_path / "cache"), "SPECLOOM_VALIDATE": "1", **environ}
    command = ["-m", "specloom", "serve", "--host", host, *options]
    server = StdioServerParameters(command=sys.executable, args=command, env=env)
    async with Client(server, mode=era) as client:
        yield client


def text_of(result: Any) -> str:
    return str(result.content[0].text)


@pytest.mark.parametrize("host", ["own", "sdk"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_gets_rows_and_a_text_that_tells_of_them(
    era: str, host: str, recordings: Path, tmp_path: Path
) -> None:
    async with served(era, tmp_path, "--replay", str(recordings), host=host, SEARCH_ROUTING="brave,serper") as client:
        tools = (await client.list_tools()).tools
        web = await client.call_tool("web_search", {"query": "otters", "claim": "otters hold hands"})
        images = await client.call_tool("image_search", {"query": "otter"})
        news = await client.call_tool("news_search", {"query": "otter"})

    assert {"web_search", "image_search", "news_search"} <= {tool.name for tool in tools}
    assert text_of(web).startswith("> Untrusted external content.\n\nResults for otters: 2")
    assert web.structured_content["urls"] == ["https://otters.example.org/sea", "https://otters.example.org/river"]
    first = web.structured_content["results"][0]
    assert first["title"] == "Sea otters"
    assert first["publishedAt"] == "2026-01-05T09:00:00Z"
    assert first["claimSignal"] == "They hold hands."
    assert web.structured_content["trust"] == "untrusted-external-content"
    assert images.structured_content["images"][0]["width"] == 9
    assert news.structured_content["articles"][0]["publishedAt"] == f"{YESTERDAY}Z"


@pytest.mark.parametrize("era", ERAS)
async def test_meta_says_what_is_fresh_what_was_kept_and_who_answered(
    era: str, recordings: Path, tmp_path: Path
) -> None:
    async with served(era, tmp_path, "--replay", str(recordings), SEARCH_ROUTING="google,brave") as client:
        new = await client.call_tool("web_search", {"query": "otters"})
        kept = await client.call_tool("web_search", {"query": "otters"})

    routing = new.meta["routing"]
    assert new.meta["cached"] is False
    assert new.meta["maxAgeSeconds"] == 1800
    assert new.meta["more_results_available"] is True
    assert routing["provider_used"] == "brave"
    assert routing["providers_attempted"] == ["google", "brave"]
    assert routing["fallback"] is True
    assert routing["fallback_reason"] == "primary_unavailable"
    assert kept.meta["cached"] is True
    assert kept.meta["freshness"] == "fresh"
    assert kept.meta["routing"]["cache_hit"] is True
    assert "provider_used" not in kept.meta["routing"]
    assert kept.structured_content == new.structured_content
    assert "routing" not in text_of(new)


@pytest.mark.parametrize("era", ERAS)
async def test_a_fault_is_a_sentence_and_a_block(era: str, recordings: Path, tmp_path: Path) -> None:
    async with served(era, tmp_path, "--replay", str(recordings)) as client:
        unknown = await client.call_tool("web_search", {"query": "otters", "provider": "altavista"})
        wrong = await client.call_tool("web_search", {"query": "otters", "time_range": "century"})
        missing = await client.call_tool("web_search", {})
        repaired = await client.call_tool(
            "web_search",
            {
                "query": "otters",
                "num_results": "1",
                "sites": '["otters.example.org"]',
                "provider": "brave",
                "lens": None,
            },
        )

    sentence, _, block = text_of(unknown).partition("\n\n")
    assert unknown.is_error
    assert sentence.startswith("there is no provider 'altavista'; those that do: google, brave")
    assert json.loads(block)["error"]["kind"] == "config"
    assert text_of(wrong).startswith('time_range is "century"; it may be day, week, month, year')
    assert text_of(missing).startswith("query is required")
    assert repaired.structured_content["resultCount"] == 1


@pytest.mark.parametrize("era", ERAS)
async def test_resources_tell_of_lenses_providers_and_health(era: str, recordings: Path, tmp_path: Path) -> None:
    async def read(client: Client, uri: str) -> Any:
        return json.loads((await client.read_resource(uri)).contents[0].text)

    async with served(era, tmp_path, "--replay", str(recordings), SEARCH_ROUTING="brave") as client:
        await client.call_tool("web_search", {"query": "otters"})
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        lenses = await read(client, "lenses://catalog")
        devops = await read(client, "lenses://devops")
        providers = await read(client, "stats://providers")
        tools = await read(client, "stats://tools")
        health = await read(client, "diagnostics://health")

    assert listed == {
        "lenses://catalog",
        "stats://providers",
        "research://sessions",
        "stats://tools",
        "stats://sessions",
        "stats://rate-limits",
        "diagnostics://health",
        "diagnostics://errors/recent",
    }
    assert len(lenses["lenses"]) == 20
    assert devops["domains"][0] == "kubernetes.io"
    assert {one["name"] for one in providers["providers"]} >= {"brave", "google", "duckduckgo"}
    assert tools["tools"]["web_search"]["totalCalls"] == 1
    assert health["status"] == "healthy"


SLOW = """\
spec: provider/1
name: slow
title: Slow
config:
  SLOW_URL: {type: url, required: true, description: Where the slow server listens.}
service:
  base: =config.SLOW_URL
  private: true
operations:
  web:
    input: [query]
    steps:
      - get: /search
        query: {q: =args.query}
        json:
          each: hits
          map: {url: {at: url, required: true}}
examples:
  - name: a hit
    operation: web
    args: {query: x}
    config: {SLOW_URL: "https://slow.example.org"}
    replies: {main: {json: {hits: [{url: "https://a.example.org/"}]}}}
    expect:
      rows: [{url: "https://a.example.org/"}]
      sent: {main: {get: "https://slow.example.org/search", query: {q: x}}}
"""


@pytest.mark.parametrize("era", ERAS)
async def test_a_slow_call_can_be_cancelled_and_the_server_goes_on(era: str, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "providers.d"
    folder.mkdir(parents=True)
    (folder / "slow.yaml").write_text(SLOW, encoding="utf-8")
    import threading

    arrived, leave = threading.Event(), threading.Event()

    def answer(call: Received) -> Any:
        if "slow" in call.target.partition("?")[2]:
            arrived.set()
            leave.wait(120)
        return 200, {"Content-Type": "application/json"}, json.dumps({"hits": [{"url": "https://a.example.org/"}]})

    with Loopback(answer) as upstream:
        async with served(era, tmp_path, SPECLOOM_PATH=str(folder.parent), SLOW_URL=upstream.url) as client:
            slow = asyncio.create_task(client.call_tool("web_search", {"query": "slow", "provider": "slow"}))
            assert await asyncio.to_thread(arrived.wait, 120)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            after = await client.call_tool("web_search", {"query": "quick", "provider": "slow"})
        leave.set()

    assert after.structured_content["urls"] == ["https://a.example.org/"]


PAYLOADS = {
    "brave": {"web.main": "brave/web.json", "images.main": "brave/images.json", "news.main": "brave/news.json"},
}


@pytest.mark.skipif(
    not FIXTURES.is_dir(), reason=f"there are no recorded payloads under {FIXTURES} (SPECLOOM_FIXTURES)"
)
@pytest.mark.parametrize("era", ERAS)
async def test_real_payloads_become_rows(era: str, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    bodies = {step: json.loads((FIXTURES / name).read_bytes()) for step, name in PAYLOADS["brave"].items()}
    for row in bodies["news.main"]["results"]:
        row["page_age"] = YESTERDAY
    for step, body in bodies.items():
        record(folder, step, body)

    async with served(era, tmp_path, "--replay", str(folder), SEARCH_ROUTING="brave") as client:
        web = await client.call_tool("web_search", {"query": "hello world", "num_results": 10})
        images = await client.call_tool("image_search", {"query": "hello world", "num_results": 50})
        news = await client.call_tool("news_search", {"query": "hello world", "num_results": 20})

    assert web.structured_content["results"][0]["url"] == bodies["web.main"]["web"]["results"][0]["url"]
    assert web.structured_content["resultCount"] == 10
    found = {one["link"] for one in images.structured_content["images"]}
    assert found <= {one["properties"]["url"] for one in bodies["images.main"]["results"]}
    assert len(found) > 10
    assert news.structured_content["articles"][0]["title"] == bodies["news.main"]["results"][0]["title"]
