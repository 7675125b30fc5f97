"""The provenance log: its hashes, its chain, what breaks it, and turns between processes."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specloom.domains.papers import provenance_log as log_module
from specloom.domains.papers.errors import PaperFault
from specloom.domains.papers.provenance_log import FORMAT, KEYS, ProvenanceLog, make_ulid, to_timestamp, verify

FIRST = {
    **dict.fromkeys(KEYS),
    "capability": "oa",
    "event": "session_start",
    "prev_hash": "GENESIS",
    "result": "ok",
    "schema_version": "v2",
    "session_id": "01JCKZ7Q0000000000000000AB",
    "ts": "2026-05-01T00:00:00Z",
    "ts_seq": 1,
}
SECOND = {
    **FIRST,
    "event": "fetch",
    "ref": "10.1234/foo",
    "source": "crossref",
    "size_bytes": 4096,
    "ts": "2026-05-01T00:00:00.100Z",
    "ts_seq": 2,
    "canonical_digest": "17a7530b46c24b037ab779e5ad8f24cb9f27a99e44506f949fc0adf2aef8f1ae",
    "prev_hash": "10dbd4a0e001fc5e98214b9ab6c2290518de58b9c1329e1c624ea201604aae6a",
}


def test_hashes_are_those_of_the_worked_example() -> None:
    assert FORMAT.digest(FIRST) == "10dbd4a0e001fc5e98214b9ab6c2290518de58b9c1329e1c624ea201604aae6a"
    assert FORMAT.digest(SECOND) == "15b4648daaeef351972312c23f53a6d6165fbb118e4a4652a86a589361a7ca12"


def written(path: Path, rows: int = 4) -> list[dict[str, Any]]:
    log = ProvenanceLog(path)
    for number in range(rows):
        log.append("fetch", now=1_767_225_600.25 + number, ref="10.1234/ötter", source="crossref")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_rows_have_every_key_and_follow_one_another(tmp_path: Path) -> None:
    rows = written(tmp_path / "deep" / "log.jsonl")

    assert all(tuple(sorted(row)) == tuple(sorted(KEYS)) for row in rows)
    assert [row["ts_seq"] for row in rows] == [1, 2, 3, 4]
    assert rows[0]["prev_hash"] == "GENESIS"
    assert rows[1]["prev_hash"] == rows[0]["this_hash"]
    assert verify(tmp_path / "deep" / "log.jsonl") == log_module.ChainVerdict(4)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_changed_row_is_found_at_the_row(tmp_path: Path, number: int) -> None:
    path = tmp_path / "log.jsonl"
    rows = written(path)
    rows[number - 1]["ref"] = "10.1234/other"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    verdict = verify(path)

    assert verdict.rows == number - 1
    assert verdict.problem == f"row {number} was changed"


def test_a_removed_row_is_found_at_the_one_after_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [json.dumps(row) + "\n" for row in written(path)]
    path.write_text("".join([lines[0], *lines[2:]]), "utf-8")

    assert verify(path).problem == "row 2 is missing: row 3 stands in its place"


def test_a_row_that_was_hashed_anew_does_not_fit_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = written(path)
    rows[1]["ref"] = "10.1234/other"
    rows[1]["this_hash"] = FORMAT.digest(rows[1])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    assert verify(path).problem == "row 3 does not follow the row before it"


def test_an_unknown_key_or_a_broken_line_is_no_row(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = written(path, 2)
    path.write_text(json.dumps({**rows[0], "more": 1}) + "\n", "utf-8")
    assert verify(path).problem == "row 1 is not a row"

    path.write_text(json.dumps(rows[0]) + "\nnot json\n", "utf-8")
    assert verify(path).problem == "row 2 is not a row"
    with pytest.raises(PaperFault, match="line 2") as caught:
        ProvenanceLog(path).append("fetch", now=0.0)
    assert caught.value.code == "LOG_ERROR"


def test_a_log_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(PaperFault) as caught:
        ProvenanceLog(tmp_path / "file" / "log.jsonl").append("fetch", now=0.0)

    assert caught.value.code == "LOG_ERROR"


def test_a_full_log_is_put_away_and_a_new_chain_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    written(path, 2)
    before = path.read_bytes()
    monkeypatch.setattr(log_module, "LARGEST", 10)

    ProvenanceLog(path).append("fetch", now=1_767_225_600.0)

    assert verify(path) == log_module.ChainVerdict(1)
    [packed] = tmp_path.glob("*.gz")
    assert packed.name == "log.jsonl.2026-01-01-000000.gz"
    assert gzip.decompress(packed.read_bytes()) == before
    assert packed.read_bytes()[8] == 4, "the fastest level (RFC 1952, XFL), because other processes wait for their turn"


def test_processes_that_share_a_log_keep_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    code = (
        "import sys; from pathlib import Path; from specloom.domains.papers.provenance_log import ProvenanceLog\n"
        "log = ProvenanceLog(Path(sys.argv[1]))\n"
        "for at in range(20): log.append('fetch', now=float(at))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]

    assert [one.wait(300) for one in running] == [0, 0]
    assert verify(path) == log_module.ChainVerdict(40)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "1970-01-01T00:00:00Z"), (1.25, "1970-01-01T00:00:01.250Z"), (0.9996, "1970-01-01T00:00:01Z")],
)
def test_time_has_milliseconds_or_no_fraction(seconds: float, text: str) -> None:
    assert to_timestamp(seconds) == text


def test_sessions_sort_by_time() -> None:
    assert len(make_ulid(1, 0)) == 26
    assert make_ulid(1, 2**80 - 1) < make_ulid(2, 0)
