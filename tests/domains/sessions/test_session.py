"""A session keeps what was told, shows it in the right length, and merges what its calls found."""

import asyncio
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.compiler.collection import load_collections
from specloom.core import count_tokens
from specloom.core.faults import Fault
from specloom.domains.sessions import document, export, sources, views
from specloom.domains.sessions import session as trail
from specloom.domains.sessions import store as sessions
from specloom.domains.sessions.tree import DEEPEST, to_tree, walk
from specloom.plugins.collections import join_owner
from specloom.plugins.records import to_json
from specloom.specs.library import shipped_root
from specloom.storage.store import configure, open_memory

ANN, BOB = join_owner("acme", "ann"), join_owner("acme", "bob")
NOW = 1_700_000_000.0
DECLARED = load_collections([shipped_root()])


@pytest.fixture
def store(clock):
    opened = open_memory(DECLARED.values(), clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def drawer(store):
    return store.drawer("sessions", ANN)


NAMES = {
    "goal": "research_goal",
    "summary": "session_summary",
    "estimate": "total_steps_estimate",
    "gap": "knowledge_gap",
    "settled": "resolved_gaps",
    "rejected": "rejected_approaches",
    "revises": "revises_step",
    "branch": "branch_id",
    "branches_from": "branch_from_step",
}


def told(number, text="looked", *, more=True, **rest):
    named = {NAMES.get(name, name): value for name, value in rest.items()}
    return trail.StepReport(search_step=text, step_number=number, next_step_needed=more, **named)


def make_session(**rest):
    return trail.ResearchSession(**{"id": "s", "goal": "goal", "started": NOW, **rest})


def make_step(number, text=""):
    return trail.SessionStep(number=number, description=text or f"step {number}", timestamp="2023-11-14T22:13:20Z")


def make_outcome(provider, error=None, at=0, **rest):
    timestamp = f"2023-11-14T22:13:{20 + at}Z"
    return trail.CallOutcome(provider=provider, success=not error, error=error, timestamp=timestamp, **rest)


def make_source(url, **rest):
    return trail.SitedSource(url=url, **rest)


def progress(shown, **rest):
    return to_json(views.show_progress(shown.session, shown.steps, **rest))


async def proceed(drawer, one):
    return await sessions.proceed(drawer, "s1", one, now=NOW + one.step_number)


async def begin(drawer, *more, goal="Why do otters hold hands"):
    first = told(1, "first look", goal=goal)
    taken = await sessions.begin(drawer, first, new_id="s1", now=NOW + 1, tenant="acme")
    for one in more:
        taken = await proceed(drawer, one)
    return taken


# --- steps ------------------------------------------------------------------------------------------------------------


async def test_a_session_is_taken_up_again_with_everything_that_was_told(drawer):
    await begin(drawer, told(2, "read papers", reasoning="primary sources", confidence="high", rejected=("blogs",)))

    found = await sessions.find(drawer, "s1")

    assert found.session.goal == "Why do otters hold hands"
    assert [step.number for step in found.steps] == [1, 2]
    assert found.steps[1].rejected == ["blogs"]
    assert to_json(views.show_one_step(found.session, found.steps, 2))["step"] == {
        "stepNumber": 2,
        "description": "read papers",
        "reasoning": "primary sources",
        "confidence": "high",
        "rejectedApproaches": ["blogs"],
        "timestamp": "2023-11-14T22:13:22Z",
    }
    assert views.show_one_step(found.session, found.steps, 3) is None


async def test_the_goal_is_the_first_step_where_none_is_given(drawer):
    taken = await begin(drawer, goal="")

    assert taken.session.goal == "first look"


async def test_a_summary_of_the_caller_outlives_later_steps(drawer):
    await begin(drawer, told(2, summary="Otters drift apart otherwise."), told(3))

    found = await sessions.find(drawer, "s1")

    assert views.show_recovery(found.session, found.steps).summary == "Otters drift apart otherwise."


async def test_the_last_step_completes_a_session_and_a_further_one_opens_it_again(drawer):
    taken = await begin(drawer, told(2, more=False))
    done = progress(taken, number=2)
    again = await proceed(drawer, told(3))

    assert (done["isComplete"], done["completedAt"]) == (True, "2023-11-14T22:13:22Z")
    assert "completedAt" not in progress(again, number=3)


async def test_a_full_session_says_so_and_keeps_what_it_has(clock):
    specs = [configure(spec, {"SESSION_MAX_STEPS": "2", "SESSION_TTL": "90m"}) for spec in DECLARED.values()]
    store = open_memory(specs, clock=clock)
    drawer = store.drawer("sessions", ANN)
    taken = await begin(drawer, told(2), told(3))

    assert taken.warnings == ("session_limit_reached",)
    assert taken.is_full
    assert len((await sessions.find(drawer, "s1")).steps) == 2
    with pytest.raises(sessions.SessionLost, match="lasts 90 minutes"):
        await sessions.find(drawer, "s2")
    store.close()


async def test_steps_told_at_the_same_time_are_all_kept_in_order(drawer):
    await begin(drawer)

    await asyncio.gather(*(proceed(drawer, told(at)) for at in range(2, 12)))

    assert sorted(step.number for step in (await sessions.find(drawer, "s1")).steps) == list(range(1, 12))


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (told(1), "Step 1 was told before"),
        (told(5), "Step 5 follows step 2: 3 was expected"),
        (told(3, is_revision=True), "without revisesStep"),
        (told(3, revises=1), "without isRevision"),
        (told(3, is_revision=True, revises=7), "names step 7, which was never told"),
        (told(3, branches_from=9, branch="b"), "branchFromStep names step 9"),
        (told(3, settled=("something else",)), "No open question is worded like 'something else'"),
    ],
)
async def test_what_is_odd_about_a_step_is_said_and_the_step_is_kept(drawer, step, sentence):
    taken = await begin(drawer, told(2), step)

    assert sentence in " ".join(taken.warnings)
    assert len(taken.steps) == 3
    assert sentence in progress(taken, number=3, warnings=taken.warnings)["warning"]


