"""Ages of those in whom something was found."""

from __future__ import annotations

import pytest

from specloom.domains.trust.claims.ages import find_ages, is_apart


@pytest.mark.parametrize(
    ("sentence", "code", "ages"),
    [
        ("The cohort had 900 people aged 55 to 80 years.", "en", (55, 80)),
        ("Kinder zwischen 3 und 17 Jahren wurden untersucht.", "de", (3, 17)),
        ("Participaron personas de 55 a 80 años.", "es", (55, 80)),
        ("全国の40歳から69歳の男女を追跡した。", "ja", (40, 69)),
        ("对30至79岁的成年人进行了随访。", "zh", (30, 79)),
        ("Adults 65 or older were asked.", "en", (65, 120)),
        ("16歳以上の6000人を対象とした。", "ja", (16, 120)),
        ("The trees were followed for 5 to 10 years.", "en", None),
    ],
)
def test_a_range_of_ages_is_told_from_one_of_time(sentence, code, ages):
    assert find_ages([sentence], code) == ages


def test_of_several_ranges_the_widest_counts():
    assert find_ages(["Aged 18 to 30 years.", "Others were aged 60 to 70 years."], "en") == (18, 70)


def test_a_group_is_apart_only_where_none_of_it_can_be_of_the_ages():
    assert is_apart("children", (40, 69))
    assert not is_apart("children", (15, 69))
    assert is_apart("elderly", (3, 17))
    assert not is_apart("women", (3, 17))
