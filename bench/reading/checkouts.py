"""How long two checkouts take to read the same pages, page by page and turn about: is reading slower than it was?

    python bench/reading/checkouts.py --against PATH [--pages FOLDER] [--rounds 5] [--every 1]

PATH is another checkout of this repository (`git worktree add PATH COMMIT`); both run in the environment of this one.
Pages are the *.html below FOLDER: SPECLOOM_BENCH's when they were unpacked by bench/extraction, without which a folder
has to be named. Each page is read in every round by one checkout and then by the other, in processes of their own that
never work at the same time, and processor time counts, so that what else the machine does matters little. The least
time of all rounds is a page's. Prints the ratio of all pages together, the median and the quartiles of the ratios of
pages, the same of the taking out of hidden text alone, and the pages that lost most; `--every 4` reads a quarter.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[2]
PARTS = ("whole", "hidden")
SLOWEST = 5
"""Pages that are named because they lost most."""


def work() -> None:
    """Answer each line, the path of a page, with the milliseconds of its reading: the whole, and of hidden text."""
    from specloom.domains.scrape.extract import extract
    from specloom.domains.scrape.html.parse import gather_attributes, parse
    from specloom.domains.scrape.html.sanitise import sanitise

    extract("<p>The model is loaded before the first page is timed.</p>")
    for line in sys.stdin:
        html = Path(line.rstrip("\n")).read_text(encoding="utf-8", errors="replace")
        began = time.process_time()
        extract(html)
        whole = time.process_time() - began
        root = parse(html)
        attributes = gather_attributes(root)
        began = time.process_time()
        sanitise(root, attributes)
        print(json.dumps([whole * 1000, (time.process_time() - began) * 1000]), flush=True)


def start(checkout: Path) -> subprocess.Popen[str]:
    """A worker that imports the engine of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "engine")}
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(worker: subprocess.Popen[str], page: Path) -> list[float]:
    """The times of one reading."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{page}\n")
    worker.stdin.flush()
    times: list[float] = json.loads(worker.stdout.readline())
    return times


def measure(pages: list[Path], ours: Path, theirs: Path, rounds: int) -> list[tuple[list[float], list[float]]]:
    """The least times of each page, of ours and of theirs."""
    workers = [start(ours), start(theirs)]
    found: list[tuple[list[float], list[float]]] = [([], []) for _ in pages]
    try:
        # All pages once a round, so that little of a page is still remembered when it comes again.
        for turn in range(rounds):
            for page, least in zip(pages, found, strict=True):
                for side in (0, 1) if turn % 2 else (1, 0):
                    times = ask(workers[side], page)
                    least[side][:] = [min(pair) for pair in zip(times, least[side] or times, strict=True)]
    finally:
        for worker in workers:
            worker.communicate()
    return found


def show(pages: list[Path], found: list[tuple[list[float], list[float]]]) -> dict[str, Any]:
    """Print the ratios, and give them."""
    figures: dict[str, Any] = {"pages": len(pages)}
    for at, part in enumerate(PARTS):
        ours, theirs = ([side[at] for side in sides] for sides in zip(*found, strict=True))
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
    lost = sorted(((mine[0] - other[0], page.name) for page, (mine, other) in zip(pages, found, strict=True)))
    print("lost most:", ", ".join(f"{name} {more:+.1f} ms" for more, name in reversed(lost[-SLOWEST:])))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="PATH", help="the other checkout")
    parser.add_argument("--pages", type=Path, default=Path(tempfile.gettempdir()) / "specloom-bench" / "data")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="read each Nth page")
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
    figures = show(pages, measure(pages, HERE, options.against, options.rounds))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
