"""What the text of `web_search` costs over the recorded results of each provider, beside that of another checkout.

    searches.py --against CHECKOUT [--modules DIR] [--rows 5] [--show]

Both servers ask the same providers on loopback, which answer with what was recorded of them. Counted is the text that a
model is sent. A checkout needs no environment of its own: its engine runs in that of this one. A worktree is enough:
`git worktree add /tmp/before 3074e28`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from client import Client
from judge import Server, count_by_tokeniser
from upstreams import KEYS, answering, find_recordings, to_provider, write_layer

from specloom.core import count_tokens

ROOT: Final = Path(__file__).parents[2]
SEARCHES: Final = (
    ("brave/web.json", "hello world"),
    ("serper/search.json", "Apple Inc."),
    ("google-cse/search-page1.json", "poker"),
    ("tavily/search-basic.json", "What is Pydantic AI?"),
    ("tavily/search-include-domains.json", "transformer architectures"),
    ("tavily/search-openllmetry.json", "OpenLLMetry"),
    ("exa/search-with-text.json", "autonomous AI agents 2025"),
    ("duckduckgo/html-search.html", "python"),
)
"""Recordings with the query that is asked over each."""


def write_entry_points(folder: Path, checkout: Path) -> None:
    """The entry points of a checkout as installed ones, so that its engine does not load those of this environment."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = folder / f"{project['name']}-0.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n", encoding="utf-8")
    lines = [
        line
        for group, entries in project.get("entry-points", {}).items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
    ]
    (told / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def ask(checkout: Path, rows: int) -> Iterator[str]:
    """The text of `web_search` over each recording, by the server of a checkout."""
    recordings = find_recordings()
    with tempfile.TemporaryDirectory(prefix="specloom-searches-") as folder, answering() as upstreams:
        write_entry_points(Path(folder) / "installed", checkout)
        environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
            "HOME": folder,
            "PYTHONPATH": os.pathsep.join((str(Path(folder) / "installed"), str(checkout / "engine"))),
            "SPECLOOM_CACHE": "off",
            **KEYS,
            **write_layer(Path(folder) / "layer", checkout / "providers.d", upstreams.address),
        }
        with Client([sys.executable, "-m", "specloom", "serve"], environ) as client:
            client.shake()
            server = Server(client)
            for recording, query in SEARCHES:
                provider = to_provider(recording)
                upstreams.now = {provider: recordings / recording}
                arguments = {"query": query, "provider": provider, "num_results": rows}
                result = server.call("web_search", arguments)
                if result.get("isError"):
                    raise SystemExit(f"bench: {checkout} over {recording}: {result['said'][:300]}")
                yield result["said"]


def show(before: Sequence[str], now: Sequence[str], modules: Path | None) -> None:
    """A line for each recording, and one for all."""
    counts = [[count_tokens(text) for text in texts] for texts in (before, now)]
    if modules:
        counts += [count_by_tokeniser(modules, texts) for texts in (before, now)]
    print("| results of | before | now | |" + (" o200k before | o200k now | |" if modules else ""))
    print("|---|" + "---:|" * (6 if modules else 3))
    names = [recording for recording, _ in SEARCHES]
    for name, *row in [*zip(names, *counts, strict=True), ("all", *map(sum, counts))]:
        cells = [f"{old:,} | {new:,} | {new / old - 1:+.0%}" for old, new in zip(row[::2], row[1::2], strict=True)]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    """Print the table, and with `--show` the texts of today."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, required=True, metavar="CHECKOUT")
    parser.add_argument("--modules", type=Path, help="a folder with node_modules/gpt-tokenizer, which counts as well")
    parser.add_argument("--rows", type=int, default=5)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    before, now = list(ask(options.against, options.rows)), list(ask(ROOT, options.rows))
    if options.show:
        print(*now, sep="\n\n=====\n\n", end="\n\n")
    show(before, now, options.modules)


if __name__ == "__main__":
    main()
