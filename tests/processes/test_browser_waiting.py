"""What a real Chromium waits for on a page, and what it does not: late text, data, stuck scripts, endless pages."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
import pytest_asyncio

from specloom.core.faults import Fault
from specloom.domains.scrape.browser.browser import Browser
from specloom.domains.scrape.browser.proxy import PATIENCE
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.fetch.http import Elsewhere
from specloom.domains.scrape.result import Fetched
from specloom.net.connections import resolve_name
from tests.support.browser import find_processes, needs_browser, page, tell
from tests.support.loopback import Call, Loopback, Reply
from tests.support.scrape_context import HTML, OPTIONS, open_desk, take_text

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="module")]
OPEN = replace(OPTIONS, chrome="", browser_timeout=60.0, deadline=90.0)
STORY = "<article>" + "<p>The kiln was lit at dawn and fed with split pine until the evening.</p>" * 5 + "</article>"
FILL = f"root.innerHTML = `{STORY}`;"
ROOT = "<div id=root></div>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    one = Browser(resolve=resolve_name)
    yield one
    await one.aclose()


def say(fetched: Fetched) -> str:
    return take_text(fetched).text


def serve(script: str, body: str = ROOT, head: str = "") -> Loopback:
    """A server of one page; what is under /hang never comes, and what is under /late comes after two seconds."""
    server = Loopback(lambda call: (200, HTML, ""))

    def reply(call: Call) -> Reply:
        if call.path == "/hang":
            server.stopped.wait(30)
        if call.path == "/late":
            server.stopped.wait(2)
            return 200, HTML, STORY
        return 200, HTML, head + page(body, script)

    server.handler = reply
    return server


@pytest.mark.parametrize(
    "script",
    [
        f"setTimeout(() => {{ {FILL} }}, 2000)",
        "fetch('/late').then(r => r.text()).then(text => root.innerHTML = text)",
        f"root.innerHTML = 'Loading'; setInterval(() => root.append('.'), 300); setTimeout(() => {{ {FILL} }}, 1500)",
    ],
    ids=["a timer", "data", "a spinner"],
)
async def test_a_page_with_nothing_to_read_yet_is_waited_for(browser: Browser, script: str) -> None:
    with serve(script) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "The kiln was lit" in say(fetched)


async def test_a_page_with_something_to_read_is_waited_for_while_more_is_on_its_way(browser: Browser) -> None:
    script = "fetch('/late').then(r => r.text()).then(text => root.innerHTML += text)"
    with serve(script, "<div id=root>" + "Welcome to the shop of the potter. " * 5 + "</div>") as server:
        fetched = await browser.render(server.url, OPEN)

    assert "Welcome to the shop" in say(fetched)
    assert "The kiln was lit" in say(fetched)


async def test_a_request_without_end_is_not_waited_for(browser: Browser) -> None:
    with serve(f"{FILL} fetch('/hang'); new EventSource('/hang')") as server:
        fetched = await browser.render(server.url, replace(OPEN, browser_timeout=15.0))

    assert "The kiln was lit" in say(fetched)


@pytest.mark.parametrize("head", ["<link rel=stylesheet href=/hang>", "<script src=/hang></script>"])
async def test_what_belongs_to_a_page_and_never_comes_is_done_without(browser: Browser, head: str) -> None:
    # The proxy's usual patience with a silent host is longer than a page is given to begin here.
    with serve(FILL, head=head) as server:
        fetched = await browser.render(server.url, replace(OPEN, browser_timeout=PATIENCE + 4))

    assert "The kiln was lit" in say(fetched)


async def test_a_script_that_never_ends_is_told_before_the_time_is_over(browser: Browser) -> None:
    with serve(f"{FILL} setTimeout(() => {{ for (;;); }}, 50)") as server, pytest.raises(Fault) as caught:
        await browser.render(server.url, OPEN)

    assert (caught.value.kind, caught.value.message) == ("network", "the page keeps the browser busy without end")


async def test_a_frame_of_somebody_else_that_never_ends_is_done_without(browser: Browser) -> None:
    def reply(call: Call) -> Reply:
        if call.path == "/busy":
            return 200, HTML, page("<p>advertising</p>", "setTimeout(() => { for (;;); }, 50)")
        # The other name makes it another site, which has a process of its own.
        frame = f"http://localhost:{call.headers['host'].rpartition(':')[2]}/busy"
        return 200, HTML, page(STORY + f"<iframe src={frame}></iframe>")

    with Loopback(reply) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "The kiln was lit" in say(fetched)


async def test_a_page_that_leads_from_page_to_page_is_given_up(browser: Browser) -> None:
    server = Loopback(lambda call: (200, HTML, page(ROOT, f"location.href = '/{len(server.calls)}'")))
    with server, pytest.raises(Fault) as caught:
        await browser.render(server.url, OPEN)

    assert "leads from page to page without end" in caught.value.message


async def test_a_flood_in_the_console_and_changed_built_ins_do_not_keep_it_from_being_read(browser: Browser) -> None:
    flood = "setInterval(() => { for (let n = 0; n < 500; n++) console.log('x'.repeat(1000)) }, 1);"
    for script in (
        flood,
        "window.MutationObserver = undefined;",
        "Element.prototype.querySelectorAll = null; document.querySelectorAll = () => [];",
        "document.querySelectorAll = () => { throw new TypeError('no') };",
    ):
        with serve(FILL + script) as server:
            fetched = await browser.render(server.url, OPEN)

        assert "The kiln was lit" in say(fetched), script


@pytest.mark.parametrize(
    "frame",
    [f"document.querySelector('iframe').srcdoc = `{STORY}`", f"make(new Blob([`{STORY}`], {{type: 'text/html'}}))"],
)
async def test_a_frame_without_an_address_is_part_of_the_page(browser: Browser, frame: str) -> None:
    make = "function make(blob) { document.querySelector('iframe').src = URL.createObjectURL(blob) }"
    with serve(f"{make} {frame}", "<iframe width=800 height=600></iframe>") as server:
        fetched = await browser.render(server.url, OPEN)

    assert "The kiln was lit" in say(fetched)


async def test_scrolling_waits_for_what_it_asked_for(browser: Browser) -> None:
    script = """
      let n = 0;
      const more = async () => {
        if (n) await new Promise(resolve => setTimeout(resolve, 300));
        for (let i = 0; i < 5; i++) {
          const item = document.createElement("p"); item.style.height = "400px"; item.textContent = "item " + n++;
          document.body.append(item);
        }
        document.body.append(end);
      };
      const end = document.createElement("footer");
      more().then(() => new IntersectionObserver(all => all[0].isIntersecting && more()).observe(end));
    """
    with serve(script, "<p>A list</p>") as server:
        fetched = await browser.render(server.url, OPEN)

    assert 10 <= say(fetched).count("item ") <= 60


@pytest.mark.parametrize("mark", ["#/story", "#!story"])
async def test_the_part_of_an_address_that_scripts_make_a_page_of_reaches_them(browser: Browser, mark: str) -> None:
    script = f"if (location.hash === '{mark}') {{ {FILL} }} else root.innerHTML = 'home '.repeat(40)"
    with serve(script) as server:
        async with open_desk(options=OPEN) as (context, session):
            session.browser = browser
            url = f"{server.url}/app{mark}"
            reading = await fallback.read(url, context=context, options=OPEN, extract=take_text, session=session)

    assert "The kiln was lit" in reading.candidate.text
    assert (reading.url, [outcome.tier for outcome in reading.outcomes]) == (url, ["browser"])


async def test_a_script_that_leads_to_a_document_tells_where_it_is(browser: Browser) -> None:
    def reply(call: Call) -> Reply:
        if call.path == "/paper":
            return 200, {"Content-Type": "application/pdf"}, b"%PDF-1.4 not much of one"
        return 200, HTML, page(ROOT, "location.href = '/paper'")

    with Loopback(reply) as server, pytest.raises(Elsewhere) as caught:
        await browser.render(server.url, replace(OPEN, is_site=lambda url: False))

    assert caught.value.url == server.url + "/paper"


async def test_a_tab_that_dies_is_told_and_the_next_page_read(browser: Browser) -> None:
    def reply(call: Call) -> Reply:
        if call.path == "/killed":
            return 200, HTML, pieces()
        return 200, HTML, page(STORY)

    def pieces() -> Iterator[bytes]:
        before = set(renderers())
        yield b"<!DOCTYPE html><title>T</title>" + b"<p>first words</p>" * 200
        server.stopped.wait(0.5)
        for process in before | set(renderers()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        yield b"<p>last words"

    with Loopback(reply) as server:
        with pytest.raises(Fault) as caught:
            await browser.render(server.url + "/killed", OPEN)
        fetched = await browser.render(server.url + "/next", OPEN)

    assert caught.value.kind in ("network", "browser_unavailable")
    assert "The kiln was lit" in say(fetched)


def renderers() -> list[int]:
    """The processes that hold pages."""

    return [process for process in find_processes() if "--type=renderer" in tell(process, "cmdline")]
