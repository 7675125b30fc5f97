"""The executor: what is asked once, what is kept and for whom, and what an answer says about its way."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.cache.cache import AnswerCache
from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.model import model as model_module
from specloom.plugins import join_owner
from specloom.plugins.context import CallRecord
from specloom.plugins.registry import ObservedCall, Observer
from specloom.runtime import executor as executor_module
from specloom.runtime.arguments import parse_arguments
from specloom.runtime.circuit_breaker import Breakers
from specloom.runtime.executor import Done, Executor, Prepared
from specloom.runtime.live_context import LiveContext
from tests.support.demo_specs import CAPABILITY, PROVIDER, TEXTS, TOOL, demo_executor, write_demo

PAGE = {"results": [{"title": "A", "link": "https://example.org/a", "rank": 1}]}
TWO = {CAPABILITY: [("order: [demo]", "order: [demo, spare]")]}
OTHER_PROVIDER = "providers.d/spare.yaml"


class Stub:
    """Answers requests with what a function says, and keeps them."""

    def __init__(self, answer: Callable[[Request], Any] = lambda _: PAGE) -> None:
        self._answer = answer
        self.sent: list[Request] = []

    async def send(self, request: Request) -> Response:
        self.sent.append(request)
        said = self._answer(request)
        if asyncio.iscoroutine(said):
            said = await said
        if isinstance(said, Fault):
            raise said
        return Response(200, {"content-type": "application/json"}, json.dumps(said).encode(), request.url)

    async def aclose(self) -> None:
        pass


def memory(clock: Callable[[], float] = lambda: 1000.0) -> AnswerCache:
    return AnswerCache(disk=None, key=None, clock=clock, warn=pytest.fail)


def two_providers(root: Path, **options: Any) -> Executor:
    """The demo specs with a second provider after the first."""
    write_demo(root, TWO)
    text = TEXTS[PROVIDER].replace("DEMO_", "SPARE_").replace("name: demo\n", "name: spare\n").replace("Demo", "Spare")
    (root / OTHER_PROVIDER).write_text(text, encoding="utf-8")
    environ = {"SPARE_URL": "https://spare.example.org", "SPARE_KEY": "spare-key", **options.pop("environ", {})}
    return demo_executor(root, environ=environ, **options)


def provider_of(request: Request) -> str:
    return request.provider


# --- the cache ------------------------------------------------------------------------------------------------------


async def test_a_repeated_call_is_answered_from_the_cache_and_says_how_old_it_is(tmp_path: Path) -> None:
    now = [1000.0]
    stub = Stub()
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory(lambda: now[0]), clock=lambda: now[0])
    first = await executor.call("demo_find", {"query": "otters"})
    now[0] += 60

    second = await executor.call("demo_find", {"query": "otters"})

    assert len(stub.sent) == 1
    assert second.body == first.body
    assert "cached" not in first.meta
    freshness = {name: value for name, value in second.meta.items() if name != "routing"}
    assert freshness == {"cached": True, "ageSeconds": 60, "maxAgeSeconds": 1800, "freshness": "fresh"}
    assert second.meta["routing"]["cache_hit"]
    assert executor.tool_counts["demo_find"].hits == 1


@pytest.mark.parametrize(("age", "label"), [(0, "fresh"), (1000, "aging"), (1700, "expiring")])
async def test_a_kept_answer_says_in_which_part_of_its_life_it_is(tmp_path: Path, age: int, label: str) -> None:
    now = [1000.0]
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), cache=memory(lambda: now[0]), clock=lambda: now[0])
    await executor.call("demo_find", {"query": "otters"})
    now[0] += age

    done = await executor.call("demo_find", {"query": "otters"})

    assert done.meta["freshness"] == label


async def test_an_answer_says_its_age_under_the_key_that_the_spec_names(tmp_path: Path) -> None:
    now = [1000.0]
    root = write_demo(tmp_path, {TOOL: [("ignore: [session]}", "ignore: [session], age_as: age}")]})
    executor = demo_executor(root, sender=Stub(), cache=memory(lambda: now[0]), clock=lambda: now[0])
    first = await executor.call("demo_find", {"query": "otters"})
    now[0] += 60.9

    second = await executor.call("demo_find", {"query": "otters"})

    assert (first.answer["age"], second.answer["age"]) == (0, 60)
    assert {**first.answer, "age": 60} == second.answer
    assert executor.model.tools["demo_find"].output_schema["properties"]["age"] == {"type": "integer"}


async def test_an_answer_that_has_expired_is_asked_for_again(tmp_path: Path) -> None:
    now = [1000.0]
    stub = Stub()
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory(lambda: now[0]), clock=lambda: now[0])
    await executor.call("demo_find", {"query": "otters"})
    now[0] += 1801

    await executor.call("demo_find", {"query": "otters"})

    assert len(stub.sent) == 2


async def test_a_fault_is_never_kept(tmp_path: Path) -> None:
    answers: list[Any] = [Fault("upstream_unavailable", "down"), PAGE]
    stub = Stub(lambda _: answers.pop(0))
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory())
    with pytest.raises(Fault, match="down"):
        await executor.call("demo_find", {"query": "otters"})

    done = await executor.call("demo_find", {"query": "otters"})

    assert done.answer["count"] == 1


async def test_a_call_goes_on_from_the_look_into_memory(tmp_path: Path) -> None:
    stub = Stub()
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory(), clock=lambda: 1000.0)
    looked = executor.look("demo_find", {"query": "otters", "num_results": 99})
    assert isinstance(looked, Prepared)

    # What is not looked at again may as well be something else.
    done = await executor.call("demo_find", {"query": ""}, prepared=looked)

    assert done.arguments == looked.arguments
    assert isinstance(executor.look("demo_find", {"query": "otters", "num_results": 99}), Done)
    assert len(stub.sent) == 1


async def test_only_an_answer_in_memory_is_found_without_waiting(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), cache=memory(), clock=lambda: 1000.0)
    before = executor.peek("demo_find", {"query": "otters"})
    done = await executor.call("demo_find", {"query": "otters"})

    after = executor.peek("demo_find", {"query": "otters"})

    assert before is None
    assert after is not None
    assert after.body == done.body
    assert executor.peek("demo_find", {"query": ""}) is None


async def test_a_response_that_may_be_kept_is_asked_for_once_per_key(tmp_path: Path) -> None:
    edits = {PROVIDER: [("- get: /search\n", "- get: /search\n        keep_for: 1h\n")]}
    stub, cache = Stub(), memory()
    executor = demo_executor(write_demo(tmp_path, edits), sender=stub, cache=cache)
    other = demo_executor(tmp_path, sender=stub, cache=cache, environ={"DEMO_KEY": "another-key"})
    first = await executor.upstreams.ask("demo", "demo_pages", {"query": "otters"})

    again = await executor.upstreams.ask("demo", "demo_pages", {"query": "otters"})
    await other.upstreams.ask("demo", "demo_pages", {"query": "otters"})

    assert again == first
    assert len(stub.sent) == 2  # one for each key, because what one may see another may not


async def test_a_kept_response_is_read_as_the_one_that_came(tmp_path: Path) -> None:
    class Spread(Stub):
        async def send(self, request: Request) -> Response:
            response = await super().send(request)
            body = '{"results":\n [{"title": "Lötters", "link": "https://example.org/a", "rank": 1}]}\n'
            return dataclasses.replace(response, body=body.encode())

    edits = {PROVIDER: [("- get: /search\n", "- get: /search\n        keep_for: 1h\n")]}
    stub = Spread()
    executor = demo_executor(write_demo(tmp_path, edits), sender=stub, cache=memory())

    first = await executor.upstreams.ask("demo", "demo_pages", {"query": "otters"})
    again = await executor.upstreams.ask("demo", "demo_pages", {"query": "otters"})

    assert first.rows[0]["title"] == "Lötters"
    assert again == first
    assert len(stub.sent) == 1


async def test_a_kept_response_holds_no_secret(tmp_path: Path) -> None:
    edits = {PROVIDER: [("- get: /search\n", "- get: /search\n        keep_for: 1h\n")]}
    seen: list[bytes] = []

    class Watched(AnswerCache):
        async def put(self, key: str, value: bytes, ttl: float, **_: Any) -> None:
            seen.extend([key.encode(), value])

    cache = Watched(disk=None, key=None, warn=pytest.fail)
    stub = Stub(lambda _: {"results": PAGE["results"], "echo": "s3cr3t-demo-key"})
    executor = demo_executor(write_demo(tmp_path, edits), sender=stub, cache=cache)

    await executor.upstreams.ask("demo", "demo_pages", {"query": "otters"})

    assert seen
    assert not any(b"s3cr3t" in one for one in seen)


# --- keys -----------------------------------------------------------------------------------------------------------

ARGUMENTS = st.fixed_dictionaries(
    {"query": st.text(min_size=1, max_size=6).filter(str.strip)},
    optional={
        "num_results": st.integers(-3, 14),
        "time_range": st.sampled_from(["day", "week"]),
        "lens": st.just("demo_field"),
        "session": st.text(max_size=6),
    },
)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Executor:
    return demo_executor(write_demo(tmp_path_factory.mktemp("specs")), sender=Stub())


@given(one=ARGUMENTS, other=ARGUMENTS)
def test_two_calls_share_a_key_only_when_nothing_but_ignored_inputs_differs(
    keyed: Executor, one: dict[str, Any], other: dict[str, Any]
) -> None:
    tool = keyed.tool("demo_find")
    first, second = parse_arguments(tool, one), parse_arguments(tool, other)

    def counted(parsed: Any) -> Any:
        return {name: value for name, value in parsed.given.items() if name != "session"}, parsed.requested

    same_key = keyed.cache_key(tool, first) == keyed.cache_key(tool, second)

    if counted(first) != counted(second):
        assert not same_key


@given(raw=ARGUMENTS, session=st.text(max_size=8))
def test_an_ignored_input_is_not_in_the_key(keyed: Executor, raw: dict[str, Any], session: str) -> None:
    tool = keyed.tool("demo_find")

    key = keyed.cache_key(tool, parse_arguments(tool, raw))

    assert keyed.cache_key(tool, parse_arguments(tool, {**raw, "session": session})) == key


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (PROVIDER, "title: title\n", "title: name\n"),
        (TOOL, "description: Find pages for tests.", "description: Find other pages."),
        (CAPABILITY, "description: Pages for tests.", "description: Other pages."),
    ],
)
def test_the_key_changes_with_every_spec_behind_the_answer(tmp_path: Path, path: str, old: str, new: str) -> None:
    keys = set()
    for name, edits in (("a", {}), ("b", {path: [(old, new)]})):
        executor = demo_executor(write_demo(tmp_path / name, edits), sender=Stub())
        tool = executor.tool("demo_find")
        keys.add(executor.cache_key(tool, parse_arguments(tool, {"query": "otters"})))

    assert len(keys) == 2


def test_the_key_changes_with_settings_and_route_and_holds_no_secret(tmp_path: Path) -> None:
    write_demo(tmp_path)
    keys = set()
    for url, key in (("https://a.example", "k1"), ("https://b.example", "k1"), ("https://a.example", "k2")):
        executor = demo_executor(tmp_path, url, sender=Stub(), environ={"DEMO_KEY": key})
        tool = executor.tool("demo_find")
        keys.add(executor.cache_key(tool, parse_arguments(tool, {"query": "otters"})))

    assert len(keys) == 3


OWNERS = [join_owner(tenant, user) for tenant, user in (("zoo", "ann"), ("zoo", "bob"), ("park", "ann"), ("", ""))]
"""Two of one tenant, one of another, and nobody in particular."""


@pytest.mark.parametrize(("isolate", "times"), [(False, 1), (True, 3)])
async def test_all_share_answers_or_those_of_a_tenant_do(tmp_path: Path, isolate: bool, times: int) -> None:
    stub = Stub()
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory(), clock=lambda: 1000.0, isolate=isolate)
    for owner in [*OWNERS, *OWNERS]:
        await executor.call("demo_find", {"query": "otters"}, owner=owner)

    assert len(stub.sent) == times


@pytest.mark.parametrize(("isolate", "times"), [(False, 1), (True, 3)])
async def test_all_share_the_responses_below_an_answer_or_those_of_a_tenant_do(
    tmp_path: Path, isolate: bool, times: int
) -> None:
    edits = {
        PROVIDER: [("- get: /search\n", "- get: /search\n        keep_for: 1h\n")],
        TOOL: [("cache: {ttl: 30m, shape: 1, ignore: [session]}\n", "")],
    }
    stub = Stub()
    root = write_demo(tmp_path, edits)
    executor = demo_executor(root, sender=stub, cache=memory(), clock=lambda: 1000.0, isolate=isolate)
    for owner in [*OWNERS, *OWNERS]:
        await executor.call("demo_find", {"query": "otters"}, owner=owner)
        # As a procedure asks.
        await LiveContext(executor, executor.tool("demo_find"), owner, None).ask("demo_pages", {"query": "otters"})

    # The tool says how many results it wants, the procedure does not.
    assert len(stub.sent) == 2 * times


@pytest.mark.parametrize(("isolate", "times"), [(False, 1), (True, 3)])
async def test_all_share_what_a_procedure_keeps_or_those_of_a_tenant_do(
    tmp_path: Path, isolate: bool, times: int
) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), cache=memory(), clock=lambda: 1000.0, isolate=isolate)
    made: list[str] = []

    async def make() -> str:
        made.append("otters")
        return made[-1]

    for owner in [*OWNERS, *OWNERS]:
        await LiveContext(executor, executor.tool("demo_find"), owner, None).remember("otters", 60.0, make)

    assert len(made) == times


# --- calls under way ------------------------------------------------------------------------------------------------


async def test_identical_calls_in_flight_are_one_call_upstream(tmp_path: Path) -> None:
    gate, both = asyncio.Event(), asyncio.Event()

    async def wait() -> Any:
        if len(stub.sent) == 2:
            both.set()
        await gate.wait()
        return PAGE

    stub = Stub(lambda _: wait())
    executor = demo_executor(write_demo(tmp_path), sender=stub)
    calls = [asyncio.create_task(executor.call("demo_find", {"query": "otters"})) for _ in range(3)]
    other = asyncio.create_task(executor.call("demo_find", {"query": "seals"}))
    await both.wait()

    gate.set()
    done = await asyncio.gather(*calls, other)

    assert len(stub.sent) == 2
    assert len({one.body for one in done[:3]}) == 1


TENANTS = [join_owner(f"tenant{at}", "ann") for at in range(32)]
USERS = [join_owner("zoo", f"user{at}") for at in range(32)]


@pytest.mark.parametrize(
    ("owners", "isolate", "times"),
    [(TENANTS, False, 1), (TENANTS, True, 32), (USERS, True, 1)],
    ids=["a cache that all share", "one for each tenant", "one tenant"],
)
async def test_those_who_share_answers_wait_for_one_call(
    tmp_path: Path, owners: list[str], isolate: bool, times: int
) -> None:
    stub = Stub()
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory(), clock=lambda: 1000.0, isolate=isolate)

    done = await asyncio.gather(*(executor.call("demo_find", {"query": "otters"}, owner=one) for one in owners))

    assert len(stub.sent) == times
    assert len({one.body for one in done}) == 1
    assert not any(name in done[0].body + json.dumps(done[0].meta) for name in ("ann", "zoo", "tenant", "user"))


async def test_a_call_that_others_wait_for_goes_on_without_the_first_and_tells_each_how_far_it_is(
    tmp_path: Path,
) -> None:
    gate, asked = asyncio.Event(), asyncio.Event()

    async def wait() -> Any:
        asked.set()
        await gate.wait()
        return PAGE

    stub, heard = Stub(lambda _: wait()), {owner: list[str | None]() for owner in OWNERS}
    executor = demo_executor(write_demo(tmp_path), sender=stub, cache=memory())
    calls = []
    for owner in OWNERS:
        progress = functools.partial(lambda owner, done, total, message: heard[owner].append(message), owner)
        calls.append(
            asyncio.create_task(executor.call("demo_find", {"query": "otters"}, owner=owner, progress=progress))
        )
        await asked.wait()

    calls[0].cancel()
    await asyncio.wait(calls[:1])
    gate.set()
    done = await asyncio.gather(*calls[1:])

    assert len(stub.sent) == 1
    assert calls[0].cancelled()
    assert [one.answer["count"] for one in done] == [1, 1, 1]
    assert all(heard.values())
    assert heard[OWNERS[1]] == heard[OWNERS[2]] == heard[OWNERS[3]]


async def test_each_who_waits_for_one_call_is_recorded_counted_and_observed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[tuple[str, str, int]] = []
    told: list[CallRecord] = []

    async def note(drawers: Any, seen: ObservedCall) -> None:
        noted.append((seen.owner, seen.session, len(seen.rows)))

    for module in (executor_module, model_module):
        monkeypatch.setattr(module, "OBSERVERS", {"note": Observer("note", function=note)})
    stub = Stub()
    executor = demo_executor(
        write_demo(tmp_path), sender=stub, cache=memory(), audit=told.append, drawers=cast("Any", object())
    )

    await asyncio.gather(
        *(
            executor.call("demo_find", {"query": "otters", "session": f"s{at}"}, owner=owner, request=str(at))
            for at, owner in enumerate(OWNERS)
        )
    )

    assert len(stub.sent) == 1
    assert sorted(noted) == sorted((owner, f"s{at}", 1) for at, owner in enumerate(OWNERS))
    assert sorted((one.owner, one.request, one.session, one.error) for one in told) == sorted(
        (owner, str(at), f"s{at}", "") for at, owner in enumerate(OWNERS)
    )
    assert [executor.tallies.of(tenant, executor.clock()).calls for tenant in ("zoo", "park")] == [2, 1]


async def test_a_failure_of_one_call_is_recorded_for_each_who_waits(tmp_path: Path) -> None:
    told: list[CallRecord] = []
    executor = demo_executor(
        write_demo(tmp_path), sender=Stub(lambda _: Fault("network", "no answer")), cache=memory(), audit=told.append
    )

    failed = await asyncio.gather(
        *(executor.call("demo_find", {"query": "otters"}, owner=one) for one in OWNERS), return_exceptions=True
    )

    assert {str(one) for one in failed} == {str(failed[0])}
    assert sorted((one.owner, bool(one.error)) for one in told) == sorted((owner, True) for owner in OWNERS)


async def test_what_is_an_owners_own_is_not_reached_by_a_call_that_others_wait_for(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), cache=memory())
    context = LiveContext(executor, executor.tool("demo_find"), OWNERS[0], None, is_shared=True)

    with pytest.raises(Fault, match="answer is shared"):
        context.state("sessions")
    with pytest.raises(Fault, match="answer is shared"):
        await context.keep_artifact("text", name="a text", mime_type="text/plain")
    with pytest.raises(Fault, match="answer is shared"):
        await context.read_artifact("research://artifact/1")


async def test_owners_in_flight_at_once_do_not_share_a_call_whose_answer_is_not_kept(tmp_path: Path) -> None:
    stub = Stub()
    executor = demo_executor(write_demo(tmp_path), sender=stub)

    await asyncio.gather(*(executor.call("demo_find", {"query": "otters"}, owner=one) for one in ("ann", "bob")))

    assert len(stub.sent) == 2


async def test_who_does_not_answer_in_the_time_for_a_call_is_named_and_counted(tmp_path: Path) -> None:
    stub = Stub(lambda _: asyncio.Event().wait())
    edits = {TOOL: [("cache: {ttl: 30m", "deadline: 2s\ncache: {ttl: 30m")]}
    executor = demo_executor(write_demo(tmp_path, edits), sender=stub)

    with pytest.raises(Fault, match=r"Demo gave no answer in [\d.]+ seconds") as caught:
        await executor.call("demo_find", {"query": "otters"})

    assert (caught.value.kind, caught.value.provider) == ("upstream_unavailable", "demo")
    assert [one["failures"] for one in executor.breakers.snapshot()] == [1]


async def test_for_whom_no_time_is_left_is_not_asked_and_not_blamed(tmp_path: Path) -> None:
    stub = Stub(lambda _: asyncio.Event().wait())
    two_providers(tmp_path)
    text = TEXTS[TOOL].replace("cache: {ttl: 30m", "deadline: 2s\ncache: {ttl: 30m")
    (tmp_path / TOOL).write_text(text, encoding="utf-8")
    executor = demo_executor(
        tmp_path, sender=stub, environ={"SPARE_URL": "https://spare.example.org", "SPARE_KEY": "spare-key"}
    )

    with pytest.raises(Fault, match="Demo gave no answer") as caught:
        await executor.call("demo_find", {"query": "otters"})

    assert "spare: there was no time left to ask spare" in caught.value.detail
    assert [one.provider for one in stub.sent] == ["demo"]
    assert [one["provider"] for one in executor.breakers.snapshot()] == ["demo"]


LOOKED_UP = """\
  - lookup:
      operation: demo_pages
      providers: "=without(route.demo_pages, ['demo'])"
      with: {query: =row.title}
      take: {rank: rank}
      optional: true
  - take: args.num_results
