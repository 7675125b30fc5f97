"""Bibliographies: written for five readers, read back as they were, and no title can break out of its field."""

import asyncio
import json
import re
import time
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.domains.text.people import Name, parse_names, to_initials
from specloom.domains.trust.bibliography import documents
from specloom.domains.trust.bibliography.dates import read_date
from specloom.domains.trust.bibliography.documents import (
    LONGEST_DOCUMENT,
    MOST_BIBTEX_ENTRIES,
    detect_format,
    parse_bibliography,
    read_document,
    read_records,
    read_records_apart,
)
from specloom.domains.trust.bibliography.entry import (
    KIND_TABLE,
    BibliographyEntry,
    assign_keys,
    clean,
    from_source,
    make_key,
    normalize,
    parse_issued,
    to_iso,
)
from specloom.domains.trust.bibliography.formatting import STYLES, format_sources, render
from specloom.domains.trust.bibliography.losses import READ_AS, find_losses
from specloom.domains.trust.citations.audit import gather

PAPER = normalize(
    BibliographyEntry(
        title="Attention is all you need",
        authors=(Name("Vaswani", "Ashish"), Name("Shazeer", "Noam"), Name("Kaiser", "Łukasz")),
        container="Advances in Neural Information Processing Systems",
        issued=(2017,),
        doi="10.48550/arXiv.1706.03762",
        url="https://arxiv.org/abs/1706.03762",
        kind="article-journal",
        volume="30",
        pages="5998–6008",
    )
)


# --- reading ---


def test_the_three_formats_are_told_apart():
    assert detect_format('[{"title": "A"}]') == "csl-json"
    assert detect_format(' {"title": "A"}') == "csl-json"
    assert detect_format("@article{a, title={A}}") == "bibtex"
    assert detect_format("% made by hand\n@article{a, title={A}}") == "bibtex"
    assert detect_format("TY  - JOUR\nTI  - A\nER  - ") == "ris"
    assert detect_format("\ufeffTY - JOUR\nTI - A") == "ris"
    assert detect_format("T1 - A\nER -") == "ris"
    assert detect_format("write to a@b.example {or not}") == ""
    assert detect_format("") == ""


@pytest.mark.parametrize("text", ["", "plain text", "%PDF-1.7"])
def test_a_document_of_no_format_is_refused_with_what_to_do(text):
    with pytest.raises(Fault, match="name its format") as caught:
        parse_bibliography(text)

    assert caught.value.kind == "validation"


def test_an_unknown_format_and_an_empty_document_are_refused():
    with pytest.raises(Fault, match="unknown bibliography format 'endnote'"):
        parse_bibliography("x", "endnote")
    with pytest.raises(Fault, match="no entry in the format bibtex"):
        parse_bibliography("nothing here", "bibtex")


def test_bibtex_of_other_writers():
    found = parse_bibliography(
        """@string{jac = "J. Am. Chem. Soc."}
        @article{godel,
          author = {G{\\"o}del, Kurt and {van der Waals}, J. D.
            and {World Health Organization} and Jane Q. Doe and others},
          title = "{\\"U}ber formal {unentscheidbare} S{\\"a}tze --- 50% done",
          journal = jac # " B", year = 1931, month = mar, pages = "173--198", doi = {https://doi.org/10.1007/BF01700692}
        }
        @misc{web, title={A page}, howpublished={\\url{https://example.org/a}}, year={2020}}
        @article{pre, title={Preprint}, eprint={1706.03762}, archivePrefix={arXiv}}
        @comment{not an entry}
        """
    )

    first, second, third = found.entries
    assert found.problems == ()
    assert first.title == "Über formal unentscheidbare Sätze — 50% done"
    assert first.authors == (
        Name("Gödel", "Kurt"),
        Name("van der Waals", "J. D."),
        Name("World Health Organization"),
        Name("Doe", "Jane Q."),
    )
    assert (first.container, first.issued, first.pages) == ("J. Am. Chem. Soc. B", (1931, 3), "173-198")
    assert (first.doi, first.url) == ("10.1007/BF01700692", "https://doi.org/10.1007/BF01700692")
    assert (second.url, second.container) == ("https://example.org/a", "")
    assert third.url == "https://arxiv.org/abs/1706.03762"


def test_one_bad_bibtex_entry_is_a_problem_and_loses_no_other():
    found = parse_bibliography(
        "@article{a, title={One}}\n@book{b, title={never closed\n@misc{c, title={Three}}\n@misc{c, title={Four}}\n"
        "@misc{d, note={nothing}}\n"
    )

    assert [entry.title for entry in found.entries] == ["One", "Three", "Four"]
    assert [problem.line for problem in found.problems] == [2, 5]
    assert "no title" in found.problems[1].message