async def test_a_step_in_its_place_is_not_odd(drawer):
    taken = await begin(drawer, told(2, gap="how deep"), told(3, settled=("how deep",), is_revision=True, revises=2))

    assert taken.warnings == []


async def test_a_revised_step_is_marked_wherever_it_is_shown(drawer):
    taken = await begin(drawer, told(2), told(3, is_revision=True, revises=2, branch="deep", branches_from=1))

    shown = progress(taken, number=3)

    assert [entry.get("supersededBy") for entry in shown["steps"]] == [None, 3, None]
    assert shown["lastSteps"][1]["supersededBy"] == 3
    assert (shown["lastSteps"][2]["branchId"], shown["lastSteps"][2]["branchFromStep"]) == ("deep", 1)


async def test_a_step_told_again_as_its_own_revision_supersedes_the_earlier_telling_alone(drawer):
    again = told(2, "looked again", is_revision=True, revises=2)
    taken = await begin(
        drawer, told(2), again, told(3, is_revision=True, revises=1), told(4, is_revision=True, revises=1)
    )

    shown = progress(taken, number=4)

    assert [entry.get("supersededBy") for entry in shown["steps"]] == [4, 2, None, None, None]
    assert "supersededBy" not in to_json(views.show_one_step(taken.session, taken.steps, 2))["step"]


async def test_a_question_that_finds_no_room_is_said_to_be_lost(drawer):
    full = await begin(drawer, *(told(at, gap=f"question {at}") for at in range(2, 102)))
    swapped = await proceed(drawer, told(102, gap="another", settled=("question 2",)))
    taken = await proceed(drawer, told(103, gap="one more"))

    assert "100 questions are open already, so this one was not kept" in " ".join(taken.warnings)
    assert (full.warnings, swapped.warnings) == ([], [])
    assert len(taken.session.open_gaps) == 100


async def test_questions_are_opened_once_and_settled_by_their_words_or_nearly_so(drawer):
    taken = await begin(
        drawer,
        told(2, gap="How long do otters sleep?"),
        told(3, gap="how long do otters sleep"),
        told(4, gap="Do river otters do it too"),
        told(5, settled=("how long otters sleep",)),
    )

    session = taken.session
    assert [(gap.description, gap.found_in, gap.settled_in) for gap in session.gaps] == [
        ("How long do otters sleep?", 2, 5),
        ("Do river otters do it too", 4, None),
    ]
    recovered = to_json(views.show_recovery(session, taken.steps))
    assert recovered["gaps"] == [{"description": "Do river otters do it too", "foundInStep": 4}]
    assert recovered["resolvedGaps"][0]["resolvedInStep"] == 5


