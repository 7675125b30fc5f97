"""The records of a bibliography as they stand there: fields are neither decoded nor brought into one form."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.domains.trust.bibliography.documents import find_identifier, read_records, split_records
from specloom.plugins.registry import PROCEDURES, load_hooks


def records(document: str, format_: str) -> list[dict[str, Any]]:
    """What the procedure gives; it asks nobody, so that it needs no context."""
    load_hooks()
    context: Any = SimpleNamespace(is_live=False)
    run = PROCEDURES["bibliography_records"].function(context, {"document": document, "format": format_})
    found: list[dict[str, Any]] = asyncio.run(run)["records"]  # type: ignore[arg-type]
    return found


def test_bibtex_keeps_the_case_of_names_and_tells_what_is_broken() -> None:
    text = '@string{w = "Weir"}\n@Article{Otter, DOI = {10.1234/A\\_b--C}, publisher = w # " Press"}\n@book{broken'

    whole, broken = records(text, "bibtex")

    assert (whole["line"], whole["key"], whole["identifier"], whole["problem"]) == (2, "Otter", "10.1234/A_b--C", "")
    assert (broken["line"], broken["identifier"], bool(broken["problem"])) == (3, "", True)


def test_csl_json_counts_its_items() -> None:
    first, second = records('[{"DOI": "10.1234/A", "x": [1]}, 7]', "")

    assert (first["line"], first["identifier"], first["problem"]) == (1, "10.1234/A", "")
    assert (second["line"], second["problem"]) == (2, "it is no object")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"doi": "10.1234/Abc"}, "10.1234/Abc"),
        ({"DOI": "https://doi.org/10.1234/a%28b%29"}, "10.1234/a(b)"),
        ({"doi": r"10.1234/a\_b"}, "10.1234/a_b"),
        ({"doi": "{10.1234/a--b}"}, "10.1234/a--b"),
        ({"DOI": ["10.1234/a", "10.1234/b"]}, "10.1234/a"),
        ({"doi": "", "url": "http://dx.doi.org/10.1234/a"}, "10.1234/a"),
        ({"doi": "10.1234/a", "eprint": "2401.12345"}, "10.1234/a"),
        ({"eprint": "2401.12345v2"}, "arXiv:2401.12345v2"),
        ({"eprint": "arXiv:2401.12345", "eprinttype": "arxiv"}, "arXiv:2401.12345"),
        ({"eprint": "otters", "archiveprefix": "arXiv"}, "arXiv:otters"),
        ({"eprint": "27654321", "eprinttype": "pubmed"}, ""),
        ({"eprint": "27654321", "eprinttype": "pubmed", "pmid": "27654321"}, "pmid:27654321"),
        ({"arxivId": "math.CO/0701105"}, "arXiv:math.CO/0701105"),
        ({"number": "arXiv:2401.12345"}, "arXiv:2401.12345"),
        ({"note": "arXiv: 2401.12345 [cs.LG], to appear"}, "arXiv:2401.12345"),
        ({"URL": "http://arxiv.org/abs/cond-mat/9501001"}, "arXiv:cond-mat/9501001"),
        ({"URL": "https://arxiv.org/pdf/2401.12345v1.pdf"}, "arXiv:2401.12345v1"),
        ({"URL": "https://arxiv.org/list/cs"}, ""),
        ({"PMID": 27654321}, "pmid:27654321"),
        ({"PMCID": "PMC5031234"}, "PMC5031234"),
        ({"URL": "https://pubmed.ncbi.nlm.nih.gov/27654321/"}, "https://pubmed.ncbi.nlm.nih.gov/27654321/"),
        ({"URL": "https://otters.example/", "title": "10.1234/in-a-title"}, ""),
        ({"DOI": True, "URL": {"a": 1}}, ""),
    ],
)
def test_an_entry_names_its_paper_by_the_surest_of_what_it_has(fields: dict[str, Any], text: str) -> None:
    assert find_identifier(fields) == text


@given(
    st.dictionaries(st.text(max_size=8), st.recursive(st.none() | st.text() | st.integers(), st.lists, max_leaves=3))
)
def test_any_item_is_a_record(fields: dict[str, Any]) -> None:
    [record] = read_records(json.dumps([fields]), "csl-json")[1]

    assert record.line == 1
    assert bool(record.problem) == (not fields)


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("\ufeff [{}]", "csl-json"),
        ('{"DOI": "10.1234/a"}', "csl-json"),
        ("% of mine\n@Article {a, doi = {x}}", "bibtex"),
        ("10.1234/a\n", "refs"),
        ("ann@otters.example", "refs"),
        ("", "refs"),
    ],
)
def test_a_format_is_told_by_what_stands_in_a_file(text: str, format_: str) -> None:
    assert read_records(text.removeprefix("\ufeff"), "")[0] == format_


@pytest.mark.parametrize(
    ("text", "format_", "sentence"),
    [
        ("TY  - JOUR\nER  - \n", "auto", "records of RIS have no fields by name"),
        ("otters", "auto", "the bibliography is none of csl-json, ris, bibtex"),
        ("otters", "endnote", "unknown bibliography format 'endnote'"),
        ("x" * 6_000_001, "bibtex", "the bibliography is longer than 6000000 characters"),
        ("@article{a,\n" * 30_001, "bibtex", "the bibliography has more than 30000 entries"),
    ],
)
def test_what_is_not_to_be_read_is_refused(text: str, format_: str, sentence: str) -> None:
    with pytest.raises(Fault, match=sentence) as caught:
        list(split_records(text, format_))

    assert caught.value.kind == "validation"
