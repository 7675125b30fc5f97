"""What three registers send of one patent becomes one row that says who told what, and of two patents two rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specloom.model import Row
from specloom.runtime.merge import merge
from tests.support.recordings import recorded
from tests.support.shipped import shipped_model, shipped_tool
from tests.support.stubbed import Product, Upstreams

STAGE = next(one.merge for one in shipped_tool("patent_search").after if one.merge is not None)
KEYS = {
    "EPO_OPS_CONSUMER_KEY": "made-up-2",
    "EPO_OPS_CONSUMER_SECRET": "made-up-3",
    "LENS_API_TOKEN": "made-up-4",
    "USPTO_API_KEY": "made-up-5",
}
TOKEN = {"auth/accesstoken": {"access_token": "t", "expires_in": "1199"}}
# Publications as registers write them, two in a line: of one patent, or of two that only look alike. What offices say
# of how they count is what was judged by; `publication` is that of the application, where a register names it beside.
ONE: list[tuple[str, Row, Row]] = [
    ("the same publication", {"number": "EP2471949A1"}, {"number": "EP2471949A1"}),
    ("a European application and its patent", {"number": "EP1000000A1"}, {"number": "EP1000000B1"}),
    ("a European patent and its amended form", {"number": "EP1000000B1"}, {"number": "EP1000000B2"}),
    ("an international application and its search report", {"number": "WO2020081771A1"}, {"number": "WO2020081771A3"}),
    ("a patent with and without its kind", {"number": "US12000000"}, {"number": "US12000000B2"}),
    ("an application with and without its kind", {"number": "US20170071586"}, {"number": "US20170071586A1"}),
    ("a corrected application", {"number": "US20170071586A1"}, {"number": "US20170071586A9"}),
    (
        "a patent of the United States and its application, which the office names",
        {"number": "US12000000", "publication": "US20230366018A1"},
        {"number": "US20230366018A1"},
    ),
    (
        "the same, of which another register knows the kind",
        {"number": "US12000000", "publication": "US20230366018A1"},
        {"number": "US12000000B2"},
    ),
    ("a German application and its patent", {"number": "DE102012345678A1"}, {"number": "DE102012345678B4"}),
    ("a British application and its patent", {"number": "GB2345678A"}, {"number": "GB2345678B"}),
    ("a French application and its patent", {"number": "FR2912345A1"}, {"number": "FR2912345B1"}),
    ("a Canadian application and its patent", {"number": "CA2712345A1"}, {"number": "CA2712345C"}),
    ("a Chinese application and its patent since 2007", {"number": "CN101234567A"}, {"number": "CN101234567B"}),
    ("an Australian application and its patent since 2002", {"number": "AU2012345678A1"}, {"number": "AU2012345678B2"}),
    (
        "a Japanese application and its patent, by their family and day of filing",
        {"number": "JP2012123456A", "family": "docdb:7", "filed": "2010-12-31"},
        {"number": "JP5123456B2", "family": "docdb:7", "filed": "2010-12-31"},
    ),
    (
        "a page that a web search found and a record",
        {"url": "https://patents.google.com/patent/EP2471949B1/en"},
        {"number": "EP2471949B1"},
    ),
]
OTHER: list[tuple[str, Row, Row]] = [
    ("neighbours", {"number": "EP2471949A1"}, {"number": "EP2471948A1"}),
    ("one number is the beginning of the other", {"number": "EP1000000A1"}, {"number": "EP10000001A1"}),
    ("two offices", {"number": "EP1000000A1"}, {"number": "WO1000000A1"}),
    ("members of one family are patents of their own", {"number": "EP1000000B1"}, {"number": "US6093011A"}),
    ("a national part of a European patent", {"number": "EP1000000B1"}, {"number": "DE69905327D1"}),
    ("a patent and a design", {"number": "US1234567A"}, {"number": "USD1234567S1"}),
    ("a patent and a reissue", {"number": "US45678A"}, {"number": "USRE45678E1"}),
    ("a patent and a plant", {"number": "US12345A"}, {"number": "USPP12345P2"}),
    ("a patent of nine digits and an application", {"number": "US20170071"}, {"number": "US20170071586A1"}),
    ("Japan counts applications and patents apart", {"number": "JPH0512345A"}, {"number": "JPH0512345B2"}),
    ("Korea does as well", {"number": "KR20120012345A"}, {"number": "KR101234567B1"}),
    ("China did until 2007", {"number": "CN1234567A"}, {"number": "CN1234567C"}),
    ("Australia did until 2002", {"number": "AU712345A"}, {"number": "AU712345B2"}),
    ("Taiwan does", {"number": "TW201234567A"}, {"number": "TWI234567B"}),
    (
        "two patents, of which one came out of the application that the other names",
        {"number": "US12000001B2", "publication": "US20230366018A1"},
        {"number": "US12000000B2", "publication": "US20230366017A1"},
    ),
    (
        "two applications of one family and day",
        {"number": "JP2012123456A", "family": "docdb:7", "filed": "2010-12-31"},
        {"number": "JP2012123457A", "family": "docdb:7", "filed": "2010-12-31"},
    ),
    (
        "a divisional application, which was filed later",
        {"number": "JP2012123456A", "family": "docdb:7", "filed": "2010-12-31"},
        {"number": "JP5123456B2", "family": "docdb:7", "filed": "2011-01-31"},
    ),
    (
        "one family in two offices",
        {"number": "JP2012123456A", "family": "docdb:7", "filed": "2010-12-31"},
        {"number": "KR101234567B1", "family": "docdb:7", "filed": "2010-12-31"},
    ),
    (
        "one number of a family in two counts",
        {"number": "JP2012123456A", "family": "docdb:7", "filed": "2010-12-31"},
        {"number": "JP5123456B2", "family": "lens:7", "filed": "2010-12-31"},
    ),
    ("what has no number", {"url": "https://patents.google.com/"}, {"number": "EP1000000A1"}),
]


def merged(*rows: Row) -> list[Row]:
    told = [{**row, "provider": name, "place": 1} for row, name in zip(rows, ("lens", "uspto", "epo"), strict=False)]
    return merge(told, STAGE, shipped_model().providers, {}).rows


@pytest.mark.parametrize(("why", "one", "other"), ONE, ids=lambda told: told if isinstance(told, str) else "")
def test_publications_of_one_patent_are_joined(why: str, one: Row, other: Row) -> None:
    assert len(merged(one, other)) == 1, why
    assert len(merged(other, one)) == 1, why


@pytest.mark.parametrize(("why", "one", "other"), OTHER, ids=lambda told: told if isinstance(told, str) else "")
def test_publications_of_two_patents_stay_apart(why: str, one: Row, other: Row) -> None:
    assert len(merged(one, other)) == 2, why
    assert len(merged(other, one)) == 2, why


def test_the_patent_leads_and_its_application_stands_beside_it() -> None:
    application = {"number": "EP1000000A1", "abstract": "Bricks."}

    (row,) = merged(application, {"number": "EP1000000B1", "granted": "2003-02-12"})

    assert (row["number"], row["granted"], row["abstract"]) == ("EP1000000B1", "2003-02-12", "Bricks.")
    assert row["versions"] == [
        {"kind": "patent", "number": "EP1000000B1"},
        {"kind": "application", "number": "EP1000000A1"},
    ]
    assert (row["found_by"], row["origins"]) == (["lens", "uspto"], {"abstract": "lens"})


def test_a_third_publication_joins_two_that_have_nothing_in_common() -> None:
    application, patent = {"number": "US20230366018A1"}, {"number": "US12000000B2"}
    known = {"number": "US12000000", "publication": "US20230366018A1"}

    assert len(merged(application, patent)) == 2
    assert len(merged(application, patent, known)) == 1


def test_of_three_publications_of_one_family_and_day_nothing_says_which_belong_together() -> None:
    known = {"family": "docdb:7", "filed": "2010-12-31"}

    rows = merged(*({"number": number, **known} for number in ("JP2012123456A", "JP2012123457A", "JP5123456B2")))

    assert len(rows) == 3


HOSTS = {"epo": "published-data/search", "lens": "api.lens.org", "uspto": "api.uspto.gov"}


async def test_a_client_gets_one_row_of_what_three_registers_sent_of_one_application() -> None:
    # The recorded documents of two registers, under the number of the one that the third was recorded with.
    number = 'country="US" doc-number="2017071586" kind="A1"'
    epo = recorded("epo/biblio-ep1000000.xml").decode().replace('country="EP" doc-number="1000000" kind="A1"', number)
    lens = json.loads(recorded("lens/doc-example-patent-search.json"))
    lens["data"][0] |= {"jurisdiction": "US", "doc_number": "20170071586", "kind": "A1"}
    sent = {HOSTS["epo"]: epo, HOSTS["lens"]: lens, HOSTS["uspto"]: recorded("uspto/application-data.json").decode()}
    upstreams = Upstreams(TOKEN | sent, otherwise=(404, {}, {}))

    answer = await Product(upstreams, KEYS).answer("patent_search", query="tongue", depth="wide")

    assert number in epo
    (patent,) = answer["patents"]
    assert (patent["number"], patent["foundBy"]) == ("US20170071586A1", ["epo", "lens", "uspto"])
    assert set(patent["fieldsFrom"].values()) <= {"epo", "lens", "uspto"}
    assert patent["fieldsFrom"]["granted"] == "lens"
    assert "versions" not in patent


async def test_of_recorded_answers_about_different_patents_nothing_is_joined() -> None:
    upstreams = Upstreams(
        {
            **TOKEN,
            HOSTS["epo"]: recorded("epo/biblio-wo2020081771.xml").decode(),
            HOSTS["lens"]: recorded("lens/doc-example-patent-search.json").decode(),
            HOSTS["uspto"]: recorded("uspto/search-first-3.json").decode(),
        }
    )

    answer = await Product(upstreams, KEYS).answer("patent_search", query="x", depth="wide", num_results=20)

    assert {one["number"] for one in answer["patents"]} == {
        *("WO2020081771A1", "EP2471949A1", "US90019500", "US18693690", "US18693396")
    }
    assert {len(one["foundBy"]) for one in answer["patents"]} == {1}


@pytest.mark.parametrize("broken", HOSTS)
async def test_who_is_broken_is_told_and_the_others_answer(broken: str) -> None:
    stubs: dict[str, Any] = {
        **TOKEN,
        HOSTS["epo"]: recorded("epo/biblio-ep1000000.xml").decode(),
        HOSTS["lens"]: recorded("lens/doc-example-patent-search.json").decode(),
        HOSTS["uspto"]: recorded("uspto/application-data.json").decode(),
        HOSTS[broken]: (503, {}, {}),
    }

    answer = await Product(Upstreams(stubs), KEYS).answer("patent_search", query="x", depth="wide")

    assert len(answer["patents"]) == 2
    assert any("its rows are missing" in notice for notice in answer["notices"])