# --- shown ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "asked", "mode"), [(8, "", "full"), (9, "", "summary"), (9, "full", "full"), (1, "summary", "summary")]
)
def test_a_session_is_shown_in_full_up_to_eight_steps_unless_asked_otherwise(count, asked, mode):
    session = make_session(estimate=12)
    some = [make_step(number) for number in range(1, count + 1)]

    shown = to_json(views.show_progress(session, some, number=count, mode=asked))

    assert shown["responseMode"] == mode
    assert ("steps" in shown, "stepIndex" in shown, "summary" in shown) == (
        (True, False, False) if mode == "full" else (False, True, True)
    )
    assert len(shown["lastSteps"]) == min(3, count)
    assert (shown["totalStepsEstimate"], shown["trust"]) == (12, "untrusted-external-content")


@given(st.text(), st.integers(2, 130))
def test_a_cut_is_never_longer_than_asked_and_never_empty_for_text(text, characters):
    cut = views.cut(text, characters)

    assert len(cut) <= characters
    assert bool(cut) == bool(text.split())
    cut.encode("utf-8", "surrogatepass")


async def test_errors_that_keep_coming_back_are_named_with_advice(drawer):
    await begin(drawer)
    ended = [
        *(make_outcome("north", "blocked", url=f"https://a.example/{at}", at=at) for at in range(7)),
        make_outcome("south"),
        make_outcome("north", "network"),
    ]

    assert await sessions.note(drawer, "s1", outcomes=ended) is True
    found = await sessions.find(drawer, "s1")
    shown = to_json(views.show_recovery(found.session, found.steps))

    (pattern,) = shown["errorPatterns"]
    assert (pattern["kind"], pattern["count"], pattern["lastSeen"]) == ("blocked", 7, "2023-11-14T22:13:26Z")
    assert pattern["affectedUrls"] == [f"https://a.example/{at}" for at in (6, 5, 4, 3, 2)]
    assert pattern["suggestion"] == views.ADVICE["blocked"]
    assert shown["providerStats"] == {
        "north": {"attempts": 8, "successes": 0},
        "south": {"attempts": 1, "successes": 1},
    }


async def test_only_the_newest_outcomes_are_remembered(drawer):
    await begin(drawer)

    await sessions.note(drawer, "s1", outcomes=[make_outcome("p", step=at) for at in range(450)])

    found = (await sessions.find(drawer, "s1")).session.outcomes
    assert (len(found), found[0].step) == (200, 250)


# --- whose ------------------------------------------------------------------------------------------------------------


async def test_a_session_of_somebody_else_is_not_there(store, drawer):
    await begin(drawer)
    theirs = store.drawer("sessions", BOB)

    with pytest.raises(sessions.SessionLost) as lost:
        await proceed(theirs, told(4))

    block = lost.value.to_json()["error"]
    assert block["kind"] == "session_not_found"
    assert block["recoveryHint"] == {"lastKnownStep": 3, "canResume": False}
    assert await sessions.note(theirs, "s1", "web", [{"url": "https://a.example"}]) is False
    assert (await sessions.find(drawer, "s1")).session.sources == []


@pytest.mark.parametrize("id_", ["", "x" * 101, "absent", "../s1", "\0"])
async def test_an_id_that_names_nothing_is_the_same_answer_whatever_it_is(drawer, id_):
    await begin(drawer)

    with pytest.raises(Fault, match="no such session, or it has expired"):
        await sessions.find(drawer, id_)


async def test_a_session_lives_four_hours_from_its_last_use(drawer, clock):
    await begin(drawer)

    clock.now += 3.9 * 3600
    await sessions.find(drawer, "s1")
    clock.now += 3.9 * 3600
    assert await sessions.find(drawer, "s1")
    clock.now += 4.1 * 3600
    with pytest.raises(sessions.SessionLost):
        await sessions.find(drawer, "s1")


async def test_a_session_that_goes_while_a_step_is_told_is_lost_like_any_other(drawer, monkeypatch):
    await begin(drawer)
    append = drawer.append

    async def make_room_first(key, event, **more):
        await drawer.delete(key)
        return await append(key, event, **more)

    monkeypatch.setattr(type(drawer), "append", lambda _, *given, **more: make_room_first(*given, **more))

    with pytest.raises(sessions.SessionLost) as lost:
        await proceed(drawer, told(4))

    assert lost.value.last_step == 3


