"""References in every usual style: invented authors and years beside a real title are told, and real ones are not."""

from __future__ import annotations

import time

import pytest

from specloom.domains.text.people import Name, same_person
from specloom.domains.trust.citations.match import WorkRecord, match_text
from specloom.domains.trust.citations.reference import parse_reference

TITLE = "Winter swimming of river otters under closed ice"
RECORD = WorkRecord(
    titles=(TITLE,),
    authors=(Name("Berg", "Karin"), Name("Lindqvist", "Xaver"), Name("Okafor", "Sade")),
    years=(2016,),
    venues=("Journal of Otter Research",),
)
# The authors of the record stand in each; the invented ones take their places below.
STYLES = {
    "APA": "Berg, K., Lindqvist, X., & Okafor, S. (2016). {title}. Journal of Otter Research, 12(3), 770–778.",
    "MLA": 'Berg, Karin, et al. "{title}." Journal of Otter Research, vol. 12, 2016, pp. 770–78.',
    "Chicago": 'Berg, Karin, Xaver Lindqvist, and Sade Okafor. 2016. "{title}." Journal of Otter Research 12:770–78.',
    "a note in Chicago": '12. Karin Berg and Xaver Lindqvist, "{title}," Journal of Otter Research 12 (2016): 770.',
    "IEEE": '[12] K. Berg, X. Lindqvist, and S. Okafor, "{title}," J. Otter Res., vol. 12, pp. 770–778, 2016.',
    "Vancouver": "12. Berg K, Lindqvist X, Okafor S. {title}. J Otter Res. 2016;12(3):770-8.",
    "Vancouver with others": "(3) Berg K, Lindqvist X, et al. {title}. J Otter Res. 2016;12(3):770-8.",
    "GB/T 7714": "[1] BERG K, LINDQVIST X, OKAFOR S, et al. {title}[J]. Otter Research, 2016, 12(3): 770-778.",
    "a conference in GB/T 7714": "[1] BERG K, LINDQVIST X. {title}[C]//Proceedings of Otters. 2016: 770-778.",
    "Bluebook": "Karin Berg, {title}, 29 Otter L. Rev. 770 (2016)",
    "Bluebook with two": "Karin Berg & Xaver Lindqvist, {title}, 29 Otter L. Rev. 770, 772 (2016).",
    "a numbered list": "1) Berg, K. et al. {title}. Journal of Otter Research (2016).",
    "Harvard": "Berg K., Lindqvist X., 2016, {title}, Journal of Otter Research",
    "Harvard with and": "Berg, K. and Lindqvist, X., 2016. {title}. Journal of Otter Research, 12(3), pp.1-9.",
    "ISO 690": "BERG, Karin; LINDQVIST, Xaver; OKAFOR, Sade. {title}. Journal of Otter Research. 2016, 12(3), 770-778.",
    "a list with a year": "Berg K, et al. (2016) {title}. Journal of Otter Research.",
    "family names alone": "Berg, Lindqvist & Okafor, 2016, {title}, J. Otter Res. 12, 770–778",
    "a list with dashes": "• Berg et al. 2016 – {title}",
    "chemists": "Berg, K.; Lindqvist, X. {title}. J. Otter Res. 2016, 12, 770–778.",
    "naturalists": "Berg, K., Lindqvist, X. & Okafor, S. {title}. J. Otter Res. 12, 770–778 (2016).",
    "whole names": "Karin Berg, Xaver Lindqvist. {title}. Journal of Otter Research, 2016.",
    "whole names and a year": "Karin Berg and Xaver Lindqvist (2016). {title}. Journal of Otter Research.",
}
INVENTED = {"Berg": "Smith", "BERG": "SMITH", "Lindqvist": "Doe", "LINDQVIST": "DOE", "Okafor": "Roe", "OKAFOR": "ROE"}


@pytest.mark.parametrize("style", STYLES)
def test_a_reference_that_is_right_is_confirmed(style: str) -> None:
    match = match_text(STYLES[style].format(title=TITLE), RECORD)

    assert (match.confidence, match.authors.verdict, match.year.verdict) == ("high", "match", "match")


