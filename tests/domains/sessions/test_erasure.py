"""An erasure leaves no byte of an owner in any collection, artifact, kept answer or journal, but that they refuse."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import Client

from specloom.cache.cache import AnswerCache
from specloom.cli.main import main
from specloom.storage.audit_log import AuditTrail
from tests.support.research_server import ADA, ENVIRON, GRACE, Server, ask, begin, read, shipped

SECRET = "zanzibar"
ROWS = (
    "SELECT salt FROM owners WHERE tag = ?",
    "SELECT name FROM items WHERE author = ?",
    "SELECT value FROM items WHERE author = ?",
    "SELECT e.value FROM events e JOIN items i ON i.id = e.item WHERE i.author = ?",
    "SELECT v.value FROM vectors v JOIN items i ON i.id = v.item WHERE i.author = ?",
    "SELECT DISTINCT m.tag FROM marks m JOIN items i ON i.id = m.item WHERE i.author = ?",
)
"""Everything in the store that is an author's."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("SPECLOOM_CACHE_KEY", "SPECLOOM_CACHE_KEY_PREVIOUS", "AUDIT_ENABLED", "AUDIT_OUTPUT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("SPECLOOM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


async def keep_everything(server: Server, owner: str, client: Client) -> str:
    """Something in every collection there is, by the tools; the session."""
    from specloom.storage.consent import add_member

    await server.agree(owner, "memory", "analytics", "workspace", "monitoring")
    await add_member(server.store.drawer("members", owner, space="zoo"), owner, 0.0)
    session = await begin(client, researchGoal=SECRET)
    await ask(client, "web_search", query=f"{SECRET} otters", sessionId=session)
    for number in range(2, 9):
        told = {"searchStep": f"{SECRET} " * 400, "stepNumber": number, "nextStepNeeded": True}
        await ask(client, "sequential_search", **told, sessionId=session)
    linked = await ask(client, "research_export", sessionId=session)
    assert SECRET in json.dumps(await read(client, linked["resource"]))
    await ask(client, "memory_save", note=SECRET, topic=SECRET, tags=[SECRET])
    await ask(client, "workspace_contribute", workspace_id="zoo", note=SECRET)
    await ask(client, "monitor_query_save", query=SECRET)
    return session


def raw_bytes(folder: Path) -> bytes:
    return b"\n".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def pieces_of(database: Path, author: bytes) -> Iterator[bytes]:
    """The author's tag, and the beginning of each sealed value, tag and salt of theirs."""
    connection = sqlite3.connect(database)
    yield author
    for query in ROWS:
        found = connection.execute(query, (author,)).fetchall()
        assert found, query
        # What spans pages is cut by page heads, so beginnings are looked for.
        yield from (one[0][:48] for one in found)
    connection.close()


def authors_of(database: Path, collection: str) -> list[bytes]:
    """Whose the items of a collection are, in the order in which they were written."""
    connection = sqlite3.connect(database)
    rows = connection.execute("SELECT author FROM items WHERE collection = ? ORDER BY id", (collection,))
    found = [one[0] for one in rows]
    connection.close()
    return found


def names_of(database: Path, collection: str, author: bytes) -> list[bytes]:
    """The tags that stand for the keys of an author's items in a collection."""
    connection = sqlite3.connect(database)
    rows = connection.execute("SELECT name FROM items WHERE collection = ? AND author = ?", (collection, author))
    found = [one[0] for one in rows]
    connection.close()
    return found


async def fill(folder: Path) -> None:
    cache = AnswerCache(disk=folder / "cache", key=bytes(32), warn=print)
    audit = AuditTrail({**ENVIRON, **os.environ}, print)
    server = Server(folder=folder / "state", cache=cache, audit=audit)
    async with server.client(GRACE) as grace:
        await keep_everything(server, GRACE, grace)
    async with server.client(ADA) as ada:
        await keep_everything(server, ADA, ada)
    await server.executor.aclose()
    await server.store.aclose()
    await asyncio.to_thread(audit.close)


def test_an_erasure_leaves_no_byte_of_an_owner_in_any_collection_artifact_or_kept_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(fill(folder))
    database = folder / "state" / "state.db"
    author = authors_of(database, "sessions")[-1]
    collections = set(shipped().collections)
    kept = {name for name in collections if author in authors_of(database, name)}
    pieces = list(pieces_of(database, author))
    refused = {author, *names_of(database, "consents", author)}
    answers = sqlite3.connect(folder / "cache" / "answers" / "cache.db")
    pieces += [one[0][:48] for one in answers.execute("SELECT value FROM Cache")]
    pieces += [str(one[0]).encode() for one in answers.execute("SELECT key FROM Cache")]
    answers.close()
    before = raw_bytes(folder)
    main(["data", "export", "--tenant", "north", "--user", "ada"])
    exported = json.loads(capsys.readouterr().out)["namespaces"]

    code = main(["data", "erase", "--tenant", "north", "--user", "ada", "--yes"])

    said = json.loads(capsys.readouterr().out)
    after = raw_bytes(folder)
    assert code == 0
    assert kept == collections == set(said["deleted"]), "there was something in everything that is declared"
    assert {name for name, items in exported.items() if items} == collections, "an export has all of it"
    assert said["compacted"] is True
    assert all(piece in before for piece in pieces)
    assert len(pieces) > 30
    assert {piece for piece in pieces if piece in after} == refused, "their tag and those of the purposes stay"
    assert set(authors_of(database, "consents")) >= {author}
    assert not any(author in authors_of(database, name) for name in collections - {"consents"})
    assert SECRET.encode() not in before, "what was said lies nowhere in the clear, the audit log included"
    assert all(authors_of(database, name) for name in collections), "Grace has kept what is hers"


def test_the_audit_log_tells_who_did_what_and_nothing_of_what_was_said(folder: Path) -> None:
    """Records of acts stay for as long as records are kept, the act of erasing with them."""
    asyncio.run(fill(folder))
    main(["data", "erase", "--tenant", "north", "--user", "ada", "--yes"])

    rows = [json.loads(line) for line in (folder / "state" / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    hers = [one for one in rows if one.get("user_id") == "ada"]

    assert hers[-1]["event_type"] == "data.erasure"
    assert {name for one in hers for name in one.get("metadata", {})} <= {
        "query_length",
        "items",
        "through",
        "routing",
        "cost",
    }
    assert not any(SECRET in json.dumps(one) for one in rows)
    assert main(["audit", "verify"]) == 0
