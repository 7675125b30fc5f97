"""Notes, shared findings, counts of use and watched questions: per owner, with consent, within their time."""

import asyncio
import json

import pytest

from specloom.compiler.collection import load_collections
from specloom.core.faults import Fault
from specloom.domains.sessions.store import count_call
from specloom.plugins.collections import PURPOSES, find_decision, find_refusal, join_owner, split_owner
from specloom.runtime.executor import Executor
from specloom.specs.library import shipped_root
from specloom.storage import consent
from specloom.storage.store import open_memory
from tests.support.research_server import ENVIRON, Web, shipped

ANN, BOB = join_owner("acme", "ann"), join_owner("acme", "bob")
NOW = 1_700_000_000.0
DAY = 86_400.0


@pytest.fixture
def store(clock):
    opened = open_memory(load_collections([shipped_root()]).values(), clock=clock)
    yield opened
    opened.close()


# --- consent ----------------------------------------------------------------------------------------------------------


async def test_nothing_is_allowed_until_it_was_agreed_to_and_the_latest_decision_holds(store):
    drawer = store.drawer("consents", ANN)
    refusals = [await find_refusal(drawer, ANN, "memory")]
    record = await consent.decide(drawer, ANN, "memory", granted=True, now=NOW, terms="v2", where="admin")
    refusals.append(await find_refusal(drawer, ANN, "memory"))
    refusals.append(await find_refusal(drawer, ANN, "analytics"))
    await consent.decide(drawer, ANN, "memory", granted=False, now=NOW + 5)
    refusals.append(await find_refusal(drawer, ANN, "memory"))
    refusals.append(await find_refusal(store.drawer("consents", BOB), BOB, "memory"))

    assert refusals == ["no_consent", None, "no_consent", "no_consent", "no_consent"]
    assert record == {
        "tenantId": "acme",
        "userId": "ann",
        "purpose": "memory",
        "granted": True,
        "termsVersion": "v2",
        "decidedAt": "2023-11-14T22:13:20Z",
        "decidedFrom": "admin",
    }


@pytest.mark.parametrize("owner", ["", "acme:", "acme:anonymous", "anonymous"])
async def test_nobody_in_particular_can_neither_agree_nor_be_remembered(store, owner):
    drawer = store.drawer("consents", owner)

    assert await find_refusal(drawer, owner, "memory") == "unavailable"
    with pytest.raises(Fault, match="name the user"):
        await consent.decide(drawer, owner, "memory", granted=True, now=NOW)


async def test_an_unknown_purpose_is_refused_with_the_known_ones(store):
    with pytest.raises(Fault, match="use one of memory, analytics, workspace, monitoring"):
        await consent.decide(store.drawer("consents", ANN), ANN, "marketing", granted=True, now=NOW)


async def test_the_local_user_agrees_once_and_a_withdrawal_stays(store):
    drawer = store.drawer("consents", ANN)

    first = await consent.grant_locally(drawer, ANN, NOW)
    await consent.decide(drawer, ANN, "memory", granted=False, now=NOW)
    second = await consent.grant_locally(drawer, ANN, NOW)

    assert (first, second) == (["memory", "analytics", "monitoring"], [])
    assert await find_refusal(drawer, ANN, "memory") == "no_consent"
    assert await find_refusal(drawer, ANN, "workspace") == "no_consent"


async def test_who_is_erased_refuses_everything_from_then_on_and_is_not_granted_anew(store):
    """The next start of a local server finds a decision, and no name or time of what was agreed to before."""
    drawer = store.drawer("consents", ANN)
    await consent.grant_locally(drawer, ANN, NOW)

    await store.erase(ANN)
    again = await consent.grant_locally(drawer, ANN, NOW)

    assert again == []
    refusals = [await find_refusal(drawer, ANN, purpose) for purpose in PURPOSES]
    assert refusals == ["no_consent"] * len(PURPOSES)
    kept = await find_decision(drawer, "memory")
    assert kept is not None
    assert set(kept) == {"purpose", "granted", "decidedAt", "decidedFrom"}
    assert (kept["granted"], kept["decidedFrom"]) == (False, "erasure")


async def test_of_who_never_decided_an_erasure_keeps_nothing(store):
    await store.drawer("sessions", ANN).put("s", {"goal": "x"})

    await store.erase(ANN)

    assert not any((await store.export(ANN)).values())


