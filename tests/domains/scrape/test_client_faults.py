"""Every kind of fault of both reading tools, from a loopback server to a client: the table of the tool contract."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.domains.scrape.options import Options
from specloom.domains.scrape.read import to_failure_ttl, to_key
from tests.support.documents import lines, make_pdf
from tests.support.loopback import RESET, Call, Loopback, Reply
from tests.support.scrape_client import ask, connected, refused, served
from tests.support.scrape_context import ARTICLE, HTML

APP = "<html><head><title>App</title></head><body><div id=root></div><script src=/a.js></script></body></html>"
WALL = "<html><head><title>Just a moment...</title></head><body>Checking your browser before accessing</body></html>"
LOGIN = "<html><body><form>Please log in to continue <input type=password name=p></form></body></html>"
FORM = "<html><head><title>Sign in</title></head><body><form><input name=u><input type=password></form></body></html>"
PDF = {"Content-Type": "application/pdf"}
KEY = "<" + "ab" * 32 + ">"
LOCKED = make_pdf(
    [lines(["Otters."])],
    trailer=f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O {KEY} /U {KEY} >> /ID [<00> <00>]",
)
SCAN = make_pdf([[]], picture=True)


@dataclass(frozen=True)
class Case:
    """What an address answers, and what a caller is told: the wire's kind, whether to retry, what to do."""

    kind: str
    action: str
    begins: str
    reply: Reply = (200, HTML, "")
    path: str = "/page"
    retryable: bool = False
    after: int | None = None
    reason: str | None = None
    settings: dict[str, str] = field(default_factory=dict)


def blocked(reply: Reply, why: str = " uses bot detection.") -> Case:
    return Case("blocked", "inform_user", f"Blocked: {{url}}{why} Try an alternative source", reply)


def network(reply: Reply, why: str) -> Case:
    begins = f"Network error on {{url}}: {why}"
    return Case("network", "retry_after_delay", begins, reply, retryable=True, after=5)


def rejected(location: str, **settings: str) -> Case:
    reply = (302, {"Location": location}, "")
    return Case("validation", "inform_user", "URL rejected for {url}: ", reply, settings=settings)


