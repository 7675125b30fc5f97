"""The best choice among blocks, given the chance of each to be content."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

MIN_WORDS: Final = 0.3
"""A block without words, such as a row of signs, still counts a little."""


def best_cut(chances: Any, words: Any) -> tuple[Any, float, float]:
    """The set of blocks with the highest expected F1, that F1, and the lowest chance taken.

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
    return taken, float(expected[at]), float(chances[order[at]])


def expect(chances: Any, words: Any, taken: Any) -> float:
    """The expected F1 of a set of blocks, as in `best_cut`; 0 for none."""
    hits = chances * words
    return float(2 * hits[taken].sum() / (words[taken].sum() + hits.sum() + 1e-9))


# --- Chances that become likelier or less likely; unlike a share of a chance, what is nearly sure stays likely --------


def times_odds(chances: Any, factor: float) -> Any:
    """The chances whose odds are so many times those of `chances`: 0 and 1 stay what they are."""
    return factor * chances / (1 + (factor - 1) * chances)
