"""A server is started as a host starts it, and asked for its tools."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile

from .hosts import HostCommand

PATIENCE = 120.0
"""Seconds until the tools are listed: a first start may have to fetch packages and compile."""
_GIVEN = (
    "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
    "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
    "PROGRAMDATA", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "COMSPEC", "PATHEXT",
)  # fmt: skip
"""What the session of a person gives to every program; the PATH of a shell is not among it."""


def try_server(command: HostCommand) -> tuple[int, str]:
    """How many tools the server lists, and what went wrong, in a sentence; "" when nothing did."""
    from specloom.server import HANDSHAKE_VERSIONS

    hello = {"protocolVersion": HANDSHAKE_VERSIONS[0], "capabilities": {}}
    hello["clientInfo"] = {"name": "specloom-install", "version": "1"}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    environ = {name: os.environ[name] for name in _GIVEN if name in os.environ}
    environ |= {"PATH": os.defpath, **command.env}
    try:
        done = subprocess.run(  # noqa: S603 - the command of this person's own host
            command.argv,
            input="".join(json.dumps(one) + "\n" for one in messages),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environ,
            # A host stands somewhere of its own.
            cwd=tempfile.gettempdir(),
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 0, f"nothing came within {PATIENCE:.0f} seconds"
    except OSError as error:
        return 0, f"{command.argv[0]} cannot be started ({error.strerror})"
    for line in done.stdout.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            return 0, f"it wrote {line[:80]!r} on its output, which is for messages"
        if message.get("id") == 2 and "result" in message:
            return len(message["result"]["tools"]), ""
        if "error" in message:
            return 0, str(message["error"].get("message", "an error"))[:200]
    last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
    return 0, f"it ended with {done.returncode}: {last[:200]}"
