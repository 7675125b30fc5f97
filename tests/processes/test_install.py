"""A new home gets the server through a host's own file, and the host that reads it has its tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PATIENCE = 300


def test_one_command_gives_a_host_the_tools(tmp_path: Path) -> None:
    environ = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    program = Path(sys.executable).with_name("specloom")

    done = subprocess.run(
        [program, "install", "claude-desktop"],
        env={**environ, "HOME": str(tmp_path)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=True,
    )

    written = json.loads((tmp_path / ".config" / "Claude" / "claude_desktop_config.json").read_text())
    assert written == {"mcpServers": {"specloom": {"command": str(program), "args": ["serve"]}}}
    assert "started as Claude Desktop starts it, it lists " in done.stdout
    assert done.stdout.splitlines()[-1].startswith("next: ")
