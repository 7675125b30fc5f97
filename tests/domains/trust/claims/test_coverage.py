"""Claim coverage: what is measured, what is told, and what is not concluded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.language import UNKNOWN, find_language, load_languages
from specloom.domains.trust.claims.coverage import (
    LABELS,
    LONGEST_TEXT,
    MOST_EVIDENCE,
    SHORT_TEXT,
    assess,
    without_references,
)
from specloom.domains.trust.claims.denials import find_denials, is_refuted
from specloom.domains.trust.claims.reversals import find_opposite
from specloom.domains.trust.claims.weight import find_initials, find_quantities, load_concepts, to_claim_tokens

TRIAL = (
    "Aspirin in older adults. The trial enrolled 19,114 persons. Higher mortality was seen among those who took "
    "aspirin daily than among those who took placebo. Aspirin did not prolong survival without disability over 5 years."
)


def test_a_claim_that_the_text_makes_is_addressed_with_its_sentences():
    found = assess("Aspirin did not prolong survival without disability", TRIAL)

    assert (found.label, found.contrast) == ("addressed", False)
    assert found.signal == "Aspirin did not prolong survival without disability over 5 years."
    assert found.signal in found.evidence
    assert 0.6 <= found.coverage <= 1


def test_a_claim_of_which_the_text_has_nothing_is_not_addressed():
    found = assess("Solar panels lower the electricity bills of Norwegian farmers", TRIAL)

    assert (found.label, found.coverage, found.evidence, found.signal) == ("not_addressed", 0.0, (), "")


def test_terms_of_a_claim_are_words_names_and_numbers_and_how_many_were_found_is_said():
    claim = "In Australia 19,114 people took aspirin"

    query = to_claim_tokens(claim, find_language(claim), {})

    assert {token: query.kinds[token] for token in ("aspirin", "australia", "19114")} == {
        "aspirin": "word",
        "australia": "name",
        "19114": "number",
    }
    assert all(weight > 0 for weight in query.weights.values())
    assert assess(claim, TRIAL).reason.startswith(f"1 of {len(query.specific)} specific terms were found")


@pytest.mark.parametrize(
    ("claim", "kind", "claimed"),
    [
        ("Aspirin prolongs survival without disability", "negation", ""),
        ("Lower mortality was seen among those who took aspirin daily", "direction", "lower"),
        ("Aspirin did not prolong survival over 9 years", "number", "9 year"),
    ],
)
def test_what_may_speak_against_a_claim_is_shown_with_both_sides(claim, kind, claimed):
    found = assess(claim, TRIAL)

    assert [(cue.kind, cue.claimed) for cue in found.cues] == [(kind, claimed)]
    assert found.cues[0].sentence in found.evidence
    assert found.label == "addressed"


def test_a_denial_of_something_else_is_no_cue():
    text = "Coffee raises alertness in drivers. Tea did not raise alertness in pilots."

    assert assess("Coffee raises alertness in drivers", text).cues == ()


def test_a_text_that_calls_the_claim_wrong_is_a_cue():
    (cue,) = assess("Vaccines cause autism", "The claim that vaccines cause autism has been debunked.").cues

    assert (cue.kind, cue.words) == ("refutation", "debunked")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "heart attacks in smokers",
            "Myocardial infarction was common in people who used tobacco in the last ten years.",
        ),
        ("HTTP caching saves bandwidth", "Hypertext Transfer Protocol (HTTP) is old. Caching in HTTP saves bandwidth."),
        ("la vacuna protege a los ancianos", "Las vacunas protegen a los ancianos en el invierno y la primavera."),
        ("Multilayer models learn", "The models that we train have many layers and learn at each of them in turn."),
        (
            "Grundwasserbelastung durch Nitrat",
            "Das Grundwasser ist durch Nitrat an vielen der Messstellen stark belastet.",
        ),
        ("新しいワクチンは有効", "この試験で新しいワクチンは有効であることが示された。"),
    ],
)
def test_other_names_forms_and_scripts_of_a_term_meet(claim, text):
    assert assess(claim, text).label == "addressed"


def test_a_source_in_another_language_is_not_accused():
    german = "Die Behandlung mit dem Medikament senkte den Blutdruck der Patienten in der Studie nicht."

    found = assess("Chess engines surpassed the best players of the world", german)

    assert found.label == "partially_addressed"
    assert "different languages" in found.reason


def test_a_notice_is_too_short_to_lack_anything():
    found = assess("Chess engines surpassed grandmasters", "Please sign in to read on.")

    assert (found.label, found.words) == ("partially_addressed", 6)


def test_figures_of_the_claim_in_the_text_are_no_chance():
    claim = "Gardeners planted 19,114 tulips in 5 years beside 27 bridges"
    text = "The survey took 5 years. It counted 19,114 things in 27 towns of the country and then stopped for good."

    assert assess(claim, text).label == "partially_addressed"
    assert assess("Gardeners planted tulips beside bridges", text).label == "not_addressed"


def test_a_claim_of_few_words_may_be_made_in_others():
    assert assess(
        "Pills reduce nausea", "Tablets led to a reduction of sickness in all the persons who took them."
    ).label == ("partially_addressed")


def test_what_the_text_is_about_is_no_chance():
    text = "Ozone over Antarctica. Ozone is lost each spring. The loss of ozone grew for years in this place."

    assert assess("Ozone near cities damages crops and lungs of joggers", text).label == "partially_addressed"
    assert assess("Spring fashion shows in Paris attract wealthy buyers from Dubai", text).label == "not_addressed"


def test_a_word_that_only_goes_with_another_is_no_topic():
    text = "Sea ice news. Sea ice shrank in summer. The ice was thin and the sea was warm in the far north."

    assert assess("Ice cream parlours in Italy sell vanilla and pistachio", text).label == "not_addressed"


def test_a_text_is_not_accused_of_lacking_general_words():
    found = assess("The report shows important results, a method, a model and a series of 12 examples", TRIAL)

    assert (found.label, found.reason) == (
        "partially_addressed",
        "the claim has only general words and numbers, which any text may lack",
    )


def test_a_claim_without_terms_is_not_judged():
    found = assess("it is not", TRIAL)

    assert (found.label, found.coverage, found.evidence) == ("partially_addressed", 0.0, ())


def test_a_long_text_is_judged_by_its_best_window():
    filler = [f"Paragraph {at} tells about gardens and their owners." for at in range(SHORT_TEXT * 2)]
    scattered = [*filler]
    scattered[3] = "Aspirin was mentioned."
    scattered[30] = "Mortality was mentioned in adults."
    together = [*filler]
    together[9] = "Aspirin raised mortality in adults."

    claim = "Aspirin raised mortality in adults"
    assert assess(claim, " ".join(together)).label == "addressed"
    assert assess(claim, " ".join(scattered)).coverage < assess(claim, " ".join(together)).coverage


def test_evidence_is_in_reading_order_and_not_more_than_is_read():
    text = " ".join(f"Aspirin was given on day {at}." for at in range(20))

    found = assess("aspirin", text)

    assert len(found.evidence) == MOST_EVIDENCE
    days = [int(sentence.rstrip(".").split()[-1]) for sentence in found.evidence]
    assert days == sorted(days)


def test_a_language_without_cues_says_so():
    turkish = assess("Konut fiyatları arttı", "Konut fiyatları bir yılda çok arttı ve bu daha önce olmadı.")
    unknown = assess("zzz", "qqq www eee rrr")

    assert turkish.cues == ()
    assert "'tr'" in turkish.cue_note
    assert "could not be told" in unknown.cue_note
    assert assess("a b c", TRIAL).cue_note == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The vaccine protects the children from the disease", "en"),
        ("Die Impfung schützt vor der Krankheit", "de"),
        ("Le vaccin protège les enfants et les personnes âgées pour une année", "fr"),
        ("El estudio no encontró que la dieta fuera mejor para los niños", "es"),
        ("Il vaccino non protegge i bambini dalla malattia", "it"),
        ("A vacina não protege as crianças com uma doença", "pt"),
        ("Het vaccin beschermt de kinderen niet tegen deze ziekte", "nl"),
        ("Vaccinet skyddar inte mot sjukdomen och det är dyrt", "sv"),
        ("Szczepionka nie chroni przed chorobą, ale jest tania", "pl"),
        ("Вакцина не защищает от болезни", "ru"),
        ("Вакцина не захищає від хвороби, але це дешево та швидко", "uk"),
        ("Aşı bu hastalık için çok önemli ve daha ucuz", "tr"),
        ("Το εμβόλιο προστατεύει τα παιδιά", "el"),
        ("اللقاح يحمي الأطفال", "ar"),
        ("टीका बच्चों की रक्षा करता है", "hi"),
        ("ワクチンは有効です", "ja"),
        ("疫苗有效", "zh"),
        ("백신은 효과가 있다", "ko"),
    ],
)
def test_languages_are_told_by_script_and_function_words(text, code):
    assert find_language(text).code == code


def test_what_tells_no_language_is_unknown():
    assert find_language("aspirin") is UNKNOWN
    assert find_language("Statins prevent MI") is UNKNOWN
    assert find_language("") is UNKNOWN


def test_a_good_dozen_languages_are_known_and_most_have_cues():
    languages = load_languages()

    assert len(languages) >= 24
    assert sum(language.has_cues for language in languages.values()) >= 12


@pytest.mark.parametrize(
    ("text", "code", "denials"),
    [
        ("It did not work, but it was cheap.", "en", ["it did not work"]),
        ("It didn't work.", "en", ["it did not work."]),
        ("Not only was it cheap, it worked.", "en", []),
        ("We failed to reject it and cannot rule out an effect.", "en", []),
        ("It is not without risk.", "en", []),
        ("No one did not see it.", "en", []),
        ("Es wirkt nicht, obwohl es teuer ist.", "de", ["es wirkt nicht"]),
        ("Es ist nicht nur teuer.", "de", []),
        ("Le vaccin n'est pas efficace.", "fr", ["le vaccin n'est pas efficace."]),
        ("No fue eficaz.", "es", ["no fue eficaz."]),
        ("効果は認められなかった。", "ja", ["効果は認められなかった"]),
        ("研究没有发现影响。", "zh", ["研究没有发现影响"]),
    ],
)
def test_a_denial_reaches_its_clause(text, code, denials):
    assert [clause for _, clause in find_denials(text, load_languages()[code])] == denials


def test_a_denied_refutation_is_none():
    english = load_languages()["en"]

    assert is_refuted("The study refutes the idea.", english) == "refutes"
    assert is_refuted("The study does not refute the idea.", english) == ""


@pytest.mark.parametrize(
    ("claim", "sentence", "found"),
    [
        ("Prices rose", "Prices fell", ("rose", "fell")),
        ("Prices rose", "Prices fell and then rose", None),
        ("It is higher", "A high level", None),
        ("It lowers pain", "Pain increased", ("lowers", "increased")),
    ],
)
def test_opposite_directions(claim, sentence, found):
    assert find_opposite(claim, sentence) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("25%", [("25", "percent")]),
        ("25 percentage points", [("25", "point")]),
        ("25 Prozent", [("25", "percent")]),
        ("$3.5 billion", [("3500000000", "dollar")]),
        ("1.3 billion pounds", [("1300000000", "pound")]),
        ("12 older patients", [("12", "person")]),
        ("a 5-fold rise", [("5", "fold")]),
        ("in 2020", [("2020", "")]),
        ("10 mg and 20 kg", [("10", "mg"), ("20", "kg")]),
        ("none", []),
    ],
)
def test_numbers_have_their_units(text, found):
    assert [(each.value, each.unit) for each in find_quantities(text)] == found


def test_initials_that_a_text_explains_are_its_words():
    found = find_initials("The acquired immune deficiency syndrome (AIDS) and the United Nations (UN). See (Smith).")

    assert set(found) == {"aid", "UN"}
    assert find_initials("A plan (XYZ)") == {}


def test_a_name_belongs_to_one_concept():
    names = [words for group in load_concepts().values() for words, _ in group]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "heading", ["References", "## References", "5. Bibliography", "Literaturverzeichnis", "参考文献"]
)
def test_a_list_of_references_is_no_part_of_what_a_text_says(heading):
    text = (
        "Body text about gardens.\n" * 5 + f"\n{heading}\nDoe J. (1999) Aspirin. doi:10.1000/x\nRoe A. (2001) Pain.\n"
    )

    assert "Aspirin" not in without_references(text)
    assert assess("Aspirin eases the pain of runners in the desert", text).label == "not_addressed"


@pytest.mark.parametrize(
    "text",
    [
        "References\nare what this page is about, and it goes on for a long while.\n" + "Body text.\n" * 20,
        "Body text.\n" * 5 + "\nReferences\nAsk a former employer for a letter.\n",
        "1. First point\n2. Second point\n3. Third point\n",
    ],
)
def test_a_heading_or_a_numbered_list_alone_is_no_list_of_references(text):
    assert without_references(text) == text


_WORDS = st.lists(
    st.sampled_from(
        [
            "aspirin",
            "mortality",
            "not",
            "25",
            "%",
            "increased",
            "fell",
            "Denmark",
            "新薬",
            "。",
            ".",
            "(AIDS)",
            "\n",
            "the",
            "die",
            "study",
            "result",
            "method",
            "model",
            "in Chile",
            "ice cream",
            "high-protein diet",
        ]
    )
).map(" ".join)


@given(st.one_of(_WORDS, st.text()), st.one_of(_WORDS, st.text()))
def test_any_claim_and_text_have_a_measure(claim, text):
    found = assess(claim, text)

    assert found == assess(claim, text)
    assert 0 <= found.coverage <= 1
    assert found.label in LABELS
    assert len(found.evidence) <= MOST_EVIDENCE
    assert all(cue.sentence in found.evidence for cue in found.cues)
    assert (found.signal == "") == (not found.evidence)


@pytest.mark.parametrize("piece", ["( ", "A b (", "not ", "。", "1.", "<", "References\n", "Aa Bb (AB) "])
def test_long_repetitions_take_no_time_to_speak_of(piece):
    text = piece * (LONGEST_TEXT // len(piece))

    assert assess("not a claim (AB) of 25 percent", text).label in LABELS
