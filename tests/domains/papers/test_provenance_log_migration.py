"""A provenance log of the older format: refused for new rows, brought up to date, and kept as it was."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from specloom.cli.main import main
from specloom.domains.papers.errors import Refusal
from specloom.domains.papers.provenance_log import GENESIS, OLDER_KEYS, Log, LogVerdict, migrate, verify
from tests.support.paper_store import World

LATER = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def older(path: Path) -> list[dict[str, Any]]:
    """Write a log of v1 with three rows; its hashes are made up, and each row names the one before it."""
    before, rows = GENESIS, []
    about = [(None, None), ("10.1234/foo", "crossref"), ("2401.12345", "arxiv")]
    for at, (ref, source) in enumerate(about, 1):
        row = dict.fromkeys(OLDER_KEYS) | {"ts": "2025-01-01T00:00:00Z", "event": "fetch", "result": "ok"}
        row |= {"ts_seq": 1, "capability": "oa", "session_id": "01JCKZ7Q0000000000000000AB", "prev_hash": before}
        row |= {"ref": ref, "source": source, "this_hash": hashlib.sha256(str(at).encode()).hexdigest()}
        before = str(row["this_hash"])
        rows.append(row)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return rows


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_an_older_log_is_refused_with_what_to_do(world: World) -> None:
    world.log.parent.mkdir()
    older(world.log)

    told = world.call("resolve_paper", ref="10.1234/foo")

    assert told["error"]["code"] == "LOG_ERROR"
    assert "line 1 is a row of the older format; run `specloom papers migrate`" in told["error"]["message"]


def test_rows_get_their_columns_and_a_chain_and_the_log_stays_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    rows, before = older(path), path.read_bytes()

    done = migrate(path)

    now = read(path)
    assert (done.rows, done.rewritten) == (3, 3)
    assert (done.anchor_before, done.anchor_after) == (rows[0]["this_hash"], now[0]["this_hash"])
    assert verify(path) == LogVerdict(3)
    assert [row["canonical_digest"] for row in now] == [
        None,
        "17a7530b46c24b037ab779e5ad8f24cb9f27a99e44506f949fc0adf2aef8f1ae",
        "37eea0478a959cd1713f9ed1bcf5a36851202c1744239b81b90db8e43cda53bf",
    ]
    changed = {"schema_version", "canonical_digest", "ts_seq", "prev_hash", "this_hash"}
    assert [{key: row[key] for key in row if key not in changed} for row in now] == [
        {key: row[key] for key in row if key not in changed} for row in rows
    ]
    assert (tmp_path / "access.jsonl.v1-backup").read_bytes() == before
    assert not (tmp_path / "access.jsonl.v2-migrated").exists()
    Log(path).append("session_start", now=LATER)
    assert verify(path) == LogVerdict(4)


def test_a_second_migration_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    older(path)
    migrate(path)
    before = path.read_bytes()

    done = migrate(path)

    assert (done.rows, done.rewritten, done.anchor_before) == (3, 0, done.anchor_after)
    assert path.read_bytes() == before


def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    older(path)
    before = path.read_bytes()

    planned = migrate(path, dry_run=True)

    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["access.jsonl"]
    assert migrate(path) == planned
    assert migrate(tmp_path / "none.jsonl").rows == 0


def test_a_log_that_does_not_hold_is_not_given_a_new_chain(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    rows = older(path)
    for broken, sentence in (
        ([rows[0], rows[2]], "Row 2 of .* does not hold"),
        ([rows[0], {**rows[1], "more": 1}], "Line 2 of .* is a row of no format"),
    ):
        path.write_text("".join(json.dumps(row) + "\n" for row in broken), "utf-8")
        before = path.read_bytes()
        with pytest.raises(Refusal, match=sentence) as caught:
            migrate(path)
        assert caught.value.code == "LOG_ERROR"
        assert path.read_bytes() == before


def test_rows_of_the_present_format_must_hold_to_be_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    older(path)
    migrate(path)
    rows = read(path)
    path.write_text("".join(json.dumps(row) + "\n" for row in (rows[0], {**rows[1], "ref": "10.1234/x"})), "utf-8")

    with pytest.raises(Refusal, match=r"Row 2 of .* does not hold"):
        migrate(path)


def test_what_an_earlier_migration_left_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    older(path)
    (tmp_path / "access.jsonl.v1-backup").write_text("precious", "utf-8")

    with pytest.raises(Refusal, match="move it away first"):
        migrate(path)

    assert (tmp_path / "access.jsonl.v1-backup").read_text("utf-8") == "precious"


def test_the_command_tells_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "access.jsonl"
    older(path)
    monkeypatch.setenv("DOIGET_LOG_PATH", str(path))
    monkeypatch.setenv("SPECLOOM_CACHE", "off")

    assert main(["papers", "verify"]) == 1
    assert main(["papers", "migrate", "--dry-run"]) == 0
    assert main(["papers", "migrate", str(path)]) == 0
    assert main(["papers", "verify"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1] == f"{path}: 3 of 3 rows would be rewritten"
    assert told[3] == f"{path}: 3 of 3 rows were rewritten"
    assert told[4] == told[2].replace("would begin", "begins")

    path.write_text("{}\n", "utf-8")
    assert main(["papers", "migrate"]) == 4


def test_logs_that_were_put_away_long_ago_are_removed_when_one_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "access.jsonl"
    old, young = "access.jsonl.2025-10-01-000000.gz", "access.jsonl.2025-10-05-000000.gz"
    for name in (old, young, "access.jsonl.notes.gz", "other.jsonl.2020-01-01-000000.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b""))

    Log(path).append("session_start", now=LATER)
    assert (tmp_path / old).exists()

    Log(path, keep_days=90).append("session_start", now=LATER)
    assert sorted(one.name for one in tmp_path.glob("*.gz")) == sorted(
        [young, "access.jsonl.notes.gz", "other.jsonl.2020-01-01-000000.gz"]
    )
