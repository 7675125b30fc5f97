"""What links and pictures cost, and whether what is told in their place still says what the page says.

    links.py [--work DIR] [--modules DIR] [--rounds 5] [--json FILE]

Prints for each form of links and pictures the tokens of the pages of the benchmark as they are told, in all and for
the page in the middle, beside the text as it is kept; which part of those are addresses and marks of links and
pictures; and milliseconds a page for telling it, in pairs with telling it as it is kept.
Then the text as it is told by default is scored as the text that is kept is, its numbers resolved as a reader of
Markdown resolves them. Fails where a figure is below its floor in `floors.json` and below that of the text that is
kept (pages are read with their addresses here, and without them by run.py), or where a form has more tokens than that.

`--modules` names a folder with `gpt-tokenizer` (`npm install --prefix DIR gpt-tokenizer`), whose o200k_base then
counts; without it the estimate of specloom does. The pages are found by SPECLOOM_BENCH; see labelled.py.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelled import SETS, load_scores, unpack
from run import check

from specloom.core import count_tokens
from specloom.domains.scrape.extract import extract
from specloom.domains.text.links import LinkStyle, Rendition

STYLES = {
    "as it is kept": LinkStyle("inline", "inline"),
    "pictures as words": LinkStyle("inline", "alt"),
    "numbered, as words (default)": LinkStyle("numbered", "alt"),
    "numbered, no pictures": LinkStyle("numbered", "none"),
    "no links, pictures as words (passages)": LinkStyle("none", "alt"),
    "no links, no pictures": LinkStyle("none", "none"),
}
DEFAULT = "numbered, as words (default)"
BARE = "no links, no pictures"
LEAST = 0.0005
"""What a figure of the text that is told may be below that of the text that is kept: a metric reads Markdown its own
way."""
COUNT = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(process.argv[1] + "/");
const gpt = require("gpt-tokenizer/encoding/o200k_base");
const texts = JSON.parse(readFileSync(0, "utf8"));
const options = { disallowedSpecial: new Set() };
console.log(JSON.stringify(texts.map((text) => gpt.encode(text, options).length)));
"""
_CANONICAL = re.compile(r"<link[^>]*\brel=[\"']?canonical[\"']?[^>]*\bhref=[\"'](https?://[^\"']+)", re.IGNORECASE)
_LIST = re.compile(r"^\[(\d+)\]: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it is kept: the set it is of, its name there, its address and its Markdown."""

    part: str
    name: str
    address: str
    markdown: str
    seconds: float
    """How long extracting it took."""


def read_pages(data: Path) -> list[KeptPage]:
    """All pages that have a text."""
    pages = []
    extract("<p>The model is loaded before the first page is timed.</p>")
    for part in SETS:
        truth = json.loads((data / part / "truth.json").read_text(encoding="utf-8"))
        for file in sorted((data / part / "html").glob("*.html")):
            html = file.read_text(encoding="utf-8", errors="replace")
            canonical = _CANONICAL.search(html)
            address = truth.get(file.stem, {}).get("url") or (canonical[1] if canonical else "https://page.example/")
            began = time.perf_counter()
            markdown = extract(html, url=address).markdown
            pages.append(KeptPage(part, file.stem, address, markdown, time.perf_counter() - began))
    return [page for page in pages if page.markdown.strip()]


def to_counter(modules: Path | None) -> Callable[[Sequence[str]], list[int]]:
    """What counts the tokens of texts."""
    if modules is None:
        return lambda texts: [count_tokens(text) for text in texts]
    command = ["node", "--input-type=module", "-e", COUNT, str(modules.resolve())]

    def count(texts: Sequence[str]) -> list[int]:
        done = subprocess.run(command, input=json.dumps(list(texts)), capture_output=True, text=True, check=True)
        counts: list[int] = json.loads(done.stdout)
        return counts

    return count


def resolve(told: str) -> str:
    """A text with numbered links as one with the same links in place, as a reader of Markdown understands it."""
    addresses = dict(_LIST.findall(told))
    body = told[: told.rindex("\n\n[")] if addresses else told
    body = re.sub(
        r"\]\[(\d+)\]", lambda found: f"]({addresses[found[1]]})" if found[1] in addresses else found[0], body
    )
    # The words of a picture are no words of the page, neither here nor where its address stands beside them.
    return re.sub(r"!\[((?:[^\[\]\\]|\\.)*)\](?![\[(])", r"![\1](picture)", body)


def measure_tokens(
    pages: Sequence[KeptPage], count: Callable[[Sequence[str]], list[int]]
) -> dict[str, dict[str, float]]:
    """Of each form its tokens in all, its share of the kept ones in all and in the middle, and what of it is markup."""
    told = {
        name: count([Rendition(page.markdown, style, page=page.address).tell() for page in pages])
        for name, style in STYLES.items()
    }
    kept = told["as it is kept"]
    rows = {}
    for name, tokens in told.items():
        rows[name] = {
            "tokens": sum(tokens),
            "share": sum(tokens) / sum(kept),
            "share of a page": statistics.median(one / all_ for one, all_ in zip(tokens, kept, strict=True)),
            "links and pictures": 1 - sum(told[BARE]) / sum(tokens),
            "links and pictures of a page": statistics.median(
                1 - bare / max(1, one) for one, bare in zip(tokens, told[BARE], strict=True)
            ),
        }
    return rows


def measure_time(pages: Sequence[KeptPage], rounds: int) -> dict[str, float]:
    """Milliseconds a page of telling it as it is kept and by default, one after the other, and of extracting it."""
    times: dict[str, list[float]] = defaultdict(list)
    for page in pages:
        pairs: dict[str, list[float]] = defaultdict(list)
        for _ in range(rounds):
            for name in ("as it is kept", DEFAULT):
                began = time.perf_counter()
                Rendition(page.markdown, STYLES[name], page=page.address).tell()
                pairs[name].append(time.perf_counter() - began)
        for name, seconds in pairs.items():
            times[name].append(min(seconds) * 1000)
        times["extraction"].append(page.seconds * 1000)
    return {
        **{f"{name}, median": statistics.median(values) for name, values in times.items()},
        **{f"{name}, mean": statistics.mean(values) for name, values in times.items()},
        "most": max(times[DEFAULT]),
    }


def score_told(pages: Sequence[KeptPage], data: Path, style: str) -> dict[str, float]:
    """The figures of the extraction benchmark, of the text as it is told in a style."""
    score, _ = load_scores()
    figures: dict[str, float] = {}
    struct: dict[str, list[float]] = defaultdict(list)
    for part in SETS:
        told = {
            page.name: resolve(Rendition(page.markdown, STYLES[style], page=page.address).tell())
            for page in pages
            if page.part == part
        }
        truth = score.load_truth(data / part)
        found = score.score(truth, {name: told.get(name, "") for name in truth}, True, set_name=part)
        summary = score.summarise(found)
        figures |= {f"{part} {key}": value for key, value in summary["word"].items()}
        if part == "zyte":
            figures["zyte shingle"] = summary["shingle"]["f1"]
        if part in {"wcxb", "magic"}:
            figures |= {f"{part} {kind}": value for kind, value in summary["word_by_type"].items()}
        for page in found.values():
            for key, value in page.get("st", {}).items():
                struct[key].append(value)
    return figures | {f"struct {key}": statistics.mean(values) for key, values in struct.items()}


def main() -> None:
    """Print the figures; leave with 1 where one misses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--modules", type=Path, help="a folder with gpt-tokenizer")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    data = unpack(options.work or Path(tempfile.gettempdir()) / "specloom-bench")
    pages = read_pages(data)
    tokens = measure_tokens(pages, to_counter(options.modules))
    print(f"{len(pages)} pages, counted by {'o200k_base' if options.modules else 'the estimate'}")
    print(
        "| form | tokens | of the kept | of a page | links and pictures | of a page |\n|---|---:|---:|---:|---:|---:|"
    )
    for name, row in tokens.items():
        shares = (row[key] for key in row if key != "tokens")
        print(f"| {name} | {row['tokens']:,.0f} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
    times = measure_time(pages, options.rounds)
    print("\nmilliseconds a page: " + "; ".join(f"{name} {value:.3f}" for name, value in times.items()))
    kept, figures = (score_told(pages, data, name) for name in ("as it is kept", DEFAULT))
    print("\nthe text as it is told: " + ", ".join(f"{name} {value:.4f}" for name, value in figures.items()))
    print("\nthe text as it is kept: " + ", ".join(f"{name} {value:.4f}" for name, value in kept.items()))
    if options.json:
        rows: dict[str, Any] = {"tokens": tokens, "times": times, "figures": figures, "kept": kept}
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    below = {name for name, value in figures.items() if value < kept[name] - LEAST}
    low = [line for line in check(figures, lift=False) if line.partition(":")[0] in below]
    low += [f"{name}: more tokens than the text that is kept" for name, row in tokens.items() if row["share"] > 1]
    if low:
        sys.exit("\n".join(low))


if __name__ == "__main__":
    main()
