"""Notes, shared findings, counts of use and watched questions: per owner, with consent, within their time."""

import asyncio

import pytest

from specloom.compiler.collection import load_collections
from specloom.core.faults import Fault
from specloom.domains.sessions import memories
from specloom.domains.sessions import memories as findings
from specloom.domains.sessions import memories as usage
from specloom.domains.sessions import memories as watches
from specloom.plugins.collections import join_owner, split_owner
from specloom.specs.library import shipped_root
from specloom.storage import consent
from specloom.storage.store import open_memory

ANN, BOB = join_owner("acme", "ann"), join_owner("acme", "bob")
NOW = 1_700_000_000.0
DAY = 86_400.0


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(clock):
    opened = open_memory(load_collections([shipped_root()]).values(), clock=clock)
    yield opened
    opened.close()


# --- consent ----------------------------------------------------------------------------------------------------------


async def test_nothing_is_allowed_until_it_was_agreed_to_and_the_latest_decision_holds(store):
    drawer = store.drawer("consents", ANN)
    refusals = [await consent.find_refusal(drawer, ANN, "memory")]
    record = await consent.decide(drawer, ANN, "memory", granted=True, now=NOW, terms="v2", where="admin")
    refusals.append(await consent.find_refusal(drawer, ANN, "memory"))
    refusals.append(await consent.find_refusal(drawer, ANN, "analytics"))
    await consent.decide(drawer, ANN, "memory", granted=False, now=NOW + 5)
    refusals.append(await consent.find_refusal(drawer, ANN, "memory"))
    refusals.append(await consent.find_refusal(store.drawer("consents", BOB), BOB, "memory"))

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

    assert await consent.find_refusal(drawer, owner, "memory") == "unavailable"
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
    assert await consent.find_refusal(drawer, ANN, "memory") == "no_consent"
    assert await consent.find_refusal(drawer, ANN, "workspace") == "no_consent"


async def test_who_is_erased_refuses_everything_from_then_on_and_is_not_granted_anew(store):
    """The next start of a local server finds a decision, and no name or time of what was agreed to before."""
    drawer = store.drawer("consents", ANN)
    await consent.grant_locally(drawer, ANN, NOW)

    await store.erase(ANN)
    again = await consent.grant_locally(drawer, ANN, NOW)

    assert again == []
    refusals = [await consent.find_refusal(drawer, ANN, purpose) for purpose in consent.PURPOSES]
    assert refusals == ["no_consent"] * len(consent.PURPOSES)
    kept = await consent.find_decision(drawer, "memory")
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
        assert await consent.find_refusal(drawer, owner, "memory") == "no_consent"


async def test_a_new_decision_after_an_erasure_holds(store):
    drawer = store.drawer("consents", ANN)
    await consent.grant_locally(drawer, ANN, NOW)
    await store.erase(ANN)

    await consent.decide(drawer, ANN, "memory", granted=True, now=NOW)

    assert await consent.find_refusal(drawer, ANN, "memory") is None


# --- notes ------------------------------------------------------------------------------------------------------------


NOTES = {
    "1": ("Lithium batteries lose capacity in the heat.", "energy storage"),
    "2": ("Penguins were counted from satellite images.", "birds"),
    "3": ("An automobile battery weighs 15 kg.", "cars"),
    "4": ("Die Größe der Kolonie wächst; ökologische Folgen unklar.", "birds"),
    "5": ("固体電池の寿命について", "energy storage"),
    "6": ("A car, that is an automobile, was taxed by weight.", "taxes"),
    "7": ("Every automobile is a car in this law.", "taxes"),
}


async def keep_notes(drawer):
    for id_, (note, topic) in NOTES.items():
        await memories.save(drawer, memories.make_note(note=note, topic=topic), new_id=id_, now=NOW)


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ({"query": "battery degradation in hot weather heat"}, ["1", "3"]),
        ({"query": "penguin"}, ["2"]),
        ({"query": "counting penguin colonies by satellite"}, ["2"]),
        ({"query": "ökologisch"}, ["4"]),
        ({"query": "okologische"}, ["4"]),
        ({"query": "電池"}, ["5"]),
        ({"query": "batteries", "topic": "cars"}, ["3"]),
        ({"topic": "birds"}, ["4", "2"]),
        ({"topic": "storing energy"}, ["1", "5"]),
        ({"topic": "bird"}, ["2", "4"]),
        ({"query": "nothing of this kind"}, []),
        ({"query": "the of and"}, []),
        ({"limit": 2}, ["7", "6"]),
    ],
)
async def test_notes_are_found_by_what_they_are_about(store, asked, first):
    drawer = store.drawer("memories", ANN)
    await keep_notes(drawer)

    found = [one["id"] for one in await memories.recall(drawer, **asked)]

    assert found[: len(first)] == first
    assert bool(found) == bool(first)


