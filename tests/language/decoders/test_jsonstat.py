"""A cube becomes its observations, and what is no cube becomes a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.language.decoders import jsonstat
from specloom.language.decoders.registry import DECODERS, decode


def read(document: Any, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = decode("jsonstat", Response(200, {}, json.dumps(document).encode()), options)
    for row in rows:
        Draft7Validator(DECODERS["jsonstat"].item or {}).validate(row)
    return rows


def fault(document: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        read(document)
    return caught.value


def brief(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["series"], row["time"], row["value"], row["status"]) for row in rows]


def category(*codes: str, **labels: str) -> dict[str, Any]:
    return {"category": {"index": list(codes), "label": labels}}


def cube(**changes: Any) -> dict[str, Any]:
    """Two places and three months, sparse, with a place in the cube that has only a status."""
    return {
        "class": "dataset",
        "label": "Jobless",
        "updated": "2026-01-09",
        "value": {"0": 6.0, "1": 5.9, "2": 6.1, "3": 7.3, "5": 7.1},
        "status": {"2": "p", "4": ":", "5": "p"},
        "id": ["freq", "unit", "geo", "time"],
        "size": [1, 1, 2, 3],
        "dimension": {
            "freq": {"category": {"index": {"M": 0}, "label": {"M": "Monthly"}}},
            "unit": {"category": {"index": {"PC": 0}, "label": {"PC": "Percent"}}},
            "geo": {"category": {"index": {"DE": 0, "FR": 1}, "label": {"DE": "Germany", "FR": "France"}}},
            "time": {"category": {"index": {"2025-09": 0, "2025-10": 1, "2025-11": 2}}},
        },
        "extension": {"status": {"label": {"p": "provisional"}}},
        **changes,
    }


def population(**changes: Any) -> dict[str, Any]:
    """Two sexes, three places, two years: dense, with an index out of order and one status for all."""
    return {
        "label": "People",
        "id": ["sex", "geo", "time"],
        "size": [2, 3, 2],
        "value": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, None, 12],
        "status": "e",
        "role": {"time": ["time"], "geo": ["geo"]},
        "dimension": {
            "sex": category("F", "M", F="Females", M="Males"),
            "geo": {"category": {"index": {"FR": 2, "DE": 0, "ES": 1}}},
            "time": category("2023", "2024"),
        },
        **changes,
    }


def test_a_sparse_cube_is_read_row_by_row_and_sorted_by_series_and_time() -> None:
    assert brief(read(cube())) == [
        ("France", "2025-09", 7.3, None),
        ("France", "2025-10", None, ":"),
        ("France", "2025-11", 7.1, "p"),
        ("Germany", "2025-09", 6.0, None),
        ("Germany", "2025-10", 5.9, None),
        ("Germany", "2025-11", 6.1, "p"),
    ]


def test_an_observation_has_its_dimensions_and_those_of_the_cube() -> None:
    last = read(cube())[-1]

    assert last == {
        "series": "Germany",
        "time": "2025-11",
        "value": 6.1,
        "available": True,
        "status": "p",
        "status_label": "provisional",
        "unit": "Percent",
        "dims": {
            "freq": {"code": "M", "label": "Monthly"},
            "unit": {"code": "PC", "label": "Percent"},
            "geo": {"code": "DE", "label": "Germany"},
            "time": {"code": "2025-11", "label": "2025-11"},
        },
        "cube": {"label": "Jobless", "updated": "2026-01-09"},
    }


def test_a_status_without_a_value_is_an_observation_that_is_not_available() -> None:
    missing = read(cube())[1]

    assert (missing["value"], missing["available"], missing["status_label"]) == (None, False, None)


def test_a_dense_cube_with_an_unordered_index_and_one_status_for_all() -> None:
    assert brief(read(population())) == [
        ("Females, DE", "2023", 1, "e"),
        ("Females, DE", "2024", 2, "e"),
        ("Females, ES", "2023", 3, "e"),
        ("Females, ES", "2024", 4, "e"),
        ("Females, FR", "2023", 5, "e"),
        ("Females, FR", "2024", 6, "e"),
        ("Males, DE", "2023", 7, "e"),
        ("Males, DE", "2024", 8, "e"),
        ("Males, ES", "2023", 9, "e"),
        ("Males, ES", "2024", 10, "e"),
        ("Males, FR", "2023", None, "e"),
        ("Males, FR", "2024", 12, "e"),
    ]


def test_a_dimension_with_one_category_needs_no_index_and_what_does_not_vary_is_no_title() -> None:
    rows = read(
        {
            "label": "Prices",
            "id": ["unit", "geo", "time"],
            "size": [1, 1, 2],
            "value": {"0": 2.1, "1": 1.9},
            "dimension": {
                "unit": {"category": {"label": {"RCH": "Annual change"}}},
                "geo": {"category": {"label": {"EL": "Greece"}}},
                "time": {"category": {"index": {"2024-12": 1, "2024-11": 0}}},
            },
        }
    )

    assert brief(rows) == [(None, "2024-11", 2.1, None), (None, "2024-12", 1.9, None)]
    assert rows[0]["unit"] == "Annual change"
    assert rows[0]["dims"]["geo"] == {"code": "EL", "label": "Greece"}


def test_the_latest_time_of_each_series_comes_first_where_it_is_asked_for() -> None:
    rows = read(cube(), newest_first=True)

    assert [(row["series"], row["time"]) for row in rows[:4]] == [
        ("France", "2025-11"),
        ("France", "2025-10"),
        ("France", "2025-09"),
        ("Germany", "2025-11"),
    ]


def test_units_that_vary_are_those_of_each_observation() -> None:
    rows = read(
        {
            "id": ["unit", "time"],
            "size": [2, 1],
            "value": [1, 2],
            "dimension": {"unit": category("PC", "EUR", PC="Percent"), "time": category("2024")},
        }
    )

    assert [(row["series"], row["unit"], row["value"]) for row in rows] == [
        ("EUR", "EUR", 2),
        ("Percent", "Percent", 1),
    ]


@pytest.mark.parametrize(
    ("names", "role", "time"),
    [
        (["Time", "geo"], {}, "a"),
        (["geo", "TIME_PERIOD"], {}, "b"),
        (["geo", "when"], {"time": ["when"]}, "b"),
        (["time", "when"], {"time": ["when"]}, "b"),
        (["geo", "sex"], {}, None),
        (["geo", "sex"], {"time": "sex"}, None),
    ],
)
def test_time_is_the_dimension_with_that_role_or_name(names: list[str], role: dict[str, Any], time: Any) -> None:
    dimension = dict(zip(names, (category("a"), category("b")), strict=True))

    (row,) = read({"id": names, "size": [1, 1], "value": [1], "role": role, "dimension": dimension})

    assert row["time"] == time


@pytest.mark.parametrize("key", ["-1", "12", "1.5", "x", "", "９", "99999999999999999999"])
def test_a_value_outside_the_cube_is_passed_over(key: str) -> None:
    assert brief(read(population(value={"0": 1, key: 5}, status=None))) == [("Females, DE", "2023", 1, None)]


def test_a_status_may_be_a_list() -> None:
    rows = read(population(value={"0": 1}, status=["p", None, "", "c"]))

    assert brief(rows) == [
        ("Females, DE", "2023", 1, "p"),
        ("Females, ES", "2023", None, None),
        ("Females, ES", "2024", None, "c"),
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [(1.5, 1.5), (" 40.3000 ", 40.3), ("-1e2", -100), ("NaN", None), ("", None), ("1e999", None), (True, None),
     ([], None), ("1_0", None), (".5", 0.5), (".", None)],
)  # fmt: skip
def test_a_cell_is_a_number_or_missing(cell: Any, value: Any) -> None:
    rows = read(population(value={"0": cell}))

    assert (rows[0]["value"], rows[0]["available"]) == (value, value is not None)


def test_a_category_that_is_not_listed_loses_only_its_observations() -> None:
    rows = read(population(dimension={**population()["dimension"], "geo": category("DE", "ES")}))

    assert {row["dims"]["geo"]["code"] for row in rows} == {"DE", "ES"}
    assert len(rows) == 8


@pytest.mark.parametrize(
    "document",
    [
        {"id": [], "size": [], "value": {}},
        cube(value={}, status={}),
        cube(value={}, status={}, size=[1, 1, 0, 3]),
        cube(value=[], status=None),
    ],
)
def test_an_empty_cube_has_no_observations(document: Any) -> None:
    assert read(document) == []


def test_an_empty_body_is_no_observations_where_the_spec_says_so() -> None:
    assert decode("jsonstat", Response(200), {"blank_ok": True}) == []


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "it is no object of the class dataset"),
        ([], "it is no object of the class dataset"),
        ({"class": "collection"}, "it is no object of the class dataset"),
        ({"error": [{"label": "unknown"}]}, "`id` and `size` are not two lists"),
        (cube(size=[1, 1, 2]), "`id` and `size` are not two lists of one length"),
        (cube(id=["a", "a", "b", "c"]), "`id` does not list the names of different dimensions"),
        (cube(id=["a", 1, "b", "c"]), "`id` does not list the names of different dimensions"),
        (cube(size=[1, 1, -2, 3]), "`size` does not list whole numbers"),
        (cube(size=[1, 1, True, 3]), "`size` does not list whole numbers"),
        (cube(value=None), "`value` is neither an object nor a list"),
        (cube(dimension={}), "no value has a place among the dimensions"),
        (cube(size=[1, 1, 0, 3]), "no value has a place among the dimensions"),
    ],
)
def test_what_is_no_cube_is_a_changed_layout(document: Any, why: str) -> None:
    found = fault(document)

    assert found.kind == "layout_changed"
    assert found.message.startswith("the answer cannot be read as JSON-stat: ")
    assert why in found.message


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (cube(value=[0] * 100_001), "more than 100,000 observations; ask for fewer places or dates"),
        (cube(size=[10**4000] * 4), "more than 100,000 observations"),
        ({"id": [f"d{n}" for n in range(65)], "size": [1] * 65, "value": []}, "the cube has 65 dimensions, and 64"),
    ],
)
def test_a_cube_that_is_too_large_is_refused(document: Any, why: str) -> None:
    found = fault(document)

    assert found.kind == "too_large"
    assert why in found.message


def test_fewer_observations_are_read_of_a_cube_with_many_dimensions() -> None:
    assert jsonstat.find_limit(0) == jsonstat.find_limit(20) == 100_000
    assert jsonstat.find_limit(40) == 50_000


def test_a_long_label_is_cut_so_that_it_is_not_copied_into_every_observation_whole() -> None:
    document = population(dimension={**population()["dimension"], "sex": category("F", "M", F="x" * 9999)})

    assert len(read(document)[-1]["series"]) == 304


def test_a_label_in_several_languages_is_the_english_one() -> None:
    assert read(cube(label={"fr": "Chômage", "en": "Jobless"}))[0]["cube"]["label"] == "Jobless"
    assert read(cube(label={"fr": "Chômage"}))[0]["cube"]["label"] == "Chômage"


NAMES = st.sampled_from(["a", "b", "0", "1", "time", "unit", "geo", "index", "label", "category"])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
SIZES = st.lists(st.integers(0, 3), min_size=2, max_size=2)
CUBES = st.fixed_dictionaries(
    {
        "id": st.just(["a", "time"]) | TREES,
        "size": SIZES | TREES,
        "value": st.lists(TREES, max_size=6) | st.dictionaries(NAMES, TREES, max_size=6) | TREES,
    },
    optional={
        "status": TREES,
        "role": TREES,
        "label": TREES,
        "extension": TREES,
        "dimension": st.just({"a": category("x", "y"), "time": category("1", "2")}) | TREES,
    },
)


@given(CUBES | TREES)
def test_any_json_is_read_or_is_a_fault(document: Any) -> None:
    try:
        rows, kind = read(document), "layout_changed"
    except Fault as found:
        rows, kind = [], found.kind

    assert kind in ("layout_changed", "too_large")
    assert all(row["available"] is (row["value"] is not None) for row in rows)
