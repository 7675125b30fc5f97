"""What one process erases or withdraws is so for a server that runs, at its next call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.loopback import Call
from tests.support.served import Served, content
from tests.support.upstream import EVERY_STORE, Upstream, web

QUESTION = {"query": "sea otters"}


def command(home: Path, environ: dict[str, str], *words: str) -> str:
    """What a command prints that is run beside the server, in its home."""
    base = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SPECLOOM_"))}
    done = subprocess.run(
        [sys.executable, "-m", "specloom", *words],
        capture_output=True,
        encoding="utf-8",
        cwd=home,
        env={**base, "HOME": str(home), **environ},
        check=True,
        timeout=300,
    )
    return done.stdout


def test_a_server_that_runs_answers_nothing_from_memory_that_another_process_has_erased(tmp_path: Path) -> None:
    asked: list[Call] = []

    def handler(call: Call) -> Any:
        if call.headers.get("host") == "api.search.brave.com":
            asked.append(call)
        return web(call)

    with Upstream(handler) as upstream:
        environ = {**EVERY_STORE, **upstream.environ()}
        with Served(tmp_path, environ) as server:
            first = server.call("web_search", QUESTION)
            kept = server.call("web_search", QUESTION)
            before = len(asked)
            command(tmp_path, environ, "data", "erase", "--user", "ann", "--yes")
            after = server.call("web_search", QUESTION)
            again = server.call("web_search", QUESTION)

    assert (before, len(asked)) == (1, 2)
    assert first["_meta"]["cached"] is False
    assert kept["_meta"]["cached"] is True
    assert after["_meta"]["cached"] is False
    assert again["_meta"]["cached"] is True


def test_a_consent_that_another_process_withdraws_holds_at_the_next_call(tmp_path: Path) -> None:
    with Upstream(web) as upstream:
        environ = {**EVERY_STORE, **upstream.environ()}
        with Served(tmp_path, environ) as server:
            saved = content(server.call("memory_save", {"note": "otters eat crabs"}))
            told = content(server.call("memory_recall", {"query": "otters"}))
            withdrawn = json.loads(
                command(tmp_path, environ, "data", "consent", "--user", "ann", "--purpose", "memory", "--withdraw")
            )
            after = content(server.call("memory_recall", {"query": "otters"}))

    assert (saved["status"], withdrawn["granted"]) == ("ok", False)
    assert len(told["memories"]) == 1
    assert after["status"] != "ok"
    assert not after.get("memories")