async def test_a_word_brings_up_notes_about_the_word_that_keeps_it_company(store):
    """`car` is not in note 3, but the owner's notes use it together with `automobile`, which is."""
    drawer = store.drawer("memories", ANN)
    await keep_notes(drawer)

    found = [one["id"] for one in await memories.recall(drawer, query="car")]

    assert set(found[:2]) == {"6", "7"}
    assert found[2] == "3"


async def test_a_note_has_its_provenance_and_bounds(store):
    drawer = store.drawer("memories", ANN)

    note = memories.make_note(note="n", url="https://a.example", tags=["t"], tenantId="acme", userId="ann")
    kept = await memories.save(drawer, note, new_id="1", now=NOW)

    assert kept == {"id": "1", "createdAt": "2023-11-14T22:13:20Z"}
    assert await memories.recall(drawer) == [
        {
            "id": "1",
            "tenantId": "acme",
            "userId": "ann",
            "note": "n",
            "url": "https://a.example",
            "tags": ["t"],
            "createdAt": kept["createdAt"],
        }
    ]
    for wrong, sentence in (
        ({"note": " "}, "note is empty"),
        ({"note": "é" * 33_000}, "has 66000 bytes, and the most is 65536"),
        ({"note": "n", "topic": "x" * 201}, "topic has 201"),
        ({"note": "n", "url": "javascript:1"}, "not an http or https address"),
        ({"note": "n", "tags": ["t"] * 51}, "tags may be 50"),
    ):
        with pytest.raises(Fault, match=sentence):
            memories.make_note(**wrong)


async def test_notes_go_after_ninety_days(store, clock):
    drawer = store.drawer("memories", ANN)
    await keep_notes(drawer)

    clock.now += 90 * DAY

    assert await memories.recall(drawer) == []
    assert await memories.recall(drawer, query="penguin") == []


