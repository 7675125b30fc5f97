"""The command that opens the local page."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from .common import CommandError, say, tell
from .exits import PROBLEMS

if TYPE_CHECKING:
    from argparse import Namespace

    from specloom.runtime import Executor
    from specloom.ui import Wrap

MOST_PORT = 65_535


def ui(options: Namespace) -> int:
    """Serve the page until Ctrl-C."""
    import asyncio

    from .run import check_replay

    check_replay(options)
    if not options.port.isdecimal() or int(options.port[:6]) > MOST_PORT:
        raise CommandError(f"--port is {options.port!r}; write a number up to {MOST_PORT}, or leave it out")
    asyncio.run(_serve(options))
    return 0


async def _serve(options: Namespace) -> None:
    import asyncio

    from specloom.server import make_executor
    from specloom.storage import local_owner
    from specloom.ui import Actions, LoopbackServer, serve_page

    def make(wrap: Wrap) -> Executor:
        return make_executor(os.environ, replay=options.replay, wrap=wrap)

    problems: list[str] = []
    try:
        actions = Actions(make, os.environ, owner=local_owner(os.environ, problems), is_replay=bool(options.replay))
    except ValueError as error:
        raise CommandError(str(error), PROBLEMS) from None
    for problem in [*problems, *actions.problems]:
        tell(f"specloom: {problem}")
    try:
        try:
            server = LoopbackServer(int(options.port), actions.act, actions.find_view)
        except OSError as error:
            raise CommandError(f"cannot listen on port {options.port}: {error.strerror}", PROBLEMS) from None
        with serve_page(server):
            say(f"{server.address}\n  opens the page once, in one browser; Ctrl-C ends it")
            sys.stdout.flush()
            if options.opens or (options.opens is None and sys.stdout.isatty()):
                import webbrowser

                with contextlib.suppress(webbrowser.Error):
                    await asyncio.to_thread(webbrowser.open, server.address)
            await asyncio.Event().wait()
    finally:
        await actions.aclose()
