"""HttpLimits over real sockets, with a clock that is given: who is refused, what it costs, and whom nobody notices."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specloom.core import BackplaneError, Fault
from specloom.http.gate import IdentityGate
from specloom.http.headers import HttpRefusal
from specloom.http.identity import ApiKeyFile, Authenticator, IdentitySettings
from specloom.http.limits import (
    FAILURES,
    MOST_KEYS,
    MOST_WAITING,
    HttpLimits,
    LimitedEngine,
    LimitSettings,
    Places,
    find_unasking,
    read_limits,
)
from specloom.http.settings import SettingsError
from specloom.plugins import join_owner
from specloom.server import Catalogue
from specloom.server.daily_quota import find_midnight, name_counter, name_day
from specloom.storage import LocalCounters, open_backplane
from tests.support.browser import wait_until
from tests.support.clock import Clock
from tests.support.demo_server import Demo
from tests.support.http_server import Answer, Client, HttpDemo
from tests.support.server_process import call, notification, request

NOON = 1_800_014_400.0 + 12 * 3600 - 1_800_014_400.0 % 86_400
TOOLS = frozenset({"echo", "instant", "web_search"})


class KeptDemo(Demo):
    """Says of some answers that they had been kept on disk."""

    async def call_tool(self, name: str, arguments: dict[str, Any], call: Any) -> Any:
        call.is_kept = arguments.get("text") == "kept"
        return await super().call_tool(name, arguments, call)


class GoneCounters:
    """Counters that cannot be reached."""

    def __init__(self) -> None:
        self.asked = 0

    async def take(self, key: str, *, per: float, burst: int, cost: int = 1) -> float:
        self.asked += 1
        raise BackplaneError("gone")

    async def start(self, key: str, *, count: int, per: float) -> float:
        raise BackplaneError("gone")

    async def add(self, key: str, amount: int, *, until: float) -> int:
        self.asked += 1
        raise BackplaneError("gone")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@contextmanager
def limited(
    clock: Clock, environ: Mapping[str, str] | None = None, *, counters: Any = None, gate: Any = None, **settings: Any
) -> Iterator[HttpDemo]:
    """The demo server with limits and no others."""
    limits = HttpLimits(LimitSettings(**settings), counters or LocalCounters(clock), clock=clock)
    server = HttpDemo(dict(environ or {}), gate=gate, demo=KeptDemo())
    server.engine = LimitedEngine(server.engine, limits)  # type: ignore[assignment]
    server.app.limits = limits
    with server:
        yield server


def ask(server: HttpDemo, owner: str = "", tool: str = "echo", text: str = "x", number: Any = 1) -> Answer:
    return server.post(call(number, tool, {"text": text}), X_Test_Owner=owner)


def read_error(answer: Answer) -> dict[str, Any]:
    """The block of a refused call, and {} for one that was answered."""
    result = answer.json["result"]
    if not result.get("isError"):
        return {}
    error: dict[str, Any] = json.loads(result["content"][0]["text"].partition("\n\n")[2])["error"]
    return error


# --- Requests ---------------------------------------------------------------------------------------------------------


def test_an_address_that_asks_too_often_is_told_when_to_come_back(clock: Clock) -> None:
    with limited(clock, per_address=4) as server:
        assert [server.post(request(number, "ping")).status for number in range(4)] == [200] * 4
        refused = server.post(request("the fifth", "ping"))
        clock.now += 14.5
        nearly = server.post(request(6, "ping"))
        clock.now += 0.5
        again = server.post(request(7, "ping"))

    assert refused.status == 429
    assert refused.headers["retry-after"] == "15"
    assert refused.headers["ratelimit-policy"] == '"address";q=4;w=60'
    assert refused.headers["ratelimit"] == '"address";r=0;t=15'
    assert refused.json["id"] == "the fifth"
    assert refused.json["error"]["code"] == -32603
    assert refused.json["error"]["data"]["error"] == {
        "kind": "rate_limited",
        "retryable": True,
        "suggestedAction": "retry_after_delay",
        "retryAfterSeconds": 15,
        "limit": "address",
        "variable": "RATE_LIMIT_PER_IP",
    }
    assert (nearly.status, nearly.headers["retry-after"]) == (429, "1")
    assert again.status == 200


def test_what_a_client_says_of_its_address_counts_where_a_proxy_is_trusted_alone(clock: Clock) -> None:
    with limited(clock, per_address=1) as server:
        said = [server.post(request(1, "ping"), X_Forwarded_For=f"192.0.2.{number}").status for number in range(3)]
    with limited(clock, {"TRUST_PROXY": "true"}, per_address=1) as server:
        told = [server.post(request(1, "ping"), X_Forwarded_For=f"192.0.2.{number}").status for number in range(3)]
        network = [
            server.post(request(1, "ping"), X_Forwarded_For=f"2001:db8::{number}").status for number in range(1, 4)
        ]

    assert said == [200, 429, 429]
    assert told == [200, 200, 200]
    assert network == [200, 429, 429]


def test_the_server_as_a_whole_takes_so_many_a_second(clock: Clock) -> None:
    with limited(clock, overall=40) as server, server.client() as client:
        first = [client.post(request(number, "ping")).status for number in range(45)]
        refused = client.post(request(1, "ping"))
        clock.now += 1.0
        second = [client.post(request(number, "ping")).status for number in range(45)]
        health = client.get("/health/live")
        assert server.app.limits is not None
        counted = server.app.limits.refused["server"]

    assert (first.count(200), second.count(200)) == (40, 40)
    assert refused.headers["ratelimit-policy"] == '"server";q=40;w=1'
    assert health.status == 200
    assert counted == 11


def test_a_request_that_the_server_has_no_room_for_costs_its_address_nothing(clock: Clock) -> None:
    with limited(clock, overall=1, per_address=2) as server:
        statuses = [server.post(request(1, "ping")).status for _ in range(3)]
        clock.now += 1.0
        after = server.post(request(1, "ping")).status

    assert statuses == [200, 429, 429]
    assert after == 200


def test_a_notification_too_many_is_refused_without_an_id(clock: Clock) -> None:
    with limited(clock, per_address=1) as server:
        server.post(request(1, "ping"))
        noted = server.post(notification("notifications/initialized"))
        unread = server.post(b"{" + b" " * 20_000)

    assert (noted.status, noted.json["id"]) == (429, None)
    assert (unread.status, unread.json["id"]) == (429, None)


@pytest.fixture
def key_file(tmp_path: Path) -> tuple[IdentityGate, str, str]:
    """A gate for API keys, and two that hold."""
    path = str(tmp_path / "keys.json")
    keys = ApiKeyFile(path)
    texts = [keys.add("acme", user=user, now=NOON)[1] for user in ("ann", "bob")]
    return IdentityGate(Authenticator(IdentitySettings(api_keys=path)), TOOLS), *texts


def test_credentials_that_do_not_hold_are_few_a_minute(clock: Clock, key_file: tuple[IdentityGate, str, str]) -> None:
    gate, key, known = key_file
    with limited(clock, gate=gate) as server, server.client() as client:
        client.post(request(1, "ping"), X_API_Key=known)
        unsaid = [client.post(request(1, "ping")).status for _ in range(FAILURES + 5)]
        wrong = [client.post(request(1, "ping"), X_API_Key=key[:-1] + "!").status for _ in range(FAILURES)]
        barred = client.post(request(1, "ping"), X_API_Key="guess")
        right = client.post(request(1, "ping"), X_API_Key=key)
        seen = client.post(request(1, "ping"), X_API_Key=known)
        clock.now += 2.0
        later = client.post(request(1, "ping"), X_API_Key=key)

    assert set(unsaid) == {401}
    assert wrong == [401] * FAILURES
    assert (barred.status, barred.headers["retry-after"]) == (429, "2")
    assert right.status == 429
    assert seen.status == 200
    assert later.status == 200


# --- Calls ------------------------------------------------------------------------------------------------------------


def test_a_tenant_that_calls_too_often_is_told_so_in_an_answer(clock: Clock) -> None:
    with limited(clock, per_tenant=3) as server:
        users = [join_owner("acme", user) for user in ("ann", "bob", "cy")]
        fine = [read_error(ask(server, user)) for user in users]
        refused = ask(server, users[0])
        other = read_error(ask(server, join_owner("other", "ann")))
        clock.now += 20.0
        later = read_error(ask(server, users[0]))

    assert fine == [{}, {}, {}]
    assert refused.status == 200
    assert read_error(refused) == {
        "kind": "rate_limited",
        "retryable": True,
        "suggestedAction": "retry_after_delay",
        "retryAfterSeconds": 20,
        "limit": "tenant",
        "variable": "RATE_LIMIT_PER_TENANT",
    }
    sentence = refused.json["result"]["content"][0]["text"].partition("\n")[0]
    assert sentence == (
        "This server allows 3 calls a minute for each tenant (RATE_LIMIT_PER_TENANT); try again in 20 seconds."
    )
    assert other == {}
    assert later == {}


def test_lists_resources_and_answers_that_are_kept_cost_nothing(clock: Clock) -> None:
    with limited(clock, per_tenant=1, per_user=1, daily_per_tenant=1, daily_per_owner=1) as server:
        free = [
            *(server.post(request(1, "tools/list")) for _ in range(3)),
            *(server.post(request(1, "resources/read", {"uri": "demo://one"})) for _ in range(3)),
            *(ask(server, tool="instant") for _ in range(3)),
            *(ask(server, text="kept") for _ in range(3)),
        ]
        first, second = read_error(ask(server)), read_error(ask(server))

    assert all(answer.status == 200 and not answer.json["result"].get("isError") for answer in free)
    assert first == {}
    assert second["limit"] == "user"


@pytest.mark.parametrize(
    ("settings", "limit", "variable"),
    [
        ({"per_user": 2}, "user", "RATE_LIMIT_PER_USER"),
        ({"per_tool": {"echo": 2}}, "tool", "RATE_LIMIT_TOOL_ECHO"),
        ({"daily_per_owner": 2}, "user_day", "MAX_CALLS_PER_DAY"),
        ({"daily_per_tenant": 2}, "tenant_day", "DAILY_QUOTA_PER_TENANT"),
    ],
)
def test_each_limit_refuses_by_its_own_name(clock: Clock, settings: dict[str, Any], limit: str, variable: str) -> None:
    with limited(clock, **settings) as server:
        errors = [read_error(ask(server, "acme:ann")) for _ in range(3)]
        others = read_error(ask(server, "other:ann"))
        assert server.app.limits is not None
        refused = dict(server.app.limits.refused)

    assert errors[:2] == [{}, {}]
    assert (errors[2]["limit"], errors[2]["variable"]) == (limit, variable)
    assert others == {}
    assert refused == {limit: 1}


def test_a_limit_of_a_tool_leaves_other_tools_alone(clock: Clock) -> None:
    with limited(clock, per_tool={"echo": 1}) as server:
        errors = [read_error(ask(server, tool=tool)) for tool in ("echo", "echo", "stalls", "stalls")]

    assert [error.get("limit") for error in errors] == [None, "tool", None, None]


def test_a_day_ends_at_midnight_of_utc(clock: Clock) -> None:
    with limited(clock, daily_per_tenant=1) as server:
        first, second = read_error(ask(server)), read_error(ask(server))
        clock.now = NOON + 12 * 3600
        third = read_error(ask(server))

    assert first == {}
    assert second["retryAfterSeconds"] == 12 * 3600
    assert third == {}


def test_a_refused_call_takes_nothing_of_any_limit(clock: Clock) -> None:
    with limited(clock, per_tool={"echo": 100}, per_user=100, per_tenant=5, daily_per_owner=6) as server:
        limits = [read_error(ask(server, "acme:ann")).get("limit") for _ in range(40)]
        clock.now += 60.0
        # Had the calls that were refused counted for the day, it would be used up; one is left of it.
        later = [read_error(ask(server, "acme:ann")).get("limit") for _ in range(3)]

    assert limits == [None] * 5 + ["tenant"] * 35
    assert later == [None, "user_day", "user_day"]


def test_a_call_that_asked_nobody_costs_no_quota_of_the_day(clock: Clock) -> None:
    with limited(clock, daily_per_tenant=1) as server:
        for _ in range(3):
            assert read_error(server.post(call(1, "fault", {"kind": "validation"})))["kind"] == "validation"
        assert "limit" not in read_error(server.post(call(1, "fault", {"kind": "network"})))
        assert read_error(server.post(call(1, "fault", {"kind": "network"})))["limit"] == "tenant_day"


async def test_tools_that_ask_nobody_cost_no_quota_of_the_day(clock: Clock) -> None:
    tools = [
        {"name": "inside", "annotations": {"openWorldHint": False}},
        {"name": "outside", "annotations": {"openWorldHint": True}},
        {"name": "unsaid"},
    ]
    names = frozenset(str(tool["name"]) for tool in tools)
    unasking = find_unasking(Catalogue(name="c", version="1", tools=json.dumps(tools).encode(), tool_names=names))
    settings = LimitSettings(daily_per_tenant=1, per_tenant=6)
    limits = HttpLimits(settings, LocalCounters(clock), clock=clock, unasking=unasking)

    free = [await _passes(limits.begin("acme", "ann", "inside")) for _ in range(3)]
    asking = [await _passes(limits.begin("acme", "ann", "outside")) for _ in range(2)]
    more = [await _passes(limits.begin("acme", "ann", "inside")) for _ in range(3)]

    assert unasking == {"inside"}
    assert free == [True] * 3
    assert asking == [True, False]
    assert more == [True, True, False], "they are calls of the minute all the same"


def test_a_noisy_tenant_leaves_another_alone(clock: Clock) -> None:
    calls, threads = 120, 4
    outcomes: list[dict[str, Any]] = []

    def make_noise(server: HttpDemo) -> None:
        with server.client() as client:
            for _ in range(calls):
                answer = client.post(call(1, "echo", {"text": "x"}), X_Test_Owner="noisy:one")
                outcomes.append(read_error(answer))

    with limited(clock, per_tenant=60, at_once=2, daily_per_tenant=1000) as server:
        noise = [threading.Thread(target=make_noise, args=(server,)) for _ in range(threads)]
        for one in noise:
            one.start()
        quiet = [read_error(ask(server, "quiet:one")) for _ in range(30)]
        for one in noise:
            one.join()
        after = read_error(ask(server, "quiet:one"))

    assert quiet == [{}] * 30
    assert after == {}
    assert len(outcomes) == calls * threads
    assert sum(not outcome for outcome in outcomes) == 60


def test_calls_at_once_wait_for_their_turn_and_their_places_come_back(clock: Clock) -> None:
    waiting: list[Answer] = []
    with limited(clock, at_once=1) as server, server.client() as first, server.client() as gone:
        assert server.app.limits is not None
        places = server.app.limits.places
        assert places is not None
        running = first.open(call(1, "wait", {"name": "a"}, progressToken="t"), X_Test_Owner="acme:ann")
        assert running.readline()
        thread = threading.Thread(target=lambda: waiting.append(ask(server, "acme:bob")))
        thread.start()
        wait_until(lambda: places.count_waiting("acme") == 1)
        leaving = threading.Thread(target=lambda: _leave(gone))
        leaving.start()
        wait_until(lambda: places.count_waiting("acme") == 2)
        gone.connection.sock.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: places.count_waiting("acme") == 1)
        leaving.join()
        assert not waiting
        server.post(call(1, "release", {"name": "a"}), X_Test_Owner="other:one")
        thread.join()
        wait_until(lambda: len(places) == 0)

    assert read_error(waiting[0]) == {}


def _leave(client: Client) -> None:
    """Ask for a call of the era in which closing cancels, over a connection that is closed meanwhile."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        client.post(call(1, "echo", {"text": "x"}, modern=True), X_Test_Owner="acme:ann")


