"""Trees give the same for many units as for each alone, whatever was asked before."""

import numpy as np

from specloom.domains.scrape.content import model as forest
from specloom.domains.scrape.content.model import Forest, load_model

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
