"""What the server keeps is for its user alone, whatever the umask and whatever an older version left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import MANY
from tests.support.served import Served, use_every_store
from tests.support.upstream import EVERY_STORE, Upstream

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes are a matter of Unix")
STORES = ("cache.key", "cache.db", "catalogue-*.json", "state.db", "audit.jsonl", "access.jsonl", "*.pdf", "*.toml")


def open_to_others(home: Path) -> Iterator[str]:
    for path in home.rglob("*"):
        if path.lstat().st_mode & 0o077 and not path.is_symlink():
            yield f"{path.lstat().st_mode & 0o777:03o} {path.relative_to(home)}"


def test_under_an_umask_of_nothing_nobody_else_reads_what_any_store_holds(home: Path, upstream: Upstream) -> None:
    with Served(home, {**upstream.environ(), **EVERY_STORE}, umask=0) as server:
        use_every_store(server)

        assert server.finish() == 0

    assert [name for name in STORES if not list(home.rglob(name))] == []
    assert list(open_to_others(home)) == []


@MANY
def test_what_an_older_version_left_open_is_closed_by_the_next_that_uses_it(home: Path, upstream: Upstream) -> None:
    environ = {**upstream.environ(), **EVERY_STORE}
    with Served(home, environ) as server:
        use_every_store(server)
        server.finish()
    own = [path for path in home.rglob("*") if "specloom" in path.parts or path.suffix == ".jsonl"]
    for path in own:
        path.chmod(0o777 if path.is_dir() else 0o666)

    with Served(home, environ) as server:
        use_every_store(server)
        server.finish()

    # An image that is still good is only read, and holds what anybody can read in the package.
    left = [text for text in open_to_others(home) if "catalogue-" not in text]
    assert left == []