async def test_after_the_clock_was_put_back_new_sessions_do_not_crowd_each_other_out(drawer, clock):
    year = 365 * 86_400
    clock.now += year
    for at in range(50):
        await sessions.begin(drawer, told(1), new_id=f"ahead{at}", now=NOW)
    clock.now -= year

    for at in range(3):
        clock.now += 1
        await sessions.begin(drawer, told(1), new_id=f"now{at}", now=NOW)

    for at in range(3):
        assert (await sessions.find(drawer, f"now{at}")).steps


async def test_a_session_of_the_longest_sources_and_questions_goes_on(drawer):
    wide = "\U0001f9a6"
    rows = [
        {"url": f"https://{at}.example/" + "x" * 2000, "title": wide * 500, "author": wide * 300, "year": "y" * 40}
        for at in range(500)
    ]
    await begin(drawer, *(told(at, gap=f"{at} " + wide * 990) for at in range(2, 102)))
    assert await sessions.note(drawer, "s1", "web", rows)
    await sessions.note(drawer, "s1", outcomes=[make_outcome("p" * 40, "network", url="x" * 2048, step=1)] * 200)

    taken = await proceed(drawer, told(102, summary=wide * 8000))

    assert (len(taken.session.sources), len(taken.session.open_gaps)) == (500, 100)


async def test_the_fifty_first_session_takes_the_place_of_the_one_used_longest_ago(drawer, clock):
    for at in range(51):
        clock.now += 1
        await sessions.begin(drawer, told(1), new_id=f"s{at}", now=NOW)

    with pytest.raises(sessions.SessionLost):
        await sessions.find(drawer, "s0")
    assert await drawer.count() == 50


# --- sources ----------------------------------------------------------------------------------------------------------


async def test_sources_are_merged_by_address_and_doi_and_learn_what_they_lacked(drawer):
    await begin(drawer)

    await sessions.note(
        drawer, "s1", "web", [{"url": "http://www.a.example/x/?utm_source=n#top"}, {"link": "https://b.example"}], 2
    )
    await sessions.note(drawer, "s1", "web", [{"url": "https://a.example/x", "title": "Title", "date": "2021"}], 3)
    await sessions.note(
        drawer,
        "s1",
        "paper",
        [{"url": "https://p.example/1", "doi": "https://doi.org/10.1234/AbC.", "authors": ["A", {"name": "B"}]}],
    )
    await sessions.note(
        drawer,
        "s1",
        "paper",
        [{"doi": "10.1234/abc", "title": "Paper", "year": 2020}, {"title": "no address"}, "noise"],
    )

    found = (await sessions.find(drawer, "s1")).session.sources
    assert [(one.url, one.title, one.kind, one.found_in) for one in found] == [
        ("http://www.a.example/x/?utm_source=n#top", "Title", "web", 2),
        ("https://b.example", "", "web", 2),
        ("https://p.example/1", "Paper", "paper", 1),
    ]
    assert [one.found_again_in for one in found] == [[3], None, None]
    assert (found[2].doi, found[2].author, found[2].date) == ("10.1234/abc", "A; B", "2020")
    assert to_json(found[2])["foundInStep"] == 1
    assert to_json(found[0])["foundAgainInSteps"] == [3]


async def test_what_a_call_finds_belongs_to_the_step_that_was_told_last(drawer):
    await begin(drawer, told(7))
    await sessions.note(drawer, "s1", "web", [{"url": "https://a.example/"}])
    await proceed(drawer, told(3))
    for _ in range(2):
        await sessions.note(drawer, "s1", "web", [{"url": "https://a.example/"}, {"url": "https://b.example/"}])

    found = (await sessions.find(drawer, "s1")).session.sources

    assert [(one.found_in, one.found_again_in) for one in found] == [(7, [3]), (3, None)]
    assert [document.name_steps(one) for one in found] == ["steps 7, 3", "step 3"]


async def test_a_source_remembers_twenty_more_of_its_steps(drawer):
    await begin(drawer, *[told(number) for number in range(2, 31)])
    for step in range(1, 31):
        await sessions.note(drawer, "s1", "web", [{"url": "https://a.example/"}], step)

    found = (await sessions.find(drawer, "s1")).session.sources

    assert (found[0].found_in, found[0].found_again_in) == (1, list(range(2, 22)))


def test_sources_beyond_the_bound_are_counted_and_known_ones_still_learn():
    session = sources.merge_sources(make_session(), [make_source(f"https://a.example/{at}") for at in range(503)])

    session = sources.merge_sources(session, [make_source("https://a.example/7", title="late")])

    assert (len(session.sources), session.more_sources, session.sources[7].title) == (500, 3, "late")


