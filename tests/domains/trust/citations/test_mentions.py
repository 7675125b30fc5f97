"""A DOI in an address is that of the work cited only where the address surely leads to it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
import trust_citations as bench
from trust_registries import Registries

from specloom.domains.trust.bibliography.plain import parse_plain
from tests.support.shipped import shipped_model

DOI = "10.5555/otters.7"
WORLD: Mapping[str, Any] = {
    **{name: type(part)() for name, part in bench.load_world().items()},
    "crossref": {
        DOI: {
            "title": "Otters under winter ice: breathing holes and their use",
            "authors": [["Marlowe", "Ada"], ["Quist", "Bo"]],
            "year": 2011,
            "venue": "Journal of Northern Mammals",
            "type": "journal-article",
            "updates": [
                {"type": "retraction", "date": "2014-03-01", "doi": "10.5555/otters.7r", "source": "publisher"}
            ],
        }
    },
}
COMMENT = f"https://forum.example/comments?on={DOI}"
ARTICLE = f"https://press.example/doi/full/{DOI}"
TITLE = "Otters under winter ice: breathing holes and their use"
OTHER = "Why I stopped believing in wildlife cameras"


def audit(**entry: str) -> Mapping[str, Any]:
    answer = asyncio.run(
        bench.ask(shipped_model(), "audit_bibliography", {"entries": [entry]}, Registries(WORLD, frozenset()))
    )
    return answer["entries"][0]


def verify(citation: str) -> Mapping[str, Any]:
    return asyncio.run(
        bench.ask(shipped_model(), "verify_citation", {"citation": citation}, Registries(WORLD, frozenset()))
    )


@pytest.mark.parametrize("url", [COMMENT, ARTICLE])
def test_the_work_that_an_address_mentions_is_no_accusation_of_an_entry_with_another_title(url):
    entry = audit(title=OTHER, url=url)

    assert not {"retracted", "title_mismatch"} & set(entry["flags"])
    assert not entry["exists"]
    assert entry.get("retractionStatus") is None
    assert entry["possibleMatch"]["doi"] == DOI
    assert entry["possibleMatch"]["retractionStatus"]["retracted"] is True


@pytest.mark.parametrize("url", [COMMENT, ARTICLE])
def test_the_work_that_an_address_mentions_is_that_of_an_entry_with_its_title(url):
    entry = audit(title=TITLE, url=url)

    assert entry["verificationStatus"] == "confirmed"
    assert "retracted" in entry["flags"]


def test_a_reference_in_plain_words_has_no_doi_of_a_comment():
    worded = f"Marlowe, A. (2020). {OTHER}. Retrieved from {COMMENT}"

    assert parse_plain(worded).doi == ""
    assert parse_plain(f"Marlowe, A. (2011). {TITLE}. https://doi.org/{DOI}").doi == DOI
    assert parse_plain(f"Marlowe, A. (2011). {TITLE}. doi:{DOI}. {COMMENT}").doi == DOI


@pytest.mark.parametrize("text", [f"Marlowe, A. (2020). {OTHER}. {COMMENT}", f"Marlowe, A. (2020). {OTHER}. {ARTICLE}"])
def test_both_tools_leave_the_work_that_an_address_mentions_open(text):
    said, entry = verify(text), audit(title=text)

    for one in (said, entry):
        assert one.get("retractionStatus") is None
        assert one.get("comparison") is None
        assert one["possibleMatch"]["doi"] == DOI


def test_a_closed_page_at_an_unlisted_publisher_is_told_by_the_doi_of_its_address():
    said = verify(ARTICLE)

    assert said["possibleMatch"]["doi"] == DOI
    assert said["possibleMatch"]["retractionStatus"]["retracted"] is True
    assert said.get("retractionStatus") is None
    assert said.get("matchedRecord") is None
    assert any("was looked up" in line for line in said["provenance"])
