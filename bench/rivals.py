"""The sides of a comparison: our server, another server with the same tools, and a stand-in where that is not there.

All ask the same loopback engine as an instance of SearXNG, start in a home of their own that has nothing in it but what
they put there, and write an audit log.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from client import HELLO, Client, frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BIN = Path(sys.executable).parent
SPECLOOM = str(BIN / ("specloom.exe" if sys.platform == "win32" else "specloom"))
COMMAND = [SPECLOOM, "serve"]
SDK = [sys.executable, str(Path(__file__).with_name("hello_sdk.py"))]
VERSION = "1.50.4"
"""The version that the budgets are of."""
RIVAL = "web_researcher_mcp"
PACKAGE = RIVAL.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Side:
    """A server that can be started: its name, its command, its tool that searches, and its settings."""

    name: str
    command: Sequence[str]
    search: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def start(self, home: Path) -> Client:
        """The server as a child process, at home in this folder, which is made."""
        return Client(self.command, {**empty_home(home), **self.settings})


def empty_home(home: Path) -> dict[str, str]:
    """An environment without anybody's settings, at home in this folder, which is made."""
    home.mkdir(parents=True, exist_ok=True)
    kept = ("PATH", "SYSTEMROOT", "TEMP", "TMPDIR", "LANG")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    return {**environ, **dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA"), str(home))}


def asking(upstream: str) -> dict[str, str]:
    """The settings that point a server to the loopback engine."""
    return {"SEARXNG_URL": upstream, "SEARCH_ROUTING": "searxng"}


def our_side(upstream: str, command: Sequence[str] = COMMAND) -> Side:
    """Our server, as the checkout or an installed wheel has it."""
    return Side("specloom", command, "web_search", asking(upstream))


def other_side(upstream: str, program: str) -> Side:
    """The rival's server, or where there is none the stand-in: a search written by hand over the official SDK."""
    if not program:
        return Side("the SDK by hand", [*SDK, upstream], "search")
    return Side(PACKAGE, [program], "web_search", {**asking(upstream), "ALLOW_PRIVATE_IPS": "true"})


def find_rival(named: str = "") -> str:
    """The program of the other server: the one that is named, else that of its package; "" where there is none.

    A SystemExit where the one that is named cannot be run.
    """
    if named:
        if not os.access(named, os.X_OK):
            raise SystemExit(f"bench: --rival {named} is no program that can be run")
        return named
    spec = find_spec(RIVAL)
    if spec is None or spec.origin is None:
        return ""
    program = Path(spec.origin).parent / "bin" / PACKAGE
    return str(program) if os.access(program, os.X_OK) else ""


def tell_absence() -> str:
    """Why no rival is run, and what to do."""
    return (
        f"no rival: {PACKAGE} is not installed and --rival names no program, so a stand-in on the official SDK takes"
        f" its place, without budgets (pip download --no-deps {PACKAGE}=={VERSION}, unpack it, --rival PROGRAM)"
    )


def introduce(side: Side, home: Path) -> str:
    """The name of a server and its version, as it says itself."""
    with side.start(home) as client:
        info = json.loads(client.ask(frame(0, "initialize", HELLO)))["result"]["serverInfo"]
    return side.name if side.name != PACKAGE else f"{side.name} {info.get('version', '')}".strip()