@pytest.mark.parametrize(
    ("broken", "messages"),
    [
        (
            "@misc{b, title={open\n@misc{c, title={Three}}",
            ["unexpected block start: `@misc`; was still looking for field-value closing `}`"],
        ),
        (
            "@misc{b, title={open @misc{c, title={Three}} @misc{d, title={Four}}",
            ["unexpectedly reached end of file; 2 more that begin inside it are lost with it"],
        ),
        ("@misc{b title={Two}}", ["expected comma after entry key, but found ="]),
    ],
)
def test_why_a_bibtex_entry_cannot_be_read_is_told_with_what_is_lost_behind_it(broken, messages):
    found = parse_bibliography(f"@article{{a, title={{One}}}}\n{broken}\n")

    assert found.entries[0].title == "One"
    assert [problem.message for problem in found.problems] == messages


def test_of_a_field_that_bibtex_gives_twice_the_first_counts():
    found = parse_bibliography("@misc{a, title={One}, year=2020, title={Two}}")

    assert [entry.title for entry in found.entries] == ["One"]
    assert found.problems == ()


@pytest.mark.parametrize(
    "title", ["{" * 5000 + "x" + "}" * 5000, "\\textbf{" * 3000 + "x" + "}" * 3000, "\\begin{x}" * 2000, "$" * 5001]
)
def test_a_title_that_nobody_can_read_loses_no_other(title):
    found = parse_bibliography(f"@misc{{a, title={{{title}}}, url={{https://x.example/}}}}\n@misc{{b, title={{Two}}}}")

    assert found.entries[-1].title == "Two"
    assert len(found.entries) == 2


def test_a_document_beyond_measure_is_refused():
    with pytest.raises(Fault, match="split it"):
        parse_bibliography("@a{" * (MOST_BIBTEX_ENTRIES + 1))
    with pytest.raises(Fault, match="split it"):
        parse_bibliography("@" + "x" * LONGEST_DOCUMENT)


def test_ris_of_other_writers():
    found = parse_bibliography(
        "TY  - JOUR\r\nA1 - Doe, Jane Q.\r\nAU  - World Health Organization,\r\nAU  - Roe, John, Jr.\r\n"
        "T1  - A long title that\r\n      goes on\r\nJO  - J. Test\r\nPY  - 2019///\r\nSP  - 1\r\nEP  - 9\r\n"
        "DO  - doi:10.1000/ABC\r\nXX  - unknown\r\nER  -\r\n"
        "TY- BOOK\r\nTI- No ER\r\nTY  - ELEC\r\nUR  - https://example.org/\r\nY1  - 2020/03/09/\r\n"
    )

    first, second, third = found.entries
    assert first.title == "A long title that goes on"
    assert first.authors == (Name("Doe", "Jane Q."), Name("World Health Organization"), Name("Roe", "John", "Jr."))
    assert (first.container, first.issued, first.pages, first.doi) == ("J. Test", (2019,), "1-9", "10.1000/ABC")
    assert (second.title, second.kind) == ("No ER", "book")
    assert (third.url, third.issued, third.kind) == ("https://example.org/", (2020, 3, 9), "webpage")


def test_csl_of_other_writers():
    found = parse_bibliography(
        json.dumps(
            [
                {"type": "journal-article", "title": ["First"], "issued": {"date-parts": [["2020", "3"]]}, "id": 7},
                {"title": "Second", "author": [{"family": "Berg", "non-dropping-particle": "van der", "given": "A."}]},
                {"title": "Third", "author": [{"literal": "Acme, Inc."}, {"name": "A Group"}], "issued": "1999-05-04"},
                {"title": "Fourth", "issued": {"raw": "March 3, 2020"}, "author": [{"family": "Plato"}]},
                {"title": "Fifth", "author": "Doe, Jane; Roe, Ann"},
                {"title": "Sixth", "author": {"family": "Doe", "given": "Jane"}},
                {"title": "Seventh", "author": 5},
            ]
        )
    )

    assert [entry.issued for entry in found.entries] == [(2020, 3), (), (1999, 5, 4), (2020, 3, 3), (), (), ()]
    assert found.entries[1].authors == (Name("van der Berg", "A.", particle="van der"),)
    assert found.entries[2].authors == (Name("Acme, Inc."), Name("A Group"))
    assert [entry.authors for entry in found.entries[4:]] == [
        (Name("Doe", "Jane"), Name("Roe", "Ann")),
        (Name("Doe", "Jane"),),
        (),
    ]
    assert (found.entries[0].kind, found.entries[0].key) == ("article-journal", "7")


