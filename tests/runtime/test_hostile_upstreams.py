"""Upstreams that misbehave on the wire: shipped providers of different shapes, each behind a server that does.

Every answer is rows or one sentence that says who failed; nothing hangs, and no key comes back.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from specloom.cache.cache import AnswerCache
from specloom.core.faults import Fault
from specloom.core.messages import Answer
from specloom.model.provider import Provider
from specloom.model.values import Value
from specloom.net.transport import Transport
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.configuration import read_settings
from specloom.runtime.providers import Upstreams
from tests.support.loopback import RESET, Call, Handler, Loopback, Raw, Reply, Reset
from tests.support.shipped import shipped_model

NOW = 1_767_225_600.0
ASKED: dict[str, dict[str, Any]] = {
    "brave.web": {"query": "otters", "num_results": 3},
    "google.web": {"query": "otters", "num_results": 3},
    "exa.web": {"query": "otters", "num_results": 3},
    "openalex_discovery.discovery": {"query": "otters", "num_results": 150},
    "arxiv.scholarly": {"query": "otters", "num_results": 3},
    "pubmed.scholarly": {"query": "otters", "num_results": 3},
    "eurostat.observations": {"series_id": "ott_pop", "country": "DE", "num_results": 3},
    "oecd.observations": {"series_id": "OECD,DF_OTT,1.0", "country": "DEU", "num_results": 3},
    "duckduckgo.web": {"query": "otters", "num_results": 3},
    "epo.patents": {"query": "otters", "num_results": 3},
    "spn2.archive": {"url": "https://otters.example/"},
    "crossref.work": {"doi": "10.1038/otters1"},
    "edgar.filings": {"query": "OTTR", "num_results": 3},
}
"""Keys in a header, in the query and behind a word; posted; in pages; XML; in steps; cubes; a page; a token; polled."""


def constant(value: Value, said: str) -> Value:
    return replace(value, evaluate=lambda _context: said, constant=True)


def moved(provider: Provider, url: str) -> Provider:
    """The provider with all its addresses at one server, without its pace and its second tries."""
    service = provider.service
    grant = replace(service.grant, url=constant(service.grant.url, f"{url}/token")) if service.grant else None
    policy = replace(service.policy, allow_private=True, timeout=20.0, max_bytes=50_000)
    service = replace(
        service, base=constant(service.base, url), policy=policy, rate=None, faster=(), retry=None, grant=grant
    )
    operations = {
        name: replace(one, steps=tuple(replace(step, base=url if step.base else step.base) for step in one.steps))
        for name, one in provider.operations.items()
    }
    return replace(provider, service=service, operations=operations)


def keys_of(provider: Provider) -> dict[str, str]:
    wanted = (one for one in provider.settings.values() if one.secret or one.required)
    return {one.name: f"issued-to-us-{at}-{one.name.lower()}" for at, one in enumerate(wanted)}


async def ask_at(server: Loopback, operation: str, cache: AnswerCache | None = None) -> Answer | Fault:
    """What comes of asking a provider whose addresses are all at this server."""
    name, _, capability = operation.partition(".")
    shipped = shipped_model().providers[name]
    settings, problems = read_settings(shipped.settings, keys_of(shipped))
    assert not problems
    sender = Transport()
    upstreams = Upstreams(
        {name: moved(shipped, server.url)},
        {name: settings},
        sender=sender,
        breakers=Breakers(),
        cache=cache,
        clock=lambda: NOW,
    )
    try:
        return await upstreams.ask(name, capability, ASKED[operation])
    except Fault as fault:
        return fault
    finally:
        await sender.aclose()


async def ask(operation: str, handler: Handler, cache: AnswerCache | None = None) -> tuple[Any, list[Call], list[str]]:
    """What came of asking: an answer or a fault; what the server saw; and the keys of the provider."""
    shipped = shipped_model().providers[operation.partition(".")[0]]
    secrets = [said for name, said in keys_of(shipped).items() if shipped.settings[name].secret]
    with Loopback(handler) as server:
        return await ask_at(server, operation, cache), server.calls, secrets


def granting(handler: Handler) -> Handler:
    """A handler that gives a token first where one is asked for."""
    token = json.dumps({"access_token": "issued-as-a-token", "expires_in": 1200})
    return lambda call: (200, {"Content-Type": "application/json"}, token) if call.path == "/token" else handler(call)


def text_of(answer: Any) -> str:
    if isinstance(answer, Fault):
        return f"{answer.message} {answer.detail}"
    return json.dumps([answer.rows, answer.meta], allow_nan=False)


JSON = {"Content-Type": "application/json"}
DEEP = b'{"a":' * 50_000
REPLIES: dict[str, Reply] = {
    "nothing": (200, JSON, b""),
    "null": (200, JSON, b"null"),
    "a list": (200, JSON, b"[]"),
    "an object": (200, JSON, b"{}"),
    "a text": (200, JSON, b'"otters"'),
    "half of it": (200, JSON, b'{"results": [{"title": "Ott'),
    "a page": (200, {"Content-Type": "text/html"}, b"<!doctype html><title>Log in</title><p>Wi-Fi"),
    "no number": (200, JSON, b'{"results": [NaN]}'),
    "too large a number": (200, JSON, b'{"results": [1e400]}'),
    "too long a number": (200, JSON, b'{"results": ' + b"9" * 5000 + b"}"),
    "too deep": (200, JSON, DEEP[:40_000]),
    "UTF-16": (200, JSON, '{"results": []}'.encode("utf-16")),
    "other bytes": (200, JSON, bytes(range(256))),
    "a broken gzip": (200, {**JSON, "Content-Encoding": "gzip"}, b"\x1f\x8b broken"),
    "half a gzip": (200, {**JSON, "Content-Encoding": "gzip"}, gzip.compress(b'{"results": []}')[:-9]),
    "an unknown coding": (200, {**JSON, "Content-Encoding": "br"}, b"\x0b\x02\x80"),
    "a bomb": (200, {**JSON, "Content-Encoding": "gzip"}, gzip.compress(b"[" * 10_000_000)),
    "too much": (200, JSON, b'"' + b"x" * 60_000 + b'"'),
    "no content": (204, {}, b""),
    "not modified": (304, {}, b""),
    "a part": (206, {**JSON, "Content-Range": "bytes 0-3/900"}, b"{}"),
    "a reset": RESET,
    "half a head": Reset([b"HTTP/1.1 200 OK\r\nContent-Le"]),
    "half a body": Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\nContent-Type: application/json\r\n\r\n{}"]),
    "no HTTP": Raw([b"SSH-2.0-OpenSSH_9.6\r\n"]),
    "two lengths": Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"]),
    "a length of many digits": Raw([b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}"]),
    **{
        f"status {status}": (status, JSON, b'{"error": null, "message": ["x"], "errors": {"a": 1}, "status": "error"}')
        for status in (300, 400, 401, 402, 403, 404, 409, 418, 422, 429, 451, 500, 502, 503, 504, 520)
    },
}  # fmt: skip


@pytest.mark.parametrize("operation", ASKED)
async def test_a_server_that_misbehaves_ends_in_rows_or_in_a_fault_of_its_provider(operation: str) -> None:
    name = operation.partition(".")[0]
    title = shipped_model().providers[name].title
    for what, reply in REPLIES.items():
        answer, calls, secrets = await ask(operation, granting(lambda _call, reply=reply: reply))  # type: ignore[misc]

        said = text_of(answer)
        assert calls, (what, said)
        assert not any(secret in said for secret in secrets), what
        if isinstance(answer, Fault):
            assert (answer.provider, answer.kind != "internal") == (name, True), (what, said)
            assert title.split()[0] in said or "127.0.0.1" in said, (what, said)
            assert len(answer.message) < 400, what


@pytest.mark.parametrize("operation", ["brave.web", "google.web", "exa.web", "epo.patents", "spn2.archive"])
@pytest.mark.parametrize("status", [200, 400, 401, 403, 429, 500])
@pytest.mark.parametrize("length", [1, 40, 70])
async def test_a_key_that_is_echoed_reaches_neither_the_answer_nor_the_cache(
    operation: str, status: int, length: int
) -> None:
    def echo(call: Call) -> Reply:
        sent = f"{call.target} {json.dumps(call.headers)} {call.body.decode()}"
        if length > 1:  # where only the beginning of a body is shown, it may end in the middle of a key
            return status, JSON, "x" * length + sent
        error = {"message": sent, "detail": sent, "code": status}
        said = {
            "error": error,
            "message": sent,
            "detail": sent,
            "job_id": sent,
            "web": {"results": [{"title": sent, "url": "https://a.example/" + sent}]},
        }
        return status, JSON, json.dumps(said)

    kept: list[bytes] = []
    cache = AnswerCache(disk=None, key=None, clock=lambda: NOW, warn=pytest.fail)
    put = cache.put

    async def note(key: str, value: bytes, ttl: float, *, soon: bool = False) -> None:
        kept.append(value)
        await put(key, value, ttl, soon=soon)

    cache.put = note  # type: ignore[method-assign]

    answer, calls, secrets = await ask(operation, granting(echo), cache)

    told = text_of(answer) + b"".join(kept).decode()
    beginnings = {secret[: len("issued-to-us-0")] for secret in secrets}
    assert calls
    assert not any(part in told for part in (*beginnings, "issued-as-a"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("operation", ["brave.web", "google.web", "exa.web", "epo.patents"])
async def test_a_redirect_to_elsewhere_is_not_followed_and_is_the_upstreams_failure(
    operation: str, status: int
) -> None:
    with Loopback(lambda _: (200, JSON, b"{}")) as elsewhere:
        for where in (f"http://localhost:{elsewhere.port}/", "http://169.254.169.254/latest", "http://[", "file:///x"):
            answer, _, secrets = await ask(operation, lambda _, to=where: (status, {"Location": to}, b""))  # type: ignore[misc]

            assert isinstance(answer, Fault)
            assert (answer.kind, answer.provider) == ("upstream_unavailable", operation.partition(".")[0])
            assert not any(secret in text_of(answer) for secret in secrets)
    assert elsewhere.calls == []


def pages(found: Iterable[object], **meta: Any) -> Handler:
    said = json.dumps({"results": list(found), "meta": {"count": 10_000, **meta}})
    return lambda _: (200, JSON, said)


WORK = {"id": "https://openalex.org/W1", "title": "Otters", "display_name": "Otters", "doi": None}


async def test_a_page_that_comes_again_under_every_number_is_one_page() -> None:
    answer, calls, _ = await ask("openalex_discovery.discovery", pages([WORK]))

    assert len(calls) == 2
    assert len(answer.rows) == 1


async def test_a_total_that_is_no_number_ends_the_pages_and_keeps_the_rows() -> None:
    answer, calls, _ = await ask("openalex_discovery.discovery", pages([WORK], count="many"))

    assert len(calls) == 1
    assert len(answer.rows) == 1
    assert answer.following is None


CUBE = {
    "class": "dataset", "label": "Otters", "id": ["time"], "size": [1], "value": {"0": 7},
    "dimension": {"time": {"category": {"index": {"2024": 0}, "label": {"2024": "2024"}}}},
}  # fmt: skip


async def test_only_a_response_that_can_be_read_is_kept_for_the_next_call() -> None:
    cache = AnswerCache(disk=None, key=None, clock=lambda: NOW, warn=pytest.fail)
    replies = [b"<!doctype html><title>Maintenance", b'{"class": "dataset"}', json.dumps(CUBE).encode()]
    said = iter(replies)

    with Loopback(lambda _: (200, JSON, next(said))) as server:
        answers = [await ask_at(server, "eurostat.observations", cache) for _ in range(5)]

    assert [getattr(one, "kind", None) for one in answers] == [
        "upstream_unavailable",
        "layout_changed",
        None,
        None,
        None,
    ]
    assert len(server.calls) == 3


async def test_what_can_be_read_and_not_be_worked_with_is_not_kept_either() -> None:
    cache = AnswerCache(disk=None, key=None, clock=lambda: NOW, warn=pytest.fail)
    lists = [
        {"0": {"cik_str": ["x"], "ticker": "OTTR", "title": "Otter Inc."}},
        {"0": {"cik_str": 9, "ticker": "A", "title": "B"}},
    ]
    said = iter(lists)

    def answer(call: Call) -> Reply:
        return 200, JSON, json.dumps(next(said, {}) if call.path.endswith("tickers.json") else {"hits": {"hits": []}})

    with Loopback(answer) as server:
        answers = [await ask_at(server, "edgar.filings", cache) for _ in range(3)]

    assert [getattr(one, "kind", None) for one in answers] == ["layout_changed", None, None]
    assert [call.path for call in server.calls].count("/files/company_tickers.json") == 2
