"""Pages with known content, as blocks with the share of each that is content."""

from __future__ import annotations

import importlib
import os
import sys
import tarfile
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specloom.domains.scrape.content.blocks import Block, to_blocks
from specloom.domains.scrape.content.page import PageFacts, read_page
from specloom.domains.scrape.extract import empty_head
from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.html import sanitise
from specloom.domains.scrape.metadata.sources import gather

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

SETS = ("wcxb", "zyte", "magic", "mozread", "defuddle")
TYPES = ("article", "documentation", "service", "forum", "listing", "product", "collection")
MAX_ALIGNED = 60_000
"""Words of a page that are aligned with its truth."""


def find_bench() -> Path:
    """The folder of the pages and their scores: SPECLOOM_BENCH, or `shared/bench` beside the repository."""
    return Path(os.environ.get("SPECLOOM_BENCH") or Path(__file__).parents[3] / "shared" / "bench")


def load_scores() -> tuple[ModuleType, ModuleType]:
    """The modules `score` and `metrics` of the benchmark, which define its figures."""
    sys.path.insert(0, str(find_bench()))
    return importlib.import_module("score"), importlib.import_module("metrics")


def unpack(work: Path | None = None) -> Path:
    """The folder that holds the unpacked pages, one folder for each set; unpacked once."""
    data = (work or Path(tempfile.gettempdir()) / "specloom-bench") / "data"
    for name in SETS:
        if not (data / name).is_dir():
            with tarfile.open(find_bench() / "data" / f"{name}.tar.xz") as archive:
                archive.extractall(data, filter="data")
    return data


@dataclass(slots=True)
class Labelled:
    """One page of the benchmark."""

    set: str
    id: str
    type: str
    site: str
    html: str
    truth: str
    blocks: list[Block]
    page: PageFacts
    texts: list[list[str]]
    """The words of each unit."""
    share: Any
    """How much of each unit is content, 0 to 1."""
    words: Any
    """How many words each unit has, as the benchmark counts them."""
    truth_words: Counter[str]
    units: Any = None
    chances: Any = None
    first: Any = None
    kinds: Any = None

    @property
    def kind(self) -> int:
        """The index of its type, -1 if the set says nothing about it."""
        return TYPES.index(self.type) if self.set in {"wcxb", "zyte", "magic"} else -1

    def score(self, taken: Any) -> float:
        """The F1 of taking these units: bag of words, as the benchmark judges."""
        found: Counter[str] = Counter()
        for words, take in zip(self.texts, taken, strict=True):
            if take:
                found.update(words)
        hits = (found & self.truth_words).total()
        return 2 * hits / (found.total() + self.truth_words.total()) if hits else 0.0


def load_pages(data: Path, sets: Sequence[str] = SETS) -> Iterator[Labelled]:
    """The pages that have both text and truth."""
    score, metrics = load_scores()
    for name in sets:
        for at, truth in score.load_truth(data / name).items():
            if not (truth.get("text") or "").strip():
                continue
            html = (data / name / "html" / f"{at}.html").read_text(encoding="utf-8", errors="replace")
            root = tree.parse(html)
            empty_head(root)
            page = read_page(gather(root))
            sanitise.sanitise(root)
            blocks = to_blocks(root)
            texts = [metrics.words(block.text) for block in blocks if block.text]
            if not texts:
                continue
            words = metrics.words(truth["text"])
            for block in blocks:
                block.element = None  # type: ignore[assignment]
            counts = np.array([len(unit) for unit in texts], float)
            yield Labelled(
                name,
                at,
                truth["type"],
                truth["group"],
                html,
                truth["text"],
                blocks,
                page,
                texts,
                align(texts, words),
                counts,
                Counter(words),
            )


def align(units: Sequence[Sequence[str]], truth: Sequence[str]) -> Any:
    """How much of each unit is in the truth: by a longest common subsequence, and by 4-grams for what was moved."""
    from rapidfuzz.distance import LCSseq

    flat = [word for unit in units for word in unit][:MAX_ALIGNED]
    owner = [at for at, unit in enumerate(units) for _ in unit][:MAX_ALIGNED]
    numbers: dict[str, int] = {}
    left, right = ([numbers.setdefault(word, len(numbers)) for word in words] for words in (flat, truth[:MAX_ALIGNED]))
    hits = np.zeros(len(units))
    for step in LCSseq.opcodes(left, right):
        if step.tag == "equal":
            np.add.at(hits, owner[step.src_start : step.src_end], 1)
    share = hits / np.maximum([len(unit) for unit in units], 1)
    left_over = Counter(to_shingles(truth))
    for at, unit in enumerate(units):
        if share[at] > 0.6:
            left_over.subtract(to_shingles(unit))
    for at, unit in enumerate(units):
        if share[at] <= 0.6 and len(unit) >= 6:
            shingles = to_shingles(unit)
            found = sum(left_over[shingle] > 0 for shingle in shingles) / len(shingles)
            if found > 0.7:
                share[at] = max(share[at], found)
                left_over.subtract(shingles)
    return share


def to_shingles(words: Sequence[str], size: int = 4) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]
