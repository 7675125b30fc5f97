"""A machine without room, that cannot be written, with few descriptors or a clock that jumps, and a shared home."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from pathlib import Path
from statistics import median

import pytest

from tests.faults.conftest import MANY, Cell, Tries, often
from tests.support.served import STEP, RefusedError, Served, content, use_every_store
from tests.support.upstream import EVERY_STORE, Upstream

DAY = 86_400.0
YEARS = 3653 * DAY


def has_own_mounts() -> bool:
    """Whether a process may have mounts of its own here."""
    if shutil.which("unshare") is None:
        return False
    mount = ["unshare", "-m", "mount", "-t", "tmpfs", "t", "/mnt"]
    return not subprocess.run(mount, check=False, capture_output=True).returncode


MOUNTS = pytest.mark.skipif(not has_own_mounts(), reason="mounts of one's own are not allowed here")
UNDER = ("unshare", "-m", "sh", "-c")


def answers(server: Served, mark: str) -> dict[str, str]:
    """What a call of each store and of each kind said, empty for one that went well."""
    calls = {
        "search": ("web_search", {"query": f"otters {mark}"}),
        "page": ("scrape_page", {"url": f"https://otters.example/{mark}"}),
        "large page": ("scrape_page", {"url": f"https://otters.example/large-{mark}", "mode": "raw"}),
        "references": ("format_bibliography", {"sources": [{"title": "Otters", "url": "https://otters.example/"}]}),
        "session": ("sequential_search", STEP),
        "memory": ("memory_save", {"note": f"Otters eat fish, said {mark}.", "topic": mark}),
        "monitor": ("monitor_query_save", {"query": f"otters {mark}"}),
        "paper": ("doiget_fetch_paper", {"ref": f"10.1234/otters-{mark}"}),
    }
    problems = {}
    for name, (tool, arguments) in calls.items():
        try:
            answer = content(server.call(tool, arguments))
            problems[name] = "" if answer.get("ok", True) else answer["error"]["message"]
        except RefusedError as error:
            problems[name] = str(error).partition("\n")[0]
    return problems


def check_words(told: str, problems: dict[str, str]) -> None:
    assert not re.search(r"Traceback|a defect(?!: no call)|Error\(", told + str(problems)), (told, problems)


@MOUNTS
@pytest.mark.parametrize("free", often([0, 40, 400], 40))
def test_on_a_full_disk_what_needs_none_works_and_the_rest_says_so(
    free: int, home: Path, upstream: Upstream, cell: Cell
) -> None:
    script = (
        f'mount -t tmpfs -o size=3m t "{home}" && dd if=/dev/zero of="{home}/filler" bs=1k count={3072 - free} 2>&1 '
        f'| true; cd "{home}"; exec "$@"'
    )
    with Served(home, {**upstream.environ(), **EVERY_STORE}, command=(*UNDER, script, "sh")) as server:
        full = answers(server, "full")
        filler = Path(f"/proc/{server.process.pid}/root{home}/filler")
        assert filler.exists()
        filler.unlink()
        roomy = answers(server, "roomy")
        assert server.finish() == 0
        told = server.stderr()

    check_words(told, full)
    assert [full[name] for name in ("search", "page", "references")] == ["", "", ""]
    assert not any(roomy.values()), (roomy, told)
    refused = sorted(name for name, said in full.items() if said)
    cell(
        "full disk", f"{free} KiB left", len(full), f"refused in words: {', '.join(refused) or 'none'}; all go on later"
    )
    print(free, full, told, sep="\n")


@MOUNTS
@MANY
def test_in_a_home_that_can_only_be_read_every_tool_answers(home: Path, upstream: Upstream, cell: Cell) -> None:
    script = f'mount -t tmpfs -o size=3m t "{home}" && mount -o remount,ro "{home}" && cd "{home}" && exec "$@"'
    with Served(home, {**upstream.environ(), **EVERY_STORE}, command=(*UNDER, script, "sh")) as server:
        problems = answers(server, "a")
        assert server.finish() == 0
        told = server.stderr()

    check_words(told, problems)
    assert [problems[name] for name in ("search", "page", "references")] == ["", "", ""]
    assert all(problems[name] for name in ("session", "memory", "monitor", "paper"))
    cell("read-only home", "every store", len(problems), f"{sum(map(bool, problems.values()))} refused in words")


def test_three_servers_share_a_home(home: Path, upstream: Upstream, tries: Tries, cell: Cell) -> None:
    each, problems = tries(150, 5), []
    environ = {**upstream.environ(), **EVERY_STORE}
    servers = [Served(home, environ) for _ in range(3)]
    session = content(servers[0].call("sequential_search", STEP))["sessionId"]

    def work(number: int, server: Served) -> None:
        try:
            for at in range(each):
                content(server.call("memory_save", {"note": f"Note {at} of server {number}.", "topic": f"of {number}"}))
                content(server.call("scrape_page", {"url": f"https://o{at}.example/{number}", "sessionId": session}))
                if at % 5 == 0:
                    paper = content(server.call("doiget_fetch_paper", {"ref": f"10.1234/shared.{at}"}))
                    assert paper.get("pdf") == {"status": "fetched"}, paper
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number, server)) for number, server in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = [
        content(servers[number - 1].call("memory_recall", {"topic": f"of {number}", "limit": 200}))["count"]
        for number in range(3)
    ]
    told = "".join(server.stderr() for server in servers)
    codes = [server.finish() for server in servers]
    for server in servers:
        server.__exit__()

    assert problems == []
    assert counts == [each] * 3
    assert codes == [0] * 3
    assert not re.search("locked|Traceback|a defect(?!: no call)", told), told
    cell("three servers", "one home", 3 * each * 2, f"{sum(counts)} memories of {3 * each}, none locked out")


@MANY
def test_a_clock_that_jumps_hangs_nothing_and_lets_nothing_live_for_ever(
    home: Path, upstream: Upstream, cell: Cell
) -> None:
    jumps = (0.0, DAY, -DAY, YEARS, -YEARS, 0.0)
    said, lasting = {}, ""
    with Served(home, {**upstream.environ(), **EVERY_STORE}) as server:
        for at, jump in enumerate(jumps):
            upstream.move_clock(jump)
            problems = answers(server, f"jump{at}")
            said[at] = {name: text for name, text in problems.items() if text}
            asked = len(upstream.calls)
            content(server.call("web_search", {"query": f"otters jump{at}"}))
            assert len(upstream.calls) == asked, "what was asked a moment ago is asked again"
        asked = len(upstream.calls)
        content(server.call("web_search", {"query": "otters jump3"}))
        if len(upstream.calls) == asked:
            lasting = "an answer from ten years ahead is served today"
        assert server.finish() == 0
        told = server.stderr()

    check_words(told, {})
    assert not any(said.values()), said
    assert lasting == ""
    cell("clock jumps", "one day, ten years", len(jumps), "every tool answers, nothing from the future is served")


def test_with_few_descriptors_nothing_breaks(home: Path, upstream: Upstream, cell: Cell) -> None:
    command = ("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")
    with Served(home, {**upstream.environ(), **EVERY_STORE}, command=command) as server:
        use_every_store(server)
        futures = [server.begin("scrape_page", {"url": f"https://d{at}.example/a"}) for at in range(120)]
        results = [future.result(180)["result"] for future in futures]
        after = answers(server, "after")
        descriptors = server.descriptors()
        assert server.finish() == 0
        told = server.stderr()

    refused = [result["content"][0]["text"] for result in results if result.get("isError")]
    check_words(told, dict(enumerate(map(str, refused))))  # type: ignore[arg-type]
    assert refused == []
    assert not any(after.values()), (after, told)
    assert descriptors < 64
    cell("64 descriptors", "120 pages at once", len(results), "all answered, all tools after")


@MANY
def test_memory_and_descriptors_stay_over_many_calls(home: Path, upstream: Upstream, tries: Tries, cell: Cell) -> None:
    calls = tries(10_000, 500)
    rss, descriptors = [], []
    kinds = (
        lambda at: ("scrape_page", {"url": f"https://e{at % 700}.example/{at}"}),
        lambda at: ("format_bibliography", {"sources": [{"title": f"Otters {at}", "url": f"https://o.example/{at}"}]}),
        lambda at: ("memory_save", {"note": f"Note {at} on otters.", "topic": f"t{at % 9}"}),
        lambda at: ("memory_recall", {"topic": f"t{at % 9}", "limit": 3}),
        lambda at: ("sequential_search", STEP),
        lambda at: ("scrape_page", {"url": "no address"}),
        lambda at: ("doiget_info", {"ref": f"10.1234/nobody.{at}"}),
    )
    with Served(home, {**upstream.environ(), **EVERY_STORE}) as server:
        for first in range(0, calls, 20):
            futures = [server.begin(*kinds[at % len(kinds)](at)) for at in range(first, first + 20)]
            assert all("result" in future.result(120) for future in futures)
            if first % (calls // 20) < 20:
                rss.append(server.rss())
                descriptors.append(server.descriptors())
        assert server.finish() == 0
        check_words(server.stderr(), {})

    third, last = median(rss[len(rss) // 2 : -len(rss) // 4]), median(rss[-len(rss) // 4 :])
    per_call = (last - third) * 1024 / (calls / 4)
    if calls >= 10_000:
        # What answers, memories and idle connections take has its bounds, and they are reached in the first half.
        assert per_call < 4096, rss
        assert max(descriptors[len(descriptors) // 2 :]) <= max(descriptors[: len(descriptors) // 2]) + 8, descriptors
    outcome = f"RSS {rss[0] // 1024}, {round(third) // 1024}, {round(last) // 1024} MiB; {descriptors[-1]} descriptors"
    cell("endurance", "mixed calls", calls, outcome)