async def test_places_go_round_the_users_of_a_tenant() -> None:
    places, order = Places(1, "V"), []

    async def run(owner: str) -> None:
        await places.enter("acme", owner)
        order.append(owner)
        places.leave("acme")

    await places.enter("acme", "ann")
    tasks = [asyncio.create_task(run(owner)) for owner in ("ann", "ann", "ann", "bob", "cy")]
    await asyncio.sleep(0)
    places.leave("acme")
    await asyncio.gather(*tasks)

    assert order == ["ann", "bob", "cy", "ann", "ann"]
    assert len(places) == 0


async def test_a_call_that_is_cancelled_while_it_waits_leaves_no_trace() -> None:
    places = Places(1, "V")
    await places.enter("acme", "ann")
    tasks = [asyncio.create_task(places.enter("acme", owner)) for owner in ("ann", "bob")]
    await asyncio.sleep(0)

    tasks[0].cancel()
    places.leave("acme")  # in the same turn of the loop, before the one that is cancelled has noticed
    await asyncio.wait(tasks)

    assert (tasks[0].cancelled(), tasks[1].done(), tasks[1].cancelled()) == (True, True, False)
    places.leave("acme")
    assert len(places) == 0


async def test_a_place_that_comes_as_the_call_goes_is_passed_on() -> None:
    places = Places(1, "V")
    await places.enter("acme", "ann")
    tasks = [asyncio.create_task(places.enter("acme", owner)) for owner in ("ann", "bob")]
    await asyncio.sleep(0)

    places.leave("acme")
    tasks[0].cancel()
    await asyncio.wait(tasks)

    assert tasks[0].cancelled()
    assert tasks[1].exception() is None
    places.leave("acme")
    assert len(places) == 0


