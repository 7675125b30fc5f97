"""How long this package and trafilatura take to read the same pages, page by page and turn about.

    python bench/reading/extractors.py [--pages FOLDER] [--rounds 3] [--every 6]

Pages are the *.html below FOLDER, else those of the extraction benchmark (SPECLOOM_BENCH; see bench/extraction). Each
is read by processes that never work at the same time, and processor time counts. trafilatura reads twice: as text,
which is the least that it does, and as Markdown with metadata, which is what is done here. Prints the milliseconds of a
page and the ratio, round by round; says so where there are no pages, or where trafilatura is not installed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parents[1]
sys.path[:0] = [str(HERE), str(HERE / "extraction")]

from figures import Figure, lines  # noqa: E402 - the folder above is on the path now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GROUP = "processor time of one real page, beside trafilatura"
WAYS = {"text": {}, "Markdown with metadata": {"output_format": "markdown", "with_metadata": True}}
"""How trafilatura is asked, and the arguments of that."""
OURS = "specloom"
BUDGET = 0.5
"""What a page may take of the time of trafilatura, doing the same."""
EVERY = 6
"""Each so manieth page is read where nobody says otherwise: 129 of 774."""


def find_pages(named: str = "") -> Path | None:
    """The folder of the pages: the one that is named, else that of the extraction benchmark; None where there is none.

    Those of the benchmark are unpacked once, into the folder for temporary files.
    """
    if named:
        return Path(named)
    from labelled import SETS, find_bench, unpack

    if not all((find_bench() / "data" / f"{name}.tar.xz").exists() for name in SETS):
        return None
    return unpack()


def tell_absence() -> str:
    """Why no real pages are read, and what to do."""
    from labelled import find_bench

    return f"no real pages: {find_bench() / 'data'} holds none; name a folder with --pages, or set SPECLOOM_BENCH"


def list_pages(folder: Path) -> list[Path]:
    """The pages below a folder, in an order that is the same everywhere; a SystemExit where there are none."""
    pages = sorted(folder.rglob("*.html"))
    if not pages:
        raise SystemExit(f"bench: {folder} holds no *.html: name a folder of pages with --pages")
    return pages


def to_reader(name: str) -> Callable[[str], object]:
    """The function that reads HTML for one side."""
    if name == OURS:
        from specloom.domains.scrape.extract import extract

        return extract
    import trafilatura

    return lambda html: trafilatura.extract(html, **WAYS[name])


def work(name: str) -> None:
    """Answer each line, the path of a page, with the milliseconds of its reading."""
    read = to_reader(name)
    read(
        "<html><body><article><p>What is made once is made before the first page is timed.</p></article></body></html>"
    )
    for line in sys.stdin:
        html = Path(line.rstrip("\n")).read_text(encoding="utf-8", errors="replace")
        began = time.process_time()
        read(html)
        print((time.process_time() - began) * 1000, flush=True)


def ask(worker: subprocess.Popen[str], page: Path) -> float:
    """The time of one reading."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{page}\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise SystemExit(f"bench: {page} ended the process that reads it; its message stands above")
    return float(line)


def measure(pages: Sequence[Path], rounds: int) -> list[Figure]:
    """Milliseconds of a page in the mean, by rounds, and those of trafilatura where it is installed."""
    is_there = find_spec("trafilatura") is not None
    names = [OURS, *(WAYS if is_there else ())]
    command = [sys.executable, __file__, "--work"]
    workers = [
        subprocess.Popen([*command, name], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for name in names
    ]
    sums: list[list[float]] = [[0.0] * rounds for _ in names]
    try:
        for turn in range(rounds):
            for page in pages:
                for at, worker in enumerate(workers):
                    sums[at][turn] += ask(worker, page)
    finally:
        for worker in workers:
            worker.communicate()
    ours, *others = (tuple(total / len(pages) for total in side) for side in sums)
    if not is_there:
        return [Figure(GROUP, OURS, "ms", ours, note="trafilatura is not installed (pip install trafilatura)")]
    return [
        Figure(GROUP, f"beside its {name}", "ms", ours, other, budget=BUDGET, beside=f"trafilatura, {name}")
        for name, other in zip(WAYS, others, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="", metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=EVERY, metavar="N", help="read each Nth page")
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    folder = find_pages(options.pages)
    if folder is None:
        raise SystemExit(f"bench: {tell_absence()}")
    print("\n".join(lines(measure(list_pages(folder)[:: options.every], options.rounds))))


if __name__ == "__main__":
    main()
