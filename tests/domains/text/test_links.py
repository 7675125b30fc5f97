"""Links and pictures of a kept text are told in the form that is asked for, and all else as it is."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.links import AS_KEPT, IMAGES, LINKS, WORDS, LinkStyle, Rendition, says_something
from specloom.domains.text.windows import to_cost

PAGE = "https://otters.example/diet"


def tell(text: str, links: str = "numbered", images: str = "alt", *, page: str = PAGE) -> str:
    return Rendition(text, LinkStyle(links, images), page=page).tell()


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        # numbers, each address once, on the page's own host without it
        (
            "[Crabs](https://a.example/1) and [fish](https://a.example/2), [crabs](https://a.example/1).",
            "[Crabs][1] and [fish][2], [crabs][1].\n\n[1]: https://a.example/1\n[2]: https://a.example/2",
        ),
        ("[Young](https://otters.example/young?a=1#b)", "[Young][1]\n\n[1]: /young?a=1#b"),
        ("[Young](https://otters.example)", "[Young][1]\n\n[1]: https://otters.example"),
        ("[Evil](https://otters.example//evil.example/)", "[Evil][1]\n\n[1]: https://otters.example//evil.example/"),
        ("[Here](/young) and [there](https://otters.example/young)", "[Here][1] and [there][1]\n\n[1]: /young"),
        # numbers that the text has itself in brackets are those of its notes
        (
            "Otters eat crabs.[1][2] See [Crabs](https://a.example/).\n\n[1] Brown 2019",
            "Otters eat crabs.[1][2] See [Crabs][3].\n\n[1] Brown 2019\n\n[3]: https://a.example/",
        ),
        # what has links of its own
        (
            "See [the study][s] and [Brown].\n\n[s]: https://a.example/s 'A study'\n[brown]: <https://a.example/b>",
            "See [the study][1] and [Brown][2].\n\n[1]: https://a.example/s\n[2]: https://a.example/b",
        ),
        # trackers
        ("[A](https://a.example/?utm_source=x&id=3&fbclid=y#p)", "[A][1]\n\n[1]: https://a.example/?id=3#p"),
        ("[A](https://a.example/?gclid=x#:~:text=otters)", "[A][1]\n\n[1]: https://a.example/"),
        # what leads nowhere else, and what says its address
        ("[Top](#top) [Print](javascript:print()) [self](https://otters.example/diet)", "Top Print self"),
        ("[a.example/b](https://a.example/b) [ada@a.example](mailto:ada@a.example)", "a.example/b ada@a.example"),
        ("[Write](mailto:ada@a.example)", "[Write][1]\n\n[1]: mailto:ada@a.example"),
        ("before [](https://a.example/) behind", "before  behind"),
        # what is written out
        (
            "<https://a.example/?utm_source=x> https://a.example/[1](2)",
            "<https://a.example/?utm_source=x> https://a.example/[1](2)",
        ),
        # no links
        (
            "`[a](https://a.example/)` and ``b ` [c](https://c.example/)``",
            "`[a](https://a.example/)` and ``b ` [c](https://c.example/)``",
        ),
        ("```\n[a](https://a.example/)\n```", "```\n[a](https://a.example/)\n```"),
        ("> ~~~ md\n> [a](https://a.example/)\n> ~~~", "> ~~~ md\n> [a](https://a.example/)\n> ~~~"),
        ("Code:\n\n    [a](https://a.example/)", "Code:\n\n    [a](https://a.example/)"),
        (r"\[a](https://a.example/) f[0,1](x) $a[i](n)$", r"\[a](https://a.example/) f[0,1](x) $a[i](n)$"),
        ("[[a](https://a.example/)](https://b.example/)", "[[a](https://a.example/)](https://b.example/)"),
        # cells of tables, lists and lines
        (
            "| [a](https://a.example/) | b |\n| --- | --- |\n"
            "| `[c](https://c.example/)` | [d](https://d.example/x_(y)) |",
            "| [a][1] | b |\n| --- | --- |\n| `[c](https://c.example/)` | [d][2] |"
            "\n\n[1]: https://a.example/\n[2]: https://d.example/x_(y)",
        ),
        (
            "- [a\n  b](https://a.example/)\n    - [c](https://c.example/)",
            "- [a\n  b][1]\n    - [c][2]\n\n[1]: https://a.example/\n[2]: https://c.example/",
        ),
        # pictures
        ("An ![otter that eats](https://a.example/i.jpg) here", "An ![otter that eats] here"),
        ("One\n\n![IMG_2041.jpg](https://a.example/i.jpg)\n\nTwo", "One\n\nTwo"),
        ("One\n![logo](https://a.example/i.jpg)\nTwo", "One\nTwo"),
        ("- ![](https://a.example/i.jpg)\n- two", "- two"),
        ("| ![photo](https://a.example/i.jpg) | b |", "|  | b |"),
        (
            "[![Otters at sea](https://a.example/i.jpg)](https://a.example/)",
            "[![Otters at sea]][1]\n\n[1]: https://a.example/",
        ),
        ("[![logo](https://a.example/i.jpg) Otters](https://a.example/)", "[ Otters][1]\n\n[1]: https://a.example/"),
        # a picture that leads where its words lead as well
        (
            "[![Young otters](/i.jpg)](/young)\n\n### [Young Otters, a guide](/young)\n\n[![Old ones](/o.jpg)](/young)",
            "### [Young Otters, a guide][1]\n\n[![Old ones]][1]\n\n[1]: /young",
        ),
        ("a ![x y](https://a.example/i.jpg)(see there)", "a ![x y] (see there)"),
    ],
)
def test_links_have_numbers_and_pictures_their_words(kept: str, told: str) -> None:
    assert tell(kept) == told


@pytest.mark.parametrize(
    ("links", "images", "told"),
    [
        ("inline", "inline", "An [![otter at sea](https://o.example/i.jpg)](/a) and [fish](https://f.example/ 'F')."),
        ("inline", "alt", "An [![otter at sea]](/a) and [fish](https://f.example/ 'F')."),
        ("inline", "none", "An  and [fish](https://f.example/ 'F')."),
        ("none", "inline", "An ![otter at sea](https://o.example/i.jpg) and fish."),
        ("none", "alt", "An ![otter at sea] and fish."),
        ("none", "none", "An  and fish."),
        ("numbered", "none", "An  and [fish][1].\n\n[1]: https://f.example/"),
        (
            "numbered",
            "inline",
            "An [![otter at sea](https://o.example/i.jpg)][1] and [fish][2].\n\n[1]: /a\n[2]: https://f.example/",
        ),
    ],
)
def test_each_form_of_links_goes_with_each_of_pictures(links: str, images: str, told: str) -> None:
    kept = "An [![otter at sea](https://o.example/i.jpg)](/a) and [fish](https://f.example/ 'F')."

    assert tell(kept, links, images) == told


def test_without_links_their_words_begin_nothing_new() -> None:
    kept = "[# one](#1)\n\n[2. two](#2)\n\n[z][(y)](https://y.example/) [a [b]](https://a.example/)(https://c.example/)"

    assert tell(kept, "none").startswith("\\# one\n\n2. two\n\n[z][(y)](https://y.example/) [a [b]](")


@pytest.mark.parametrize(
    ("alt", "says"),
    [
        ("Otter", True),
        ("Figure 2: weight by age", True),
        ("水獺", True),
        ("4 stars", True),
        ("logo", False),
        ("Avatar", False),
        ("otter-1.JPG", False),
        ("IMG_2041", False),
        ("12345", False),
        ("—", False),
    ],
)
def test_an_alternative_text_says_something_or_that_there_is_a_picture(alt: str, says: bool) -> None:
    assert says_something(alt) is says


def test_a_number_means_the_same_in_every_piece_and_each_piece_lists_its_own() -> None:
    text = "[a](https://a.example/) [b](https://b.example/)\n\n[c](https://c.example/) [a](https://a.example/)"
    rendition = Rendition(text, LinkStyle(), page=PAGE)
    middle = text.index("[c]")

    assert rendition.tell(0, middle) == "[a][1] [b][2]\n\n[1]: https://a.example/\n[2]: https://b.example/"
    assert rendition.tell(middle) == "[c][3] [a][1]\n\n[1]: https://a.example/\n[3]: https://c.example/"


def test_beside_another_host_addresses_are_whole_and_have_the_same_numbers() -> None:
    text = "[a](/a) [self](https://otters.example/diet) [b](https://b.example/)"

    told = Rendition(text, LinkStyle(), page=PAGE, base="https://short.example/x").tell()

    assert told == "[a][1] self [b][2]\n\n[1]: https://otters.example/a\n[2]: https://b.example/"


def test_code_that_a_piece_leaves_open_is_closed_before_the_list() -> None:
    text = "[a](https://a.example/)\n\n```py\none\ntwo\n```\n\nend"

    told = Rendition(text, LinkStyle()).tell(0, text.index("two"))

    assert told == "[a][1]\n\n```py\none\n```\n\n[1]: https://a.example/"


def test_an_offset_within_an_address_tells_no_half_of_it() -> None:
    text = "Eat [fish](https://fish.example/long) now"
    rendition = Rendition(text, LinkStyle())

    assert rendition.tell(text.index("example")) == " now"
    assert rendition.tell(0, text.index("example")) == "Eat [fish"


# --- What holds for any text ------------------------------------------------------------------------------------------


ADDRESSES = st.sampled_from(
    [
        "https://a.example/",
        "https://b.example/x_(y)?utm_source=z&q=1#p",
        "/c",
        "#d",
        "d.html",
        "mailto:e@e.example",
        "x",
        "",
    ]
)
ATOMS = st.sampled_from(
    [*"[]()!`\\<>|\n \t#-*:1a\"'", "](", "][", "![", "\n\n", "```", "~~~", "    ", "> ", "- ", "1. ", "otter", "[1]"]
)
WORDS_IN_LINKS = st.text(st.sampled_from("ab 1*[]`\\"), max_size=6)
PIECES = st.one_of(
    ATOMS,
    st.builds("[{}]({})".format, WORDS_IN_LINKS, ADDRESSES),
    st.builds("![{}]({})".format, WORDS_IN_LINKS, ADDRESSES),
    st.builds("[![{}]({})]({})".format, WORDS_IN_LINKS, ADDRESSES, ADDRESSES),
    st.builds("\n\n[{}]: {}\n\n".format, st.sampled_from(["a", "1", "b b"]), ADDRESSES),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
STYLES = st.builds(LinkStyle, st.sampled_from(LINKS), st.sampled_from(IMAGES))
PROSE = st.lists(
    st.sampled_from(["otters eat fish", "**few** _crabs_", "`a 1`", "\n\n", "\n", " b", "| a | b |", "# "]), max_size=20
).map("".join)


@given(TEXTS, STYLES)
def test_what_was_told_is_told_the_same_again(text: str, style: LinkStyle) -> None:
    told = Rendition(text, style, page=PAGE).tell()

    assert Rendition(told, style, page=PAGE).tell() == told


@given(st.lists(st.tuples(PROSE, st.sampled_from(["a", "b c", "d"]), ADDRESSES), max_size=8), PROSE)
def test_what_stands_outside_of_links_is_unchanged(parts: list[tuple[str, str, str]], end: str) -> None:
    text = "".join(f"{prose}x [{words}]({address})\n\n" for prose, words, address in parts) + end

    told = Rendition(text, LinkStyle(), page=PAGE).tell()

    body = re.sub(r"(?:\A|\n\n)(?:\[\d+\]: \S+(?:\n|\Z))+\Z", "", told)
    plain = re.sub(r"\[([\w ]+)\](?:\[\d+\]|\(x\))", r"\1", body)
    assert plain.rstrip() == ("".join(f"{prose}x {words}\n\n" for prose, words, _ in parts) + end).rstrip()


@given(TEXTS)
def test_every_number_has_an_address_and_every_address_a_number(text: str) -> None:
    rendition = Rendition(text, LinkStyle(), page=PAGE)
    body, numbers = rendition.tell_body(0, len(text))
    told = rendition.tell()

    listed = re.findall(r"^\[(\d+)\]: (\S+)$", told[len(body.rstrip()) :], re.MULTILINE)
    assert [int(number) for number, _ in listed] == sorted(numbers)
    assert len({address for _, address in listed}) == len(listed)
    assert all(f"][{number}]" in body for number in numbers)


@given(TEXTS, STYLES, st.integers(20, 200), st.integers(0, 300))
def test_windows_join_to_the_whole_and_fit(text: str, style: LinkStyle, room: int, most: int) -> None:
    rendition = Rendition(text, style, page=PAGE)
    bodies, start = [], 0
    while start < len(text):
        end = rendition.find_end(start, room, most=most)
        assert end > start
        told = rendition.tell(start, end)
        fits = to_cost(told) <= room and (not most or len(told.encode()) <= most)
        assert fits or end - start < 500
        bodies.append(rendition.tell_body(start, end)[0])
        start = end

    assert "".join(bodies) == rendition.tell_body(0, len(text))[0]


@given(TEXTS)
def test_a_text_in_the_form_in_which_it_is_kept_is_that_text(text: str) -> None:
    rendition = Rendition(text, AS_KEPT, page=PAGE)

    assert rendition.tell() == text
    assert rendition.tell(2, 9) == text[2:9]


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "]",
        "![",
        "](",
        "][",
        "[a](",
        "[a](b [",
        "[a]((",
        "[a](b(c",
        '[a](b "',
        "`",
        "``` `` ` ",
        "`a``b```",
        "[`",
        "<a ",
        "<a [",
        "\\[",
        "[a](/b)",
        "[[a](/b)](/c)",
        "![a [b](/c)](/d)",
        "[a]: /b\n",
        "[a][b]",
        "[a][b]\n\n[b]: /c\n\n",
        "![](/a)\n",
        "- ![](/a)\n\n",
        "[![](/a)](/b)",
        "> ",
        "> - ",
        "\n    [a](/b)",
        "~~~\n",
        "```\n[a](/b)\n",
        "[1] ",
        "| [a](/b) ",
        "\n\n- ",
    ],
)
@pytest.mark.parametrize("style", [LinkStyle(), WORDS], ids=["numbered", "none"])
def test_time_grows_with_the_text(part: str, style: LinkStyle) -> None:
    def take(size: int) -> float:
        text = (part * (size // len(part) + 1))[:size]
        began = time.process_time()
        rendition = Rendition(text, style, page=PAGE)
        rendition.tell()
        rendition.find_end(0, 6_000)
        return time.process_time() - began

    take(1_000)
    assert min(take(160_000), take(160_000)) < 2.0 + 14 * min(take(20_000), take(20_000))
