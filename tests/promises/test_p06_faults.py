"""P6: empty, refused, throttled, used up, broken and changed are six different answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specloom.core.faults import Fault
from tests.support.demo_specs import PROVIDER, Edits, demo_executor, write_demo
from tests.support.loopback import Call, Loopback, Reply

JSON = {"Content-Type": "application/json"}
REPLIES: dict[str, Reply] = {
    "empty": (200, JSON, '{"results": []}'),
    "auth_required": (401, JSON, "{}"),
    "rate_limited": (429, {**JSON, "Retry-After": "7"}, "{}"),
    "quota_exhausted": (429, JSON, '{"error": "quota"}'),
    "upstream_unavailable": (500, JSON, "{}"),
    "layout_changed": (200, JSON, '{"items": [{"name": "A"}]}'),
}


async def ask_in_turn(root: Path) -> list[dict[str, Any]]:
    """What a caller is told when one upstream answers in each of the ways in turn."""
    waiting = list(REPLIES.values())

    def answer(call: Call) -> Reply:
        return waiting.pop(0)

    told: list[dict[str, Any]] = []
    with Loopback(answer) as upstream:
        for number in range(len(REPLIES)):
            # A new executor each time: a breaker that opens would answer for the upstream.
            executor = demo_executor(root, upstream.url)
            try:
                done = await executor.call("demo_find", {"query": f"turn {number}"})
                told.append({"kind": "empty" if done.answer["count"] == 0 else "rows", "reason": ""})
            except Fault as fault:
                told.append({**fault.to_json(), "kind": fault.kind, "message": fault.message})
            await executor.aclose()
    return told


async def test_each_of_six_upstream_states_is_an_answer_of_its_own(tmp_path: Path) -> None:
    told = await ask_in_turn(write_demo(tmp_path))

    assert [one["kind"] for one in told] == list(REPLIES)
    assert len({one.get("message", "") for one in told}) == len(REPLIES)


async def test_what_travels_tells_a_program_all_six_apart(tmp_path: Path) -> None:
    told = await ask_in_turn(write_demo(tmp_path))

    blocks = [
        tuple(sorted((key, str(value)) for key, value in one.items() if key not in {"kind", "message"})) for one in told
    ]
    assert len(set(blocks)) == len(REPLIES)


@pytest.mark.parametrize(
    ("edits", "merged"),
    [
        ({PROVIDER: [("status == `429` && body.error == 'quota'", "status == `430`")]}, "quota_exhausted"),
        (
            {PROVIDER: [("empty_is_ok_when: type(results) == 'array'", "empty_is_ok_when: \"'whatever came'\"")]},
            "layout_changed",
        ),
    ],
)
async def test_a_spec_that_does_not_tell_two_states_apart_is_seen_to_merge_them(
    tmp_path: Path, edits: Edits, merged: str
) -> None:
    told = await ask_in_turn(write_demo(tmp_path, edits))

    kinds = [one["kind"] for one in told]
    assert merged not in kinds
    assert len(set(kinds)) == len(REPLIES) - 1


async def test_a_missing_list_and_an_empty_one_are_told_apart_without_a_sign_in_the_spec(tmp_path: Path) -> None:
    without = write_demo(tmp_path, {PROVIDER: [("          empty_is_ok_when: type(results) == 'array'\n", "")]})

    told = await ask_in_turn(without)

    assert [one["kind"] for one in told] == list(REPLIES)


async def test_a_changed_layout_names_the_upstream_and_counts_no_results(tmp_path: Path) -> None:
    told = await ask_in_turn(write_demo(tmp_path))

    changed = told[list(REPLIES).index("layout_changed")]
    assert changed["message"] == "Demo answered with neither results nor a sign that there are none"
    assert "count" not in changed


async def test_a_state_that_is_an_answer_is_kept_and_a_fault_is_not(tmp_path: Path) -> None:
    from specloom.cache.cache import AnswerCache

    replies = [REPLIES["upstream_unavailable"], REPLIES["empty"]]
    with Loopback(lambda call: replies[min(len(upstream.calls), 2) - 1]) as upstream:
        cache = AnswerCache(disk=None, key=None, warn=lambda text: None)
        executor = demo_executor(write_demo(tmp_path), upstream.url, cache=cache)
        with pytest.raises(Fault):
            await executor.call("demo_find", {"query": "a"})

        done = await executor.call("demo_find", {"query": "a"})
        await executor.aclose()

    assert done.answer["count"] == 0
