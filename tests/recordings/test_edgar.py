"""SEC EDGAR as recorded in February and March 2026, with the first 300 companies of its list of tickers."""

from __future__ import annotations

from typing import Any

from specloom.model.values import Row
from tests.support.recordings import recorded, replay

MAIL = {"EDGAR_CONTACT_EMAIL": "ann@example.org"}
APPLE = "https://data.sec.gov/submissions/CIK0000320193.json"


def ask(args: dict[str, Any], submissions: str = "sec-edgar/submissions-apple.json") -> tuple[list[Row], list[str]]:
    """The rows, and the addresses that were asked; the text search answers that there is nothing."""
    body = {
        "companies": recorded("sec-edgar/company-tickers-first-300.json"),
        "filings": recorded(submissions),
        "archive": recorded(submissions),
        "older": recorded("sec-edgar/submissions-older-page.json"),
        "matches": {"hits": {"hits": []}},
    }
    rows, requests = replay("edgar", "filings", args, body, config=MAIL)
    return rows, [request["get"] for request in requests]


def test_an_annual_report_by_the_name_of_the_company() -> None:
    rows, asked = ask({"query": "Apple annual report 10-K", "num_results": 5})

    assert asked == ["https://www.sec.gov/files/company_tickers.json", APPLE]
    assert [row["form_type"] for row in rows] == ["10-K"] * 5
    assert rows[0] == {
        "company": "Apple Inc.",
        "cik": "0000320193",
        "form_type": "10-K",
        "filing_date": "2025-10-31",
        "period_of_report": "2025-09-27",
        "accession": "0000320193-25-000079",
        "url": "https://www.sec.gov/Archives/edgar/data/320193/000032019325000079/aapl-20250927.htm",
        "description": "10-K",
    }


def test_a_company_is_found_in_every_way_that_it_is_called() -> None:
    wanted = {
        "AAPL": "CIK0000320193.json",
        "aapl": "CIK0000320193.json",
        "320193": "CIK0000320193.json",
        "0000320193": "CIK0000320193.json",
        "Apple Inc.": "CIK0000320193.json",
        "the latest filings of Apple": "CIK0000320193.json",
        "brk.b": "CIK0001067983.json",
        "eli lilly": "CIK0000059478.json",
        "Eli Lilly and Company": "CIK0000059478.json",
        "AAPL 10-K": "CIK0000320193.json",
        "Apple's 10-K": "CIK0000320193.json",
        "Apple FY2023 10-K": "CIK0000320193.json",
        "Apple 10-Q, Q3 2024": "CIK0000320193.json",
        "Coca-Cola": "CIK0000021344.json",
        "McDonald’s annual report": "CIK0000063908.json",
        "Procter and Gamble": "CIK0000080424.json",
        "AT&T": "CIK0000732717.json",
        "T-Mobile": "CIK0001283699.json",
        "meta": "CIK0001326801.json",
    }

    asked = {query: ask({"query": query, "num_results": 1})[1][-1] for query in wanted}

    assert {query: address.rpartition("/")[2] for query, address in asked.items()} == wanted


def test_what_is_no_company_is_searched_in_the_text() -> None:
    rows, asked = ask({"query": "climate risk disclosure"})

    assert rows == []
    assert asked[-1] == "https://efts.sec.gov/LATEST/search-index"


def test_filings_are_those_of_the_time_that_was_asked_for() -> None:
    rows, asked = ask({"ticker": "AAPL", "date_from": "2026-01-29", "date_to": "2026-01-30", "num_results": 10})

    assert asked[-1] == APPLE
    assert [(row["form_type"], row["filing_date"]) for row in rows] == [("10-Q", "2026-01-30"), ("8-K", "2026-01-29")]
    assert rows[1]["description"] == "8-K; items 2.02,9.01"


def test_years_before_the_recent_filings_are_read_from_the_archive() -> None:
    rows, asked = ask({"ticker": "AAPL", "date_from": "2003-12-01", "date_to": "2003-12-31", "num_results": 3})

    assert asked[-1] == "https://data.sec.gov/submissions/CIK0000320193-submissions-001.json"
    assert len(rows) == 3
    assert rows[0]["filing_date"] == "2003-12-08"
    assert rows[0]["accession"] == "0001135080-03-000118"
    assert rows[0]["company"] == "Apple Inc."


def test_a_company_without_filings_has_none() -> None:
    rows, _ = ask({"query": "350001"}, "sec-edgar/submissions-no-filings.json")

    assert rows == []


def test_a_person_has_filings_too() -> None:
    rows, _ = ask({"query": "1718179", "num_results": 1}, "sec-edgar/submissions-individual.json")

    assert rows[0]["form_type"] == "4"
    assert rows[0]["url"].endswith("/000122520825001759/xslF345X05/doc4.xml")
    assert "description" not in rows[0]


def test_figures_of_a_foreign_company_come_from_its_own_taxonomy() -> None:
    body = {"main": recorded("sec-edgar/companyfacts.json")}
    rows, requests = replay("edgar", "facts", {"query": "1997711", "num_results": 10}, body, config=MAIL)

    assert requests[0]["get"] == "https://data.sec.gov/api/xbrl/companyfacts/CIK0001997711.json"
    assert requests[0]["headers"]["User-Agent"] == "specloom/1 (ann@example.org)"
    assert [(row["concept"], row["unit"], row["value"]) for row in rows] == [
        ("Revenue", "USD", 43862372),
        ("ProfitLossAttributableToOwnersOfParent", "USD", -29285428),
        ("Assets", "USD", 607019578),
        ("Liabilities", "USD", 336218160),
        ("Equity", "USD", 270801418),
        ("BasicEarningsLossPerShare", "USD/shares", -0.94),
        ("DilutedEarningsLossPerShare", "USD/shares", -0.94),
        ("ProfitLossFromOperatingActivities", "USD", 36606814),
        ("CashAndCashEquivalents", "USD", 28827347),
    ]
    assert {(row["company"], row["cik"], row["form_type"], row["filing_date"]) for row in rows} == {
        ("Logistic Properties of the Americas", "0001997711", "20-F", "2025-04-02")
    }
    assert rows[0]["url"] == (
        "https://www.sec.gov/Archives/edgar/data/1997711/000199771125000030/0001997711-25-000030-index.htm"
    )