@pytest.mark.parametrize("sign", ["x", '"', "\n", "\x00", "é"])
async def test_the_longest_note_is_kept_whatever_it_is_made_of(store, sign):
    note = "x" + sign * ((memories.MOST_NOTE_BYTES - 1) // len(sign.encode()))
    kept = memories.make_note(note=note, topic='"' * 200, tags=['"' * 100] * 50, url="https://a.example/" + "x" * 2000)

    await memories.save(store.drawer("memories", ANN), kept, new_id="1", now=NOW)

    (found,) = await memories.recall(store.drawer("memories", ANN))
    assert found["note"] == note


# --- shared -----------------------------------------------------------------------------------------------------------


async def test_a_space_is_shared_by_its_members_and_a_member_who_is_erased_is_gone_from_it(store):
    def view(owner):
        return store.drawer("members", owner, space="team")

    for owner in (ANN, BOB):
        await consent.add_member(view(owner), owner, NOW)
    for user, owner in (("ann", ANN), ("bob", BOB)):
        await findings.contribute(
            store.drawer("findings", owner, space="team"),
            space="team",
            tenant="acme",
            user=user,
            new_id=f"of-{user}",
            now=NOW,
            note="n",
            tags=("t",),
        )
    read = await findings.read(store.drawer("findings", BOB, space="team"))

    erased = await store.erase(ANN)

    assert [one["contributorUser"] for one in read] == ["bob", "ann"]
    assert read[1] == {
        "id": "of-ann",
        "workspaceId": "team",
        "contributorTenant": "acme",
        "contributorUser": "ann",
        "note": "n",
        "tags": ["t"],
        "createdAt": "2023-11-14T22:13:20Z",
    }
    assert erased.deleted == {"findings": 1, "members": 1}
    assert [one["id"] for one in await findings.read(store.drawer("findings", BOB, space="team"))] == ["of-bob"]
    assert [await consent.is_member(view(owner), owner) for owner in (ANN, BOB)] == [False, True]
    assert await consent.is_member(store.drawer("members", BOB, space="other"), BOB) is False
    assert await consent.remove_member(view(BOB), BOB) is True
    assert await consent.is_member(view(BOB), BOB) is False


@pytest.mark.parametrize("space", ["", "  ", "x" * 201])
def test_a_space_needs_a_name(space):
    with pytest.raises(Fault, match="1 to 200"):
        consent.check_space(space)


# --- counts of use ----------------------------------------------------------------------------------------------------


async def test_use_is_counted_for_the_owner_alone(store):
    drawer = store.drawer("usage", ANN)
    for at, tool in enumerate(["a", "b", "a", *(f"t{at}" for at in range(12)), "a"]):
        await usage.count_call(drawer, tool, NOW + at)
    await asyncio.gather(*(usage.count_call(drawer, "b", NOW + 99) for _ in range(5)))

    counted = await usage.read_usage(drawer, "acme", "ann")

    assert (counted["totalCalls"], counted["toolCounts"]["a"], counted["toolCounts"]["b"]) == (21, 3, 6)
    assert (counted["firstSeen"], counted["lastSeen"]) == ("2023-11-14T22:13:20Z", "2023-11-14T22:14:59Z")
    assert counted["recentTools"] == ["b", "a", *(f"t{at}" for at in range(11, 3, -1))]
    assert await usage.read_usage(store.drawer("usage", BOB), "acme", "bob") is None


# --- watched ----------------------------------------------------------------------------------------------------------


def rows(*urls):
    return [{"url": url, "title": url} for url in urls]


async def test_a_watch_tells_what_is_new_once(store):
    drawer = store.drawer("watches", ANN)
    saved = await watches.save_watch(
        drawer, query="Otter news", provider="north", urls=["https://a.example/1"], days=30, now=NOW
    )

    first = await watches.check(
        drawer,
        query=" otter  NEWS",
        provider="north",
        rows=rows("http://www.a.example/1/#x", "https://b.example"),
        now=NOW + 60,
    )
    second = await watches.check(drawer, query="otter news", provider="north", rows=rows("https://b.example"), now=NOW)

    assert saved == {
        "query": "Otter news",
        "provider": "north",
        "savedAt": "2023-11-14T22:13:20Z",
        "ttlDays": 30,
        "seenCount": 1,
    }
    assert first == {"newCount": 1, "newResults": rows("https://b.example"), "lastRunAt": "2023-11-14T22:14:20Z"}
    assert second["newCount"] == 0
    assert await watches.check(drawer, query="otter news", provider="south", rows=[], now=NOW) is None
    assert (
        await watches.check(store.drawer("watches", BOB), query="otter news", provider="north", rows=[], now=NOW)
        is None
    )


async def test_what_is_found_twice_in_one_look_is_new_once(store):
    drawer = store.drawer("watches", ANN)
    await watches.save_watch(drawer, query="otters", provider="", urls=[], days=30, now=NOW)
    found = rows("https://b.example/x", "http://www.b.example/x/?utm_source=y", "https://c.example")

    told = await watches.check(drawer, query="otters", provider="", rows=found, now=NOW)

    assert told["newCount"] == 2
    assert told["newResults"] == rows("https://b.example/x", "https://c.example")


async def test_a_watch_is_over_after_its_days_and_no_longer_counts(store, clock):
    drawer = store.drawer("watches", ANN)
    for at in range(100):
        assert await watches.save_watch(drawer, query=f"q{at}", provider="p", urls=[], days=1 + at, now=clock())
    refused = await watches.save_watch(drawer, query="one more", provider="p", urls=[], days=1, now=clock())
    again = await watches.save_watch(drawer, query="q7", provider="p", urls=[], days=8, now=clock())

    clock.now += DAY
    allowed = await watches.save_watch(drawer, query="one more", provider="p", urls=[], days=1, now=clock())

    assert (refused, again is not None, allowed is not None) == (None, True, True)
    assert await watches.find(drawer, "q0", "p", clock()) is None
    assert (await watches.find(drawer, "Q7", "p", clock()))["query"] == "q7"


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