CIRCLE = "network: a circle of redirects"
CASES: dict[str, Case] = {
    "validation: a redirect to a metadata service": rejected("http://169.254.169.254/latest/"),
    "validation: a redirect to another scheme": rejected("file:///etc/passwd"),
    "validation: a redirect out of the allowed domains": rejected("http://localhost/", ALLOWED_DOMAINS="127.0.0.1"),
    "validation: a redirect to a port of mail": rejected("http://127.0.0.1:25/"),
    "network: a server error": network((500, HTML, ""), "HTTP 500. Check connectivity."),
    "network: a connection that breaks": network(RESET, "127.0.0.1 closed the connection before its answer was"),
    CIRCLE: network((302, {"Location": "/page"}, ""), "127.0.0.1 redirects in a circle"),
    "network: a body that cannot be unpacked": network(
        (200, {**HTML, "Content-Encoding": "gzip"}, b"no gzip at all"),
        "127.0.0.1 sent a body that cannot be decompressed",
    ),
    "blocked: 403": blocked((403, HTML, "no")),
    "blocked: 402": blocked((402, HTML, "no"), " — the site asks to be paid for it (HTTP 402)."),
    "blocked: 451": blocked((451, HTML, "no"), " — the site withholds it for legal reasons (HTTP 451)."),
    "blocked: a wall against robots": blocked((200, HTML, WALL)),
    "not_found: 404": Case("not_found", "inform_user", "Not found: {url} returned 404/410", (404, HTML, "")),
    "not_found: 410": Case("not_found", "inform_user", "Not found: {url} returned 404/410", (410, HTML, "")),
    "auth_required: 401": Case("auth_required", "inform_user", "Auth required: {url} is behind", (401, HTML, "")),
    "auth_required: a form for a password": Case(
        "auth_required", "inform_user", "Auth required: {url} is behind a login wall.", (200, HTML, LOGIN)
    ),
    "auth_required: a form and no words": Case(
        "auth_required", "inform_user", "Auth required: {url} is behind a login wall.", (200, HTML, FORM)
    ),
    "auth_required: a document under a password": Case(
        "auth_required", "inform_user", "Auth required: {url} — This PDF file needs a password.", (200, PDF, LOCKED)
    ),
    "rate_limited: 429 that says when": Case(
        "rate_limited",
        "retry_after_delay",
        "Rate limited on {url}. Retry in 120 seconds.",
        (429, {"Retry-After": "120"}, ""),
        retryable=True,
        after=120,
    ),
    "rate_limited: 429 that does not say when": Case(
        "rate_limited",
        "retry_after_delay",
        "Rate limited on {url}. Retry in 60",
        (429, {}, ""),
        retryable=True,
        after=60,
    ),
    "browser_unavailable: an app and no browser": Case(
        "browser_unavailable",
        "report_bug",
        "Scrape failed: Chrome unavailable. Set CHROME_PATH or install Chrome.",
        (200, HTML, APP),
        settings={"CHROME_PATH": "/no/such/chrome"},
    ),
    "content_empty: a page with nothing in it": Case(
        "content_empty", "report_bug", "No content extracted from {url}. May need browser", retryable=True
    ),
    "content_empty: a picture": Case(
        "content_empty",
        "inform_user",
        "No content extracted: {url} — image/png is not a page or document that can be read: it is a picture;",
        (200, {"Content-Type": "image/png"}, b"\x89PNG\x00"),
        retryable=True,
    ),
    "content_empty: a document of pictures": Case(
        "content_empty",
        "inform_user",
        "No content extracted: {url} — This PDF file has only pictures, as scans have;",
        (200, PDF, SCAN),
        path="/scan.pdf",
        retryable=True,
    ),
    "upstream_unavailable: a page beyond the cap": Case(
        "upstream_unavailable",
        "inform_user",
        "Too large: {url} is more than may be read",
        (200, HTML, "<p>more</p>" * 1000),
        reason="too_large",
        settings={"MAX_HTML_BYTES": "2000", "MAX_DOCUMENT_BYTES": "2000"},
    ),
}


def check(case: Case, url: str, sentence: str, block: Any) -> None:
    assert sentence.startswith(case.begins.format(url=url)), sentence
    assert (block["kind"], block["retryable"], block["suggestedAction"]) == (case.kind, case.retryable, case.action)
    assert (block.get("retryAfterSeconds"), block.get("reason")) == (case.after, case.reason)
    tier = block["detail"].partition(": ")
    assert tier[0] in {"html", "markdown", "guard"}, "the detail tells of each tier"


@pytest.mark.parametrize("name", CASES)
async def test_scrape_page_tells_every_kind_of_fault(name: str) -> None:
    case = CASES[name]
    with Loopback(lambda call: case.reply) as server:
        async with connected(**case.settings) as client:
            sentence, block = await refused(client, "scrape_page", url=server.url + case.path)

    check(case, server.url + case.path, sentence, block)


