"""What a client is told of calls to a library of Zotero that a loopback server plays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp import Client

from tests.support.loopback import Loopback
from tests.support.research_server import ADA, Server
from tests.support.zotero_library import KEY, ToLibrary, ZoteroLibrary


def environ(folder: Path, server: str, *, is_local: bool = False) -> dict[str, str]:
    told = {
        "DOIGET_STORE_ROOT": str(folder / "papers"),
        "ZOTERO_LOCAL_URL": server,
        "ZOTERO_WRITE": "true",
        "CHROME_PATH": "disabled",
        "SEARCH_ROUTING": "brave",
        "BRAVE_API_KEY": "k",
    }
    return told if is_local else told | {"ZOTERO_API_KEY": KEY, "ZOTERO_LIBRARY": "users/0"}


async def call_all(client: Client, *calls: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    told = []
    for tool, arguments in calls:
        result = await client.call_tool(tool, dict(arguments))
        text = result.content[0].text
        assert KEY not in json.dumps(result.structured_content or {}) + text
        told.append({"error": text} if result.is_error else {**(result.structured_content or {}), "text": text})
    return told


def ask(
    folder: Path, library: ZoteroLibrary, *calls: tuple[str, Mapping[str, Any]], is_local: bool = False
) -> list[dict[str, Any]]:
    """What a client is told of calls."""

    async def run(url: str) -> list[dict[str, Any]]:
        server = Server(environ(folder, url, is_local=is_local), web=ToLibrary(url))
        try:
            async with server.client(ADA) as client:
                return await call_all(client, *calls)
        finally:
            await server.executor.aclose()

    with Loopback(library) as server:
        return asyncio.run(run(server.url))


def add(folder: Path, library: ZoteroLibrary, *, is_local: bool = False, **arguments: Any) -> dict[str, Any]:
    return ask(folder, library, ("zotero_add", arguments), is_local=is_local)[0]
