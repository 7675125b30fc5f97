"""Keys are used in turn, and one that is spent is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.core.secrets import Secret
from specloom.runtime.recordings import to_recording
from tests.support.demo_specs import demo_executor, write_demo

SPEC = """\
spec: provider/1
name: keyed
title: Keyed
config:
  KEYED_KEYS: {secret: true, required: true, rotate: true, description: "Keys, with commas between them."}
service:
  base: https://keyed.example.org
  headers: {X-Key: =config.KEYED_KEYS}
operations:
  demo_pages:
    input: [query]
    steps:
      - get: /find
        query: {q: =args.query}
        json: {each: results, map: {url: {at: url, required: true}}}
examples:
  - name: nothing
    operation: demo_pages
    args: {query: x}
    config: {KEYED_KEYS: k}
    replies: {main: {json: {results: []}}}
    expect: {count: 0, sent: {main: {get: "https://keyed.example.org/find", query: {q: x}, headers: {X-Key: k}}}}
"""


class Upstream:
    """Answers by key: 200, or the status that the key has."""

    def __init__(self, statuses: dict[str, int]) -> None:
        self.statuses = statuses
        self.seen: list[str] = []

    async def send(self, request: Request) -> Response:
        key = next(value for name, value in request.headers if name == "X-Key")
        assert isinstance(key, Secret)
        self.seen.append(key.reveal())
        status = self.statuses.get(key.reveal(), 200)
        return Response(status, {"content-type": "application/json"}, b'{"results": []}', request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


def keyed(tmp_path: Path, upstream: Upstream, keys: str):  # type: ignore[no-untyped-def]
    root = write_demo(tmp_path / "specs")
    (root / "providers.d" / "keyed.yaml").write_text(SPEC, encoding="utf-8")
    return demo_executor(root, sender=upstream, environ={"KEYED_KEYS": keys})


async def test_each_call_begins_with_the_next_key(tmp_path: Path) -> None:
    upstream = Upstream({})
    executor = keyed(tmp_path, upstream, "a, b,c")

    for _ in range(4):
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})

    assert upstream.seen == ["a", "b", "c", "a"]


async def test_a_spent_key_is_followed_by_the_next(tmp_path: Path) -> None:
    upstream = Upstream({"a": 402, "b": 401})
    executor = keyed(tmp_path, upstream, "a,b,c")

    await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})

    assert upstream.seen == ["a", "b", "c"]


async def test_when_all_keys_are_spent_the_last_fault_is_told_without_any_key(tmp_path: Path) -> None:
    upstream = Upstream({"secret-a": 402, "secret-b": 402})
    executor = keyed(tmp_path, upstream, "secret-a,secret-b")

    with pytest.raises(Fault) as caught:
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})

    assert caught.value.kind == "quota_exhausted"
    assert "secret-" not in json.dumps(caught.value.to_json()) + caught.value.message


async def test_one_of_several_keys_is_masked_in_what_the_upstream_says(tmp_path: Path) -> None:
    class Echo(Upstream):
        async def send(self, request: Request) -> Response:
            response = await super().send(request)
            said = json.dumps({"message": f"the key {self.seen[-1]} is not known"}).encode()
            return Response(401, response.headers, said, request.url)

    rule = "  errors: [{when: status == `401`, kind: auth_required, message: body.message}]\n"
    root = write_demo(tmp_path / "specs")
    (root / "providers.d" / "keyed.yaml").write_text(SPEC.replace("operations:", rule + "operations:", 1))
    executor = demo_executor(root, sender=Echo({}), environ={"KEYED_KEYS": "first-secret, second-secret"})

    with pytest.raises(Fault, match="the key ••• is not known"):
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})


async def test_a_limit_of_ours_is_no_failure_of_the_upstream_and_no_key_lifts_it(tmp_path: Path) -> None:
    upstream = Upstream({})
    root = write_demo(tmp_path / "specs")
    text = SPEC.replace("operations:", "  limits: {rate: 2/d}\n  retry: {on: [rate_limited], times: 3}\noperations:", 1)
    (root / "providers.d" / "keyed.yaml").write_text(text)
    executor = demo_executor(root, sender=upstream, environ={"KEYED_KEYS": "key-one,key-two"})

    for _ in range(2):
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})
    with pytest.raises(Fault, match="The limit for calls to Keyed is reached; try again in 86400 s") as caught:
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})

    assert (caught.value.kind, caught.value.provider) == ("rate_limited", "keyed")
    assert upstream.seen == ["key-one", "key-two"]
    assert executor.breakers.snapshot()[0]["state"] == "closed"


async def test_a_fault_that_no_other_key_would_mend_is_told_at_once(tmp_path: Path) -> None:
    upstream = Upstream({"a": 500})
    executor = keyed(tmp_path, upstream, "a,b")

    with pytest.raises(Fault):
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"})

    assert upstream.seen == ["a"]


def test_a_recording_holds_no_secret_of_the_body_and_no_token() -> None:
    request = Request("POST", "https://x.example.org/", body=b"key=top%20secret", hidden=(Secret("top secret"),))
    token = Request("POST", "https://x.example.org/token", step="token")

    kept = to_recording(request, Response(200, {}, b'{"echo": "top secret"}'))
    granted = to_recording(token, Response(200, {}, b'{"access_token": "abcdef"}'))

    assert "secret" not in json.dumps(kept)
    assert "abcdef" not in json.dumps(granted)


def test_a_recording_holds_no_secret_of_a_link_that_leads_on() -> None:
    request = Request("GET", "https://x.example.org/", (("key", Secret("top/secret")),))
    link = '<https://x.example.org/?key=top%2fsecret&p=2>; rel="next"'

    kept = to_recording(request, Response(200, {"link": link}, b'{"next": "https:\\/\\/x\\/?key=top%2Fsecret"}'))

    assert kept["response"]["headers"] == {"link": '<https://x.example.org/?key=REDACTED&p=2>; rel="next"'}
    assert "secret" not in json.dumps(kept)


async def test_a_pause_for_which_there_is_no_time_is_not_made_and_the_failure_is_told(tmp_path: Path) -> None:
    root = write_demo(tmp_path / "specs")
    retry = "  retry: {on: [upstream_unavailable], times: 2, wait: 60s}\noperations:"
    (root / "providers.d" / "keyed.yaml").write_text(SPEC.replace("operations:", retry, 1), encoding="utf-8")
    upstream = Upstream({"a": 503})
    executor = demo_executor(root, sender=upstream, environ={"KEYED_KEYS": "a"})

    with pytest.raises(Fault, match=r"Keyed failed \(HTTP 503\)") as caught:
        await executor.upstreams.ask("keyed", "demo_pages", {"query": "x"}, within=50.0)

    assert not caught.value.late
    assert upstream.seen == ["a"]
