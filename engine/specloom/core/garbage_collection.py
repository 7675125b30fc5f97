"""How often a process looks for objects that hold each other and nobody else holds: seldom."""

from __future__ import annotations

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

if TYPE_CHECKING:
    T = TypeVar("T")

YOUNG = 50_000
"""Objects that are made before the next look, instead of 700. Hardly any of a page's or a call's hold each other, so
a look finds next to nothing; with fewer, a page takes 2 % less time (`bench/bench_reading.py` shows the memory)."""


def collect_seldom() -> None:
    """Have this process look for cycles seldom."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def keep(load: Callable[[], T]) -> T:
    """What `load` gives, which stays: no cycles are looked for meanwhile, nor ever in what there is by then."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        loaded = load()
        gc.freeze()
    finally:
        if was_on:
            gc.enable()
    return loaded


def leave() -> None:
    """This process is about to end: what it has is left to the system.

    The interpreter would look at every object for cycles twice, which takes a short command an eighth of its time.
    """
    gc.disable()
    gc.freeze()
