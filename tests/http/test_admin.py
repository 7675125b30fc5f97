"""The admin interface over real sockets: who gets in, what each call does, and what is written down of it."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specloom.cli.http_doctor import examine_server
from specloom.http.admin_keys import read_admin_settings
from specloom.http.identity import ApiKeyFile, Identity, RevocationFile, find_api_keys
from specloom.http.settings import SettingsError
from specloom.plugins import join_owner
from tests.support.http_server import HttpDemo
from tests.support.operated import KEY, Operated, operated

OLD = "an older key of this test"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Operated]:
    with operated(tmp_path, {"ADMIN_API_KEY_PREV": OLD}) as running:
        yield running


def keep(desk: Operated, collection: str, tenant: str, user: str, key: str) -> None:
    """One item of a user, written as a tool does."""
    drawer = desk.executor.drawers.drawer(collection, join_owner(tenant, user))
    future = asyncio.run_coroutine_threadsafe(drawer.put(key, {"note": f"{key} of {user}"}), desk.server.loop)
    future.result(20)


def events(desk: Operated, name: str) -> list[dict[str, Any]]:
    return [row for row in desk.audit() if row.get("event_type") == name]


# --- Who gets in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"ADMIN_API_KEY": "fifteen letters"}, "ADMIN_API_KEY has 15 characters"),
        ({"CACHE_ADMIN_KEY": "short"}, "CACHE_ADMIN_KEY has 5 characters"),
        ({"ADMIN_API_KEY": KEY, "ADMIN_API_KEY_PREV": "short"}, "ADMIN_API_KEY_PREV has 5"),
        ({"ADMIN_API_KEY_PREV": KEY}, "ADMIN_API_KEY is not"),
        ({"ADMIN_PORT": "9090"}, "ADMIN_API_KEY is not"),
        ({"ADMIN_API_KEY": KEY, "ADMIN_PORT": "nine"}, "ADMIN_PORT is 'nine'"),
        ({"ADMIN_API_KEY": "sixteen lettersö"}, "beyond ASCII"),
    ],
)
def test_a_server_with_a_key_that_does_not_do_does_not_start(environ: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named) as stopped:
        read_admin_settings(environ, str)
    assert not {"fifteen letters", KEY} & set(str(stopped.value).split("; "))


def test_the_earlier_name_of_the_key_is_read_with_a_warning() -> None:
    warned: list[str] = []
    assert read_admin_settings({"CACHE_ADMIN_KEY": KEY}, warned.append).key == KEY
    assert warned == ["CACHE_ADMIN_KEY is an earlier name; write ADMIN_API_KEY"]


def test_without_a_key_there_is_no_admin_interface() -> None:
    with HttpDemo() as server, server.client() as client:
        for path in ("/admin/cache", "/admin/data", "/admin/audit", "/dashboard", "/dashboard/data", "/metrics"):
            answer = client.get(path, X_Admin_Key=KEY)
            assert (answer.status, answer.body) == (404, b"")


def test_who_has_no_key_is_told_nothing_and_each_failure_is_audited(desk: Operated) -> None:
    refused = [
        desk.ask("/admin/analytics", key=""),
        desk.ask("/admin/analytics", key="a wrong key of this test"),
        desk.ask(f"/admin/analytics?key={KEY.replace(' ', '+')}", key=""),
        desk.ask("/admin/analytics?admin_key=x&X-Admin-Key=y", key=""),
        desk.ask("/admin/sessions", "DELETE", key=KEY + "x"),
        desk.ask("/admin/sessions", "PATCH", key=""),
    ]
    assert {(one.status, one.body) for one in refused} == {(401, b"")}
    assert desk.ask("/admin/analytics").status == 200
    rows = events(desk, "admin.refused")
    assert [row["error_code"] for row in rows] == ["no_key", "wrong_key", "no_key", "no_key", "wrong_key", "no_key"]
    assert {row["source_ip"] for row in rows} == {"127.0.0.1"}
    assert not any(row["success"] for row in rows)


def test_who_guesses_is_no_longer_listened_to(desk: Operated) -> None:
    answers = [desk.ask("/admin/analytics", key=f"guess number {number}") for number in range(12)]
    right = desk.ask("/admin/analytics")

    assert [one.status for one in answers] == [401] * 10 + [429] * 2
    assert right.status == 429
    assert 0 < int(right.headers["retry-after"]) <= 60
    log = desk.trail.open()
    assert log is not None
    log.flush()
    rows = [json.loads(line) for line in log.path.read_text("utf-8").splitlines()]
    assert len([row for row in rows if row["event_type"] == "admin.refused"]) == 10


def test_keys_of_any_length_take_the_same_comparisons(desk: Operated, monkeypatch: pytest.MonkeyPatch) -> None:
    compare, compared = hmac.compare_digest, list[tuple[int, int]]()

    def note(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr("specloom.http.admin_keys.hmac.compare_digest", note)
    counts = {}
    for key in (KEY, OLD, "x", KEY[:-1], KEY[:-1] + "x", "k" * 8000):
        compared.clear()
        desk.ask("/admin/analytics", key=key)
        counts[key] = list(compared)

    # Of digests, so that no time tells how much of a key is right; of both keys, so that none tells which.
    assert {tuple(one) for one in counts.values()} == {((32, 32), (32, 32))}


def test_who_looks_without_a_key_shuts_out_nobody_and_fills_no_log(desk: Operated) -> None:
    looked = [desk.ask(path, key="") for path in ("/admin/analytics", "/metrics") for _ in range(10)]
    right = desk.ask("/admin/analytics")

    assert {one.status for one in looked} == {401}
    assert right.status == 200
    assert [row["error_code"] for row in events(desk, "admin.refused")] == ["no_key"] * 10


def test_the_doctor_of_a_server_may_be_run_as_often_as_one_likes(desk: Operated) -> None:
    for _ in range(12):
        found = examine_server(desk.server.settings.local_url, {})
        assert {one.about: one.state for one in found.findings}["operators"] == "ok"

    assert desk.ask("/admin/analytics").status == 200


def test_the_previous_key_is_good_while_it_is_replaced_and_each_use_is_told(desk: Operated) -> None:
    assert desk.ask("/admin/analytics", key=OLD).status == 200
    assert desk.ask("/admin/analytics", key=OLD).status == 200
    assert len(events(desk, "admin.previous_key")) == 2
    assert KEY not in str(desk.warned)


def test_a_port_of_its_own_has_the_admin_interface_alone(tmp_path: Path) -> None:
    with operated(tmp_path, {"ADMIN_PORT": "0"}) as desk:
        port = desk.ports["/admin"]
        assert desk.ask("/admin/analytics").status == 404
        assert desk.ask("/admin/analytics", port=port).status == 200
        assert desk.ask("/admin/analytics", port=port, key="").status == 401
        assert desk.ask("/mcp", "POST", b"{}", port=port).status == 404
        assert desk.ask("/admin/analytics", port=port, Host="evil.example").status == 421


# --- What goes in -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "/admin/sessions", None),
        ("DELETE", "/admin/sessions?user_id=ann", None),
        ("DELETE", "/admin/sessions?all=true&tenant_id=acme", None),
        ("DELETE", "/admin/sessions?all=yes", None),
        ("DELETE", "/admin/sessions?tenant_id=acme&tenant_id=other", None),
        ("DELETE", "/admin/sessions?tenant_id=acme&user_id=", None),
        ("DELETE", "/admin/cache?tenantid=acme", None),
        ("DELETE", "/admin/data", None),
        ("DELETE", "/admin/data", {"tenant_id": "acme", "user_id": None}),
        ("DELETE", "/admin/sessions", {"tenant_id": "acme", "user_id": None}),
        ("POST", "/admin/revoke", {"tenant_id": "acme", "user_id": None}),
        ("DELETE", "/admin/data?tenant_id=", None),
        ("DELETE", "/admin/data?tenant_id=acme", {"tenant_id": "other"}),
        ("GET", "/admin/data?user_id=ann", None),
        ("POST", "/admin/consent", {"tenant_id": "acme", "user_id": "ann", "purpose": "mischief", "granted": True}),
        ("POST", "/admin/consent", {"tenant_id": "acme", "user_id": "ann", "purpose": "memory", "granted": "yes"}),
        ("POST", "/admin/consent", {"tenant_id": "acme", "purpose": "memory", "granted": True}),
        ("POST", "/admin/consent", b"[" * 50_000),
        ("POST", "/admin/consent", [1]),
        ("POST", "/admin/workspace/members", {"workspace_id": " ", "tenant_id": "acme", "user_id": "ann"}),
        ("POST", "/admin/revoke", {"jti": "x"}),
        ("POST", "/admin/revoke", {"jti": "", "exp": 1}),
        ("POST", "/admin/revoke", {"jti": "x", "exp": 1, "tenant_id": "acme"}),
        ("POST", "/admin/revoke", {"tenant_id": "acme", "before": "tomorrow"}),
        ("GET", "/admin/audit?limit=0", None),
        ("GET", "/admin/audit?since=yesterday", None),
    ],
)
def test_a_call_that_does_not_say_clearly_what_is_meant_does_nothing(
    desk: Operated, method: str, path: str, body: Any
) -> None:
    keep(desk, "sessions", "acme", "ann", "1")

    answer = desk.ask(path, method, body)

    assert answer.status == 400
    assert answer.json["error"]
    assert len(desk.ask("/admin/data?tenant_id=acme").json["namespaces"]["sessions"]) == 1


def test_a_body_has_a_bound_of_its_own(desk: Operated) -> None:
    assert desk.ask("/admin/consent", "POST", b" " * (64 * 1024 + 1)).status == 413
    assert desk.ask("/admin/consent", "POST", b" " * 1024).status == 400


# --- What is kept of people -------------------------------------------------------------------------------------------


def test_what_a_person_has_here_is_exported_and_erased(desk: Operated) -> None:
    keep(desk, "memories", "acme", "ann", "m")
    keep(desk, "memories", "acme", "bob", "m")
    keep(desk, "memories", "other", "ann", "m")
    keep(desk, "watches", "acme", "ann", "w")

    found = desk.ask("/admin/data?tenant_id=acme&user_id=ann").json
    whole = desk.ask("/admin/data?tenant_id=acme").json
    erased = desk.ask("/admin/data?tenant_id=acme&user_id=ann", "DELETE").json
    after = desk.ask("/admin/data?tenant_id=acme").json

    assert (found["tenantId"], found["userId"]) == ("acme", "ann")
    assert [item["value"]["note"] for item in found["namespaces"]["memory"]] == ["m of ann"]
    assert sorted(item["value"]["note"] for item in whole["namespaces"]["memory"]) == ["m of ann", "m of bob"]
    assert "userId" not in whole
    assert erased == {"tenantId": "acme", "userId": "ann", "deleted": {"memory": 1, "watches": 1}}
    assert [item["value"]["note"] for item in after["namespaces"]["memory"]] == ["m of bob"]
    assert desk.ask("/admin/data?tenant_id=acme", "DELETE").json["deleted"] == {"memory": 1}
    assert len(desk.ask("/admin/data?tenant_id=other").json["namespaces"]["memory"]) == 1
    assert [(row["user_id"], row["metadata"]["items"]) for row in events(desk, "data.erasure")] == [("ann", 2), ("", 1)]


def test_an_erasure_revokes_the_keys_of_who_is_erased(desk: Operated) -> None:
    file = ApiKeyFile(find_api_keys({"SPECLOOM_STATE_DIR": str(desk.folder)}))
    file.add("acme", user="ann", now=1.0)
    file.add("acme", user="bob", now=1.0)

    erased = desk.ask("/admin/data?tenant_id=acme&user_id=ann", "DELETE").json

    assert erased["deleted"] == {"api_keys": 1}
    assert [key.user for key in file.read().values()] == ["bob"]


def test_an_erasure_deletes_the_texts_of_stored_pdfs_and_tells_which_it_cannot(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    file, stuck = (texts / f"texts-{digits * 8}.db" for digits in ("0a", "0b"))
    environ = {"DOIGET_STORE_ROOT": str(tmp_path / "papers"), "DOIGET_CACHE_ROOT": str(texts)}
    stuck.mkdir(parents=True)  # a folder cannot be unlinked
    for path in (file, texts / "mine.db"):
        path.write_text("x", encoding="utf-8")
    with operated(tmp_path, environ) as desk:
        erased = desk.ask("/admin/data?tenant_id=acme&user_id=ann", "DELETE").json

        assert erased["deleted"] == {"derived_files": 1}
        assert f"{stuck} cannot be deleted" in erased["errors"]["derived_files"]
        assert sorted(path.name for path in texts.iterdir()) == ["mine.db", stuck.name]
        assert [row["metadata"]["items"] for row in events(desk, "data.erasure")] == [1]


def test_an_erasure_says_that_the_shared_papers_stay_and_how_the_operator_removes_them(tmp_path: Path) -> None:
    store = tmp_path / "papers"
    store.mkdir()
    (store / "weir.pdf").write_bytes(b"%PDF-1.7")
    with operated(tmp_path) as desk:
        for who in ("tenant_id=acme&user_id=ann", "tenant_id=acme"):
            [sentence] = desk.ask(f"/admin/data?{who}", "DELETE").json["remaining"]

            assert sentence.startswith(f"the paper store at {store} stays, because its files have no owner: ")
            for part in ("library_remove", ".trash", "deleted for everybody, and made again"):
                assert part in sentence
        assert (store / "weir.pdf").exists()


def test_an_erasure_withdraws_what_was_agreed_to(desk: Operated) -> None:
    who = {"tenant_id": "acme", "user_id": "ann", "purpose": "memory"}
    desk.ask("/admin/consent", "POST", {**who, "granted": True})

    desk.ask("/admin/data?tenant_id=acme&user_id=ann", "DELETE")

    assert desk.ask("/admin/consent?tenant_id=acme&user_id=ann&purpose=memory").json["granted"] is False


def test_an_erasure_reaches_what_the_server_has_in_memory(desk: Operated) -> None:
    desk.call("otters")
    desk.call("otters")
    before = len(desk.asked)
    desk.ask("/admin/data?tenant_id=acme&user_id=ann", "DELETE")
    desk.call("otters")

    assert (before, len(desk.asked)) == (1, 2)


def test_kept_answers_are_removed_and_their_number_is_told(desk: Operated) -> None:
    desk.call("otters")
    desk.call("seals")

    removed = desk.ask("/admin/cache", "DELETE")
    desk.call("otters")

    assert (removed.status, removed.body) == (200, b"2 kept answers removed\n")
    assert removed.headers["content-type"].startswith("text/plain")
    assert len(desk.asked) == 3
    assert b"of all tenants" in desk.ask("/admin/cache?tenant_id=acme", "DELETE").body


def test_sessions_are_removed_of_whom_they_are_meant(desk: Operated) -> None:
    for tenant, user in (("acme", "ann"), ("acme", "bob"), ("other", "ann"), ("third", "eve")):
        keep(desk, "sessions", tenant, user, "1")
    keep(desk, "memories", "acme", "ann", "m")

    one = desk.ask("/admin/sessions?tenant_id=acme&user_id=ann", "DELETE")
    tenant = desk.ask("/admin/sessions", "DELETE", {"tenant_id": "acme"})
    rest = desk.ask("/admin/sessions?all=true", "DELETE")

    assert [answer.body for answer in (one, tenant, rest)] == [
        b"1 sessions removed\n",
        b"1 sessions removed\n",
        b"2 sessions removed\n",
    ]
    assert len(desk.ask("/admin/data?tenant_id=acme").json["namespaces"]["memory"]) == 1


# --- Decisions --------------------------------------------------------------------------------------------------------


def test_consent_is_recorded_and_looked_up(desk: Operated) -> None:
    where = "/admin/consent?tenant_id=acme&user_id=ann&purpose=memory"
    missing = desk.ask(where)
    body = {"tenant_id": "acme", "user_id": "ann", "purpose": "memory", "granted": True, "terms_version": "2"}
    stored = desk.ask("/admin/consent", "POST", body)

    assert (missing.status, missing.json) == (404, {"found": False})
    assert stored.status == 200
    assert {name: stored.json[name] for name in ("tenantId", "userId", "purpose", "granted", "termsVersion")} == {
        "tenantId": "acme",
        "userId": "ann",
        "purpose": "memory",
        "granted": True,
        "termsVersion": "2",
    }
    assert desk.ask(where).json == stored.json


def test_members_of_a_workspace_come_and_go(desk: Operated) -> None:
    body = {"workspace_id": "reef", "tenant_id": "acme", "user_id": "ann"}
    assert desk.ask("/admin/workspace/members", "POST", body).json == {"status": "ok"}
    assert desk.ask("/admin/workspace/members", "DELETE", body).json == {"status": "ok"}
    assert desk.ask("/admin/workspace/members", "DELETE", body).status == 404
    assert [row["metadata"]["workspace_id"] for row in events(desk, "workspace.member.add")] == ["reef"]


def test_what_is_revoked_is_so_for_every_process_and_after_a_restart(desk: Operated) -> None:
    now = [0.0]
    other = RevocationFile(desk.folder / "revocations.json", timer=lambda: now[0])
    by_id = Identity("acme", "ann", token_id="t-1", issued=100.0)
    early, late = Identity("acme", "bob", issued=100.0), Identity("acme", "bob", issued=300.0)
    assert not other.is_revoked(by_id)

    assert desk.ask("/admin/revoke", "POST", {"jti": "t-1", "exp": 4e9}).json == {"status": "ok"}
    user = {"tenant_id": "acme", "user_id": "bob", "before": 200}
    assert desk.ask("/admin/revoke", "POST", user).json == {"status": "ok"}
    now[0] += 1.0
    again = RevocationFile(desk.folder / "revocations.json")

    for each in (desk.revocations, other, again):
        assert [each.is_revoked(one) for one in (by_id, early, late)] == [True, True, False]


# --- What went on -----------------------------------------------------------------------------------------------------


def test_the_calls_of_each_tenant_are_told(desk: Operated) -> None:
    desk.call("otters")
    desk.call("otters")
    desk.call("otters", "other/eve")

    tenants = desk.ask("/admin/analytics").json["tenants"]

    assert tenants.keys() == {"acme", "other"}
    row = tenants["acme"]
    assert (row["tenantId"], row["totalCalls"], row["cacheHits"], row["cacheHitRate"]) == ("acme", 2, 1, 0.5)
    assert (row["errorCalls"], row["errorRate"]) == (0, 0.0)
    assert row["p95LatencyMs"] >= 0
    assert row["lastCalled"]
    assert desk.ask("/admin/analytics?tenant_id=other").json["tenants"].keys() == {"other"}


def test_the_audit_log_is_told_with_its_verdict(desk: Operated) -> None:
    desk.call("otters")
    desk.call("otters", "other/eve")
    desk.executor.audit.open().flush()

    answer = desk.ask("/admin/audit?tenant_id=acme")
    *rows, trailer = [json.loads(line) for line in answer.body.splitlines()]

    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [(row["event_type"], row["tenant_id"], row["user_id"]) for row in rows] == [("tool_call", "acme", "ann")]
    assert trailer == {"verdict": {"rows": 2, "ok": True, "problem": ""}}
    assert len(desk.ask("/admin/audit?limit=1").body.splitlines()) == 2
    assert len(desk.ask("/admin/audit?since=2100-01-01").body.splitlines()) == 1
    assert len(desk.ask("/admin/audit?until=2100-01-01T00:00:00Z&tenant_id=other").body.splitlines()) == 2


def test_a_changed_row_is_told_in_the_verdict(desk: Operated) -> None:
    desk.call("otters")
    desk.executor.audit.open().flush()
    path = desk.folder / "audit.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"acme"', b'"evil"'))

    trailer = json.loads(desk.ask("/admin/audit").body.splitlines()[-1])

    assert trailer["verdict"]["ok"] is False
    assert "row 1" in trailer["verdict"]["problem"]