@pytest.mark.parametrize("style", STYLES)
def test_invented_authors_beside_a_real_title_are_told_and_confirm_nothing(style: str) -> None:
    text = STYLES[style]
    for real, invented in INVENTED.items():
        text = text.replace(real, invented)

    match = match_text(text.format(title=TITLE), RECORD)

    assert (match.title.verdict, match.authors.verdict, match.confidence) == ("match", "mismatch", "medium")


@pytest.mark.parametrize("style", STYLES)
def test_an_invented_year_beside_a_real_title_confirms_nothing(style: str) -> None:
    match = match_text(STYLES[style].format(title=TITLE).replace("2016", "2003"), RECORD)

    assert (match.year.verdict, match.confidence) == ("mismatch", "medium")


CHINESE = WorkRecord(
    titles=("水獭在冰下游泳的研究",),
    authors=(Name("张", "伟"), Name("王", "小明")),
    years=(2019,),
    venues=("动物学报",),
)


@pytest.mark.parametrize(
    ("text", "authors"),
    [
        ("[3] 张伟, 王小明. 水獭在冰下游泳的研究[J]. 动物学报, 2019, 42(5): 1-12.", "match"),
        ("张伟，王小明，等．水獭在冰下游泳的研究［J］．动物学报，2019，42（5）：1－12．", "match"),
        ("[3] 李娜. 水獭在冰下游泳的研究[J]. 动物学报, 2019.", "mismatch"),
    ],
)
def test_a_chinese_reference_is_read_by_its_mark_of_kind(text: str, authors: str) -> None:
    match = match_text(text, CHINESE)

    assert (match.title.verdict, match.authors.verdict, match.year.verdict) == ("match", authors, "match")
    assert match.confidence == ("high" if authors == "match" else "medium")


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (Name("张伟"), Name("张", "伟"), True),
        (Name("张伟"), Name("張", "偉"), True),
        (Name("夏目漱石"), Name("夏目", "漱石"), True),
        (Name("张伟"), Name("Zhang", "Wei"), True),
        (Name("张"), Name("张", "伟"), True),
        (Name("张伟"), Name("张", "三"), False),
        (Name("李娜"), Name("张", "伟"), False),
    ],
)
def test_a_chinese_name_is_one_whether_or_not_it_is_parted(one: Name, two: Name, same: bool) -> None:
    assert same_person(one, two) is same
    assert same_person(two, one) is same


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("[1] Otters swim under the ice of rivers", ""),
        ("2001: A Space Odyssey and the otters of the moon", ""),
        ("12 Angry Otters Under the Ice of the River", ""),
    ],
)
def test_a_number_in_front_is_no_part_of_the_words_and_a_title_may_begin_with_one(text: str, title: str) -> None:
    found = parse_reference(text)

    assert found.title == title
    assert found.text == text.removeprefix("[1] ")


def test_a_short_title_is_parted_from_the_venue_behind_a_comma() -> None:
    found = parse_reference("Berg & Lindqvist, 2015, Deep rivers, Nature 521, 436-444")

    assert (found.title, found.venue, found.years) == ("Deep rivers", "Nature", (2015,))


@pytest.mark.parametrize(
    ("first", "next_author"),
    [
        ("Aé-aA é", ", Aé Aé é"),
        ("Aé, É", "; and Aé, ÉÉ"),
        ("Doe J.", ", and Doe J."),
        ("Doe, J", ", Éé A É"),
        ("É. é é", " and É. é é"),
        ("É, é.", " É é, é."),
    ],
)
def test_a_list_of_authors_that_can_be_read_in_many_ways_is_read_in_linear_time(first: str, next_author: str) -> None:
    # Each of these doubled the time with every author; forty would take longer than the machine lasts.
    began = time.process_time()

    for times in (40, 2_000):
        parse_reference(first + next_author * times)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("authors", "families"),
    [
        ("Berg, K., and Lindqvist, X., and Okafor, S.", ("Berg", "Lindqvist", "Okafor")),
        ("Berg, K O'Neil, X.", ("Berg", "O'Neil")),
        ("ÉLIE, K. ÉLI, X. R.", ("ÉLIE", "ÉLI")),
        ("J. R. Berg and É. A. Lindqvist", ("Berg", "Lindqvist")),
    ],
)
def test_each_author_of_a_list_is_one_name(authors: str, families: tuple[str, ...]) -> None:
    reference = parse_reference(f'{authors} "{TITLE}", Journal of Otter Research, 2016.')

    assert tuple(name.family for name in reference.authors) == families
