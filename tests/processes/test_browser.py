"""A real Chromium on loopback pages: what it renders, where it may not go, and that nothing of it is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.domains.scrape.browser.browser import Browser
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.result import Fetched
from specloom.net.connections import resolve_name
from tests.support.browser import MISSING, find_processes, is_running, needs_browser, page, until, wait_until
from tests.support.loopback import RESET, Call, Loopback, Reply
from tests.support.scrape_context import ARTICLE, HTML, OPTIONS, Names, open_desk, take_text

in_one_loop = pytest.mark.asyncio(loop_scope="module")
OPEN = replace(OPTIONS, chrome="", browser_timeout=60.0)


def say(fetched: Fetched) -> str:
    return take_text(fetched).text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    one = Browser(resolve=resolve_name)
    yield one
    await one.aclose()


# What is rendered


@needs_browser
@in_one_loop
async def test_a_page_that_only_a_script_writes_is_read(browser: Browser) -> None:
    script = (
        "setTimeout(() => { document.getElementById('root').innerHTML = '<p>written ' + 'later '.repeat(30) }, 150)"
    )
    with Loopback(lambda call: (200, HTML, page("<div id=root></div>", script))) as server:
        fetched = await browser.render(server.url + "/app#part", OPEN)

    assert say(fetched).startswith("written later")
    assert (fetched.tier, fetched.kind, fetched.status, fetched.url) == ("browser", "html", 200, server.url + "/app")
    assert "HeadlessChrome" not in server.calls[0].headers["user-agent"]


@needs_browser
@in_one_loop
async def test_data_that_a_script_fetches_is_waited_for(browser: Browser) -> None:
    script = "fetch('/data').then(r => r.json()).then(d => { document.body.append(d.words) })"

    def reply(call: Call) -> Reply:
        if call.path == "/data":
            return 200, {"Content-Type": "application/json"}, '{"words": "from the second request"}'
        return 200, HTML, page("<p>start</p>", script)

    with Loopback(reply) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "from the second request" in say(fetched)


@needs_browser
@in_one_loop
async def test_a_consent_wall_is_refused_and_what_is_behind_it_is_read(browser: Browser) -> None:
    wall = (
        "<div style='position:fixed;inset:0;background:#fff'><p>We use cookies.</p>"
        "<button onclick='go(1)'>Accept all</button><button onclick='go(0)'>Reject all</button></div>"
    )
    script = "function go(yes) { document.body.innerHTML = yes ? 'accepted' : '<p>' + 'refused '.repeat(20) + '</p>' }"
    with Loopback(lambda call: (200, HTML, page(wall, script))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert say(fetched).startswith("refused")


@needs_browser
@in_one_loop
async def test_a_button_of_the_page_itself_is_not_pressed(browser: Browser) -> None:
    body = "<p>Terms of the contest</p><button onclick='document.body.innerHTML = \"signed\"'>Accept</button>"
    with Loopback(lambda call: (200, HTML, page(body))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "Terms of the contest" in say(fetched)


@needs_browser
@in_one_loop
async def test_an_endless_list_is_followed_a_little_and_not_for_ever(browser: Browser) -> None:
    script = """
      let n = 0;
      function more() { for (let i = 0; i < 10; i++) {
        const item = document.createElement("p"); item.style.height = "200px"; item.textContent = "item " + n++;
        document.body.append(item); } }
      more(); addEventListener("scroll", () => setTimeout(more, 50));
    """
    with Loopback(lambda call: (200, HTML, page("", script))) as server:
        fetched = await browser.render(server.url, OPEN)

    items = say(fetched).count("item ")
    assert 20 <= items <= 100


@needs_browser
@in_one_loop
async def test_text_in_shadow_roots_is_seen(browser: Browser) -> None:
    script = """
      const root = document.querySelector("x-card").attachShadow({mode: "open"});
      root.innerHTML = "<style>p { color: red }</style><p>in the shadow: <slot></slot></p>";
    """
    with Loopback(lambda call: (200, HTML, page("<x-card>slotted</x-card>", script))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "in the shadow: slotted" in say(fetched)


@needs_browser
@in_one_loop
async def test_the_status_is_that_of_the_page_and_not_of_what_belongs_to_it(browser: Browser) -> None:
    def reply(call: Call) -> Reply:
        return (404 if call.path == "/gone" else 500), HTML, page("<p>gone</p>", "fetch('/missing')")

    with Loopback(reply) as server:
        fetched = await browser.render(server.url + "/gone", OPEN)

    assert fetched.status == 404


@needs_browser
@in_one_loop
async def test_a_page_that_checks_the_browser_is_given_the_time_to_let_it_in(browser: Browser) -> None:
    def reply(call: Call) -> Reply:
        if "passed=1" in call.headers.get("cookie", ""):
            return 200, HTML, ARTICLE
        script = "setTimeout(() => { document.cookie = 'passed=1'; location.reload() }, 1200)"
        return 503, HTML, page("<p>Checking your browser before accessing this page</p>", script)

    with Loopback(reply) as server:
        fetched = await browser.render(server.url, OPEN)

    assert (fetched.status, "Otters" in say(fetched)) == (200, True)


@needs_browser
@in_one_loop
async def test_pages_share_nothing(browser: Browser) -> None:
    with Loopback(lambda call: (200, HTML, page("x", "document.cookie = 'mine=1'; localStorage.a = 1"))) as server:
        await browser.render(server.url, OPEN)
        await browser.render(server.url, OPEN)

    pages = [call for call in server.calls if call.path == "/"]
    assert len(pages) == 2
    assert all("cookie" not in call.headers for call in pages)


@needs_browser
@in_one_loop
async def test_dialogs_and_new_windows_do_not_hold_a_page_up(browser: Browser) -> None:
    script = "alert('stop'); window.open('/other'); onbeforeunload = () => 'stay'; confirm('really?')"
    with Loopback(lambda call: (200, HTML, page("<p>still here</p>", script))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "still here" in say(fetched)


@needs_browser
@in_one_loop
async def test_a_page_cannot_open_windows_without_end(browser: Browser) -> None:
    script = "for (let n = 0; n < 300; n++) window.open('/window/' + n); document.body.append('done')"
    with Loopback(lambda call: (200, HTML, page("<p>here</p>", script if call.path == "/" else ""))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "done" in say(fetched)
    assert len([call for call in server.calls if call.path.startswith("/window")]) <= 3


@needs_browser
@in_one_loop
async def test_a_page_that_never_comes_to_rest_is_given_up_and_the_next_one_read(browser: Browser) -> None:
    with Loopback(lambda call: (200, HTML, page("", "for (;;);") if call.path == "/stuck" else ARTICLE)) as server:
        with pytest.raises(Fault) as caught:
            await browser.render(server.url + "/stuck", replace(OPEN, browser_timeout=3.0))
        fetched = await browser.render(server.url + "/next", OPEN)

    assert caught.value.kind == "network"
    assert "Otters" in say(fetched)


@needs_browser
@in_one_loop
async def test_a_huge_document_is_cut(browser: Browser) -> None:
    script = "document.body.append('x'.repeat(3_000_000))"
    with Loopback(lambda call: (200, HTML, page("", script))) as server:
        fetched = await browser.render(server.url, replace(OPEN, max_html_bytes=100_000))

    assert len(fetched.body) == 100_000


# Where it may not go


@needs_browser
@in_one_loop
@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/", "http://metadata.google.internal/", "https://169.254.169.254/"]
)
@pytest.mark.parametrize("how", ["redirect", "script", "refresh"])
async def test_a_page_cannot_lead_where_nobody_may_go(browser: Browser, target: str, how: str) -> None:
    def reply(call: Call) -> Reply:
        if how == "redirect":
            return 302, {"Location": target}, ""
        if how == "script":
            return 200, HTML, page("<p>first</p>", f"location.href = '{target}'")
        return 200, HTML, f'<html><head><meta http-equiv="refresh" content="0;url={target}"></head>first</html>'

    with Loopback(reply) as server, pytest.raises(Fault) as caught:
        await browser.render(server.url, OPEN)

    assert caught.value.kind == "validation"
    assert "is refused" in caught.value.message


@needs_browser
@in_one_loop
async def test_the_loopback_is_refused_unless_the_operator_allows_it(browser: Browser) -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
        with pytest.raises(Fault) as caught:
            await browser.render(server.url, replace(OPEN, allow_private=False))

        assert server.calls == []
    assert caught.value.kind == "validation"


@needs_browser
@in_one_loop
async def test_what_a_page_loads_is_refused_like_the_page_and_the_page_is_still_read(browser: Browser) -> None:
    script = """
      for (const url of ["https://169.254.169.254/x", "https://metadata.google.internal/", "https://127.0.0.1:25/"])
        fetch(url, {mode: "no-cors"}).then(() => document.body.append("REACHED"), () => 0);
      new WebSocket("ws://169.254.169.254/").onopen = () => document.body.append("REACHED");
    """
    with Loopback(lambda call: (200, HTML, page("<p>the page</p>", script))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "the page" in say(fetched)
    assert "REACHED" not in say(fetched)


@needs_browser
@in_one_loop
async def test_nothing_goes_past_the_proxy_as_datagrams(browser: Browser) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        script = f"""
          const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:{listener.getsockname()[1]}"}}]}});
          peer.createDataChannel("x");
          peer.onicegatheringstatechange = () => document.body.append(peer.iceGatheringState);
          peer.createOffer().then(offer => peer.setLocalDescription(offer));
        """
        with Loopback(lambda call: (200, HTML, page("<p>gathering: </p>", script))) as server:
            fetched = await browser.render(server.url, OPEN)

        assert "complete" in say(fetched)
        with pytest.raises(BlockingIOError):
            listener.recv(100)


@needs_browser
@in_one_loop
@pytest.mark.parametrize("url", ["file:///etc/passwd", "data:text/html,x", "chrome://version", "view-source:http://a/"])
async def test_a_page_cannot_open_what_is_no_page(browser: Browser, url: str) -> None:
    with Loopback(lambda call: (200, HTML, page("<p>first</p>", f"location.href = '{url}'"))) as server:
        fetched = await browser.render(server.url, OPEN)

    assert "first" in say(fetched)
    assert b"root:" not in fetched.body


@needs_browser
async def test_a_name_that_changes_its_address_is_caught() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    with Loopback(lambda call: (200, HTML, page("<p>first</p>", "location.href = '/second'"))) as server:
        browser = Browser(resolve=names)
        try:
            with pytest.raises(Fault) as caught:
                await browser.render(f"http://pages.example:{server.port}/", OPEN)
        finally:
            await browser.aclose()

    assert caught.value.kind == "validation"
    assert "cloud metadata" in caught.value.message
    assert set(names.asked) == {"pages.example"}


@needs_browser
@in_one_loop
async def test_a_host_that_cannot_be_reached_is_a_network_fault(browser: Browser) -> None:
    with Loopback(lambda call: RESET) as server:
        with pytest.raises(Fault) as reset:
            await browser.render(server.url, OPEN)
        url = server.url
    with pytest.raises(Fault) as closed:
        await browser.render(url, OPEN)

    assert (reset.value.kind, closed.value.kind) == ("network", "network")
    assert "refused" in closed.value.message


@needs_browser
@in_one_loop
async def test_a_file_to_save_is_no_page(browser: Browser) -> None:
    headers = {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename=a.bin"}
    with Loopback(lambda call: (200, headers, b"\x00" * 10)) as server, pytest.raises(Fault) as caught:
        await browser.render(server.url, OPEN)

    assert caught.value.kind == "content_empty"


# On the ladder


@needs_browser
async def test_an_app_is_read_in_the_browser_when_its_shell_says_little() -> None:
    app = page("<div id=root></div>", "root.append('written by a script '.repeat(20))")
    async with open_desk(options=OPEN) as (context, session):
        with Loopback(lambda call: (200, HTML, app)) as server:
            reading = await fallback.read(server.url, context=context, options=OPEN, extract=take_text, session=session)

    assert (reading.tier, reading.quality) == ("browser", "complete")
    assert [outcome.tier for outcome in reading.outcomes] == ["html", "stealth", "browser"]


@needs_browser
async def test_hosts_that_need_a_browser_are_read_in_it_first() -> None:
    async with open_desk(options=OPEN, resolve=Names(["127.0.0.1"])) as (context, session):
        with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
            url = f"http://app.acme.example:{server.port}/"
            reading = await fallback.read(url, context=context, options=OPEN, extract=take_text, session=session)

    assert [outcome.tier for outcome in reading.outcomes] == ["browser"]
    assert context.sent == []


@needs_browser
async def test_a_page_too_large_to_fetch_is_read_from_its_beginning() -> None:
    options = replace(OPEN, max_html_bytes=20_000, max_document_bytes=20_000)
    with Loopback(lambda call: (200, HTML, "<p>the beginning</p>" * 5000)) as server:
        async with open_desk(options=options) as (context, session):
            reading = await fallback.read(
                server.url, context=context, options=options, extract=take_text, session=session
            )

    assert (reading.tier, len(reading.fetched.body)) == ("browser", 20_000)
    assert [outcome.kind for outcome in reading.outcomes] == ["too_large", "ok"]


@needs_browser
async def test_a_redirect_to_a_forbidden_place_in_the_browser_ends_the_climb() -> None:
    target = "http://169.254.169.254/latest/"
    body = page("<div id=root></div>", f"location.href = '{target}'")
    services = {"contents": lambda arguments: Answer()}
    async with open_desk(options=OPEN, services=services) as (context, session):
        with Loopback(lambda call: (200, HTML, body)) as server, pytest.raises(Fault) as caught:
            await fallback.read(server.url, context=context, options=OPEN, extract=take_text, session=session)

    assert caught.value.kind == "validation"
    assert context.asked == []


# Its life


@needs_browser
@in_one_loop
async def test_a_page_that_takes_too_long_is_given_up(browser: Browser) -> None:
    server = Loopback(lambda call: (200, HTML, ""))

    def hang(call: Call) -> Reply:
        server.stopped.wait(20)
        return 200, HTML, ""

    server.handler = hang
    with server, pytest.raises(Fault) as caught:
        await browser.render(server.url, replace(OPEN, browser_timeout=1.0))

    assert caught.value.kind == "network"


@needs_browser
async def test_after_a_crash_the_next_page_gets_a_new_browser() -> None:
    browser = Browser(resolve=resolve_name)
    try:
        with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
            await browser.render(server.url, OPEN)
            for process in find_processes():
                # Those in the sandbox go with the first one.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            fetched = await browser.render(server.url, OPEN)

        assert "Otters" in say(fetched)
        assert browser.starts == 2
    finally:
        await browser.aclose()


@needs_browser
async def test_an_idle_browser_is_closed() -> None:
    browser = Browser(resolve=resolve_name, idle=0.05)
    try:
        with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
            await browser.render(server.url, OPEN)
        await until(lambda: not browser.is_running and not browser._tasks)

        await until(lambda: not find_processes())
    finally:
        await browser.aclose()


@needs_browser
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["close", "kill"])
def test_nothing_is_left_when_the_process_ends(how: str) -> None:
    # A browser keeps a socket beside its profile, and the path of a socket is short: pytest's folders are too deep.
    folder = Path(tempfile.mkdtemp(prefix="b-"))
    code = (
        "import asyncio, sys\n"
        "from specloom.net.connections import resolve_name\n"
        "from specloom.domains.scrape.browser.browser import Browser\n"
        "from specloom.domains.scrape.options import Options\n"
        "async def main():\n"
        "    browser = Browser(resolve=resolve_name)\n"
        "    try:\n"
        "        options = Options(allow_private=True, browser_timeout=120.0, deadline=150.0)\n"
        "        await browser.render('http://127.0.0.1:1/', options)\n"
        "    except Exception as fault:\n"
        "        print('up', browser.is_running, flush=True)\n"
        "    sys.stdin.read()\n"
        "    await browser.aclose()\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"TMPDIR": str(folder)}
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    with child:
        child.stdout.readline()
        ours = find_processes(child.pid)
        if how == "kill":
            child.kill()
        child.stdin.close()
        child.wait(120)

    assert len(ours) > 2
    wait_until(lambda: not any(is_running(process) for process in ours))
    # Where this process was killed, the driver outlives it just long enough to take the profile away.
    wait_until(lambda: not list(folder.glob("playwright_chromiumdev_profile-*")))
    shutil.rmtree(folder, ignore_errors=True)


@needs_browser
@pytest.mark.slow
async def test_fifty_pages_leave_no_process_behind() -> None:
    options = replace(OPEN, deadline=300.0)
    app = page("<div id=root></div>", "root.append('word '.repeat(40))")
    async with open_desk(options=options) as (context, session):
        with Loopback(lambda call: (200, HTML, app)) as server:

            async def read(number: int) -> str:
                url = f"{server.url}/{number}"
                reading = await fallback.read(url, context=context, options=options, extract=take_text, session=session)
                return reading.tier

            await read(0)
            few = len(find_processes())
            tiers = await asyncio.gather(*(read(number) for number in range(1, 51)))
            # Renderers of closed pages end a moment after them.
            await until(lambda: len(find_processes()) <= few + 1)

        assert set(tiers) == {"browser"}
        assert session.browser.starts == 1
    await until(lambda: not find_processes())


@pytest.mark.parametrize(
    ("setting", "words"),
    [("disabled", "switched off"), ("DISABLED", "switched off"), ("/no/such/chrome", "CHROME_PATH")],
)
async def test_without_a_browser_one_sentence_says_why(setting: str, words: str) -> None:
    browser = Browser(resolve=resolve_name)

    with pytest.raises(Fault) as caught:
        await browser.render("https://example.org/", replace(OPEN, chrome=setting))

    assert caught.value.kind == "browser_unavailable"
    assert words in caught.value.message
    assert not browser.is_available(setting)


async def test_a_program_that_is_no_browser_is_told() -> None:
    if MISSING:
        pytest.skip(MISSING)
    browser = Browser(resolve=resolve_name)

    with pytest.raises(Fault) as caught:
        await browser.render("https://example.org/", replace(OPEN, chrome="/bin/false"))

    assert caught.value.kind == "browser_unavailable"
    assert caught.value.message.startswith("chrome launch failed")
