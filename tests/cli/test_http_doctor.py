"""The doctor of a running server: what is well, what a proxy has eaten, and what is another program, over sockets."""

from __future__ import annotations

import asyncio
import copy
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pytest

from specloom.cli import main as cli
from specloom.cli.common import CommandError
from specloom.cli.http_doctor import NOT_OURS, UNREACHABLE, Examination, examine_server
from specloom.cli.http_visitor import TOKEN
from specloom.http.app import HttpApp
from specloom.http.gate import IdentityGate, OpenGate
from specloom.http.identity import Authenticator
from tests.support.demo_server import catalogue
from tests.support.http_server import HttpDemo
from tests.support.loopback import Call, Loopback, Reply
from tests.support.server_process import request
from tests.support.token_issuer import TokenIssuer

SECRET = "Pl4ntedV4lue"


class Proxy:
    """What stands before a server: loses headers on the way there and back, and may hold streams back."""

    def __init__(self, *, lost: tuple[str, ...] = (), hidden: tuple[str, ...] = (), buffers: bool = False) -> None:
        self.lost, self.hidden, self.buffers = lost, hidden, buffers
        self.port = 0
        self.paths: tuple[str, ...] = ()
        """Paths that it hands on; all when there are none."""
        self.added: dict[str, str] = {}
        self.ends = threading.Event()
        """Set when nobody waits any more for what it holds back."""

    def __call__(self, call: Call) -> Reply:
        if self.paths and not call.path.startswith(self.paths):
            return 404, {}, ""
        sent = {name: value for name, value in call.headers.items() if name not in self.lost}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(call.method, call.target, call.body or None, sent)
            with closing(connection.getresponse()) as response:
                left = {"transfer-encoding", "content-length", *self.hidden}
                headers = {name: value for name, value in response.getheaders() if name.lower() not in left}
                if response.headers.get("content-type") != "text/event-stream":
                    return response.status, {**headers, **self.added}, response.read()
                if self.buffers:
                    self.ends.wait(20)
                    return 504, {}, ""
                # Whoever hears the beginning has heard enough.
                return response.status, headers, b"".join(response.readline() for _ in range(3))


def make_ours(server: HttpDemo) -> None:
    """Let the demo server say that it is specloom, before it is started."""
    server.service.catalogue = copy.copy(server.service.catalogue)
    server.service.catalogue.name = "specloom"


def wait_until_ready(server: HttpDemo) -> None:
    with server.client() as client:
        while client.get("/health/ready").status != 200:
            pass


@contextmanager
def behind(proxy: Proxy, gate: Any = None, *, tls: bool = False) -> Iterator[Loopback]:
    """A server that clients know as its proxy."""
    with Loopback(proxy, tls=tls) as outside, HttpDemo({"PUBLIC_URL": outside.url}, gate=gate or OpenGate("me")) as one:
        make_ours(one)
        proxy.port = one.port
        wait_until_ready(one)
        try:
            yield outside
        finally:
            proxy.ends.set()


@contextmanager
def guarded(proxy: Proxy) -> Iterator[tuple[Loopback, TokenIssuer]]:
    """The same, with an issuer of tokens."""
    with TokenIssuer() as issuer, Loopback(proxy) as outside:
        authenticator = Authenticator(issuer.settings(audience=f"{outside.url}/mcp", resource=f"{outside.url}/mcp"))
        gate = IdentityGate(authenticator, catalogue().tool_names)
        server = HttpDemo({"PUBLIC_URL": outside.url}, gate=gate)
        make_ours(server)
        server.app = HttpApp(server.service, server.settings, gate, authenticator.metadata)
        proxy.port = server.port
        with server:
            asyncio.run_coroutine_threadsafe(authenticator.start(), server.loop).result(20)
            wait_until_ready(server)
            yield outside, issuer
            asyncio.run_coroutine_threadsafe(authenticator.aclose(), server.loop).result(20)


def states(found: Examination) -> Mapping[str, str]:
    return {one.about: one.state for one in found.findings}


def says(found: Examination, about: str) -> str:
    return next(f"{one.says} — {one.remedy}" for one in found.findings if one.about == about)


