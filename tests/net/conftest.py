"""What is tested of the network runs on the event loop of the standard library and on uvloop."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Mapping

import pytest


def start_uvloop() -> asyncio.AbstractEventLoop:
    """A loop of uvloop; the test is skipped where no wheel of it was there for this system."""
    if importlib.util.find_spec("uvloop") is None:
        pytest.skip("uvloop is not installed: no wheel of it for this system, or not the extra dev")
    import uvloop

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": start_uvloop}
