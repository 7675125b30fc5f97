"""What the analysis says of a pattern is what a matcher that backtracks needs of steps."""

from __future__ import annotations

import re
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.language.backtracking import SlowPattern, find_slow_part
from tests.support.backtracking_matcher import count_steps

LONG = 100_000
"""A length for which even a quadratic pattern is too slow."""

EXPONENTIAL = [
    r"(a+)+$",
    r"(a*)*b",
    r"^(a|aa)+$",
    r"(?:a|a?)+b",
    r"(\w+\s?)*x",
    r"(x+x+)+y",
    r"([a-zA-Z]+)*\d",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(?i)(?:a|A,?)*!",
    r"(?:\d{1,3},?)+x",
    r"(?:a{0,30}){0,30}c",
    r"(?=(a+)+c)a",
    r"(?!(?:a|aa)*b)c",
    r"(?:(?:ab?)*)*c",
    r"(?:(?:a|b)+|c)*d",
    r"(a+?)+?$",
    r"(?:(\w)\1?)+!",
    r"^(?:(?:a|a){8}){5}b",
    r"(?:(?:(?:a?.){1,3}){1,3}){1,3}!",
]
POWERS = {
    r"\s+$": 2,
    r"a*a*$": 3,
    r"^a*a*$": 2,
    r"(.+), (.+)$": 3,
    r"^\d+\s*\d+\s*\d+$": 3,
    r'"(?:[^"\\]|\\.)*"': 2,
    r"(?:.*a){3}b": 4,
}
FINE = [
    r"(a+)+",
    r"a+",
    r"^[^,]+, [^,]+, (\d+)",
    r"^(?:a++)+b",
    r"^(?>a+)+b",
    r"^(?:[a-z]{1,40}\.)+x",
    r"^(?:[a-f0-9]{64},?)+x",
    r"[\s\S]*$",
    r"^(?:[^\"]|\")*x$",
    r"^\s*(?:\([^()]*\)\s*)?(?:[.]\s*)?$",
    r"^(?:a(?!a))+$",
    r"([0-9]{4})-([0-9]{2})",
]


def text_of(slow: SlowPattern, count: int) -> str:
    return slow.prefix + slow.pump * count + slow.suffix


def steps_of(pattern: str, slow: SlowPattern, count: int, *, whole: bool = False) -> int:
    try:
        return count_steps(pattern, text_of(slow, count), whole=whole, most=100_000)[1]
    except OverflowError:
        return 1_000_000_000


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_pattern_that_doubles_its_time_with_each_repetition_is_told_with_a_text_that_shows_it(pattern):
    slow = find_slow_part(pattern, 100)

    assert slow is not None
    assert slow.degree == 0
    if len(slow.pump) > 6:
        assert steps_of(pattern, slow, 1) > 5_000
        return
    first, second = steps_of(pattern, slow, 3), steps_of(pattern, slow, 6)
    # Twice for each repetition at the least, but for what is the same for all of them.
    assert second > 5 * first


@pytest.mark.parametrize(("pattern", "power"), POWERS.items())
def test_a_pattern_whose_time_is_a_power_of_the_length_is_told_with_its_power(pattern, power):
    slow = find_slow_part(pattern, LONG)

    assert slow is not None
    assert slow.degree == power
    assert steps_of(pattern, slow, 18) > 0.4 * 3**power * steps_of(pattern, slow, 6)


@pytest.mark.parametrize("pattern", FINE)
def test_a_pattern_that_needs_time_as_the_text_is_long_is_fine_at_any_length(pattern):
    assert find_slow_part(pattern, LONG) is None


@pytest.mark.parametrize("pattern", [r"\s+$", r"^a*a*$", r'"(?:[^"\\]|\\.)*"', r"^(.*?)\s*$"])
def test_the_square_of_a_short_text_is_let_through(pattern):
    assert find_slow_part(pattern, 4000) is None
    assert find_slow_part(r"a*a*$", 4000) is not None
    assert find_slow_part(r"a*a*$", 200) is None


def test_a_whole_match_begins_once():
    assert find_slow_part(r"a*a*", 4000, whole=True) is None
    assert find_slow_part(r"a*a*a*", 4000, whole=True) is not None
    assert find_slow_part(r"(a+)+", 4000, whole=True) is not None


def test_the_sentence_names_the_part_and_a_text():
    assert str(find_slow_part("x(a+)+$", 4000)) == (
        "`(a+)+` can read the same text in so many ways that trying them never ends: 'a' repeated behind 'xa', then '0'"
    )
    assert str(find_slow_part("^,*[,;]*,*$", 4000)) == (
        "the time of `,*` and `[,;]*` grows with the cube of the length of a text: ',' repeated behind ',', then '!'"
    ) or "cube" in str(find_slow_part("^,*[,;]*,*$", 4000))


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:" * 80 + "a" + ")*" * 80 + "b",
        "(a)" + "".join(rf"(\{at}\{at})" for at in range(1, 30)),
        "|".join(f"(?:x{at}.*y)*" for at in range(400)) + "$",
        "(?:[a-z]{0,100}){0,100}" * 20 + "!",
        "a{99}" * 99,
        "(?:a?){99}" * 9 + "a{99}",
        "(?=" * 50 + "a*" + ")" * 50 + "b",
        "(?:(?:a|b|c|d|e|f|g)*[a-g])" * 40 + "$",
    ],
)
def test_the_analysis_itself_ends_soon(pattern):
    started = time.process_time()
    find_slow_part(pattern, 4000)

    assert time.process_time() - started < 20  # 0.5 s at most where it was measured


# --- Against the steps of a matcher -----------------------------------------------------------------------------------

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w"])


def repeated(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.sampled_from(["*", "+", "?", "*?", "+?", "{2}"])
    return st.builds(lambda part, count: f"(?:{part}){count}", inner, counts)


PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        repeated(inner),
        repeated(ATOMS),
    ),
    max_leaves=5,
)
TEXTS = ["".join(pump) for size in (1, 2) for pump in product("ab", repeat=size)]


@given(PATTERNS, st.sampled_from(["", "$", "b", "c"]), st.booleans())
def test_what_is_called_fine_is_linear_on_every_text_that_is_repeated(pattern, end, whole):
    pattern = f"^(?:{pattern}){end}"
    if find_slow_part(pattern, LONG, whole=whole) is not None:
        return
    for pump in TEXTS:
        for suffix in ("", "b", "c"):
            texts = [(pump * 36)[:length] + suffix for length in (12, 36)]
            short, long = (count_steps(pattern, text, whole=whole, most=20_000)[1] for text in texts)
            # Three times as many steps for three times the length, and what every text costs.
            assert long < 4.5 * short + 60, (pump, suffix)


@given(PATTERNS, st.sampled_from(["$", "b", "c"]), st.booleans())
def test_what_is_called_slow_is_slow_on_the_text_that_is_told(pattern, end, whole):
    pattern = f"^(?:{pattern}){end}"
    slow = find_slow_part(pattern, LONG, whole=whole)
    if slow is None or slow.degree < 0:
        return
    try:
        counts = [count_steps(pattern, text_of(slow, count), whole=whole, most=100_000) for count in (8, 16)]
    except OverflowError:
        return
    if not any(matches for matches, _ in counts):
        assert counts[1][1] > 2.2 * counts[0][1]


def test_the_matcher_that_counts_agrees_with_python():
    for pattern in [*POWERS, *FINE]:
        for text in ("aaab", "a, b, 7", "  ", '"a\\"b"', "ab.ab.x", "aaaa"):
            assert count_steps(pattern, text)[0] == bool(re.search(pattern, text)), (pattern, text)
