"""What was learned from pages with known content: words, forests and a calibration, in one file."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np

from specloom.core import dataclass

from .text_features import Words

# --- Boosted trees as arrays: what was learned elsewhere, evaluated for all blocks of a page at once ------------------


CHUNK: Final = 256
"""Units at a time, which bounds the memory of a page with many blocks."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Symmetric trees: every level of a tree asks one question, so a leaf's number is the answers as bits.

    `features` and `borders` are the distinct questions, `levels` has one row a tree and the numbers of its questions,
    `leaves` one row an output with the values of the leaves of one tree after the other.
    """

    features: Any
    borders: Any
    levels: Any
    leaves: Any
    bias: Any

    def evaluate(self, columns: Any) -> Any:
        """Raw scores: one row for each unit, one column for each output. `columns` has a row for each feature."""
        trees, depth = self.levels.shape
        starts = (np.arange(trees) << depth)[:, None]
        scores = np.empty((len(self.leaves), columns.shape[1]), np.float32)
        for at in range(0, columns.shape[1], CHUNK):
            part = columns[:, at : at + CHUNK]
            count = part.shape[1]
            leaf, bits = np.empty((2, trees, count), np.uint8)
            values = np.empty((trees, count), np.float32)
            asked = part.take(self.features, axis=0, mode="clip")
            answered = np.greater(asked, self.borders[:, None]).view(np.uint8)
            # The last question is the highest bit of a leaf's number.
            answered.take(self.levels[:, -1], axis=0, out=leaf, mode="clip")
            for level in range(depth - 2, -1, -1):
                leaf += leaf
                leaf |= answered.take(self.levels[:, level], axis=0, out=bits, mode="clip")
            places = leaf + starts
            for output, leaves in enumerate(self.leaves):
                leaves.take(places, out=values, mode="clip").sum(axis=0, out=scores[output, at : at + count])
        return scores.T + self.bias


def to_chances(scores: Any) -> Any:
    """Probabilities from log odds."""
    return 1.0 / (1.0 + np.exp(-scores))


def to_shares(scores: Any) -> Any:
    """Probabilities of classes that exclude each other."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


FILE: Final = "content.npz"
FOREST: Final = ("features", "borders", "levels", "leaves", "bias")


@dataclass(frozen=True, slots=True)
class ContentModel:
    """The learned parts, in the order in which they are asked."""

    words: Words
    types: tuple[str, ...]
    page: Forest
    """The type of a page, from its overall columns."""
    blocks: Forest
    """The chance of a block, from its columns and the page's type."""
    expected: Any
    reached: Any
    """Expected F1 and the F1 that is really reached at it: the points of a rising line."""


@cache
def load_model() -> ContentModel:
    """The model that comes with the package."""
    with (
        resources.files("specloom.domains.scrape.content").joinpath(FILE).open("rb") as file,
        np.load(file, allow_pickle=False) as data,
    ):
        return to_model(dict(data))


def to_model(data: dict[str, Any]) -> ContentModel:
    """The arrays of a model file as a model."""
    tables = []
    for name in ("names", "words", "phrases"):
        keys = bytes(data[f"{name}_keys"]).decode("utf-8").split("\n")
        tables.append(dict(zip(keys, data[f"{name}_odds"].astype(float).tolist(), strict=True)))
    types = tuple(bytes(data["types"]).decode("utf-8").split("\n"))
    page, blocks = (to_forest(data, name) for name in ("page", "blocks"))
    return ContentModel(Words(*tables), types, page, blocks, data["expected"], data["reached"])


def to_forest(data: dict[str, Any], name: str) -> Forest:
    """One forest, with the small types of the file widened to those that are fast."""
    features, borders, levels, leaves, bias = (data[f"{name}_{part}"] for part in FOREST)
    leaves = np.ascontiguousarray(leaves.T, np.float32)
    return Forest(features.astype(np.intp), borders, levels.astype(np.intp), leaves, bias.astype(np.float32))


MIN_WORDS: Final = 0.3
"""A block without words, such as a row of signs, still counts a little."""


def best_cut(chances: Any, words: Any) -> tuple[Any, float]:
    """The set of blocks with the highest expected F1, and that F1.

    A set is right to take a block whose chance is above half of the F1 that is reached, so the best set is a prefix of
    the blocks by falling chance (Lipton, Elkan and Naryanaswamy, "Optimal thresholding of classifiers to maximize F1
    measure", 2014).
    """
    order = np.argsort(-chances, kind="stable")
    hits, size = np.cumsum((chances * words)[order]), np.cumsum(words[order])
    expected = 2 * hits / (size + hits[-1] + 1e-9)
    at = int(np.argmax(expected))
    taken = np.zeros(len(chances), bool)
    taken[order[: at + 1]] = True
    return taken, float(expected[at])


def expect(chances: Any, words: Any, taken: Any) -> float:
    """The expected F1 of a set of blocks, as in `best_cut`; 0 for none."""
    hits = chances * words
    return float(2 * hits[taken].sum() / (words[taken].sum() + hits.sum() + 1e-9))


# --- Chances that become likelier or less likely; unlike a share of a chance, what is nearly sure stays likely --------


def times_odds(chances: Any, factor: float) -> Any:
    """The chances whose odds are so many times those of `chances`: 0 and 1 stay what they are."""
    return factor * chances / (1 + (factor - 1) * chances)
