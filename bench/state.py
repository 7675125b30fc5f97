"""What a step and a recovery cost with 10, 1,000 and 50,000 sessions in the store, and other figures of the state.

    python bench/state.py [--quick] [--shared] [--json FILE]

A store is filled with sessions of eight steps and twenty sources each, fifty to an owner. Then one owner tells steps
and recovers sessions; the stores take turns call by call, and the ratio is to the smallest store in the same round.
What a call costs must not depend on what others keep. The same calls are then told to the store on disk, to one on a
Redis of this machine that syncs its file with each write, and to one on a Redis that syncs once a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from specloom.compiler.collection import load_collections
from specloom.domains.sessions.session import ResearchSession, SessionStep, SitedSource, StepReport, dump
from specloom.domains.sessions.store import begin, find, note, proceed
from specloom.domains.sessions.views import show_recovery
from specloom.plugins.collections import CollectionStore, join_owner
from specloom.specs.library import shipped_root
from specloom.storage.audit_log import AuditLog, AuditRecord, audit_key, verify
from specloom.storage.keys import MasterKeys
from specloom.storage.redis_link import RedisSettings, check_redis
from specloom.storage.redis_store import RedisStore
from specloom.storage.store import StateStore
from specloom.storage.writes import append, put

N = TypeVar("N", bound=Hashable)
KEY = bytes(range(32))
DECLARED = load_collections([shipped_root()])
TEXT = "Compared what the survey and the two field reports say about numbers, methods and dates. " * 3
EVENTS, PER_OWNER = 8, 50
SHARDS = 500
"""Sessions that are written together while a store is filled."""


def make_report(number: int) -> StepReport:
    return StepReport(
        search_step=TEXT,
        step_number=number,
        next_step_needed=True,
        research_goal="the goal",
        reasoning=TEXT,
        confidence="high",
        rejected_approaches=["a", "b"],
    )


def make_step(number: int) -> SessionStep:
    return make_report(number).to_step(1_700_000_000.0 + number)


async def fill(store: StateStore, count: int) -> None:
    """Put sessions into a store as research would have, several in one transaction."""
    sources = [
        SitedSource(url=f"https://site{at}.example/page", title=f"Title {at}", kind="web", found_in=1)
        for at in range(20)
    ]

    def write(rows: Any, first: int, last: int) -> None:
        for at in range(first, last):
            place = rows.tags.address(store.specs["sessions"], join_owner("filler", f"user{at // PER_OWNER}"), "")
            id_ = f"session-{at}"
            put(
                rows,
                place,
                id_,
                dump(ResearchSession(id=id_, goal="a goal", started=1_700_000_000.0, sources=sources)),
                None,
            )
            for number in range(1, EVENTS + 1):
                append(rows, place, id_, dump(make_step(number)), None, None)

    for first in range(0, count, SHARDS):
        await store.write(lambda rows, first=first: write(rows, first, min(count, first + SHARDS)))


async def measure_round(stores: Mapping[N, CollectionStore], calls: int, round_: int) -> dict[N, dict[str, float]]:
    """Median milliseconds of each call by store; the stores take turns, so that all of them meet the same noise."""
    times: dict[N, dict[str, list[float]]] = {
        size: {"begin": [], "step": [], "sources": [], "recovery": []} for size in stores
    }
    for at in range(calls):
        id_ = f"r{round_}-{at}"
        told = [make_report(number) for number in (1, 2)]
        rows = [{"url": f"https://found{n}.example/x", "title": f"Found {n}"} for n in range(10)]
        for size, store in stores.items():
            taken, drawer = times[size], store.drawer("sessions", join_owner("acme", "ann"))
            await timed(taken["begin"], begin(drawer, told[0], new_id=id_, now=time.time()))
            await timed(taken["step"], proceed(drawer, id_, told[1], now=time.time()))
            await timed(taken["sources"], note(drawer, id_, "web", rows, 2))
            started = time.perf_counter()
            trail = await find(drawer, id_)
            show_recovery(trail.session, trail.steps)
            taken["recovery"].append(time.perf_counter() - started)
    return {
        size: {name: statistics.median(some) * 1000 for name, some in taken.items()} for size, taken in times.items()
    }


async def timed(times: list[float], work: Any) -> None:
    started = time.perf_counter()
    await work
    times.append(time.perf_counter() - started)


async def measure_growth(folder: Path, sizes: list[int], rounds: int, calls: int) -> dict[str, Any]:
    stores = {}
    filled = {}
    for size in sizes:
        stores[size] = StateStore(folder / str(size), MasterKeys(KEY), DECLARED.values())
        started = time.perf_counter()
        await fill(stores[size], size)
        filled[size] = time.perf_counter() - started
        await measure_round({size: stores[size]}, 3, -1)
    taken: dict[int, list[dict[str, float]]] = {size: [] for size in sizes}
    for round_ in range(rounds):
        for size, medians in (await measure_round(stores, calls, round_)).items():
            taken[size].append(medians)
    figures: dict[str, Any] = {}
    for name in ("begin", "step", "sources", "recovery"):
        for size in sizes:
            ratios = [mine[name] / least[name] for mine, least in zip(taken[size], taken[sizes[0]], strict=True)]
            figures[f"{name}, {size} sessions"] = {
                "ms": round(statistics.median(one[name] for one in taken[size]), 3),
                "ratio": round(statistics.median(ratios), 2),
                "range": [round(min(ratios), 2), round(max(ratios), 2)],
            }
    for size in sizes:
        path = folder / str(size) / "state.db"
        figures[f"file, {size} sessions"] = {
            "bytes a session": round(path.stat().st_size / size),
            "s to fill": round(filled[size], 1),
        }
        await stores[size].aclose()
    return figures


def start_redis(program: str, folder: Path, fsync: str) -> subprocess.Popen[bytes]:
    """A server on a socket in a folder of its own."""
    folder.mkdir()
    kept = ["--appendonly", "yes", "--appendfsync", fsync, "--save", ""]
    command = [program, "--port", "0", "--unixsocket", str(folder / "s"), "--dir", str(folder), *kept]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


async def measure_shared(folder: Path, rounds: int, calls: int) -> dict[str, Any]:
    """What a step and a recovery cost over Redis, against the store on disk in the same rounds."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        return {"over Redis": {"left out": "there is no redis-server on PATH"}}
    servers: list[subprocess.Popen[bytes]] = []
    stores: dict[str, StateStore | RedisStore] = {
        "disk": StateStore(folder / "disk", MasterKeys(KEY), DECLARED.values())
    }
    try:
        for fsync in ("always", "everysec"):
            place = folder / fsync
            servers.append(start_redis(program, place, fsync))
            settings = RedisSettings(f"unix://{place / 's'}", "specloom:", KEY)
            check_redis(settings, lambda _: None, keeps_state=True)
            name = f"Redis, fsync {fsync}"
            stores[name] = RedisStore(settings, MasterKeys(KEY), DECLARED.values(), print)
        await measure_round(stores, 3, -1)
        taken = [await measure_round(stores, calls, round_) for round_ in range(rounds)]
        for store in stores.values():
            await store.aclose()
    finally:
        for server in servers:
            server.kill()
            server.wait()
    figures: dict[str, Any] = {}
    for call in ("begin", "step", "sources", "recovery"):
        for name in stores:
            ratios = [one[name][call] / one["disk"][call] for one in taken]
            figures[f"{call}, {name}"] = {
                "ms": round(statistics.median(one[name][call] for one in taken), 3),
                "ratio": round(statistics.median(ratios), 2),
                "range": [round(min(ratios), 2), round(max(ratios), 2)],
            }
    return figures


