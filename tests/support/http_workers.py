"""The demo server with several workers: run it with a folder, how many there are, and `dying` for workers that die.

It prints its port. `echo` answers with the process that answers, and tells of a change of the address in its text.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from specloom.http.app import HttpApp
from specloom.http.serve import bind, run
from specloom.http.service import HttpService
from specloom.http.settings import read_settings
from specloom.http.supervisor import Life, Supervisor
from specloom.storage import open_backplane
from tests.support.demo_server import Demo, catalogue
from tests.support.http_server import DemoEngine, OwnerGate


class Telling(Demo):
    """Tools that say which process runs them."""

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Any) -> Any:
        from specloom.server.frames import success

        if name != "echo":
            return await super().call_tool(name, arguments, call)
        call.notify("notifications/resources/updated", {"uri": arguments.get("text", "")})
        return success({"text": str(os.getpid())})


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def main(folder: str, count: str, *more: str) -> int:
    """Serve until a signal."""
    listener = bind(read_settings({}, "127.0.0.1:0"))
    port = listener.getsockname()[1]
    settings = read_settings({}, f"127.0.0.1:{port}")
    print(port, flush=True)

    async def serve(life: Life) -> int:
        backplane = open_backplane(Path(folder), say)
        service = HttpService(catalogue(), lambda: DemoEngine(Telling()), bus=backplane.bus)
        try:
            return await run(service, settings, HttpApp(service, settings, OwnerGate()), listener, life=life)
        finally:
            await backplane.aclose()

    def work(_: int, life: Life) -> int:
        return 7 if "dying" in more else asyncio.run(serve(life))

    return Supervisor(int(count), work, seconds=5.0, warn=say).run()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