async def test_too_many_that_wait_are_refused_and_pay_nothing(clock: Clock) -> None:
    limits = HttpLimits(LimitSettings(at_once=1, per_tenant=80), LocalCounters(clock), clock=clock)
    first = await limits.begin("acme", "ann", "echo")
    tasks = [asyncio.create_task(limits.begin("acme", "ann", "echo")) for _ in range(MOST_WAITING)]
    await asyncio.sleep(0)

    with pytest.raises(Fault) as refused:
        await limits.begin("acme", "bob", "echo")
    assert refused.value.also == {"limit": "at_once", "variable": "MAX_CALLS_AT_ONCE_PER_TENANT"}
    first.end()
    for task in tasks:
        (await task).end()
    for _ in range(80 - 1 - MOST_WAITING):
        (await limits.begin("acme", "bob", "echo")).end()
    with pytest.raises(Fault, match="RATE_LIMIT_PER_TENANT"):
        await limits.begin("acme", "bob", "echo")


async def test_a_turn_that_does_not_come_is_not_waited_for_for_ever() -> None:
    places = Places(1, "V", seconds=0.0)
    await places.enter("acme", "ann")

    with pytest.raises(Fault, match="at once"):
        await places.enter("acme", "ann")

    places.leave("acme")
    assert len(places) == 0