def test_a_server_on_this_machine_that_answers_everybody_is_well() -> None:
    with behind(Proxy()) as outside:
        found = examine_server(outside.url, {})

    assert found.code == 0, found
    assert set(states(found).values()) == {"ok"}
    assert found.sum == f"{outside.url}/mcp: all is well, {len(found.findings)} things looked at"
    assert found.remedies == []
    assert says(found, "protocol").startswith("2026-07-28 without a handshake and 2025-11-25 with one")
    assert says(found, "other hosts").startswith("refused (421)")


def test_without_a_credential_it_says_what_was_not_looked_at_and_with_one_all_is() -> None:
    with guarded(Proxy()) as (outside, issuer):
        stranger = examine_server(outside.url, {})
        token = issuer.sign(aud=f"{outside.url}/mcp")
        caller = examine_server(outside.url, {TOKEN: token})

    assert (stranger.code, states(stranger)["protocol"]) == (0, "missing")
    assert TOKEN in says(stranger, "protocol")
    assert stranger.sum.endswith(f"all is well, {len(stranger.findings) - 1} things looked at, 1 not")
    assert stranger.remedies == [f"protocol: set {TOKEN} to a token or an API key"]
    assert says(stranger, "metadata").startswith(f"tokens are given by {issuer.url}")
    assert (caller.code, states(caller)["credential"], states(caller)["streams"]) == (0, "ok", "ok")
    assert token not in json.dumps(caller.to_json())


def test_a_credential_that_is_refused_is_told_apart_from_one_that_does_not_arrive() -> None:
    proxy = Proxy()
    with guarded(proxy) as (outside, _):
        refused = examine_server(outside.url, {TOKEN: SECRET})
        proxy.lost = ("authorization",)
        eaten = examine_server(outside.url, {TOKEN: SECRET})

    assert (refused.code, eaten.code) == (1, 1)
    assert "is refused" in says(refused, "credential")
    assert "does not arrive — let the proxy hand on Authorization" in says(eaten, "credential")
    assert SECRET not in json.dumps([refused.to_json(), eaten.to_json()])


