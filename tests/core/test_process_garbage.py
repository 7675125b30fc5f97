"""Processes that live long look for garbage seldom, and only they."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import pytest

from specloom.core import garbage_collection


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_young_objects_are_looked_at_seldom_and_old_ones_as_before(threshold: tuple[int, int, int]) -> None:
    garbage_collection.collect_seldom()

    assert gc.get_threshold() == (garbage_collection.YOUNG, *threshold[1:])


def test_what_is_loaded_to_stay_is_never_looked_through() -> None:
    loaded = garbage_collection.keep(lambda: [gc.isenabled(), gc.get_freeze_count()])
    try:
        assert not loaded[0]
        assert gc.isenabled()
        assert gc.get_freeze_count() > loaded[1]
        assert not any(each is loaded for each in gc.get_objects())
    finally:
        gc.unfreeze()


def test_what_cannot_be_loaded_leaves_the_collector_as_it_was() -> None:
    frozen = gc.get_freeze_count()

    with pytest.raises(OSError, match="gone"):
        garbage_collection.keep(_fail)

    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen


def _fail() -> None:
    raise OSError("gone")


@pytest.mark.parametrize(
    ("code", "seldom"),
    [
        ("import specloom.domains.scrape.fetch.worker as one; one.read_frame = lambda _: None; one.main()", True),
        ("import sys; sys.argv = ['specloom', '--version']; import specloom.__main__ as one; one.main()", True),
        ("import specloom.domains.scrape.extract, specloom.server.start", False),
    ],
)
def test_only_a_process_of_the_project_changes_how_it_collects(code: str, seldom: bool) -> None:
    tell = f"import atexit, gc, os; atexit.register(lambda: os.write(2, str(gc.get_threshold()[0]).encode())); {code}"

    done = subprocess.run([sys.executable, "-c", tell], capture_output=True, timeout=300, check=False)

    assert done.stderr.decode().endswith(str(garbage_collection.YOUNG if seldom else gc.get_threshold()[0]))


def test_a_command_leaves_what_it_has_to_the_system() -> None:
    code = "import sys; sys.argv = ['specloom', '--version']; import gc, specloom.__main__ as one; one.main();"

    done = subprocess.run(
        [sys.executable, "-c", f"{code} print(gc.isenabled(), gc.get_count()[0] < 100, gc.get_freeze_count() > 1000)"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "False True True"
