"""What was learned from pages with known content: words, forests and a calibration, in one file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np

from specloom.scrape.content.forest import Forest
from specloom.scrape.content.wording import Words

FILE: Final = "content.npz"
FOREST: Final = ("features", "borders", "levels", "leaves", "bias")


@dataclass(frozen=True, slots=True)
class Model:
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
def load_model() -> Model:
    """The model that comes with the package."""
    with (
        resources.files("specloom.scrape").joinpath("data", FILE).open("rb") as file,
        np.load(file, allow_pickle=False) as data,
    ):
        return to_model(dict(data))


def to_model(data: dict[str, Any]) -> Model:
    """The arrays of a model file as a model."""
    tables = []
    for name in ("names", "words", "phrases"):
        keys = bytes(data[f"{name}_keys"]).decode("utf-8").split("\n")
        tables.append(dict(zip(keys, data[f"{name}_odds"].astype(float).tolist(), strict=True)))
    types = tuple(bytes(data["types"]).decode("utf-8").split("\n"))
    page, blocks = (to_forest(data, name) for name in ("page", "blocks"))
    return Model(Words(*tables), types, page, blocks, data["expected"], data["reached"])


def to_forest(data: dict[str, Any], name: str) -> Forest:
    """One forest, with the small types of the file widened to those that are fast."""
    features, borders, levels, leaves, bias = (data[f"{name}_{part}"] for part in FOREST)
    leaves = np.ascontiguousarray(leaves.T, np.float32)
    return Forest(features.astype(np.intp), borders, levels.astype(np.intp), leaves, bias.astype(np.float32))


def to_odds(content: float, all_of: float, prior: float = 1.0) -> float:
    """Log odds of being content, from how often something was and how often it was seen."""
    return math.log((content + prior) / (all_of - content + prior))
