"""The benchmarks of reading find their pages, say what is not there, and tell two checkouts that read alike."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import bench_reading  # the benches are scripts and no package
import pytest

BENCH = Path(__file__).parents[2] / "bench"
PAGE = "<html><body><article><h1>Reach {at}</h1><p>The river turns here, {at} steps from the mill.</p></article></body>"


def run(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCH / "reading" / script), *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def write_pages(folder: Path) -> Path:
    for at in (1, 2):
        (folder / f"{at}.html").write_text(PAGE.format(at=at), encoding="utf-8")
    return folder


def test_pages_of_a_folder_are_read_and_timed(tmp_path: Path) -> None:
    done = run("extractors.py", "--pages", str(write_pages(tmp_path)), "--rounds", "2", "--every", "1")

    assert done.returncode == 0, done.stderr
    assert "processor time of one real page" in done.stdout
    assert re.search(r"specloom +[\d.]+ \([\d.]+-[\d.]+\) ms|beside its text +× [\d.]+", done.stdout)


def test_that_there_are_no_real_pages_is_said_with_what_to_do(tmp_path: Path) -> None:
    done = run("extractors.py", SPECLOOM_BENCH=str(tmp_path))

    assert done.returncode == 1
    assert f"no real pages: {tmp_path / 'data'} holds none" in done.stderr
    assert "SPECLOOM_BENCH" in done.stderr


def test_a_checkout_reads_every_page_as_it_does_itself(tmp_path: Path) -> None:
    here = str(BENCH.parent)
    done = run("checkouts.py", "--against", here, "--pages", str(write_pages(tmp_path)), "--rounds", "1", "--same")

    assert done.returncode == 0, done.stderr
    assert "read otherwise: 0 of 2 pages" in done.stdout


def test_pages_that_another_checkout_reads_otherwise_are_named(tmp_path: Path) -> None:
    # A checkout that reads nothing of any page.
    scrape = tmp_path / "other" / "engine" / "specloom" / "domains" / "scrape"
    (scrape / "html").mkdir(parents=True)
    for folder in (scrape, scrape / "html", scrape.parent, scrape.parent.parent):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (scrape / "extract.py").write_text("def extract(page):\n    return ''\n", encoding="utf-8")
    (scrape / "html" / "parse.py").write_text(
        "def parse(page):\n    return page\n\ndef gather_attributes(root):\n    return root\n", encoding="utf-8"
    )
    (scrape / "html" / "sanitise.py").write_text("def sanitise(*_):\n    return sum(range(99999))\n", encoding="utf-8")
    pages = tmp_path / "pages"
    pages.mkdir()
    done = run(
        "checkouts.py", "--against", str(tmp_path / "other"), "--pages", str(write_pages(pages)), "--rounds", "1",
        "--same",
    )  # fmt: skip

    assert done.returncode != 0
    assert "read otherwise: 2 of 2 pages: 1.html, 2.html" in done.stdout


class Refuser:
    """A server that reads no page but each `nth`."""

    def __init__(self, nth: int) -> None:
        self.nth = nth
        self.asked: list[int] = []

    def send(self, line: bytes) -> None:
        self.asked.append(json.loads(line)["id"])

    def receive(self) -> bytes:
        number = self.asked.pop(0)
        refused = b"true" if number % self.nth else b"false"
        return b'{"jsonrpc":"2.0","id":%d,"result":{"isError":%b,"content":[]}}' % (number, refused)


def test_a_server_that_refuses_many_pages_ends_the_run_and_is_not_told_as_quick() -> None:
    urls = [f"https://example.org/{number}" for number in range(40)]

    with pytest.raises(SystemExit, match=r"bench: 11 of \d+ pages were not read, the last one so: .*isError") as raised:
        bench_reading.flood(Refuser(2), urls, 8, may_refuse=True)  # type: ignore[arg-type]

    assert '"id":' in str(raised.value)


def test_a_few_pages_that_are_refused_are_counted() -> None:
    urls = [f"https://example.org/{number}" for number in range(6)]

    assert bench_reading.flood(Refuser(2), urls, 2, may_refuse=True).refused == 3  # type: ignore[arg-type]
    with pytest.raises(SystemExit, match="1 of 2 pages were not read"):
        bench_reading.flood(Refuser(2), urls, 2)  # type: ignore[arg-type]
