"""An operator makes, lists and revokes API keys; a key is shown once and every act is in the audit log."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from specloom.cli.main import main
from specloom.http.identity import ApiKeyFile, Refusal


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECLOOM_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["keys", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def make(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code, out, _ = run(capsys, "add", *words)
    assert code == 0
    return out.strip()


def test_a_key_is_the_only_line_of_the_answer_and_lets_its_user_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "add", "acme", "--user", "ann", "--scope", "tool:demo", "--scope", "org:read")
    found = ApiKeyFile(folder / "api-keys.json").find(out.strip(), time.time())

    assert (code, out.count("\n")) == (0, 1)
    assert (found.owner, found.scopes) == ("acme:ann", {"tool:demo", "org:read"})
    assert out.strip() not in err
    assert f"key {found.token_id} of tenant 'acme', user 'ann'" in err


def test_who_makes_the_first_key_is_told_that_open_servers_have_to_be_started_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = run(capsys, "add", "acme"), run(capsys, "add", "acme")

    assert "servers that run without any ask nobody for it before they are started again" in first[2]
    assert "started again" not in second[2]


def test_without_scopes_a_key_is_for_every_tool(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = make(capsys, "acme")

    assert ApiKeyFile(folder / "api-keys.json").find(text, time.time()).scopes == {"research"}


def test_the_list_has_ids_and_owners_and_no_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [make(capsys, "acme", "--user", "ann", "--expires", "90d"), make(capsys, "beta")]

    _, lines, _ = run(capsys, "list")
    _, of_acme, _ = run(capsys, "list", "--tenant", "acme", "--json")

    assert [line.split()[1] for line in lines.splitlines()] == ["tenant", "acme", "beta"]
    (key,) = json.loads(of_acme)["keys"]
    assert (key["tenant"], key["user"], key["scopes"]) == ("acme", "ann", ["research"])
    assert key["expires"] - key["created"] == pytest.approx(90 * 86_400)
    kept = (folder / "api-keys.json").read_text(encoding="utf-8")
    assert [text for text in texts if text[15:] in lines + of_acme + kept] == []
    assert json.loads(kept)["keys"][0]["sha256"] not in lines + of_acme


def test_a_list_of_no_keys_says_how_to_make_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list")

    assert (code, out) == (0, "there are no API keys; `specloom keys add TENANT` makes one\n")


def test_a_revoked_key_is_refused_and_cannot_be_revoked_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = make(capsys, "acme")
    key_id = text[4:14]

    first, again = run(capsys, "revoke", key_id), run(capsys, "revoke", key_id)

    assert (first[0], again[0]) == (0, 1)
    assert "no key of this id" in again[2]
    with pytest.raises(Refusal):
        ApiKeyFile(folder / "api-keys.json").find(text, time.time())


def test_each_act_is_in_the_audit_log_without_the_key(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = make(capsys, "acme", "--user", "ann")
    run(capsys, "revoke", text[4:14])

    log = (folder / "audit.jsonl").read_text(encoding="utf-8")

    rows = [json.loads(line) for line in log.splitlines()]
    assert [(row["event_type"], row["tenant_id"], row["metadata"]["key_id"]) for row in rows] == [
        ("keys.add", "acme", text[4:14]),
        ("keys.revoke", "acme", text[4:14]),
    ]
    assert text[15:] not in log


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["anonymous"], "'anonymous' is no tenant"),
        ([""], "'' is no tenant"),
        (["acme", "--user", "a\nb"], "is no user"),
        (["acme", "--scope", "a b"], "'a b' is no scope"),
        (["acme", "--expires", "soon"], "--expires is 'soon'; write a day such as 2030-01-31, or 90d"),
        (["acme", "--expires", "2001-01-01"], "--expires is '2001-01-01', which is over already"),
        (["acme", "--expires", "2030-02-31"], "--expires is '2030-02-31', which is no day"),
        (["acme", "--expires", "99999d"], "which is too far away"),
    ],
)
def test_what_is_no_key_is_not_made(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = run(capsys, "add", *words)

    assert (code, out) == (2, "")
    assert sentence in err
    assert not (folder / "api-keys.json").exists()


def test_another_file_may_be_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPECLOOM_API_KEYS", str(tmp_path / "elsewhere" / "keys.json"))

    make(capsys, "acme")

    assert (tmp_path / "elsewhere" / "keys.json").exists()
    assert not (folder / "api-keys.json").exists()


def test_a_file_that_is_not_of_keys_is_left_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.mkdir(mode=0o700)
    (folder / "api-keys.json").write_text("mine", encoding="utf-8")

    codes = [run(capsys, *words)[0] for words in (["add", "acme"], ["list"], ["revoke", "0123456789"])]

    assert codes == [2, 1, 1]
    assert (folder / "api-keys.json").read_text(encoding="utf-8") == "mine"
