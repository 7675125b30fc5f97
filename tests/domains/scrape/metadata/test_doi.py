"""A page's own DOI is found, and one that it only mentions is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.metadata.read import find_declared_doi, find_front_doi
from specloom.domains.scrape.metadata.sources import Sources, gather
from specloom.domains.text import find_doi


def page(head: str) -> Sources:
    return gather(tree.parse(f"<html><head>{head}</head><body></body></html>"))


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="citation_doi" content="10.1234/AB.5">',
        '<meta name="citation_doi" content="https://doi.org/10.1234/ab.5">',
        '<meta name="DC.Identifier" content="doi:10.1234/ab.5">',
        '<meta name="prism.doi" content="10.1234/ab.5">',
        '<script type="application/ld+json">{"@type": "ScholarlyArticle", "@id": "https://doi.org/10.1234/ab.5"}</script>',
        '<script type="application/ld+json">{"@type": "Dataset", "identifier":'
        ' [{"@type": "PropertyValue", "propertyID": "doi", "value": "10.1234/ab.5"}]}</script>',
    ],
)
def test_the_head_declares_it_in_many_ways(head: str) -> None:
    assert find_declared_doi(page(head)) == "10.1234/ab.5"


def test_an_identifier_that_is_no_doi_is_passed_over() -> None:
    assert find_declared_doi(page('<meta name="dc.identifier" content="urn:isbn:10.1234">')) == ""


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://journal.example/doi/full/10.1056/NEJMoa2034577", "10.1056/nejmoa2034577"),
        ("https://journal.example/doi/10.1111/j.1.x/abstract", "10.1111/j.1.x"),
        ("https://journal.example/doi/pdf/10.1111/abc.pdf", "10.1111/abc"),
        (
            "https://journal.example/article/S0140-6736(20)30183-5?doi=10.1016%2FS0140-6736(20)30183-5",
            "10.1016/s0140-6736(20)30183-5",
        ),
        ("https://preprint.example/content/10.1101/2020.01.01.123v1.full", "10.1101/2020.01.01.123"),
        ("https://host.example/10.12/short", ""),
        ("https://host.example/v10.1234/x", ""),
        ("http://[broken", ""),
    ],
)
def test_an_address_carries_it(url: str, doi: str) -> None:
    assert find_doi(url) == doi


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("(see https://doi.org/10.1234/abc).", "10.1234/abc"),
        ("doi 10.1016/S0140-6736(20)30183-5).", "10.1016/s0140-6736(20)30183-5"),
        ("10.1016/0021-9797(84) is cited", "10.1016/0021-9797(84)"),
        ("[link](https://doi.org/10.1234/abc), then", "10.1234/abc"),
        ("<https://doi.org/10.1234/abc>", "10.1234/abc"),
        ("10.1002/(SICI)1097<24::AID>3.0.CO;2-X.", "10.1002/(sici)1097<24::aid>3.0.co;2-x"),
        ("**DOI:** 10.1234/abc; received", "10.1234/abc"),
        ("version 10.1234", ""),
        ("110.1234/abc", ""),
    ],
)
def test_prose_around_it_is_left_out(text: str, doi: str) -> None:
    assert find_front_doi(text) == doi


@pytest.mark.parametrize("heading", ["## References", "Bibliography", "参考文献", "7. References", "**Works cited**"])
def test_a_reference_list_is_never_read(heading: str) -> None:
    assert find_front_doi(f"A short note.\n\n{heading}\n\n1. Lee, doi 10.1234/other") == ""


def test_only_the_front_matter_is_read_and_a_name_cut_at_its_end_is_none() -> None:
    assert find_front_doi("x" * 4100 + " 10.1234/late") == ""
    assert find_front_doi("x" * 3985 + " 10.1234/abcdefghijkl") == ""
    assert find_front_doi("é" * 2000 + " 10.1234/late") == ""


@given(st.from_regex(r"10\.[0-9]{4,9}/[a-z0-9]{3,20}(\([a-z0-9]{1,5}\)[a-z0-9]{1,5})?", fullmatch=True))
def test_a_plain_name_survives_any_usual_surroundings(name: str) -> None:
    assert find_declared_doi(page(f'<meta name="citation_doi" content="https://doi.org/{name}">')) == name
    assert find_front_doi(f"Text ({name}).") == name
    assert find_doi(f"https://host.example/doi/{name}") == name
