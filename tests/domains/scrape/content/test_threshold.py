"""The best cut, the F1 that is expected of a choice, and chances that become likelier or less likely."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.model import best_cut, expect, times_odds


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
