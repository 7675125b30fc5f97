"""A server as a host starts it: any command that speaks MCP over its pipes, asked one thing after the other."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

PATIENCE = 300
CLEAN: Mapping[str, str] = {
    name: text for name, text in os.environ.items() if not name.startswith(("SPECLOOM_", "PYTHON", "COV_", "XDG_"))
}
"""The environment of these tests without what would be read as a setting."""


class Hosted:
    """A client of a server in a folder that is also its home; a watchdog ends it if a test hangs.

    Leaving the context closes the server's input and waits until it has ended with 0.
    """

    def __init__(self, command: Sequence[str | Path], folder: Path, **environ: str) -> None:
        self._errors = (folder / "stderr").open("w+b")
        self._process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env={**CLEAN, "HOME": str(folder), **environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._alarm = threading.Timer(PATIENCE, self._process.kill)
        self._alarm.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=PATIENCE)
        self._alarm.cancel()
        self._errors.close()
        assert self._process.returncode == 0

    def send(self, message: Mapping[str, Any]) -> None:
        """Write a message."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next message."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self.stderr()
        return json.loads(line)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The whole answer to a request; what comes before it is dropped."""
        self.send(message)
        while (answer := self.receive()).get("id") != message["id"]:
            pass
        return answer

    def ask(self, message: Mapping[str, Any]) -> Any:
        """The result of a request; what comes before it is dropped."""
        return self.answer(message)["result"]

    def wait_for(self, method: str) -> dict[str, Any]:
        """The next notification of this method."""
        while (message := self.receive()).get("method") != method:
            pass
        return message

    def stderr(self) -> str:
        """What the server has told the person who started it."""
        self._errors.seek(0)
        return self._errors.read().decode()
