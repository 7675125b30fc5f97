"""What a new call costs beside another checkout: two warm servers that take short bursts in turns.

    python bench/pairs.py --against CHECKOUT [--rounds 14] [--count 40] [--widths 1,8,32] [--set NAME=VALUE]...

CHECKOUT is another checkout of this repository (`git worktree add CHECKOUT COMMIT`); both run in the environment of
this one, with answers kept, the audit log on, and folders of their own. Every `web_search` is new and asks a stub on
loopback. A ratio is a burst of ours by the mean of theirs before and after it, so that what else the machine does
matters little; the median of the rounds and the quartiles are printed. Processor time is that of all threads, what is
written behind the answers included. `--same` fails where the two answer a query otherwise.

`--profile SECONDS` instead asks ours for so long and prints where each of its threads was, as py-spy saw it.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from client import Client, call
from rivals import asking, empty_home
from stub import running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HERE = Path(__file__).parents[1]
SERVE = "import sys; from specloom.__main__ import main; sys.argv = ['specloom', 'serve']; sys.exit(main())"
BEHIND = 0.25
"""Seconds after a burst in which answers and records get to the disk."""
_ID = re.compile(rb'"id":\s*(\d+)')
_CHANGING = re.compile(rb'"(?:latency_ms|ageSeconds)":\s*\d+')


@dataclass(slots=True)
class Burst:
    """What one burst took: processor milliseconds a call, calls a second, and the latencies in milliseconds."""

    cpu: float
    rate: float
    latencies: list[float]


@dataclass(slots=True)
class Side:
    """One server, and its bursts by width."""

    client: Client
    bursts: dict[int, list[Burst]] = field(default_factory=lambda: collections.defaultdict(list))


def cpu_seconds(process: int) -> float:
    """Seconds of processor time of a process and all its threads, to the nanosecond (Linux)."""
    return time.clock_gettime((~process << 3) | 2)


def burst(client: Client, queries: Iterator[str], width: int, count: int) -> Burst:
    """So many new searches with at most `width` in flight; every answer has to have results."""
    lines = [call(1000 + number, "web_search", {"query": next(queries)}) for number in range(count)]
    sent: dict[int, float] = {}
    latencies: list[float] = []
    answers: list[bytes] = []
    before, began, at = cpu_seconds(client.process.pid), time.perf_counter(), 0
    while len(answers) < count:
        while at < count and at - len(answers) < width:
            sent[1000 + at] = time.perf_counter()
            client.send(lines[at])
            at += 1
        line = client.receive()
        match = _ID.search(line[:60])
        if match is None:
            continue
        latencies.append((time.perf_counter() - sent[int(match[1])]) * 1000)
        answers.append(line)
    rate = count / (time.perf_counter() - began)
    time.sleep(BEHIND)
    cpu = (cpu_seconds(client.process.pid) - before) / count * 1000
    for answer in answers:
        said = json.loads(answer)
        if "error" in said or said["result"].get("isError") or not said["result"]["structuredContent"]["results"]:
            raise SystemExit(f"pairs: a search through the stub failed: {answer[:800].decode('utf-8', 'replace')}")
    return Burst(cpu, rate, latencies)


@contextlib.contextmanager
def serving(checkout: Path, upstream: str, more: Mapping[str, str]) -> Iterator[Client]:
    """A warm server of a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {**empty_home(Path(folder)), **asking(upstream), "PYTHONPATH": str(checkout / "engine"), **more}
        with Client([sys.executable, "-P", "-c", SERVE], environ) as client:
            client.list_tools()
            burst(client, (f"warm {number}" for number in range(100)), 8, 100)
            yield client