@pytest.mark.parametrize(
    ("row", "title", "date"),
    [
        (
            {"company": "Otter Inc.", "formType": "10-K", "periodOfReport": "2025-09-27", "filingDate": "2025-10-31"},
            "Otter Inc. 10-K (2025-09-27)",
            "2025-10-31",
        ),
        ({"company": "Otter Inc.", "formType": "8-K"}, "Otter Inc. 8-K", None),
        ({"formType": "4"}, "4", None),
        ({"caseName": "Otter v. Beaver", "dateFiled": "2014-11-17"}, "Otter v. Beaver", "2014-11-17"),
        ({"id": "MONDO:1", "label": "otter lung"}, "otter lung", None),
        ({"subjectId": "HGNC:1", "subjectLabel": "OTR1", "objectLabel": "otter lung"}, "OTR1", None),
    ],
)
def test_every_tool_calls_its_sources_by_a_name_of_its_own(row, title, date):
    (source,) = sources.read_sources([{"url": "https://a.example", **row}], "web")

    assert (source.title, source.date) == (title, date)


def test_a_paper_and_a_page_are_kept_with_all_that_a_citation_needs():
    paper = {
        "url": "https://a.example",
        "title": "T",
        "authors": ["Ada Diver", "Weir"],
        "journal": "Otters",
        "year": 2021,
    }
    page = {"url": "https://b.example", "title": "T", "author": "Ada Diver", "site": "Otter News"}
    said = {"published": "2021-03-04", "detectedDoi": "10.1234/abc"}

    found = sources.read_sources([paper, {**page, **said}], "web")

    assert [(one.author, one.site, one.date, one.doi) for one in found] == [
        ("Ada Diver; Weir", "Otters", "2021", None),
        ("Ada Diver", "Otter News", "2021-03-04", "10.1234/abc"),
    ]


@pytest.mark.parametrize(
    ("known", "found", "kept"),
    [
        ("", "What otters eat", "What otters eat"),
        ("What otters …", "What otters eat", "What otters eat"),
        ("What otters...", "What otters eat", "What otters eat"),
        ("What otters eat - Otter News", "What otters eat", "What otters eat"),
        ("What otters eat", "", "What otters eat"),
        ("What otters eat", "What badgers eat", "What otters eat"),
        ("What otters eat", "What otters eat - Otter News", "What otters eat"),
        ("What otters eat in winter", "What otters eat", "What otters eat in winter"),
        ("Otters…", "Badgers", "Otters…"),
        ("Otters.", "Otters and badgers", "Otters."),
    ],
)
def test_a_title_as_a_search_shows_it_gives_way_to_that_of_the_page(known, found, kept):
    one = make_session(sources=[make_source("https://a.example/x", title=known)])

    (source,) = sources.merge_sources(one, [make_source("https://a.example/x", title=found)]).sources

    assert source.title == kept


def test_more_names_than_there_is_room_for_are_cut_between_two_of_them():
    names = [f"Ada Marie Diver-Swimmer the {at}th of Holt" for at in range(20)]

    (found,) = sources.read_sources([{"url": "https://a.example", "authors": names}], "paper")

    assert 500 < len(found.author) <= 600
    assert set(found.author.split("; ")) < set(names)


def test_the_answer_to_a_step_shows_the_newest_and_says_who_tells_all():
    def show(count, mode=""):
        many = [make_source(f"https://a.example/{at}") for at in range(count)]
        steps = [make_step(at) for at in range(count)]
        session = sources.merge_sources(make_session(), many)
        return tuple(
            map(
                to_json,
                (
                    views.show_progress(session, steps, number=1, mode=mode, elsewhere="recall tells the others"),
                    views.show_recovery(session, steps),
                ),
            )
        )

    (few, _), (many, whole), (full, _) = show(50), show(52), show(52, "full")

    assert ("warning" in few, len(few["sources"]), len(few["stepIndex"])) == (False, 50, 50)
    assert [one["url"] for one in many["sources"]] == [f"https://a.example/{at}" for at in range(2, 52)]
    assert [one["stepNumber"] for one in many["stepIndex"]] == list(range(2, 52))
    assert many["warning"] == (
        "Of 52 steps only the newest 50 are shown here; recall tells the others. "
        "Of 52 sources only the newest 50 are shown here; recall tells the others."
    )
    assert (len(full["steps"]), len(full["sources"])) == (52, 50)
    assert (len(whole["stepIndex"]), len(whole["sources"]), whole["sourceCount"]) == (52, 50, 52)


