"""`specloom ui` as a person starts it: it prints its address, answers there, and ends with Ctrl-C."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.demo_specs import write_demo

pytestmark = pytest.mark.process
PATIENCE = 300
KEY = "s3cr3t-demo-key"


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SPECLOOM_"))}
    own = {"HOME": str(folder), "SPECLOOM_PATH": str(write_demo(folder / "specs")), "DEMO_KEY": KEY}
    return subprocess.Popen(
        [sys.executable, "-m", "specloom", "ui", *words],
        cwd=folder,
        env={**kept, **own},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes in another way")
def test_it_prints_an_address_that_opens_the_page_until_it_is_interrupted(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().strip())
        connection = http.client.HTTPConnection(address.netloc, timeout=PATIENCE)
        connection.request("GET", f"{address.path}?{address.query}")
        opened = connection.getresponse()
        opened.read()
        cookie, folder = (opened.headers["Set-Cookie"].split("; ")[at] for at in (0, 1))
        headers = {"Cookie": cookie, "Origin": f"http://{address.netloc}", "Content-Type": "application/json"}
        connection.request("POST", f"{folder.removeprefix('Path=')}api/operator", b"{}", headers)
        told = connection.getresponse().read().decode()
        connection.close()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)

    assert address.hostname == "127.0.0.1"
    assert (process.returncode, errors) == (130, "")
    operator = json.loads(told)
    assert operator["diagnosis"]["tools"]["working"]
    assert operator["days"] is None
    demo = next(one for one in operator["providers"] if one["name"] == "demo")
    assert [(one["name"], one["set"]) for one in demo["settings"]] == [("DEMO_URL", False), ("DEMO_KEY", True)]
    assert KEY not in told


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with start(tmp_path, "--port", port) as process:
            out, errors = process.communicate(timeout=PATIENCE)

    assert (process.returncode, out) == (1, "")
    assert errors.startswith(f"specloom: cannot listen on port {port}: ")
