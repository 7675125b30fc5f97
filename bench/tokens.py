"""How near the estimate of tokens comes to two public tokenisers, by kind of text.

    npm install --prefix DIR gpt-tokenizer llama3-tokenizer-js
    python bench/tokens.py DIR FOLDER...

The text files below each folder (Markdown, plain text, JSON) are cut into passages of 2,000 characters and counted by
the estimate of specloom, by o200k_base (GPT-4o) and by the tokeniser of Llama 3. A folder is a kind of text, such as a
language; of each at most `--passages` are taken, evenly from all of it. The last column is how much the two tokenisers
differ: no estimate can be near both where that is far from 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from math import sqrt
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING

from specloom.core import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PASSAGE = 2_000
SUFFIXES = {".md", ".txt", ".json"}
COUNT = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
const require = createRequire(process.argv[1] + "/");
const gpt = require("gpt-tokenizer/encoding/o200k_base");
const llama = (await import(pathToFileURL(require.resolve("llama3-tokenizer-js")))).default;
const texts = JSON.parse(readFileSync(0, "utf8"));
const count = (text) => [gpt.countTokens(text), llama.encode(text, { bos: false, eos: false }).length];
console.log(JSON.stringify(texts.map(count)));
"""


def to_passages(folder: Path, most: int) -> list[str]:
    """Passages of the files below a folder, evenly from all of them."""
    found = list(_passages(sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)))
    return found[:: max(1, len(found) // most)][:most]


def _passages(paths: Sequence[Path]) -> Iterator[str]:
    for path in paths:
        text = path.read_text("utf-8", "replace")
        yield from (text[at : at + PASSAGE] for at in range(0, len(text), PASSAGE) if text[at : at + PASSAGE].strip())


def count_by_tokenisers(modules: Path, texts: list[str]) -> list[tuple[int, int]]:
    """What o200k_base and the tokeniser of Llama 3 count for each text."""
    command = ["node", "--input-type=module", "-e", COUNT, str(modules.resolve())]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    return [tuple(pair) for pair in json.loads(done.stdout)]


def main() -> int:
    """Print a line for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("modules", type=Path, help="where the two tokenisers are installed")
    parser.add_argument("folders", nargs="+", type=Path, help="texts, a kind in each folder")
    parser.add_argument("--passages", type=int, default=100, help="at most so many of each folder (100)")
    options = parser.parse_args()
    print(f"{'kind':24} {'passages':>8} {'estimate / mean of both (quartiles)':>38} {'o200k_base / Llama 3':>22}")
    for folder in options.folders:
        texts = to_passages(folder, options.passages)
        if not texts:
            print(f"{folder.name:24} has no text", file=sys.stderr)
            continue
        counts = count_by_tokenisers(options.modules, texts)
        ratios = [count_tokens(text) / sqrt(one * other) for text, (one, other) in zip(texts, counts, strict=True)]
        low, _, high = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        apart = median(one / other for one, other in counts)
        print(f"{folder.name:24} {len(texts):>8} {median(ratios):>18.2f} ({low:.2f} to {high:.2f}) {apart:>22.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
