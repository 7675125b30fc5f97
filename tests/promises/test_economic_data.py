"""Economic data through the whole product: countries by name, four catalogues at once, and dimensions to choose by."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core import Request
from tests.support.stubbed import Product, Stub, Upstreams

KEY = {"FRED_API_KEY": "k"}
INDICATORS = [
    {"page": 1, "pages": 1, "per_page": "2000", "total": 3},
    [
        {
            "id": f"OT.{at}",
            "name": name,
            "unit": "",
            "source": {"id": "2", "value": "World Development Indicators"},
            "sourceNote": "Counted by night.",
            "topics": [{"id": "3", "value": "Economy & Growth"}],
        }
        for at, name in enumerate(["Otters, unemployment rate (%)", "Cats, total", "Unemployment rate, pups (%)"])
    ],
]
FLOWS = {
    "meta": {"schema": "https://example.org/structure.json", "id": "IREF1", "test": False},
    "data": {
        "dataflows": [
            {
                "id": f"DSD_OTT@{flow}",
                "agencyID": "OECD.OTT",
                "version": "1.0",
                "name": name,
                "names": {"en": name, "fr": "Flux"},
                "isExternalReference": True,
                "links": [{"href": "https://example.org/", "rel": "external"}],
            }
            for flow, name in (("DF_RATE", "Monthly unemployment rate of otters"), ("DF_CATS", "Cats"))
        ]
    },
}
CONTENTS = "\n".join(
    [
        '"title"\t"code"\t"type"\t"last update of data"\t"last table structure change"\t"data start"\t"data end"'
        '\t"values"',
        '"Labour market"\t"labour"\t"folder"\t" "\t" "\t" "\t" "\t',
        '"    Unemployment rate of otters by sex"\t"ott_rt_m"\t"dataset"\t"09.01.2026"\t"08.01.2026"\t"1983M01"\t'
        '"2025M11"\t1400000',
    ]
)
SERIES = {
    "realtime_start": "2026-01-05",
    "order_by": "popularity",
    "count": 1,
    "offset": 0,
    "limit": 25,
    "seriess": [
        {
            "id": "OTTUNDE",
            "title": "Unemployment Rate of Otters for Germany",
            "frequency": "Monthly",
            "units": "Percent",
            "last_updated": "2025-12-30 07:45:02-06",
            "popularity": 41,
        }
    ],
}
CATALOGUES: dict[str, Stub] = {
    "api.stlouisfed.org/fred/series/search": SERIES,
    "api.worldbank.org/v2/indicator": INDICATORS,
    "sdmx.oecd.org/public/rest/dataflow/all": FLOWS,
    "catalogue/toc/txt": CONTENTS,
}


def asked(upstreams: Upstreams, provider: str) -> list[Request]:
    return [one for one in upstreams.asked if one.provider == provider]


async def test_a_question_in_words_is_answered_by_all_catalogues_and_each_row_says_whose_it_is() -> None:
    upstreams = Upstreams(CATALOGUES)

    answer = await Product(upstreams, KEY).answer("econ_search", query="unemployment rate Germany")

    assert {row["source"]: row["seriesId"] for row in reversed(answer["results"])} == {
        "fred": "OTTUNDE",
        "worldbank": "OT.2",
        "oecd": "OECD.OTT,DSD_OTT@DF_RATE,1.0",
        "eurostat": "ott_rt_m",
    }
    assert answer["country"] == "DEU"
    assert dict(asked(upstreams, "fred")[0].query)["search_text"] == "unemployment rate Germany"


@pytest.mark.parametrize("place", CATALOGUES)
async def test_a_catalogue_that_is_down_costs_no_row_of_the_others_and_is_told(place: str) -> None:
    upstreams = Upstreams({name: stub for name, stub in CATALOGUES.items() if name != place})

    result = await Product(upstreams, KEY).call("econ_search", query="unemployment rate")

    answer = result["structuredContent"]
    assert len({row["source"] for row in answer["results"]}) == 3
    assert len(answer["notices"]) == 1
    attempts = result["_meta"]["routing"]["attempts"]
    assert sorted(one["result"] for one in attempts) == ["rows", "rows", "rows", "upstream_unavailable"]


async def test_three_catalogues_answer_without_a_key() -> None:
    answer = await Product(Upstreams(CATALOGUES)).answer("econ_search", query="unemployment rate")

    assert sorted({row["source"] for row in answer["results"]}) == ["eurostat", "oecd", "worldbank"]


async def test_where_all_catalogues_are_down_the_fault_names_each() -> None:
    result = await Product(Upstreams(), KEY).call("econ_search", query="unemployment rate")

    assert result["isError"]
    assert [
        name for name in ("fred", "worldbank", "oecd", "eurostat") if name not in result["content"][0]["text"]
    ] == []


VALUES = [
    {"page": 1, "pages": 1, "per_page": 10, "total": 1, "sourceid": "2", "lastupdated": "2025-12-19"},
    [
        {
            "indicator": {"id": "OT.POP.TOTL", "value": "Otter population"},
            "country": {"id": "CI", "value": "Cote d'Ivoire"},
            "countryiso3code": "CIV",
            "date": "2024",
            "value": 7,
            "unit": "",
            "obs_status": "",
            "decimal": 0,
        }
    ],
]


@pytest.mark.parametrize(
    ("country", "code"),
    [("Côte d'Ivoire", "CIV"), ("Ivory Coast", "CIV"), ("Elfenbeinküste", "CIV"), ("ci", "CI"), ("civ", "CIV")],
)
async def test_a_country_is_read_under_any_of_its_names(country: str, code: str) -> None:
    upstreams = Upstreams({"api.worldbank.org": VALUES})

    answer = await Product(upstreams).answer("econ_search", series_id="OT.POP.TOTL", country=country)

    assert answer["country"] == code
    assert f"/country/{code}/indicator/OT.POP.TOTL" in upstreams.asked[0].url


CUBE: dict[str, Any] = {
    "version": "2.0",
    "class": "dataset",
    "label": "Otters by sex",
    "source": "ESTAT",
    "updated": "2026-01-09T11:00:00+0100",
    "value": {"0": 6.5, "1": 7.5},
    "id": ["freq", "sex", "geo", "time"],
    "size": [1, 2, 1, 1],
    "dimension": {
        "freq": {"label": "Time frequency", "category": {"index": {"A": 0}, "label": {"A": "Annual"}}},
        "sex": {"label": "Sex", "category": {"index": {"F": 0, "M": 1}, "label": {"F": "Females", "M": "Males"}}},
        "geo": {"label": "Place", "category": {"index": {"EL": 0}, "label": {"EL": "Greece"}}},
        "time": {"label": "Time", "category": {"index": {"2024": 0}, "label": {"2024": "2024"}}},
    },
    "extension": {"lang": "EN", "id": "OTT_POP", "agencyId": "ESTAT", "version": "1.0"},
}


def dimension(name: str, at: int) -> str:
    reference = f'<Ref id="{name.upper()}" version="1.0" agencyID="ESTAT" package="codelist" class="Codelist"/>'
    shown = f"<s:LocalRepresentation><s:Enumeration>{reference}</s:Enumeration></s:LocalRepresentation>"
    return f'<s:Dimension id="{name}" urn="urn:x" position="{at}">{shown}</s:Dimension>'


def codes(name: str, label: str, listed: dict[str, str]) -> str:
    inside = "".join(
        f'<s:Code id="{code}"><c:Name xml:lang="en">{said}</c:Name></s:Code>' for code, said in listed.items()
    )
    return (
        f'<s:Codelist id="{name.upper()}" agencyID="ESTAT"><c:Name xml:lang="en">{label}</c:Name>{inside}</s:Codelist>'
    )


STRUCTURE = (
    '<?xml version="1.0" encoding="UTF-8"?><m:Structure'
    ' xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"'
    ' xmlns:s="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/structure"'
    ' xmlns:c="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"><m:Structures><s:Codelists>'
    + codes("freq", "Time frequency", {"A": "Annual"})
    + codes("sex", "Sex", {"T": "Total", "F": "Females", "M": "Males"})
    + codes("geo", "Place", {f"G{at}": f"Place {at}" for at in range(25)})
    + '</s:Codelists><s:DataStructures><s:DataStructure id="OTT_POP"><s:DataStructureComponents>'
    + f"<s:DimensionList>{dimension('freq', 1)}{dimension('sex', 2)}{dimension('geo', 3)}"
    + '<s:TimeDimension id="TIME_PERIOD" position="4"/></s:DimensionList></s:DataStructureComponents>'
    + "</s:DataStructure></s:DataStructures></m:Structures></m:Structure>"
)
EUROSTAT = {"statistics/1.0/data/ott_pop": CUBE, "sdmx/2.1/dataflow/ESTAT/OTT_POP": STRUCTURE}


async def test_dimensions_of_eurostat_are_chosen_by_code_or_label_and_told_beside_several_series() -> None:
    upstreams = Upstreams(EUROSTAT)

    answer = await Product(upstreams).answer(
        "econ_search", series_id="ott_pop", country="Griechenland", dimensions={"SEX": ["Females", "m"]}
    )

    query = [(name, value) for name, value in upstreams.asked[-1].query if name in ("geo", "sex")]
    assert sorted(query) == [("geo", "EL"), ("sex", "F"), ("sex", "M")]
    assert [row["title"] for row in answer["results"]] == ["Otters by sex — Females", "Otters by sex — Males"]
    assert [(one["id"], one["count"], len(one["values"])) for one in answer["dimensions"]] == [
        ("freq", 1, 1),
        ("sex", 3, 3),
        ("geo", 25, 20),
    ]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"colour": "X"}, "there is no dimension 'colour'; there are freq, sex, geo"),
        ({"sex": "F,X"}, "dimension sex has no 'X'; it has T (Total), F (Females), M (Males)"),
        ({"geo": "X"}, "dimension geo has no 'X'; it has G0 (Place 0), G1 (Place 1)"),
    ],
)
async def test_what_a_data_set_does_not_offer_is_refused_with_what_it_does(
    wanted: dict[str, Any], sentence: str
) -> None:
    upstreams = Upstreams(EUROSTAT)

    result = await Product(upstreams).call("econ_search", series_id="ott_pop", dimensions=wanted)

    assert result["isError"]
    assert sentence in result["content"][0]["text"]
    assert '"validation"' in result["content"][0]["text"]
    assert len(upstreams.asked) == 1


def flow() -> dict[str, Any]:
    urn = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=OECD.OTT:CL_{}(1.0)"
    names = ("REF_AREA", "FREQ", "SPECIES")
    return {
        "data": {
            "dataflows": [{"id": "DSD_OTT@DF_RATE", "agencyID": "OECD.OTT", "version": "1.0"}],
            "codelists": [
                {
                    "id": "CL_FREQ",
                    "agencyID": "OECD.OTT",
                    "name": "Frequency",
                    "codes": [{"id": "A", "name": "Annual"}],
                },
                {
                    "id": "CL_SPECIES",
                    "agencyID": "OECD.OTT",
                    "name": "Species",
                    "codes": [{"id": "SEA", "name": "Sea otter", "names": {"en": "Sea otter"}}, {"id": "RIVER"}],
                },
            ],
            "dataStructures": [
                {
                    "id": "DSD_OTT",
                    "dataStructureComponents": {
                        "dimensionList": {
                            "id": "DimensionDescriptor",
                            "dimensions": [
                                {"id": name, "position": at, "localRepresentation": {"enumeration": urn.format(name)}}
                                for at, name in reversed(list(enumerate(names)))
                            ],
                            "timeDimensions": [{"id": "TIME_PERIOD", "position": 3}],
                        }
                    },
                }
            ],
        }
    }


MESSAGE = {
    "meta": {"id": "IREF2", "prepared": "2026-01-05T10:00:00Z", "test": False},
    "errors": [],
    "data": {
        "dataSets": [{"structure": 0, "action": "Information", "series": {"0:0:0": {"observations": {"0": [4.5, 0]}}}}],
        "structures": [
            {
                "name": "Unemployment rate of otters",
                "dimensions": {
                    "dataSet": [],
                    "series": [
                        {"id": "REF_AREA", "keyPosition": 0, "values": [{"id": "DEU", "name": "Germany"}]},
                        {"id": "FREQ", "keyPosition": 1, "values": [{"id": "A", "name": "Annual"}]},
                        {"id": "SPECIES", "keyPosition": 2, "values": [{"id": "SEA", "name": "Sea otter"}]},
                    ],
                    "observation": [{"id": "TIME_PERIOD", "keyPosition": 3, "values": [{"id": "2024"}]}],
                },
                "attributes": {"observation": [{"id": "OBS_STATUS", "values": [{"id": "A", "name": "Normal value"}]}]},
            }
        ],
    },
}


async def test_dimensions_of_the_oecd_have_their_slots_beside_the_country_and_the_frequency() -> None:
    upstreams = Upstreams({"rest/dataflow/OECD.OTT": flow(), "rest/data/OECD.OTT": MESSAGE})

    answer = await Product(upstreams).answer(
        "econ_search",
        series_id="OECD.OTT,DSD_OTT@DF_RATE,1.0",
        country="Germany",
        frequency="a",
        dimensions={"species": "sea otter"},
    )

    assert [row["value"] for row in answer["results"]] == [4.5]
    assert upstreams.asked[-1].url.endswith("/data/OECD.OTT,DSD_OTT@DF_RATE,1.0/DEU.A.SEA")
    assert "dimensions" not in answer
