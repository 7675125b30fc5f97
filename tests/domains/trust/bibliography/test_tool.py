"""format_bibliography as it is called: what is exported is read back as it was, and no value breaks out."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
import trust_replay
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.bibliography.documents import parse_bibliography
from specloom.domains.trust.bibliography.entry import assign_keys, clean, from_source
from tests.support.shipped import shipped_model

INTERCHANGE = ("bibtex", "ris", "csl-json")
READ = ("apa", "mla")
# Every control, format and separator character that a title may smuggle in; half a surrogate pair is refused before.
UNSEEN = [chr(code) for code in range(0x3000) if unicodedata.category(chr(code)) in ("Cc", "Cf", "Zl", "Zp")]
UNSEEN += ["\ufeff", "\ufff9", "\ufffb", "\U000e0041", "\U000e0001"]
LATEX = ["\\", "{", "}", "$", "%", "&", "#", "_", "~", "^", '"', "--", "---", "``", "''", "\\end{document}"]
LATEX += ["\\input{x}", "\\write18{rm}", "{\\'e}", "\\url{x}", "@article{x,", "},\n  author = {Evil", "\\%", "%}"]
LATEX += ["\\textbackslash{}"]
RIS = ["\nTY  - BOOK", "\r\nER  - \r\n", "\rAU  - X", "\u2028AU  - X", "\u2029ER  - ", "\x85AU  - X", "\x0bTI  - X"]
RIS += ["TY  - "]
JSON = ['", "id": "x', "\\u0000", "</script>", "]", "[{", "\\"]
MARKUP = ["](http://evil.example)", "![x](", "<script>alert(1)</script>", "<b>", "&lt;i&gt;", "&amp;", "`", "# ", "> "]
MARKUP += ["- "]
PLAIN = ["Otters", "on", "the", "Ünïcode", "中文", "и", "e\u0301", " and ", ",", ";", "ß", "1. ", "2020"]

PIECES = st.sampled_from([*LATEX, *RIS, *JSON, *MARKUP, *PLAIN, *UNSEEN])
VALUE = st.one_of(st.text(max_size=20), st.lists(PIECES, max_size=8).map("".join))
NAMES = st.sampled_from(
    ["", "Otter, Ann", "Ann Otter; World Health Organization", "van der Berg, Jan", "山田 太郎", "Plato"]
)
DOIS = st.sampled_from(["", "10.1000/abc", "https://doi.org/10.1002/(SICI)1<2::AID>3.0.CO;2-S", "10.1/x\nER  - "])
SOURCES = st.lists(
    st.fixed_dictionaries(
        {"url": st.sampled_from([f"https://otters.example/{at}?a=1&b=%20~_#c" for at in range(6)])},
        optional={
            "title": VALUE,
            "author": st.one_of(NAMES, VALUE),
            "site": VALUE,
            "date": st.sampled_from(["", "2020", "2020-03-09", "March 2020", "n.d.", "2020\nTY  - BOOK"]),
            "doi": st.sampled_from(
                ["", "10.1000/abc", "https://doi.org/10.1002/(SICI)1<2::AID>3.0.CO;2-S", "10.1/x\nER  - "]
            ),
        },
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda source: source["url"],
)


def form(style: str, sources: list[dict[str, str]]) -> dict[str, Any]:
    given = {"style": style, "sources": sources}
    return asyncio.run(trust_replay.call(shipped_model(), "format_bibliography", given, trust_replay.World()))


# Format characters that are seen: the signs around Arabic, Syriac and Kaithi numbers, and the joiners, with which
# some scripts are spelled.
SEEN = frozenset("\n\u200c\u200d\u06dd\u070f\u08e2\u0890\u0891\U000110bd\U000110cd").union(
    map(chr, range(0x600, 0x606))
)


def is_unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") and character not in SEEN


@given(SOURCES, st.sampled_from(INTERCHANGE))
def test_what_is_exported_is_read_back_as_it_was(sources: list[dict[str, str]], style: str) -> None:
    told = form(style, sources)

    found = parse_bibliography(told["bibliography"])

    assert found.format == style
    assert found.problems == ()
    # BibTeX takes words in small letters at the beginning of a family name for a particle.
    plain = [
        replace(entry, authors=tuple(replace(name, particle="") for name in entry.authors)) for entry in found.entries
    ]
    assert plain == assign_keys([from_source(source) for source in sources])
    assert told["entryCount"] == len(sources) == len(found.entries)
    assert {entry.title for entry in found.entries} == {clean(source.get("title", "")) for source in sources}


@given(SOURCES, st.sampled_from(READ))
def test_what_is_read_is_one_line_for_each_source_and_opens_nothing(sources: list[dict[str, str]], style: str) -> None:
    told = form(style, sources)

    lines = told["bibliography"].split("\n\n")
    assert len(lines) == told["entryCount"] == len(sources)
    for line in lines:
        assert len(line.splitlines()) == 1
        assert not re.search(r"(?<!\\)<[A-Za-z/!]|\]\(|(?<!\\)`", line)
        assert not re.match(r"[#>+*=|~-]|[0-9]{1,9}[.)]\s", line)


@given(SOURCES, st.sampled_from((*INTERCHANGE, *READ)))
def test_no_style_shows_what_cannot_be_seen_and_each_is_the_same_twice(
    sources: list[dict[str, str]], style: str
) -> None:
    text = form(style, sources)["bibliography"]

    assert not [character for character in text if is_unseen(character)]
    assert form(style, sources)["bibliography"] == text
    assert form(style, sources[::-1])["bibliography"] == text, "in whatever order they come"
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize("style", INTERCHANGE)
@pytest.mark.parametrize("field", ["title", "author", "site", "date", "doi", "url"])
@pytest.mark.parametrize("piece", [*LATEX, *RIS, *JSON])
def test_no_field_adds_a_record_or_a_tag(piece: str, field: str, style: str) -> None:
    source = {"url": "https://otters.example/a", "title": "Otters", "author": "Otter, Ann", "date": "2020"}
    plain = form(style, [source])["bibliography"]

    text = form(style, [source | {field: source.get(field, "") + piece}])["bibliography"]

    assert len(parse_bibliography(text).entries) == 1
    if style == "ris":
        assert {line[:6] for line in text.splitlines()} <= {line[:6] for line in plain.splitlines()} | {
            "T2  - ",
            "DO  - ",
        }
    if style == "bibtex":
        names = re.compile(r"^  (\w+) = ", re.MULTILINE)
        assert set(names.findall(text)) <= {*names.findall(plain), "howpublished", "journal", "doi"}
        assert len(re.findall(r"^@", text, re.MULTILINE)) == 1
    if style == "csl-json":
        assert len(json.loads(text)) == 1


def test_what_is_left_out_is_named_by_its_place() -> None:
    one = form("apa", [{"url": "https://a.example/"}, {"url": "ftp://b.example/"}])
    many = form("ris", [{"site": "S"}] * 25)

    assert (one["skipped"], one["skippedNote"]) == (
        1,
        "source 2 has neither an address, a DOI, a title nor an author and was left out",
    )
    assert many["skipped"] == 25
    assert many["skippedNote"].startswith("sources 1, 2, 3,")
    assert many["skippedNote"].endswith("20 … have neither an address, a DOI, a title nor an author and were left out")


def test_a_suffix_without_a_comma_is_one() -> None:
    said = form("apa", [{"url": "https://a.example/", "author": "Davis, Sammy Jr.; Smith, John", "title": "T"}])

    assert said["bibliography"].startswith("Davis, S., Jr., & Smith, J. (n.d.). T.")
