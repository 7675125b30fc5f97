"""The command that opens the local page."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

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

    from specloom.core import Fault
    from specloom.server import make_executor
    from specloom.storage import local_owner
    from specloom.ui import Actions, LoopbackServer, serve_page

    from .diagnosis import diagnose
    from .stats import read_days

    def make(wrap: Wrap) -> Executor:
        return make_executor(os.environ, replay=options.replay, disk_cache=False, wrap=wrap)

    def diagnose_here(reaches: bool) -> dict[str, Any]:
        return diagnose(os.environ, reaches=reaches).to_json()

    def read_days_here(days: int) -> list[dict[str, Any]] | None:
        try:
            return read_days(days)
        except CommandError as error:
            raise Fault("config", str(error)) from None

    problems: list[str] = []
    owner = local_owner(os.environ, problems)
    try:
        actions = Actions(
            make,
            os.environ,
            owner=owner,
            is_replay=bool(options.replay),
            diagnose=diagnose_here,
            read_days=read_days_here,
        )
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