async def test_a_tenant_that_is_erased_keeps_the_refusals_of_each_of_its_users(store):
    tenant = split_owner(ANN)[0]
    other = join_owner(tenant, "zoe")
    for owner in (ANN, other):
        await consent.decide(store.drawer("consents", owner), owner, "memory", granted=True, now=NOW)

    await store.erase_tenant(tenant)

    for owner in (ANN, other):
        drawer = store.drawer("consents", owner)
        assert await consent.grant_locally(drawer, owner, NOW) == []
        assert await find_refusal(drawer, owner, "memory") == "no_consent"


async def test_a_new_decision_after_an_erasure_holds(store):
    drawer = store.drawer("consents", ANN)
    await consent.grant_locally(drawer, ANN, NOW)
    await store.erase(ANN)

    await consent.decide(drawer, ANN, "memory", granted=True, now=NOW)

    assert await find_refusal(drawer, ANN, "memory") is None


# --- notes ------------------------------------------------------------------------------------------------------------


NOTES = (
    ("Lithium batteries lose capacity in the heat.", "energy storage"),
    ("Penguins were counted from satellite images.", "birds"),
    ("An automobile battery weighs 15 kg.", "cars"),
    ("Die Größe der Kolonie wächst; ökologische Folgen unklar.", "birds"),
    ("固体電池の寿命について", "energy storage"),
    ("A car, that is an automobile, was taxed by weight.", "taxes"),
    ("Every automobile is a car in this law.", "taxes"),
)


class Tools:
    """The shipped tools over one store, for users who have agreed to everything."""

    def __init__(self, store, clock):
        self.store, self.clock, self.web = store, clock, Web()
        self.executor = Executor(shipped(), environ=ENVIRON, sender=self.web, drawers=store, clock=clock, validate=True)

    async def agree(self, *owners):
        for owner in owners:
            for purpose in PURPOSES:
                drawer = self.store.drawer("consents", owner)
                await consent.decide(drawer, owner, purpose, granted=True, now=self.clock())

    async def ask(self, tool, owner=ANN, **arguments):
        return json.loads((await self.executor.call(tool, arguments, owner=owner)).body)

    async def recall(self, **arguments):
        return [one["note"] for one in (await self.ask("memory_recall", **arguments))["memories"]]

    def find(self, *urls):
        self.web.results = [{"title": url, "url": url, "description": ""} for url in urls]


@pytest.fixture
async def tools(store, clock):
    made = Tools(store, clock)
    await made.agree(ANN, BOB)
    yield made
    await made.executor.aclose()


async def keep_notes(tools):
    for note, topic in NOTES:
        await tools.ask("memory_save", note=note, topic=topic)


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ({"query": "battery degradation in hot weather heat"}, [1, 3]),
        ({"query": "penguin"}, [2]),
        ({"query": "counting penguin colonies by satellite"}, [2]),
        ({"query": "ökologisch"}, [4]),
        ({"query": "okologische"}, [4]),
        ({"query": "電池"}, [5]),
        ({"query": "batteries", "topic": "cars"}, [3]),
        ({"topic": "birds"}, [4, 2]),
        ({"topic": "storing energy"}, [1, 5]),
        ({"topic": "bird"}, [2, 4]),
        ({"query": "nothing of this kind"}, []),
        ({"query": "the of and"}, []),
        ({"limit": 2}, [7, 6]),
    ],
)
async def test_notes_are_found_by_what_they_are_about(tools, asked, first):
    await keep_notes(tools)

    found = await tools.recall(**asked)

    assert found[: len(first)] == [NOTES[at - 1][0] for at in first]
    assert bool(found) == bool(first)


async def test_a_word_brings_up_notes_about_the_word_that_keeps_it_company(tools):
    """`car` is not in note 3, but the owner's notes use it together with `automobile`, which is."""
    await keep_notes(tools)

    found = await tools.recall(query="car")

    assert set(found[:2]) == {NOTES[5][0], NOTES[6][0]}
    assert found[2] == NOTES[2][0]


async def test_notes_go_after_ninety_days(tools, clock):
    await keep_notes(tools)

    clock.now += 90 * DAY

    assert await tools.recall() == []
    assert await tools.recall(query="penguin") == []


