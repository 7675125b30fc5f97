"""Trees give the same for many units as for each alone; the best cut has the highest F1 that is expected."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content import model as forest
from specloom.domains.scrape.content.model import Forest, best_cut, expect, load_model, times_odds

STUMPS = Forest(
    features=np.array([0, 1]),
    borders=np.array([0.5, 2.0], np.float32),
    levels=np.array([[0, 1], [1, 1]]),
    leaves=np.array([[1, 2, 4, 8, 16, 0, 0, 32], [0, 0, 0, 1, 0, 0, 0, 0]], np.float32),
    bias=np.array([100, 0], np.float32),
)


def test_the_answers_to_the_questions_of_a_tree_are_the_bits_of_its_leaf() -> None:
    units = np.array([[0, 1, 0, 1], [0, 0, 3, 3]], np.float32)

    found = STUMPS.evaluate(units)

    assert found.tolist() == [[117, 0], [118, 0], [136, 0], [140, 1]]


def test_units_are_judged_alike_alone_and_in_any_number() -> None:
    trees = load_model().blocks
    rows = int(trees.features.max()) + 1
    units = np.random.default_rng(1).normal(size=(rows, 2 * forest.CHUNK + 7)).astype(np.float32)

    together = trees.evaluate(units)

    for at in (0, forest.CHUNK - 1, forest.CHUNK, 2 * forest.CHUNK + 6):
        assert np.allclose(trees.evaluate(units[:, at : at + 1]), together[at], atol=1e-5)


def test_the_best_cut_takes_what_is_likelier_than_half_of_the_f1_that_is_reached() -> None:
    chances, words = np.array([0.9, 0.35, 0.5, 0.8]), np.full(4, 10.0)

    taken, expected = best_cut(chances, words)

    assert taken.tolist() == [True, False, True, True]
    assert expected == pytest.approx(2 * 22 / (30 + 25.5))


def test_the_expected_f1_is_that_of_the_words_taken() -> None:
    chances, words = np.array([1.0, 0.5, 0.5, 0.0]), np.array([10.0, 4.0, 6.0, 2.0])

    assert expect(chances, words, np.array([True, True, False, False])) == pytest.approx(2 * 12 / (14 + 15))
    assert expect(chances, words, np.array([False, False, False, True])) == 0


def test_sure_chances_stay_whatever_their_odds_are_times() -> None:
    assert times_odds(np.array([0.0, 0.5, 1.0]), 3).tolist() == [0.0, 0.75, 1.0]
    assert times_odds(np.array([0.0, 0.5, 1.0]), 1 / 3) == pytest.approx([0.0, 0.25, 1.0])
