"""Learn the model of `scrape/content` from the labelled pages, and say what it reaches on sites it has not seen.

    train.py [--work DIR] [--save | --line]

Prints F1 by set and type, cross-validated by site. `--save` trains on all pages and writes the model into the package;
`--line` only draws anew what makes confidence of expected F1: for rules that change, when the trees do not.
Needs catboost, rapidfuzz, html_text and scipy beside specloom; none of them is needed to use the model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from catboost import CatBoostClassifier
from labelled import TYPES, Labelled, load_pages, unpack
from lexicon import Lexicon

from specloom.domains.scrape.content import finder, model
from specloom.domains.scrape.content.features import measure
from specloom.domains.scrape.content.finder import choose
from specloom.domains.scrape.content.model import MIN_WORDS
from specloom.domains.scrape.content.reweight import reweight

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDS = 5
DAMPING = 0.85
RARITY = 1.0
"""How much a page with little content counts more than one that is all content: 0 not at all, 1 in proportion."""
OUT = Path(model.__file__).parents[1] / "data" / model.FILE

BLOCKS = {
    "loss_function": "CrossEntropy", "iterations": 400, "learning_rate": 0.08, "depth": 6, "l2_leaf_reg": 8, "rsm": 0.2,
    "border_count": 32, "bootstrap_type": "Bernoulli", "subsample": 0.6,
}  # fmt: skip
PAGES = {
    "loss_function": "MultiClass", "iterations": 150, "learning_rate": 0.1, "depth": 4, "l2_leaf_reg": 8, "rsm": 0.3,
    "border_count": 32, "bootstrap_type": "Bernoulli", "subsample": 0.7, "classes_count": len(TYPES),
}  # fmt: skip
WHOLE_SET = {
    "article": 0.530,
    "forum": 0.0755,
    "product": 0.0795,
    "collection": 0.078,
    "listing": 0.066,
    "documentation": 0.061,
    "service": 0.110,
}
"""Shares of the types in the whole of wcxb; the development pages have as many of each."""


def fit(settings: dict[str, Any], table: Any, truth: Any, weights: Any = None) -> CatBoostClassifier:
    learner = CatBoostClassifier(**settings, random_seed=0, thread_count=2, verbose=0, allow_writing_files=False)
    return learner.fit(table, truth, sample_weight=weights)


def to_chances(learner: CatBoostClassifier, table: Any) -> Any:
    return learner.predict(table, prediction_type="Probability")[:, 1]


def weigh(page: Labelled) -> Any:
    """What a wrong word costs: the less content a page has, the more of its F1. Long blocks count a little less."""
    weights = np.maximum(page.words, MIN_WORDS) ** DAMPING
    whole = weights.sum()
    content = max((weights * page.share).sum(), whole / 20)
    return 1000 * weights / (whole ** (1 - RARITY) * content**RARITY)


def split(pages: Sequence[Labelled]) -> Any:
    """The fold of each page; all pages of a site are in the same one."""
    sites = sorted({page.site for page in pages})
    np.random.RandomState(1).shuffle(sites)
    of_site = {site: at % FOLDS for at, site in enumerate(sites)}
    return np.array([of_site[page.site] for page in pages])


def stack(pages: Sequence[Labelled], tables: Sequence[Any], chosen: Any) -> tuple[Any, Any, Any]:
    picked = np.nonzero(chosen)[0]
    return (
        np.vstack([tables[at] for at in picked]),
        np.concatenate([pages[at].share for at in picked]),
        np.concatenate([weigh(pages[at]) for at in picked]),
    )


def cross(pages: Sequence[Labelled], tables: Sequence[Any], folds: Any) -> list[Any]:
    """The chances of each page by a learner that has not seen its site."""
    chances: list[Any] = [None] * len(pages)
    for fold in range(FOLDS):
        learner = fit(BLOCKS, *stack(pages, tables, folds != fold))
        for at in np.nonzero(folds == fold)[0]:
            chances[at] = to_chances(learner, tables[at])
    return chances


def report(pages: Sequence[Labelled], scores: Sequence[float]) -> dict[str, float]:
    lists = defaultdict(list)
    for page, score in zip(pages, scores, strict=True):
        lists[page.set].append(score)
        if page.set in {"wcxb", "magic"}:
            lists[f"{page.set} {page.type}"].append(score)
    means = {name: float(np.mean(values)) for name, values in lists.items()}
    means["wcxb as the whole set"] = sum(share * means[f"wcxb {kind}"] for kind, share in WHOLE_SET.items()) / sum(
        WHOLE_SET.values()
    )
    for name, value in sorted(means.items()):
        print(f"  {name:24} {value:.3f}")
    return means


def calibrate(expected: Any, reached: Any, points: int = 12) -> tuple[Any, Any]:
    """A rising line from the expected to the reached F1: means of equal shares of the pages, made monotone."""
    order = np.argsort(expected)
    groups = np.array_split(order, points)
    x = np.array([expected[group].mean() for group in groups])
    y = [float(np.mean(reached[group])) for group in groups]
    blocks = [[value, 1] for value in y]
    merged: list[list[float]] = []
    for block in blocks:
        merged.append(block)
        while len(merged) > 1 and merged[-2][0] > merged[-1][0]:
            (a, m), (b, n) = merged[-2:]
            merged[-2:] = [[(a * m + b * n) / (m + n), m + n]]
    rising = np.concatenate([[value] * int(count) for value, count in merged])
    return np.concatenate(([0.0], x)).astype(np.float32), np.concatenate(([0.0], rising)).astype(np.float32)


def judge_confidence(expected: Any, scores: Any) -> None:
    """How well the expected F1 tells good pages from bad, and where to draw the line."""
    from scipy.stats import spearmanr

    print(f"confidence and F1, rank correlation {spearmanr(expected, scores)[0]:.3f}")
    x, y = calibrate(expected, scores)
    reached = np.interp(expected, x, y)
    for line in (0.7, 0.75, 0.8, 0.85):
        complete = reached >= line
        poor = (complete & (scores < 0.5)).mean()
        print(f"  complete from {line}: {complete.mean():.3f} of the pages, and below 0.5 all the same: {poor:.4f}")


def to_forest(learner: CatBoostClassifier, outputs: int) -> dict[str, Any]:
    """A learner's trees as the arrays of `forest.Forest`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        learner.save_model(str(file), format="json")
        data = json.loads(file.read_text(encoding="utf-8"))
    trees = data["oblivious_trees"]
    depth = max(len(tree["splits"] or []) for tree in trees)
    columns = {entry["feature_index"]: entry["flat_feature_index"] for entry in data["features_info"]["float_features"]}
    questions: dict[tuple[int, Any], int] = {}
    levels = np.zeros((len(trees), depth), np.uint16)
    leaves = np.zeros((len(trees), 1 << depth, outputs))
    for at, tree in enumerate(trees):
        splits = [
            (columns[entry["float_feature_index"]], np.float32(entry["border"])) for entry in tree["splits"] or []
        ]
        # A shallower tree asks what is never so for the rest.
        splits += [(0, np.float32(np.inf))] * (depth - len(splits))
        levels[at] = [questions.setdefault(question, len(questions)) for question in splits]
        values = np.array(tree["leaf_values"]).reshape(-1, outputs)
        leaves[at, : len(values)] = values
    scale, bias = data["scale_and_bias"]
    return {
        "features": np.array([column for column, _ in questions], np.uint16),
        "borders": np.array([border for _, border in questions], np.float32),
        "levels": levels,
        "leaves": (leaves * scale).reshape(-1, outputs).astype(np.float16),
        "bias": np.array(bias if isinstance(bias, list) else [bias], np.float32),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--line", action="store_true", help="save what confidence is made of alone, and keep the trees")
    parser.add_argument("--chances", type=Path, help="write the cross-validated chances of each page, as .npz")
    options = parser.parse_args()
    began = time.time()
    pages = list(load_pages(unpack(options.work)))
    lexicon = Lexicon(pages)
    for site in {page.site for page in pages}:
        words = lexicon.without(site)
        for page in pages:
            if page.site == site:
                page.units = measure(page.blocks, page.page, words)
    folds = split(pages)
    units = sum(len(page.share) for page in pages)
    sites = len({page.site for page in pages})
    print(f"{len(pages)} pages of {sites} sites, {units} units, {time.time() - began:.0f} s", flush=True)

    kinds = np.array([page.kind for page in pages])
    overall = np.vstack([page.units.overall for page in pages])
    guesses = np.zeros((len(pages), len(TYPES)), np.float32)
    for fold in range(FOLDS):
        known = (folds != fold) & (kinds >= 0)
        guesses[folds == fold] = fit(PAGES, overall[known], kinds[known]).predict_proba(overall[folds == fold])
    right = guesses.argmax(axis=1) == kinds
    print(
        f"page type right: {right[kinds >= 0].mean():.3f}",
        {name: round(float(right[kinds == at].mean()), 2) for at, name in enumerate(TYPES)},
    )

    tables = [finder.with_kinds(page.units, guess).T for page, guess in zip(pages, guesses, strict=True)]
    chances = [
        reweight(page.units.frame, page.page, dict(zip(TYPES, guess.tolist(), strict=True)), chance)
        for page, guess, chance in zip(pages, guesses, cross(pages, tables, folds), strict=True)
    ]
    choices = [choose(page.units.frame, chance) for page, chance in zip(pages, chances, strict=True)]
    expected = np.array([expected for _, expected in choices])
    scores = np.array([page.score(taken) for page, (taken, _) in zip(pages, choices, strict=True)])
    print(f"F1 by words, each site judged by what was learned from others, {time.time() - began:.0f} s")
    report(pages, scores)
    judge_confidence(expected, scores)
    if options.chances:
        np.savez_compressed(
            options.chances, **{f"{page.set}/{page.id}": chance for page, chance in zip(pages, chances, strict=True)}
        )
    if not (options.save or options.line):
        return
    x, y = calibrate(expected, scores)
    if not options.save:
        with np.load(OUT) as kept:
            np.savez_compressed(OUT, **(dict(kept) | {"expected": x, "reached": y}))
        return
    everywhere = np.ones(len(pages), bool)
    parts: dict[str, Any] = {"expected": x, "reached": y, "types": np.frombuffer("\n".join(TYPES).encode(), np.uint8)}
    for name, table in zip(("names", "words", "phrases"), lexicon.all, strict=True):
        parts[f"{name}_keys"] = np.frombuffer("\n".join(table).encode(), np.uint8)
        parts[f"{name}_odds"] = np.array(list(table.values()), np.float16)
    forests = {
        "page": to_forest(fit(PAGES, overall[kinds >= 0], kinds[kinds >= 0]), len(TYPES)),
        "blocks": to_forest(fit(BLOCKS, *stack(pages, tables, everywhere)), 1),
    }
    for name, forest in forests.items():
        parts |= {f"{name}_{part}": array for part, array in forest.items()}
    np.savez_compressed(OUT, **parts)
    print(f"{OUT.name}: {OUT.stat().st_size} bytes, {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
