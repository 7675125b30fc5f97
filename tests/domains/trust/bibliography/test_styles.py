"""The citation of a page: what it says about itself and two styles, whatever its metadata holds."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.bibliography.csl import parse_item
from specloom.domains.trust.bibliography.entry import from_source
from specloom.domains.trust.bibliography.formatting import render
from specloom.domains.trust.bibliography.styles import STYLES, cite_for_bibliography, write_list

URL = "https://news.example/one"


def cite(*arguments):
    """The citation without its entry for a bibliography, which the tests of BibTeX hold."""
    found = cite_for_bibliography(*arguments)
    return found | {"formatted": {style: found["formatted"][style] for style in ("apa", "mla")}}


def test_a_page_with_everything():
    found = cite(
        URL, "Rain &amp; snow", "By Jane van der Berg and John Q. Roe", "News", "2020-03-09T10:00Z", "2026-11-22"
    )

    assert found == {
        "url": URL,
        "accessedDate": "2026-11-22",
        "metadata": {
            "title": "Rain & snow",
            "author": "By Jane van der Berg and John Q. Roe",
            "site": "News",
            "date": "2020-03-09T10:00Z",
        },
        "formatted": {
            "apa": f"van der Berg, J., & Roe, J. Q. (2020, March 9). Rain & snow. News. {URL}",
            "mla": f"van der Berg, Jane, and John Q. Roe. “Rain & Snow.” News, 9 Mar. 2020, {URL}. "
            "Accessed 22 Nov. 2026.",
        },
    }


def test_a_page_with_nothing_is_described_and_its_address():
    found = cite(URL, "", "", "", "", "2026-11-22")

    assert found["metadata"] == {"title": "", "author": "", "site": "", "date": ""}
    assert found["formatted"] == {
        "apa": f"[Web page]. (n.d.). Retrieved November 22, 2026, from {URL}",
        "mla": f"{URL}. Accessed 22 Nov. 2026.",
    }


def test_a_page_without_a_title_is_described_where_the_title_would_stand():
    assert cite(URL, "", "Jane Doe", "News", "2020", "2026-11-22")["formatted"]["apa"] == (
        f"Doe, J. (2020). [Web page]. News. {URL}"
    )


def test_without_an_author_the_title_leads_and_a_site_that_is_the_author_is_not_repeated():
    assert cite(URL, "Rain", "", "News", "March 2020", "2026-11-22")["formatted"]["apa"] == (
        f"Rain. (2020, March). News. {URL}"
    )
    assert cite(URL, "Rain", "News Desk Inc", "News Desk Inc", "2020", "2026-11-22")["formatted"]["apa"] == (
        f"News Desk Inc. (2020). Rain. {URL}"
    )


@pytest.mark.parametrize("title", ["Is it?", "So it is!", "Done."])
def test_a_title_keeps_the_mark_that_ends_it(title):
    assert f"{title} News." in cite(URL, title, "Jane Doe", "News", "2020", "")["formatted"]["apa"]


@pytest.mark.parametrize(
    "title",
    [
        "[click](https://evil.example)",
        "![x](https://evil.example/p.png)",
        "[x]: https://evil.example",
        "[x][y]",
        "<img src=x onerror=alert(1)>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&amp;lt;b&amp;gt;",
        "`code`",
        "# heading",
        "> quote",
        "1. item",
        "line\n\n- item",
    ],
)
def test_a_title_opens_no_markup(title):
    formatted = cite(URL, title, "", "", "2020", "2026-11-22")["formatted"]

    for text in formatted.values():
        assert "\n" not in text
        assert "](" not in text
        assert "]:" not in text
        assert "][" not in text
        assert "<" not in text.replace("\\<", "")
        assert "`" not in text.replace("\\`", "")
        assert not text.startswith(("#", ">", "- ", "1. "))


@given(st.text(), st.text(), st.text(), st.text(), st.text(), st.text())
def test_any_metadata_makes_one_line_in_each_style_twice_the_same(url, title, author, site, published, accessed):
    found = cite(url, title, author, site, published, accessed)

    assert found == cite(url, title, author, site, published, accessed)
    for text in found["formatted"].values():
        assert len(text.splitlines()) <= 1
        assert "](" not in text


# --- eight styles against a CSL processor -----------------------------------------------------------------------------


FROZEN: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("styles.yaml").read_text(encoding="utf-8"))
FEWEST_EQUAL = 297
"""Of 320 texts; the others are deliberate."""


def _to_lines(style: str) -> list[str]:
    return write_list([parse_item(item) for item in FROZEN["items"]], style)


@pytest.mark.parametrize("style", STYLES)
def test_a_style_writes_what_the_processor_writes_but_for_what_is_deliberate(style: str) -> None:
    wanted = dict(FROZEN["expected"][style])
    wanted |= {name: each["text"] for name, each in FROZEN["deliberate"].get(style, {}).items()}

    assert sorted(_to_lines(style)) == sorted(wanted.values())


def test_what_is_deliberate_differs_says_why_and_is_counted() -> None:
    different = [(style, name, each) for style, texts in FROZEN["deliberate"].items() for name, each in texts.items()]

    assert all(each["why"] and each["text"] != FROZEN["expected"][style][name] for style, name, each in different)
    assert len(FROZEN["items"]) == 40
    assert 40 * len(STYLES) - len(different) >= FEWEST_EQUAL


def test_a_page_is_cited_as_its_source_is_formatted_with_its_doi() -> None:
    page = {"url": URL, "title": "Rain in the hills", "author": "Jane Doe", "site": "Hill Letters", "date": "2020"}

    cited = cite_for_bibliography(URL, *list(page.values())[1:], "2026-11-22", doi="10.5555/Rain.1")["formatted"]
    formatted = [from_source(page | {"doi": "10.5555/Rain.1"})]

    for style in ("apa", "mla", "bibtex"):
        assert cited[style] == render(formatted, style, accessed="2026-11-22")[0]
        assert "10.5555/Rain.1" in cited[style]


def test_a_doi_in_the_address_of_a_source_is_its_doi() -> None:
    source = from_source({"url": "https://doi.org/10.5555/Rain.1", "title": "Rain"})

    assert "@article{" in render([source], "bibtex")[0]
    assert "  doi = {10.5555/Rain.1},\n" in render([source], "bibtex")[0]
