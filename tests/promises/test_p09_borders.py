"""P9: no request leaves for a private or loopback address unless the spec says that the operator names the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from specloom.core.faults import Fault
from specloom.net.transport import Transport
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.executor import Executor
from tests.support.demo_specs import PROVIDER, demo_executor, write_demo
from tests.support.loopback import Call, Loopback, Reply

PAGE: Reply = (
    200,
    {"Content-Type": "application/json"},
    '{"results": [{"title": "A", "link": "https://example.org/a"}]}',
)
PUBLIC = {PROVIDER: [("  private: true\n", "")]}


class Names:
    """A resolver with answers of its own; what was asked is kept."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.fixture
def upstream() -> Iterator[Loopback]:
    with Loopback(lambda call: PAGE) as server:
        yield server


async def refuse(executor: Executor) -> Fault:
    try:
        with pytest.raises(Fault) as caught:
            await executor.call("demo_find", {"query": "a"})
    finally:
        await executor.aclose()
    assert "refused" in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "[::1]",
        "localhost",
        "2130706433",
        "0x7f.1",
        "127.1",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "169.254.169.254",
        "10.0.0.1",
    ],
)
@pytest.mark.parametrize("scheme", ["https", "http"])
async def test_a_direct_address_inside_is_refused(tmp_path: Path, upstream: Loopback, scheme: str, host: str) -> None:
    executor = demo_executor(write_demo(tmp_path, PUBLIC), f"{scheme}://{host}:{upstream.port}")

    await refuse(executor)

    assert upstream.connections == 0


@pytest.mark.parametrize(("host", "is_private"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)])
async def test_a_private_address_of_a_setting_is_refused_with_what_would_allow_it(
    tmp_path: Path, upstream: Loopback, host: str, *, is_private: bool
) -> None:
    executor = demo_executor(write_demo(tmp_path, PUBLIC), f"http://{host}:{upstream.port}")

    fault = await refuse(executor)

    hint = "DEMO_URL may name such a host where `service` of demo says `private: true`."
    assert fault.message.endswith(hint) == is_private


@pytest.mark.parametrize(
    "answer", [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::1"], ["10.1.2.3"], ["169.254.169.254"]]
)
async def test_a_name_that_leads_inside_is_refused(tmp_path: Path, upstream: Loopback, answer: list[str]) -> None:
    names = Names(answer)
    root = write_demo(tmp_path, PUBLIC)
    executor = demo_executor(root, f"https://demo.example.com:{upstream.port}", sender=Transport(resolve=names))

    await refuse(executor)

    assert names.asked == ["demo.example.com"]
    assert upstream.connections == 0


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "https://[::1]:{port}/",
        "https://inside.example.com:{port}/",
    ],
)
async def test_a_redirect_that_leads_inside_is_refused_after_the_first_hop(
    tmp_path: Path, upstream: Loopback, target: str
) -> None:
    location = target.format(port=upstream.port)
    with Loopback(lambda call: (302, {"Location": location}, "")) as first:
        # The operator named the first host only; what it points to has to be outside like any other.
        root = write_demo(
            tmp_path, {PROVIDER: [("  private: true\n", "  private: true\n  hosts: [inside.example.com]\n")]}
        )
        sender = Transport(resolve=Names(["127.0.0.1"]))
        executor = demo_executor(root, f"http://first.example.com:{first.port}", sender=sender)

        await refuse(executor)

    assert len(first.calls) == 1
    assert upstream.connections == 0


async def test_a_spec_whose_operator_names_the_host_gets_through(tmp_path: Path, upstream: Loopback) -> None:
    executor = demo_executor(write_demo(tmp_path), upstream.url)

    done = await executor.call("demo_find", {"query": "a"})
    await executor.aclose()

    assert done.answer["count"] == 1
    assert upstream.last.headers["x-key"] == "s3cr3t-demo-key"


async def test_an_operator_who_allows_everything_gets_through_without_the_spec(
    tmp_path: Path, upstream: Loopback
) -> None:
    executor = demo_executor(write_demo(tmp_path, PUBLIC), upstream.url, sender=Transport(allow_private=True))

    done = await executor.call("demo_find", {"query": "a"})
    await executor.aclose()

    assert done.answer["count"] == 1


async def test_a_refusal_does_not_show_the_key(tmp_path: Path, upstream: Loopback) -> None:
    executor = demo_executor(write_demo(tmp_path, PUBLIC), upstream.url, breakers=Breakers())

    fault = await refuse(executor)

    assert "s3cr3t-demo-key" not in f"{fault.message} {fault.detail} {fault.to_json()}"


async def test_a_redirect_to_the_same_host_is_followed_with_the_key(tmp_path: Path) -> None:
    def answer(call: Call) -> Reply:
        return (302, {"Location": "/moved"}, "") if call.path == "/search" else PAGE

    with Loopback(answer) as server:
        executor = demo_executor(write_demo(tmp_path), server.url)
        done = await executor.call("demo_find", {"query": "a"})
        await executor.aclose()

    assert done.answer["count"] == 1
    assert [call.path for call in server.calls] == ["/search", "/moved"]
