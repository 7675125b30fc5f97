"""An operator exports, erases and records consent from the command line, and every act is in the audit log."""

import asyncio
import json
import os
import stat

import pytest

from specloom.cache import SHARED_ANSWERS
from specloom.cli.main import main
from specloom.plugins.collections import CollectionSpec, join_owner
from specloom.storage.backplane_redis import redis_backplane
from specloom.storage.keys import MasterKeys
from specloom.storage.redis_store import RedisStore
from specloom.storage.store import open_store
from tests.support.redis_server import KEY, RedisServer

NOTES = CollectionSpec("notes")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The place of a user's state, with two notes of Ann and one of Bob in a collection that no module declares."""
    for name in ("SPECLOOM_CACHE_KEY", "AUDIT_ENABLED", "AUDIT_OUTPUT_PATH", "AUDIT_RETENTION_DAYS", "AUDIT_MAX_BYTES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(tmp_path / "state"))

    async def fill():
        store = open_store(tmp_path / "state", {}, [NOTES])
        for user, key in (("ann", "1"), ("ann", "2"), ("bob", "1")):
            await store.drawer("notes", join_owner("acme", user)).put(key, {"text": f"{key} of {user}"})
        await store.aclose()

    asyncio.run(fill())
    return tmp_path / "state"


def run(capsys, *words):
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


def rows_of(folder):
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]


def test_everything_of_a_user_is_exported_and_nothing_of_another(folder, capsys):
    code, out, _ = run(capsys, "data", "export", "--tenant", "acme", "--user", "ann")

    exported = json.loads(out)
    assert code == 0
    assert (exported["tenantId"], exported["userId"]) == ("acme", "ann")
    assert [item["value"]["text"] for item in exported["namespaces"]["notes"]] == ["1 of ann", "2 of ann"]
    assert "bob" not in out
    assert [(row["event_type"], row["user_id"], row["metadata"]["items"]) for row in rows_of(folder)] == [
        ("data.export", "ann", 2)
    ]


def test_a_list_is_put_where_its_variable_says_and_what_is_none_is_refused(tmp_path, capsys, monkeypatch):
    head = "OriginalPaperDOI,RetractionNature,RetractionDate,RetractionDOI,Reason"
    source, kept = tmp_path / "got.csv", tmp_path / "lists" / "retractions.csv"
    source.write_text(f"{head}\n10.1234/a,Retraction,7/12/2023 0:00,,\nunavailable,Retraction,,,\n", encoding="utf-8")
    monkeypatch.delenv("RETRACTION_LIST", raising=False)

    code, _, err = run(capsys, "data", "refresh", "--from", str(source))
    assert code != 0
    assert "set RETRACTION_LIST to a file" in err

    monkeypatch.setenv("RETRACTION_LIST", str(kept))
    code, out, _ = run(capsys, "data", "refresh", "retractions", "--from", str(source))
    assert code == 0
    assert out.strip() == f"{kept}: 1 works with notices; 1 lines name no DOI or no known notice"
    assert kept.read_bytes() == source.read_bytes()

    source.write_text("DOI\n10.1234/b\n", encoding="utf-8")
    code, _, err = run(capsys, "data", "refresh", "--from", str(source))
    assert code != 0
    assert "has no column" in err
    assert "10.1234/a" in kept.read_text(encoding="utf-8"), "the old one stays"

    code, _, err = run(capsys, "data", "refresh", "nothing")
    assert code != 0
    assert "there is no list 'nothing'; there are retractions" in err


def test_an_erasure_revokes_the_api_keys_of_who_is_erased(folder, capsys):
    main(["keys", "add", "acme", "--user", "ann"])
    main(["keys", "add", "acme", "--user", "bob"])
    capsys.readouterr()

    done = run(capsys, "data", "erase", "--tenant", "acme", "--user", "ann", "--yes")
    kept = (folder / "api-keys.json").read_text(encoding="utf-8")

    assert json.loads(done[1])["deleted"] == {"notes": 2, "api_keys": 1}
    assert "ann" not in kept
    assert "bob" in kept