def test_one_bad_item_is_a_problem_and_loses_no_other():
    found = parse_bibliography('[{"title": "One"}, 5, {"author": "?"}, {"title": "Two"}]')
    broken = parse_bibliography('[\n{"title": "One"},\n{"title": oops},\n{"title": "Two"}\n]')

    assert [entry.title for entry in found.entries] == ["One", "Two"]
    assert [problem.index for problem in found.problems] == [1, 2]
    assert found.places == ((0, 1), (3, 4))
    assert [entry.title for entry in broken.entries] == ["One", "Two"]
    assert [problem.line for problem in broken.problems] == [3]


# --- writing ---


def test_apa_and_mla_of_a_paper():
    assert render([PAPER], "apa")[0] == (
        "Vaswani, A., Shazeer, N., & Kaiser, Ł. (2017). Attention is all you need. Advances in Neural Information "
        "Processing Systems, 30, 5998–6008. https://doi.org/10.48550/arXiv.1706.03762"
    )
    assert render([PAPER], "mla")[0] == (
        "Vaswani, Ashish, et al. “Attention Is All You Need.” Advances in Neural Information Processing Systems, "
        "vol. 30, 2017, pp. 5998–6008, https://doi.org/10.48550/arXiv.1706.03762."
    )


def test_interchange_of_a_paper():
    assert render([PAPER], "bibtex")[0] == (
        "@article{vaswani2017attention,\n"
        "  author = {Vaswani, Ashish and Shazeer, Noam and Kaiser, Łukasz},\n"
        "  title = {Attention is all you need},\n"
        "  journal = {Advances in Neural Information Processing Systems},\n"
        "  volume = {30},\n"
        "  pages = {5998--6008},\n"
        "  year = {2017},\n"
        "  doi = {10.48550/arXiv.1706.03762},\n"
        "  url = {https://arxiv.org/abs/1706.03762},\n"
        "}"
    )
    assert render([PAPER], "ris")[0].splitlines()[:5] == [
        "TY  - JOUR",
        "ID  - vaswani2017attention",
        "TI  - Attention is all you need",
        "AU  - Vaswani, Ashish",
        "AU  - Shazeer, Noam",
    ]
    (item,) = json.loads(render([PAPER], "csl-json")[0])
    assert item["author"][2] == {"family": "Kaiser", "given": "Łukasz"}
    assert item["issued"] == {"date-parts": [[2017]]}


def test_addresses_and_dois_stand_in_bibtex_as_they_are_and_other_fields_escape():
    page = BibliographyEntry(
        title="100 % of a_b & c # d",
        url="https://x.example/a_b/~me?x=1&y=%20#z--{1}",
        doi="10.1000/a_b%c#d",
        kind="webpage",
    )

    text = render([page], "bibtex")[0]

    assert "  title = {100 \\% of a\\_b \\& c \\# d},\n" in text
    assert "  url = {https://x.example/a_b/~me?x=1&y=%20#z--%7B1%7D},\n" in text
    assert "  doi = {10.1000/a_b%c#d},\n" in text


@pytest.mark.parametrize(
    "written",
    [
        "https://x.example/~me/a_b?c=%20&d#e",
        r"https://x.example/\~me/a\_b?c=\%20\&d\#e",
        r"{https://x.example/\~{}me/a{\_}b?c=\%20\&d\#e}",
        r"\url{https://x.example/{\textasciitilde}me/a_b?c=%20&d#e}",
        r"https://x.example/\textasciitilde{}me/a\_b?c=\%20\&d\#e",
    ],
)
def test_an_address_in_bibtex_is_read_escaped_or_not(written):
    (entry,) = parse_bibliography(f"@misc{{a, title={{T}}, url={{{written}}}}}").entries

    assert entry.url == "https://x.example/~me/a_b?c=%20&d#e"


def test_apa_rules_for_authors_dates_and_kinds():
    many = tuple(Name(f"Author{at}", "Ann") for at in range(1, 23))
    book = BibliographyEntry(
        title="A book", authors=(Name("Doe", "Jane"),), publisher="Press", issued=(2001,), kind="book"
    )
    chapter = BibliographyEntry(
        title="A part", container="A book", pages="1-9", publisher="Press", issued=(2001,), kind="chapter"
    )

    assert "Author19, A., … Author22, A. (n.d.)" in _apa(BibliographyEntry(title="T", authors=many))
    assert "Author19, A., & Author20, A." in _apa(BibliographyEntry(title="T", authors=many[:20]))
    assert _apa(book) == "Doe, J. (2001). A book. Press. https://x.example/"
    assert _apa(chapter) == "A part. (2001). In A book (pp. 1–9). Press. https://x.example/"
    assert "(2020, March 9)" in _apa(BibliographyEntry(title="T", kind="webpage", issued=(2020, 3, 9)))
    assert "(2020)" in _apa(BibliographyEntry(title="T", kind="article-journal", issued=(2020, 3, 9)))


