"""Markdown without its marks: the words of a page, in their lines, and nothing of its addresses."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.fold import strip_markup, to_plain


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# What otters eat", "What otters eat"),
        ("- **Fish** – mostly *fresh* fish", "Fish – mostly fresh fish"),
        ("  3. Crabs", "Crabs"),
        ("> - > Frogs", "Frogs"),
        ("See [the river](https://a.example/fish_(food)?q=1) there.", "See the river there."),
        ("[![An otter](https://a.example/o.png)](https://a.example/)", "An otter"),
        ("A note[[1]](https://a.example/#n1).", "A note[1]."),
        ("[broken\nin two](https://a.example/)", "broken\nin two"),
        ("Link: <https://a.example/otters-eat-fish>", "Link: "),
        ("Link: https://a.example/otters-eat-fish. More", "Link: . More"),
        ("(see https://a.example/fish?a=1&b), 如https://a.example/b。是", "(see ), 如。是"),
        ("[https://a.example/fish](https://a.example/fish)", ""),
        ("| Food | Share |\n| --- | --- |\n| Fish | 90 % |", "Food | Share\n\nFish | 90 %"),
        ("```py\neat(fish)\n```", "\neat(fish)\n"),
        (r"1945\. It was 2*3 \*stars\*, and \[no] link", "1945. It was 2*3 *stars*, and [no] link"),
        ("2 * 3 * 4 = 24 and -5", "2 * 3 * 4 = 24 and -5"),
        ("one\n\n---\n\ntwo", "one\n\n\n\ntwo"),
        ("", ""),
    ],
)
def test_marks_and_addresses_go_and_words_stay(markdown: str, plain: str) -> None:
    assert to_plain(markdown) == plain


@given(st.text(st.sampled_from("ab [](){}<>!*\\|>-#1.`~\n/:httpé中"), max_size=300))
def test_no_line_is_added_and_no_letter_that_was_not_there(markdown: str) -> None:
    plain = to_plain(markdown)

    assert plain.count("\n") <= markdown.count("\n")
    assert set(plain) <= set(markdown)


@pytest.mark.parametrize(
    "piece",
    ["[", "[a[b]", "[a](", "[a](b(c)", "![[", "*", "a*", "\\", "[\\", "> ", "|", "<http://", "http://", "http://."],
)
def test_hostile_marks_are_read_in_linear_time(piece: str) -> None:
    began = time.process_time()

    to_plain(piece * 60_000)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("A work with p<q and r>s", "A work with p<q and r>s"),
        ("If a<b then c>d", "If a<b then c>d"),
        ("List<?> of <T>", "List<?> of <T>"),
        ("H<sub>2</sub>O <jats:p>is <i>wet</i></jats:p>", "H2O is wet"),
        ('<span class="nocase">NASA</span>, <foo>closed</foo>', "NASA, closed"),
        ("&lt;i&gt;p&lt;/i&gt; &lt; 0.05<!-- a > b -->", "p < 0.05"),
        ("<scr<script>ipt>x", "x"),
    ],
)
def test_tags_go_and_signs_of_comparison_stay(text: str, bare: str) -> None:
    assert strip_markup(text) == bare
