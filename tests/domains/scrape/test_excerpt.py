"""Text is freed of repeats, cut where a reader would cut it, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape import excerpt
from specloom.domains.scrape.excerpt import (
    NOTE,
    count_bytes,
    count_words,
    drop_copies,
    estimate_tokens,
    name_blocks,
    to_size_category,
    to_sparsity_warning,
    truncate,
)

NOTICE = "Subscribe to our newsletter and never miss what happens in the harbour again."


def drop_repeats(text: str, seen: set[str] | None = None) -> str:
    return excerpt.drop_repeats(name_blocks(text), set() if seen is None else seen)


def test_prose_that_comes_again_is_dropped() -> None:
    assert (
        drop_repeats(f"One.\n\n{NOTICE}\n\nTwo.\n\n{NOTICE.replace(' ', '  ')}\n\nThree.")
        == f"One.\n\n{NOTICE}\n\nTwo.\n\nThree."
    )


OTHER = "The harbour master closes the old bridge whenever a ship of more than two masts wants to pass it."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{NOTICE}\n\n{OTHER}\n\n# Again\n\n{NOTICE}\n\n{OTHER}", f"{NOTICE}\n\n{OTHER}\n\n# Again"),
        (f"{NOTICE}\n\n{OTHER}\n\n{NOTICE}\n\n{OTHER}\n\n{NOTICE}\n\n{OTHER}", f"{NOTICE}\n\n{OTHER}"),
    ],
)
def test_a_passage_that_a_page_has_twice_is_told_once(text: str, kept: str) -> None:
    assert drop_copies(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        f"{NOTICE}\n\nOne.\n\n{OTHER}\n\nTwo.\n\n{NOTICE}",
        f"{NOTICE}\n\n{NOTICE}\n\n{NOTICE}",
        "Yes.\n\nNo.\n\nYes.\n\nNo.",
        f"```\n{NOTICE}\n\n{OTHER}\n```\n\n```\n{NOTICE}\n\n{OTHER}\n```",
    ],
    ids=["a chorus", "a litany", "short lines", "code"],
)
def test_what_a_page_repeats_on_purpose_stays(text: str) -> None:
    assert drop_copies(text) == text


@pytest.mark.parametrize(
    "block",
    [
        "Yes.",
        "## Which of the two bridges over the harbour would you have wanted to build yourself",
        "- Detailed review and walkthrough of the whole process, from the first letter to the last",
        "| cell | another cell | and one more | with text enough to be longer than a short line |",
        "> quoted by everybody who answers below, and long enough to be counted as a paragraph",
        "```\nfor (;;) { print('the same code as before, in another place of the same tutorial'); }\n```",
        "    indented code that is the same as before, in another place of the same tutorial",
        "What would you have done if you had been the engineer who found the crack in the pier?",
        "This is what the engineer who was responsible for the bridge answered to the committee:",
    ],
)
def test_what_is_repeated_for_a_reason_stays(block: str) -> None:
    text = f"{block}\n\nBetween.\n\n{block}"

    assert drop_repeats(text) == text


def test_links_that_stand_alone_are_dropped_at_any_length() -> None:
    assert drop_repeats("[Reply](/r)\n\nText\n\n[Reply](/r)") == "[Reply](/r)\n\nText"


def test_blank_lines_do_not_part_code() -> None:
    code = "```\na long line of code that is the same as another long line of code in here\n\n\nx\n```"

    assert drop_repeats(f"{code}\n\n{code}") == f"{code}\n\n{code}"


def test_repeats_are_found_from_one_text_to_the_next() -> None:
    seen: set[str] = set()

    drop_repeats(f"A.\n\n{NOTICE}", seen)

    assert drop_repeats(f"B.\n\n{NOTICE}", seen) == "B."


def test_links_and_quotation_marks_of_another_site_make_no_other_text() -> None:
    seen: set[str] = set()
    told = (
        "The keeper said \u201cit\u2019s fish\u201d \u2013 "
        "and [otters](https://a.example/tags/otters) ate every bit of it that day."
    )
    again = 'The keeper said "it\'s fish" - and otters ate every bit of it that day.'
    other = 'The keeper said "it\'s fish" - and badgers ate every bit of it that day.'

    assert drop_repeats(told, seen) == told
    assert drop_repeats(told.replace("a.example/tags", "b.example/topic"), seen) == ""
    assert drop_repeats(again, seen) == ""
    assert drop_repeats(other, seen) == other


def test_a_heading_goes_with_all_that_stood_under_it() -> None:
    seen: set[str] = set()
    drop_repeats(NOTICE, seen)

    def drop(text: str) -> str:
        return drop_repeats(text, set(seen))

    assert drop(f"# A\n\n{NOTICE}") == ""
    assert drop(f"# A\n\n## B\n\n{NOTICE}\n\n## C\n\nC.") == "# A\n\n## C\n\nC."
    assert drop(f"# A\n\n## B\n\n{NOTICE}") == ""
    assert drop(f"## B\n\n{NOTICE}\n\nMore.") == "## B\n\nMore."
    assert drop(f"## B\n\n{NOTICE}\n\n# A\n\nA.") == "# A\n\nA."
    assert drop(f"## Empty\n\n## B\n\n{NOTICE}\n\n- A list.") == "## Empty\n\n## B\n\n- A list."


def test_what_fits_is_not_touched() -> None:
    assert truncate("abc", 3).text == "abc"
    assert not truncate("abc", 3).truncated


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a" * 70 + "\n\n" + "b" * 60, "a" * 70),
        ("a" * 70 + ". " + "b" * 60, "a" * 70 + "."),
        ("界" * 25 + "。" + "界" * 25, "界" * 25 + "。"),
        ("a" * 70 + "\n" + "b" * 60, "a" * 70),
        ("a" * 70 + " " + "b" * 60, "a" * 70),
        ("a" * 10 + "\n\n" + "b" * 120, "a" * 10 + "\n\n" + "b" * 88),
    ],
)
def test_a_cut_is_made_at_the_best_place_in_the_second_half(text: str, kept: str) -> None:
    assert truncate(text, 100, note="").text == kept


def test_the_note_is_within_the_limit_and_left_out_of_a_tiny_one() -> None:
    cut = truncate("word " * 100, 200)

    assert cut.truncated
    assert cut.text.endswith(NOTE)
    assert count_bytes(cut.text) <= 200
    assert truncate("word " * 100, 20).text == "word word word word"


def test_an_open_code_fence_is_closed() -> None:
    cut = truncate("Text.\n\n```python\n" + "x = 1\n" * 100, 300)

    assert cut.text.removesuffix(NOTE).endswith("x = 1\n```")
    assert count_bytes(cut.text) <= 300


def test_a_character_is_not_parted_from_its_marks() -> None:
    family = "👩\u200d👩\u200d👧"

    assert truncate("a" * 20 + family + "b" * 50, 32, note="").text == "a" * 20


@given(st.text(max_size=300), st.integers(0, 400))
def test_a_cut_is_valid_within_the_limit_and_a_beginning(text: str, most: int) -> None:
    cut = truncate(text, most, note="")

    assert count_bytes(cut.text) <= most
    assert cut.truncated == (count_bytes(text) > most)
    if "```" not in text and "~~~" not in text:
        assert text.startswith(cut.text)


@given(st.text(alphabet="ab \n`~.", max_size=300), st.integers(0, 400))
def test_a_cut_with_fences_and_a_note_keeps_the_limit(text: str, most: int) -> None:
    assert count_bytes(truncate(text, most).text) <= most


@given(st.text(max_size=300))
def test_dropping_repeats_twice_changes_nothing_more(text: str) -> None:
    once = drop_repeats(text)

    assert drop_repeats(once) == once


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("two words", 2),
        ("", 0),
        ("中文。和 two words", 5),
        ("ひらがな カタカナ", 8),
        ("สวัสดี", 6),
        ("안녕 하세요", 2),
        ("naïve café", 2),
    ],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_sizes_and_tokens_follow_the_contract() -> None:
    assert [to_size_category(size) for size in (0, 4999, 5000, 20_000, 49_999, 50_000)] == [
        "small", "small", "medium", "large", "large", "very_large",
    ]  # fmt: skip
    assert estimate_tokens(403) == 100


def test_a_sparse_page_is_called_so() -> None:
    assert to_sparsity_warning(150) == ""
    assert to_sparsity_warning(149).startswith("Only 149 words were read")
    assert to_sparsity_warning(1).startswith("Only 1 word was read")
