"""One new question that many tenants ask at once, over sockets: how often the upstream is asked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.loopback import Call, Reply
from tests.support.operated import PAGE, operated
from tests.support.server_process import request

TENANTS = 32


@pytest.mark.parametrize(("isolate", "times"), [(False, 1), (True, TENANTS)])
def test_tenants_that_share_answers_ask_once_and_those_apart_each_for_itself(
    tmp_path: Path, isolate: bool, times: int
) -> None:
    all_ask = threading.Event()

    def reply(_: Call) -> Reply:
        assert all_ask.wait(60)
        return PAGE

    with operated(tmp_path, reply=reply, isolate=isolate) as desk, ThreadPoolExecutor(TENANTS) as pool:
        asking = [pool.submit(desk.call, "otters", f"tenant{number}/ann") for number in range(TENANTS)]
        while desk.service.running < TENANTS:
            assert desk.server.post(request(1, "ping")).status == 200
        all_ask.set()
        answers = [one.result(60) for one in asking]
        asked = len(desk.asked)
        again = desk.call("otters", "tenant0/bob")
        asked_again = len(desk.asked) - asked

    assert {answer.status for answer in answers} == {200}
    assert all(b'"isError":true' not in answer.body for answer in (*answers, again))
    assert (asked, asked_again) == (times, 0)
