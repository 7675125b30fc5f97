"""An API key is shown once, lies there as a hash, and is gone within a second when it is revoked."""

from __future__ import annotations

import errno
import hmac
import json
import os
import re
import stat
import threading
from pathlib import Path

import pytest

from specloom.core import mask
from specloom.http.identity import ApiKeyError, ApiKeyFile, Refusal, watched_file
from specloom.http.identity.api_keys import PREFIX
from specloom.http.identity.watched_file import WatchedFile
from tests.support.clock import Clock

NOW = 1_700_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "api-keys.json"


def refuse(keys: ApiKeyFile, text: str, now: float = NOW) -> Refusal:
    with pytest.raises(Refusal) as caught:
        keys.find(text, now)
    return caught.value


def test_a_key_names_its_owner_and_scopes(path: Path) -> None:
    key, text = ApiKeyFile(path).add("acme", user="ann", scopes=["research", "org:read"], now=NOW)

    found = ApiKeyFile(path).find(text, NOW)

    assert (found.owner, found.scopes, found.kind) == ("acme:ann", {"research", "org:read"}, "key")
    assert (found.token_id, found.issued) == (key.id, NOW)
    assert re.fullmatch(r"slk_[a-z0-9]{10}_[A-Za-z0-9_-]{43}", text)


def test_a_key_without_a_user_is_a_user_of_its_own(path: Path) -> None:
    keys = ApiKeyFile(path)
    texts = [keys.add("acme", now=NOW)[1] for _ in range(2)]

    users = {ApiKeyFile(path).find(text, NOW).user for text in texts}

    assert len(users) == 2


def test_the_file_is_for_its_owner_alone_and_holds_no_key(path: Path) -> None:
    _, text = ApiKeyFile(path).add("acme", now=NOW)

    written = path.read_text(encoding="utf-8")
    secret = text.partition("_")[2].partition("_")[2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert secret not in written
    assert text not in repr(ApiKeyFile(path).read())
    assert sorted(one.name for one in path.parent.iterdir()) == ["api-keys.json", "api-keys.json.lock"]


def test_keys_are_masked_where_texts_are_written_down(path: Path) -> None:
    _, text = ApiKeyFile(path).add("acme", now=NOW)

    assert text[14:] not in mask(f"a client sent {text} to us")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1] + ("A" if text[-1] != "A" else "B"),
        lambda text: text + "A",
        lambda text: text[:-1],
        lambda text: text.upper(),
        lambda text: text[:14],
        lambda text: "slk_" + "0" * 10 + text[14:],
        lambda text: "",
        lambda text: "slk_",
        lambda text: text + "\0",
    ],
)
def test_a_text_that_is_not_quite_the_key_is_refused(path: Path, change: object) -> None:
    _, text = ApiKeyFile(path).add("acme", now=NOW)

    refusal = refuse(ApiKeyFile(path), change(text))  # type: ignore[operator]

    assert (refusal.status, refusal.reason) == (401, "api_key")


def test_a_key_ends_when_it_should(path: Path) -> None:
    _, text = ApiKeyFile(path).add("acme", expires=NOW + 10, now=NOW)
    keys = ApiKeyFile(path)

    assert keys.find(text, NOW + 9).expires == NOW + 10
    assert refuse(keys, text, NOW + 10).reason == "api_key"


def test_a_running_server_notices_new_and_revoked_keys_within_a_second(path: Path) -> None:
    clock = Clock()
    running, command = ApiKeyFile(path, timer=clock), ApiKeyFile(path)
    assert refuse(running, "slk_nothing").status == 401
    first, text = command.add("acme", now=NOW)
    clock.now += 1
    assert running.find(text, NOW).tenant == "acme"
    _, second = command.add("beta", now=NOW)
    assert command.revoke(first.id) is not None
    clock.now += 1

    assert refuse(running, text).reason == "api_key"
    assert running.find(second, NOW).tenant == "beta"
    path.unlink()
    clock.now += 1
    assert refuse(running, second).reason == "api_key"