# --- Workers ----------------------------------------------------------------------------------------------------------


async def test_workers_keep_one_limit_together(clock: Clock, tmp_path: Path) -> None:
    planes = [open_backplane(tmp_path / "run", pytest.fail, clock=clock) for _ in range(2)]
    settings = LimitSettings(per_tenant=10, daily_per_owner=100, overall=40)
    workers = [HttpLimits(settings, plane.counters, clock=clock) for plane in planes]

    calls = [await _passes(workers[at % 2].begin("acme", "ann", "echo")) for at in range(20)]
    requests = [workers[at % 2].passes() or await _passes(workers[at % 2].admit("")) for at in range(100)]

    for plane in planes:
        await plane.aclose()
    assert sum(calls) == 10
    # A worker takes its requests in batches, so that some can be left with one of them.
    assert 38 <= sum(requests) <= 40


async def test_calls_that_are_refused_are_not_in_the_count_of_the_day(clock: Clock) -> None:
    counters = LocalCounters(clock)
    limits = HttpLimits(LimitSettings(daily_per_tenant=2), counters, clock=clock)
    passed = []
    for _ in range(6):
        clock.now += 60.0
        passed.append(await _passes(limits.begin("acme", "ann", "echo")))

    ends = find_midnight(clock.now)
    assert passed == [True, True, False, False, False, False]
    assert await counters.add(name_day(name_counter("tenant_day", "acme"), ends), 0, until=ends) == 2


