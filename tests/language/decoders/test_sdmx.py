"""A data message becomes its observations, and what is none becomes a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.language.decoders.registry import DECODERS, decode


def read(document: Any, **options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = decode("sdmx", Response(200, {}, json.dumps(document).encode()), options)
    for row in rows:
        Draft7Validator(DECODERS["sdmx"].item or {}).validate(row)
    return rows


def fault(document: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        read(document)
    return caught.value


def brief(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["series"], row["time"], row["value"], row["status"]) for row in rows]


def part(name: str, *values: Any, **more: Any) -> dict[str, Any]:
    """A component; a value is a code with its name, a code, or what is listed as it is."""
    listed = [
        {"id": value[0], "name": value[1]}
        if isinstance(value, tuple)
        else {"id": value}
        if isinstance(value, str)
        else value
        for value in values
    ]
    return {"id": name, "values": listed, **more}


def message(data_set: dict[str, Any], structure: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"dataSets": [data_set], "structures": [structure]}}


def quarters() -> dict[str, Any]:
    """Two series over three quarters that are not in order, with a NaN and a null."""
    return {
        "meta": {"prepared": "2026-01-05T10:00:00Z"},
        "data": {
            "dataSets": [
                {
                    "structure": 0,
                    "action": "Information",
                    "series": {
                        "0:0:0": {
                            "attributes": [0],
                            "observations": {"0": [100.5, 0], "1": [99.0, 0], "2": [101.2, 1]},
                        },
                        "1:0:0": {"attributes": [0], "observations": {"1": ["NaN", 0], "2": [None]}},
                    },
                }
            ],
            "structures": [
                {
                    "name": "Accounts",
                    "dimensions": {
                        "dataSet": [],
                        "series": [
                            part("REF_AREA", ("USA", "United States"), ("DEU", "Germany")),
                            part("MEASURE", ("B1GQ", "Gross product")),
                            part("UNIT_MEASURE", ("IX", "Index")),
                        ],
                        "observation": [part("TIME_PERIOD", "2023-Q2", "2023-Q1", "2023-Q3")],
                    },
                    "attributes": {
                        "series": [part("UNIT_MULT", ("6", "Millions"))],
                        "observation": [part("OBS_STATUS", ("A", "Normal value"), ("P", "Provisional value"))],
                    },
                }
            ],
        },
    }


def rates(**attributes: Any) -> dict[str, Any]:
    """Dimensions of the whole data set, an attribute with a default, and a number that is a text."""
    status = part("OBS_STATUS", ("A", "Normal value"), default="A")
    return message(
        {
            "series": {
                "0": {"attributes": [], "observations": {"0": [1.5931], "1": [1.5925, 0]}},
                "1": {"attributes": [], "observations": {"0": [40.3426, None], "1": ["40.3000"]}},
            },
            "attributes": [0],
        },
        {
            "dimensions": {
                "dataSet": [part("FREQ", ("D", "Daily")), part("DENOM", ("EUR", "Euro"))],
                "series": [part("CURRENCY", ("NZD", "Kiwi"), ("RUB", "Rouble"))],
                "observation": [
                    part("TIME_PERIOD", {"id": "2013-01-18", "start": "2013-01-18T00:00:00Z"}, "2013-01-21")
                ],
            },
            "attributes": {"observation": [status], **attributes},
        },
    )


def flat(observations: dict[str, Any], **structure: Any) -> dict[str, Any]:
    """The flat layout, of the second structure."""
    dimensions = [
        part("REF_AREA", ("FRA", "France")),
        part("UNIT_MEASURE", ("PC", "Percent")),
        part("TIME_PERIOD", "2022", "2023"),
    ]
    return {
        "data": {
            "dataSets": [{"structure": 1, "observations": observations}],
            "structures": [
                {"dimensions": {"observation": []}},
                {
                    "dimensions": {"observation": dimensions},
                    "attributes": {"observation": [part("OBS_STATUS", "A", "E")]},
                    **structure,
                },
            ],
        }
    }


def test_series_over_unsorted_times_with_missing_values() -> None:
    rows = read(quarters())

    assert brief(rows) == [
        ("Germany — Gross product", "2023-Q1", None, "A"),
        ("Germany — Gross product", "2023-Q3", None, None),
        ("United States — Gross product", "2023-Q1", 99.0, "A"),
        ("United States — Gross product", "2023-Q2", 100.5, "A"),
        ("United States — Gross product", "2023-Q3", 101.2, "P"),
    ]
    assert [row["available"] for row in rows] == [False, False, True, True, True]
    assert {row["unit"] for row in rows} == {"Index"}


def test_an_observation_has_its_dimensions_its_attributes_and_the_message() -> None:
    last = read(quarters())[-1]

    assert last == {
        "series": "United States — Gross product",
        "time": "2023-Q3",
        "value": 101.2,
        "available": True,
        "status": "P",
        "status_label": "Provisional value",
        "unit": "Index",
        "measure": None,
        "dims": {
            "REF_AREA": {"code": "USA", "label": "United States"},
            "MEASURE": {"code": "B1GQ", "label": "Gross product"},
            "UNIT_MEASURE": {"code": "IX", "label": "Index"},
            "TIME_PERIOD": {"code": "2023-Q3", "label": "2023-Q3"},
        },
        "attributes": {
            "UNIT_MULT": {"code": "6", "label": "Millions"},
            "OBS_STATUS": {"code": "P", "label": "Provisional value"},
        },
        "cube": {"label": "Accounts", "updated": "2026-01-05T10:00:00Z"},
    }


def test_the_latest_time_of_each_series_comes_first_where_it_is_asked_for() -> None:
    rows = read(quarters(), newest_first=True)

    assert [row["time"] for row in rows] == ["2023-Q3", "2023-Q1", "2023-Q3", "2023-Q2", "2023-Q1"]
    assert rows[0]["series"].startswith("Germany")


def test_dimensions_of_the_whole_set_lead_and_a_default_stands_for_what_is_left_out() -> None:
    rows = read(rates())

    assert brief(rows) == [
        ("Daily — Euro — Kiwi", "2013-01-18", 1.5931, "A"),
        ("Daily — Euro — Kiwi", "2013-01-21", 1.5925, "A"),
        ("Daily — Euro — Rouble", "2013-01-18", 40.3426, "A"),
        ("Daily — Euro — Rouble", "2013-01-21", 40.3, "A"),
    ]
    assert rows[0]["unit"] is None
    assert rows[0]["status_label"] == "Normal value"


def test_an_attribute_of_the_whole_set_can_be_the_unit() -> None:
    assert {row["unit"] for row in read(rates(dataSet=[part("UNIT", ("EUR", "Euro"))]))} == {"Euro"}


def test_the_flat_layout_has_all_indices_in_one_key_and_one_that_leads_nowhere_is_passed_over() -> None:
    rows = read(flat({"0:0:1": [12.5, 0], "0:0:0": [11, 1], "0:7:0": [99]}))

    assert brief(rows) == [("France", "2022", 11, "E"), ("France", "2023", 12.5, "A")]
    assert rows[0]["unit"] == "Percent"


def test_the_older_frame_has_one_structure_beside_the_data_sets() -> None:
    structure = {
        "name": {"en": "Old"},
        "dimensions": {
            "series": [part("LOCATION", ("JPN", "Japan")), part("FREQUENCY", ("A", "Annual"))],
            "observation": [part("TIME_PERIOD", "2020", "2021", role="TIME_PERIOD")],
        },
    }
    sets = [{"action": "Information", "series": {"0:0": {"observations": {"0": [5], "1": [6.25]}}}}]
    frames = [
        {"header": {"prepared": "2020-01-01"}, "dataSets": sets, "structure": structure},
        {"meta": {"prepared": "2020-01-01"}, "data": {"dataSets": sets, "structure": structure}},
        {"header": {"prepared": "2020-01-01"}, "data": {"dataSets": sets}, "structure": structure},
    ]

    for frame in frames:
        rows = read(frame)

        assert brief(rows) == [("Japan — Annual", "2020", 5, None), ("Japan — Annual", "2021", 6.25, None)]
        assert rows[0]["cube"] == {"label": "Old", "updated": "2020-01-01"}


def test_without_a_dimension_of_the_series_its_key_says_nothing() -> None:
    document = message(
        {"series": {"0": {"observations": {"0": [1]}}}},
        {"dimensions": {"dataSet": [part("GEO", ("X", "Exland"))], "observation": [part("TIME", "2020")]}},
    )

    assert brief(read(document)) == [("Exland", "2020", 1, None)]


def test_every_measure_of_several_is_an_observation_of_its_own() -> None:
    measures = {"observation": [{"id": "OBS_VALUE", "name": "Value"}, {"id": "WEIGHT"}]}

    rows = read(flat({"0:0:0": [1.5, 100, 1], "0:0:1": [2.5]}, measures=measures))

    assert [(row["measure"], *brief([row])[0]) for row in rows] == [
        ("Value", "France — Value", "2022", 1.5, "E"),
        ("Value", "France — Value", "2023", 2.5, None),
        ("WEIGHT", "France — WEIGHT", "2022", 100, "E"),
        ("WEIGHT", "France — WEIGHT", "2023", None, None),
    ]


def test_an_attribute_of_some_dimensions_holds_where_their_values_do() -> None:
    dimensions = {
        "dataSet": [part("FREQ", "A", keyPosition=0)],
        "series": [part("MEASURE", "B", "P", keyPosition=2), part("REF_AREA", "USA", "DEU", keyPosition=1)],
        "observation": [part("TIME_PERIOD", "2023", "2024")],
    }
    attributes = {
        "dimensionGroup": [part("UNIT_MULT", "0", "6", "9"), part("BASE"), part("SOURCE", default="here")],
        "series": [part("BASE")],
    }
    # In the order of keyPosition: FREQ, REF_AREA, MEASURE, TIME_PERIOD.
    groups = {
        "::1:": [1],
        ":0:0:": [2, "2015", None, "beyond the last"],
        "0:::": [None, None, "there"],
        ":9:0:": [0],
        ":0:": [0],
        "x:::": [0],
        ":1:0:": None,
        ":::1": [None, None, [["A"]]],
    }
    series = {
        "0:0": {"observations": {"0": [1], "1": [2]}},
        "1:0": {"observations": {"1": [3]}, "attributes": ["2020"]},
        "0:1": {"observations": {"1": [4]}},
    }
    structure = {"dimensions": dimensions, "attributes": attributes}

    rows = read(message({"dimensionGroupAttributes": groups, "series": series}, structure))
    plain = read(message({"series": {"0:1": series["0:1"]}}, structure))

    told = [(row["series"], {name: one["code"] for name, one in row["attributes"].items()}) for row in rows]
    assert told == [
        ("A — B — DEU", {"SOURCE": "there"}),
        ("A — B — USA", {"SOURCE": "there", "UNIT_MULT": "9", "BASE": "2015"}),
        ("A — B — USA", {"SOURCE": "there", "UNIT_MULT": "9", "BASE": "2015"}),
        ("A — P — USA", {"SOURCE": "there", "UNIT_MULT": "6", "BASE": "2020"}),
    ]
    assert [list(row["attributes"]) for row in plain] == [["SOURCE"]]


def test_data_that_was_deleted_is_passed_over() -> None:
    document = quarters()
    document["data"]["dataSets"].append({**document["data"]["dataSets"][0], "action": "Delete"})

    assert len(read(document)) == 5


@pytest.mark.parametrize(
    ("entry", "status"),
    [(0, "A"), (7, "7"), (-1, "-1"), ("free", "free"), (1.5, "1.5"), (True, None), ([0], None), ({"en": "f"}, "f")],
)
def test_an_attribute_is_an_index_or_is_written_out(entry: Any, status: Any) -> None:
    assert read(flat({"0:0:0": [1, entry]}))[0]["status"] == status


@pytest.mark.parametrize(
    ("value", "time"),
    [({"id": "2020", "name": "the year"}, "2020"), ({"value": "2021"}, "2021"), ({"value": 2022}, "2022"),
     ({"start": "2023-01-01"}, "2023-01-01"), ({"id": "2024", "names": {"en": "x"}}, "2024")],
)  # fmt: skip
def test_a_time_is_a_code_or_a_free_value(value: dict[str, Any], time: str) -> None:
    document = message(
        {"observations": {"0": [1]}}, {"dimensions": {"observation": [part("WHEN", value, roles=["TIME_PERIOD"])]}}
    )

    assert brief(read(document)) == [(None, time, 1, None)]


@pytest.mark.parametrize("key", ["0:0", "0:0:0:0", "", "a:0:0", "-1:0:0", "0:0:９", "0:0:9999999999", ":" * 2000])
def test_a_key_that_leads_nowhere_is_passed_over(key: str) -> None:
    assert len(read(flat({key: [1], "0:0:0": [2]}))) == 1


@pytest.mark.parametrize(
    "document",
    [{"data": {"dataSets": []}}, {"dataSets": [None]}, flat({}), flat({"0:0:0": 5})],
)
def test_a_message_without_observations_has_none(document: Any) -> None:
    assert read(document) == []


def test_an_empty_body_is_no_observations_where_the_spec_says_so() -> None:
    assert decode("sdmx", Response(200), {"blank_ok": True}) == []


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "it has no list of data sets"),
        ({"data": {}}, "it has no list of data sets"),
        ({"errors": [], "data": None}, "it has no list of data sets"),
        ({"dataSets": [{}]}, "a data set has no structure"),
        ({"data": {"dataSets": [{"structure": 3}], "structures": [{}]}}, "a data set has no structure"),
        ({"data": {"dataSets": [{"structure": "x"}], "structures": [{}]}}, "a data set has no structure"),
        (flat({"9:9:9": [1]}), "no observation has a place among the dimensions"),
    ],
)
def test_what_is_no_message_is_a_changed_layout(document: Any, why: str) -> None:
    found = fault(document)

    assert found.kind == "layout_changed"
    assert found.message == f"the answer cannot be read as SDMX-JSON: {why}"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": 404, "title": "No results", "detail": "for this key"}, "No results: for this key"),
        ({"message": "Too\nlarge"}, "Too large"),
        ({"title": {"en": "Wrong key"}}, "Wrong key"),
        ("odd", "it does not say which"),
    ],
)
def test_errors_without_data_are_an_upstream_that_failed(error: Any, said: str) -> None:
    found = fault({"errors": [error]})

    assert found.kind == "upstream_unavailable"
    assert found.message == f"the upstream answered with an error: {said}"


def test_a_message_that_is_too_large_is_refused() -> None:
    many = {f"0:0:{at}": [1] for at in range(100_001)}
    wide = [part(f"D{at}", "x") for at in range(65)]

    assert fault(flat(many)).kind == "too_large"
    assert "more than 100,000 observations" in fault(flat(many)).message
    assert fault(message({}, {"dimensions": {"series": wide}})).message == "the data set has more than 64 dimensions"


def test_many_data_sets_share_one_reading_of_their_structure() -> None:
    document = quarters()
    structure = document["data"]["structures"][0]
    structure["dimensions"]["series"][0]["values"] += [{"id": f"A{at}"} for at in range(2_000)]
    document["data"]["dataSets"] += [{}] * 20_000

    assert len(read(document)) == 5


NAMES = st.sampled_from(
    ["data", "dataSets", "structure", "structures", "series", "observations", "observation", "dimensions", "values",
     "id", "name", "attributes", "measures", "errors", "action", "default", "0", "0:0", "1", "role", "roles"]
)  # fmt: skip
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)
PARTS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from(["TIME_PERIOD", "UNIT", "OBS_STATUS", "A"]) | TREES},
        optional={"values": st.lists(st.fixed_dictionaries({"id": TREES | st.just("v")}) | TREES, max_size=3) | TREES,
                  "default": TREES, "role": TREES, "roles": TREES, "name": TREES},
    ) | TREES,
    max_size=3,
)  # fmt: skip
LEVELS = st.dictionaries(st.sampled_from(["dataSet", "series", "observation"]), PARTS | TREES)
CELLS = st.dictionaries(st.sampled_from(["0", "1", "0:0", "0:1", "0:0:0", "x"]), st.lists(TREES, max_size=4) | TREES)
SETS = st.fixed_dictionaries(
    {},
    optional={
        "observations": CELLS | TREES,
        "series": st.dictionaries(
            st.sampled_from(["0", "0:0"]),
            st.fixed_dictionaries({"observations": CELLS | TREES}, optional={"attributes": TREES}) | TREES,
        ),
        "attributes": TREES,
        "structure": TREES,
    },
)
STRUCTURES = st.fixed_dictionaries({"dimensions": LEVELS}, optional={"attributes": LEVELS, "measures": LEVELS})
MESSAGES = st.fixed_dictionaries({"dataSets": st.lists(SETS | TREES, max_size=3), "structure": STRUCTURES | TREES})


@given(MESSAGES | st.fixed_dictionaries({"data": MESSAGES}) | TREES)
def test_any_json_is_read_or_is_a_fault(document: Any) -> None:
    try:
        rows, kind = read(document), "layout_changed"
    except Fault as found:
        rows, kind = [], found.kind

    assert kind in ("layout_changed", "upstream_unavailable", "too_large")
    assert all(row["available"] is (row["value"] is not None) for row in rows)
