"""A chain of rows: what a changed, removed, moved or cut row is told as, whatever the format."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from specloom.storage.hash_chain import ChainedLog, ChainVerdict, RowFormat

FORMAT = RowFormat("n", "hash", (lambda data: hashlib.sha256(data).hexdigest(),), "START")


def written(path: Path, rows: int = 3) -> list[bytes]:
    log = ChainedLog(path, FORMAT)
    for at in range(rows):
        log.append({"n": 0, "what": f"ötter {at}"}, float(at))
    return path.read_bytes().splitlines(keepends=True)


def test_rows_are_numbered_and_bound_to_the_one_before(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in written(tmp_path / "deep" / "log")]

    assert [row["n"] for row in rows] == [1, 2, 3]
    assert [row["prev_hash"] for row in rows] == ["START", rows[0]["hash"], rows[1]["hash"]]
    assert ChainedLog(tmp_path / "deep" / "log", FORMAT).verify() == ChainVerdict(3)


@pytest.mark.parametrize(
    ("order", "problem"),
    [
        ((0, 2), "row 2 is missing: row 3 stands in its place"),
        ((1, 2), "row 1 is missing: row 2 stands in its place"),
        ((0, 1, 1), "row 3 is missing: row 2 stands in its place"),
    ],
)
def test_a_row_that_is_gone_or_doubled_is_told_at_its_place(
    tmp_path: Path, order: tuple[int, ...], problem: str
) -> None:
    lines = written(tmp_path / "log")
    (tmp_path / "log").write_bytes(b"".join(lines[at] for at in order))

    assert ChainedLog(tmp_path / "log", FORMAT).verify().problem == problem


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"oops\n", "row 2 is not a row"),
        (b'{"n": 2', "row 2 was cut off while it was written; remove it, nothing was done under it"),
        (b'{"n": 2, "prev_hash": "x", "hash": "y"}\n', "row 2 does not follow the row before it"),
    ],
)
def test_what_is_no_row_of_the_chain_is_told(tmp_path: Path, line: bytes, problem: str) -> None:
    first = written(tmp_path / "log", 1)[0]
    (tmp_path / "log").write_bytes(first + line)

    assert ChainedLog(tmp_path / "log", FORMAT).verify() == ChainVerdict(1, problem)


def test_a_changed_row_does_not_hold(tmp_path: Path) -> None:
    lines = written(tmp_path / "log")
    (tmp_path / "log").write_bytes(b"".join([lines[0], lines[1].replace(b"ter 1", b"ter 7"), lines[2]]))

    assert ChainedLog(tmp_path / "log", FORMAT).verify() == ChainVerdict(1, "row 2 was changed")


def test_a_row_holds_under_an_older_key_too() -> None:
    old = RowFormat("n", "hash", (lambda data: hashlib.sha256(b"old" + data).hexdigest(),))
    new = RowFormat("n", "hash", (lambda data: hashlib.sha256(b"new" + data).hexdigest(),))
    row = old.bind({"n": 0}, 1, "")

    assert RowFormat("n", "hash", (*new.digests, *old.digests)).holds(row)
    assert not new.holds(row)


def test_a_row_without_the_columns_of_its_log_is_none(tmp_path: Path) -> None:
    written(tmp_path / "log", 1)
    strict = RowFormat("n", "hash", FORMAT.digests, "START", ("n", "prev_hash", "hash"))

    assert ChainedLog(tmp_path / "log", strict).verify() == ChainVerdict(0, "row 1 is not a row")
    with pytest.raises(ValueError, match="line 1 is not a row"):
        ChainedLog(tmp_path / "log", strict).append({"n": 0}, 0.0)


def test_a_row_that_is_written_as_a_line_is_the_row_that_is_bound() -> None:
    fields = {"z": "ü\u2028", "a": [1, {"y": None, "b": 0.5}]}
    for is_ascii in (True, False):
        form = RowFormat("n", "hash", FORMAT.digests, "START", is_ascii=is_ascii)

        line, hash_ = form.bind_line(fields, 7, "before")

        row = form.bind(fields, 7, "before")
        assert json.loads(line) == row
        assert hash_ == row["hash"]
        assert form.check(line, 7, "before") == (row, "")