@pytest.mark.parametrize(
    ("proxy", "about", "state", "word"),
    [
        (Proxy(lost=("mcp-method",)), "endpoint", "broken", "Mcp-*"),
        (Proxy(lost=("x-request-id",)), "headers", "warning", "clients"),
        (Proxy(hidden=("x-request-id",)), "headers", "warning", "answers"),
        (Proxy(hidden=("cache-control",)), "caches", "warning", "Cache-Control"),
        (Proxy(lost=("origin",)), "other origins", "warning", "ALLOWED_ORIGINS"),
        (Proxy(buffers=True), "streams", "broken", "buffering"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_a_proxy_takes_away_is_named(proxy: Proxy, about: str, state: str, word: str) -> None:
    with behind(proxy) as outside:
        found = examine_server(outside.url, {}, patience=0.5)

    assert states(found)[about] == state, found
    assert word in says(found, about)
    assert found.code == (1 if state == "broken" else 0)


def test_a_challenge_that_does_not_come_through_is_named() -> None:
    with guarded(Proxy(hidden=("www-authenticate",))) as (outside, _):
        found = examine_server(outside.url, {})

    assert (found.code, found.remedies) == (1, ["endpoint: let the proxy hand on WWW-Authenticate"])


def test_metadata_of_another_address_is_named_with_the_setting_that_mends_it() -> None:
    with guarded(Proxy()) as (outside, _):
        found = examine_server(outside.url.replace("127.0.0.1", "localhost"), {})

    assert states(found)["endpoint"] == "broken"
    assert "does not know itself as localhost" in says(found, "endpoint")
    assert "PUBLIC_URL" in says(found, "endpoint")


def test_a_proxy_that_hands_on_the_endpoint_alone_is_well() -> None:
    proxy = Proxy()
    proxy.paths = ("/mcp",)
    with behind(proxy) as outside:
        found = examine_server(f"{outside.url}/mcp/", {})

    assert (found.code, states(found)["health"]) == (0, "missing")
    assert states(found)["operators"] == "ok"


def test_over_tls_what_keeps_browsers_on_it_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy()
    with behind(proxy, tls=True) as outside:
        untrusted = examine_server(outside.url, {})
        monkeypatch.setenv("SSL_CERT_FILE", outside.certificate)
        without = examine_server(outside.url, {})
        proxy.added = {"Strict-Transport-Security": "max-age=31536000"}
        whole = examine_server(outside.url, {})
        plain = examine_server(f"http://127.0.0.1:{outside.port}", {})

    assert untrusted.code == UNREACHABLE
    assert "certificate of 127.0.0.1 does not hold" in untrusted.sum
    assert (states(without)["HSTS"], without.code) == ("warning", 0)
    assert "HSTS" not in states(whole)
    assert plain.code == UNREACHABLE


def test_nothing_that_answers_is_said_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        silent = examine_server(f"http://127.0.0.1:{port}", {}, patience=0.2)
    refused = examine_server(f"http://127.0.0.1:{port}", {})

    assert (silent.code, refused.code) == (UNREACHABLE, UNREACHABLE)
    assert silent.sum.endswith("said nothing within 0.2 s")
    assert refused.sum.endswith(f"nothing listens at 127.0.0.1:{port}")
    assert cli.main(["doctor", "--http", f"127.0.0.1:{port}", "--json"]) == UNREACHABLE
    told = json.loads(capsys.readouterr().out)
    assert told["sum"] == refused.sum
    assert told["do"][0].startswith("connection: start it there")


def answer_as(status: int, headers: Mapping[str, str], body: str) -> Any:
    return lambda _: (status, headers, body)


@pytest.mark.parametrize(
    ("status", "headers", "body", "word"),
    [
        (404, {"Server": "some-web/1"}, "<html>", "answers 404"),
        (200, {"Content-Type": "text/html"}, "<html>", "answers 200"),
        (200, {"Content-Type": "application/json"}, "[1]", "answers 200"),
        (308, {"Location": "https://elsewhere.example/mcp"}, "", "leads on to https://elsewhere.example/mcp"),
        (
            200,
            {"Content-Type": "application/json"},
            json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"serverInfo": {"name": "other\x1b[31m"}}}),
            "its name is",
        ),
    ],
)
def test_another_program_is_not_taken_for_this_server(
    status: int, headers: Mapping[str, str], body: str, word: str
) -> None:
    with Loopback(answer_as(status, headers, body)) as server:
        found = examine_server(server.url, {})

    assert found.code == NOT_OURS
    assert word in found.sum
    assert "\x1b" not in found.sum


def test_what_operators_have_is_looked_for_without_a_key() -> None:
    def handler(call: Call) -> Reply:
        return proxy(call) if call.path == "/mcp" else (200 if call.path == "/metrics" else 404, {}, "")

    proxy = Proxy()
    with Loopback(handler) as outside, HttpDemo({"PUBLIC_URL": outside.url}, gate=OpenGate("me")) as one:
        make_ours(one)
        proxy.port = one.port
        wait_until_ready(one)
        found = examine_server(outside.url, {})

    assert (states(found)["operators"], found.code) == ("broken", 1)
    assert "/metrics answer" in says(found, "operators")


def test_an_address_that_is_none_is_told_and_a_credential_in_it_is_not_taken() -> None:
    for text in ("ftp://mcp.example", "http://", "https://mcp.example/mcp?token=a", "http://a:99999"):
        with pytest.raises(CommandError, match="no address"):
            examine_server(text, {})
    with pytest.raises(CommandError, match=TOKEN) as told:
        examine_server(f"https://ann:{SECRET}@mcp.example", {})
    assert SECRET not in str(told.value)


def test_the_sum_comes_first_and_what_to_do_before_what_was_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    with behind(Proxy(lost=("x-request-id",))) as outside:
        found = examine_server(outside.url, {})
        assert cli.main(["doctor", "--http", outside.url]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == found.sum
    assert lines[1:3] == ["do this:", "  1. headers: let the proxy hand on the headers of clients"]
    assert lines[3] == ""
    assert len(lines) == 4 + len(found.findings)


def test_it_changes_nothing_and_calls_no_tool() -> None:
    with behind(Proxy()) as outside:
        examine_server(outside.url, {})
        methods = {json.loads(call.body)["method"] for call in outside.calls if call.method == "POST"}

    assert methods == {"server/discover", "initialize", "tools/list", "subscriptions/listen"}
    assert request(1, "tools/call")["method"] not in methods
