"""Boosted trees as arrays: what was learned elsewhere, evaluated for all blocks of a page at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

CHUNK: Final = 1024
"""Units at a time, which bounds the memory of a page with many blocks."""


@dataclass(frozen=True, slots=True)
class Forest:
    """Symmetric trees: every level of a tree asks one question, so a leaf's number is the answers as bits.

    `features` and `borders` are the distinct questions, `levels` has one row a tree and the numbers of its questions,
    `leaves` one row a tree with the values of its leaves, for each output.
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
        found = []
        for at in range(0, columns.shape[1], CHUNK):
            answers = (columns[self.features, at : at + CHUNK] > self.borders[:, None]).view(np.uint8)
            leaf = answers[self.levels[:, 0]]
            for level in range(1, depth):
                leaf |= answers[self.levels[:, level]] << level
            found.append(self.leaves[leaf + starts].sum(axis=0))
        return np.concatenate(found) + self.bias


def to_chances(scores: Any) -> Any:
    """Probabilities from log odds."""
    return 1.0 / (1.0 + np.exp(-scores))


def to_shares(scores: Any) -> Any:
    """Probabilities of classes that exclude each other."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
