"""Identifiers: one normal form for every way to write one, and nothing for what only looks like one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.doi import find_doi, to_doi
from specloom.domains.text.identifiers import (
    KINDS,
    detect,
    find_decided,
    find_flaw,
    find_identifiers,
    find_parties,
    to_address,
    to_arxiv_doi,
    to_isbn13,
)

SICI = "10.1002/(sici)1097-4571(199906)50:8<667::aid-asi6>3.0.co;2-s"

DOIS = [
    ("10.1038/nature12373", "10.1038/nature12373"),
    ("DOI: 10.1038/NATURE12373.", "10.1038/nature12373"),
    ("doi10.1038/nature12373", "10.1038/nature12373"),
    ("(https://doi.org/10.1000/182).", "10.1000/182"),
    ("http://dx.doi.org/10.1000/182", "10.1000/182"),
    ("doi:10.1000/1", "10.1000/1"),
    ("[10.1000/a[b]c]", "10.1000/a[b]c"),
    ("Title (10.1016/S0140-6736(97)11096-0), 1998", "10.1016/s0140-6736(97)11096-0"),
    ("10.1000/a(b)", "10.1000/a(b)"),
    ("(10.1000/a(b))", "10.1000/a(b)"),
    ("<i>10.1000/xyz</i>", "10.1000/xyz"),
    ("https://doi.org/10.1002/(SICI)1097-4571(199906)50:8<667::AID-ASI6>3.0.CO;2-S", SICI),
    ("https://w.example/doi/abs/10.1002/(SICI)1097-4571(199906)50:8%3C667::AID-ASI6%3E3.0.CO;2-S", SICI),
    ("https://j.example/articles/10.3389/fpsyg.2020.00001/full", "10.3389/fpsyg.2020.00001"),
    ("https://j.example/doi/full/10.1080/1.2#abstract", "10.1080/1.2"),
    ("https://j.example/doi/10.1002/x.1/full/pdf", "10.1002/x.1"),
    ("https://j.example/article?id=10.1371/journal.pone.0000001&type=printable", "10.1371/journal.pone.0000001"),
    ("https://s.example/content/pdf/10.1007/s11192-020-03690-4.pdf", "10.1007/s11192-020-03690-4"),
    ("https://www.biorxiv.org/content/10.1101/2020.01.30.927871v1.full.pdf", "10.1101/2020.01.30.927871"),
    ("https://www.medrxiv.org/content/10.1101/2020.01.30.20019844v4", "10.1101/2020.01.30.20019844"),
    ("https://doi.org/10.1000/a/full", "10.1000/a/full"),
    ("10.48550/arXiv.1706.03762", "10.48550/arxiv.1706.03762"),
    ("Quantum gravity of black holes 10.1000/p0", "10.1000/p0"),
    ("as in 10.1000/12, and elsewhere", "10.1000/12"),
]


@pytest.mark.parametrize(("text", "doi"), DOIS)
def test_a_doi_is_found_whole_and_cut_where_it_ends(text, doi):
    assert find_doi(text) == doi
    assert detect(text).input_type == "doi"


@pytest.mark.parametrize(
    "text",
    [
        "10.1038",
        "10.1038/",
        "10.1038/...",
        "1.10.1234/abc",
        "v10.1234/abc",
        "10.123/abc",
        "on 10.2020/11",
        "on 10.1999/1",
        "10.1234/5 of it",
        "10,1234/abc",
        "192.168.10.1000/24",
        "",
    ],
)
def test_what_is_no_doi_is_none(text):
    assert find_doi(text) == ""


def test_a_list_of_dois_is_parted():
    found = find_identifiers("10.1000/abc;10.1000/def, 10.1000/ghi and 10.1000/abc")

    assert [each.value for each in found] == ["10.1000/abc", "10.1000/def", "10.1000/ghi"]


@pytest.mark.parametrize("text", ["10.1000/ABC", " doi:10.1000/abc ", "https://doi.org/10.1000/abc", "DOI 10.1000/abc"])
def test_a_field_that_is_a_doi_has_a_normal_form(text):
    assert to_doi(text) == "10.1000/abc"


@pytest.mark.parametrize("text", ["", "n/a", "see 10.1000/abc", "10.1000"])
def test_a_field_that_is_none_has_not(text):
    assert to_doi(text) == ""


OTHERS = [
    ("PMID: 9500320", "pmid", "9500320"),
    ("PubMed ID 9500320", "pmid", "9500320"),
    ("https://pubmed.ncbi.nlm.nih.gov/9500320/", "pmid", "9500320"),
    ("https://www.ncbi.nlm.nih.gov/pubmed/9500320", "pmid", "9500320"),
    ("PMC3737249", "pmcid", "PMC3737249"),
    ("PMCID: PMC3737249.1", "pmcid", "PMC3737249"),
    ("https://pmc.ncbi.nlm.nih.gov/articles/PMC3737249/", "pmcid", "PMC3737249"),
    ("arXiv:1706.03762v5 [cs.CL]", "arxiv", "1706.03762"),
    ("arXiv preprint arXiv:0704.0001", "arxiv", "0704.0001"),
    ("1706.03762", "arxiv", "1706.03762"),
    ("https://arxiv.org/abs/1706.03762v1", "arxiv", "1706.03762"),
    ("https://arxiv.org/pdf/1706.03762.pdf", "arxiv", "1706.03762"),
    ("hep-th/9901001", "arxiv", "hep-th/9901001"),
    ("arXiv:math.GT/0309136", "arxiv", "math/0309136"),
    ("https://arxiv.org/abs/math.GT/0309136v1", "arxiv", "math/0309136"),
    ("ISBN 0-306-40615-2", "isbn", "9780306406157"),
    ("ISBN-13: 978-0-306-40615-7", "isbn", "9780306406157"),
    ("isbn 9780306406157 (hbk)", "isbn", "9780306406157"),
    ("ISBN 080442957X", "isbn", "9780804429573"),
    ("978-0-306-40615-7", "isbn", "9780306406157"),
    ("9780306406157", "isbn", "9780306406157"),
    ("RFC 9110", "rfc", "9110"),
    ("rfc2119", "rfc", "2119"),
    ("https://www.rfc-editor.org/rfc/rfc9110.html#name-get", "rfc", "9110"),
    ("https://datatracker.ietf.org/doc/html/rfc9110", "rfc", "9110"),
    ("NCT04280705", "nct", "NCT04280705"),
    ("https://orcid.org/0000-0002-1825-0097", "orcid", "0000-0002-1825-0097"),
    ("0000-0002-1694-233X", "orcid", "0000-0002-1694-233X"),
    ("US 7,654,321 B2", "patent", "US7654321B2"),
    ("U.S. Patent No. 7,654,321", "patent", "US7654321"),
    ("United States patent US 7,654,321. 1983 Sep 20.", "patent", "US7654321"),
    ("Patent US7654321", "patent", "US7654321"),
    ("Patent US 7,654,321 B2", "patent", "US7654321B2"),
    ("US patent application 2020/0012345", "patent", "US20200012345"),
    ("EP1234567A1", "patent", "EP1234567A1"),
    ("EP 1 234 567 B1", "patent", "EP1234567B1"),
    ("WO 2020/123456 A1", "patent", "WO2020123456A1"),
    ("https://patents.google.com/patent/US7654321B2/en", "patent", "US7654321B2"),
    ("Roe v. Wade, 410 U.S. 113 (1973)", "case", "410 U.S. 113"),
    ("132 S.Ct. 945 (2012)", "case", "132 S. Ct. 945"),
    ("163 F. 3d 952, 955-56 (5th Cir. 1998)", "case", "163 F.3d 952"),
    ("21 F.4th 1 (1st Cir. 2021)", "case", "21 F.4th 1"),
    ("60 Cal.App.4th 1 (1997)", "case", "60 Cal. App. 4th 1"),
    ("Hadley v. Baxendale, 12 P. 345 (Cal. 1887)", "case", "12 P. 345"),
    ("2019 WL 1234567", "case", "2019 WL 1234567"),
    ("[2019] UKSC 41", "case", "[2019] UKSC 41"),
    ("ECLI:EU:C:2014:317", "case", "ECLI:EU:C:2014:317"),
    ("https://news.example/2020/a?b=c", "url", "https://news.example/2020/a?b=c"),
]


@pytest.mark.parametrize(("text", "kind", "value"), OTHERS)
def test_an_identifier_has_one_normal_form(text, kind, value):
    found = detect(text).identifier

    assert found is not None
    assert (found.kind, found.value) == (kind, value)


@pytest.mark.parametrize(
    "text",
    [
        "12345678",
        "PMID: 0",
        "PMID 123456789012",
        "PMC12",
        "PMCX123456",
        "section 1706.03762 of it",
        "arXiv:1713.00001",
        "arXiv:0703.0001",
        "arXiv:1501.0001",
        "arXiv:1412.00001",
        "hep-th/9913001",
        "hep-th/5001001",
        "foo/9901001",
        "0306406152",
        "call 555-123-4567 or 0800 12 34 56 7",
        "1234-5678-9012-3456",
        "RFC 1.2",
        "RFCs",
        "NCT1234567",
        "0000-0002-1825-0098",
        "US 2020 elections",
        "CA 90210",
        "IN 1990 A 1",
        "DE 1234 A1",
        "5 A. 3",
        "he has 3 P. 2",
        "5 US 3",
        "10 How. 5",
        "chapter 4 So. 2",
        "Vaswani et al. Attention is all you need. 2017.",
        "https://",
        "",
    ],
)
def test_a_near_miss_is_plain_text(text):
    found = detect(text)

    assert found.identifiers == ()
    assert found.input_type == "reference"


@pytest.mark.parametrize(
    ("text", "value", "flaw"),
    [
        ("ISBN 0-306-40615-3", "0306406153", "wrong check digit (the others ask for 2)"),
        ("ISBN 080442957-1", "0804429571", "wrong check digit (the others ask for X)"),
        ("ISBN 9780306406158", "9780306406158", "wrong check digit (the others ask for 7)"),
        ("ISBN 978030640615X", "978030640615X", "wrong check digit (the others ask for 7)"),
        ("ISBN 977-0-306-40615-8", "9770306406158", "has 977 in front"),
        ("ISBN 979-0-2600-0043-8", "9790260000438", "kept for printed music"),
        ("ISBN 0000000000", "0000000000", "is all zeros"),
    ],
)
def test_what_is_called_an_isbn_and_can_be_none_says_why(text, value, flaw):
    found = detect(f"A book. {text}").identifier

    assert found is not None
    assert (found.kind, found.value) == ("isbn", value)
    assert flaw in found.flaw
    assert detect(text.removeprefix("ISBN ")).identifiers == (), "digits alone are only a number"


def test_a_number_that_is_right_goes_before_one_that_is_wrong_and_that_before_an_address():
    both = detect("ISBN 0-306-40615-3, ISBN 978-0-306-40615-7, https://x.example/a").identifier
    wrong = detect("See https://x.example/a, ISBN 0-306-40615-3").identifier

    assert both is not None
    assert (both.value, both.flaw) == ("9780306406157", "")
    assert wrong is not None
    assert wrong.kind == "isbn"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Attention is all you need. doi:10.1000/abc.", "Attention is all you need"),
        ("Rain (https://doi.org/10.1000/abc)", "Rain"),
        ("Rain. arXiv:1706.03762. 2017", "Rain. . 2017"),
        ("Roe v. Wade, 410 U.S. 113 (1973)", "Roe v. Wade"),
        ("10.1000/abc", ""),
        ("https://j.example/articles/10.3389/fpsyg.2020.00001/full", ""),
    ],
)
def test_the_words_around_identifiers_are_what_is_left(text, rest):
    assert detect(text).rest == rest


def test_a_doi_goes_before_everything_else_and_digits_inside_it_are_nothing_else():
    found = detect("https://arxiv.org/abs/1706.03762 doi:10.1000/978-0-306-40615-7")

    assert found.identifier is not None
    assert found.identifier.value == "10.1000/978-0-306-40615-7"
    assert [each.kind for each in found.identifiers] == ["url", "arxiv", "doi"]


def test_an_address_of_a_registry_is_an_address_with_a_better_name():
    found = detect("https://pubmed.ncbi.nlm.nih.gov/9500320/")

    assert found.input_type == "url"
    assert [each.kind for each in found.identifiers] == ["url", "pmid"]


@pytest.mark.parametrize(("text", "kind", "value"), [each for each in OTHERS if each[1] not in ("case", "isbn", "url")])
def test_an_address_leads_back_to_its_identifier(text, kind, value):
    found = detect(text).identifier

    assert found is not None
    again = [(each.kind, each.value) for each in find_identifiers(to_address(found.kind, found.value))]
    assert (kind, value) in again or kind in ("rfc", "patent")
    assert to_address(found.kind, found.value).startswith("https://")


def test_the_doi_of_an_arxiv_paper():
    assert find_doi(to_arxiv_doi("hep-th/9901001")) == "10.48550/arxiv.hep-th/9901001"


@pytest.mark.parametrize(
    ("text", "parties"),
    [
        ("See Roe v. Wade, 410 U.S. 113", "Roe v. Wade"),
        ("Brown v. Board of Education, 347 U.S. 483 (1954)", "Brown v. Board of Education"),
        ("In re Gault, 387 U.S. 1 (1967)", "In re Gault"),
        ("347 U.S. 483", ""),
    ],
)
def test_the_parties_of_a_case(text, parties):
    assert find_parties(text) == parties


def _isbn10(digits: str) -> str:
    check = -sum((10 - at) * int(digit) for at, digit in enumerate(digits)) % 11
    return digits + ("X" if check == 10 else str(check))


@given(st.text("0123456789", min_size=9, max_size=9).filter(lambda digits: digits != "0" * 9), st.integers(0, 9))
def test_a_right_check_digit_is_an_isbn_and_any_other_is_not(digits, at):
    right = _isbn10(digits)
    wrong = right[:-1] + str((int(right[-1]) + 1) % 10 if right[-1] != "X" else at)

    normal = to_isbn13(right)
    assert normal.startswith("978" + digits)
    assert to_isbn13(normal) == normal
    assert to_isbn13(wrong) == ""
    assert find_flaw(right) == find_flaw(normal) == ""
    assert f"the others ask for {right[-1]}" in find_flaw(wrong)


_SUFFIX = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-_()/", min_size=3, max_size=30).filter(
    lambda text: text[0].isalnum() and text[-1].isalnum() and text.count("(") == text.count(")")
)


@given(
    _SUFFIX,
    st.sampled_from(["{}", "({})", "doi:{}.", "see {}, p. 2", '"{}"', "https://doi.org/{} ok", "{};", "**{}**"]),
)
def test_a_doi_is_the_same_in_any_sentence(suffix, sentence):
    assert find_doi(sentence.format(f"10.12345/{suffix}")) == f"10.12345/{suffix}"


@given(st.text("0123456789 .,-", max_size=40).filter(lambda text: "10." not in text))
def test_numbers_alone_are_no_citation_in_prose(text):
    found = find_identifiers(f"about {text} of them")

    assert [each for each in found if each.kind not in ("isbn", "orcid")] == []


_PIECES = st.sampled_from(
    ["10.1000/", "abc", "doi:", "https://", "arxiv.org/abs/", "1706.03762", "ISBN ", "978-0-306-40615-7", "RFC ",
     "9110", "410 U.S. 113", " ", ".", "(", ")", "<", ">", "%3C", "PMC", "123456", "US ", "7,654,321", " B2"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_any_text_has_identifiers_that_stand_in_it(text):
    found = detect(text)

    assert found == detect(text)
    assert len(found.rest) <= len(text) + 1
    for each in found.identifiers:
        assert each.kind in KINDS
        assert each.value
        assert each.text in text


@pytest.mark.parametrize("piece", ["10.1000/", "A ", "v. A ", "978-", "1 ", "https://", "<", "US 1,", "a;10.1000/b"])
def test_long_repetitions_take_no_time_to_speak_of(piece):
    # Ten thousand characters; a pattern that goes back and forth would not return.
    text = piece * (10_000 // len(piece))

    assert detect(text) == detect(text)
    assert find_parties(text) == find_parties(text)


@pytest.mark.parametrize(
    "text",
    [
        "U.S. design patent application" + " " * 9_900,
        "PubMed ID" + " " * 9_900,
        "arXiv preprint" + " " * 9_900,
        "ISBN" + " " * 9_900,
        "PMID1." * 1_600,
        "A" * 9_900,
        "Roe " * 2_400,
    ],
)
def test_what_begins_like_an_identifier_and_goes_on_like_none_is_read_in_linear_time(text: str) -> None:
    began = time.process_time()

    detect(text)
    find_parties(text)

    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("Otter v. Weir, 410 U.S. 113 (1973).", 1973),
        ("Otter v. Weir, 410 U.S. 113, 120–21 (1973), overruled by Otter v. Mink (2022).", 1973),
        ("Otter v. Weir, 410 U.S. 113, 93 S. Ct. 705, 35 L. Ed. 2d 147 (1973)", 1973),
        ("Otter v. Weir, 12 F.3d 45 (9th Cir. 2004)", 2004),
        ("People v. Otter (2022) 14 Cal.5th 1.", 2022),
        ("Otter v. Weir, 5 U.S. (1 Cranch) 137 (1803)", 1803),
        ("Otter v. Weir, 410 U.S. 113; cf. Otter v. Mink (2022)", None),
        ("Otter v. Weir, 410 U.S. 113", None),
    ],
)
def test_the_year_of_a_decision_stands_in_its_brackets(text, year):
    case = detect(text).identifier

    assert case is not None
    assert case.kind == "case"
    assert find_decided(text, case) == year