def _apa(entry):
    return render(
        [
            normalize(
                BibliographyEntry(
                    **{name: getattr(entry, name) for name in BibliographyEntry.__slots__}
                    | {"url": "https://x.example/"}
                )
            )
        ],
        "apa",
    )[0]


def test_an_undated_page_is_dated_by_the_visit():
    page = from_source({"url": "https://x.example/", "title": "T", "site": "S"})

    assert "Retrieved November 22, 2026, from https://x.example/" in render([page], "apa", accessed="2026-11-22")[0]
    assert "Accessed 22 Nov. 2026." in render([page], "mla", accessed="2026-11-22")[0]
    for style in ("bibtex", "ris", "csl-json"):
        assert render([page], style, accessed="2026-11-22") == render([page], style)


def test_the_day_of_access_that_an_entry_says_is_shown_in_place_of_today():
    page = replace(from_source({"url": "https://x.example/", "title": "T", "site": "S"}), accessed="2020-05-06")

    for style in STYLES:
        shown = render([page], style, accessed="2026-11-22")[0]
        assert "2026" not in shown
        assert "2020" in shown or style == "nbib"


@pytest.mark.parametrize(
    ("style", "one", "three"),
    [
        ("apa", "Doe, J., et al. (2001)", "Doe, J., Roe, R., Poe, E., et al. (2001)"),
        ("mla", "Doe, Jane, et al. “T.”", "Doe, Jane, et al. “T.”"),
        ("chicago-notes", "Doe, Jane, et al. “T.”", "Doe, Jane, Richard Roe, Edgar Poe, et al. “T.”"),
        ("harvard", "Doe, J. et al. (2001)", "Doe, J. et al. (2001)"),
        ("ieee", "[1] J. Doe et al., “T,”", "[1] J. Doe, R. Roe, E. Poe et al., “T,”"),
        ("vancouver", "1. Doe J, et al. T.", "1. Doe J, Roe R, Poe E, et al. T."),
    ],
)
def test_a_list_of_people_that_goes_on_ends_with_et_al(style: str, one: str, three: str) -> None:
    for named, expected in (("Doe, Jane", one), ("Doe, Jane and Roe, Richard and Poe, Edgar", three)):
        text = f"@article{{a, author={{{named} and others}}, title={{T}}, journal={{J}}, year=2001}}"
        assert render(parse_bibliography(text).entries, style)[0].startswith(expected)


def test_a_title_comes_before_a_longer_one_that_begins_with_it():
    text = """@misc{a, author={{IPCC}}, title={Report two}, url={https://e.example/2}}
@misc{b, author={{IPCC}}, title={Report}, url={https://z.example/1}}"""

    first, second = render(parse_bibliography(text).entries, "mla")[0].split("\n\n")

    assert first.startswith("IPCC. Report. ")
    assert second.startswith("———. Report Two. ")


def test_sources_share_an_address_once_and_need_none():
    sources = [
        {"url": "https://x.example/", "title": "One"},
        {"url": "https://x.example/", "title": "Two"},
        {"title": "Three"},
        {"site": "?"},
    ]

    text, count = render([from_source(source) for source in sources], "ris")

    assert count == 2
    assert "One" in text
    assert "Three" in text


def test_an_unknown_style_is_refused_with_the_known_ones():
    with pytest.raises(Fault, match="use one of apa, mla, chicago-author-date, chicago-notes"):
        render([], "chicago")


def test_an_empty_list_is_an_empty_text_or_array():
    assert [render([], style)[0] for style in STYLES] == [*[""] * 10, "[]", "", "", "<xml>\n  <records/>\n</xml>", "[]"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_no_line_break_makes_a_tag_even_of_an_entry_that_was_not_normalized(end):
    entry = BibliographyEntry(title=f"T{end}TY  - BOOK{end}AU  - X", url="https://x.example/", kind="webpage")

    for style in ("ris", "bibtex"):
        assert len(parse_bibliography(render([entry], style)[0]).entries) == 1
        assert not any(line.startswith("AU") for line in render([entry], style)[0].splitlines())


# --- names, dates, keys ---


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Jane Doe", [("Doe", "Jane", "")]),
        ("Doe, Jane", [("Doe", "Jane", "")]),
        ("By Jane Doe and John Roe", [("Doe", "Jane", ""), ("Roe", "John", "")]),
        ("Jane Doe, John Q. Roe & Ann Poe", [("Doe", "Jane", ""), ("Roe", "John Q.", ""), ("Poe", "Ann", "")]),
        ("Doe, J.; Roe, A. B.", [("Doe", "J.", ""), ("Roe", "A. B.", "")]),
        ("Doe, J., Roe, A.", [("Doe", "J.", ""), ("Roe", "A.", "")]),
        ("Ludwig van Beethoven", [("van Beethoven", "Ludwig", "")]),
        ("Vincent van der Berg Jr.", [("van der Berg", "Vincent", "Jr.")]),
        ("King, Martin Luther, Jr.", [("King", "Martin Luther", "Jr.")]),
        ("Sammy Davis, Jr.", [("Davis", "Sammy", "Jr.")]),
        ("World Health Organization", [("World Health Organization", "", "")]),
        ("Centers for Disease Control and Prevention", [("Centers for Disease Control and Prevention", "", "")]),
        ("William H. Press", [("Press", "William H.", "")]),
        ("山田太郎", [("山田太郎", "", "")]),
        ("김 철수", [("김", "철수", "")]),
        ("Иван Петров", [("Петров", "Иван", "")]),
        ("Plato", [("Plato", "", "")]),
        ("Jane Doe et al.", [("Doe", "Jane", "")]),
        ("Jane Doe; Jane Doe", [("Doe", "Jane", "")]),
        ("", []),
        (" ,; ", []),
    ],
)
def test_names_as_pages_write_them(text, names):
    assert [(name.family, name.given, name.suffix) for name in parse_names(text)] == names