@pytest.mark.process
async def test_every_kind_of_fault_comes_over_stdio_and_the_server_goes_on(tmp_path: Path) -> None:
    def reply(call: Call) -> Reply:
        return (200, HTML, ARTICLE) if call.path == "/good" else cases.get(call.path, CASES[CIRCLE]).reply

    plain = {name: case for name, case in CASES.items() if not case.settings and case.kind != "rate_limited"}
    cases = {f"/{number}": case for number, case in enumerate(plain.values())}
    told = {}
    with Loopback(reply) as server:
        async with served(tmp_path) as client:
            for path in cases:
                told[path] = await refused(client, "scrape_page", url=server.url + path)
            after = await ask(client, "scrape_page", url=server.url + "/good")

    for path, case in cases.items():
        sentence, block = told[path]
        assert block["kind"] == case.kind
        assert sentence.startswith(case.begins.format(url=server.url + path).replace("/page", path))
    assert "Otters" in after["content"]


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ({"url": "http://127.0.0.1/"}, "URL rejected for http://127.0.0.1/: 127.0.0.1 is refused: it is a loopback"),
        ({"url": "http://[64:ff9b::7f00:1]/"}, "URL rejected for http://[64:ff9b::7f00:1]/: "),
        ({"url": "gopher://example.org/"}, "URL rejected for gopher://example.org/: "),
        ({"url": "https://user:word@example.org/"}, "URL rejected for https://example.org/: "),
        ({"url": ""}, 'url is ""'),
        ({}, "url is required"),
        ({"url": "https://example.org/", "mode": "whole"}, 'mode is "whole"; it may be full, preview, raw'),
    ],
)
@pytest.mark.parametrize("mode", ["full", "raw"])
async def test_what_may_not_be_read_is_refused_before_anything_is_sent(
    arguments: dict[str, str], begins: str, mode: str
) -> None:
    async with connected(allow_private=False) as client:
        sentence, block = await refused(client, "scrape_page", **{"mode": mode, **arguments})

    assert sentence.startswith(begins), sentence
    action = "inform_user" if begins.startswith("URL") else "fix_arguments"
    assert (block["kind"], block["retryable"], block["suggestedAction"]) == ("validation", False, action)


async def test_nobody_listening_and_a_certificate_that_nobody_signed_are_network_faults() -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE), tls=True) as server:
        async with connected() as client:
            _, unsigned = await refused(client, "scrape_page", url=server.url)
    async with connected() as client:
        sentence, closed = await refused(client, "scrape_page", url=server.url)

    assert (unsigned["kind"], closed["kind"]) == ("network", "network")
    assert "certificate" in unsigned["detail"]
    assert "the connection was refused" in sentence


async def test_a_reader_that_is_not_installed_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import specloom.domains.scrape.documents.read as apart
    from specloom.domains.scrape.documents.read import read

    async def read_here(body: bytes, content_type: str, url: str) -> Any:
        return read(body, content_type, url)

    monkeypatch.setattr(apart, "read_apart", read_here)
    monkeypatch.setitem(__import__("sys").modules, "pypdfium2", None)
    with Loopback(lambda call: (200, PDF, make_pdf([lines(["Otters."])]))) as server:
        async with connected() as client:
            sentence, block = await refused(client, "scrape_page", url=server.url)

    assert block["kind"] == "config"
    assert "pip install 'specloom[documents]'" in sentence


async def test_a_fault_is_remembered_and_told_again_in_the_same_words() -> None:
    with Loopback(lambda call: (410, HTML, "")) as server:
        async with connected(cached=True) as client:
            first = await refused(client, "scrape_page", url=server.url)
            again = await refused(client, "scrape_page", url=server.url)

    assert first == again
    assert len(server.calls) == 1


# search_and_scrape: the provider that searches, and the sources that are read


def found(server: Loopback, *paths: str) -> Reply:
    hits = [{"title": path, "url": server.url + path, "snippet": "s"} for path in paths]
    return 200, {"Content-Type": "application/json"}, json.dumps({"hits": hits})


@pytest.mark.parametrize(
    ("reply", "kind", "action", "retryable", "after"),
    [
        ((401, {}, "no"), "auth_required", "check_api_key", False, None),
        ((429, {}, ""), "rate_limited", "retry_after_delay", True, 60),
        ((500, {}, ""), "upstream_unavailable", "try_different_provider", True, None),
        ((200, {"Content-Type": "application/json"}, "{}"), "upstream_unavailable", "report_bug", False, None),
        (RESET, "upstream_unavailable", "try_different_provider", True, None),
    ],
    ids=["a refused key", "429", "500", "a changed answer", "a broken connection"],
)
async def test_a_search_that_fails_is_told_with_its_provider(
    reply: Reply, kind: str, action: str, retryable: bool, after: int | None
) -> None:
    with Loopback(lambda call: reply) as server:
        async with connected(SHELF_URL=server.url) as client:
            _, block = await refused(client, "search_and_scrape", query="otters", provider="shelf")

    assert (block["kind"], block["suggestedAction"], block["retryable"]) == (kind, action, retryable)
    assert (block["provider"], block.get("retryAfterSeconds")) == ("shelf", after)


