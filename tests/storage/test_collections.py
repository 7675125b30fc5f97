"""Collections are declared in YAML: read, checked against what code relies on, layered, and opened by what serves."""

from pathlib import Path

import pytest

from specloom.compiler.build import weave, weave_from
from specloom.compiler.collection import find_lack, keepers, load_collections, reached_by
from specloom.core.diagnostics import Report
from specloom.plugins.collections import ENGINE_NEEDS, CollectionNeed, CollectionSpec
from specloom.plugins.registry import OBSERVERS, PROCEDURES, load_hooks
from specloom.specs.library import Library, parse_spec, shipped_root
from specloom.storage.state import StateStores

NOTES = """\
spec: collection/1
name: demo_notes
title: Notes
description: Notes of a user.
scope: user
encryption: author
"""
HOUR, DAY = 3600.0, 86_400.0
KIBIBYTE, MEBIBYTE = 1024, 1024 * 1024


def compile_notes(more: str = "", text: str = NOTES):
    report, library = Report(), Library()
    spec = parse_spec("memory/demo_notes.yaml", (text + more).encode(), report, library)
    if spec is not None:
        library.specs[spec.kind, spec.name] = spec
    model = weave(library, report)
    return model.collections.get("demo_notes"), [f"{one.code}: {one.message}" for one in report]


def test_a_declaration_is_read_whole():
    found, problems = compile_notes(
        """\
lifetime: 90m
sliding: true
limits: {items: 7, when_full: evict, value: 2KiB, bytes: 1MiB, events: 9}
indexes: [topic]
search: [note, tags]
config:
  DEMO_TTL: {sets: lifetime, description: How long.}
  DEMO_ITEMS: {sets: items, description: How many.}
  DEMO_EVENTS: {sets: events, description: How many entries.}
"""
    )

    assert problems == []
    assert found.spec == CollectionSpec(
        "demo_notes",
        lifetime=5400.0,
        sliding=True,
        max_items=7,
        when_full="evict",
        max_value=2 * KIBIBYTE,
        max_bytes=MEBIBYTE,
        max_events=9,
        indexes=("topic",),
        search=("note", "tags"),
        variables=(("lifetime", "DEMO_TTL"), ("max_items", "DEMO_ITEMS"), ("max_events", "DEMO_EVENTS")),
    )
    assert {one.name: (one.kind, one.default) for one in found.settings.values()} == {
        "DEMO_TTL": ("text", "90m"),
        "DEMO_ITEMS": ("integer", 7),
        "DEMO_EVENTS": ("integer", 9),
    }


def test_what_is_left_out_is_what_the_engine_has_for_it():
    found, problems = compile_notes()

    assert problems == []
    assert found.spec == CollectionSpec("demo_notes")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("sliding: true\n", "E105: an item without a lifetime has none that could slide"),
        ("indexes: [topic, topic]\n", "E104: topic stands twice"),
        ("limits: {value: 2MiB, bytes: 1MiB}\n", "E104: one value may have 2097152 bytes, and all together 1048576"),
        (
            "config:\n  A_TTL: {sets: lifetime, description: A.}\n  B_TTL: {sets: lifetime, description: B.}\n",
            "E104: A_TTL and B_TTL both set `lifetime`",
        ),
        (
            "config:\n  AUDIT_MAX_BYTES: {sets: items, description: A.}\n",
            "E104: AUDIT_MAX_BYTES is a variable of the engine",
        ),
        (
            "config:\n  DEMO_EVENTS: {sets: events, description: A.}\n",
            "E104: DEMO_EVENTS bounds the events of items that have none",
        ),
        ("lifetime: soon\n", "E104: `lifetime` cannot be 'soon'"),
        ("limits: {items: 0}\n", "E104: `items` is 0; it may be 1 to 1e+06"),
        ("owner: user\n", "E101: a collection has no key 'owner'"),
    ],
)
def test_a_declaration_that_is_not_right_is_told_at_its_place(more, problem):
    found, problems = compile_notes(more)

    assert found is None
    assert problems == [problem]


@pytest.mark.parametrize("word", ["none", "false", "plain"])
def test_nothing_can_be_declared_to_lie_in_the_clear(word):
    found, problems = compile_notes(text=NOTES.replace("encryption: author", f"encryption: {word}"))

    assert found is None
    assert "`encryption` " in problems[0]


