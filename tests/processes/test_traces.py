"""The product with a tracer, as `opentelemetry-instrument` sets one up: whole traces, of every worker, and no more."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.processes.test_http_product import make_environ
from tests.support.http_server import Client
from tests.support.loopback import Call, Loopback, Reply
from tests.support.server_process import call

pytestmark = pytest.mark.process
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
QUESTION, KEY = "Pl4ntedQuestion", "Pl4ntedKey"
PAGE = "<html><head><title>Otters</title></head><body><article><h1>Otters</h1>" + "<p>Pl4ntedText floats.</p>" * 60
LAUNCHER = """\
import sys
import time
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

provider = TracerProvider()
file = open(sys.argv[1], "a", encoding="utf-8")
exporter = ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(indent=None) + "\\n")
provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=3_600_000))
trace.set_tracer_provider(provider)
from specloom.__main__ import main

sys.argv[1:] = sys.argv[2:]
sys.exit(main())
"""


def test_a_trace_goes_from_the_caller_through_worker_and_tier_to_the_provider_and_tells_nothing(tmp_path: Path) -> None:
    def answer(asked: Call) -> Reply:
        if asked.path != "/search":
            return (404, {}, "") if asked.path == "/robots.txt" else (200, {"Content-Type": "text/html"}, PAGE)
        rows = [{"title": "Otters", "url": "https://example.org/otters", "content": "Pl4ntedText"}]
        return 200, {"Content-Type": "application/json"}, json.dumps({"query": "", "results": rows})

    with Loopback(answer) as upstream:
        settings = {
            "SEARXNG_URL": upstream.url,
            "SEARCH_ROUTING": "searxng",
            "SEARCH_PROVIDER": "",
            "SEARXNG_BASIC_AUTH": f"ann:{KEY}",
            "SPECLOOM_ALLOW_PRIVATE": "true",
            "CHROME_PATH": "disabled",
            "SPECLOOM_TRACE_PROVIDERS": "searxng",
        }
        (tmp_path / "launch.py").write_text(LAUNCHER)
        spans, said = tmp_path / "spans.jsonl", tmp_path / "said.txt"
        arguments = [str(spans), "serve", "--http", "127.0.0.1:0", "--workers", "2"]
        with said.open("w") as errors, subprocess.Popen(
            [sys.executable, str(tmp_path / "launch.py"), *arguments],
            cwd=tmp_path, env=make_environ(tmp_path, settings), stderr=errors, text=True,
        ) as server:  # fmt: skip
            try:
                while (found := re.search(r"127\.0\.0\.1:(\d+)/mcp", said.read_text())) is None:
                    assert server.poll() is None, said.read_text()
                    time.sleep(0.05)
                with Client(int(found[1])) as client:
                    named = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
                    searched = client.post(call(1, "web_search", {"query": QUESTION}), **named)
                    page = client.post(call(2, "scrape_page", {"url": f"{upstream.url}/{QUESTION}"}), **named)
                assert (searched.status, page.status) == (200, 200)
                assert b'"isError":true' not in searched.body + page.body
            finally:
                server.terminate()
                server.wait(60)

    text = spans.read_text(encoding="utf-8")
    made: dict[str, dict[str, Any]] = {one["name"]: one for one in map(json.loads, text.splitlines())}
    assert {"tools/call web_search", "provider searxng", "tools/call scrape_page", "tier html", "GET"} <= set(made)
    assert {one["context"]["trace_id"] for one in made.values()} == {f"0x{TRACE}"}
    below = {name: one["parent_id"] for name, one in made.items()}
    assert below["tools/call web_search"] == below["tools/call scrape_page"] == f"0x{PARENT}"
    assert below["provider searxng"] == made["tools/call web_search"]["context"]["span_id"]
    assert below["tier html"] == made["tools/call scrape_page"]["context"]["span_id"]
    for planted in (QUESTION, KEY, "Pl4ntedText", "Otters", "otters"):
        assert planted not in text
    told = {asked.path: asked.headers.get("traceparent", "") for asked in upstream.calls}
    assert TRACE in told["/search"]
    assert told[f"/{QUESTION}"] == ""