@pytest.mark.parametrize("length", [5, 1900])
def test_all_sources_of_a_session_are_told_page_by_page_in_answers_of_a_bounded_size(length):
    many = [make_source(f"https://a.example/{at}/{'x' * length}") for at in range(300)]
    session, steps = sources.merge_sources(make_session(), many), [make_step(1)]
    pages, offset = [], 0
    while offset is not None:
        pages.append(to_json(views.show_recovery(session, steps, offset)))
        offset = pages[-1].get("nextOffset")

    urls = [source["url"] for page in reversed(pages) for source in page["sources"]]
    assert urls == [source.url for source in many]
    assert max(count_tokens(json.dumps(page)) for page in pages) <= views.ANSWER_TOKENS
    assert {page["sourceCount"] for page in pages} == {300}
    told = len(pages[0]["sources"])
    assert pages[0]["note"] == (
        f"Of 300 sources {told} are shown, those that were found last. Those before them: offset {told}."
    )
    assert "note" not in pages[-1]
    assert [("lastSteps" in page, page["responseMode"]) for page in pages[:2]] == [
        (True, "summary"),
        (False, "sources"),
    ]


def test_a_page_behind_the_last_source_is_empty():
    session = sources.merge_sources(make_session(), [make_source("https://a.example/")])

    page = to_json(views.show_recovery(session, [make_step(1)], 7))

    assert (page["sources"], page["sourceCount"], "nextOffset" in page) == ([], 1, False)


def test_a_patent_has_an_inventor_and_a_place_a_website():
    patent = {"url": "https://a.example", "title": "Raft", "inventor": "Ada Diver", "filed": "2019-01-02"}
    found = sources.read_sources([patent, {**patent, "granted": "2021-03-04"}], "patent")
    (place,) = sources.read_sources([{"name": "Holt", "website": "https://holt.example"}], "local")

    assert [(one.author, one.date) for one in found] == [("Ada Diver", "2019-01-02"), ("Ada Diver", "2021-03-04")]
    assert (place.url, place.title) == ("https://holt.example", "Holt")


@given(st.text(max_size=60))
def test_any_text_is_an_address_that_can_be_read(text):
    for url in (text, "https://" + text):
        sources.describe_coverage([make_source(url)])
    sources.read_sources([{"url": "https://" + text, "doi": text, "authors": [text, {}]}], "web")


SESSIONS = st.builds(
    trail.ResearchSession,
    id=st.text(min_size=1),
    goal=st.text(min_size=1),
    started=st.floats(0, 1e10),
    estimate=st.integers(0, 99),
    gaps=st.lists(st.builds(trail.Gap, description=st.text(min_size=1), found_in=st.sampled_from([None, 3]))),
    sources=st.lists(st.builds(trail.SitedSource, url=st.text(min_size=1), site=st.sampled_from([None, "x"]))),
    outcomes=st.lists(st.builds(trail.CallOutcome, provider=st.text(min_size=1), timestamp=st.text(min_size=1))),
)


@given(SESSIONS)
def test_a_session_is_read_as_it_was_written(session):
    assert trail.load_session(json.loads(json.dumps(trail.dump(session)))) == session


def test_a_step_of_a_later_version_is_read():
    step = replace(make_step(2), rejected=["a", "b"])

    assert trail.load(trail.SessionStep, {**trail.dump(step), "novel": 1}) == step


def test_what_an_earlier_version_kept_is_read():
    step = trail.load(trail.SessionStep, {"number": 2, "description": "d", "at": NOW, "branches_from": 1})
    session = trail.load_session(
        {
            "id": "s",
            "goal": "g",
            "started": NOW,
            "tenant": "",
            "gaps": [{"description": "How deep?", "found_in": 1}],
            "sources": [{"url": "https://a.example/", "kind": "web", "seen": 2}],
            "more_sources": 0,
            "outcomes": [{"provider": "north", "error": "network", "at": NOW}, {"provider": "south", "at": NOW}],
        }
    )

    assert (step.timestamp, step.branches_from) == ("2023-11-14T22:13:20Z", 1)
    assert (session.gaps[0].found_in, session.sources[0].kind) == (1, "web")
    assert [(one.success, one.timestamp) for one in session.outcomes] == [
        (False, "2023-11-14T22:13:20Z"),
        (True, "2023-11-14T22:13:20Z"),
    ]


# --- coverage ---------------------------------------------------------------------------------------------------------


