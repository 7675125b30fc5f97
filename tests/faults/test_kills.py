"""Killed at any moment while every store is written: what was answered is there afterwards, whole, with locks free.

A server is killed when it has answered some writes, however many chance says, and a moment more. The next one is asked
for all of them, and is killed in its turn while it writes. Two things are kept without being waited for, by design: the
rows of the audit log and of the answer cache. Of those nothing may be broken, and no more may be gone than was written
in the last moments.
"""

from __future__ import annotations

import itertools
import json
import random
import sqlite3
import subprocess
import sys
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from specloom.core.secrets import load_key
from specloom.domains.papers import provenance_log
from specloom.storage import audit_log
from specloom.storage.keys import load_master_keys
from tests.faults.conftest import Cell, Tries, often
from tests.support.loopback import Call
from tests.support.served import STEP, RefusedError, Served, content
from tests.support.server_process import request
from tests.support.upstream import EVERY_STORE, Upstream, web

LATE = 2.0
"""Seconds before a kill in which what is not waited for may be lost; ten times as long as it is gathered."""
CACHED = "cached"
"""With what the hosts begin whose pages are to be found in the cache."""
LIVES_OF_A_USER = 5
"""A user has room for so many sessions and watched queries."""

Write = tuple[str, float]
"""What can be asked for again, and when its answer was read."""


