"""Every call leaves one masked row; rows that were changed, moved or cut off are named; old rows really go."""

import json
import re
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.secrets import MASK, mask, mask_values
from specloom.storage.audit_log import (
    AuditLog,
    AuditRecord,
    LogFiles,
    audit_key,
    describe_query,
    log_files,
    seal_path,
    verify,
)

KEY = audit_key(bytes(range(32)))
DAY = 86_400.0


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def open_log(tmp_path, clock, warnings):
    opened = []

    def make(**options):
        log = AuditLog(
            tmp_path / "log" / "audit.jsonl", **{"keys": [KEY], "clock": clock, "warn": warnings.append, **options}
        )
        opened.append(log)
        return log

    yield make
    for log in opened:
        log.close()


def rows_of(log):
    return [json.loads(line) for file in log_files(log.path) for line in file.read_bytes().splitlines()]


def write(log, count=1, **fields):
    for _ in range(count):
        log.record(AuditRecord("tool_call", tool_name="search", **fields))
    log.flush()


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_row_says_who_did_what_and_how_it_ended(open_log):
    log = open_log(pod_id="pod-1")

    log.record(
        AuditRecord(
            "tool_call", "acme", "ann", success=False, tool_name="search", session_id="s", request_id="r",
            source_ip="192.0.2.1", duration_ms=12.345, error_code="rate_limited",
            metadata=describe_query("sea otters") | {"result_count": 3},
        )
    )  # fmt: skip
    log.record(AuditRecord("consent.grant"))
    log.flush()

    first, second = rows_of(log)
    assert {name: first[name] for name in first if name not in ("hash", "at")} == {
        "row": 1, "timestamp": "2023-11-14T22:13:20Z", "event_type": "tool_call", "tenant_id": "acme", "user_id": "ann",
        "session_id": "s", "tool_name": "search", "request_id": "r", "pod_id": "pod-1", "source_ip": "192.0.2.1",
        "duration_ms": 12.3, "success": False, "error_code": "rate_limited",
        "metadata": {"query_length": 10, "result_count": 3}, "prev_hash": "",
    }  # fmt: skip
    assert second["prev_hash"] == first["hash"]
    assert "metadata" not in second
    assert log.verify().rows == 2
    assert log.path.stat().st_mode & 0o077 == 0


def test_a_question_is_described_by_its_length_and_on_request_by_a_digest_that_is_not_masked():
    assert describe_query("sea otters") == {"query_length": 10}
    described = describe_query("sea otters", fingerprint=True)
    assert mask_values(described) == described
    assert described == describe_query("sea otters", fingerprint=True) != describe_query("sea otter", fingerprint=True)


SECRETS = [
    "AIza" + "Sy" + "a1B2" * 8 + "x",
    "sk-" + "proj-abcdEFGH1234567890",
    "BSA" + "abcdefghijklmnopqrstuvwx",
    "gh" + "p_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_" + "pat_11ABCDEFG0abcdefghijkl_mnop",
    "AK" + "IAABCDEFGHIJKLMNOP",
    "xo" + "xb-123456789012-abcdefghij",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlc2ln",
    "0123456789abcdef" * 4,
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "around", ["{}", "failed with {} at the end", "https://a.example/?x={}&y=1", '{{"k": "{}"}}', "({})"]
)
def test_what_has_the_form_of_a_secret_is_never_written(open_log, secret, around):
    log = open_log()

    write(log, metadata={"cause": around.format(secret), "list": [{"deep": around.format(secret)}]}, error_code=secret)

    assert secret not in log.path.read_text(encoding="utf-8")
    assert rows_of(log)[0]["error_code"] == MASK


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("GET /?api_key=abc&q=otters", f"GET /?api_key={MASK}&q=otters"),
        ("?q=1&token=x y", f"?q=1&token={MASK} y"),
        ("X-Api-Key: hunter2", f"X-Api-Key: {MASK}"),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
        ("sent Bearer abcdefgh1234", f"sent Bearer {MASK}"),
        ("https://user:pass@host.example/x", f"https://{MASK}@host.example/x"),
        ('{"password": "p4ss", "a": 1}', f'{{"password": "{MASK}", "a": 1}}'),
        ("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n-----END RSA " + "PRIVATE KEY-----!", f"{MASK}!"),
        ("monkey=banana is no secret, and keys are things", "monkey=banana is no secret, and keys are things"),
        ("the token economy", "the token economy"),
        ("x" * 3000, "x" * 2000),
    ],
)
def test_named_secrets_are_masked_and_the_rest_of_a_text_stays(text, masked):
    assert mask(text) == masked


