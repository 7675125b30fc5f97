"""The local page in a real browser: a tool is filled in, run, and shown with what it asked; and it can be read."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.cache.cache import AnswerCache
from specloom.domains.scrape.browser.browser import find_browser
from specloom.runtime.executor import Executor
from specloom.runtime.recordings import ReplaySender, Unsent
from tests.support.browser import needs_browser
from tests.support.demo_specs import demo_executor, write_demo
from tests.support.local_page import CHECKS, HOSTILE, LocalPage, Window, local_page
from tests.support.loopback import Call, Loopback
from tests.support.shipped import shipped_model
from tests.support.viewed import write_viewed

KEY = "s3cr3t-demo-key"


@pytest.fixture
def upstream() -> Iterator[Loopback]:
    """A search service that tells its key back, and texts that would be script."""

    def answer(call: Call) -> tuple[int, dict[str, str], str]:
        results = [{"title": HOSTILE, "link": "https://example.org/a", "rank": 1}]
        return 200, {"Content-Type": "application/json"}, json.dumps({"results": results, "echo": KEY})

    with Loopback(answer) as server:
        yield server


@pytest.fixture
def page(tmp_path: Path, upstream: Loopback) -> Iterator[LocalPage]:
    root = write_demo(tmp_path / "specs")
    with local_page(lambda sender: demo_executor(root, upstream.url, sender=sender), {}) as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=find_browser("").path or None, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def window(browser: Any, page: LocalPage) -> Iterator[Window]:
    opened = Window(browser, page)
    yield opened
    opened.context.close()


def test_a_call_is_answered_with_its_exchange_and_without_the_secret(page: LocalPage, upstream: Loopback) -> None:
    result = page.ask("call", {"tool": "demo_find", "arguments": {"query": "otters"}}).json

    assert result["answer"]["count"] == 1
    assert result["milliseconds"] >= 0
    (exchange,) = result["exchanges"]
    assert (exchange["provider"], exchange["operation"]) == ("demo", "demo_pages")
    assert exchange["request"]["url"] == f"{upstream.url}/search"
    assert exchange["request"]["headers"]["X-Key"] == "•••"
    assert exchange["response"]["status"] == 200
    assert exchange["response"]["json"]["results"][0]["rank"] == 1
    assert upstream.calls[0].headers["x-key"] == KEY
    assert KEY not in json.dumps(result)


def test_a_call_that_fails_tells_its_fault_and_what_was_exchanged(page: LocalPage, upstream: Loopback) -> None:
    upstream.handler = lambda _: (401, {}, json.dumps({"error": f"{KEY} is not known"}))

    result = page.ask("call", {"tool": "demo_find", "arguments": {"query": "otters"}}).json

    assert result["fault"]["kind"] == "auth_required"
    assert result["fault"]["provider"] == "demo"
    assert result["exchanges"][0]["response"]["status"] == 401
    assert KEY not in json.dumps(result)


def test_what_a_call_would_ask_is_told_without_asking_and_without_the_secret(
    page: LocalPage, upstream: Loopback
) -> None:
    told = page.ask("explain", {"tool": "demo_find", "arguments": {"query": "otters", "num_results": 99}}).json

    (prospect,) = told["providers"]
    assert prospect["requests"][0]["query"] == [["q", "otters"], ["count", "10"]]
    assert prospect["requests"][0]["headers"]["X-Key"] == "•••"
    assert told["requested"] == {"num_results": 99}
    assert told["cache"]["ttlSeconds"] == 1800
    assert upstream.calls == []
    assert KEY not in json.dumps(told)


class Held:
    """A search service that answers once it may."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, _: Call) -> tuple[int, dict[str, str], str]:
        self.asked.set()
        self.may_answer.wait(60)
        return 200, {"Content-Type": "application/json"}, json.dumps({"results": []})


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[LocalPage, Held]]:
    root, service = write_demo(tmp_path / "specs"), Held()
    with (
        Loopback(service) as server,
        local_page(lambda sender: demo_executor(root, server.url, sender=sender), {}) as opened,
    ):
        yield opened, service
        service.may_answer.set()


def run_held(page: LocalPage, service: Held, replies: list[Any]) -> threading.Thread:
    """A call that waits for its upstream, in a thread that keeps what comes of it."""
    given = {"tool": "demo_find", "arguments": {"query": "otters"}, "run": "r"}
    thread = threading.Thread(target=lambda: replies.append(page.ask("call", given).json))
    thread.start()
    assert service.asked.wait(60)
    return thread


def test_a_running_call_tells_what_it_does_and_that_it_is_over(held: tuple[LocalPage, Held]) -> None:
    page, service = held
    replies: list[Any] = []
    thread = run_held(page, service, replies)

    told = page.ask("progress", {"run": "r"}).json
    wrong = [page.ask("progress", {"run": "r", "after": after}).json["told"] for after in (-1, True, "1")]
    again = page.ask("call", {"tool": "demo_find", "arguments": {"query": "otters"}, "run": "r"}).json
    service.may_answer.set()
    thread.join()

    assert (told["running"], told["steps"]) == (True, ["asking demo"])
    assert wrong == [0, 0, 0]
    assert again["fault"]["kind"] == "validation"
    assert replies[0]["exchanges"][0]["response"]["status"] == 200
    assert page.ask("progress", {"run": "r", "after": 1}).json == {"running": False, "told": 0, "steps": []}


