"""Adding a provider that is not in the tree takes one file and no Python: checked, explained, called and served."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.cli.common import make_executor
from specloom.cli.main import main
from specloom.server.start import make_executor as make_live_executor
from tests.support.loopback import Call, Loopback

SPEC = """\
spec: provider/1
name: tidepool
title: Tidepool
homepage: https://tidepool.example.org/docs
notes: >
  An own search engine, wherever it runs. It answers 200 with an error inside when the allowance is used up.
config:
  TIDEPOOL_URL: {type: url, required: true, description: "Where it listens, such as http://localhost:8080."}
  TIDEPOOL_TOKEN: {secret: true, required: true, description: A token from its settings page.}
tables:
  age: {day: P1D, week: P1W, month: P1M, year: P1Y}
service:
  base: =config.TIDEPOOL_URL
  private: true
  auth: {bearer: config.TIDEPOOL_TOKEN}
  limits: {concurrency: 4, timeout: 5s, max_bytes: 1MiB}
  errors:
    - {when: body.problem.type == 'allowance', kind: quota_exhausted, message: "'the allowance at Tidepool is used up'"}
operations:
  web:
    input: [query, num_results, time_range, sites]
    values:
      q: join(' ', [args.query, any_of('site:{}', args.sites)][?@])
    steps:
      - post: /v2/find
        body:
          json:
            text: =values.q
            newer_than: =lookup('age', args.time_range)
            size: =args.num_results
        json:
          each: page.entries
          map:
            title: {at: [heading, name], then: [strip_tags]}
            url: {at: location.href, required: true, then: [absolute_http]}
            snippet: {at: body, then: [strip_tags, {truncate: 200}]}
            display_link: {at: location.href, then: [host]}
            published_at: {at: seen, then: [{epoch: seconds}]}
examples:
  - name: markup goes, an entry without an address goes, and seconds become a date
    operation: web
    args: {query: otters, num_results: 4, time_range: week, sites: [a.org, b.org]}
    config: {TIDEPOOL_URL: "http://localhost:8080", TIDEPOOL_TOKEN: t0ken}
    replies:
      main:
        json:
          page:
            entries:
              - heading: Otters &amp; <b>rivers</b>
                location: {href: "//example.org/a"}
                body: <p>They swim.</p>
                seen: 1767225600
              - {name: nowhere}
    expect:
      sent:
        main:
          post: http://localhost:8080/v2/find
          json: {text: "otters (site:a.org OR site:b.org)", newer_than: P1W, size: 4}
          headers: {Authorization: Bearer t0ken}
      rows:
        - title: Otters & rivers
          url: https://example.org/a
          snippet: They swim.
          display_link: example.org
          published_at: "2026-01-01T00:00:00Z"
  - name: a used-up allowance inside a 200
    operation: web
    args: {query: otters}
    config: {TIDEPOOL_URL: "http://localhost:8080", TIDEPOOL_TOKEN: t0ken}
    replies: {main: {json: {problem: {type: allowance}}}}
    expect: {error: quota_exhausted, message: the allowance at Tidepool is used up}
"""
TOKEN = "t0p-s3cr3t-token"
ENTRY = {
    "heading": "Otters",
    "location": {"href": "https://example.org/otters"},
    "body": "They swim.",
    "seen": 1767225600,
}


def answer(call: Call) -> tuple[int, dict[str, str], str]:
    if call.headers.get("authorization") != f"Bearer {TOKEN}":
        return 401, {}, "{}"
    if "allowance" in call.body.decode():
        return 200, {"Content-Type": "application/json"}, json.dumps({"problem": {"type": "allowance"}})
    return 200, {"Content-Type": "application/json"}, json.dumps({"page": {"entries": [ENTRY]}})


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """The new provider, listening on loopback; its one file is all that is added."""
    file = tmp_path / "mine" / "providers.d" / "tidepool.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(SPEC, encoding="utf-8")
    with Loopback(answer) as server:
        monkeypatch.setenv("SPECLOOM_PATH", str(tmp_path / "mine"))
        monkeypatch.setenv("SPECLOOM_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.setenv("TIDEPOOL_URL", server.url)
        monkeypatch.setenv("TIDEPOOL_TOKEN", TOKEN)
        yield server


def test_it_passes_the_check_without_a_warning(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--json"])

    said = json.loads(capsys.readouterr().out)
    assert [one for one in said["diagnostics"] if one["file"] == "providers.d/tidepool.yaml"] == []
    assert upstream.calls == []


def test_it_is_explained_without_being_asked(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["explain", "web_search", "query=otters", "provider=tidepool", "exact_terms=sea otter", "--json"])

    (one,) = json.loads(capsys.readouterr().out)["providers"]
    assert code == 0
    assert one["notHonoured"] == ["exact_terms"]
    (request,) = one["requests"]
    assert (request["method"], request["url"]) == ("POST", f"{upstream.url}/v2/find")
    assert request["json"] == {"text": "otters", "size": 5}
    assert request["headers"]["Authorization"] == "•••"
    assert upstream.calls == []


def test_it_is_called_by_name(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["call", "web_search", "query=otters", "provider=tidepool", "site=example.org", "--raw"])

    (row,) = json.loads(capsys.readouterr().out)["results"]
    assert code == 0
    assert {name: row[name] for name in ("title", "url", "publishedAt", "displayLink")} == {
        "title": "Otters",
        "url": "https://example.org/otters",
        "publishedAt": "2026-01-01T00:00:00Z",
        "displayLink": "example.org",
    }
    assert json.loads(upstream.last.body) == {"text": "otters site:example.org", "size": 5}


async def test_it_takes_its_place_in_the_route(upstream: Loopback) -> None:
    executor = make_live_executor({**os.environ, "SEARCH_ROUTING": "tidepool"}, disk_cache=False)
    try:
        done = await executor.call("web_search", {"query": "otters"})
    finally:
        await executor.aclose()

    assert done.meta["routing"]["provider_used"] == "tidepool"
    assert done.answer["urls"] == ["https://example.org/otters"]


def test_its_own_errors_are_told_apart(upstream: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["call", "web_search", "query=allowance", "provider=tidepool"])

    assert code == 1
    assert "the allowance at Tidepool is used up" in capsys.readouterr().err


def test_without_its_settings_it_says_which_are_missing(upstream: Loopback) -> None:
    executor, _ = make_executor({**os.environ, "TIDEPOOL_TOKEN": ""})

    assert executor.missing["tidepool"] == ("TIDEPOOL_TOKEN",)


class Served:
    """`specloom serve` as a process, spoken to line by line; a watchdog ends it if a test hangs."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "specloom", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        self.watchdog = threading.Timer(300, self.process.kill)
        self.watchdog.start()

    def ask(self, number: int, method: str, params: dict[str, Any]) -> Any:
        self.tell({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said = json.loads(line)
            if said.get("id") == number:
                return said["result"]
        raise AssertionError("the server ended without an answer")

    def tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        _, self.errors = self.process.communicate()
        self.watchdog.cancel()


def test_it_is_served(upstream: Loopback) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    arguments = {"query": "otters", "provider": "tidepool"}

    with Served() as server:
        server.ask(1, "initialize", hello)
        server.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = server.ask(2, "tools/list", {})
        result = server.ask(3, "tools/call", {"name": "web_search", "arguments": arguments})

    assert "web_search" in [one["name"] for one in listed["tools"]]
    assert result["structuredContent"]["urls"] == ["https://example.org/otters"]
    assert server.process.returncode == 0
    assert TOKEN.encode() not in server.errors
