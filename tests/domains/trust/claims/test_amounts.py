"""Numbers, units and dates in eight languages: what they are worth, and when two of them are the same."""

import pytest

from specloom.domains.trust.claims.amounts import Amount, agree, drop_bounds, find_numbers, is_derived


@pytest.mark.parametrize(
    ("code", "text", "amounts"),
    [
        ("en", "thirty-six of 4,444 patients, $5.05 and two million tonnes", [36, 4444, 5.05, 2_000_000]),
        ("de", "1.200 Ärzte, 8,50 Euro, 3 Millionen Bäume, ein Drittel", [1200, 8.5, 3_000_000, 33.3]),
        ("fr", "350 000 emplois, 4,4 %, deux mille élèves", [350_000, 4.4, 2000]),
        ("es", "783.000 personas, el 11,8 por ciento, nueve de cada diez", [783_000, 11.8, 90]),
        ("it", "12.717.923 voti, tremila seggi, il 61 per cento", [12_717_923, 3000, 61]),
        ("ru", "37 тысяч человек, 147,2 миллиона, три четверти", [37_000, 147_200_000, 75]),
        ("zh", "百分之六十一，一千二百名，六成，8452亿元，2.5万人", [61, 1200, 60, 845_200_000_000, 25_000]),
        ("ja", "29万9048人、約四割、三時間十分、一部の人", [299_048, 40, 3, 10]),
        ("en", "at 11:40 p.m. in 1912", [1912]),
    ],
)
def test_numbers_are_read_in_digits_and_written_out(code, text, amounts):
    assert [amount.value for amount in find_numbers(text, code).amounts] == amounts


@pytest.mark.parametrize(
    ("code", "text", "unit"),
    [
        ("en", "385 days", "day"),
        ("de", "155 Kilometer", "km"),
        ("fr", "30 centimètres", "cm"),
        ("es", "diez minutos", "minute"),
        ("it", "33 chilometri", "km"),
        ("ru", "108 часов", "hour"),
        ("zh", "14公里", "km"),
        ("ja", "時速210キロメートル", "km"),
        ("en", "2 degrees Celsius", "celsius"),
        ("en", "12 whales", ""),
    ],
)
def test_a_number_has_the_unit_behind_it(code, text, unit):
    assert [amount.unit for amount in find_numbers(text, code).amounts] == [unit]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "on 6 December 1978"),
        ("en", "on December 6, 1978"),
        ("de", "am 6. Dezember 1978"),
        ("fr", "le 6 décembre 1978"),
        ("es", "el 6 de diciembre de 1978"),
        ("it", "il 6 dicembre 1978"),
        ("ru", "6 декабря 1978 года"),
        ("zh", "1978年12月6日"),
        ("ja", "一九七八年十二月六日"),
    ],
)
def test_dates_are_read_in_the_order_of_their_language(code, text):
    [date] = find_numbers(text, code).dates

    assert (date.year, date.month, date.day) == (1978, 12, 6)
    assert find_numbers(text, code).years == {1978}


def amount(text: str) -> Amount:
    [found] = find_numbers(text, "en").amounts
    return found


@pytest.mark.parametrize(
    ("claimed", "stated", "same"),
    [
        ("92 percent", "91.6 percent", True),
        ("more than 90 percent", "91.6 percent", True),
        ("more than half a million: more than 500,000", "537,303", True),
        ("less than 10 percent", "8 percent", True),
        ("about 40 percent", "44 percent", True),
        ("more than 90 percent", "61 percent", False),
        ("less than 10 percent", "18 percent", False),
        ("1.92", "0.92", False),
        ("12 whales", "13 whales", False),
    ],
)
def test_a_number_agrees_with_what_it_is_rounded_or_bounded_from(claimed, stated, same):
    one = find_numbers(claimed, "en").amounts[-1]

    assert agree(one, amount(stated)) is same


def test_a_sum_and_a_change_are_derived_and_other_numbers_are_not():
    stated = find_numbers("154 deaths with the vitamin and 187 with placebo", "en").amounts

    assert is_derived(amount("33"), stated)
    assert is_derived(amount("341"), stated)
    assert is_derived(amount("18 percent"), stated)
    assert not is_derived(amount("254"), stated)


def test_more_than_a_number_is_no_comparison():
    assert "more" not in drop_bounds("it has more than twenty wards", "en")
    assert "plus" not in drop_bounds("les entreprises de plus de vingt salaries", "fr")
    assert "more" in drop_bounds("it has more wards", "en")
