"""Who wrote each post is kept with it: which series of short texts are names, and which are not."""

from __future__ import annotations

import numpy as np
import pytest

from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.frame import to_frame
from specloom.domains.scrape.content.page import PageFacts
from specloom.domains.scrape.content.select import number_series, take_authors
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

NAMES = ("ann", "bo", "ann", "cem")


def named(body: str, *, taken: str = "post") -> list[str]:
    """The texts that are taken besides posts, when those with this word are."""
    page = to_frame(to_blocks(tree.parse(f"<body>{body}</body>")), PageFacts((), "", "", ()), Words({}, {}, {}))
    assert page is not None
    texts = [page.blocks[at].text for at in page.at]
    found = take_authors(page, number_series(page), np.array([taken in text for text in texts]))
    return [text for text, take in zip(texts, found.tolist(), strict=True) if take and taken not in text]


def thread(*lines: str, names: tuple[str, ...] = NAMES) -> str:
    """A thread of a post for each name; in the lines before each, `{}` is the name."""
    return "".join(
        f"<article>{''.join(lines).replace('{}', name)}<p>This is what post {at} says.</p></article>"
        for at, name in enumerate(names)
    )


@pytest.mark.parametrize(
    "line",
    [
        "<div class='author'><a href='/u'>{}</a></div>",
        "<h4 class='message-name'>{}</h4>",
        "<div class='postUsername'>{} wrote:</div>",
    ],
)
def test_the_name_before_each_post_is_taken(line: str) -> None:
    assert [text.split()[0] for text in named(thread(line))] == list(NAMES)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("<div class='user-title'>{}</div>", id="a title"),
        pytest.param("<div class='author-avatar'>{}</div>", id="a picture"),
        pytest.param("<div class='product-name'>{}</div>", id="the name of a thing"),
        pytest.param("<div class='mood'>{}</div>", id="called nothing of a person"),
        pytest.param("<div class='author'>{} has been here since the first day</div>", id="too long"),
    ],
)
def test_other_lines_are_no_names(line: str) -> None:
    assert named(thread(line)) == []


def test_one_text_again_and_again_is_no_name() -> None:
    assert named(thread("<div class='author'>{}</div>", names=("Member",) * 4)) == []


def test_initials_are_no_names() -> None:
    assert named(thread("<div class='author'>{}</div>", names=("A", "B", "C", "D"))) == []


def test_two_are_no_series() -> None:
    assert named(thread("<div class='author'>{}</div>", names=("ann", "bo"))) == []


def test_names_with_no_posts_between_them_are_a_list_of_members() -> None:
    members = "".join(f"<li class='member'>{name}</li>" for name in NAMES)

    assert named(f"<p>This is a post.</p><ul>{members}</ul>") == []


def test_a_name_without_a_post_behind_it_is_left_out() -> None:
    online = "<article><div class='author'>dee</div></article>"

    assert named(thread("<div class='author'>{}</div>") + online) == list(NAMES)


def test_a_line_of_the_series_that_is_too_long_for_a_name_is_left_out() -> None:
    long = "dee who has begun this thread"

    assert named(thread("<div class='author'>{}</div>", names=(*NAMES, long))) == list(NAMES)
    assert named(thread("<div class='author'>{}</div>", names=(*NAMES[:3], long))) == []


def test_a_list_of_members_that_goes_on_behind_the_thread_is_no_series_of_names() -> None:
    members = "".join(f"<div class='member'>{name}</div>" for name in NAMES)
    posts = "<p>This is what a post says.</p>" * 6

    assert named(f"<section>{members}</section><main>{posts}</main><section>{members}</section>") == []


@pytest.mark.parametrize("turn", [1, -1])
def test_of_two_series_the_one_called_a_name_is_taken(turn: int) -> None:
    lines = "<div class='member'>from {}</div>", "<div class='username nick-name'>{}</div>"

    assert named(thread(*lines[::turn])) == list(NAMES)


@pytest.mark.parametrize("turn", [1, -1])
def test_of_two_series_called_alike_the_one_that_is_taken_in_part_is_completed(turn: int) -> None:
    lines = "<div class='author wide'>{} L</div>", "<div class='author'>{} S</div>"
    body = thread(*lines[::turn]).replace("ann S", "ann post", 1)

    assert named(body) == ["bo S", "ann S", "cem S"]
