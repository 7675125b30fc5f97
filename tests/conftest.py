"""What holds for every test: no network but loopback, no settings or files of the person who runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.paper_store import Turns, World

LOOPBACK = [r"127\.\d+\.\d+\.\d+", "::1", "localhost"]
FOREIGN_SETTING = re.compile(r"SPECLOOM_|.*_(API_KEY|TOKEN|SECRET)$")
OLDEST_NODE = (22, 19)


def find_node_problem() -> str:
    """Why tests marked `node` cannot run here, or nothing."""
    node = shutil.which("node")
    if node is None:
        return "there is no Node"
    done = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8", check=False)
    version = tuple(int(part) for part in re.findall(r"\d+", done.stdout)[:2])
    wanted = ".".join(map(str, OLDEST_NODE))
    return "" if version >= OLDEST_NODE else f"Node is {done.stdout.strip()}, and {wanted} or newer is needed"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("block_network") is None:
            item.add_marker(pytest.mark.block_network(allowed_hosts=LOOPBACK))
    marked = [item for item in items if item.get_closest_marker("node")]
    problem = find_node_problem() if marked else ""
    if problem:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=problem))


# One for the whole run: a fixture per test would be shared by all the examples of a property test.
@pytest.fixture(scope="session", autouse=True)
def a_machine_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home directory and an environment in which nobody has configured anything."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if FOREIGN_SETTING.match(name)]:
            patch.delenv(name)
        for name in ("HOME", "USERPROFILE"):
            patch.setenv(name, str(home))
        for name, folder in (("CONFIG", ".config"), ("DATA", ".local/share"), ("CACHE", ".cache"), ("STATE", ".state")):
            patch.setenv(f"XDG_{name}_HOME", str(home / folder))
        yield home


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """The clock of the paper store's turns, which moves when somebody sleeps."""
    from tests.support.paper_store import isolate

    return isolate(monkeypatch)


@pytest.fixture
def world(tmp_path: Path, turns: Turns) -> World:
    """A paper store in a folder of its own behind the real engine."""
    from tests.support.paper_store import World

    return World(tmp_path)