@dataclass
class Acknowledged:
    """The writes whose answers were read, by store."""

    writes: dict[str, list[Write]] = field(default_factory=dict)
    refused: int = 0
    """Answers that were faults, as where a machine is so busy that the upstream is late."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    more: threading.Event = field(default_factory=threading.Event)

    def add(self, store: str, what: str) -> None:
        """An answer was read."""
        with self.lock:
            self.writes.setdefault(store, []).append((what, time.monotonic()))
        self.more.set()

    def count(self) -> int:
        """How many in all."""
        with self.lock:
            return sum(map(len, self.writes.values()))


def writers(server: Served, life: int, done: Acknowledged) -> dict[str, Callable[[int], None]]:
    """What is written again and again, by the store that it goes to; each gets the number of the try."""
    begun: dict[str, str] = {}

    def step(at: int) -> None:
        if at % 150 == 0:
            begun["session"] = content(server.call("sequential_search", {**STEP, "searchStep": f"life {life}"}))[
                "sessionId"
            ]
            done.add("sessions", f"{begun['session']} 1 life {life}")
        else:
            number, text = at % 150 + 1, f"step {at} of life {life}"
            content(server.call("sequential_search", {**STEP, "sessionId": begun["session"], "searchStep": text,
                                                      "stepNumber": number}))  # fmt: skip
            done.add("sessions", f"{begun['session']} {number} {text}")

    def memory(at: int) -> None:
        note = f"Otters eat fish, says note {at}."
        content(server.call("memory_save", {"note": note, "topic": f"life {life}"}))
        done.add("memories", note)

    def monitor(at: int) -> None:
        query = f"watched {life} {at % 15}"
        assert content(server.call("monitor_query_save", {"query": query}))["status"] == "ok"
        done.add("monitors", query)

    def artifact(at: int) -> None:
        url = f"https://o{life}x{at}.example/large"
        result = server.call("scrape_page", {"url": url, "mode": "raw"})
        content(result)
        done.add("artifacts", f"{result['content'][1]['uri']} {url}")

    def paper(at: int) -> None:
        ref = f"10.1234/otters.{life}.{at}"
        told = content(server.call("doiget_fetch_paper", {"ref": ref}))
        if told["pdf"] != {"status": "fetched"}:
            raise RefusedError(told)
        done.add("papers", f"{ref} {told['path']}")

    def answer(at: int) -> None:
        # No search: those have to wait for each other, and a monitor asks one.
        url = f"https://{CACHED}{life}x{at}.example/"
        content(server.call("scrape_page", {"url": url}))
        done.add("cache", url)

    return {"sessions": step, "memories": memory, "monitors": monitor, "artifacts": artifact, "papers": paper,
            "cache": answer}  # fmt: skip


def live_and_die(server: Served, life: int, chance: random.Random) -> Acknowledged:
    """Write to every store at once, and be killed at a random moment; what was acknowledged until then."""
    done, ended = Acknowledged(), threading.Event()
    problems: list[BaseException] = []

    def work(write: Callable[[int], None]) -> None:
        try:
            for at in itertools.count():
                try:
                    write(at)
                except RefusedError:
                    done.refused += 1
        except EOFError:
            ended.set()
        except BaseException as error:
            problems.append(error)
            done.more.set()

    threads = [threading.Thread(target=work, args=(write,)) for write in writers(server, life, done).values()]
    for thread in threads:
        thread.start()
    wanted = chance.randrange(1, 60)
    while done.count() < wanted and not problems:
        assert done.more.wait(60), "nothing is answered"
        done.more.clear()
    ended.wait(chance.random() * 0.05)
    server.kill()
    for thread in threads:
        thread.join(60)
    assert problems == []
    return done


def check(server: Served, life: int, done: Acknowledged, asked: Callable[[], int]) -> Counter[str]:
    """How many of the writes of a life are not there, by store."""
    lost: Counter[str] = Counter()
    sessions: dict[str, dict[int, str]] = {}
    for what, _ in done.writes.get("sessions", ()):
        session, number, text = what.split(" ", 2)
        sessions.setdefault(session, {})[int(number)] = text
    for session, steps in sessions.items():
        trail = content(server.call("get_research_session", {"sessionId": session}))
        listed = {row["stepNumber"]: row["oneLiner"] for row in trail["stepIndex"]}
        assert sorted(listed) == list(range(1, len(listed) + 1)), "a step is missing between two others"
        lost["sessions"] += sum(listed.get(number) != text for number, text in steps.items())
    recalled = content(server.call("memory_recall", {"topic": f"life {life}", "limit": 200}))["memories"]
    notes = {row["note"] for row in recalled}
    lost["memories"] += sum(note not in notes for note, _ in done.writes.get("memories", ()))
    for query in {query for query, _ in done.writes.get("monitors", ())}:
        lost["monitors"] += content(server.call("monitor_query_check", {"query": query}))["status"] != "ok"
    for number, (what, _) in enumerate(done.writes.get("artifacts", ())):
        uri, url = what.split(" ")
        read = server.ask(request(f"artifact {number}", "resources/read", {"uri": uri}))
        text = read["result"]["contents"][0]["text"] if "result" in read else ""
        lost["artifacts"] += not (url in text and text.endswith("}") and "</html>" in text)
    for what, _ in done.writes.get("papers", ()):
        ref, path = what.split(" ", 1)
        about = content(server.call("doiget_info", {"ref": ref}))["metadata"]
        body = Path(path).read_bytes()
        lost["papers"] += not (about["doiget"]["size_bytes"] == len(body) and body.endswith(b"%%EOF\n"))
    for url, at in done.writes.get("cache", ()):
        before = asked()
        server.call("scrape_page", {"url": url})
        # It is asked again when it was not kept, and then it must have been among the last.
        lost["cache"] += asked() > before
        assert asked() == before or done.writes["cache"][-1][1] - at < LATE, "an answer from long before is gone"
    return lost


def check_files(home: Path) -> None:
    """No file is half of one: databases are whole, chains hold, papers are whole or not named."""
    for file in (home / ".cache/specloom/answers/cache.db", home / ".local/state/specloom/state.db"):
        connection = sqlite3.connect(file)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",), file
        connection.close()
    assert provenance_log.verify(home / ".config/doiget/access.jsonl").problem == ""
    state = home / ".local/state/specloom"
    keys = [audit_log.audit_key(key) for key in load_master_keys(state, {}).all]
    assert audit_log.verify(state / "audit.jsonl", keys).problem == ""
    for file in (home / "papers" / ".metadata").glob("*.toml"):
        entry = tomllib.loads(file.read_text("utf-8"))
        assert (home / "papers" / entry["pdf_path"]).stat().st_size == entry["doiget"]["size_bytes"]
    for file in (home / "papers").glob("*.pdf"):
        assert file.read_bytes().endswith(b"%%EOF\n"), "half a paper is shown"


WRITING = ("sequential_search", "memory_save", "monitor_query_save", "scrape_page", "doiget_fetch_paper")
"""Tools that are called by the writers alone."""


def count_rows(home: Path) -> int:
    """How many calls of the writers the audit log has."""
    lines = (home / ".local/state/specloom/audit.jsonl").read_bytes().splitlines()
    return sum(json.loads(line).get("tool_name") in WRITING for line in lines)


def user_of(life: int) -> dict[str, str]:
    return {"STDIO_USER_ID": f"ann{max(0, life) // LIVES_OF_A_USER}"}


@pytest.mark.parametrize("part", often([1, 2, 3, 4], 1))
def test_what_was_answered_is_there_after_every_kill(
    part: int, home: Path, upstream: Upstream, tries: Tries, cell: Cell
) -> None:
    kills, chance = tries(50, 2), random.Random(part)
    acknowledged: Counter[str] = Counter()
    refused = 0
    again = early = 0
    pages = itertools.count(1)
    asked = [0]

    def answer(call: Call) -> Any:
        if call.headers.get("host", "").startswith(CACHED):
            asked[0] = next(pages)
        return web(call)

    def served(life: int) -> Served:
        return Served(home, {**upstream.environ(), **EVERY_STORE, **user_of(life)})

    upstream.handler = answer
    done = Acknowledged()
    for life in range(kills + 1):
        before = done
        with served(life - 1) as server:
            if life:
                lost = check(server, life - 1, before, lambda: asked[0])
                again += lost.pop("cache", 0)
                assert not sum(lost.values()), lost
            if life < kills and user_of(life) == user_of(life - 1):
                done = live_and_die(server, life, chance)
            else:
                assert server.finish() == 0
        if life < kills and done is before:
            with served(life) as server:
                done = live_and_die(server, life, chance)
        check_files(home)
        if life < kills:
            end = max(at for writes in done.writes.values() for _, at in writes)
            refused += done.refused
            for store, writes in done.writes.items():
                acknowledged[store] += len(writes)
                early += len([at for _, at in writes if store != "cache" and end - at > LATE])
    assert refused * 20 < acknowledged.total()
    stores = ("sessions", "memories", "monitors", "artifacts", "papers")
    # A few kills on a busy machine may come before a store was written at all; many may not.
    shown = [acknowledged[store] for store in stores] if kills >= 20 else [acknowledged.total()]
    assert min(shown) > kills // 2, "hardly anything was acknowledged, so nothing is shown"
    for store in stores:
        cell("kill -9 while writing", f"{store} ({part})", kills, f"{acknowledged[store]} acknowledged, 0 lost")
    outcome = f"{acknowledged['cache']} answered, {again} of the last moments asked again, none broken"
    cell("kill -9 while writing", f"cache ({part})", kills, outcome)
    rows, calls = count_rows(home), sum(count for store, count in acknowledged.items() if store != "cache")
    assert rows >= early
    cell(
        "kill -9 while writing", f"audit log ({part})", kills, f"{rows} rows of {calls} calls answered, the chain holds"
    )


MAKER = """
import os, sys, itertools
from pathlib import Path
from specloom.core import load_key

