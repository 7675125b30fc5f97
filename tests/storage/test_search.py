"""Words are brought to one form in any script, and items are ranked by the rare ones they share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.storage.search import MOST_TERMS, Index, count_terms, read_texts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Batteries", "battery"),
        ("reduced", "reduces"),
        ("Café", "cafe\u0301"),
        ("GRÖSSE", "größe"),
        ("ökologisch", "okologisch"),
        ("the bird’s", "bird"),
        ("don't", "don’t"),
        ("ﬁnd", "find"),
        ("выдры", "выдра"),
        ("крабов", "крабы"),
        ("ещё", "еще"),
        ("الثعالب", "ثَعالِب"),
        ("मछलियाँ", "मछली"),
        ("क़लम", "कलम"),
        ("மீன்கள்", "மீன்"),
        ("ΨΆΡΙΑ", "ψαρι"),
        ("C++", "c++"),
    ],
)
def test_spellings_of_one_word_are_one(one, other):
    assert count_terms([one]) == count_terms([other]) != {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2019", "2018"),
        ("university", "universe"),
        ("東京", "京都"),
        ("C", "D"),
        ("C++", "C#"),
        ("हिन्दी", "नदी"),
        ("пой", "пои"),
    ],
)
def test_different_words_stay_different(one, other):
    assert not set(count_terms([one])) & set(count_terms([other]))


def test_words_that_say_nothing_are_left_out_and_a_long_text_keeps_its_most_frequent():
    assert count_terms(["The of and what is it"]) == {}
    counted = count_terms([" ".join(f"word{at}" for at in range(1000)), "word7 word7"])
    assert len(counted) == MOST_TERMS
    assert counted["word7"] == 3


def test_texts_are_read_from_fields_and_lists_of_texts():
    value = {"note": "a", "tags": ["b", 1, "c"], "other": "d", "missing": None}

    assert read_texts(value, ("note", "tags", "missing", "absent")) == ["a", "b", "c"]
    assert read_texts("no fields", ("note",)) == []


@given(st.text(max_size=200))
def test_any_text_has_words_or_none(text):
    counted = count_terms([text])

    assert all(term and count > 0 for term, count in counted.items())
    assert counted == count_terms([text])


def index_of(*texts):
    index = Index()
    for at, text in enumerate(texts):
        index.add(at, 1, count_terms([text]))
    return index


def ranked(index, text):
    return [item for item, _ in index.rank(count_terms([text]))]


def test_a_rare_word_outweighs_a_common_one_and_a_short_item_a_long_one():
    index = index_of("otter pups", "otter otter dens", "otter rivers", "walrus", "otter walrus " + "filler " * 50)

    assert ranked(index, "otter walrus")[0] == 3
    assert ranked(index, "walrus") == [3, 4]
    assert ranked(index, "unknown") == []
    assert ranked(index_of(), "otter") == []


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("केकड़े", [0]),
        ("हिन्दी", [1]),
        ("पानी", [2]),
        ("खाना", [0]),
        ("घर", []),
        ("蟹", [3, 4]),
        ("게", [5]),
        ("ปู", [6]),
        ("краб", [7]),
        ("c++", [8]),
        ("சாப்பிடும்", [9]),
    ],
)
def test_other_scripts_are_found_by_their_words_and_by_nothing_less(asked, found):
    index = index_of(
        "ऊदबिलाव केकड़े खाते हैं",
        "हिन्दी भाषा का इतिहास",
        "नदी का पानी ठंडा है",
        "水獭吃螃蟹和鱼",
        "カワウソは蟹を食べる",
        "수달은 게를 먹는다",
        "นากกินปู",
        "выдры едят крабов",
        "templates of C++",
        "நீர்நாய் நண்டு சாப்பிடும்",
    )

    assert sorted(ranked(index, asked)) == found


def test_a_word_with_the_same_beginning_counts_less_than_the_word_itself():
    index = index_of("photovoltaic", "photovoltaik", "photograph")

    assert ranked(index, "photovoltaic") == [0, 1]


@given(st.lists(st.tuples(st.integers(0, 5), st.text("abc ", max_size=20)), max_size=30))
def test_an_index_that_was_changed_ranks_as_one_that_was_made_anew(changes):
    index, last = Index(), {}
    for version, (item, text) in enumerate(changes):
        if text:
            index.add(item, version, count_terms([text]))
            last[item] = text
        else:
            index.remove(item)
            last.pop(item, None)
    fresh = Index()
    for item, text in last.items():
        fresh.add(item, 0, count_terms([text]))

    for asked in ("a", "ab c", "abc cab"):
        terms = count_terms([asked])
        assert {item: round(score, 9) for item, score in index.rank(terms)} == {
            item: round(score, 9) for item, score in fresh.rank(terms)
        }
    assert (len(index), index.size) == (len(fresh), fresh.size)