async def measure_rest(folder: Path, notes: int) -> dict[str, Any]:
    """Writes that wait for the disk together, search over many notes, and what an audit record costs the caller."""
    store = StateStore(folder / "rest", MasterKeys(KEY), DECLARED.values())
    drawer = store.drawer("memories", join_owner("acme", "ann"))
    started = time.perf_counter()
    for first in range(0, notes, 64):
        await asyncio.gather(
            *(
                drawer.put(str(at), {"note": f"{TEXT} number{at} word{at % 97}", "topic": f"topic {at % 11}"})
                for at in range(first, min(notes, first + 64))
            )
        )
    figures: dict[str, Any] = {
        f"{notes} notes kept, 64 at a time": {"ms each": round((time.perf_counter() - started) * 1000 / notes, 3)}
    }
    for name in ("first search", "next search"):
        started = time.perf_counter()
        found = await drawer.search("number77 reports")
        figures[f"{name} over {notes} notes"] = {
            "ms": round((time.perf_counter() - started) * 1000, 1),
            "found": len(found),
        }
    await store.aclose()
    log = AuditLog(folder / "audit.jsonl", keys=[audit_key(KEY)], warn=print)
    taken = []
    for at in range(5000):
        started = time.perf_counter()
        log.record(AuditRecord("tool_call", "acme", "ann", tool_name="t", metadata={"query_length": at}))
        taken.append(time.perf_counter() - started)
    started = time.perf_counter()
    log.close()
    figures["audit record, handed over"] = {"us": round(statistics.median(taken) * 1e6, 1)}
    figures["5000 audit records, on the disk"] = {"ms after the last": round((time.perf_counter() - started) * 1000, 1)}
    started = time.perf_counter()
    verdict = verify(log.path, [audit_key(KEY)])
    figures["audit rows verified"] = {"rows": verdict.rows, "ms": round((time.perf_counter() - started) * 1000, 1)}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="leave the largest store out and take fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--shared", action="store_true", help="only compare the store on disk with those over Redis")
    options = parser.parse_args()
    sizes = [10, 1000] if options.quick else [10, 1000, 50_000]
    with tempfile.TemporaryDirectory() as folder:
        rounds = 5 if options.quick else 9
        figures = asyncio.run(measure_shared(Path(folder), rounds, 20))
        if not options.shared:
            figures |= asyncio.run(measure_growth(Path(folder), sizes, rounds, 20))
            figures |= asyncio.run(measure_rest(Path(folder), 1000 if options.quick else 5000))
    for name, values in figures.items():
        print(f"{name:36}", "  ".join(f"{key} {value}" for key, value in values.items()))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