@pytest.mark.parametrize(
    ("arguments", "kind", "begins"),
    [
        ({"query": "otters", "provider": "altavista"}, "config", "there is no provider 'altavista'; those that do: "),
        ({"query": "otters", "provider": "brave"}, "config", "provider 'brave' is not configured; set"),
        ({"query": ""}, "validation", 'query is ""'),
        ({"query": "o" * 501}, "validation", "query "),
        ({}, "validation", "query is required"),
    ],
)
async def test_a_search_that_cannot_be_made_says_what_to_do(arguments: dict[str, str], kind: str, begins: str) -> None:
    async with connected() as client:
        sentence, block = await refused(client, "search_and_scrape", **arguments)

    assert sentence.startswith(begins), sentence
    assert block["kind"] == kind
    if kind == "config":
        assert block.get("alternatives") or "BRAVE_API_KEY" in sentence


async def test_every_kind_of_fault_is_a_failure_of_one_source_and_keeps_no_other() -> None:
    """The whole table at once, ten sources a call."""
    plain = {name: case for name, case in CASES.items() if not case.settings and case.kind != "rate_limited"}
    paths = {f"/{number}": name for number, name in enumerate(plain)}
    told: dict[str, dict[str, Any]] = {}

    def reply_with(batch: list[str]) -> Callable[[Call], Reply]:
        def reply(call: Call) -> Reply:
            if call.path == "/search":
                return found(server, "/good", *batch)
            return (200, HTML, ARTICLE) if call.path == "/good" else plain[paths.get(call.path, CIRCLE)].reply

        return reply

    server = Loopback(lambda call: RESET)
    every = list(paths)
    with server:
        async with connected(SHELF_URL=server.url) as client:
            for at in range(0, len(every), 9):
                batch = every[at : at + 9]
                server.handler = reply_with(batch)
                said = await ask(client, "search_and_scrape", query="otters", num_results=10)
                assert said["status"] == "partial"
                assert [one["url"] for one in said["sources"]] == [server.url + "/good"]
                assert said["summary"]["urlsFailed"] == len(batch)
                told |= {one["url"].removeprefix(server.url): one for one in said["scrapeFailures"]}

    assert set(told) == set(paths)
    for path, name in paths.items():
        case, failure = plain[name], told[path]
        assert (failure["kind"], failure["retryable"], failure["suggestedAction"]) == (
            case.kind,
            case.retryable,
            case.action,
        ), name
        assert failure["reason"].startswith(case.begins.format(url=server.url + path)), name
        assert "html: " in failure["reason"], "each tier is told"


async def test_a_session_that_is_not_there_keeps_nobody_from_reading() -> None:
    with Loopback(lambda call: (200, HTML, ARTICLE)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url, sessionId="no-such-session")

    assert "Otters" in said["content"]


def test_a_fault_is_not_remembered_longer_than_its_host_wants_to_rest() -> None:
    short = Fault("rate_limited", "x", retry_after=5)

    assert [to_failure_ttl(one) for one in (short, Fault("rate_limited", "x", retry_after=600))] == [5, 90]
    assert to_failure_ttl(Fault("browser_unavailable", "x")) == 4 * 3600
    assert to_failure_ttl(Fault("not_found", "x")) == 600
    assert to_failure_ttl(Fault("validation", "x")) == to_failure_ttl(Fault("config", "x")) == 0


@pytest.mark.parametrize(
    "change",
    [{"allowed_domains": ("example.org",)}, {"chrome": sys.executable}, {"robots": True}, {"identity": "honest"}],
)
def test_what_was_read_under_other_settings_is_not_told_again(change: dict[str, Any]) -> None:
    options = Options(chrome="disabled")

    assert to_key("https://a.example/", replace(options, **change)) != to_key("https://a.example/", options)
    assert to_key("https://a.example/", replace(options, max_length=1)) == to_key("https://a.example/", options)
