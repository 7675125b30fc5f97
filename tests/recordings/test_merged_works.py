"""What five indexes send of one work becomes one row, and of two works two: a hundred pairs judged by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.model import Row
from specloom.runtime.merge import merge
from tests.support.indexes import INDEXES, parse, to_rows
from tests.support.shipped import shipped_model, shipped_tool
from tests.support.stubbed import Product, Upstreams

PAIRS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("works.yaml").read_text("utf-8"))["pairs"]
STAGE = next(one.merge for one in shipped_tool("academic_search").after if one.merge is not None)
AMBIGUOUS: list[str] = []
"""Pairs of one work that stay apart in the company of others, because a row without a DOI could be of either."""
HOSTS = {
    "openalex": "api.openalex.org",
    "crossref": "api.crossref.org",
    "semanticscholar": "api.semanticscholar.org",
    "europepmc": "www.ebi.ac.uk",
}


def rows_of(pair: Mapping[str, Any]) -> list[Row]:
    """The rows of a pair, each as its index sends the work."""
    works = [parse(pair[side]) for side in ("one", "other")]
    if works[0].index == works[1].index:
        return to_rows(works[0].index, works)
    return [row for work in works for row in to_rows(work.index, [work])]


def merged(rows: list[Row]) -> list[Row]:
    return merge(rows, STAGE, shipped_model().providers, {}).rows


def test_there_are_a_hundred_pairs_of_which_each_stands_once_and_five_indexes_give_them() -> None:
    assert len(PAIRS) >= 100
    assert len({(pair["one"], pair["other"]) for pair in PAIRS}) == len(PAIRS)
    assert {parse(pair[side]).index for pair in PAIRS for side in ("one", "other")} == set(INDEXES)
    assert min(sum(pair["same"] is same for pair in PAIRS) for same in (True, False)) >= 50


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["why"])
def test_works_are_joined_as_a_person_would(pair: Mapping[str, Any]) -> None:
    rows = rows_of(pair)

    assert len(rows) == 2
    assert len(merged(rows)) == len(merged(rows[::-1])) == (1 if pair["same"] else 2)


def test_every_field_of_a_merged_work_is_that_of_a_row_which_is_named() -> None:
    fields = ("title", "url", "doi", "year", "authors", "abstract", "citation_count", "journal", "pdf_url")
    checked = 0
    for pair in PAIRS:
        rows = rows_of(pair)
        for row in merged(rows):
            for name in fields:
                if name not in row:
                    continue
                provider = row.get("origins", {}).get(name, row["provider"])
                values = [each.get(name) for each in rows if each["provider"] == provider]
                assert row[name] in values, (pair["why"], name)
                assert provider in row["found_by"]
                checked += 1

    assert checked > 700


def test_all_pairs_in_one_list_are_joined_as_they_are_alone() -> None:
    sent = [(pair, side, parse(pair[side])) for pair in PAIRS for side in ("one", "other")]
    numbers = {work: number for number, work in enumerate(dict.fromkeys(work for _, _, work in sent), 1)}
    rows = [
        row
        for index in INDEXES
        for row in to_rows(index, [replace(work, cited=at) for work, at in numbers.items() if work.index == index])
    ]
    # A count that no other work has says which rows became which work; arXiv counts none.
    of = {number: place for place, row in enumerate(merged(rows)) for number in row.get("citation_counts", {}).values()}
    wrong = []
    for pair in PAIRS:
        one, other = (of.get(numbers[parse(pair[side])]) for side in ("one", "other"))
        if one is not None and other is not None and (one == other) is not pair["same"]:
            wrong.append(pair["why"])

    assert len(of) > 120
    assert wrong == AMBIGUOUS


async def test_a_client_gets_the_works_of_four_indexes_merged_with_who_said_what() -> None:
    title = "Turing patterns in multiplex networks of neurons"
    sent = {
        "openalex": f"openalex | {title} | 10.1103/physreve.90.042814 | Malbor Asllani | 2014",
        "crossref": f"crossref | {title} | 10.1103/physreve.90.042814 | Malbor Asllani | 2014",
        "semanticscholar": f"semanticscholar | {title} |  | M. Asllani | 2014 | arxiv=1406.6401",
        "europepmc": f"europepmc | {title}. | 10.1103/PhysRevE.90.042814 | Asllani M | 2014 | pmid=25375561",
    }
    upstreams = Upstreams({HOSTS[index]: INDEXES[index]([parse(text)]) for index, text in sent.items()})

    answer = await Product(upstreams).answer("academic_search", query="turing patterns")

    (paper,) = answer["papers"]
    assert paper["foundBy"] == ["crossref", "europepmc", "openalex", "semanticscholar"]
    assert set(paper["citationCounts"]) == set(sent)
