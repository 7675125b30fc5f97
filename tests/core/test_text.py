"""Characters that nobody sees are taken out of text, where nothing needs them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.text import clean, is_clean


@pytest.mark.parametrize(
    ("text", "cleaned", "count"),
    [
        ("pass\u200bword", "password", 1),
        ("a\u202eb\u2066c\u2069\u202c", "abc", 4),
        ("\ufeffstart", "start", 1),
        ("a\u2060b\u2063c", "abc", 2),
        ("bell\x07 and escape\x1b[0m", "bell and escape[0m", 2),
        ("a\x85b\u2028c\u2029d", "a\nb\nc\nd", 0),
        ("tags\U000e0049\U000e0047\U000e004e", "tags", 3),
        ("\u3164blank\uffa0", "blank", 2),
        ("latin\u200d\u200cletters", "latinletters", 2),
        ("x" + "\ufe01\ufe0f" * 20, "x\ufe01", 39),
        ("y" + "\U000e0101\U000e0155", "y", 2),
        ("soft\u00adhyphen", "softhyphen", 0),
        ("tab\tand\nline\r\n", "tab\tand\nline\r\n", 0),
    ],
)
def test_invisible_characters_go_and_are_counted(text: str, cleaned: str, count: int) -> None:
    assert clean(text) == (cleaned, count)


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",
        "क्‍ष र्‍य",
        "ශ්‍රී ලංකා",
        "👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ ☎️ 1️⃣",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "葛\U000e0100城",
        "ᠮᠣᠩᠭᠣᠯ\u180bᠤᠨ",
        "Größe — naïve “quoted” text… 10 km²",
        "日本語\u3000全角",
    ],
)
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert clean(text) == (text, 0)


def test_a_joiner_does_not_stay_for_the_sake_of_another() -> None:
    """A letter of a script that joins would otherwise carry a message in joiners behind it."""
    text, count = clean("\u06cc" + "\u200c\u200d" * 30)

    assert (text, count) == ("\u06cc\u200c", 59)


@given(st.text(max_size=200))
def test_a_clean_text_stays_clean(text: str) -> None:
    cleaned, count = clean(text)

    assert clean(cleaned) == (cleaned, 0)
    assert len(cleaned) <= len(text)
    assert count <= len(text)
    assert not any(unicodedata.category(char) == "Cc" and char not in "\t\n\r" for char in cleaned)
    if is_clean(text):
        assert cleaned == text
