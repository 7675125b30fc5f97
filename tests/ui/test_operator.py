"""What the local page tells an operator: what works, which variables are set and never to what, and what was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.scrape.browser.browser import find_browser
from tests.support.browser import needs_browser
from tests.support.demo_specs import demo_executor, write_demo
from tests.support.local_page import CHECKS, HOSTILE, LocalPage, Window, local_page
from tests.support.loopback import Call, Loopback

KEY = "s3cr3t-demo-key"
DAYS = [
    {
        "day": "2026-01-02",
        "calls": 3,
        "requests": 4,
        "usd": 0.25,
        "providers": {"demo": {"requests": 4, "usd": 0.25}},
    }
]


@pytest.fixture
def reached() -> list[bool]:
    """For each look whether connections were to be tried."""
    return []


@pytest.fixture
def page(tmp_path: Path, reached: list[bool]) -> Iterator[LocalPage]:
    root = write_demo(tmp_path / "specs")

    def answer(call: Call) -> tuple[int, dict[str, str], str]:
        status = 401 if ("q", "refused") in call.query else 200
        return status, {"Content-Type": "application/json"}, json.dumps({"results": []})

    def diagnose(reaches: bool) -> dict[str, Any]:
        reached.append(reaches)
        finding = {"state": "warning", "about": "cache", "says": HOSTILE, "remedy": "set it"}
        return {"summary": "The one tool works.", "steps": [HOSTILE], "better": [], "examined": [finding]}

    with (
        Loopback(answer) as upstream,
        local_page(
            lambda sender: demo_executor(root, upstream.url, sender=sender),
            {"SPECLOOM_PATH": str(root), "DEMO_KEY": KEY},
            diagnose=diagnose,
            read_days=lambda days: DAYS if days == 7 else None,
        ) as opened,
    ):
        for query in ("otters", "refused"):
            opened.ask("call", {"tool": "demo_find", "arguments": {"query": query}})
        yield opened


def test_it_is_told_what_was_called_and_which_variables_are_set_but_not_to_what(
    page: LocalPage, reached: list[bool]
) -> None:
    told = page.ask("operator").json

    (provider,) = told["providers"]
    assert provider["configured"] is True
    assert {one["name"]: (one["secret"], one["set"]) for one in provider["settings"]} == {
        "DEMO_URL": (False, False),
        "DEMO_KEY": (True, True),
    }
    (tool,) = told["tools"]
    assert (tool["name"], tool["calls"], tool["faults"]) == ("demo_find", 2, 1)
    assert told["operations"][0]["name"] == "demo.demo_pages"
    assert told["days"] == DAYS
    assert KEY not in json.dumps(told)
    assert reached == [False]


def test_connections_are_tried_only_when_that_is_asked(page: LocalPage, reached: list[bool]) -> None:
    for given in ({}, {"reach": "yes"}, {"reach": True}):
        page.ask("operator", given)

    assert reached == [False, False, True]


@pytest.mark.process
@needs_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 380)])
def test_it_is_shown_and_can_be_read(page: LocalPage, reached: list[bool], scheme: str, width: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser("").path or None, args=["--no-sandbox"])
        window = Window(browser, page)
        window.tab.emulate_media(color_scheme=scheme)
        window.tab.set_viewport_size({"width": width, "height": 900})
        window.tab.click("nav a:text-is('Operator')")
        window.tab.wait_for_selector("#operator table")
        window.tab.click("button:text-is('Try connections to providers')")
        window.tab.wait_for_selector("button:text-is('Look again'):not([aria-disabled=true])")
        window.tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        text = window.tab.locator("#operator").text_content()
        problems = window.tab.evaluate(CHECKS)
        title = window.tab.title()
        browser.close()

    assert problems == []
    assert title == "specloom"
    assert HOSTILE in text
    assert "DEMO_KEY set secret" in text
    assert "The one tool works." in text
    assert reached == [False, True]
    assert window.console == []