def test_a_running_call_is_stopped(held: tuple[LocalPage, Held]) -> None:
    page, service = held
    replies: list[Any] = []
    thread = run_held(page, service, replies)

    stopped = page.ask("stop", {"run": "r"}).json
    thread.join()

    assert stopped == {"stopped": True}
    assert replies[0]["stopped"].startswith("demo_find was stopped")
    assert page.ask("stop", {"run": "r"}).json == {"stopped": False}


@pytest.mark.process
@needs_browser
def test_a_running_call_is_followed_then_stopped_by_the_keyboard(browser: Any, held: tuple[LocalPage, Held]) -> None:
    window = Window(browser, held[0])
    window.choose("demo_find")
    window.tab.fill("#input-query", "otters")
    window.tab.press("#input-query", "Enter")
    window.tab.wait_for_selector("#progress li:text-is('asking demo')")
    faults = window.tab.evaluate(CHECKS)

    window.tab.focus("#progress button")
    window.tab.keyboard.press("Enter")
    window.tab.wait_for_selector("#status:has-text('was stopped')")

    assert faults == []
    assert window.tab.evaluate("document.activeElement.textContent") == "Run"
    assert window.tab.query_selector("#progress section") is None
    assert window.tab.query_selector("#result h2") is None
    assert window.console == []
    window.context.close()


@pytest.mark.process
@needs_browser
def test_what_a_call_would_ask_follows_what_is_typed(window: Window, upstream: Loopback) -> None:
    window.choose("demo_find")
    window.tab.fill("#input-query", "sea otters")
    window.tab.wait_for_selector("#explain pre:has-text('q=sea%20otters')")
    window.tab.select_option("#input-time_range", label="week")
    window.tab.wait_for_selector("#explain pre:has-text('since=w')")
    window.tab.fill("#input-query", "")
    window.tab.wait_for_selector("#explain p:has-text('query')")

    assert window.tab.locator("#explain pre").count() == 0
    assert upstream.calls == []
    assert window.console == []


def test_what_was_answered_is_asked_anew_where_that_is_wanted(tmp_path: Path, upstream: Loopback) -> None:
    root, call = write_demo(tmp_path / "specs"), {"tool": "demo_find", "arguments": {"query": "otters"}}

    def make(sender: Any) -> Executor:
        return demo_executor(
            root, upstream.url, sender=sender, cache=AnswerCache(disk=None, key=None, warn=pytest.fail)
        )

    with local_page(make, {}) as page:
        counts = [
            len(page.ask("call", call | {"anew": anew}).json["exchanges"]) for anew in (False, False, True, False)
        ]

    assert counts == [1, 0, 1, 0]


@pytest.mark.process
@needs_browser
def test_a_tool_is_filled_in_and_run_and_its_answer_is_only_text(window: Window, upstream: Loopback) -> None:
    shown = window.run("demo_find", query="sea otters", num_results="3")

    assert ("q", "sea otters") in upstream.calls[0].query
    assert ("count", "3") in upstream.calls[0].query
    assert "demo_find answered" in window.tab.inner_text("#status")
    assert "https://example.org/a" in shown
    assert HOSTILE in window.tab.locator("#result").text_content().replace('\\"', '"')
    assert window.tab.title() == "specloom"
    assert window.tab.locator("img, iframe").count() == 0
    for summary in window.tab.locator("#result summary").all():
        if not summary.evaluate("node => node.parentElement.open"):
            summary.click()
    assert f"GET {upstream.url}/search?q=sea%20otters" in window.tab.inner_text("#result")
    assert "X-Key: •••" in window.tab.inner_text("#result")
    assert KEY not in window.tab.content()
    assert [url for url in window.requests if not url.startswith(window.own)] == []
    assert window.console == []


@pytest.mark.process
@needs_browser
def test_the_view_of_an_answer_is_drawn_in_a_frame_that_reaches_nothing(
    browser: Any, tmp_path: Path, upstream: Loopback
) -> None:
    root = write_viewed(tmp_path / "viewed")
    with local_page(lambda sender: demo_executor(root, upstream.url, sender=sender), {}) as page:
        window = Window(browser, page)
        window.run("demo_find", query="otters")
        frame = window.tab.frame_locator("#result iframe")
        frame.locator(".tile").wait_for()
        inner = next(one for one in window.tab.frames if "/view/" in one.url)
        reached = inner.evaluate("() => { try { return parent.document.title; } catch (error) { return error.name; } }")
        asked = inner.evaluate("url => fetch(url).then(() => 'answered', (error) => error.name)", page.server.folder)
        shown = frame.locator(".tile").inner_text()
        window.context.close()

    assert shown == HOSTILE
    assert (reached, asked) == ("SecurityError", "TypeError")
    assert [url for url in window.requests if not url.startswith(window.own)] == []


