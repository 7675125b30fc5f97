"""How long two checkouts take to read the same pages, page by page and turn about: is reading slower than it was?

    python bench/reading/checkouts.py --against PATH [--pages FOLDER] [--rounds 5] [--every 1] [--same]

PATH is another checkout of this repository (`git worktree add PATH COMMIT`); both run in the environment of this one.
Pages are the *.html below FOLDER: SPECLOOM_BENCH's when they were unpacked by bench/extraction, without which a folder
has to be named. Each page is read in every round by one checkout and then by the other, in processes of their own that
never work at the same time, and processor time counts, so that what else the machine does matters little. The least
time of all rounds is a page's. Prints the ratio of all pages together, the median and the quartiles of the ratios of
pages, the same of the taking out of hidden text alone, the pages that lost most, and those of which the two tell
something else: content, metadata or counts. `--same` fails where there is such a page; `--every 4` reads a quarter.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[2]
PARTS = ("whole", "hidden")
SLOWEST = 5
"""Pages that are named because they lost most."""
NAMED = 20
"""Pages that are named because they are read otherwise."""


def work() -> None:
    """Answer each line, the path of a page, with the milliseconds of its reading: the whole, and of hidden text.

    With them goes a digest of all that was read.
    """
    try:
        from specloom.domains.scrape.extract import extract
        from specloom.domains.scrape.html.parse import gather_attributes, parse
        from specloom.domains.scrape.html.sanitise import sanitise
    except ImportError:  # a checkout from before the engine stood in rooms
        scrape = "specloom.scrape"
        extract = importlib.import_module(f"{scrape}.extract").extract
        gather_attributes = importlib.import_module(f"{scrape}.attributes").gather_attributes
        parse = importlib.import_module(f"{scrape}.tree").parse
        sanitise = importlib.import_module(f"{scrape}.sanitise").sanitise
    # As the processes that read pages do, and the server, unless the checkout is from before they did.
    with contextlib.suppress(ImportError, AttributeError):
        importlib.import_module("specloom.core").collect_seldom()

    extract("<p>The model is loaded before the first page is timed.</p>")
    for line in sys.stdin:
        html = Path(line.rstrip("\n")).read_text(encoding="utf-8", errors="replace")
        began = time.process_time()
        found = extract(html)
        whole = time.process_time() - began
        digest = sha256(repr(found).encode("utf-8", "replace")).hexdigest()
        root = parse(html)
        attributes = gather_attributes(root)
        began = time.process_time()
        sanitise(root, attributes)
        print(json.dumps([[whole * 1000, (time.process_time() - began) * 1000], digest]), flush=True)


def start(checkout: Path) -> subprocess.Popen[str]:
    """A worker that imports the engine of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "engine")}
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(worker: subprocess.Popen[str], page: Path) -> tuple[list[float], str]:
    """The times of one reading, and the digest of what was read."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{page}\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise SystemExit(f"checkouts: {page} ended the process that reads it; its message stands above")
    times, digest = json.loads(line)
    return times, digest


@dataclass(slots=True)
class Pair:
    """One page as two checkouts read it: the least times of each, and the digests of what each read."""

    page: Path
    times: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    digests: list[str] = field(default_factory=lambda: ["", ""])


def measure(pages: list[Path], ours: Path, theirs: Path, rounds: int) -> list[Pair]:
    """Each page as both read it, ours first."""
    workers = [start(ours), start(theirs)]
    pairs = [Pair(page) for page in pages]
    try:
        # All pages once a round, so that little of a page is still remembered when it comes again.
        for turn in range(rounds):
            for pair in pairs:
                for side in (0, 1) if turn % 2 else (1, 0):
                    times, pair.digests[side] = ask(workers[side], pair.page)
                    least = pair.times[side]
                    least[:] = map(min, times, least or times)
    finally:
        for worker in workers:
            worker.communicate()
    return pairs


def show(pairs: list[Pair]) -> dict[str, Any]:
    """Print the ratios, and give them."""
    figures: dict[str, Any] = {"pages": len(pairs)}
    for at, part in enumerate(PARTS):
        ours, theirs = ([pair.times[side][at] for pair in pairs] for side in (0, 1))
        ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        total = sum(ours) / sum(theirs)
        figures[part] = {
            "total": total,
            "median": middle,
            "quartiles": [low, high],
            "ms": sum(ours),
            "was": sum(theirs),
        }
        print(
            f"{part:7} total {total:.3f}, median {middle:.3f}, quartiles {low:.3f} to {high:.3f};"
            f" {sum(ours) / len(ours):.2f} ms a page, was {sum(theirs) / len(theirs):.2f}"
        )
    lost = sorted((pair.times[0][0] - pair.times[1][0], pair.page.name) for pair in pairs)
    print("lost most:", ", ".join(f"{name} {more:+.1f} ms" for more, name in reversed(lost[-SLOWEST:])))
    others = figures["others"] = [pair.page.name for pair in pairs if pair.digests[0] != pair.digests[1]]
    print(f"read otherwise: {len(others)} of {len(pairs)} pages{':' if others else ''}", ", ".join(others[:NAMED]))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="PATH", help="the other checkout")
    parser.add_argument("--pages", type=Path, default=Path(tempfile.gettempdir()) / "specloom-bench" / "data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="read each Nth page")
    parser.add_argument("--same", action="store_true", help="fail where a page is read otherwise")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return
    if options.against is None:
        parser.error("--against names the checkout to compare with")
    pages = sorted(options.pages.rglob("*.html"))[:: options.every]
    if len(pages) < 2:
        parser.error(f"{options.pages} holds no two *.html: name a folder of pages with --pages")
    figures = show(measure(pages, HERE, options.against.resolve(), options.rounds))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    if options.same and figures["others"]:
        raise SystemExit("checkouts: pages are read otherwise")


if __name__ == "__main__":
    main()
