"""Every test of the paper store has its own clock for turns, and nothing remembered from the test before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from paper_support import World

from specloom.domains.papers import pacing, provenance_log
from specloom.domains.papers import pacing as replays

if TYPE_CHECKING:
    from pathlib import Path


class Turns:
    """A clock that moves when somebody sleeps, and the starts that it saw."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture(autouse=True)
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    made = Turns()
    monkeypatch.setattr(pacing, "SHARED", pacing.Pacer(made.clock, made.sleep))
    monkeypatch.setattr(replays, "REPLAYS_SHARED", replays.Replays())
    monkeypatch.setattr(provenance_log, "_LOGS", {})
    return made


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
