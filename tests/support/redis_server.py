"""A real `redis-server` of a test's own: on a socket in its folder, with no network and nothing on disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

import pytest
import redis

from specloom.storage.redis_link import RedisSettings

KEY = bytes(range(32))
NO_SERVER = "there is no redis-server on PATH (apt-get install redis-server, or valkey-server)"


def find_server() -> str:
    """The program, or "" where there is none."""
    return shutil.which("redis-server") or shutil.which("valkey-server") or ""


class RedisServer:
    """Starts at once; can be stopped, paused, killed and started again at the same place."""

    def __init__(self, *options: str) -> None:
        if not find_server():
            pytest.skip(NO_SERVER)
        # The path of a socket is short, and those of tests are not.
        self.folder = Path(tempfile.mkdtemp(prefix="redis"))
        self.socket = self.folder / "s"
        self.options = options
        self.url = f"unix://{self.socket}"
        self.client = redis.Redis(unix_socket_path=str(self.socket), protocol=3)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def settings(self, *, key: bytes = KEY, prefix: str = "specloom:") -> RedisSettings:
        """What a process needs to use it."""
        return RedisSettings(self.url, prefix, key)

    def start(self) -> None:
        """Start it, with nothing in it."""
        places = ["--port", "0", "--unixsocket", str(self.socket), "--dir", str(self.folder)]
        nothing_kept = ["--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            [find_server(), *places, *nothing_kept, "--enable-debug-command", "yes", *self.options],
            stdout=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(redis.RedisError):
                self.client.ping()
                return
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError("redis-server does not start")
            time.sleep(0.005)

    def kill(self) -> None:
        """End it as a machine that fails does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hold(self) -> None:
        """Let it stand still, with all its connections open."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on after `hold`."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def pass_time(self, seconds: float) -> None:
        """Let every key be so much nearer its end."""
        for name in self.client.scan_iter():
            left = self.client.pttl(name)
            if left >= 0:
                self.client.pexpire(name, left - round(seconds * 1000))

    def close(self) -> None:
        """End it and leave nothing behind."""
        self.client.close()
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> RedisServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