async def test_what_is_taken_of_a_day_is_told_over_all_workers_without_what_was_given_back(
    clock: Clock, tmp_path: Path
) -> None:
    planes = [open_backplane(tmp_path / "run", str, clock=clock) for _ in range(2)]
    one, two = (HttpLimits(LimitSettings(daily_per_tenant=9), plane.counters, clock=clock) for plane in planes)
    bills = [await worker.begin("acme", "ann", "echo") for worker in (one, one, two)]
    bills[0].end(is_kept=True)
    told = [await worker.count_day("acme") for worker in (one, two)]
    others = await one.count_day("globex")
    for plane in planes:
        await plane.aclose()

    assert told[0] == 2
    assert told[1] in (2, 3), "what another worker holds is not known here"
    assert others == 0
    assert await HttpLimits(LimitSettings(), planes[0].counters, clock=clock).count_day("acme") is None
    assert await HttpLimits(LimitSettings(daily_per_tenant=9), GoneCounters(), clock=clock).count_day("acme") is None


async def _passes(attempt: Awaitable[Any]) -> bool:
    """Whether a request or a call gets through, which here does not end."""
    try:
        await attempt
    except (Fault, HttpRefusal):
        return False
    return True


async def test_without_the_counters_each_worker_keeps_its_part(clock: Clock) -> None:
    counters = GoneCounters()
    limits = HttpLimits(LimitSettings(per_tenant=12, daily_per_tenant=40), counters, workers=4, clock=clock)

    minute = [await _passes(limits.begin("acme", "ann", "echo")) for _ in range(10)]
    asked = counters.asked
    day = 3
    for _ in range(20):
        clock.now += 60.0
        day += sum([await _passes(limits.begin("acme", "ann", "echo")) for _ in range(4)])

    assert sum(minute) == 3
    assert asked == 1, "counters that are away are left alone for a while"
    assert limits.fallbacks > 3
    assert day == 10