"""


async def test_what_only_adds_to_an_answer_does_not_hold_it_up(tmp_path: Path) -> None:
    # The one that is looked up never answers.
    stub = Stub(lambda request: asyncio.Event().wait() if request.provider == "spare" else PAGE)
    two_providers(tmp_path)
    edits = [("cache: {ttl: 30m", "deadline: 2s\ncache: {ttl: 30m"), ("  - take: args.num_results\n", LOOKED_UP)]
    text = TEXTS[TOOL]
    for old, new in edits:
        text = text.replace(old, new)
    (tmp_path / TOOL).write_text(text, encoding="utf-8")
    executor = demo_executor(
        tmp_path, sender=stub, environ={"SPARE_URL": "https://spare.example.org", "SPARE_KEY": "spare-key"}
    )

    done = await executor.call("demo_find", {"query": "otters"})

    assert json.loads(done.body)["pages"] == [{"title": "A", "url": "https://example.org/a", "rank": 1}]
    assert [one["failures"] for one in executor.breakers.snapshot() if one["provider"] == "spare"] == [1]


@pytest.mark.parametrize(
    ("said", "ttl"), [(Fault("network", "gone"), 60), (Fault("not_found", "none"), 1800), (PAGE, 1800)]
)
async def test_an_answer_is_kept_shortly_where_an_upstream_in_trouble_adds_nothing(
    tmp_path: Path, said: Any, ttl: int
) -> None:
    stub = Stub(lambda request: said if request.provider == "spare" else PAGE)
    two_providers(tmp_path)
    (tmp_path / TOOL).write_text(TEXTS[TOOL].replace("  - take: args.num_results\n", LOOKED_UP), encoding="utf-8")
    cache = memory()
    executor = demo_executor(
        tmp_path, sender=stub, cache=cache, environ={"SPARE_URL": "https://spare.example.org", "SPARE_KEY": "spare-key"}
    )

    await executor.call("demo_find", {"query": "otters"})

    kept = executor.peek("demo_find", {"query": "otters"})
    assert kept is not None
    assert kept.meta["maxAgeSeconds"] == ttl


@pytest.mark.parametrize(("empty", "asked"), [("stop", ["demo", "spare"]), ("next", ["demo", "spare", "demo"])])
async def test_a_lookup_goes_on_after_nothing_where_its_spec_says_so(
    tmp_path: Path, empty: str, asked: list[str]
) -> None:
    stub = Stub(lambda request: {"results": []} if request.provider == "spare" else PAGE)
    two_providers(tmp_path)
    lookup = LOOKED_UP.replace("without(route.demo_pages, ['demo'])", "['spare', 'demo']").replace(
        "rank: rank", "found: url"
    )
    lookup = lookup.replace("optional: true", f"optional: true\n      on: {{empty: {empty}}}")
    (tmp_path / TOOL).write_text(TEXTS[TOOL].replace("  - take: args.num_results\n", lookup), encoding="utf-8")
    executor = demo_executor(
        tmp_path, sender=stub, environ={"SPARE_URL": "https://spare.example.org", "SPARE_KEY": "spare-key"}
    )

    await executor.call("demo_find", {"query": "otters"})

    assert [one.provider for one in stub.sent] == asked


async def test_progress_says_who_is_asked(tmp_path: Path) -> None:
    said: list[str | None] = []
    executor = two_providers(
        tmp_path,
        sender=Stub(lambda request: Fault("upstream_unavailable", "x") if request.provider == "demo" else PAGE),
    )

    await executor.call("demo_find", {"query": "otters"}, progress=lambda _, __, text: said.append(text))

    assert said == ["asking demo", "asking spare"]


# --- the way an answer took -----------------------------------------------------------------------------------------


async def test_a_fallback_is_reported_with_its_reason(tmp_path: Path) -> None:
    stub = Stub(lambda request: Fault("upstream_unavailable", "down") if request.provider == "demo" else PAGE)
    executor = two_providers(tmp_path, sender=stub)

    done = await executor.call("demo_find", {"query": "otters"})

    routing = done.meta["routing"]
    assert routing.pop("latency_ms") >= 0
    assert routing == {
        "provider_used": "spare",
        "providers_attempted": ["demo", "spare"],
        "fallback": True,
        "fallback_reason": "primary_unavailable",
        "attempts": [
            {"provider": "demo", "result": "upstream_unavailable"},
            {"provider": "spare", "result": "rows"},
        ],
        "cache_hit": False,
    }


async def test_a_provider_that_keeps_failing_is_given_a_rest(tmp_path: Path) -> None:
    stub = Stub(lambda request: Fault("upstream_unavailable", "down") if request.provider == "demo" else PAGE)
    breakers = Breakers(threshold=2, reset=60.0, clock=lambda: 5.0, chance=lambda: 0.5)
    executor = two_providers(tmp_path, sender=stub, breakers=breakers)
    for query in ("a", "b"):
        await executor.call("demo_find", {"query": query})

    done = await executor.call("demo_find", {"query": "c"})

    assert [provider_of(one) for one in stub.sent] == ["demo", "spare", "demo", "spare", "spare"]
    assert done.meta["routing"]["fallback_reason"] == "circuit_open"
    assert executor.offer().resting == {"demo"}


async def test_when_everybody_fails_the_fault_tells_of_each(tmp_path: Path) -> None:
    executor = two_providers(
        tmp_path, sender=Stub(lambda request: Fault("rate_limited", f"{request.provider} is busy"))
    )

    with pytest.raises(Fault) as caught:
        await executor.call("demo_find", {"query": "otters"})

    assert caught.value.kind == "rate_limited"
    assert "demo: demo is busy; spare: spare is busy" in caught.value.detail


def test_a_provider_without_its_key_is_missing_and_not_asked(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), environ={"DEMO_KEY": ""})

    assert executor.missing == {"demo": ("DEMO_KEY",)}
    assert executor.routes.orders["demo_pages"] == ()


def test_a_replay_needs_no_keys(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), "", sender=Stub(), environ={"DEMO_KEY": ""}, always_configured=True)

    assert executor.configured == {"demo"}


# --- beside the answer ----------------------------------------------------------------------------------------------


async def test_an_answer_that_does_not_fit_its_schema_is_a_defect_when_validation_is_on(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), validate=True)
    wrong = dataclasses.replace(executor.tool("demo_find"), output_schema={"type": "object", "required": ["nothing"]})
    broken = Executor(
        dataclasses.replace(executor.model, tools={"demo_find": wrong}),
        environ={"DEMO_URL": "https://demo.example.org", "DEMO_KEY": "k"},
        sender=Stub(),
        validate=True,
    )
    await executor.call("demo_find", {"query": "otters"})

    with pytest.raises(Fault, match="does not fit the published schema") as caught:
        await broken.call("demo_find", {"query": "otters"})

    assert caught.value.kind == "internal"


async def test_sources_go_to_the_session_from_the_cache_as_well_as_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[tuple[str, str, str, list[str]]] = []

    async def note(drawers: Any, seen: ObservedCall) -> None:
        noted.append((seen.owner, seen.session, seen.kind, [row["url"] for row in seen.rows]))
        raise Fault("session_not_found", "which keeps no answer back")

    for module in (executor_module, model_module):
        monkeypatch.setattr(module, "OBSERVERS", {"note": Observer("note", function=note)})
    executor = demo_executor(
        write_demo(tmp_path), sender=Stub(), cache=memory(), clock=lambda: 1000.0, drawers=cast("Any", object())
    )

    for session in ("one", "two", ""):
        await executor.call("demo_find", {"query": "otters", "session": session}, owner="ann")

    assert noted == [("ann", name, "web", ["https://example.org/a"]) for name in ("one", "two")]


async def test_every_call_is_told_for_the_record_however_it_ends(tmp_path: Path) -> None:
    told: list[CallRecord] = []
    executor = demo_executor(write_demo(tmp_path), sender=Stub(), cache=memory(), audit=told.append)

    await executor.call("demo_find", {"query": "otters", "session": "one"}, owner="ann")
    executor.peek("demo_find", {"query": "otters"})
    with pytest.raises(Fault):
        await executor.call("demo_find", {})

    assert [(one.owner, one.tool, one.session, one.error) for one in told] == [
        ("ann", "demo_find", "one", ""),
        ("", "demo_find", "", ""),
        ("", "demo_find", "", "validation"),
    ]
    assert all(one.seconds >= 0 for one in told)


async def test_a_defect_is_recorded_as_one_and_a_call_that_is_given_up_as_that(tmp_path: Path) -> None:
    told: list[CallRecord] = []
    asked = asyncio.Event()

    def answer(request: Request) -> Any:
        if dict(request.query)["q"] == "defect":
            raise RuntimeError("boom")
        asked.set()
        return asyncio.Event().wait()

    executor = demo_executor(write_demo(tmp_path), sender=Stub(answer), audit=told.append)

    with pytest.raises(RuntimeError):
        await executor.call("demo_find", {"query": "defect"})
    call = asyncio.ensure_future(executor.call("demo_find", {"query": "gone"}))
    await asked.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert [one.error for one in told] == ["upstream_unavailable", "cancelled"]


async def test_calls_and_faults_are_counted_for_tools_and_operations(tmp_path: Path) -> None:
    answers: list[Any] = [PAGE, Fault("rate_limited", "slow down")]
    executor = demo_executor(write_demo(tmp_path), sender=Stub(lambda _: answers.pop(0)))
    await executor.call("demo_find", {"query": "a"})
    with pytest.raises(Fault):
        await executor.call("demo_find", {"query": "b"})

    count = executor.upstreams.counts["demo.demo_pages"]

    assert (count.calls, count.faults, count.kinds) == (2, 1, {"rate_limited": 1})
    assert executor.tool_counts["demo_find"].faults == 1


async def test_an_unknown_tool_is_a_fault_with_the_names_that_exist(tmp_path: Path) -> None:
    executor = demo_executor(write_demo(tmp_path), sender=Stub())

    with pytest.raises(Fault) as caught:
        await executor.call("demo_fnd", {})

    assert caught.value.alternatives == ("demo_find",)


# --- what an answer says of itself ----------------------------------------------------------------------------------


async def test_who_failed_is_told_in_the_answer_and_stays_in_meta(tmp_path: Path) -> None:
    def answer(request: Request) -> Any:
        return Fault("network", "no route") if request.provider == "demo" else PAGE

    executor = two_providers(tmp_path, sender=Stub(answer), cache=memory())

    done = await executor.call("demo_find", {"query": "otters"})
    again = await executor.call("demo_find", {"query": "otters"})

    assert done.answer["notices"] == ["Demo failed; Spare answered instead."]
    assert done.meta["routing"]["fallback_reason"] == "primary_unavailable"
    assert done.body.startswith('{"notices":')
    assert again.body == done.body, "a kept answer still is of whom it is"


async def test_a_provider_that_does_not_answer_in_its_time_is_late_and_one_that_fails_is_not(tmp_path: Path) -> None:
    async def never(_: Request) -> Any:
        await asyncio.Event().wait()

    slow = demo_executor(write_demo(tmp_path / "slow"), sender=Stub(never))
    down = demo_executor(write_demo(tmp_path / "down"), sender=Stub(lambda _: Fault("network", "no route")))

    for executor, is_late in ((slow, True), (down, False)):
        with pytest.raises(Fault) as caught:
            await executor.upstreams.ask("demo", "demo_pages", {"query": "x"}, within=0.05)
        assert caught.value.late is is_late
        assert caught.value.told_as(message="other").late is is_late


async def test_an_answer_made_of_a_response_that_was_kept_is_as_old_as_that_and_ends_with_it(tmp_path: Path) -> None:
    now = [1000.0]
    edits = {PROVIDER: [("      - get: /search\n", "      - get: /search\n        keep_for: 1h\n")]}
    stub = Stub()
    executor = demo_executor(
        write_demo(tmp_path, edits), sender=stub, cache=memory(lambda: now[0]), clock=lambda: now[0]
    )
    fresh = await executor.call("demo_find", {"query": "otters"})
    now[0] += 2400

    made_of_old = await executor.call("demo_find", {"query": "otters"})
    now[0] += 600
    again = await executor.call("demo_find", {"query": "otters"})
    now[0] += 601
    renewed = await executor.call("demo_find", {"query": "otters"})

    assert len(stub.sent) == 2, "the first and the last call"
    assert [done.meta.get("ageSeconds", 0) for done in (fresh, made_of_old, again, renewed)] == [0, 2400, 3000, 0]
    assert (made_of_old.meta["maxAgeSeconds"], again.meta["maxAgeSeconds"]) == (3600, 3600)