# --- what code relies on ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("needed", "lack"),
    [
        (CollectionNeed("x"), ""),
        (CollectionNeed("x", "shared"), "is user and not shared"),
        (CollectionNeed("x", lifetime=True), "has no lifetime"),
        (CollectionNeed("x", events=True), "has no events"),
        (CollectionNeed("x", indexes=("topic",)), "has no index 'topic'"),
        (CollectionNeed("x", search=True), "has no fields that a search reads"),
    ],
)
def test_what_a_collection_lacks_is_the_end_of_a_sentence(needed, lack):
    full = CollectionSpec("x", needed.scope, lifetime=1.0, max_events=1, indexes=("topic",), search=("note",))

    assert find_lack(CollectionSpec("x"), needed) == lack
    assert find_lack(full, needed) == ""


def test_a_tool_whose_procedure_keeps_things_in_no_collection_is_told():
    text = (shipped_root() / "tools.d/research/sequential_search.yaml").read_text(encoding="utf-8")
    report, library = Report(), Library()
    spec = parse_spec("memory/sequential_search.yaml", text.encode(), report, library)
    library.specs[spec.kind, spec.name] = spec
    weave(library, report)

    assert "'take_step' keeps something in 'sessions', and no collection is called that" in [
        one.message for one in report if one.code == "E110"
    ]


def test_every_shipped_collection_is_kept_by_somebody_and_everything_kept_is_shipped():
    load_hooks()
    declared = load_collections([shipped_root()])
    needed = {one.name for one in ENGINE_NEEDS}
    needed |= {one.name for each in (*PROCEDURES.values(), *OBSERVERS.values()) for one in each.keeps}
    tools = weave_from([shipped_root()], examples=False)[0].tools.values()
    needed |= {name for tool in tools for name in reached_by(tool)}

    assert set(declared) == needed
    assert keepers("memories", tools) == ["memory_delete", "memory_recall", "memory_save"]
    assert keepers("sessions") == [
        "change_session",
        "export_session",
        "recover_session",
        "session_sources",
        "session_text",
        "sessions_text",
        "take_step",
    ]


def test_the_bounds_are_those_of_the_tool_contract():
    found = load_collections([shipped_root()])

    sessions = found["sessions"]
    assert (sessions.lifetime, sessions.sliding) == (4 * HOUR, True)
    assert (sessions.max_items, sessions.when_full, sessions.max_events) == (50, "evict", 200)
    assert (found["memories"].lifetime, found["memories"].max_items) == (90 * DAY, 5000)
    assert (found["findings"].lifetime, found["findings"].max_items) == (30 * DAY, 5000)
    assert (found["watches"].lifetime, found["watches"].max_items) == (90 * DAY, 100)
    assert found["artifacts"].lifetime == HOUR / 2
    assert {one.name for one in found.values() if one.scope == "shared"} == {"findings", "members"}
    assert found["consents"].lifetime is None
    assert found["usage"].lifetime is None


# --- layers -----------------------------------------------------------------------------------------------------------


def lay(root: Path, name: str, text: str) -> Path:
    (root / "collections.d").mkdir(parents=True, exist_ok=True)
    (root / "collections.d" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return root


def test_a_later_layer_cannot_leave_out_the_consent_that_a_collection_was_declared_with(tmp_path):
    text = (shipped_root() / "collections.d/memories.yaml").read_text(encoding="utf-8")
    own = lay(tmp_path, "memories", text.replace("consent: memory\n", ""))

    with pytest.raises(ValueError, match="without the consent that it was declared with"):
        load_collections([shipped_root(), own])


def test_a_later_layer_replaces_a_collection_whole(tmp_path):
    text = (shipped_root() / "collections.d/memories.yaml").read_text(encoding="utf-8")
    own = lay(tmp_path, "memories", text.replace("lifetime: 90d", "lifetime: 7d"))

    found = load_collections([shipped_root(), own])

    assert found["memories"].lifetime == 7 * DAY
    assert found["sessions"] == load_collections([shipped_root()])["sessions"]


def test_a_layer_with_a_broken_collection_opens_no_store(tmp_path):
    own = lay(tmp_path, "memories", "spec: collection/1\nname: memories\n")

    with pytest.raises(ValueError, match=r"memories.yaml:1:1: a collection needs the key .*; run `specloom check`"):
        load_collections([shipped_root(), own])


async def test_what_serves_opens_the_declared_collections_with_the_operators_bounds(tmp_path):
    declared = load_collections([shipped_root()])
    environ = {"SPECLOOM_STATE_DIR": str(tmp_path), "MEMORY_RETENTION": "12h", "SESSION_MAX_STEPS": "3"}
    memory = StateStores(environ, declared.values())

    assert memory.drawer("memories", "acme:ann").spec.lifetime == 12 * HOUR
    assert memory.drawer("sessions", "acme:ann").spec.max_events == 3
    assert memory.drawer("watches", "acme:ann").spec == declared["watches"]
    await memory.aclose()
