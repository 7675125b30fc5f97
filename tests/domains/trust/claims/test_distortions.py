"""What a claim may have changed of its source: quoted words, cause, certainty, scope, population."""

import pytest

from specloom.domains.trust.claims.coverage import assess
from specloom.domains.trust.claims.quotations import find_quotations

REST = (
    " The report was printed by the county and paid for by a public fund. Its authors thank all who took part over the "
    "years."
)


def told(claim: str, text: str) -> list[tuple[str, str, str]]:
    return [(cue.kind, cue.claimed, cue.found) for cue in assess(claim, text).distortions]


@pytest.mark.parametrize(
    ("claim", "text", "cue"),
    [
        (
            "Eating kelp prevents drowning in otters.",
            "Eating kelp was associated with less drowning in otters." + REST,
            ("causation", "prevents", "associated"),
        ),
        (
            "Eating kelp lowers the risk of drowning.",
            "Eating kelp went with a lower risk of drowning. Whether the association is causal cannot be determined."
            + REST,
            ("causation", "lowers", "cannot be determined"),
        ),
        ("Otters hold hands in winter.", "Otters may hold hands in winter." + REST, ("certainty", "", "may")),
        ("All otters hold hands.", "Some otters hold hands." + REST, ("scope", "all", "some")),
        (
            "Kelp lengthens the sleep of patients.",
            "Kelp lengthens the sleep of mice. The mice were old." + REST,
            ("population", "patients", "mice"),
        ),
        (
            "Kelp lengthens the sleep of women.",
            "Kelp lengthens the sleep of healthy men. No other group was there." + REST,
            ("population", "women", "men"),
        ),
        (
            "Kelp lengthens the sleep of nurses.",
            "Kelp lengthens the sleep of doctors, who were asked in May. Nurses were not asked." + REST,
            ("population", "nurs", "not asked"),
        ),
        (
            "Die Otter schlafen alle im Tang.",
            "Die Otter schlafen teilweise im Tang. Der Bericht wurde vom Landkreis gedruckt und von allen bezahlt.",
            ("scope", "alle", "teilweise"),
        ),
        (
            "Le varech fait dormir les loutres et provoque des rêves.",
            "Le varech fait dormir les loutres et il est associé à des rêves. Le rapport fut imprimé dans le pays.",
            ("causation", "provoque", "associe"),
        ),
    ],
)
def test_what_a_claim_may_have_changed_is_told_with_both_sides(claim, text, cue):
    assert cue in told(claim, text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Eating kelp is linked to less drowning.", "Eating kelp was associated with less drowning." + REST),
        ("Otters might hold hands in winter.", "Otters may hold hands in winter." + REST),
        ("Otters hold hands in winter.", "Otters hold hands in winter, and the reason may be the cold." + REST),
        ("Otters hold hands above all in winter.", "Otters hold hands mostly in winter." + REST),
        ("The otters held hands on 3 May.", "The otters held hands on 3 May in the lake." + REST),
        ("Not all otters hold hands.", "Some otters hold hands." + REST),
        ("Kelp lengthens the sleep of women.", "Kelp lengthens the sleep of men and women." + REST),
        ("Kelp lengthens the sleep of mice.", "Kelp lengthens the sleep of mice." + REST),
    ],
)
def test_what_a_claim_left_as_it_was_is_not_told(claim, text):
    assert told(claim, text) == []


def test_distortions_are_no_contrast():
    found = assess("All otters hold hands.", "Some otters hold hands." + REST)

    assert found.distortions
    assert not found.contrast


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ('The keeper says that they "hold hands while they sleep".', True),
        ("The keeper says that they “hold hands … so as not to drift”.", True),
        ('The keeper says that they "hold hands while [the otters] sleep".', True),
        ('The keeper says that they "Hold hands, while they sleep"!', True),
        ('The keeper says that they "hold paws while they sleep".', False),
        ("Der Wärter sagt: „hold hands while they sleep“.", True),
        ("«hold hands while they dream», dit-on.", False),
    ],
)
def test_a_quotation_is_looked_for_word_for_word(claim, found):
    text = "Otters hold hands while they sleep so as not to drift apart."

    assert [quotation.found for quotation in find_quotations(claim, text)] == [found]


def test_names_and_single_words_in_quotation_marks_are_no_quotations():
    assert find_quotations('The ship "Vostok" and the "Old Weir"', "Nothing of it.") == ()
    assert find_quotations('An inch mark: 12" and nothing else', "Nothing of it.") == ()


def test_a_quotation_in_a_script_without_blanks_is_looked_for_too():
    [quotation] = find_quotations("他说：“水獭睡觉时手拉手。”", "水獭睡觉时手拉着手。")

    assert not quotation.found


def kinds(claim, text):
    return [cue.kind for cue in assess(claim, text).distortions]


def test_whom_a_claim_names_is_held_against_the_ages_of_those_in_the_study():
    text = "In this cohort of 900 people aged 55 to 80 years, walking was linked to better sleep."

    assert kinds("Walking was linked to better sleep in young adults.", text) == ["population"]
    assert kinds("Walking was linked to better sleep in older people.", text) == []


def test_what_is_called_proved_is_held_against_doubt():
    text = "The authors suspect that the mild winter drove the beetles north. No trees were felled that year."

    assert kinds("It is proved that the mild winter drove the beetles north.", text) == ["certainty"]


def test_what_only_an_open_question_speaks_of_is_told_as_certain():
    text = "The vaccine cut infections by half. Whether protection outlasts a winter is unknown."

    assert kinds("The vaccine's protection outlasts a winter.", text) == ["certainty"]
    assert kinds("It is unknown whether the vaccine's protection outlasts a winter.", text) == []


def test_all_of_something_is_held_against_a_share_of_it():
    text = "Tests found lead in 38 percent of the wells."

    assert kinds("All wells had lead in them.", text) == ["scope"]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The glaze was proven to resist frost.", "The glaze was proven to resist frost. It may crack in the sun."),
        ("The glaze certainly resists frost.", "The glaze resists frost. It might resist rain too."),
        ("Every kiln was rebuilt.", "Every kiln was rebuilt; 12 percent of the kilns had been damaged."),
        ("Walking helped children sleep.", "Walking helped sleep. Their mothers were aged 25 to 45 years."),
        ("Swifts sleep in flight.", "It is not known why swifts sleep in flight."),
    ],
)
def test_what_stands_in_the_text_or_is_said_of_others_changes_nothing_of_a_claim(claim, text):
    assessed = assess(claim, text)

    assert (*assessed.cues, *assessed.distortions) == ()