def test_the_file_is_looked_at_twice_a_second_and_read_when_it_has_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, text = ApiKeyFile(path).add("acme", now=NOW)
    clock = Clock()
    running = ApiKeyFile(path, timer=clock)
    reads: list[int] = []
    real = WatchedFile.read
    monkeypatch.setattr(WatchedFile, "read", lambda self: reads.append(1) or real(self))

    for _ in range(40):
        running.find(text, NOW)
        clock.now += 0.25

    assert reads == [1]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2, "keys": []}', '{"format": 1, "keys": [{}]}', '{"format": 1}', "[" * 100_000]
)
def test_a_file_that_cannot_be_read_lets_nobody_in_and_is_told_of_once(path: Path, text: str) -> None:
    _, key = ApiKeyFile(path).add("acme", now=NOW)
    clock, said = Clock(), list[str]()
    running = ApiKeyFile(path, timer=clock, warn=said.append)
    running.find(key, NOW)
    path.write_text(text, encoding="utf-8")

    for _ in range(3):
        clock.now += 1
        assert (refuse(running, key).status, refuse(running, key).reason) == (503, "keys_unavailable")
    assert len(said) == 1
    assert "no file of API keys" in said[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tenant", ""),
        ("tenant", "anonymous"),
        ("user", "a\nb"),
        ("scopes", ['a"']),
        ("scopes", [7]),
        ("sha256", "00"),
        ("sha256", "x" * 64),
        ("id", "short"),
        ("expires", "soon"),
    ],
)
def test_a_key_that_cannot_be_is_not_read(path: Path, name: str, value: object) -> None:
    ApiKeyFile(path).add("acme", now=NOW)
    said = json.loads(path.read_text(encoding="utf-8"))
    said["keys"][0][name] = value
    path.write_text(json.dumps(said), encoding="utf-8")

    with pytest.raises(ApiKeyError, match="no file of API keys"):
        ApiKeyFile(path).read()


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_a_file_that_others_could_read_is_taken_from_them(path: Path) -> None:
    ApiKeyFile(path).add("acme", now=NOW)
    path.chmod(0o666)

    ApiKeyFile(path).read()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_a_file_of_somebody_else_that_others_may_write_is_not_believed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ApiKeyFile(path).add("acme", now=NOW)
    path.chmod(0o620)

    def refuse_to_change(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchmod", refuse_to_change)

    with pytest.raises(ApiKeyError, match="others may write"):
        ApiKeyFile(path).read()


@pytest.mark.parametrize(
    ("tenant", "user", "scopes"),
    [("", "", ()), ("anonymous", "", ()), ("a\nb", "", ()), ("a", "b\0", ()), ("a", "", ("b c",))],
)
def test_a_key_is_made_for_names_that_callers_have(path: Path, tenant: str, user: str, scopes: tuple[str, ...]) -> None:
    with pytest.raises(ApiKeyError):
        ApiKeyFile(path).add(tenant, user=user, scopes=scopes, now=NOW)

    assert not path.exists()


def test_who_makes_keys_at_the_same_time_loses_none(path: Path) -> None:
    texts: list[str] = []
    makers = [
        threading.Thread(target=lambda: texts.append(ApiKeyFile(path).add("acme", now=NOW)[1])) for _ in range(12)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()

    keys = ApiKeyFile(path)
    assert len({keys.find(text, NOW).token_id for text in texts}) == 12


def test_a_file_that_could_not_be_opened_once_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = ApiKeyFile(path).add("acme", now=NOW)
    clock, said = Clock(), list[str]()
    running = ApiKeyFile(path, timer=clock, warn=said.append)
    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            raise OSError(errno.EMFILE, "Too many open files")

        patch.setattr(os, "open", fail)
        for _ in range(3):
            assert refuse(running, text).status == 503
            clock.now += 1

    assert running.find(text, NOW).tenant == "acme"
    assert len(said) == 1


def test_the_keys_of_a_user_or_a_tenant_go_together(path: Path) -> None:
    keys = ApiKeyFile(path)
    texts = {
        name: keys.add(tenant, user=user, now=NOW)[1]
        for name, tenant, user in (
            ("a", "acme", "ann"), ("b", "acme", "ann"), ("c", "acme", "bob"), ("d", "beta", "ann"), ("e", "acme", "")
        )
    }  # fmt: skip

    assert len(keys.revoke_owner("acme", "ann")) == 2
    left = [name for name, text in texts.items() if _holds(path, text)]
    assert len(keys.revoke_owner("acme")) == 2

    assert left == ["c", "d", "e"]
    assert [name for name, text in texts.items() if _holds(path, text)] == ["d"]
    assert ApiKeyFile(path.with_name("none.json")).revoke_owner("acme") == []


def test_keys_of_a_file_that_can_only_be_read_are_named_and_others_do_not_matter(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = ApiKeyFile(path)
    theirs = keys.add("acme", user="ann", now=NOW)[0]
    (path.parent / f"{path.name}.lock").unlink(missing_ok=True)

    def refuse_writes(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(watched_file, "FileLock", refuse_writes)

    assert keys.revoke_owner("beta") == []
    with pytest.raises(ApiKeyError, match=f"Read-only file system.*take {theirs.id} out of it"):
        keys.revoke_owner("acme", "ann")


def _holds(path: Path, text: str) -> bool:
    try:
        return bool(ApiKeyFile(path).find(text, NOW).owner)
    except Refusal:
        return False


def test_a_key_that_is_not_there_cannot_be_revoked(path: Path) -> None:
    assert ApiKeyFile(path).revoke("0123456789") is None
    assert not path.exists()


def test_a_key_that_is_not_known_is_compared_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = ApiKeyFile(tmp_path / "keys.json")
    key, text = file.add("acme", now=1.0)
    compare, compared = hmac.compare_digest, list[tuple[int, int]]()

    def note(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr("specloom.http.identity.api_keys.hmac.compare_digest", note)
    shown = [text, f"{PREFIX}{key.id}_wrong", f"{PREFIX}{'z' * 10}_{'A' * 43}", PREFIX, "", "k" * 8000]
    found = []
    for one in shown:
        try:
            found.append(file.find(one, 2.0).tenant)
        except Refusal as refusal:
            found.append(refusal.reason)

    assert found == ["acme", *["api_key"] * 5]
    assert compared == [(32, 32)] * len(shown)