@pytest.mark.parametrize(
    ("given", "initials"),
    [
        ("Jane Q.", "J. Q."),
        ("Jean-Paul", "J.-P."),
        ("J.R.R.", "J. R. R."),
        ("Łukasz", "Ł."),
        ("太郎", "太郎"),
        ("", ""),
    ],
)
def test_initials(given, initials):
    assert to_initials(given) == initials


@pytest.mark.parametrize(
    ("text", "issued"),
    [
        ("2020", (2020,)),
        ("2020-03", (2020, 3)),
        ("2020-03-09T10:00:00+02:00", (2020, 3, 9)),
        ("2020/3/9", (2020, 3, 9)),
        ("March 9, 2020", (2020, 3, 9)),
        ("9 March 2020", (2020, 3, 9)),
        ("Mar 2020", (2020, 3)),
        ("Spring 2020", (2020,)),
        ("c. 1850", (1850,)),
        ("2020-13-45", (2020,)),
        ("3 days ago", ()),
        ("n.d.", ()),
        ("12345", ()),
        ("", ()),
    ],
)
def test_dates_are_as_exact_as_they_say(text, issued):
    assert parse_issued(text) == issued


def test_keys_are_latin_and_no_two_alike_in_any_order():
    same = [normalize(BibliographyEntry(title=title, authors=(Name("Müller", "A."),), issued=(2020,), url=f"https://x.example/{title}"))
            for title in ("Ärzte one", "Ärzte two", "Ärzte three")]  # fmt: skip

    keyed = assign_keys(same)

    assert [entry.key for entry in keyed] == ["muller2020arzte", "muller2020arztea", "muller2020arzteb"]
    assert keyed == assign_keys(same[::-1])
    assert make_key(BibliographyEntry(title="", authors=())) == "anon"
    assert make_key(BibliographyEntry(title="新しい", authors=(Name("山田", "太郎"),), issued=(2020,))).isascii()


def test_more_than_a_list_of_letters_of_equal_keys():
    entries = [BibliographyEntry(title="T", url=f"https://x.example/{at}") for at in range(30)]

    keys = [entry.key for entry in assign_keys(entries)]

    assert len(set(keys)) == 30
    assert {"anont", "anonta", "anontz", "anontz2", "anontz4"} <= set(keys)


# --- properties ---

_NASTY = st.sampled_from(
    ["}", "{", "\\", '"', "@article{x,", "\nTY  - JOUR", "\r\nER  - ", "%", "$x$", "~", "^", "#", "&", "_", "--", "---",
     "``", "''", "\\url{x}", "\\end{document}", "](http://evil.example)",
     "<script>", "&lt;b&gt;", "&amp;", " and ", ",",
     ";", "é", "ß", "中文", "\u202e", "\u2028", "\u0085", "a", " ", "?`", "!`", "<<", ">>", ",,", "\\'e", "AU  - X"]
)  # fmt: skip
_TEXT = st.one_of(st.text(max_size=30), st.lists(_NASTY, max_size=8).map("".join))
_NAMES = st.builds(Name, _TEXT, st.one_of(st.just(""), _TEXT), st.sampled_from(["", "Jr.", "III"]))
_ISSUED = st.sampled_from([(), (2020,), (1999, 12), (2001, 2, 3)])
_DASHES = st.lists(st.sampled_from([*"-–—−－‐ 12a"]), max_size=8).map("".join)
_ENTRIES = st.builds(
    BibliographyEntry,
    title=_TEXT,
    authors=st.lists(_NAMES, max_size=3).map(tuple),
    container=_TEXT,
    issued=_ISSUED,
    doi=st.sampled_from(["", "10.1000/abc", "10.1002/(sici)1097(1999)50:8<667::aid>3.0.co;2-s", "10.1000/a_b%c#d"]),
    url=st.sampled_from(["https://x.example/", "https://x.example/?a=1&copy=2_%20~b#c", "https://x.example/(a)"]),
    kind=st.sampled_from([kind for kind, row in KIND_TABLE.items() if "like" not in row]),
    publisher=_TEXT,
    volume=_TEXT,
    issue=_TEXT,
    pages=st.one_of(
        _TEXT, _DASHES, st.sampled_from(["12-15", "e123", "S1–S9", "1, 3-4", "1--2", "7−9", "3 -- - 5", "A-1–A-5"])
    ),
    isbn=st.sampled_from(["", "978-0-306-40615-7", "nonsense"]),
    editors=st.lists(_NAMES, max_size=2).map(tuple),
    place=_TEXT,
    edition=_TEXT,
    abstract=_TEXT,
    note=_TEXT,
    annote=_TEXT,
    keywords=st.lists(st.sampled_from(["otters", "rivers and lakes", "R&D", "100%"]), max_size=3).map(tuple),
).map(normalize)