def test_an_erasure_deletes_the_texts_of_stored_pdfs_and_says_that_the_pdfs_stay(folder, capsys, monkeypatch, tmp_path):
    store, texts = tmp_path / "papers", tmp_path / "cache"
    for path in (
        store / "a.pdf",
        texts / f"texts-{'0a' * 8}.db",
        texts / f"texts-{'0a' * 8}.db-wal",
        texts / "mine.db",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x", encoding="utf-8")
    monkeypatch.setenv("DOIGET_STORE_ROOT", str(store))
    monkeypatch.setenv("DOIGET_CACHE_ROOT", str(texts))

    exported = run(capsys, "data", "export", "--tenant", "acme", "--user", "ann")
    erased = run(capsys, "data", "erase", "--tenant", "acme", "--user", "ann", "--yes")

    assert f"the paper store is no part of this; it is files of this machine, at {store}" in exported[2]
    assert json.loads(erased[1])["deleted"] == {"notes": 2, "derived_files": 2}
    assert f"the paper store at {store} stays" in erased[2]
    assert [path.name for path in texts.iterdir()] == ["mine.db"]
    assert (store / "a.pdf").exists()


def test_an_erasure_that_cannot_delete_a_file_is_audited_and_told(folder, capsys, monkeypatch, tmp_path):
    texts = tmp_path / "cache"
    stuck, file = (texts / f"texts-{digits * 8}.db" for digits in ("0a", "0b"))
    stuck.mkdir(parents=True)  # a folder cannot be unlinked
    file.write_text("x", encoding="utf-8")
    monkeypatch.setenv("DOIGET_STORE_ROOT", str(tmp_path / "papers"))
    monkeypatch.setenv("DOIGET_CACHE_ROOT", str(texts))

    code, out, err = run(capsys, "data", "erase", "--tenant", "acme", "--user", "ann", "--yes")

    assert (code, json.loads(out)["deleted"]) == (0, {"notes": 2, "derived_files": 1})
    assert f"delete them and run this again: {stuck} cannot be deleted" in err
    assert [(row["event_type"], row["metadata"]["items"]) for row in rows_of(folder)] == [("data.erasure", 3)]
    assert not file.exists()


def test_an_erasure_removes_the_kept_answers_that_machines_share_or_says_that_it_could_not(folder, capsys, monkeypatch):
    async def keep(server):
        plane = redis_backplane(server.settings(), pytest.fail)
        await plane.cache.put(f"{SHARED_ANSWERS}k", b"sealed", 60)
        await plane.aclose()

    words = ("data", "erase", "--tenant", "acme", "--user", "ann", "--yes")
    with RedisServer() as server:
        monkeypatch.setenv("REDIS_URL", server.url)
        monkeypatch.setenv("SPECLOOM_CACHE_KEY", KEY.hex())
        asyncio.run(keep(server))
        before = [name for name in server.client.scan_iter() if b":value" in name]
        done = run(capsys, *words)
        after = [name for name in server.client.scan_iter() if b":value" in name]
        server.kill()
        undone = run(capsys, *words)

    assert (len(before), after) == (1, [])
    assert "share" not in done[2]
    assert "kept answers that machines share were not removed, so run this again: Redis at" in undone[2]


def test_commands_reach_what_machines_share_and_say_when_they_do_not(folder, capsys, monkeypatch):
    async def fill(server):
        store = RedisStore(server.settings(), MasterKeys(KEY), [NOTES], pytest.fail)
        await store.drawer("notes", join_owner("acme", "ann")).put("1", {"text": "of another machine"})
        await store.aclose()

    who = ("--tenant", "acme", "--user", "ann")
    with RedisServer("--appendonly", "yes", "--appendfsync", "always") as server:
        asyncio.run(fill(server))
        monkeypatch.setenv("SPECLOOM_STATE", "redis")
        monkeypatch.setenv("SPECLOOM_STATE_REDIS_URL", server.url)
        monkeypatch.setenv("SPECLOOM_CACHE_KEY", KEY.hex())
        exported = run(capsys, "data", "export", *who)
        granted = run(capsys, "data", "consent", *who, "--purpose", "memory", "--grant")
        erased = run(capsys, "data", "erase", *who, "--yes")
        shown = run(capsys, "data", "consent", *who, "--purpose", "memory")
        server.kill()
        away = run(capsys, "data", "export", *who)
    monkeypatch.delenv("SPECLOOM_STATE_REDIS_URL")
    unset = run(capsys, "data", "export", *who)
    monkeypatch.setenv("SPECLOOM_STATE", "folder")
    local = run(capsys, "data", "export", *who)

    assert [item["value"]["text"] for item in json.loads(exported[1])["namespaces"]["notes"]] == ["of another machine"]
    assert json.loads(granted[1])["granted"] is True
    assert json.loads(erased[1]) == {
        "tenantId": "acme",
        "userId": "ann",
        "deleted": {"notes": 1, "consents": 1},
        "compacted": True,
    }
    assert [one["granted"] for one in json.loads(shown[1])["consents"]] == [False]
    assert (away[0], "cannot be reached at present" in away[2]) == (1, True)
    assert (unset[0], "SPECLOOM_STATE is redis, and no server is named" in unset[2]) == (1, True)
    assert len(json.loads(local[1])["namespaces"]["notes"]) == 2


def test_an_export_into_a_file_is_private_and_overwrites_nothing(folder, capsys, tmp_path):
    words = ("data", "export", "--tenant", "acme", "--user", "ann", "--to", str(tmp_path / "ann.json"))

    first, again = run(capsys, *words), run(capsys, *words)

    assert first[0] == 0
    assert json.loads((tmp_path / "ann.json").read_text(encoding="utf-8"))["userId"] == "ann"
    assert stat.S_IMODE((tmp_path / "ann.json").stat().st_mode) == 0o600
    assert again[0] == 2
    assert "exists and is not overwritten" in again[2]


def test_an_erasure_asks_for_a_yes_and_leaves_the_others(folder, capsys):
    refused = run(capsys, "data", "erase", "--tenant", "acme", "--user", "ann")
    done = run(capsys, "data", "erase", "--tenant", "acme", "--user", "ann", "--yes")
    empty = run(capsys, "data", "export", "--tenant", "acme", "--user", "ann")
    other = run(capsys, "data", "export", "--tenant", "acme", "--user", "bob")

    assert refused[0] == 2
    assert "everything of user 'ann' of tenant 'acme' and cannot be undone; add --yes" in refused[2]
    assert json.loads(done[1]) == {"tenantId": "acme", "userId": "ann", "deleted": {"notes": 2}, "compacted": True}
    assert not any(json.loads(empty[1])["namespaces"].values())
    assert len(json.loads(other[1])["namespaces"]["notes"]) == 1


def test_a_whole_tenant_is_erased_only_when_it_is_said(folder, capsys):
    unsaid = run(capsys, "data", "erase", "--tenant", "acme", "--yes")
    done = run(capsys, "data", "erase", "--tenant", "acme", "--whole-tenant", "--yes")

    assert unsaid[0] == 2
    assert "say whose data" in unsaid[2]
    assert json.loads(done[1])["deleted"] == {"notes": 3}


def test_consent_is_recorded_shown_withdrawn_and_audited(folder, capsys):
    who = ("--tenant", "acme", "--user", "ann")
    granted = run(capsys, "data", "consent", *who, "--purpose", "memory", "--grant", "--terms", "v1")
    run(capsys, "data", "consent", *who, "--purpose", "analytics", "--withdraw")
    shown = json.loads(run(capsys, "data", "consent", *who)[1])

    assert granted[0] == 0
    assert [(one["purpose"], one["granted"]) for one in shown["consents"]] == [("memory", True), ("analytics", False)]
    assert shown["consents"][0]["termsVersion"] == "v1"
    assert [row["event_type"] for row in rows_of(folder)] == ["consent.grant", "consent.withdraw"]


def test_after_an_erasure_every_purpose_is_shown_as_refused(folder, capsys):
    who = ("--tenant", "acme", "--user", "ann")
    run(capsys, "data", "consent", *who, "--purpose", "memory", "--grant", "--terms", "v1")

    code, out, err = run(capsys, "data", "erase", *who, "--yes")
    shown = json.loads(run(capsys, "data", "consent", *who)[1])["consents"]
    silent = run(capsys, "data", "erase", "--tenant", "acme", "--user", "bob", "--yes")

    assert (code, json.loads(out)["deleted"]) == (0, {"consents": 1, "notes": 2})
    assert "now refuses all of them" in err
    assert [(one["purpose"], one["granted"]) for one in shown] == [
        ("memory", False),
        ("analytics", False),
        ("workspace", False),
        ("monitoring", False),
    ]
    assert {(one["tenantId"], one["userId"], one["decidedFrom"]) for one in shown} == {("acme", "ann", "erasure")}
    assert not any("termsVersion" in one for one in shown)
    assert "refuses" not in silent[2]


def test_members_of_a_workspace_are_added_shown_removed_and_audited(folder, capsys):
    def members(*words, workspace="zoo"):
        code, out, err = run(capsys, "data", "members", "--workspace", workspace, *words)
        return code, json.loads(out) if out else err

    ann, bob = ("--tenant", "acme", "--user", "ann"), ("--user", "bob")
    added = [members(*who, "--add") for who in (ann, bob, bob)]
    shown, other = members(), members(workspace="other")
    removed, again = members(*ann, "--remove"), members(*ann, "--remove")

    assert added[0] == (0, {"status": "ok", "workspaceId": "zoo", "tenantId": "acme", "userId": "ann"})
    named = [(one["tenantId"], one["userId"]) for one in shown[1]["members"]]
    assert named == [("default", "bob"), ("acme", "ann")]
    assert other == (0, {"workspaceId": "other", "members": []})
    assert removed[0] == 0
    assert again == (1, "specloom: user 'ann' of tenant 'acme' is not a member of 'zoo'\n")
    assert [one["userId"] for one in members()[1]["members"]] == ["bob"]
    assert [row["event_type"] for row in rows_of(folder)] == [
        *("workspace.member.add",) * 3,
        "workspace.member.remove",
    ]
    assert rows_of(folder)[0]["metadata"]["workspace_id"] == "zoo"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--workspace", "zoo", "--add"), 2, "say who: --user NAME"),
        (("--workspace", "zoo", "--user", "anonymous", "--add"), 1, "name the user"),
        (("--workspace", " ", "--user", "ann", "--add"), 1, "a name of 1 to 200 characters"),
        (("--user", "ann", "--add"), 2, "--workspace"),
    ],
)
def test_a_member_without_a_name_or_a_workspace_is_refused(folder, capsys, words, code, sentence):
    done = run(capsys, "data", "members", *words)

    assert done[0] == code
    assert sentence in done[2]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ("--user", "ann", "--grant"),
            2,
            "say what for: --purpose with one of memory, analytics, workspace, monitoring",
        ),
        (("--user", "ann", "--purpose", "sales", "--grant"), 1, "There is no purpose 'sales'"),
        (("--user", "anonymous", "--purpose", "memory", "--grant"), 1, "name the user"),
        (("--purpose", "memory"), 2, "--user"),
    ],
)
def test_a_consent_without_a_user_or_a_purpose_is_refused(folder, capsys, words, code, sentence):
    done = run(capsys, "data", "consent", *words)

    assert done[0] == code
    assert sentence in done[2]