@pytest.mark.process
@needs_browser
def test_the_page_keeps_nothing_and_its_cookie_is_no_scripts_matter(window: Window) -> None:
    kept = window.tab.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie")

    assert kept == "{}{}"
    assert "token" not in window.tab.url


@pytest.mark.process
@needs_browser
def test_no_text_becomes_script_whatever_the_page_would_do_with_it(window: Window) -> None:
    refused = window.tab.evaluate(
        """() => { try { document.body.innerHTML = "<b>x</b>"; return "set"; } catch (error) { return error.name; } }"""
    )

    assert refused == "TypeError"


@pytest.mark.process
@needs_browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 380), ("dark", 380)])
def test_it_can_be_read_in_both_schemes_and_on_a_small_screen(window: Window, scheme: str, width: int) -> None:
    window.tab.emulate_media(color_scheme=scheme)
    window.tab.set_viewport_size({"width": width, "height": 900})
    window.run("demo_find", query="sea otters")
    window.tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    assert window.tab.evaluate(CHECKS) == []


@pytest.mark.process
@needs_browser
def test_a_tool_is_chosen_filled_in_and_run_by_the_keyboard_alone(window: Window, upstream: Loopback) -> None:
    def tab_to(selector: str) -> None:
        for _ in range(40):
            window.tab.keyboard.press("Tab")
            if window.tab.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
                return
        raise AssertionError(f"the keyboard does not reach {selector}")

    tab_to("#filter")
    window.tab.keyboard.type("pages")
    tab_to(".list button")
    window.tab.keyboard.press("Enter")
    tab_to("#input-query")
    window.tab.keyboard.type("otters")
    window.tab.keyboard.press("Enter")
    window.tab.wait_for_selector("#result h2")

    assert ("q", "otters") in upstream.calls[0].query
    tab_to("button[type=submit]")
    window.tab.keyboard.press("Enter")
    window.tab.wait_for_selector("#status:has-text('answered')")
    # The first answer is shown until the second one is there.
    window.tab.wait_for_function(
        "document.activeElement.type === 'submit' && getComputedStyle(document.activeElement).outlineStyle === 'solid'"
    )


@pytest.mark.process
@needs_browser
def test_each_shipped_tool_has_a_form_with_a_named_control_for_each_of_its_inputs(browser: Any) -> None:
    model = shipped_model()

    def make(sender: Any) -> Executor:
        return Executor(model, environ={}, sender=sender, always_configured=True)

    with local_page(make, {}, sender=Unsent()) as page:
        window = Window(browser, page)
        tools = window.tab.eval_on_selector_all(".list button", "nodes => nodes.map((node) => node.textContent)")
        assert len(tools) > 50
        for name in tools:
            window.choose(name)
            controls = window.tab.eval_on_selector_all(
                "form .field",
                """nodes => nodes.map((node) => [(node.querySelector("legend, label") || {}).firstChild.data.trim(),
                [...node.querySelectorAll("input, select, textarea")].every((one) => one.labels.length &&
                document.getElementById(one.getAttribute("aria-describedby")))])""",
            )

            assert {one for one, _ in controls} == set(model.tools[name].input_schema["properties"])
            assert all(named for _, named in controls)
            assert window.tab.evaluate(CHECKS) == []
        assert window.console == []
        window.context.close()


@pytest.mark.process
@needs_browser
def test_a_shipped_search_is_answered_from_a_recording_with_what_was_asked(browser: Any, tmp_path: Path) -> None:
    hits = [{"ns": 0, "title": "Sea <b>otter</b>", "pageid": 7, "snippet": "An <span>otter</span> of the sea"}]
    recording = {"response": {"status": 200, "json": {"batchcomplete": True, "query": {"search": hits}}}}
    folder = tmp_path / "wikipedia_search"
    folder.mkdir()
    (folder / "web.main.json").write_text(json.dumps(recording), encoding="utf-8")

    def make(sender: Any) -> Executor:
        return Executor(shipped_model(), environ={}, sender=sender, always_configured=True, is_live=False)

    with local_page(make, {}, sender=ReplaySender(tmp_path), is_replay=True) as page:
        window = Window(browser, page)
        shown = window.run("web_search", query="sea otters", provider="wikipedia_search")
        top = window.tab.evaluate("document.getElementById('result').getBoundingClientRect().top")
        window.tab.click("summary:has-text('Exchanged with upstreams (1)')")
        asked = window.tab.inner_text("#result li")
        notice = window.tab.inner_text("#main > p")
        window.context.close()

    assert notice == "Answers come from recordings."
    assert -1 <= top < 450  # of 900 pixels, of which half a one may be rounded away
    assert "Sea otter" in shown or "Sea <b>otter</b>" in shown
    assert "https://en.wikipedia.org/?curid=7" in shown
    assert "srsearch=sea%20otters" in asked
    assert "200," in asked
    assert window.console == []