_PEOPLE = st.lists(_NAMES, min_size=1, max_size=2).map(tuple)
_DATES = st.sampled_from(["", "2014-22", "1911/1975", "1590~", "-0379", "1999/..", "1256?"])
_WHOLE = (
    st.builds(
        lambda entry, dated, **more: replace(entry, **more, **({"issued": (), "dated": dated} if dated else {})),
        _ENTRIES,
        dated=_DATES,
        kind=st.sampled_from(list(KIND_TABLE)),
        translators=_PEOPLE,
        roles=_PEOPLE.map(lambda people: (("container-author", people), ("composer", people))),
        short_title=_TEXT,
        short_container=_TEXT,
        series=_TEXT,
        series_number=_TEXT,
        number=_TEXT,
        version=_TEXT,
        genre=_TEXT,
        event=_TEXT,
        accessed=st.sampled_from(["", "2024-02-03", "2024"]),
        issn=st.sampled_from(["", "1234-5678"]),
        pmid=st.sampled_from(["", "31234567"]),
        pmcid=st.sampled_from(["", "PMC7654321"]),
        arxiv=st.sampled_from(["", "1706.03762"]),
        language=st.sampled_from(["", "en", "de"]),
        more=_TEXT.map(lambda text: (("authority", text), ("original-date", "1859"), ("event-place", text))),
    )
    .map(normalize)
    .map(lambda entry: replace(entry, dated=entry.dated if entry.dated != to_iso(entry.issued) else ""))
)


# A line of one's own note that begins as a tag of RIS stands behind the line before it.
_TAG_AT_START = re.compile(r"^[A-Z][A-Z0-9]\s{0,4}-(?:\s|$)", re.MULTILINE)


@given(st.lists(_ENTRIES, min_size=1, max_size=3), st.sampled_from(["bibtex", "biblatex", "ris", "csl-json"]))
def test_what_is_written_is_read_back_unchanged(entries, style):
    text = render(entries, style)[0]

    found = parse_bibliography(text)

    assert found.format == READ_AS.get(style, style)
    assert found.problems == ()
    unique = {entry.url: entry for entry in entries[::-1]}
    expected = assign_keys(unique.values())
    assume(style != "ris" or not any(_TAG_AT_START.search(entry.annote) for entry in expected))
    assert list(map(_joined, found.entries)) == expected
    assert render(found.entries, style)[0] == text


@given(_WHOLE, st.sampled_from(["bibtex", "biblatex", "csl-json"]))
def test_three_formats_carry_all_of_an_entry(entry, style):
    entry = replace(entry, key="k", files=("a.pdf",) * (style != "csl-json"))
    # What is of no kind and has a number of arXiv is a preprint in BibTeX.
    assume(not (entry.arxiv and entry.kind in {"webpage", "document"}))

    [back] = parse_bibliography(render([entry], style)[0]).entries

    assert _joined(back) == replace(entry, **_first_day(entry))


@given(_WHOLE, st.sampled_from(STYLES[8:]))
def test_what_a_format_does_not_carry_is_found_and_is_nothing_else(entry, style):
    entry = replace(entry, key="k")
    text = render([entry], style)[0]

    lost = find_losses([entry], text, style)

    [back] = parse_bibliography(text, READ_AS.get(style, style), is_linked=False).entries
    for name in ("title", "publisher", "volume", "pages", "abstract", "edition"):
        is_kept = getattr(back, name) == getattr(entry, name)
        variable = {"pages": "page"}.get(name, name)
        assert is_kept == (variable not in lost) or not getattr(entry, name)


