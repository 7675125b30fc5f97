"""What is recorded of exchanges: each for its own call, without secrets, and no more than a person reads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.core.secrets import Secret
from specloom.ui.exchanges import LONGEST_BODY, MOST_EXCHANGES, ExchangeRecorder, record_exchanges

KEY = Secret("s3cr3t-demo-key")


class Upstream:
    """Answers every request alike, once somebody else has had a turn."""

    def __init__(self, body: bytes, headers: Mapping[str, str] | None = None, fault: Fault | None = None) -> None:
        self.body = body
        self.headers = dict(headers or {})
        self.fault = fault

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        return Response(200, self.headers, self.body, request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


def ask(name: str = "otters", **more: object) -> Request:
    return Request("GET", f"https://demo.example.org/{name}", provider="demo", operation="web", step="main", **more)  # type: ignore[arg-type]


def record(upstream: Upstream, request: Request, times: int = 1) -> list[dict[str, object]]:
    recorder = ExchangeRecorder(upstream)
    recorder.find_secrets = lambda provider: [KEY] if provider == "demo" else []

    async def run() -> list[dict[str, object]]:
        with record_exchanges() as exchanges:
            for _ in range(times):
                try:
                    await recorder.send(request)
                except Fault:
                    continue
        await recorder.send(request) if upstream.fault is None else None
        return exchanges

    return asyncio.run(run())


def test_a_secret_is_masked_wherever_it_stands() -> None:
    value = KEY.reveal()
    request = ask(f"path/{value}", query=(("q", value), ("key", KEY)), headers=(("X-Key", KEY), ("X-Also", value)))
    body = json.dumps({"echo": value, "address": f"https://example.org/?key={value}"}).encode()

    (exchange,) = record(Upstream(body, {"content-type": "application/json", "link": f"<{value}>"}), request)

    assert value not in json.dumps(exchange)
    assert exchange["request"]["url"] == "https://demo.example.org/path/•••"  # type: ignore[index]
    assert exchange["response"]["json"]["echo"] == "•••"  # type: ignore[index]


def test_a_fault_is_recorded_without_the_secret_and_passed_on() -> None:
    upstream = Upstream(b"", fault=Fault("network", f"no connection with {KEY.reveal()}"))

    (exchange,) = record(upstream, ask())

    assert exchange["fault"] == {"kind": "network", "message": "no connection with •••"}
    with pytest.raises(Fault):
        asyncio.run(ExchangeRecorder(upstream).send(ask()))


def test_of_a_long_body_the_beginning_is_kept_and_of_bytes_their_number() -> None:
    body = json.dumps(["x" * LONGEST_BODY]).encode()
    (long,) = record(Upstream(body), ask())
    (raw,) = record(Upstream(b"\xff\xfe\x00"), ask())

    assert long["response"]["cut"] is True  # type: ignore[index]
    assert len(long["response"]["text"]) == LONGEST_BODY  # type: ignore[index]
    assert raw["response"] == {"status": 200, "headers": {}, "bytes": 3}


def test_so_many_exchanges_of_a_call_are_kept() -> None:
    assert len(record(Upstream(b"{}"), ask(), MOST_EXCHANGES + 1)) == MOST_EXCHANGES


def test_calls_that_run_at_once_have_their_own_exchanges() -> None:
    recorder = ExchangeRecorder(Upstream(b"{}"))

    async def call(name: str) -> list[str]:
        with record_exchanges() as exchanges:
            await asyncio.gather(*(recorder.send(ask(f"{name}{number}")) for number in range(3)))
        return [str(one["request"]["url"]).rpartition("/")[2] for one in exchanges]

    async def run() -> list[list[str]]:
        return list(await asyncio.gather(call("a"), call("b")))

    first, second = asyncio.run(run())

    assert sorted(first) == ["a0", "a1", "a2"]
    assert sorted(second) == ["b0", "b1", "b2"]
