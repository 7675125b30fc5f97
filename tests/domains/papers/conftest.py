"""Every test of the paper store has its own clock for turns, and nothing remembered from the test before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.paper_store import Turns


@pytest.fixture(autouse=True)
def turns_of_its_own(turns: Turns) -> None:
    """The clock of turns, also where a test does not ask for it."""