def test_what_stands_under_the_name_of_a_secret_is_masked_whatever_it_is():
    assert mask_values({"api_key": "plain", "n": 1, "none": None, "other": {1, 2}.__class__}) == {
        "api_key": MASK, "n": 1, "none": None, "other": "<class 'set'>",
    }  # fmt: skip


@given(st.text(max_size=300), st.sampled_from(SECRETS))
def test_a_secret_between_any_texts_is_masked(text, secret):
    assert secret not in mask(f"{text} {secret} {text}")


# --- the chain --------------------------------------------------------------------------------------------------------


def change(lines, at, old, new):
    assert old in lines[at]
    lines[at] = lines[at].replace(old, new, 1)


TAMPERING = {
    "a changed value": (
        lambda lines: change(lines, 3, b'"tenant_id":"default"', b'"tenant_id":"other"'),
        "audit.jsonl:4: row 4 was changed",
    ),
    "a removed row": (lambda lines: lines.pop(3), "audit.jsonl:4: row 4 is missing: row 5"),
    "a removed first row": (lambda lines: lines.pop(0), "audit.jsonl:1: row 1 is missing: row 2"),
    "an end cut off": (lambda lines: lines.__delitem__(slice(7, None)), "rows 8 to 10 are missing at the end"),
    "all rows removed": (lambda lines: lines.clear(), "rows 1 to 10 are missing"),
    "swapped rows": (lambda lines: lines.insert(3, lines.pop(4)), "audit.jsonl:4: row 4 is missing: row 5"),
    "a doubled row": (lambda lines: lines.insert(3, lines[3]), "audit.jsonl:5: row 5 is missing: row 4"),
    "a row of one's own": (
        lambda lines: lines.append(b'{"row":11,"prev_hash":"x","hash":"y"}\n'),
        "audit.jsonl:11: row 11 does not follow",
    ),
    "no row at all": (lambda lines: lines.__setitem__(3, b"oops\n"), "audit.jsonl:4: row 4 is not a row"),
    "half a row": (lambda lines: lines.__setitem__(9, lines[9][:-10]), "audit.jsonl:10: row 10 is not a row"),
}


@pytest.mark.parametrize("kind", TAMPERING)
def test_whatever_is_changed_is_found_and_named(open_log, kind):
    log = open_log()
    write(log, 10)
    tamper, sentence = TAMPERING[kind]
    lines = log.path.read_bytes().splitlines(keepends=True)

    assert log.verify().ok
    tamper(lines)
    log.path.write_bytes(b"".join(lines))

    assert re.search(sentence, log.verify().problem)


def test_a_whole_log_written_anew_without_the_key_does_not_hold(open_log, tmp_path):
    log = open_log()
    write(log, 3)
    forged = AuditLog(tmp_path / "forged" / "audit.jsonl", keys=[bytes(32)], warn=print)
    write(forged, 3)
    forged.close()
    seal = seal_path(log.path).read_bytes()
    for path, name in ((forged.path, log.path), (seal_path(forged.path), seal_path(log.path))):
        name.write_bytes(path.read_bytes())

    assert "audit.jsonl.seal does not hold" in log.verify().problem
    seal_path(log.path).write_bytes(seal)
    assert "row 1 was changed" in log.verify().problem
    seal_path(log.path).unlink()
    assert "audit.jsonl.seal is missing" in log.verify().problem


