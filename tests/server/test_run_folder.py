"""Servers of several tenants over one state share limits and paces; one person's server opens nothing for that."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.start import make_backends, open_run_folder
from tests.support.shipped import shipped_model


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "SPECLOOM_STATE_DIR": str(tmp_path / "state"),
        "SPECLOOM_CACHE_DIR": str(tmp_path / "cache"),
        "SPECLOOM_PATH": "",
    }


async def test_those_who_serve_from_one_state_count_together(tmp_path: Path, environ: dict[str, str]) -> None:
    one, other = open_run_folder(environ), open_run_folder(environ)
    await one.counters.add("calls", 1, until=time.time() + 60)

    assert await other.counters.add("calls", 1, until=time.time() + 60) == 2
    assert stat.S_IMODE((tmp_path / "state" / "run").stat().st_mode) == 0o700
    for plane in (one, other):
        await plane.aclose()


async def test_one_persons_server_opens_nothing_for_others(tmp_path: Path, environ: dict[str, str]) -> None:
    catalogue = make_catalogue(shipped_model(), Selection(["research"]), environ)

    await make_backends(environ, catalogue).aclose()

    assert not (tmp_path / "state" / "run").exists()


async def test_a_server_that_leaves_takes_its_part_with_it(tmp_path: Path, environ: dict[str, str]) -> None:
    catalogue = make_catalogue(shipped_model(), Selection(["research"], shared=True), environ)
    plane = open_run_folder(environ)
    backends = make_backends(environ, catalogue, shared=True, backplane=plane)
    there = list((tmp_path / "state" / "run").rglob("*.sock"))

    await backends.aclose()
    await plane.aclose()

    assert len(there) == 1
    assert not list((tmp_path / "state").rglob("*.sock"))
