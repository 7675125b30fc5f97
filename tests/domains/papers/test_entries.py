"""Entries of the store as BibTeX and CSL JSON: the bytes of the contract, and nothing that a value could break."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.papers.entries import to_bibtex, to_csl, to_plain

ENTRY = {
    "schema_version": "1.0",
    "title": "Quantum <i>Stuff</i>",
    "authors": ["Alice Researcher", "Coauthor, Bob"],
    "year": 2026,
    "doi": "10.1234/example",
    "venue": "Stuff & Co",
    "volume": "7",
    "issue": "2",
    "pages": "1-9",
    "publisher": "Weir {Press}",
    "issn": "1234-5678",
    "type": "journal-article",
    "keywords": ["left out"],
}
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30)


def test_bibtex_is_that_of_the_contract_to_the_byte() -> None:
    assert to_bibtex("doi_10.1234_example", ENTRY) == (
        "@article{doi_10.1234_example,\n"
        "  title      = {Quantum Stuff},\n"
        "  author     = {Alice Researcher and Coauthor, Bob},\n"
        "  year       = {2026},\n"
        "  doi        = {10.1234/example},\n"
        "  journal    = {Stuff \\& Co},\n"
        "  volume     = {7},\n"
        "  number     = {2},\n"
        "  pages      = {1-9},\n"
        "  publisher  = {Weir Press},\n"
        "  issn       = {1234-5678},\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("R&D at 100% of #5 a_b", r"R\&D at 100\% of \#5 a\_b"),
        (r"R\&D of $x_1 & y$ in a_b", r"R\&D of $x_1 & y$ in a\_b"),
        ("5 $ a_b", r"5 \$ a\_b"),
    ],
)
def test_no_sign_of_a_value_ends_a_line_of_tex(title: str, written: str) -> None:
    entry = {"title": title, "doi": "10.1234/a_b", "authors": []}

    assert to_bibtex("key", entry) == (
        f"@misc{{key,\n  title      = {{{written}}},\n  doi        = {{10.1234/a_b}},\n}}\n"
    )


def test_empty_fields_are_left_out_as_in_the_published_example() -> None:
    stored = {key: ENTRY[key] for key in ("authors", "year", "doi", "type")} | {"title": "Quantum {Stuff}", "venue": ""}

    assert to_bibtex("doi_10.1234_example", stored).replace("Coauthor, Bob", "Bob Coauthor") == (
        "@article{doi_10.1234_example,\n"
        "  title      = {Quantum Stuff},\n"
        "  author     = {Alice Researcher and Bob Coauthor},\n"
        "  year       = {2026},\n"
        "  doi        = {10.1234/example},\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("entry", "lines"),
    [
        ({"arxiv_id": "2401.12345", "arxiv_categories": ["cs.LG", "cs.AI"]}, ["  primaryClass = {cs.LG},"]),
        ({"arxiv_id": "cond-mat/9501001"}, ["  primaryClass = {cond-mat},"]),
        ({"arxiv_id": "astro-ph.CO/0703123v2"}, ["  primaryClass = {astro-ph.CO},"]),
        ({"arxiv_id": "2401.12345"}, []),
    ],
)
def test_a_preprint_has_its_archive_and_its_class_where_that_is_known(entry: dict[str, Any], lines: list[str]) -> None:
    told = to_bibtex("key", {"title": "T", "authors": [], **entry}).splitlines()

    assert told[0] == "@misc{key,"
    assert told[2:-1] == [f"  eprint     = {{{entry['arxiv_id']}}},", "  archivePrefix = {arXiv},", *lines]


def test_csl_has_the_keys_of_the_contract_in_their_order() -> None:
    [item] = to_csl("doi_10.1234_example", ENTRY)

    assert list(item.items()) == [
        ("id", "doi_10.1234_example"),
        ("type", "article-journal"),
        ("title", "Quantum <i>Stuff</i>"),
        ("author", [{"family": "Researcher", "given": "Alice"}, {"family": "Coauthor", "given": "Bob"}]),
        ("issued", {"date-parts": [[2026]]}),
        ("DOI", "10.1234/example"),
        ("container-title", "Stuff & Co"),
        ("volume", "7"),
        ("issue", "2"),
        ("page", "1-9"),
        ("publisher", "Weir {Press}"),
        ("ISSN", "1234-5678"),
    ]
    assert to_csl("key", {"title": "T", "authors": ["Plato", "Ben van Stream"]}) == [
        {
            "id": "key",
            "type": "manuscript",
            "title": "T",
            "author": [{"family": "Plato"}, {"family": "Stream", "given": "Ben van"}],
        }
    ]


def test_one_name_alone_is_one_author() -> None:
    entry = {"title": "T", "authors": "Ann Otter"}

    assert "  author     = {Ann Otter}," in to_bibtex("key", entry)
    assert to_csl("key", entry)[0]["author"] == [{"family": "Otter", "given": "Ann"}]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("How <i>E. coli</i>  swim", "How E. coli swim"),
        ("<jats:p>They <b class='x'>do</b></jats:p><br/>.", "They do."),
        ("<mml:math xmlns:mml='m'><mml:mi>x</mml:mi></mml:math> rises", "x rises"),
        ("Where p < 0.05 and q > 3", "Where p < 0.05 and q > 3"),
        ("a <- b -> c", "a <- b -> c"),
        ("x<!-- a\nnote -->y", "xy"),
        ("Science &amp; Justice", "Science & Justice"),
        ("p &lt; 0.05, &lt;i&gt; and&nbsp;&#x3b1;", "p < 0.05, <i> and α"),
        ("AT&T and &#" + "9" * 5000 + ";", "AT&T and &#" + "9" * 5000 + ";"),
    ],
)
def test_markup_is_taken_out_and_signs_stay(text: str, plain: str) -> None:
    assert to_plain(text) == plain


def test_a_brace_that_is_written_as_an_entity_ends_no_value() -> None:
    text = to_bibtex("key", {"title": "Otters&#125; &lbrace; swim&#92;"})

    assert text == "@misc{key,\n  title      = {Otters swim},\n}\n"


@given(
    st.fixed_dictionaries(
        {"title": TEXT.filter(lambda text: bool(text.strip("\\{} \xa0"))), "authors": st.lists(TEXT, max_size=3)},
        optional={"venue": TEXT, "publisher": TEXT, "year": st.integers(1000, 3000), "type": TEXT},
    )
)
def test_no_value_ends_its_field(entry: dict[str, Any]) -> None:
    from bibtexparser.entrypoint import parse_string

    library = parse_string(to_bibtex("key", entry))

    assert library.failed_blocks == []
    [read] = library.entries
    assert read.key == "key"
    assert set(read.fields_dict) <= {"title", "author", "journal", "publisher", "year"}