def source(host, kind="web", at=0):
    return make_source(f"https://{host}/{at}", kind=kind)


def test_coverage_counts_hosts_and_types_and_says_what_is_thin():
    def describe(*some):
        return to_json(sources.describe_coverage(some))

    wide = describe(source("a.example"), source("b.example", "paper"), source("www.a.example", "news", 1))
    narrow = describe(*(source("a.example", at=at) for at in range(2)))

    assert wide == {
        "sourceCount": 3,
        "uniqueDomains": 2,
        "domainSpread": 0.67,
        "dominantDomain": "a.example",
        "sourceTypes": {"news": 1, "paper": 1, "web": 1},
        "gaps": ["67 % of the sources are from a.example."],
    }
    assert narrow["gaps"] == sorted(narrow["gaps"])
    assert len(narrow["gaps"]) == 3
    assert describe()["gaps"] == ["No sources have been recorded yet."]
    assert "dominantDomain" not in describe(source("a.example"))


# --- exported ---------------------------------------------------------------------------------------------------------


HOSTILE = "# [x](javascript:alert(1)) <script>`a` *b* ![i](http://e) | $m$ &lt;\n\n---\n1. list"


DEAD = document.LinkState(
    http_status=404, verified=False, archived_url="https://archive.example/1", verified_at="2023-11-14T22:13:20Z"
)


def to_report(found):
    return export.export_session(found, "markdown", now=NOW, tenant="acme").document


async def make_trail(drawer):
    await begin(
        drawer,
        told(2, "second *look*", gap="How deep?", reasoning="because", confidence="low", rejected=("guessing",)),
        told(
            3, HOSTILE, is_revision=True, revises=1, branch=HOSTILE, branches_from=2, settled=("how deep",), gap=HOSTILE
        ),
    )
    await sessions.note(
        drawer,
        "s1",
        "paper",
        [
            {
                "url": "https://a.example/x(1)>y z",
                "title": HOSTILE,
                "author": HOSTILE,
                "year": 2020,
                "doi": "10.1234/abc",
            },
            {"url": "https://dead.example/"},
        ],
        2,
    )
    return await sessions.find(drawer, "s1")


def test_the_words_of_one_question_settle_no_other_however_near():
    gaps = [trail.Gap(description=one, found_in=1) for one in ("Do they sleep?", "Do they eat crabs?")]

    settled = trail.settle(gaps, ["do they eat crabs"], 4)

    assert [gap.settled_in for gap in settled] == [None, 4]


async def test_a_report_has_steps_questions_sources_and_where_it_comes_from(drawer):
    found = await make_trail(drawer)
    links = {"https://dead.example/": DEAD}

    answer = to_json(export.export_session(found, "markdown", now=NOW, tenant="acme", links=links))

    report = answer["document"]
    assert answer["stepCount"] == 3
    for part in (
        "# Why do otters hold hands\n",
        "- Session: `s1`\n- Started: 2023-11-14T22:13:21Z\n- Steps: 3\n- Sources: 2\n",
        "### Step 1 (superseded by step 3)\n",
        "second \\*look\\*\n\n- Reasoning: because\n- Confidence: low\n- Rejected:\n  - guessing\n",
        "- Told: 2023-11-14T22:13:22Z\n",
        "### Step 3 (revises step 1, branch ",
        " from step 2)\n",
        "## Settled questions\n\n- How deep? (settled in step 3)\n",
        "2. [https://dead.example/](<https://dead.example/>) \\[paper\\] (step 2) – dead, [archived copy](<https://archive.example/1>)\n",
        ". 2020. doi:10.1234/abc \\[paper\\] (step 2)\n",
        "Exported 2023-11-14T22:13:20Z for tenant acme.",
    ):
        assert part in report, part
    assert report.endswith("external content.\n")
    assert "\n\n\n" not in report
    assert "Summary" not in report


async def test_branches_and_revisions_are_a_tree_in_which_each_step_has_its_sources(drawer):
    await begin(
        drawer,
        told(2),
        told(3, branch="crabs", branches_from=1),
        told(4, branch="crabs"),
        told(5, is_revision=True, revises=4),
        told(6, branch="lost"),
        told(7, branches_from=99),
    )
    for step in (3, 5):
        await sessions.note(drawer, "s1", "web", [{"url": f"https://a.example/{step}"}], step)
    await sessions.note(drawer, "s1", "web", [{"url": "https://a.example/3"}], 5)

    exported = to_json(document.to_document(await sessions.find(drawer, "s1")))

    crabs = {"relation": "branch", "branchId": "crabs"}
    revision = {"stepNumber": 5, "relation": "revision", "sources": [1, 2]}
    assert exported["tree"] == [
        {
            "stepNumber": 1,
            "steps": [
                {"stepNumber": 3, **crabs, "sources": [1]},
                {"stepNumber": 4, **crabs, "supersededBy": 5, "steps": [revision]},
            ],
        },
        {"stepNumber": 2},
        {"stepNumber": 6, "branchId": "lost"},
        {"stepNumber": 7},
    ]


