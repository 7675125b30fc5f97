"""The page of operators: what it may do, what it is told, and how a real browser shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Fault
from specloom.domains.scrape.browser.browser import find_browser
from specloom.plugins import join_owner
from specloom.runtime.metrics import Failed
from tests.support.browser import needs_browser
from tests.support.operated import KEY, Operated, operated

SCRIPT = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Operated]:
    with operated(tmp_path) as running:
        running.call("otters")
        running.call("otters")
        executor = running.executor
        executor.spending.totals["demo"].usd = 0.25
        executor.tool_counts["demo_find"].add(0.3, Fault("upstream_unavailable", "x"), at=executor.clock())
        owner = join_owner(SCRIPT, "ann")
        executor.failures.add(
            Failed(executor.clock(), owner, "demo_find", "upstream_unavailable", "circuit_open", "demo", "of otters")
        )
        yield running


def test_the_page_is_small_self_contained_and_may_do_nothing_but_ask_its_server(desk: Operated) -> None:
    first, second = desk.ask("/dashboard", key=""), desk.ask("/dashboard", key="")

    assert first.status == 200
    assert len(first.body) <= 15_000
    assert b"http:" not in first.body
    assert b"https:" not in first.body
    policy = first.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; connect-src 'self'; script-src 'nonce-")
    assert "frame-ancestors 'none'" in policy
    assert policy != second.headers["content-security-policy"]
    assert b"NONCE" not in first.body


def test_its_data_need_the_key_in_the_header(desk: Operated) -> None:
    assert desk.ask("/dashboard/data", key="").status == 401
    assert desk.ask(f"/dashboard/data?key={KEY.replace(' ', '+')}", key="").status == 401

    data = desk.ask("/dashboard/data").json

    assert data.keys() >= {
        "generatedAt",
        "version",
        "tools",
        "providers",
        "activeSessions",
        "rateLimit",
        "health",
        "recentErrors",
        "workers",
    }
    tool = data["tools"]["demo_find"]
    assert (tool["calls"], tool["errors"], tool["cacheHits"]) == (3, 1, 1)
    assert 0 < tool["p50LatencyMs"] <= tool["p95LatencyMs"]
    assert data["activeSessions"] == 0
    provider = data["providers"][0]
    assert provider.pop("avgLatencyMs") >= 0
    assert provider == {
        "provider": "demo",
        "calls": 1,
        "errors": 0,
        "requests": 1,
        "usd": 0.25,
        "resting": False,
    }
    assert data["rateLimit"].keys() == {"perMinutePerTenant", "globalPerSecond", "dailyPerTenant", "defaultTenant"}
    failed = data["recentErrors"][0]
    assert failed.pop("timestamp")
    assert failed == {
        "tenantId": SCRIPT,
        "tool": "demo_find",
        "kind": "upstream_unavailable",
        "reason": "circuit_open",
        "provider": "demo",
        "message": "The upstream failed lately and rests.",
    }
    assert len(data["workers"]) == 1
    assert data["workers"][0]["memoryBytes"] > 1e6


@pytest.mark.process
@needs_browser
def test_a_browser_shows_it_and_runs_nothing_of_what_it_is_told(desk: Operated, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    said: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser("").path or None, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"http://127.0.0.1:{desk.server.port}/dashboard")
        page.fill("#key", "a wrong key of this test")
        page.click("button")
        page.wait_for_selector("#problem:not(:empty)")
        wrong = page.inner_text("#problem")
        page.fill("#key", KEY)
        page.click("button")
        page.wait_for_selector("#errors td")
        shown: dict[str, Any] = {
            "tools": page.inner_text("#tools"),
            "providers": page.inner_text("#providers").split("\n")[-1].split("\t"),
            "cards": page.inner_text("#cards"),
            "errors": page.inner_text("#errors"),
            "title": page.title(),
            "images": page.locator("img").count(),
            "address": page.url,
            "kept": page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie"),
            "typed": page.input_value("#key"),
        }
        widths = {}
        for scheme, width in (("light", 1000), ("dark", 1000), ("dark", 360)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            widths[width] = page.evaluate("document.documentElement.scrollWidth")
            page.screenshot(path=str(tmp_path / f"{scheme}-{width}.png"), full_page=True)
        browser.close()

    assert wrong == "This is not the key."
    assert "demo_find" in shown["tools"]
    assert [shown["providers"][at] for at in (0, 1, 4, 5, 6)] == ["demo", "1", "1", "$0.25", "–"]
    assert "$0.25" in shown["cards"]
    assert SCRIPT in shown["errors"]
    assert (shown["title"], shown["images"]) == ("specloom", 0)
    assert (shown["kept"], shown["typed"]) == ("{}{}", "")
    assert KEY not in shown["address"]
    assert widths[360] <= 360
    assert not [text for text in said if "401" not in text]
