"""Leads a server to an upstream on this machine, and moves its clock: on the PYTHONPATH of a process that tests start.

`REROUTED` is the folder of tests/support/upstream.py: `ports` says where what goes to port 443 and to port 80 ends
up, and `clock` by how many seconds `time.time` is off, which may change while the process runs.
"""

import os
import socket
import time
from pathlib import Path

FOLDER = Path(os.environ["REROUTED"])
PORTS = dict(zip((443, 80), map(int, (FOLDER / "ports").read_text("ascii").split()), strict=True))

_resolve, _connect, _now = socket.getaddrinfo, socket.socket.connect, time.time


def getaddrinfo(host, port, *more, **others):
    """Every name is this machine."""
    return _resolve("127.0.0.1", port, *more, **others)


def connect(self, address):
    """The two ports of the web are those of the upstream."""
    if isinstance(address, tuple):
        address = (address[0], PORTS.get(address[1], address[1]), *address[2:])
    return _connect(self, address)


def now():
    """The time, as far off as the file says."""
    try:
        return _now() + float((FOLDER / "clock").read_text("ascii"))
    except (OSError, ValueError):
        return _now()


socket.getaddrinfo, socket.socket.connect, time.time = getaddrinfo, connect, now
