"""A page is read with as few requests as it takes, and a failure tells how every tier fared."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.domains.scrape.fetch import fallback
from specloom.domains.scrape.result import Candidate, Fetched
from specloom.net.connections import resolve_name
from tests.support.loopback import RESET, Call, Loopback, Reply
from tests.support.scrape_context import ARTICLE, HTML, OPTIONS, Names, fail, open_desk, read, take_text
from tests.support.traces import tracing

SHELL = (
    "<html><head><title>App</title></head><body><div id='root'>Loading</div>" + "<script>x</script>" * 200 + "</body>"
)
WALL = "<html><head><title>Just a moment...</title></head><body>Checking your browser before accessing</body></html>"
MARKDOWN = "# Otters\n\nThey *sleep* on their backs, see [the list](https://example.org/list).\n\n- one\n- two\n" * 5


def is_browser(call: Call) -> bool:
    return "sec-fetch-mode" in call.headers


def by_identity(robot: Reply, browser: Reply) -> Callable[[Call], Reply]:
    return lambda call: browser if is_browser(call) else robot


# One request where one is enough


async def test_a_good_page_is_fetched_once() -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
        reading = await read(server.url + "/otters")

    assert [call.target for call in server.calls] == ["/otters"]
    assert (reading.tier, reading.quality, reading.candidate.payload) == ("html", "complete", "extracted")
    assert reading.url == server.url + "/otters"
    assert [(outcome.tier, outcome.kind) for outcome in reading.outcomes] == [("html", "ok")]


async def test_the_first_request_is_honest_and_prefers_markdown() -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
        await read(server.url)

    headers = server.last.headers
    assert headers["accept"].startswith("text/markdown, text/html;q=0.9")
    assert "specloom/" in headers["user-agent"]
    assert not is_browser(server.last)


async def test_each_tier_that_is_tried_is_a_span_that_names_no_page() -> None:
    with tracing() as spans, Loopback(by_identity((403, HTML, WALL), (200, HTML, ARTICLE))) as server:
        await read(server.url + "/otters")

    told = [(one.name, (one.attributes or {})["http.response.status_code"]) for one in spans.list()]
    assert told == [("tier html", 403), ("tier stealth", 200)]
    assert "otters" not in spans.text()


@pytest.mark.parametrize("content_type", ["text/markdown", "text/plain; charset=utf-8"])
async def test_markdown_is_taken_as_such_with_the_same_request(content_type: str) -> None:
    with Loopback(lambda call: (200, {"Content-Type": content_type}, MARKDOWN)) as server:
        reading = await read(server.url)

    assert len(server.calls) == 1
    assert (reading.tier, reading.fetched.kind) == ("markdown", "markdown")


@pytest.mark.parametrize("path", ["/page.py", "/a/b.vue", "/App.PHP"])
async def test_a_file_of_source_is_no_markdown_whatever_its_comments_look_like(path: str) -> None:
    with Loopback(lambda call: (200, {"Content-Type": "text/plain"}, MARKDOWN)) as server:
        source = await read(server.url + path)
        others = [await read(server.url + other) for other in ("/notes.txt", "/README.md", "/docs/v1.2", "/page")]

    assert (source.tier, source.fetched.kind, source.quality) == ("html", "text", "complete")
    assert {other.tier for other in others} == {"markdown"}


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("text/plain", "Twelve words."), ("application/json", '{"ok": true}'), ("application/xml", "<a>1</a>")],
)
async def test_a_short_text_or_data_file_is_complete_as_it_is(content_type: str, body: str) -> None:
    with Loopback(lambda call: (200, {"Content-Type": content_type}, body)) as server:
        reading = await read(server.url)

    assert len(server.calls) == 1
    assert (reading.tier, reading.fetched.kind, reading.quality) == ("html", "text", "complete")


async def test_html_that_calls_itself_plain_text_is_html() -> None:
    with Loopback(lambda call: (200, {"Content-Type": "text/plain"}, "<!DOCTYPE html>" + ARTICLE)) as server:
        reading = await read(server.url)

    assert reading.fetched.kind == "html"


@pytest.mark.parametrize("content_type", ["application/pdf", "text/html", "application/octet-stream"])
async def test_a_pdf_in_disguise_is_handed_on_as_a_document(content_type: str) -> None:
    with Loopback(lambda call: (200, {"Content-Type": content_type}, b"%PDF-1.7 text of it")) as server:
        reading = await read(server.url + "/paper")

    assert (reading.fetched.kind, len(server.calls)) == ("document", 1)


async def test_what_is_neither_page_nor_document_ends_the_climb() -> None:
    with Loopback(lambda call: (200, {"Content-Type": "image/png"}, b"\x89PNG\x00\x01")) as server:
        fault = await fail(server.url)

    assert fault.kind == "content_empty"
    sentence = (
        "image/png is not a page or document that can be read: it is a picture; look for a page that describes it."
    )
    assert fault.message.endswith(f"— {sentence}")
    assert fault.detail.startswith("html: image/png is not a page")
    assert fault.action == "inform_user"
    assert len(server.calls) == 1


# The climb


@pytest.mark.parametrize(
    "refusal",
    [(403, HTML, "no"), (503, HTML, "later"), (200, HTML, WALL), (200, HTML, SHELL), (406, HTML, ""), RESET],
    ids=["403", "503", "wall", "shell", "406", "reset"],
)
async def test_a_refused_page_is_asked_for_as_a_browser(refusal: Reply) -> None:
    with Loopback(by_identity(refusal, (200, HTML, ARTICLE))) as server:
        reading = await read(server.url)

    assert (reading.tier, reading.quality, len(server.calls)) == ("stealth", "complete", 2)
    assert "Chrome/131" in server.last.headers["user-agent"]
    assert server.last.headers["sec-ch-ua-platform"] == '"macOS"'


async def test_an_honest_reader_never_pretends() -> None:
    with Loopback(by_identity((403, HTML, "no"), (200, HTML, ARTICLE))) as server:
        fault = await fail(server.url, identity="honest")

    assert fault.kind == "blocked"
    assert not any(is_browser(call) for call in server.calls)


async def test_the_same_answer_twice_is_not_extracted_twice() -> None:
    seen: list[Fetched] = []

    def extract(fetched: Fetched) -> Candidate:
        seen.append(fetched)
        return take_text(fetched)

    with Loopback(lambda call: (200, HTML, SHELL)) as server:
        async with open_desk() as (context, session):
            reading = await fallback.read(
                server.url, context=context, options=OPTIONS, extract=extract, session=session
            )

    assert len(seen) == 1
    assert reading.outcomes[1].message == "the same answer as before"


async def test_a_shell_is_still_better_than_nothing() -> None:
    with Loopback(lambda call: (200, HTML, SHELL)) as server:
        reading = await read(server.url)

    assert (reading.quality, reading.candidate.text) == ("partial", "Loading")


async def test_a_wall_is_never_content() -> None:
    with Loopback(lambda call: (200, HTML, WALL)) as server:
        fault = await fail(server.url)

    assert fault.kind == "blocked"
    assert fault.message.startswith("Blocked: ")
    assert "html: a wall against robots" in fault.detail


async def test_an_asynchronous_extractor_is_awaited() -> None:
    async def extract(fetched: Fetched) -> Candidate:
        return take_text(fetched)

    with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
        async with open_desk() as (context, session):
            reading = await fallback.read(
                server.url, context=context, options=OPTIONS, extract=extract, session=session
            )

    assert reading.quality == "complete"


# What failed


@pytest.mark.parametrize(
    ("status", "kind", "begins", "calls"),
    [
        (404, "not_found", "Not found: ", 2),
        (410, "not_found", "Not found: ", 1),
        (401, "auth_required", "Auth required: ", 2),
        (403, "blocked", "Blocked: ", 2),
        (429, "rate_limited", "Rate limited on ", 2),
        (500, "network", "Network error on ", 2),
    ],
)
async def test_a_status_has_a_kind_of_fault_and_a_sentence(status: int, kind: str, begins: str, calls: int) -> None:
    with Loopback(lambda call: (status, HTML, "no")) as server:
        fault = await fail(server.url + "/page?key=value")

    assert (fault.kind, len(server.calls)) == (kind, calls)
    assert fault.message.startswith(begins)
    assert "value" not in fault.message
    assert fault.detail.startswith(f"html: HTTP {status}")


async def test_a_log_in_wall_is_for_the_user_to_hear_of() -> None:
    with Loopback(lambda call: (401, HTML, "")) as server:
        fault = await fail(server.url)

    assert fault.to_json()["error"]["suggestedAction"] == "inform_user"


async def test_the_most_definitive_kind_wins() -> None:
    with Loopback(by_identity((403, HTML, "no"), (404, HTML, "gone"))) as server:
        fault = await fail(server.url)

    assert fault.kind == "not_found"
    assert fault.detail.startswith("html: HTTP 403; stealth: HTTP 404")


NOT_FOUND = "<html><head><title>Page not found</title></head><body><h1>404</h1><p>{}</p></body></html>"
"""A page for people that says that it is not there."""


async def test_a_page_for_people_that_says_404_is_asked_for_once() -> None:
    text = "Sorry, the page you are looking for does not exist."
    with Loopback(lambda call: (404, HTML, NOT_FOUND.format(text))) as server:
        fault = await fail(server.url + "/gone")

    assert (fault.kind, len(server.calls)) == ("not_found", 1)


@pytest.mark.parametrize("body", ["", "no", NOT_FOUND.format("<div id=root></div>")])
async def test_a_404_without_such_a_page_may_be_for_robots_alone(body: str) -> None:
    with Loopback(by_identity((404, HTML, body), (200, HTML, ARTICLE))) as server:
        reading = await read(server.url + "/otters")

    assert (reading.tier, reading.quality) == ("stealth", "complete")


async def test_no_listener_is_a_network_fault_after_one_try() -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
        url = server.url
    fault = await fail(url)

    assert fault.kind == "network"
    assert fault.detail.count("could not be reached") == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_a_wall_is_no_call_to_come_back_later_whatever_its_status(status: int) -> None:
    with Loopback(lambda call: (status, HTML, "<script>window.KPSDK={}</script>")) as server:
        fault = await fail(server.url)

    assert fault.kind == "blocked"
    assert f"html: HTTP {status}, a wall against robots" in fault.detail


async def test_a_wall_that_asks_for_consent_is_told_as_one() -> None:
    def reply(call: Call) -> Reply:
        if call.path == "/zustimmung":
            return 200, HTML, "<p>We and our partners use cookies. Subscribe, or agree to tracking.</p>" * 2
        return 302, {"Location": "/zustimmung?for=/a"}, ""

    with Loopback(reply) as server:
        fault = await fail(server.url + "/a")

    assert fault.kind == "blocked"
    assert fault.message.startswith(f"Blocked: {server.url}/a — it asks for consent to cookies")
    assert "html: a wall that asks for consent" in fault.detail


async def test_a_long_rest_is_respected_and_told() -> None:
    with Loopback(lambda call: (429, {"Retry-After": "120"}, "")) as server:
        async with open_desk() as (context, session):
            for _ in range(2):
                with pytest.raises(Fault) as caught:
                    await fallback.read(
                        server.url, context=context, options=OPTIONS, extract=take_text, session=session
                    )

    assert len(server.calls) == 1
    assert caught.value.kind == "rate_limited"
    assert caught.value.retry_after in (119, 120)


async def test_each_line_of_the_detail_is_short() -> None:
    with Loopback(lambda call: (302, {"Location": "https://" + "a" * 300 + ".example/"}, "")) as server:
        fault = await fail(server.url)

    assert all(len(part.partition(": ")[2]) <= 120 for part in fault.detail.split("; "))


async def test_the_whole_call_has_a_deadline() -> None:
    server = Loopback(lambda call: (200, HTML, ARTICLE))

    def hang(call: Call) -> Reply:
        server.stopped.wait(20)
        return 200, HTML, ""

    server.handler = hang
    with server:
        fault = await fail(server.url, deadline=0.2)

    assert fault.kind == "network"
    assert "not finished within 0.2 seconds" in fault.detail


async def test_a_hanging_tier_leaves_time_for_the_next() -> None:
    server = Loopback(lambda call: (200, HTML, ARTICLE))

    def hang(call: Call) -> Reply:
        if not is_browser(call):
            server.stopped.wait(20)
        return 200, HTML, ARTICLE

    server.handler = hang
    with server:
        reading = await read(server.url, plain_timeout=0.2)

    assert reading.tier == "stealth"


async def test_a_document_gets_more_time_than_a_page() -> None:
    server = Loopback(lambda call: (200, HTML, ARTICLE))

    def answer(call: Call) -> Reply:
        # A document comes late, and a page never does.
        server.stopped.wait(0.5 if call.path == "/paper.pdf" else 60)
        return 200, HTML, ARTICLE

    server.handler = answer
    limits = {"plain_timeout": 0.1, "stealth_timeout": 0.1, "document_timeout": 60.0}
    with server:
        reading = await read(server.url + "/paper.pdf", **limits)
        fault = await fail(server.url + "/page", **limits)

    assert (reading.tier, fault.kind) == ("html", "network")


async def test_cancelling_a_reading_stops_it() -> None:
    server = Loopback(lambda call: (200, HTML, ARTICLE))
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang(call: Call) -> Reply:
        loop.call_soon_threadsafe(asked.set)
        server.stopped.wait(20)
        return 200, HTML, ""

    server.handler = hang
    with server:
        task = asyncio.create_task(read(server.url))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert len(server.calls) == 1


# Redirects


async def test_redirects_are_followed_and_the_end_is_told() -> None:
    replies = {"/a": (301, {"Location": "/b"}, ""), "/b": (302, {"Location": "c?x=1"}, ""), "/c": (200, HTML, ARTICLE)}
    with Loopback(lambda call: replies[call.path]) as server:
        reading = await read(server.url + "/a")

    assert reading.url == server.url + "/c?x=1"
    assert [call.target for call in server.calls] == ["/a", "/b", "/c?x=1"]


async def test_a_page_that_only_refreshes_to_another_is_followed() -> None:
    head = '<html><head><meta http-equiv="refresh" content="0; url=/real?a=1&amp;b=2"></head></html>'
    with Loopback(lambda call: (200, HTML, ARTICLE if call.path == "/real" else head)) as server:
        reading = await read(server.url)

    assert reading.url == server.url + "/real?a=1&b=2"
    assert len(server.calls) == 2


@pytest.mark.parametrize(("value", "follows"), [("0; url=/end", True), ("3;URL='/end'", True), ("60; url=/end", False)])
async def test_a_header_that_refreshes_to_another_page_is_followed_where_it_is_soon(value: str, follows: bool) -> None:
    def reply(call: Call) -> Reply:
        return (
            (200, HTML, ARTICLE)
            if call.path == "/end"
            else (200, {**HTML, "Refresh": value}, "<p>Please wait.</p>" * 9)
        )

    with Loopback(reply) as server:
        reading = await read(server.url + "/start")

    assert reading.url == server.url + ("/end" if follows else "/start")


async def test_a_cookie_opens_the_door_to_a_site_that_redirects_until_it_sees_it() -> None:
    def reply(call: Call) -> Reply:
        if call.headers.get("cookie") == "seen=1; other=x":
            return 200, HTML, ARTICLE
        cookies = [("Set-Cookie", "seen=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/"), ("Set-Cookie", "other=x")]
        return 302, [("Location", call.target), *cookies], ""

    with Loopback(reply) as server:
        reading = await read(server.url)

    assert (reading.tier, len(server.calls)) == ("html", 2)


async def test_cookies_do_not_outlive_a_reading_or_leave_their_host() -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE)) as other:
        target = other.url.replace("127.0.0.1", "localhost")

        def reply(call: Call) -> Reply:
            return 302, {"Location": target, "Set-Cookie": "mine=1"}, ""

        with Loopback(reply) as server:
            await read(server.url)
            await read(server.url)

    assert all("cookie" not in call.headers for call in [*server.calls, *other.calls])


@pytest.mark.parametrize("where", ["/", "/next"])
async def test_circles_and_long_chains_end(where: str) -> None:
    def reply(call: Call) -> Reply:
        step = len(server.calls)
        return 302, {"Location": where if where == "/" else f"/next{step}"}, ""

    with Loopback(reply) as server:
        fault = await fail(server.url + "/", redirects=4)

    assert fault.kind == "network"
    assert "redirects" in fault.detail
    assert len(server.calls) <= 10


# Raw mode


async def test_raw_gives_the_original_bytes_and_their_type() -> None:
    body = b'{"caf\xc3\xa9": 1}'
    with Loopback(lambda call: (200, {"Content-Type": "application/json"}, body)) as server:
        reading = await read(server.url, mode="raw")

    assert (reading.body, reading.truncated) == (body, False)
    assert reading.fetched.content_type == "application/json"
    assert reading.candidate.payload is None


async def test_raw_is_cut_between_characters() -> None:
    with Loopback(lambda call: (200, {"Content-Type": "text/plain"}, "ab" + "é" * 50)) as server:
        reading = await read(server.url, mode="raw", max_length=5)

    assert (reading.body.decode("utf-8"), reading.truncated) == ("abé", True)


async def test_raw_gives_a_shell_and_climbs_over_a_wall() -> None:
    with Loopback(lambda call: (200, HTML, SHELL)) as server:
        shell = await read(server.url, mode="raw")
    with Loopback(by_identity((200, HTML, WALL), (200, HTML, ARTICLE))) as server:
        behind = await read(server.url, mode="raw")

    assert (shell.tier, shell.body) == ("html", SHELL.encode())
    assert (behind.tier, behind.body) == ("stealth", ARTICLE.encode())


async def test_services_never_see_a_raw_reading() -> None:
    asked: list = []
    services = {"reader": lambda arguments: Answer(), "contents": lambda arguments: Answer()}
    with Loopback(lambda call: (403, HTML, "")) as server:
        await fail(server.url, mode="raw", services=services, asked=asked, reader=True)

    assert asked == []


# Services and iframes


def say(**row: object) -> Callable[[object], Answer]:
    return lambda arguments: Answer([row])


async def test_a_reader_service_is_asked_only_when_it_is_switched_on() -> None:
    services = {"reader": say(text="word " * 60, title="Otters", published_at="2026-01-05", author=None)}
    asked: list = []
    with Loopback(lambda call: (403, HTML, "")) as server:
        await fail(server.url, services=services, asked=asked)
        none = list(asked)
        reading = await read(server.url, services=services, asked=asked, reader=True)

    facts = {"title": "Otters", "published": "2026-01-05"}
    assert none == []
    assert asked == [("reader", {"url": server.url + "/", "max_length": 50_000})]
    assert (reading.tier, reading.fetched.kind, reading.fetched.facts) == ("jina", "markdown", facts)


async def test_the_paid_service_comes_last_and_says_where_its_text_is_from() -> None:
    services = {"contents": say(text="word " * 60, source="cached")}
    with Loopback(lambda call: (403, HTML, "")) as server:
        reading = await read(server.url, services=services)

    assert (reading.tier, reading.quality) == ("exa:cached", "complete")
    assert [outcome.tier for outcome in reading.outcomes] == ["html", "stealth", "browser", "exa:cached"]


async def test_the_paid_service_is_not_asked_for_a_page_that_is_gone_or_good_or_refused_here() -> None:
    asked: list = []
    services = {"contents": say(text="word " * 60)}
    with Loopback(lambda call: (404 if call.path == "/gone" else 200, HTML, ARTICLE)) as server:
        await fail(server.url + "/gone", services=services, asked=asked)
        await read(server.url + "/good", services=services, asked=asked)
        await fail(server.url, services=services, asked=asked, allow_private=False)

    assert asked == []


@pytest.mark.parametrize("kind", ["auth_required", "rate_limited", "validation", "too_large", "network"])
async def test_a_failing_service_does_not_hide_what_the_page_was(kind: str) -> None:
    def refuse(arguments: object) -> Answer:
        raise Fault(kind, "the service refused its key")

    with Loopback(lambda call: (403, HTML, "")) as server:
        fault = await fail(server.url, services={"contents": refuse})

    assert fault.kind == "blocked"
    assert "exa: the service refused its key" in fault.detail


async def test_a_shell_that_frames_a_page_gives_that_page() -> None:
    shell = SHELL.replace("Loading", '<iframe src="/inner"></iframe>')
    asked: list = []
    with Loopback(lambda call: (200, HTML, ARTICLE if call.path == "/inner" else shell)) as server:
        reading = await read(server.url, asked=asked, services={"contents": say(text="x" * 200)})

    assert (reading.url, reading.quality) == (server.url + "/inner", "complete")
    assert [call.path for call in server.calls] == ["/", "/inner"]
    assert asked == []


@pytest.mark.parametrize("order", [("/menu", "/inner"), ("/inner", "/menu")])
async def test_of_two_framed_pages_the_better_one_is_read(order: tuple[str, str]) -> None:
    shell = SHELL.replace("Loading", "".join(f'<iframe src="{path}"></iframe>' for path in order))
    pages = {"/inner": ARTICLE, "/menu": "<html><body><a href=/a>Start</a> <a href=/b>Search</a></body></html>"}
    with Loopback(lambda call: (200, HTML, pages.get(call.path, shell))) as server:
        reading = await read(server.url)

    assert (reading.url, reading.quality) == (server.url + "/inner", "complete")
    assert [outcome.tier for outcome in reading.outcomes] == ["html", "iframe", "iframe"]


async def test_frames_inside_frames_and_frames_in_forbidden_places_are_left() -> None:
    frames = (
        '<iframe src="/a"></iframe><iframe src="file:///etc/passwd"></iframe><iframe src="http://[::1]:1/"></iframe>'
    )
    with Loopback(lambda call: (200, HTML, SHELL.replace("Loading", frames))) as server:
        await fail(server.url)

    assert [call.path for call in server.calls].count("/a") <= 2


async def test_a_large_document_is_read_although_its_address_does_not_say_what_it_is() -> None:
    body = b"%PDF-1.7 " + b"x" * 5000
    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, body)) as server:
        reading = await read(server.url, max_html_bytes=1000, max_document_bytes=10_000)
        methods = [call.method for call in server.calls]
        fault = await fail(server.url, max_html_bytes=1000, max_document_bytes=2000)

    assert reading.fetched.body == body
    assert methods == ["GET", "HEAD", "GET"]
    assert fault.kind == "too_large"


async def test_a_page_over_the_cap_is_told_as_too_large_and_not_asked_for_again() -> None:
    with Loopback(lambda call: (200, HTML, "x" * 5000)) as server:
        fault = await fail(server.url, max_html_bytes=1000)

    assert fault.kind == "too_large"
    assert [call.method for call in server.calls] == ["GET", "HEAD"]


async def test_an_empty_answer_without_a_type_is_asked_for_again() -> None:
    with Loopback(by_identity((200, {}, ""), (200, HTML, ARTICLE))) as server:
        reading = await read(server.url)

    assert reading.tier == "stealth"


async def test_a_document_that_cannot_be_parsed_is_told_and_not_fetched_again() -> None:
    def extract(fetched: Fetched) -> Candidate:
        raise Fault("content_empty", "the PDF is encrypted")

    with Loopback(lambda call: (200, {"Content-Type": "application/pdf"}, b"%PDF-1.7")) as server:
        async with open_desk() as (context, session):
            with pytest.raises(Fault) as caught:
                await fallback.read(server.url, context=context, options=OPTIONS, extract=extract, session=session)

    assert caught.value.kind == "content_empty"
    assert caught.value.detail.startswith("html: the PDF is encrypted")
    assert len(server.calls) == 1


@pytest.mark.parametrize("kind", ["not_found", "content_empty", "blocked", "quota_exhausted", "network"])
@pytest.mark.parametrize("state", ["no name", "refused", "500", "429", "403"])
async def test_what_a_paid_service_says_never_takes_the_place_of_what_the_host_said(kind: str, state: str) -> None:
    """The kind, what to do and when to come back are those of the same page without a service."""

    def refuse(arguments: Mapping[str, Any]) -> Answer:
        raise Fault(kind, "the page does not exist, says the service")

    status = int(state) if state.isdigit() else 200
    names = Names([]) if state == "no name" else resolve_name
    with Loopback(lambda call: (status, {**HTML, "Retry-After": "90"}, "no")) as server:
        url = "http://otters.example/" if state == "no name" else server.url
        if state != "refused":
            alone = await fail(url, resolve=names)
            told = await fail(url, resolve=names, services={"contents": refuse})
    if state == "refused":
        alone, told = await fail(url), await fail(url, services={"contents": refuse})

    assert told.kind == alone.kind != "not_found"
    assert told.to_json()["error"] | {"detail": ""} == alone.to_json()["error"] | {"detail": ""}
    assert told.message == alone.message
    assert told.detail.endswith("exa: the page does not exist, says the service")


async def test_a_page_that_a_service_gives_and_that_says_it_is_missing_is_not_missing_for_that() -> None:
    services = {"contents": say(text="# Page not found\n\nSorry, the page does not exist.", source="cached")}
    with Loopback(lambda call: (500, HTML, "no")) as server:
        fault = await fail(server.url, services=services)

    assert fault.kind == "network"


@pytest.mark.parametrize("frame", ["https://www.googletagmanager.com/ns.html", "http://[", "ftp://a.example/", ""])
async def test_frames_that_never_hold_text_are_not_followed(frame: str) -> None:
    def extract(fetched: Fetched) -> Candidate:
        return Candidate("", frames=(frame,))

    with Loopback(lambda call: (200, HTML, SHELL)) as server:
        async with open_desk() as (context, session):
            with pytest.raises(Fault) as caught:
                await fallback.read(server.url, context=context, options=OPTIONS, extract=extract, session=session)

    assert "iframe" not in caught.value.detail


async def test_the_fault_is_one_sentence_and_a_block_for_programs() -> None:
    with Loopback(lambda call: (403, HTML, "")) as server:
        fault = await fail(server.url)

    block = json.loads(json.dumps(fault.to_json()))["error"]
    assert (block["kind"], block["retryable"]) == ("blocked", False)
    assert block["detail"] == fault.detail


def test_bodies_are_cut_before_a_torn_character() -> None:
    text = "aé€😀".encode()

    for most in range(len(text) + 2):
        fallback.cut(text, most).decode("utf-8")
    assert fallback.cut(b"\xff\xfe\xff\xfe", 3) == b"\xff\xfe\xff"
    assert replace(OPTIONS, max_length=1).max_length == 1
