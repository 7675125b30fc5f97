"""Characters and names are counted many at once as one by one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.content import blocks
from specloom.domains.scrape.content.blocks import BITS, GROUPS, MAX_NAME, read_name, split_name
from specloom.domains.scrape.content.model import load_model
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.text_features import (
    CJK_RANGES,
    COUNTED,
    MOST,
    TEXT,
    PageClaims,
    Words,
    count_glyphs,
    read_texts,
    split_letters,
)

LETTERS = re.compile(r"[^\W\d_]+")
TEXTS = st.lists(st.text(st.characters(max_codepoint=0xFFFE), min_size=1, max_size=60), min_size=1, max_size=12)
ODD = st.lists(
    st.text(st.sampled_from("aZ 1.,;:!?|@©»。，天가あ\u00a0é_\n"), min_size=1, max_size=60), min_size=1, max_size=12
)


@given(st.one_of(TEXTS, ODD))
def test_each_text_has_the_counts_that_it_has_alone(texts: list[str]) -> None:
    found = count_glyphs(texts)

    for at, text in enumerate(texts):
        for name, characters in COUNTED.items():
            assert getattr(found, name)[at] == sum(map(text.count, characters))
        assert found.cjk[at] == sum(any(low <= ord(char) <= high for low, high in CJK_RANGES) for char in text)
        assert found.words[at] == len(text.split())
        assert found.capitalised[at] == sum(word[0].isupper() for word in text.split())


def test_no_count_runs_into_the_next() -> None:
    full = "." * MOST
    found = count_glyphs([full, "1" * MOST, "A " * (MOST // 2)])

    assert found.stops.tolist() == [MOST, 0, 0]
    assert found.commas.tolist() == [0, 0, 0]
    assert found.digits.tolist() == [0, MOST, 0]
    assert found.capitalised.tolist() == [0, 0, MOST // 2]


@given(st.one_of(TEXTS, ODD))
def test_runs_of_letters_are_those_of_each_text_in_order(texts: list[str]) -> None:
    words, counts = split_letters(texts)

    assert words == [word for text in texts for word in LETTERS.findall(text)]
    assert counts.tolist() == [len(LETTERS.findall(text)) for text in texts]


@given(
    st.lists(st.text("ab. 1?天", min_size=1, max_size=30).map(lambda text: " ".join(text.split()) or "x"), min_size=1)
)
def test_a_text_is_read_alike_alone_and_among_others(texts: list[str]) -> None:
    told = PageClaims(PageFacts((), "a b", "ab 1. a b a b a b a b a b a b a b", ()))
    words = Words({}, {"a": 1.0, "b": -0.5}, {"ab": 2.0})

    together = read_texts(texts, words, told)

    for at, text in enumerate(texts):
        assert together[:, at].tolist() == read_texts([text], words, told)[:, 0].tolist()


def test_the_columns_of_a_text_are_what_they_are_called() -> None:
    told = PageClaims(PageFacts((), "Otters of the River", "Otters of the river are back.", ()))
    words = Words({}, {"otters": 2.0, "river": -1.0}, {"otters!": 3.0})
    texts = ["Otters of the River cost $5, today at 9:30?", "otters!", "河里有水獭。"]

    found = dict(zip(TEXT, read_texts(texts, words, told), strict=True))

    assert found["words"].tolist() == [9, 1, 6]
    assert found["nchars"].tolist() == [len(text) for text in texts]
    assert found["money"].tolist() == [1, 0, 0]
    assert found["date"].tolist() == [1, 0, 0]
    assert found["phrase"].tolist() == [0, 3, 0]
    assert found["said_mean"].tolist() == [0.5, 2, 0]
    assert (found["said_low"][0], found["said_high"][0]) == (-1, 2)
    assert found["ends"].tolist() == [1, 1, 1]
    assert found["starts"].tolist() == [1, 2, 0]
    assert found["cjk"].tolist() == pytest.approx([0, 0, 5 / 6])


PARTS = [part.replace("\\b", "").rstrip("?") for _, parts in GROUPS for part in parts]
NAMES = st.lists(
    st.one_of(
        st.text(st.sampled_from("abCT-_1é"), min_size=1, max_size=20),
        st.lists(st.sampled_from([*PARTS, "-", "_", "X"]), min_size=1, max_size=6).map("".join),
    )
)


@given(NAMES)
def test_a_name_is_about_what_its_patterns_find_in_it(names: list[str]) -> None:
    for name in names:
        words, bits = read_name(name)
        low = name[:MAX_NAME].lower()
        assert bits == sum(1 << at for at, (_, parts) in enumerate(GROUPS) if re.search("|".join(parts), low))
        assert "".join(words).isascii()


def test_what_is_known_of_names_is_bounded() -> None:
    assert blocks.read_run.cache_info().maxsize == blocks.MAX_KNOWN


def test_the_words_of_a_name_are_told_apart_however_they_are_joined() -> None:
    assert split_name("postBody post-body post_body HTMLPage x") == {"post", "body", "html", "page"}
    assert read_name("anymore")[1] >> BITS["related"] & 1 == 0
    assert read_name("more-info")[1] >> BITS["related"] & 1 == 1


def test_the_model_that_comes_along_knows_words_of_names() -> None:
    assert load_model().words.names.keys() & split_name("article-body sidebar")