def test_a_log_is_continued_by_the_next_process_and_under_the_next_key(open_log):
    write(first := open_log(), 2)
    first.close()
    new = audit_key(bytes(32))
    write(second := open_log(keys=[new, KEY]), 2)

    assert second.verify().rows == 4
    assert verify(second.path, [new]).problem
    assert verify(second.path.with_name("absent.jsonl"), [KEY]).ok


def test_what_a_crash_left_half_written_is_cut_off_and_the_chain_goes_on(open_log):
    write(first := open_log(), 3)
    first.close()
    seal = seal_path(first.path).read_bytes()
    write(second := open_log(), 2)
    second.close()
    # The rows were on the disk and the seal was not, and the last row was under way.
    seal_path(first.path).write_bytes(seal)
    with first.path.open("ab") as file:
        file.write(b'{"row":6,"at":17')

    assert verify(first.path, [KEY]).rows == 5
    write(third := open_log(), 1)

    assert third.verify().rows == 6
    assert third.verify().ok


@pytest.mark.parametrize("left", [b"", b'{"row":2,"at":17'])
def test_a_log_that_was_killed_behind_its_first_row_is_whole_and_goes_on(open_log, warnings, monkeypatch, left):
    class KilledError(BaseException):
        """The end of a process between the row and its seal."""

    def write_seal(self, seal):
        if seal.last:
            raise KilledError
        return of_files(self, seal)

    of_files = LogFiles._write_seal
    path = open_log().path
    files = LogFiles(path, keys=[KEY], max_bytes=10_000, retention_days=0, clock=lambda: 0.0, warn=warnings.append)
    with monkeypatch.context() as killed:
        killed.setattr(LogFiles, "_write_seal", write_seal)
        with pytest.raises(KilledError):
            files.write([{"at": 1.0}])
    with path.open("ab") as file:
        file.write(left)

    assert (verify(path, [KEY]).rows, verify(path, [KEY]).problem) == (1, "")
    write(log := open_log(), 1)

    assert (log.verify().rows, log.verify().problem) == (2, "")
    assert warnings == []
    seal_path(path).unlink()
    assert "seal is missing" in log.verify().problem


def test_a_log_whose_seal_was_changed_is_set_aside_and_said(open_log, warnings):
    write(first := open_log(), 3)
    first.close()
    seal_path(first.path).write_text("{}", encoding="utf-8")

    write(second := open_log(), 1)

    assert second.verify().rows == 1
    assert len(list(second.path.parent.glob("broken-*-audit.jsonl"))) == 1
    assert "does not hold; the log was set aside" in warnings[0]


def test_a_seal_that_is_changed_between_two_writes_is_noticed_by_the_one_who_wrote_it(open_log, warnings):
    write(log := open_log(), 3)
    seal_path(log.path).write_text("{}", encoding="utf-8")

    write(log, 1)

    assert log.verify().rows == 1
    assert "does not hold" in warnings[0]


def test_two_who_write_in_turns_write_one_chain(open_log):
    one, other = open_log(), open_log()

    for _ in range(3):
        write(one, 2)
        write(other, 1)

    assert (one.verify().rows, one.verify().problem) == (9, "")


def test_records_that_come_together_wait_for_the_disk_together(open_log, monkeypatch):
    written = threading.Semaphore(0)
    monkeypatch.setattr("os.fsync", lambda _: written.release())
    monkeypatch.setattr("specloom.storage.audit_log.TOGETHER", 60)
    log = open_log()

    log.record(AuditRecord("tool_call"))
    assert not written.acquire(timeout=0.1)
    log.record(AuditRecord("tool_call"))
    log.flush()

    assert log.verify().rows == 2
    assert written.acquire(blocking=False)
    assert not written.acquire(blocking=False)


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_a_file_that_is_full_is_followed_by_the_next_and_the_chain_runs_through(open_log):
    log = open_log(max_bytes=4096)

    for _ in range(60):
        write(log)

    files = log_files(log.path)
    assert len(files) > 3
    assert all(file.stat().st_size < 4096 + 600 for file in files)
    assert (log.verify().rows, log.verify().ok) == (60, True)
    files[1].unlink()
    assert "is missing: row" in log.verify().problem


