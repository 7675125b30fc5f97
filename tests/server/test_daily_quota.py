"""A quota of calls a day over stdio: who is counted, what is given back, and that nothing else of a backend changes."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from specloom.core import Backplane, BackplaneError, Fault
from specloom.server.daily_quota import DailyQuota, ForwardingBackend
from specloom.server.protocol import Backend, Call
from specloom.storage import local_backplane, open_backplane
from tests.support.clock import Clock
from tests.support.demo_server import Demo

MIDNIGHT = 1_800_057_600.0
OWNER = "default:ann"


class Kept(Demo):
    """Says of some answers that they had been kept."""

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Any) -> Any:
        call.is_kept = arguments.get("text") == "kept"
        return await super().call_tool(name, arguments, call)


async def ask(backend: Backend, text: str = "x") -> bool:
    """Whether a call is answered."""
    try:
        await backend.call_tool("echo", {"text": text}, Call())
    except Fault:
        return False
    return True


async def test_a_day_of_utc_has_so_many_calls() -> None:
    clock = Clock(MIDNIGHT - 3600.0)
    quota = DailyQuota(Kept(), 2, OWNER, local_backplane(clock), clock=clock)

    answered = [await ask(quota) for _ in range(4)]
    with pytest.raises(Fault) as refused:
        await quota.call_tool("echo", {}, Call())
    clock.now = MIDNIGHT
    tomorrow = [await ask(quota) for _ in range(3)]

    assert MIDNIGHT % 86_400 == 0
    assert answered == [True, True, False, False]
    assert refused.value.message == (
        "This server allows 2 calls a day of UTC for each user (MAX_CALLS_PER_DAY); try again in 3600 seconds."
    )
    assert refused.value.to_json()["error"] == {
        "kind": "rate_limited",
        "retryable": True,
        "suggestedAction": "retry_after_delay",
        "retryAfterSeconds": 3600,
        "limit": "user_day",
        "variable": "MAX_CALLS_PER_DAY",
    }
    assert tomorrow == [True, True, False]


async def test_what_had_been_kept_is_no_call() -> None:
    quota = DailyQuota(Kept(), 1, OWNER, local_backplane())

    assert [await ask(quota, text) for text in ("kept", "kept", "new", "new")] == [True, True, True, False]


async def test_processes_of_one_owner_count_together_and_owners_apart(tmp_path: Path) -> None:
    planes = [open_backplane(tmp_path / "run", pytest.fail) for _ in range(3)]
    first, second = (DailyQuota(Kept(), 2, OWNER, plane) for plane in planes[:2])
    other = DailyQuota(Kept(), 2, "default:bob", planes[2])

    answered = [await ask(first), await ask(second), await ask(first), await ask(second)]
    apart = await ask(other)

    for quota in (first, second, other):
        await quota.close(1.0)
    assert answered == [True, True, False, False]
    assert apart


async def test_without_the_counters_the_process_counts_by_itself() -> None:
    class Gone:
        async def add(self, key: str, amount: int, *, until: float) -> int:
            raise BackplaneError("gone")

    local = local_backplane()
    clock = Clock(MIDNIGHT)
    quota = DailyQuota(Kept(), 2, OWNER, Backplane(Gone(), local.leases, local.bus), clock=clock)  # type: ignore[arg-type]

    answered = [await ask(quota) for _ in range(3)]
    clock.now += 86_400.0

    assert answered == [True, True, False]
    assert await ask(quota)


def test_a_backend_in_a_backend_forwards_all_that_there_is() -> None:
    names = {name for name, _ in inspect.getmembers(Backend, inspect.isfunction) if not name.startswith("_")}
    asked: list[str] = []

    class Noting:
        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            method = getattr(Backend, name)
            is_coroutine = inspect.iscoroutinefunction(method)
            return (lambda *_: asyncio.sleep(0)) if is_coroutine else (lambda *_: None)

    forwarding = ForwardingBackend(Noting())  # type: ignore[arg-type]
    for name in sorted(names):
        method = getattr(forwarding, name)
        made = method(*range(len(inspect.signature(method).parameters)))
        if inspect.iscoroutine(made):
            asyncio.run(made)

    assert len(names) > 5
    assert asked == sorted(names)