async def test_a_tree_of_revisions_of_revisions_has_an_end(drawer):
    await begin(drawer, *[told(number, is_revision=True, revises=number - 1) for number in range(2, 40)])
    found = await sessions.find(drawer, "s1")

    tree = list(walk(to_tree(found.steps)))

    assert [node.step_number for _, node in tree] == list(range(1, 40))
    assert max(level for level, _ in tree) == DEEPEST


async def test_a_session_without_turns_has_no_tree_in_its_report(drawer):
    await begin(drawer, told(2))

    assert "Tree" not in to_report(await sessions.find(drawer, "s1"))


async def test_a_report_begins_with_the_summary_that_was_told(drawer):
    await begin(drawer, told(2, summary=f"Otters drift apart otherwise.\n# {HOSTILE}"))
    found = await sessions.find(drawer, "s1")

    report = to_report(found)

    escaped = export.escape(f"Otters drift apart otherwise. # {HOSTILE}")
    assert f"- Sources: 0\n\n## Summary\n\n{escaped}\n\n## Steps\n\n### Step 1" in report
    assert [line for line in report.splitlines() if line.startswith("#")][-3:] == [
        "### Step 2",
        "## Open questions",
        "## Sources",
    ]
    assert "\n\n\n" not in report


async def test_nothing_from_outside_is_markup_in_a_report(drawer):
    report = to_report(await make_trail(drawer))

    assert "<script>" not in report.replace("\\<", "")
    links = re.findall(r"(?<!\\)\]\(<?([^)>]*)", report)
    assert sorted(set(links)) == ["https://a.example/x(1", "https://dead.example/"] or all(
        link.startswith("https://") for link in links
    )
    headings = [line for line in report.splitlines() if line.startswith("#")]
    assert [line.split()[1] for line in headings] == [
        "Why",
        "Tree",
        "Steps",
        "Step",
        "Step",
        "Step",
        "Open",
        "Settled",
        "Sources",
    ]


@given(st.text(max_size=80))
def test_escaped_text_is_one_line_without_active_markup(text):
    escaped = export.escape(text)

    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>#|~]", escaped)
    assert not re.match(r"[-+=:]|\d+[.)]", escaped)


async def test_the_same_session_gives_the_same_document(drawer):
    first = await make_trail(drawer)

    again = await sessions.find(drawer, "s1")

    for form in ("markdown", "json"):
        one = to_json(export.export_session(first, form, now=NOW, tenant="t"))
        assert json.dumps(one) == json.dumps(to_json(export.export_session(again, form, now=NOW, tenant="t")))


async def test_the_whole_session_is_exported_as_data(drawer):
    found = await make_trail(drawer)
    links = {"https://dead.example/": DEAD}

    exported = to_json(export.export_session(found, "json", now=NOW, tenant="acme", links=links))["document"]
    await sessions.note(
        drawer,
        "s1",
        outcomes=[make_outcome("brave", "network", url="https://a.example/", step=2), make_outcome("serper")],
    )
    met = to_json(document.to_document(await sessions.find(drawer, "s1")))

    assert [step["stepNumber"] for step in exported["steps"]] == [1, 2, 3]
    assert exported["steps"][0]["supersededBy"] == 3
    assert exported["sources"][1] == {
        "url": "https://dead.example/", "title": "", "relevance": "paper", "foundInStep": 2, "httpStatus": 404,
        "verified": False, "archivedUrl": "https://archive.example/1", "verifiedAt": "2023-11-14T22:13:20Z",
    }  # fmt: skip
    assert len(exported["gaps"]) == 2
    assert met["outcomes"] == [
        {
            "provider": "brave", "success": False, "errorKind": "network", "url": "https://a.example/",
            "stepNumber": 2, "timestamp": "2023-11-14T22:13:20Z",
        },
        {"provider": "serper", "success": True, "timestamp": "2023-11-14T22:13:20Z"},
    ]  # fmt: skip
