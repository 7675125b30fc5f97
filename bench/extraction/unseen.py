"""What the whole extraction reaches on sites that were not learned from: unseen.py CHANCES.npz [--work DIR]

CHANCES.npz comes from `train.py --chances`: for each page the chances given by a model that has not seen its site.
They take the place of the model's, and the Markdown is scored as `run.py` does.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from labelled import SETS, load_scores, unpack
from train import WHOLE_SET

from specloom.domains.scrape.content import finder
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.features import to_frame
from specloom.domains.scrape.content.finder import choose
from specloom.domains.scrape.content.model import load_model
from specloom.domains.scrape.content.page import read_page
from specloom.domains.scrape.extract import empty_head
from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.html import sanitise
from specloom.domains.scrape.markdown import render as markdown
from specloom.domains.scrape.metadata.sources import gather


def read(html: str, chances: np.ndarray | None) -> str:
    """The Markdown of a page with these chances; "" for a page without text."""
    root = tree.parse(html)
    empty_head(root)
    page = read_page(gather(root))
    sanitise.sanitise(root)
    frame = to_frame(to_blocks(root), page, load_model().words)
    if frame is None or chances is None or len(chances) != len(frame.at):
        return ""
    taken, _ = choose(frame, chances)
    nodes, drop = finder.to_nodes(frame, taken)
    return markdown.render(nodes, drop=drop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chances", type=Path)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    data, (score, _) = unpack(options.work), load_scores()
    chances = np.load(options.chances)
    struct: dict[str, list[float]] = defaultdict(list)
    for part in SETS:
        truth = score.load_truth(data / part)
        texts = {
            at: read(
                (data / part / "html" / f"{at}.html").read_text(encoding="utf-8", errors="replace"),
                chances.get(f"{part}/{at}"),
            )
            for at in truth
        }
        pages = score.score(truth, texts, md=True, set_name=part)
        found = score.summarise(pages)
        line = {
            "f1": found["word"]["f1"],
            "p": found["word"]["p"],
            "r": found["word"]["r"],
            "shingle": found["shingle"]["f1"],
        }
        kinds = found.get("word_by_type", {})
        if part == "wcxb":
            line["as the whole set"] = sum(share * kinds[kind] for kind, share in WHOLE_SET.items()) / sum(
                WHOLE_SET.values()
            )
        print(part, " ".join(f"{name} {value:.3f}" for name, value in (line | kinds).items()), flush=True)
        for page in pages.values():
            for name, value in page.get("st", {}).items():
                struct[name].append(value)
    print("structure", " ".join(f"{name} {np.mean(values):.3f} ({len(values)})" for name, values in struct.items()))


if __name__ == "__main__":
    main()