os.write(1, b"ready\\n")
for at in itertools.count():
    os.write(1, f"{at} {load_key(Path(sys.argv[1], str(at)), {}).hex()}\\n".encode())
"""


def test_a_key_that_was_used_once_is_the_key_for_ever(home: Path, tries: Tries, cell: Cell) -> None:
    kills, chance, keys = tries(200, 10), random.Random(3), 0
    for life in range(kills):
        folder = home / str(life)
        child = subprocess.Popen([sys.executable, "-c", MAKER, str(folder)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        # So many first, on however slow a machine, and then a moment more.
        first = [child.stdout.readline() for _ in range(chance.randrange(3))]
        threading.Event().wait(chance.random() * 0.1)
        child.kill()
        lines = [line.decode().split() for line in (*first, *child.stdout) if line.endswith(b"\n")]
        child.wait()
        child.stdout.close()
        keys += len(lines)
        for number, key in lines:
            assert load_key(folder / number, {}).hex() == key
        # The one that was being made: there is one, whole, from now on.
        assert load_key(folder / str(len(lines)), {}) == load_key(folder / str(len(lines)), {})
    assert keys > kills // 4, "hardly a key was used, so nothing is shown"
    cell("kill -9 while writing", "key files", kills, f"{keys} keys used, 0 lost, none half-written")