def test_the_audit_log_is_verified_and_a_changed_row_is_named(folder, capsys):
    run(capsys, "data", "export", "--user", "ann")
    run(capsys, "data", "export", "--user", "bob")
    good = run(capsys, "audit", "verify")
    path = folder / "audit.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"bob"', b'"eve"'))
    bad = run(capsys, "audit", "verify", "--json")

    assert (good[0], good[1]) == (0, f"{path}: 2 rows, and all of them hold\n")
    assert bad[0] == 1
    assert json.loads(bad[1])["problem"] == "audit.jsonl:2: row 2 was changed"
    assert run(capsys, "audit", "verify", str(folder / "absent"))[0] == 2


def test_a_log_may_be_switched_off_or_be_elsewhere(folder, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("AUDIT_ENABLED", "false")
    run(capsys, "data", "export", "--user", "ann")
    monkeypatch.delenv("AUDIT_ENABLED")
    monkeypatch.setenv("AUDIT_OUTPUT_PATH", str(tmp_path / "elsewhere" / "log.jsonl"))
    run(capsys, "data", "export", "--user", "ann")
    monkeypatch.setenv("AUDIT_MAX_BYTES", "much")
    wrong = run(capsys, "data", "export", "--user", "ann")
    monkeypatch.setenv("AUDIT_OUTPUT_PATH", os.devnull)
    nothing = run(capsys, "data", "export", "--user", "ann")

    assert (nothing[0], "which is no file" in nothing[2]) == (2, True)
    assert not (folder / "audit.jsonl").exists()
    assert (tmp_path / "elsewhere" / "log.jsonl").exists()
    assert (wrong[0], "AUDIT_MAX_BYTES: 'much' is" in wrong[2]) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="rights are a matter of Unix")
def test_a_wrong_key_is_a_sentence(folder, capsys, monkeypatch):
    monkeypatch.setenv("SPECLOOM_CACHE_KEY", "ab" * 32)
    (folder / "cache.key").unlink()

    done = run(capsys, "data", "export", "--user", "ann")

    assert done[0] == 1
    assert "sealed with another key" in done[2]
