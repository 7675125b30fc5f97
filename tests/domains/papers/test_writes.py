"""What the paper store and its notes write is written off the event loop: others are answered meanwhile."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers import notes, store
from tests.support.research_server import ADA, ENVIRON, Server

CALLS = {
    "a folder of notes": (notes, "library_notes", {}),
    "an import": (store, "library_import", {"bibliography": "@misc{b, title = {Weirs}}"}),
    "a tag": (store, "doiget_tag", {"ref": "@a", "add": ["river"]}),
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_ping_is_answered_while_files_are_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, tool, arguments = CALLS[name]
    entries = tmp_path / "papers" / ".metadata"
    entries.mkdir(parents=True)
    (entries / "key_a.toml").write_text(
        "title = 'Otters'\nschema_version = '1.0'\n[specloom]\ncitekey = 'a'\n", "utf-8"
    )
    begun, released, order = threading.Event(), threading.Event(), list[str]()
    write = module.write_whole  # type: ignore[attr-defined]

    def write_slowly(*arguments: Any, **named: Any) -> None:
        begun.set()
        # Ends by itself where it holds the event loop, on which nobody could release it.
        released.wait(60)
        write(*arguments, **named)

    monkeypatch.setattr(module, "write_whole", write_slowly)
    settings = {"DOIGET_STORE_ROOT": str(tmp_path / "papers"), "SPECLOOM_VAULT": str(tmp_path / "notes")}
    server = Server({**ENVIRON, **settings})
    async with server.client(ADA) as client, server.client(ADA) as other:

        async def call() -> Any:
            result = await client.call_tool(tool, dict(arguments))
            order.append("tool")
            return result

        running = asyncio.ensure_future(call())
        await asyncio.to_thread(begun.wait, 60)
        await other.call_tool("doiget_health", {})
        order.append("ping")
        released.set()
        result = await running

    assert not result.is_error, result.content[0].text
    assert order == ["ping", "tool"]