def test_rows_go_when_their_time_is_over_and_the_rest_still_holds(open_log, clock):
    log = open_log(retention_days=180)

    for _ in range(40):
        write(log)
        clock.now += 10 * DAY
    rows = rows_of(log)

    ages = [(clock.now - 10 * DAY - row["at"]) / DAY for row in rows]
    assert max(ages) <= 180 + 2 * 180 / 18
    assert len(rows) >= 18
    assert (log.verify().ok, log.verify().rows) == (True, len(rows))
    assert rows[0]["row"] > 15


def test_a_file_that_a_crash_kept_from_deletion_is_no_problem(open_log, clock):
    log = open_log(retention_days=180)
    write(log)
    clock.now += 20 * DAY
    write(log)
    (old, _) = log_files(log.path)
    content = old.read_bytes()
    clock.now += 200 * DAY
    write(log)

    assert not old.exists()
    old.write_bytes(content)
    assert log.verify().ok


def test_without_a_time_everything_is_kept(open_log, clock):
    log = open_log(retention_days=0)

    for _ in range(5):
        write(log)
        clock.now += 400 * DAY

    assert log.verify().rows == 5


def test_records_that_cannot_be_written_are_counted_and_the_count_is_written_down(open_log, warnings):
    log = open_log()
    write(log, 2)
    kept = log.path.rename(log.path.parent.parent / "kept")
    log.path.mkdir()

    write(log, 3)
    write(log, 3)
    log.path.rmdir()
    kept.rename(log.path)
    write(log)

    assert log.dropped == 6
    assert len(warnings) == 1
    assert "cannot be written" in warnings[0]
    assert log.verify().ok
    assert rows_of(log)[-1]["metadata"] == {"records": 6}


def test_records_beyond_what_may_wait_are_counted(open_log, monkeypatch):
    monkeypatch.setattr("specloom.storage.audit_log.MOST_WAITING", 5)
    log = open_log()

    with log._wake:  # nothing is written while this is held
        for _ in range(9):
            log._waiting.append((0.0, AuditRecord("x"))) if len(log._waiting) < 5 else None
    log.record(AuditRecord("one too many"))
    log.record(AuditRecord("wakes the thread"))

    assert log.dropped == 2


WRITER = """
import sys
from pathlib import Path
from specloom.storage.audit_log import AuditLog, AuditRecord, audit_key

log = AuditLog(Path(sys.argv[1]), keys=[audit_key(bytes(range(32)))], max_bytes=20_000, warn=print)
for at in range(140):
    log.record(AuditRecord("tool_call"))
    if at % 7 == 0:
        log.flush()
log.close()
"""


def test_several_processes_write_one_chain(tmp_path):
    path = tmp_path / "audit.jsonl"
    children = [subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) for _ in range(3)]

    codes = [child.wait(timeout=300) for child in children]

    assert codes == [0, 0, 0]
    assert (verify(path, [KEY]).rows, verify(path, [KEY]).problem) == (420, "")


@given(
    st.from_regex(r"[\w./-]{0,14}", fullmatch=True) | st.from_regex(r"(xox|sk-|eyJ|AIza)[\w./-]{0,10}", fullmatch=True)
)
def test_a_short_word_is_left_as_the_forms_of_secrets_leave_it(text):
    # A blank behind a word is no part of it, and what has one is looked at by all forms.
    assert mask(text) == mask(f"{text} ").removesuffix(" ")