@pytest.mark.parametrize("sign", ["x", '"', "\n", "\x00", "é"])
async def test_the_longest_note_is_kept_whatever_it_is_made_of(tools, sign):
    note = "x" + sign * 65_534 + "x"

    kept = await tools.ask("memory_save", note=note, topic='"' * 200, url="https://a.example/" + "x" * 2000)

    assert kept["status"] == "ok"
    # What nobody sees is kept, and told to nobody.
    assert await tools.recall() == [note.replace("\x00", "")]


# --- shared -----------------------------------------------------------------------------------------------------------


async def test_a_space_is_shared_by_its_members_and_a_member_who_is_erased_is_gone_from_it(tools, store):
    def view(owner):
        return store.drawer("members", owner, space="team")

    for owner in (ANN, BOB):
        await consent.add_member(view(owner), owner, NOW)
        await tools.ask("workspace_contribute", owner, workspace_id="team", note="n", tags=["t"])
    read = (await tools.ask("workspace_read", BOB, workspace_id="team"))["contributions"]

    erased = await store.erase(ANN)

    assert [one.pop("id") != "" for one in read] == [True, True]
    assert [one["contributorUser"] for one in read] == ["bob", "ann"]
    assert read[1] == {
        "workspaceId": "team",
        "contributorTenant": "acme",
        "contributorUser": "ann",
        "note": "n",
        "tags": ["t"],
        "createdAt": "2023-11-14T22:13:20Z",
    }
    assert {name: erased.deleted[name] for name in ("findings", "members")} == {"findings": 1, "members": 1}
    left = await tools.ask("workspace_read", BOB, workspace_id="team")
    assert [one["contributorUser"] for one in left["contributions"]] == ["bob"]
    assert (await tools.ask("workspace_read", ANN, workspace_id="team"))["status"] == "no_consent"
    assert (await tools.ask("workspace_read", BOB, workspace_id="other"))["status"] == "not_member"
    assert await consent.remove_member(view(BOB), BOB) is True
    assert (await tools.ask("workspace_read", BOB, workspace_id="team"))["status"] == "not_member"


@pytest.mark.parametrize("space", ["", "  ", "x" * 201])
def test_a_space_needs_a_name(space):
    with pytest.raises(Fault, match="1 to 200"):
        consent.check_space(space)


# --- counts of use ----------------------------------------------------------------------------------------------------


async def test_use_is_counted_for_the_owner_alone(tools, store):
    drawer = store.drawer("usage", ANN)
    for at, tool in enumerate(["a", "b", "a", *(f"t{at}" for at in range(12)), "a"]):
        await count_call(drawer, tool, NOW + at)
    await asyncio.gather(*(count_call(drawer, "b", NOW + 99) for _ in range(5)))

    counted = (await tools.ask("get_my_analytics"))["analytics"]

    assert (counted["tenantId"], counted["userId"]) == ("acme", "ann")
    assert (counted["totalCalls"], counted["toolCounts"]["a"], counted["toolCounts"]["b"]) == (21, 3, 6)
    assert (counted["firstSeen"], counted["lastSeen"]) == ("2023-11-14T22:13:20Z", "2023-11-14T22:14:59Z")
    assert counted["recentTools"] == ["b", "a", *(f"t{at}" for at in range(11, 3, -1))]
    assert (await tools.ask("get_my_analytics", BOB))["status"] == "empty"


# --- watched ----------------------------------------------------------------------------------------------------------


async def test_a_watch_tells_what_is_new_once(tools, clock):
    tools.find("https://a.example/1")
    saved = await tools.ask("monitor_query_save", query="Otter news", provider="brave")
    tools.find("http://www.a.example/1/#x", "https://b.example/")
    clock.now += 60

    first = await tools.ask("monitor_query_check", query=" otter  NEWS", provider="brave")
    second = await tools.ask("monitor_query_check", query="otter news", provider="brave")

    assert {name: saved[name] for name in ("query", "provider", "savedAt", "ttlDays", "seenCount")} == {
        "query": "Otter news",
        "provider": "brave",
        "savedAt": "2023-11-14T22:13:20Z",
        "ttlDays": 30,
        "seenCount": 1,
    }
    assert (first["newCount"], first["lastRunAt"]) == (1, "2023-11-14T22:14:20Z")
    assert [one["url"] for one in first["newResults"]] == ["https://b.example/"]
    assert second["newCount"] == 0
    assert (await tools.ask("monitor_query_check", query="otter news"))["status"] == "not_found"
    assert (await tools.ask("monitor_query_check", BOB, query="otter news", provider="brave"))["status"] == "not_found"