def _joined(entry):
    """An entry whose family names are not parted: BibTeX takes words in small letters for a particle."""
    plain = {name: _whole(getattr(entry, name)) for name in ("authors", "editors", "translators")}
    return replace(entry, **plain, roles=tuple((role, _whole(names)) for role, names in entry.roles))


def _whole(names):
    return tuple(replace(name, particle="") for name in names)


def _first_day(entry):
    """The day that a date in EDTF begins with, which is read out of it."""
    return {"issued": read_date(entry.dated)[0]} if entry.dated else {}


_ADDRESSES = st.lists(
    st.sampled_from([*"_%&#~$^<>\"'`-=,;:@()[]|\\é中a", "{", "}", "%20", "--", "``", "@misc{x,", "},", "\\url{"]),
    max_size=8,
).map(lambda parts: "https://x.example/" + "".join(parts))


@given(_ADDRESSES)
def test_whatever_stands_in_an_address_bibtex_says_it_verbatim_and_gives_it_back(url):
    encoded = url.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")

    text = render([BibliographyEntry(title="T", url=url, kind="webpage")], "bibtex")[0]
    found = parse_bibliography(text)

    assert f"  url = {{{encoded}}},\n" in text
    assert [entry.url for entry in found.entries] == [encoded]


@given(_ENTRIES)
def test_a_normal_entry_stays_as_it_is_and_reads_as_one_line(entry):
    assert normalize(entry) == entry
    for style in ("apa", "mla"):
        text = render([entry], style)[0]
        assert text == render([entry], style)[0]
        assert len(text.splitlines()) == 1
        assert "](" not in text


@given(_TEXT)
def test_a_clean_value_is_clean(text):
    value = clean(text)

    assert clean(value) == value
    assert len(value.splitlines()) <= 1


@given(
    st.lists(
        st.sampled_from(
            ["@", "article", "{", "}", "a,", "title=", '"', "#", "\n", "TY  - JOUR", "ER  - ", "[", "]", ":", ",", " "]
        )
    ).map("".join),
    st.sampled_from(["auto", "bibtex", "ris", "csl-json"]),
)
def test_any_document_is_read_or_refused(text, style):
    found = None
    with suppress(Fault):
        found = parse_bibliography(text, style)

    assert found is None or found.entries or found.problems


# --- what people write in BibTeX all the same -------------------------------------------------------------------------


def read_bibtex(text: str) -> dict[str, BibliographyEntry]:
    return {entry.key: entry for entry in parse_bibliography(text).entries}


def test_an_entry_has_what_the_volume_has_that_it_refers_to() -> None:
    found = read_bibtex(
        "@inproceedings{c, crossref={Proc}, author={Doe, Jane}, title={In the volume}, pages={1--2}}\n"
        "@inproceedings{d, crossref={proc}, title={With its own year}, year=1999}\n"
        "@inproceedings{e, crossref={nowhere}, title={Lost}}\n"
        "@inproceedings{f, crossref={f}, title={Its own}}\n"
        "@proceedings{proc, title={Proceedings of Otters}, year=2011, publisher={Otter Press}, doi={10.1000/volume}}"
    )

    assert (found["c"].container, found["c"].issued, found["c"].publisher) == (
        "Proceedings of Otters",
        (2011,),
        "Otter Press",
    )
    assert (found["c"].title, found["c"].doi, found["d"].issued) == ("In the volume", "", (1999,))
    assert (found["e"].container, found["f"].container) == ("", "")


def test_a_comma_that_somebody_forgot_ends_its_field_and_loses_nothing() -> None:
    found = read_bibtex('@article{a, author = {A. Doe}\n year = 2020\n title = "Otters" journal={Rivers}}')["a"]

    assert (found.authors, found.issued, found.title, found.container) == (
        (Name("Doe", "A."),),
        (2020,),
        "Otters",
        "Rivers",
    )


def test_a_comment_between_fields_is_no_field() -> None:
    found = read_bibtex("% of the list\n@article{a, % the first\n title = {Otters, 50%},  % to check\n year = 2020\n}")[
        "a"
    ]

    assert (found.title, found.issued) == ("Otters, 50%", (2020,))


def test_strings_are_made_of_strings() -> None:
    found = read_bibtex('@string{o = "Otter"} @string{p = o # " " # {Press}} @book{a, title={T}, publisher = p # "!"}')[
        "a"
    ]

    assert found.publisher == "Otter Press!"


def test_a_name_in_reading_order_has_its_particles() -> None:
    found = read_bibtex(
        "@article{a, title={T}, author={Charles Jean de la Vall{\\'e}e Poussin and Ludwig van Beethoven and Ann Bee}}"
    )["a"]

    assert found.authors == (
        Name("de la Vallée Poussin", "Charles Jean", particle="de la"),
        Name("van Beethoven", "Ludwig", particle="van"),
        Name("Bee", "Ann"),
    )


