"""`recall`, `save` and `delete`: what a plan does with what is kept of its caller, and what is held against that."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from specloom.authoring.explain import explain
from specloom.core.faults import Fault
from specloom.runtime import Unsent
from specloom.runtime.executor import Executor
from specloom.storage.store import StateStore, open_memory
from tests.support.spec_library import NOW, Woven, a_tool, weave_texts

NOTES = """
spec: collection/1
name: notes
title: Notes
description: For tests.
scope: {scope}
encryption: author
lifetime: 1d
{more}
fields:
  text: {{type: text, required: true, description: The note.}}
  topic: {{type: text, description: What it is about.}}
  count: {{type: integer, required: true, description: How often it was saved.}}
indexes: [topic]
search: [text]
"""
COUNT = "count: 'add(not_null(was.count, `0`), `1`)'"
SAVE = f"{{into: notes, key: args.query, value: {{text: args.query, topic: args.topic, {COUNT}}}}}"
SAYS = {
    word: f"{{read_only: {reads}, destructive: {deletes}, idempotent: true, open_world: false}}"
    for word, reads, deletes in (
        ("recall", "true", "false"),
        ("save", "false", "false"),
        ("delete", "false", "true"),
    )
}
DELETE = "{from: notes, key: args.query}"
ENGINE = [
    f"spec: collection/1\nname: {name}\ntitle: T\ndescription: D.\nscope: {scope}\nencryption: author\n"
    for name, scope in (("consents", "user"), ("members", "shared"))
]
TOPIC = "topic: {type: string, description: What it is about.}\n"
ANSWER = """\
status: =parts.it.status
reason: =parts.it.reason
rows: =parts.it.rows
"""


def notes(scope: str = "user", more: str = "") -> str:
    return NOTES.format(scope=scope, more=more)


def plan(word: str, text: str) -> str:
    return f"- name: reach\n  collect:\n    parts:\n      it: {{{word}: {text}}}\n"


def a_note_tool(word: str, text: str, *, name: str, answer: str = ANSWER, more: str = "", says: str = "") -> str:
    made = a_tool(plan=plan(word, text), inputs=TOPIC, answer=answer, more=more)
    told = "\n".join(
        f"annotations: {says or SAYS[word]}" if line.startswith("annotations:") else line for line in made.split("\n")
    )
    return told.replace("name: sample", f"name: {name}", 1)


def codes(*texts: str) -> list[str]:
    return weave_texts(*texts).codes


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


class Notes:
    """Tools that save and recall, over one store."""

    def __init__(self, *texts: str, collection: str = "") -> None:
        self.woven: Woven = weave_texts(*ENGINE, collection or notes(), *texts)
        assert self.woven.report.errors == [], self.woven.sentences
        self.clock = Clock()
        self.store: StateStore = open_memory(
            [one.spec for one in self.woven.model.collections.values()], clock=self.clock
        )
        self.executor = Executor(
            self.woven.model, environ={}, sender=Unsent(), drawers=self.store, clock=self.clock, validate=True
        )

    async def call(self, tool: str, owner: str = "acme:ann", **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads((await self.executor.call(tool, arguments, owner=owner)).body)
        return answer


async def test_what_is_saved_is_recalled_by_key_by_index_and_by_words_and_by_its_owner_alone() -> None:
    kept = Notes(
        a_note_tool("save", SAVE, name="put"),
        a_note_tool("recall", "{from: notes, key: args.query}", name="get"),
        a_note_tool("recall", "{from: notes, where: {topic: args.topic}, take: '`1`'}", name="some"),
        a_note_tool("recall", "{from: notes, about: args.query}", name="about"),
    )
    await kept.call("put", query="otters swim", topic="sea")
    await kept.call("put", query="badgers dig", topic="land")

    by_key = await kept.call("get", query="otters swim")
    by_index = await kept.call("some", query="x", topic="land")
    newest = await kept.call("some", query="x")
    by_words = await kept.call("about", query="a swimming otter")
    of_others = await kept.call("get", "acme:bob", query="otters swim")

    otter, badger = (
        {"text": "otters swim", "topic": "sea", "count": 1},
        {"text": "badgers dig", "topic": "land", "count": 1},
    )
    assert [one["rows"] for one in (by_key, by_index, newest, by_words, of_others)] == [
        [otter],
        [badger],
        [badger],
        [otter],
        [],
    ]
    assert by_key["status"] == "ok"


async def test_what_was_there_is_seen_in_the_same_transaction() -> None:
    kept = Notes(a_note_tool("save", SAVE, name="put"))

    await asyncio.gather(*(kept.call("put", query="otters", topic=f"t{at}") for at in range(9)))

    assert (await kept.call("put", query="otters"))["rows"][0]["count"] == 10


async def test_a_key_of_several_parts_and_a_new_one_name_different_items() -> None:
    kept = Notes(
        a_note_tool("save", SAVE.replace("key: args.query", 'key: "[args.query, args.topic]"'), name="put"),
        a_note_tool("save", SAVE.replace("key: args.query, ", "").replace("text: args.query", "text: key"), name="new"),
        a_note_tool("recall", "{from: notes}", name="all"),
    )
    await kept.call("put", query="a", topic="b")
    await kept.call("put", query="a b")
    made = await kept.call("new", query="a")

    rows = (await kept.call("all", query="x"))["rows"]

    assert len(rows) == 3
    assert len(made["rows"][0]["text"]) == 36


async def test_an_item_ends_when_it_is_told_to_and_never_later_than_its_collection_says() -> None:
    kept = Notes(
        a_note_tool("save", SAVE[:-1] + ", lasts: '`60`'}", name="short"),
        a_note_tool("save", SAVE[:-1] + ", lasts: '`864000`'}", name="long"),
        a_note_tool("recall", "{from: notes}", name="all"),
    )
    await kept.call("short", query="short")
    await kept.call("long", query="long")

    kept.clock.now += 61
    after_a_minute = await kept.call("all", query="x")
    kept.clock.now += 86_400
    after_a_day = await kept.call("all", query="x")

    assert [one["text"] for one in after_a_minute["rows"]] == ["long"]
    assert after_a_day["rows"] == []


async def test_only_what_is_there_is_written_where_that_is_said() -> None:
    there = SAVE[:-1] + ", only_there: true}"
    kept = Notes(a_note_tool("save", SAVE, name="put"), a_note_tool("save", there, name="again"))

    nothing = await kept.call("again", query="otters")
    await kept.call("put", query="otters")
    again = await kept.call("again", query="otters")

    assert nothing["rows"] == []
    assert again["rows"][0]["count"] == 2


async def test_what_is_deleted_is_told_once_and_is_gone_for_its_owner_alone() -> None:
    kept = Notes(
        a_note_tool("save", SAVE, name="put"),
        a_note_tool("delete", DELETE, name="drop"),
        a_note_tool("recall", DELETE, name="get"),
    )
    await kept.call("put", query="otters", topic="sea")
    await kept.call("put", "acme:bob", query="otters")

    first = await kept.call("drop", query="otters")
    again = await kept.call("drop", query="otters")
    gone = await kept.call("get", query="otters")
    of_others = await kept.call("get", "acme:bob", query="otters")

    assert first["rows"] == [{"text": "otters", "topic": "sea", "count": 1}]
    assert (again["status"], again["rows"]) == ("ok", [])
    assert (gone["rows"], len(of_others["rows"])) == ([], 1)


async def test_who_has_withdrawn_a_consent_may_still_delete_and_nobody_in_particular_may_not() -> None:
    kept = Notes(a_note_tool("delete", DELETE, name="drop"), collection=notes(more="consent: memory"))
    await kept.store.drawer("notes", "acme:ann").put("otters", {"text": "otters", "count": 1})

    nobody = await kept.call("drop", "", query="otters")
    withdrawn = await kept.call("drop", query="otters")

    assert (nobody["status"], nobody["rows"]) == ("unavailable", [])
    assert withdrawn["rows"] == [{"text": "otters", "count": 1}]


async def test_only_members_delete_in_a_shared_space() -> None:
    shared = "{from: notes, space: args.topic, key: args.query}"
    kept = Notes(a_note_tool("delete", shared, name="drop"), collection=notes("shared"))
    await kept.store.drawer("notes", "acme:ann", space="team").put("otters", {"text": "otters", "count": 1})

    outside = await kept.call("drop", query="otters", topic="team")

    assert (outside["status"], outside["rows"]) == ("not_member", [])
    assert await kept.store.drawer("notes", "acme:ann", space="team").count() == 1


@pytest.mark.parametrize(
    ("word", "text", "says", "told"),
    [
        ("save", SAVE, "recall", "`read_only`"),
        ("delete", DELETE, "recall", "`read_only`"),
        ("delete", DELETE, "save", "`destructive`"),
    ],
)
def test_a_tool_that_writes_or_deletes_says_so_in_its_annotations(word: str, text: str, says: str, told: str) -> None:
    woven = weave_texts(notes(), a_note_tool(word, text, name="it", says=SAYS[says]))

    assert woven.codes[0] == "E134"
    assert told in woven.sentences[0]


@pytest.mark.parametrize("word", ["save", "recall"])
async def test_nothing_is_read_or_written_of_who_has_not_agreed_or_is_nobody(word: str) -> None:
    text = SAVE if word == "save" else "{from: notes}"
    kept = Notes(a_note_tool(word, text, name="it"), collection=notes(more="consent: memory"))
    kept_anyway = kept.store.drawer("notes", "acme:ann")
    await kept_anyway.put("k", {"text": "secret", "count": 1})

    refused = await kept.call("it", query="otters")
    nobody = await kept.call("it", "", query="otters")

    assert (refused["status"], refused["rows"]) == ("no_consent", [])
    assert "has not agreed" in refused["reason"]
    assert nobody["status"] == "unavailable"
    assert await kept_anyway.count() == 1


async def test_a_shared_space_is_for_its_members() -> None:
    kept = Notes(
        a_note_tool("save", SAVE.replace("into: notes", "into: notes, space: args.topic"), name="put"),
        collection=notes("shared"),
    )
    outside = await kept.call("put", query="otters", topic="team")
    await kept.store.drawer("members", "acme:ann", space="team").put("member:acme:ann", {})

    inside = await kept.call("put", query="otters", topic="team")

    assert (outside["status"], inside["status"]) == ("not_member", "ok")


async def test_a_server_that_keeps_nothing_says_so() -> None:
    kept = Notes(a_note_tool("save", SAVE, name="put"))
    kept.executor.drawers = None

    with pytest.raises(Fault, match="keeps no state"):
        await kept.call("put", query="otters")


async def test_without_a_bound_all_items_are_recalled() -> None:
    kept = Notes(a_note_tool("save", SAVE, name="put"), a_note_tool("recall", "{from: notes}", name="all"))
    for number in range(120):
        await kept.call("put", query=f"otter {number}")

    assert len((await kept.call("all", query="x"))["rows"]) == 120


@pytest.mark.parametrize(
    ("word", "text", "code"),
    [
        ("recall", "{from: note}", "E110"),
        ("recall", "{from: notes, where: {text: args.query}}", "E110"),
        ("recall", "{from: notes, take: args.query}", "E204"),
        ("recall", "{from: notes, key: args.query, take: '`1`'}", "E105"),
        ("recall", "{from: notes, space: args.query}", "E105"),
        ("save", "{into: notes, value: {text: args.query, colour: args.query, count: '`1`'}}", "E110"),
        ("save", "{into: notes, value: {text: args.query, count: args.query}}", "E204"),
        ("save", "{into: notes, value: {text: args.topic, count: '`1`'}}", "E204"),
        ("save", "{into: notes, value: {text: args.query}}", "E102"),
        ("delete", "{from: notes}", "E102"),
        ("delete", "{from: note, key: args.query}", "E110"),
        ("delete", "{from: notes, key: args.query, where: {topic: args.topic}}", "E101"),
        ("save", "{into: notes, lasts: args.query, value: {text: args.query, count: '`1`'}}", "E204"),
    ],
)
def test_what_does_not_fit_the_collection_is_told(word: str, text: str, code: str) -> None:
    assert codes(notes(), a_note_tool(word, text, name="it")) == [code]


def test_a_collection_without_fields_or_words_to_search_cannot_be_named_so() -> None:
    bare = notes().partition("fields:")[0]
    silent = notes().replace("search: [text]\n", "")

    assert codes(bare, a_note_tool("recall", "{from: notes}", name="it")) == ["E110"]
    assert codes(silent, a_note_tool("recall", "{from: notes, about: args.query}", name="it")) == ["E110"]
    assert codes(notes().replace("indexes: [topic]", "indexes: [colour]")) == ["E110"]
    assert codes(notes(more="consent: marketing")) == ["E110"]


@pytest.mark.parametrize("answer", [ANSWER, "user: =caller.user\n"])
def test_what_is_kept_of_one_caller_is_not_cached_for_all(answer: str) -> None:
    made = a_note_tool("recall", "{from: notes}", name="it", answer=answer, more="cache: {ttl: 1h, shape: 1}\n")

    assert "E133" in codes(notes(), made)


def test_a_dry_run_reads_and_writes_nothing_and_says_what_it_would() -> None:
    kept = Notes(a_note_tool("save", SAVE, name="put"))

    explained = explain(kept.executor, "put", {"query": "otters"})

    assert explained.then == "the collection notes is written to for the caller"
    assert asyncio.run(kept.store.drawer("notes", "acme:ann").count()) == 0