async def test_what_is_found_twice_in_one_look_is_new_once(tools):
    tools.find()
    await tools.ask("monitor_query_save", query="otters")
    tools.find("https://b.example/x", "http://www.b.example/x/?utm_source=y", "https://c.example/")

    told = await tools.ask("monitor_query_check", query="otters")

    assert told["newCount"] == 2
    assert [one["url"] for one in told["newResults"]] == ["https://b.example/x", "https://c.example/"]


async def test_everything_watched_is_told_in_one_answer_and_counts_as_seen(tools, clock):
    tools.find("https://a.example/1")
    for query in ("otters", "badgers", "voles"):
        await tools.ask("monitor_query_save", query=query)
    await tools.ask("monitor_query_save", BOB, query="beavers")
    clock.now += 60
    tools.find("https://a.example/1", "https://b.example/", "http://www.b.example/?utm_source=x")
    await tools.ask("monitor_query_check", query="otters")
    await tools.ask("monitor_query_stop", query="voles")

    first = await tools.ask("monitor_query_digest")
    second = await tools.ask("monitor_query_digest")

    assert {name: first[name] for name in ("checked", "unchanged", "newCount", "waiting", "failed")} == {
        "checked": 2,
        "unchanged": 1,
        "newCount": 1,
        "waiting": 0,
        "failed": [],
    }
    assert first["queries"] == [{"query": "badgers", "newCount": 1}]
    assert [(one["query"], one["url"]) for one in first["newResults"]] == [("badgers", "https://b.example/")]
    assert (second["checked"], second["unchanged"], second["newCount"]) == (2, 2, 0)
    listed = await tools.ask("monitor_query_list")
    assert {one["lastRunAt"] for one in listed["queries"]} == {"2023-11-14T22:14:20Z"}


async def test_a_hundred_watched_queries_of_which_one_fails_are_one_answer_that_names_it(tools, clock):
    tools.find("https://a.example/1")
    for at in range(100):
        await tools.ask("monitor_query_save", query=f"q{at:02}")
    clock.now += 60
    tools.find("https://a.example/1", "https://b.example/")
    tools.web.failing = {"q42"}

    told = await tools.ask("monitor_query_digest", limit=100)
    tools.web.failing = set()
    rest = await tools.ask("monitor_query_digest", limit=1)

    assert (told["checked"], told["newCount"], len(told["queries"]), told["waiting"]) == (100, 99, 99, 0)
    assert [one["query"] for one in told["failed"]] == ["q42"]
    assert told["failed"][0]["reason"]
    assert [one["query"] for one in rest["newResults"]] == ["q42"], "what failed stays as it was and comes first"
    assert rest["waiting"] == 99


async def test_a_watch_is_over_after_its_days_and_no_longer_counts(tools, clock):
    tools.find()
    for at in range(100):
        saved = await tools.ask("monitor_query_save", query=f"q{at}", ttl_days=1 + at % 90)
        assert saved["status"] == "ok"
    refused = await tools.ask("monitor_query_save", query="one more", ttl_days=1)
    again = await tools.ask("monitor_query_save", query="q7", ttl_days=8)

    clock.now += DAY
    allowed = await tools.ask("monitor_query_save", query="one more", ttl_days=1)

    assert [one["status"] for one in (refused, again, allowed)] == ["limit_reached", "ok", "ok"]
    assert (
        refused["reason"]
        == "There are 100 watched queries already; they end when their days are over, or by monitor_query_stop."
    )
    assert (await tools.ask("monitor_query_check", query="q0"))["status"] == "not_found"
    assert (await tools.ask("monitor_query_check", query="Q7"))["status"] == "ok"


async def test_everything_an_owner_has_is_exported_and_erased(store):
    """Every collection is covered, whatever will be added to them."""
    for spec in store.specs.values():
        await store.drawer(spec.name, ANN, space="s" if spec.scope == "shared" else "").put("k", {"of": spec.name})

    exported = await store.export(ANN)
    erased = await store.erase(ANN)

    assert {name: items[0]["value"] for name, items in exported.items()} == {
        spec.name: {"of": spec.name} for spec in store.specs.values()
    }
    assert erased.deleted == {spec.name: 1 for spec in store.specs.values()}