def measure(ours: Side, theirs: Side, widths: list[int], rounds: int, count: int) -> None:
    """Bursts in turns: theirs, ours, theirs, …, ours between two of theirs."""
    number = iter(range(1 << 40))
    queries = (f"new query {next(number)}" for _ in iter(int, 1))
    for width in widths:
        theirs.bursts[width].append(burst(theirs.client, queries, width, count))
        for _ in range(rounds):
            ours.bursts[width].append(burst(ours.client, queries, width, count))
            theirs.bursts[width].append(burst(theirs.client, queries, width, count))


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile."""
    low, middle, high = statistics.quantiles(values, n=4)
    return low, middle, high


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of the values is."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def compare(ours: Side, theirs: Side) -> list[dict[str, Any]]:
    """Print a line for each width, and give the figures."""
    found = []
    for width, mine in ours.bursts.items():
        other = theirs.bursts[width]
        said: dict[str, Any] = {"width": width}
        for name in ("cpu", "rate"):
            values = [getattr(one, name) for one in mine]
            around = [(getattr(a, name) + getattr(b, name)) / 2 for a, b in itertools.pairwise(other)]
            low, middle, high = quartiles([one / two for one, two in zip(values, around, strict=True)])
            said[name] = {"ratio": middle, "quartiles": [low, high], "ours": statistics.median(values)}
            said[name]["theirs"] = statistics.median(around)
        for name, bursts in (("ours", mine), ("theirs", other)):
            latencies = [one for each in bursts for one in each.latencies]
            said[f"latency {name}"] = {"p50": percentile(latencies, 0.5), "p99": percentile(latencies, 0.99)}
        found.append(said)
        cpu, rate, here, there = (said[name] for name in ("cpu", "rate", "latency ours", "latency theirs"))
        print(
            f"{width:3} in flight: processor {cpu['ratio']:.3f} ({cpu['quartiles'][0]:.3f}-{cpu['quartiles'][1]:.3f}),"
            f" {cpu['ours']:.2f} ms a call, was {cpu['theirs']:.2f};"
            f" calls/s × {rate['ratio']:.2f} ({rate['quartiles'][0]:.2f}-{rate['quartiles'][1]:.2f}),"
            f" {rate['ours']:.0f};"
            f" p50 {here['p50']:.1f} ms, p99 {here['p99']:.1f}, was {there['p50']:.1f} and {there['p99']:.1f}",
            flush=True,
        )
    return found


def differing(ours: Client, theirs: Client, count: int) -> list[str]:
    """The queries that the two answer otherwise, new or kept; what says how long it took does not count."""
    found = []
    for number in range(count):
        query = f"same {number % (count // 2)}"
        line = call(7, "web_search", {"query": query, "num_results": 1 + number % 10})
        answers = {_CHANGING.sub(b"", client.ask(line)) for client in (ours, theirs)}
        if len(answers) > 1:
            found.append(query)
    return found


def profile(client: Client, seconds: float, width: int) -> None:
    """Ask for so long, and print for each thread its share of the samples and the functions it was in."""
    spy = shutil.which("py-spy")
    if spy is None:
        raise SystemExit("pairs: --profile needs py-spy on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "raw"
        command = [spy, "record", "-p", str(client.process.pid), "-d", str(int(seconds)), "-r", "500", "-t", "-g"]
        command += ["-f", "raw", "-o", str(out)]
        spying = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        number = 0
        while spying.poll() is None:
            burst(client, (f"spied {number} {at}" for at in range(400)), width, 400)
            number += 1
        show_samples(out.read_text(encoding="utf-8"))


def show_samples(raw: str) -> None:
    """Print samples in the format of flame graphs: threads, and for each the functions by their own and by all time."""
    threads: collections.Counter[str] = collections.Counter()
    own: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    whole: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for line in raw.splitlines():
        stack, _, times = line.rpartition(" ")
        thread, *frames = stack.split(";")
        thread = re.sub(r"^thread \(\w+\):? ?", "", thread) or thread
        names = [re.sub(r":\d+\)$", ")", frame) for frame in frames]
        threads[thread] += int(times)
        for name in set(names):
            whole[thread][name] += int(times)
        if names:
            own[thread][names[-1]] += int(times)
    total = sum(threads.values()) or 1
    for thread, samples in threads.most_common():
        print(f"\n{thread}: {samples / total:.1%} of {total} samples")
        for title, counted in (("in all", whole[thread]), ("itself", own[thread])):
            print(f"  {title}")
            for name, times in counted.most_common(150 if title == "in all" else 25):
                print(f"    {times / total:6.1%} {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="the other checkout")
    parser.add_argument("--rounds", type=int, default=14)
    parser.add_argument("--count", type=int, default=40, help="calls of a burst")
    parser.add_argument("--widths", default="1,8,32", help="calls in flight")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of both servers")
    parser.add_argument("--same", action="store_true", help="fail where the two answer otherwise")
    parser.add_argument("--profile", type=float, metavar="SECONDS")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    widths = [int(one) for one in options.widths.split(",")]
    more = dict(one.split("=", 1) for one in options.set)
    if options.against is None and not options.profile:
        parser.error("--against names the checkout to compare with")
    if options.rounds < 2:
        parser.error("--rounds has to be 2 or more: quartiles need them")
    with running() as upstream, serving(HERE, upstream, more) as ours:
        if options.profile:
            profile(ours, options.profile, widths[-1])
            return
        with serving(options.against.resolve(), upstream, more) as theirs:
            others = differing(ours, theirs, 20) if options.same else []
            sides = Side(ours), Side(theirs)
            measure(*sides, widths, options.rounds, options.count)
            figures = compare(*sides)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if others:
        raise SystemExit(f"pairs: {len(others)} queries are answered otherwise, such as {others[0]!r}")


if __name__ == "__main__":
    main()
