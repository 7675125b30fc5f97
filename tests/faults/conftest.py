"""What the faults share: an upstream on this machine, a home, how often each is tried, and a row of the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.upstream import Upstream, web

Tries = Callable[[int, int], int]
Cell = Callable[[str, str, int, str], None]
MANY = pytest.mark.many


def often(values: Iterable[Any], *chosen: Any) -> list[Any]:
    """Parameters of which the chosen are tried in every run, and the others with `--many`."""
    return [value if value in chosen else pytest.param(value, marks=MANY) for value in values]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """Every upstream at once; a test may change what it answers."""
    with Upstream(web) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of a user in which nothing is."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def cell(record_property: Callable[[str, object], None]) -> Cell:
    """A row of the matrix that is printed at the end: fault, what it hits, tries, outcome."""
    return lambda fault, hit, count, outcome: record_property("fault", (fault, hit, count, outcome))
