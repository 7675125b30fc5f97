"""Matching: what may differ between a citation and its record, and what may not."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.fold import compact, find_script, fold, is_near, strip_markup, to_latin
from specloom.domains.text.people import Name, parse_names, same_person
from specloom.domains.trust.citations.existence import _REGISTERS
from specloom.domains.trust.citations.match import WorkRecord, match_fields, match_reference, match_text
from specloom.domains.trust.citations.reference import PARTIES, from_fields, parse_reference
from specloom.domains.trust.citations.venues import is_keeper, is_part, same_venue, shares_words
from specloom.domains.trust.citations.work import OWNERS, PEOPLE, to_work
from tests.support.shipped import shipped_model

ATTENTION = WorkRecord(
    titles=("Attention Is All You Need",),
    authors=(Name("Vaswani", "Ashish"), Name("Shazeer", "Noam")),
    years=(2017,),
    venues=("Advances in Neural Information Processing Systems",),
)


def to_record(*titles, authors=(), years=(), venues=()):
    """A record from plain values: names of authors as "Jane Doe" or "Doe, Jane"."""
    names = tuple(name for each in authors for name in parse_names(each))
    return WorkRecord(titles=tuple(filter(None, titles)), authors=names, years=tuple(years), venues=tuple(venues))


def test_every_judgement_carries_what_it_rests_on():
    found = match_text("Doe, J. (2009). A history of bread. Journal of Cereal Science.", ATTENTION)

    assert [(each.field, each.verdict) for each in found.judgements] == [
        ("title", "mismatch"),
        ("authors", "mismatch"),
        ("year", "mismatch"),
        ("venue", "mismatch"),
        ("volume", "not_checked"),
        ("issue", "not_checked"),
        ("pages", "not_checked"),
    ]
    assert (found.title.supplied, found.title.recorded) == ("A history of bread", "Attention Is All You Need")
    assert "history" in found.title.reason.replace("histori", "history")
    assert (found.year.supplied, found.year.recorded, found.year.reason) == ("2009", "2017", "the years are 8 apart")
    assert found.confidence in ("low", "none")


@pytest.mark.parametrize(
    "title",
    [
        "ATTENTION IS ALL YOU NEED",
        "Attention is all you need!",
        "<i>Attention</i> is all you need",
        "Attention is all you need: a study of the Transformer",
        "Attention is all you need | NeurIPS Proceedings",
        "Attention is all you need — arXiv",
    ],
)
def test_a_title_may_differ_in_how_it_is_written(title):
    assert match_fields(ATTENTION, title=title).title.verdict == "match"


@pytest.mark.parametrize(
    ("supplied", "recorded"),
    [
        ("Effect of CO2 on α-amylase", "Effect of CO<sub>2</sub> on alpha-amylase"),
        ("Naive Bayes & friends", "Naïve Bayes and friends"),
        ("Non-linear modelling of behaviour in rats", "Nonlinear modeling of behavior in rats"),
        ("Study of the $\\beta$-decay of tritium nuclei", "Study of the β-decay of tritium nuclei"),
        ("Identification of a novel cationic glycolipd", "Identification of a novel cationic glycolipid"),
        ("Title of the paper", "RETRACTED ARTICLE: Title of the Paper"),
        ("深層学習による画像認識", "深層学習による画像認識：概説"),
        ("The market for lemons", "The Market for “Lemons”: Quality Uncertainty and the Market Mechanism"),
    ],
)
def test_spelling_markup_and_subtitles_may_differ(supplied, recorded):
    assert match_fields(WorkRecord(titles=(recorded,)), title=supplied).title.verdict == "match"


@pytest.mark.parametrize(
    ("supplied", "recorded"),
    [
        ("Treatment of asthma in children: part I", "Treatment of asthma in children: part II"),
        ("Global report on diabetes 2016", "Global report on diabetes 2019"),
        ("Attention is not all you need", "Attention is all you need"),
        ("Attention", "Attention is all you need"),
        ("Attention is all you need for image segmentation of cells", "Attention is all you need"),
        ("On the electrodynamics of moving bodies", "Zur Elektrodynamik bewegter Körper"),
        ("注意力机制", "Attention is all you need"),
        (
            "A randomized trial of low-dose aspirin for the prevention of stroke in women",
            "A randomized trial of vitamin E for the prevention of stroke in women",
        ),
    ],
)
def test_what_is_near_but_not_the_same_is_neither_match_nor_mismatch(supplied, recorded):
    assert match_fields(WorkRecord(titles=(recorded,)), title=supplied).title.verdict == "not_checked"


@pytest.mark.parametrize(
    ("supplied", "recorded"),
    [
        ("Deep residual learning for image recognition", "Attention is all you need"),
        ("A survey of bread making in Austria", "A survey of transfer learning"),
        ("Die Geschichte des Brotes in Wien", "Die Grundlage der allgemeinen Relativitätstheorie"),
        ("日本経済の構造変化", "深層学習による画像認識"),
    ],
)
def test_another_title_is_a_mismatch(supplied, recorded):
    assert match_fields(WorkRecord(titles=(recorded,)), title=supplied).title.verdict == "mismatch"


@pytest.mark.parametrize(
    ("parties", "verdict"),
    [
        ("Tinker v. Des Moines Indep. Cmty. Sch. Dist.", "not_checked"),
        ("Tinker v. Burlington N. Ry. Employees", "mismatch"),
        ("Fabricated Plaintiff v. Springfield Indep. Sch. Dist.", "mismatch"),
    ],
)
def test_parties_may_be_shortened_as_courts_do_and_not_be_others(parties, verdict):
    record = to_record("Tinker v. Des Moines Independent Community School District", years=[1969])

    found = match_reference(replace(from_fields(title=parties), title_sign=PARTIES), record)

    assert found.judgements[0].verdict == verdict


def test_any_title_of_the_record_will_do():
    record = WorkRecord(
        titles=("Die Grundlage der allgemeinen Relativitätstheorie", "The foundation of general relativity")
    )

    assert match_fields(record, title="The Foundation of General Relativity").title.verdict == "match"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Vaswani et al., 2017",
        "Vaswani and Shazeer, Advances in Neural Information Processing Systems 30",
        "Adv. Neural Inf. Process. Syst. 30",
        "NeurIPS 2017",
        "see this paper",
        "the transformer paper by the Google team",
        "As shown by the group in their landmark survey of translation with neural networks",
        "Vaswani on translation, language models, machines and the future",
    ],
)
def test_a_text_without_a_title_accuses_nobody(text):
    assert match_text(text, ATTENTION).title.verdict == "not_checked"


def test_without_authors_and_venue_in_the_record_loose_words_prove_nothing():
    bare = WorkRecord(titles=("Attention Is All You Need",))

    assert match_text("Smith & Jones, Journal of Imaginary Results", bare).title.verdict == "not_checked"
    assert match_text('Smith. "A history of bread in Vienna."', bare).title.verdict == "mismatch"


def test_a_short_or_missing_title_of_the_record_proves_nothing():
    assert match_fields(WorkRecord(titles=("Editorial",)), title="A history of bread").title.verdict == "not_checked"
    assert match_fields(WorkRecord(), title="A history of bread").title.verdict == "not_checked"


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("Vaswani, A., Shazeer, N. (2017). Attention is all you need. NeurIPS.", "high"),
        ("Attention is all you need", "high"),
        ("Smith, J. (2003). Attention is all you need. Cooking Today.", "medium"),
        ("Attention is all you want", "low"),
        ("Doe, J. (2009). A history of bread.", "none"),
    ],
)
def test_confidence_needs_the_title_and_nothing_against_it(text, confidence):
    assert match_text(text, ATTENTION).confidence == confidence


def test_a_long_invented_title_around_a_short_real_one_is_not_it():
    record = WorkRecord(titles=("Deep learning",), authors=(Name("LeCun", "Yann"),), years=(2015,), venues=("Nature",))

    assert match_text("Deep learning for the prediction of bread prices in Vienna", record).confidence in (
        "low",
        "none",
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("Müller", "Anna"), ("Mueller", "A.")),
        (("Müller", "Anna"), ("Muller", "")),
        (("Чайковский", "Пётр"), ("Tchaikovsky", "Pyotr")),
        (("Горбачёв", "М."), ("Gorbachev", "Mikhail")),
        (("王", "伟"), ("Wang", "Wei")),
        (("Þórsson", "J."), ("Thorsson", "Jon")),
        (("García-López", "M."), ("García", "María")),
        (("van der Berg", "J."), ("Berg", "Jan")),
        (("O’Neil", "T."), ("O'Neil", "Tim")),
        (("World Health Organization", ""), ("WHO", "")),
    ],
)
def test_spellings_of_one_author(one, two):
    assert same_person(Name(*one), Name(*two))


@pytest.mark.parametrize(
    ("one", "two"),
    [(("Smith", "A."), ("Smyth", "A.")), (("Smith", "A."), ("Smith", "B.")), (("Li", "X."), ("Liu", "X."))],
)
def test_other_authors(one, two):
    assert not same_person(Name(*one), Name(*two))


def test_an_organisation_may_sign_for_its_people():
    record = WorkRecord(titles=("T",), authors=(Name("World Health Organization"),))

    assert match_fields(record, authors=[Name("Doe", "Jane")]).authors.verdict == "not_checked"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("J. Am. Chem. Soc.", "Journal of the American Chemical Society"),
        ("Proc Natl Acad Sci U S A", "Proceedings of the National Academy of Sciences"),
        ("PNAS", "Proceedings of the National Academy of Sciences of the United States of America"),
        ("Phys. Rev. Lett.", "Physical Review Letters"),
        ("The Lancet", "Lancet"),
        ("JMLR", "Journal of Machine Learning Research"),
        ("Neural Comput.", "Neural Computation"),
        ("2016 IEEE Conference on Computer Vision and Pattern Recognition (CVPR)", "CVPR"),
    ],
)
def test_names_of_one_venue(one, two):
    assert same_venue(one, two)
    assert same_venue(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [("Nature", "Nature Physics"), ("Nature Communications", "Nature Chemistry"), ("Cell", "Cellulose"), ("", "Cell")],
)
def test_other_venues(one, two):
    assert not same_venue(one, two)


def test_what_venues_share():
    assert is_keeper("arXiv preprint")
    assert not is_keeper("Nature")
    assert shares_words("Nature Physics", "Nature Chemistry")
    assert not shares_words("Journal of Bread", "Journal of Wine")
    assert is_part("Engl", "New England Journal of Medicine")
    assert is_part("NEJM", "New England Journal of Medicine")
    assert not is_part("bread", "New England Journal of Medicine")


@pytest.mark.parametrize(
    ("text", "title", "families", "year"),
    [
        ("Doe, J. R., & Roe, A. (2001a). A title here. J. Test, 3, 4.", "A title here", ["Doe", "Roe"], 2001),
        ('Doe, Jane, and Ann Roe. "A title here." J. Test, 2001.', "A title here", ["Doe", "Roe"], 2001),
        ('J. Doe and A. Roe, "A title here," J. Test, vol. 3, 2001.', "A title here", ["Doe", "Roe"], 2001),
        ("Doe JR, Roe A, et al. A title here. J Test. 2001;3(4):5-9.", "A title here", ["Doe", "Roe"], 2001),
        ("Doe, J. et al. A title here. J. Test 3, 4 (2001).", "A title here", ["Doe"], 2001),
        ("WHO (2020). A global report. Geneva.", "A global report", ["WHO"], 2020),
        ("A title and nothing else", "", [], None),
    ],
)
def test_references_in_the_usual_styles(text, title, families, year):
    found = parse_reference(text)

    assert found.title == title
    assert [name.family for name in found.authors] == families
    assert found.years == ((year,) if year else ())


def test_folding():
    assert fold("Œuvre  ÆON &amp; Łódź Straße") == "oeuvre aeon and lodz strasse"
    assert compact("Nano-metre: α & β") == "nanometrealphaandbeta"
    assert to_latin("Київ") == "kiiv"
    assert [find_script(text) for text in ("abc", "абв", "漢字", "かな", "123")] == [
        "LATIN",
        "CYRILLIC",
        "CJK",
        "CJK",
        "",
    ]
    assert strip_markup("a<br/>b &lt;i&gt;c&lt;/i&gt; p &lt; 0.05") == "a b c p < 0.05"
    assert is_near("glycolipid", "glycolipd")
    assert is_near("colour", "coluor")
    assert not is_near("mice", "rice")


_TITLE = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(["Attention", "is", "all", "bread", "II", "2017", ":", "—", "(", "<i>", "$", "新"])).map(
        " ".join
    ),
)
_NAME = st.builds(Name, st.text(max_size=12), st.text(max_size=8))


@given(_TITLE, st.lists(_NAME, max_size=3), st.one_of(st.none(), st.integers(0, 3000)), st.text(max_size=20))
def test_anything_is_judged_and_a_record_matches_itself(title, authors, year, venue):
    record = WorkRecord((title,), tuple(authors), (year,) if year else (), (venue,))

    found = match_fields(record, title=title, authors=authors, year=year, venue=venue)

    assert all(each.verdict != "mismatch" for each in found.judgements)
    assert match_text(title, ATTENTION) == match_text(title, ATTENTION)


@pytest.mark.parametrize("piece", ["Doe, J., ", "Doe J, ", "J. Doe, ", "A. ", "(2001). ", '"a ', "Aaaa ", "-", "v. "])
def test_long_repetitions_take_no_time_to_speak_of(piece):
    text = piece * (4000 // len(piece))

    assert match_text(text, ATTENTION) == match_text(text, ATTENTION)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Li Wei", "Wei Li"),
        ("Xi Jinping", "Xi, Jinping"),
        ("Kim Min-jung", "Minjung Kim"),
        ("BOURDIEU Pierre", "Bourdieu, Pierre"),
        ("Łukasiewicz J.", "Lukasiewicz, Jan"),
        ("Müller K.-H.", "Mueller, Karl-Heinz"),
        ("King ML Jr", "King, Martin Luther"),
        ("J.A. Doe", "Doe, Jane A."),
        ("JRR Tolkien", "Tolkien, J. R. R."),
        ("Dostoevskij, F. M.", "Dostoyevsky, Fyodor"),
        ("Bob Smith", "Smith, Robert"),
        ("IPCC", "Intergovernmental Panel on Climate Change"),
    ],
)
def test_one_author_written_in_two_orders_and_spellings(one, two):
    assert match_fields(to_record("T", authors=[two]), authors=parse_names(one)).authors.verdict == "match"


@pytest.mark.parametrize("nobody", ["Anonymous", "[No author]", "Editors", "Unknown"])
def test_what_stands_where_nobody_signed_accuses_nobody(nobody):
    found = match_fields(to_record("T", authors=["Doe, Jane"]), authors=parse_names(nobody))

    assert (found.authors.verdict, found.authors.reason) == ("not_checked", "no authors were supplied")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Bob Smith", "Smith, Alice"),
        ("Wei Li", "Li, Xin"),
        ("Martin, J.", "Morton, J."),
        ("Li", "Lu"),
        ("OECD", "Oxfam"),
    ],
)
def test_other_people_of_nearly_one_name(one, two):
    assert match_fields(to_record("T", authors=[two]), authors=parse_names(one)).authors.verdict == "mismatch"


def test_a_name_that_is_a_word_of_the_title_is_no_author_in_loose_text():
    record = to_record("Cooking of brown rice in hot rivers", authors=["Brown, Tim"])

    assert match_text("Weir on brown rice", record).authors.verdict == "not_checked"
    assert (
        match_text("Cooking of rice, after Brown", to_record("Rice", authors=["Brown, Tim"])).authors.verdict == "match"
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Voina i mir", "War and Peace"),
        ("Cien años de soledad", "One Hundred Years of Solitude"),
        ("Capital: A Critique of Political Economy", "Das Kapital"),
        ("Prestuplenie i nakazanie", "Crime and Punishment"),
        ("Estudio comparativo sobre nutrias", "Comparative study of otters"),
        ("Undersökning av uttrar", "Investigation of otters"),
        ("Tutkimus saukoista Suomessa", "A study of otters in Finland"),
        ("Bir otter hakkında yeni araştırmalar", "New studies on an otter"),
    ],
)
def test_a_title_in_another_language_accuses_nobody(one, two):
    for supplied, recorded in ((one, two), (two, one)):
        assert match_fields(to_record(recorded), title=supplied).title.verdict == "not_checked"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "Leitfaden Gewässerpflege – Hinweise für Gemeinden",
            "Leitfaden Otterschutz – Grundkenntnisse der Wildbiologie",
        ),
        ("Zertifikat Waldpädagogik für Grundschulen", "Zertifikat Naturschutz – Artenkompetenzen"),
        ("Educación ambiental para escuelas", "Evaluación fluvial, contaminación"),
    ],
)
def test_two_titles_of_one_language_are_no_translations(one, two):
    for supplied, recorded in ((one, two), (two, one)):
        assert match_fields(to_record(recorded), title=supplied).title.verdict == "mismatch"


def test_a_translated_title_of_the_same_people_and_year_is_like_the_work():
    record = to_record("Zur Elektrodynamik bewegter Körper", authors=["Einstein, A."], years=[1905])

    found = match_text("Einstein, A. (1905). On the electrodynamics of moving bodies. Annalen der Physik.", record)

    assert (found.title.verdict, found.confidence) == ("not_checked", "low")


@pytest.mark.parametrize(
    ("text", "title", "families"),
    [
        ("Piketty, Thomas. Capital and Ideology. HUP, 2020.", "Capital and Ideology", ["Piketty"]),
        ("García Márquez, Gabriel. Cien años de soledad. 1967.", "Cien años de soledad", ["García Márquez"]),
        ("Doe, Jane (2024), 'A title with a boy's name', J. Test.", "A title with a boy's name", ["Doe"]),
        (
            "Smith, John. ‘Schrödinger’s cat and the boys’ night’, Physics.",
            "Schrödinger’s cat and the boys’ night",
            ["Smith"],
        ),
        ('Doe, J. (2001) "A title here." J. Test.', "A title here", ["Doe"]),
    ],
)
def test_references_with_whole_names_and_single_quotes(text, title, families):
    found = parse_reference(text)

    assert (found.title, [name.family for name in found.authors]) == (title, families)


def test_pages_are_no_years():
    assert parse_reference("Long short-term memory, Neural Computation 9, 1735–1780, 1997").years == (1997,)


# --- the people of works that have no authors ---

PATENT = {
    "number": "US99123456B2",
    "title": "Otter box",
    "inventor": "Jane Doe",
    "inventors": ["Jane Doe", "Ann Roe"],
    "assignee": "Otter Boxes Inc.",
}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Doe, J., & Roe, A. (2024). Otter box. U.S. Patent 99,123,456.", "match"),
        ("Roe, A. (2024). Otter box. U.S. Patent 99,123,456.", "match"),
        ("Otter Boxes. (2024). Otter box. U.S. Patent 99,123,456.", "match"),
        ("Otter Holding. (2024). Otter box. U.S. Patent 99,123,456.", "not_checked"),
        ("Lewis, P. (2024). Otter box. U.S. Patent 99,123,456.", "mismatch"),
    ],
)
def test_the_inventors_of_a_patent_are_compared_as_its_authors(text, verdict):
    found = match_text(text, to_work(PATENT, "patents").record)

    assert next(one.verdict for one in found.judgements if one.field == "authors") == verdict


def test_every_field_of_people_that_a_register_has_is_compared():
    capabilities = shipped_model().capabilities
    asked = {each.capability for each in _REGISTERS.values()} | {"work", "works", "scholarly"}
    people = {
        name
        for capability in asked
        for name, field in capabilities[capability].row.items()
        if re.search("author|inventor|creator|editor|investigator|applicant|assignee|sponsor", name)
        and not name.startswith("is_")
    }

    # The first inventor is one of the inventors.
    assert people - {"inventor"} == {*PEOPLE, *OWNERS}
    assert to_work({"title": "T", "authors": ["Ann Otter"]}, "x").record.authors == (Name("Otter", "Ann"),)
    assert to_work(PATENT, "x").to_json()["authors"] == ["Jane Doe", "Ann Roe"]
