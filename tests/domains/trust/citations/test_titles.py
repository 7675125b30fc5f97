"""Titles of one work and titles of two: what is laid beside each other word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.people import Name
from specloom.domains.trust.citations.match import WorkRecord, match_fields, match_text
from specloom.domains.trust.citations.titles import (
    count_slips,
    cut_page_title,
    find_inside,
    find_sameness,
    is_called_retracted,
    is_other_work,
    to_words,
)

TWO_WORKS = [
    ("Management of hyperthyroidism in pregnancy", "Management of hypothyroidism in pregnancy"),
    ("Adsorption of carbon dioxide on zeolites", "Absorption of carbon dioxide on zeolites"),
    ("Nitrite in drinking water and thyroid cancer", "Nitrate in drinking water and thyroid cancer"),
    ("Causal inference in hospital data of children", "Casual inference in hospital data of children"),
    ("Effects of caffeine on sleep in men: a trial", "Effects of caffeine on sleep in women: a trial"),
    ("Trends in obesity among children in the United States", "Trends in obesity among adults in the United States"),
    ("Increased mortality after hip surgery in adults", "Decreased mortality after hip surgery in adults"),
    ("Northern otters and their habitats in winter", "Southern otters and their habitats in winter"),
    ("Low-fat diet and weight loss among adults", "High-fat diet and weight loss among adults"),
    ("Growth of cells in vitro and in culture dishes", "Growth of cells in vivo and in culture dishes"),
    ("Safety of the mRNA vaccine in adolescents", "Safety of the mRNA vaccine"),
    ("Hepatitis B vaccination in infants and newborns", "Hepatitis C vaccination in infants and newborns"),
    ("Influenza A virus infection in pigs", "Influenza B virus infection in pigs"),
    ("Influenza A virus infection in wild pigs", "Influenza virus infection in wild piggs"),
    ("Chemistry of group X elements", "Chemistry of group V elements"),
    ("Bipolar I disorder treatment guidelines", "Bipolar II disorder treatment guidelines"),
    ("The impact of inflation on growth and trade", "The impact of growth on inflation and trade"),
    ("Effects of otters on rivers II", "Effects of otters on rivers"),
    ("Effects of otters on rivers: part 2", "Effects of otters on rivers"),
    ("Effects of otters on rivers: a reply", "Effects of otters on rivers"),
    ("Effects of otters on rivers: response to Weir", "Effects of otters on rivers"),
    ("Effects of otters on rivers: study protocol for a trial", "Effects of otters on rivers"),
    ("Correction to: Effects of otters on rivers", "Effects of otters on rivers"),
    ("Loci of schizophrenia: 108 of them", "Loci of schizophrenia: 180 of them"),
    ("How most published findings are false", "Why most published findings are false"),
    ("Outcomes before surgery of the hip", "Outcomes after surgery of the hip"),
    ("Deep learning networks", "Dеep learning networks"),  # the first e of the second is Cyrillic
]
ONE_WORK = [
    ("Color vision", "Colour vision"),
    ("Uber die Grundlagen der Geometrie", "Über die Grundlagen der Geometrie"),
    ("Ueber die Grundlagen der Geometrie", "Über die Grundlagen der Geometrie"),
    ("Effect of otter on the rivers of Norway", "Effects of otters on rivers of Norway"),
    ("Don Quijote de la Mancha", "Don Quixote de la Mancha"),
    ("Habittats of otters on rivers", "Habitats of otters on rivers"),
    ("A method for public key cryptosytems", "A method for public-key cryptosystems"),
    ("Non linear modelling of behaviour in rats", "Nonlinear modeling of behavior in rats"),
    ("Computing machinery and intelligence", "I.—COMPUTING MACHINERY AND INTELLIGENCE"),
    ("Elements of information theory (2nd ed.)", "Elements of Information Theory"),
    ("Elements of information theory, second edition", "Elements of Information Theory"),
    ("Effects of otters on rivers [PDF]", "Effects of otters on rivers"),
    ("Effects of otters on rivers (Retracted)", "[Retracted] Effects of otters on rivers"),
    ("Formally undecidable propositions of Principia", "Formally undecidable propositions of Principia I"),
    ("Deep\u200b learning networks", "Deep learning networks"),
]


@pytest.mark.parametrize(("supplied", "recorded"), TWO_WORKS)
def test_what_one_word_parts_are_two_works(supplied: str, recorded: str) -> None:
    assert find_sameness(supplied, recorded) is None
    assert find_sameness(recorded, supplied) is None
    assert match_fields(WorkRecord(titles=(recorded,)), title=supplied).confidence != "high"


@pytest.mark.parametrize(("supplied", "recorded"), ONE_WORK)
def test_spelling_slips_and_marks_part_no_work(supplied: str, recorded: str) -> None:
    for one, two in ((supplied, recorded), (recorded, supplied)):
        found = find_sameness(one, two)
        assert found is not None
        assert found.whole


def test_a_title_without_its_subtitle_needs_another_field_to_be_certain() -> None:
    record = WorkRecord(
        titles=("The Strength of Weak Ties: A Network Theory Revisited",), authors=(Name("Granovetter", "Mark"),)
    )

    alone = match_fields(record, title="The strength of weak ties")
    signed = match_fields(record, title="The strength of weak ties", authors=[Name("Granovetter", "M.")])

    assert (alone.title.verdict, alone.title.partial, alone.confidence) == ("match", True, "medium")
    assert signed.confidence == "high"


@pytest.mark.parametrize(
    "text",
    [
        "Reply to: How otters swim under winter ice",
        "A comment on 'How otters swim under winter ice': why it fails",
        'Weir, B. A reply to "How otters swim under winter ice." J. Otters, 2021.',
        "Beyond how otters swim under winter ice: a sequel",
        "How otters swim under winter ice in Norway",
        "How otters swim under winter ice-free rivers",
        "Non-how otters swim under winter ice",
        "How otters swim under winter ice: a rebuttal",
    ],
)
def test_a_title_inside_another_is_not_found(text: str) -> None:
    assert find_inside(text, ["How otters swim under winter ice"]) == ""
    assert match_text(text, WorkRecord(titles=("How otters swim under winter ice",))).confidence != "high"


@pytest.mark.parametrize(
    "text",
    [
        "see: How otters swim under winter ice (2020)",
        "Otter and Weir, How otters swim under winter ice, J. Otters 2020",
        "“How otters swim under winter ice” tells more",
        "Otter How otters swim under winter ice Journal",
        "2020 How otters swim under winter ice 2020",
        "the paper How otters swim under winter ice",
        "How otters swim under winter ice: all of it",
    ],
)
def test_a_title_that_stands_for_itself_is_found(text: str) -> None:
    around = ["Otter", "Journal of Otters"]

    assert find_inside(text, ["RETRACTED: How otters swim under winter ice"], around) != ""


def test_what_is_written_about_a_work_is_told() -> None:
    said = ["Reply", "a response to Weir", "Authors' reply", "Corrigendum", "Part II", "vol. 3", "study protocol", "2"]

    assert all(map(is_other_work, said))
    assert not any(map(is_other_work, ["", "a dose response study", "the corrections officer", "partial results"]))


def test_words_of_weight_are_laid_side_by_side() -> None:
    assert to_words("The vitamin D of a river") == ["vitamin", "d", "river"]
    assert count_slips("Otters of the river", "The otters, of a river") == 0
    assert count_slips("Habitat of otters", "Habbitat of otters") == 1
    assert count_slips("Habitat of otters", "Rivers of otters") is None
    assert count_slips("Habittat, riverbanks, wintering", "Habitat, rivarbanks, winterring otters") is None
    assert count_slips("Habittat riverbamks wonderings", "Habitat riverbanks wanderings") is None
    assert count_slips("Habittat riverbamks wanderrers", "Habitat riverbanks wanderers") is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_sameness_is_told_of_any_texts_and_the_same_from_both_sides(one: str, two: str) -> None:
    assert (find_sameness(one, two) is None) == (find_sameness(two, one) is None)
    assert find_inside(one, [two]) in {"", two}


def test_titles_that_call_the_work_retracted() -> None:
    called = [
        "RETRACTED: Otters fly",
        "[Retracted] Otters fly",
        "Withdrawn article – Otters fly",
        "Otters fly (Retracted)",
    ]
    others = ["Withdrawn children in class", "Retracted nails of otters", "Otters fly", "", "Removed otters: a study"]

    assert all(map(is_called_retracted, called))
    assert not any(map(is_called_retracted, others))


@pytest.mark.parametrize(
    ("title", "host", "expected"),
    [
        ("Feeding pups | The Otter Manual", "manual.otters.example.org", ["Feeding pups"]),
        ("Feeding pups – Care – The Otter Manual", "otters.example.org", ["Feeding pups", "Feeding pups – Care"]),
        ("Holt - Feeding pups in a hard winter", "holt.example.org", ["Feeding pups in a hard winter"]),
        ("Feeding pups - Weir Documentation", "example.org", ["Feeding pups"]),
        ("Feeding pups - Holt Docs", "docs.holt.example.org", ["Feeding pups"]),
        ("Otters – a reply", "example.org", []),
        ("Feeding pups", "example.org", []),
    ],
)
def test_the_name_of_a_site_is_no_title_of_its_pages(title, host, expected):
    assert cut_page_title(title, host) == [title, *expected]