# --- read where it holds nobody up ---


MIXED = (
    "@article{a, title={Pfötchen 窯}, author={Otter, Ann and {Weir Press}}, year={2021}, doi={10.1234/a}}\n"
    "@book{b, title={Broken\n\n@misc{c, title={Three}}\n@misc{d, title={Four}}\n"
)
LIVE: Any = SimpleNamespace(is_live=True)


async def test_a_process_of_its_own_reads_the_same_entries_and_gives_the_same_faults() -> None:
    whole = parse_bibliography(MIXED)

    assert await read_document(LIVE, MIXED, "auto", most=10) == whole
    first = await read_document(LIVE, MIXED, "auto", most=1)
    assert (first.entries, first.problems, first.following) == (whole.entries[:1], whole.problems[:1], 2)
    assert (first.count, first.problem_count) == (len(whole.entries), len(whole.problems))
    assert await read_records_apart(LIVE, MIXED, "bibtex") == read_records(MIXED, "bibtex")
    with pytest.raises(Fault, match="the bibliography holds no entry in the format csl-json") as caught:
        await read_document(LIVE, "[]", "csl-json", most=10)
    assert caught.value.kind == "validation"


async def test_every_entry_that_cannot_be_read_is_told_in_one_part_of_a_long_list() -> None:
    context: Any = SimpleNamespace(is_live=False)
    document = "".join(f"@article{{a{at}, note={{nothing}}}}\n" for at in range(201)) + MIXED

    first = await gather(context, document, "auto", None, "")
    assert (len(first.items), len(first.problems), first.count, first.lost, first.following) == (0, 200, 3, 202, 200)
    second = await gather(context, document, "auto", None, "", 200)
    assert (len(second.items), len(second.problems), second.following) == (3, 2, None)
    assert [each.line for each in (*first.problems, *second.problems)] == [*range(1, 202), 203]
    assert [item.line for item in second.items] == [202, 205, 206]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 50])
def test_the_parts_of_a_document_are_the_whole_of_it(most: int) -> None:
    whole = parse_bibliography("".join(MIXED + f"@misc{{x{at}, note={{nothing}}}}\n" * (at % 3) for at in range(12)))
    entries: list[Any] = []
    problems: list[Any] = []
    begin: int | None = 0
    while begin is not None:
        part = whole.part(begin, most)
        assert len(part.entries) == len(part.places) <= most
        assert len(part.problems) <= most
        entries += zip(part.places, part.entries, strict=True)
        problems += part.problems
        assert part.following is None or part.following > begin
        begin = part.following

    assert entries == list(zip(whole.places, whole.entries, strict=True))
    assert problems == list(whole.problems)


def test_a_list_is_parted_at_numbers_of_more_than_four_digits() -> None:
    text = "".join(
        f"[{at}] Otter, A. (2021). Otters {at}. Journal of Otters, 1(2), 3-4.\n" for at in range(9997, 10004)
    )

    assert parse_bibliography(text).count == 7
    assert parse_bibliography(text.replace("\n", " ")).count == 7


async def test_other_calls_go_on_while_a_hostile_document_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "SECONDS", 1.0)
    reading = asyncio.create_task(read_document(LIVE, "@article{a," + "@a{" * 4000, "bibtex", most=10))
    longest = 0.0
    while not reading.done():
        began = time.thread_time()
        await asyncio.sleep(0.01)
        longest = max(longest, time.thread_time() - began)

    assert longest < 0.5, "the loop stood still"
    assert isinstance(reading.exception(), Fault | None)


async def test_many_sources_are_formatted_as_few_are() -> None:
    sources = [{"title": f"Otters {at}", "author": "Otter, Ann", "url": f"https://a.example/{at}"} for at in range(200)]
    session: Any = SimpleNamespace(is_live=True, now=lambda: 0.0)
    offline: Any = SimpleNamespace(is_live=False, now=lambda: 0.0)

    formatted = await format_sources(session, "apa", [*sources, {"site": "Nowhere"}], "")

    assert formatted == await format_sources(offline, "apa", [*sources, {"site": "Nowhere"}], "")
    assert (formatted.entry_count, formatted.skipped) == (200, 1)


@pytest.mark.parametrize("part", ['"', "-", "<!--a", "\n", " \n", "@", "@a{", "=", ",%", "{", "TY  - "])
def test_a_document_of_signs_alone_is_read_in_linear_time(part: str) -> None:
    text = part * (128_000 // len(part))
    began = time.process_time()

    for name in ("auto", "bibtex", "ris"):
        with suppress(Fault):
            parse_bibliography(text, name)

    assert time.process_time() - began < 10