# --- Bounds -----------------------------------------------------------------------------------------------------------


async def test_ten_thousand_tenants_and_many_more_addresses_are_remembered_within_bounds(clock: Clock) -> None:
    limits = HttpLimits(
        LimitSettings(per_tenant=1, per_user=5, daily_per_tenant=5, at_once=2, per_address=1),
        LocalCounters(clock),
        clock=clock,
    )
    for number in range(10_000):
        tenant = f"tenant {number}"
        (await limits.begin(tenant, f"{number}:ann", "echo")).end()
        assert not await _passes(limits.begin(tenant, f"{number}:ann", "echo"))
    for number in range(2 * MOST_KEYS):
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        await limits.admit(address)
        assert not await _passes(limits.admit(address))
    for number in range(2**16):
        assert await _passes(limits.admit("2001:db8:1::1")) == (number == 0)
        if number == 100:
            break

    ledger = limits.ledger
    assert max(len(ledger._held), len(ledger._refused)) <= MOST_KEYS
    assert limits.places is not None
    assert len(limits.places) == 0


# --- Settings ---------------------------------------------------------------------------------------------------------


def test_a_server_for_many_has_limits_unless_they_are_switched_off() -> None:
    limits = read_limits({"DAILY_QUOTA_PER_TENANT": "0", "RATE_LIMIT_TOOL_WEB_SEARCH": "30"}, TOOLS, shared=True)

    assert limits == LimitSettings(overall=1000, per_tenant=120, at_once=32, per_tool={"web_search": 30})


def test_one_person_on_loopback_has_those_alone_that_are_set() -> None:
    assert read_limits({}, TOOLS, shared=False) == LimitSettings()
    assert read_limits({"MAX_CALLS_PER_DAY": "10"}, TOOLS, shared=False) == LimitSettings(daily_per_owner=10)


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"RATE_LIMIT_PER_TENANT": "-1"}, "RATE_LIMIT_PER_TENANT is '-1'; write a whole number above 0, or 0 for no"),
        ({"RATE_LIMIT_GLOBAL": "many"}, "RATE_LIMIT_GLOBAL is 'many'"),
        ({"RATE_LIMIT_TOOL_WEB_SERCH": "3"}, "names no tool that is served.*did you mean .RATE_LIMIT_TOOL_WEB_SEARCH"),
        ({"RATE_LIMIT_TOOL_ECHO": "3/s"}, "RATE_LIMIT_TOOL_ECHO is '3/s'; write a whole number of calls a minute"),
    ],
)
def test_a_limit_that_cannot_be_read_is_told(environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        read_limits(environ, TOOLS, shared=True)
