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
        found = []
        for at in range(0, columns.shape[1], CHUNK):
            asked = columns[:, at : at + CHUNK].take(self.features, axis=0)
            answers = (asked > self.borders[:, None]).view(np.uint8)
            # The last question is the highest bit of a leaf's number.
            leaf = answers.take(self.levels[:, -1], axis=0)
            for level in range(depth - 2, -1, -1):
                leaf += leaf
                leaf |= answers.take(self.levels[:, level], axis=0)
            places = leaf + starts
            found.append([values.take(places).sum(axis=0) for values in self.leaves])
        return np.concatenate(found, axis=1).T + self.bias


def to_chances(scores: Any) -> Any:
    """Probabilities from log odds."""
    return 1.0 / (1.0 + np.exp(-scores))


def to_shares(scores: Any) -> Any:
    """Probabilities of classes that exclude each other."""
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
