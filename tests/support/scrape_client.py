"""The reading tools behind a real MCP client, and a search provider that finds what a test serves on the loopback."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from specloom.cache.cache import AnswerCache
from specloom.compiler.build import weave_from
from specloom.model.model import Model
from specloom.net.transport import Transport
from specloom.runtime.executor import Executor
from specloom.server.backend import ExecutorBackend
from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.protocol import Catalogue
from specloom.server.sdk_host import Host
from specloom.specs.library import shipped_root
from specloom.storage.state import Artifacts
from specloom.storage.store import open_memory

ERA = "2026-07-28"
SHELF = """\
spec: provider/1
name: shelf
title: Shelf
config:
  SHELF_URL: {type: url, required: true, description: Where the shelf listens.}
service:
  base: =config.SHELF_URL
  private: true
  errors:
    - {when: "status == `401`", kind: auth_required, message: "'the shelf refuses the key'"}
    - {when: "status == `429`", kind: rate_limited, message: "'the shelf asks to slow down'"}
operations:
  web:
    input: [query, num_results]
    steps:
      - get: /search
        query: {q: =args.query, n: =args.num_results}
        json:
          each: hits
          map:
            title: title
            url: {at: url, required: true}
            snippet: snippet
            published_at: {at: at, then: [timestamp]}
examples:
  - name: a hit
    operation: web
    args: {query: x, num_results: 1}
    config: {SHELF_URL: "https://shelf.example.org"}
    replies: {main: {json: {hits: [{url: "https://a.example.org/"}]}}}
    expect: {rows: [{url: "https://a.example.org/"}]}
"""
SETTINGS = {"CHROME_PATH": "disabled", "SEARCH_ROUTING": "shelf", "SHELF_URL": "http://127.0.0.1:9"}


@functools.cache
def shelf_folder() -> Path:
    """A layer of specs with the provider `shelf`, kept as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="shelf-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / "providers.d").mkdir()
    (folder / "providers.d" / "shelf.yaml").write_text(SHELF, encoding="utf-8")
    return folder


@functools.cache
def model() -> Model:
    """The shipped specs with the shelf, compiled once for all tests."""
    woven = weave_from([shipped_root(), shelf_folder()], examples=False)[0]
    assert "shelf" in woven.providers
    return woven


@functools.cache
def catalogue() -> Catalogue:
    """What a client is told of the tools."""
    return make_catalogue(model(), Selection(["all"]), SETTINGS, prompts=[])


@asynccontextmanager
async def connected(
    *,
    sender: Any = None,
    allow_private: bool = True,
    cached: bool = False,
    cache: AnswerCache | None = None,
    keeping: bool = False,
    is_personal: bool = True,
    is_alone: bool = True,
    era: str = ERA,
    **settings: str,
) -> AsyncIterator[Client]:
    """A client of a server in this process, which really reads unless it is given another `sender`.

    With `keeping`, what an answer cut is kept as an artifact.
    """
    environ = SETTINGS | settings
    store = open_memory([one.spec for one in model().collections.values()]) if keeping else None
    executor = Executor(
        model(),
        environ=environ,
        sender=sender or Transport(allow_private=allow_private, max_connections=320),
        cache=AnswerCache(disk=None, key=None, warn=print) if cached else cache,
        drawers=store,
        artifacts=Artifacts(store, model().address_artifact) if store else None,
        allow_private=allow_private,
        is_live=sender is None,
        is_personal=is_personal,
        is_alone=is_alone,
        validate=True,
    )
    backend = ExecutorBackend(executor, owner="north:ada", tools=catalogue().tool_names)
    try:
        async with Client(Host(catalogue(), lambda: backend).server(), mode=era) as client:
            yield client
    finally:
        await executor.aclose()
        if cache is not None:
            cache.close()


@asynccontextmanager
async def served(folder: Path, *, era: str = ERA, **settings: str) -> AsyncIterator[Client]:
    """A client of a server in a process of its own, over stdio, that may read the loopback."""
    environ = {
        **os.environ,
        "SPECLOOM_PATH": str(shelf_folder()),
        "SPECLOOM_CACHE_DIR": str(folder / "cache"),
        "SPECLOOM_ALLOW_PRIVATE": "true",
        "SPECLOOM_VALIDATE": "1",
        **SETTINGS,
        **settings,
    }
    server = StdioServerParameters(command=sys.executable, args=["-m", "specloom", "serve"], env=environ)
    async with Client(server, mode=era) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer to a call, which is the same as an object and as text where the tool has no text of its own."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    found: dict[str, Any] = result.structured_content
    assert model().tools[tool].text or json.loads(result.content[0].text) == found
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> tuple[str, Mapping[str, Any]]:
    """The sentence of a call that must fail, and its block for programs; {} where it has none."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    sentence, _, block = result.content[0].text.partition("\n\n")
    return sentence, json.loads(block)["error"] if block else {}
