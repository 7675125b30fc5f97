"""The heuristics over the model's probabilities: each has a page that is read otherwise without it.

In a page, `p` is the chance that the model gives a unit and `taken` marks what is to be chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pytest

from specloom.domains.scrape.content import finder, reweight
from specloom.domains.scrape.content.blocks import to_blocks
from specloom.domains.scrape.content.features import to_frame
from specloom.domains.scrape.content.page import SIGNALS, PageFacts
from specloom.domains.scrape.content.text_features import Words
from specloom.domains.scrape.html import parse as tree

TYPES = ("article", "documentation", "service", "forum", "listing", "product", "collection")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

Rule = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    rule: Rule
    type: str
    body: str
    signals: tuple[str, ...] = ()


def prose(day: str, chance: float = 0.9, taken: str = "taken") -> str:
    text = f"On {day} the kiln was lit at dawn, and for nine hours the potter fed it with split pine."
    return f"<p p={chance} {taken}>{text}</p>"


def cards(count: int, taken: str = "") -> str:
    return "".join(
        f"<div class=card><p class=line p=.3 {taken}>Bowl {at} of ash glaze</p></div>" for at in range(count)
    )


def menu(count: int) -> str:
    return f"<ul>{''.join(f'<li p=.01>menu {at}</li>' for at in range(count))}</ul>"


def posts(*letters: str, inner: str = "p") -> str:
    return "".join(f"<article><div class=post><{inner} {letter}</{inner}></div></article>" for letter in letters)


def thread(line: str, names: tuple[str, ...] = ("ann", "bo", "ann", "cem")) -> str:
    return "".join(
        f"<article>{line.format(name)}{prose(day)}</article>" for name, day in zip(names, DAYS, strict=False)
    )


TEXT = "".join(prose(day) for day in DAYS)
ARTICLE = f"<article>{TEXT}</article>"
REMARKS = "".join(
    f"<p p=.95 {{0}}>Remark {at}: the wind turns, the chimney draws, and the whole yard smells of resin again.</p>"
    for at in range(12)
)
TABLE = "<table><tr p=.15 {0}><td>a</td><td>b</td></tr><tr p=.15 {0}><td>c</td><td>d</td></tr></table>"
POINTER = "<p p=.7 {0}>Read more: <a href=/a>Kilns of the cold north</a></p>"
VOTE = "<p p=.55 {0}>Vote for the bowl of the year</p>"
CALL = "<p p=.6 {0}>Write to us about this</p>"
SALE = "<p p=.6 {0}>Free delivery on orders of three bowls.</p>"
BOWLS = f"<h1 p=.9 taken>The wood kiln</h1>{TEXT}"
REVIEWS = "<div class={0}><p p=.6 {1}>I love this bowl, and so does the cat.</p></div>"
OTHER = "<article id=post-8 class='post type-post'>{0}</article>"
CLONE = "<p p=.6 {0}>Clay of the valley.</p><p p=.6 {0}>Glaze of ash.</p><p p=.6 {0}>Split pine and oak.</p>"
NEWS = prose("Easter day", 0.95, "")
SAID = "<p p=.9 {0}>The kiln was lit at dawn and fed until noon.</p>"
NOTES = "<p p=.9 taken>Tanks are counted in spring.</p><p p=.8 taken>All of them are.</p>"

CHANGED = [
    Case("comments", reweight.lower_comments, "article", f"{ARTICLE}<div class=comments>{REMARKS.format('')}</div>"),
    Case(
        "a pointer", reweight.lower_pointers, "article", f"<div>{prose('Easter day')}{POINTER.format('')}{TEXT}</div>"
    ),
    Case(
        "a pointer in Chinese",
        reweight.lower_pointers,
        "article",
        f"<div>{prose('Easter day')}<div p=.7>相关：<a href=/a>北方的窑炉与陶器</a></div>{TEXT}</div>",
    ),
    Case("a far group", reweight.lower_far_groups, "article", f"{TEXT}{menu(5)}{VOTE.format('')}"),
    Case("before the body", reweight.lower_outskirts, "article", f"<div>{CALL.format('')}</div>{ARTICLE}"),
    Case(
        "behind the last of the text",
        reweight.lower_outskirts,
        "article",
        f"<div>{TEXT}{prose('Easter day', 0.96)}{CALL.format('')}</div>",
    ),
    Case("cards", reweight.raise_cards, "listing", TEXT + cards(40, "taken")),
    Case("reviews", reweight.lower_reviews, "product", BOWLS + REVIEWS.format("review-list", "")),
    Case("navigation", reweight.lower_surroundings, "service", f"{BOWLS}<nav>{SALE.format('')}</nav>"),
    Case(
        "a header by its role",
        reweight.lower_surroundings,
        "service",
        f"{BOWLS}<div role=banner>{SALE.format('')}</div>",
    ),
    Case("before the title", reweight.lower_surroundings, "service", SALE.format("") + BOWLS),
    Case("outside of main", reweight.lower_surroundings, "service", f"<main>{BOWLS}</main>{SALE.format('')}"),
    Case("aside in a forum", reweight.lower_surroundings, "forum", f"{BOWLS}<aside>{SALE.format('')}</aside>"),
    Case(
        "the site's name is no title",
        reweight.lower_surroundings,
        "service",
        f"<aside><h1 p=.01>Kilns</h1></aside>{SALE.format('')}{BOWLS}",
    ),
    Case(
        "another post",
        reweight.lower_other_posts,
        "article",
        f"<body class='single postid-7'><article id=post-7>{TEXT}</article>{OTHER.format(NEWS)}",
    ),
    Case(
        "a post in the post",
        reweight.lower_other_posts,
        "article",
        f"<body class='single postid-7'><div class='post-7 type-post'>{TEXT}{OTHER.format(NEWS)}</div>",
    ),
    Case(
        "copyright",
        reweight.lower_copyright,
        "service",
        f"{BOWLS}<footer><p p=.7>© 2024 The kiln of the village</p></footer>",
    ),
    Case("a title", reweight.raise_title, "forum", f"<h1 p=.01 taken>The wood kiln</h1>{TEXT}"),
    Case(
        "an element said twice",
        reweight.merge_clones,
        "service",
        f"{BOWLS}<div class=wide>{CLONE.format('taken')}</div><div class=narrow>{CLONE.format('')}</div>",
    ),
    Case(
        "the likelier of two",
        reweight.merge_clones,
        "service",
        f"{BOWLS}<p class=wide p=.5>Clay of the valley, glaze of ash and split pine.</p>"
        "<p class=narrow p=.7 taken>Clay of the valley, glaze of ash and split pine.</p>",
    ),
    Case(
        "a heading said twice",
        reweight.merge_clones,
        "service",
        f"{BOWLS}<ul><li p=.7>Clay of the valley, glaze of ash and split pine.</li></ul>"
        "<h2 p=.4 taken>Clay of the valley, glaze of ash and split pine.</h2>",
    ),
    Case(
        "a table amid", finder.take_tables, "article", f"<div>{TEXT}{TABLE.format('taken')}{prose('Easter day')}</div>"
    ),
    Case(
        "a list between",
        finder.take_lists,
        "article",
        f"<div>{TEXT}<ul><li p=.15 taken>urchins</li><li p=.15 taken>crabs</li></ul>{prose('Easter day')}</div>",
    ),
    Case(
        "the last line of a short page",
        finder.take_rest,
        "documentation",
        f"<main>{NOTES}<p p=.15 taken>None are lost.</p></main>",
    ),
    Case(
        "a short answer",
        finder.take_series,
        "article",
        posts("p=.9 taken>a", "p=.9 taken>b", "p=.2 taken>c", "p=.9 taken>d") + TEXT,
    ),
    Case(
        "a copy",
        finder.leave_copies,
        "article",
        f"<section class=first>{SAID.format('taken')}<p p=.9 taken>More.</p></section>"
        f"<p p=.9 taken>Then.</p><section class=again>{SAID.format('')}<p p=.9 taken>End.</p></section>",
    ),
    Case("a heading", finder.take_headings, "article", f"<h2 p=.06 taken>Firing</h2>{TEXT}"),
    Case(
        "parallel headings",
        finder.take_headings,
        "article",
        f"<h2 p=.06 taken>Clay</h2><p p=.01>-</p><h2 p=.06 taken>Firing</h2>{TEXT}",
    ),
    Case("names", finder.take_authors, "article", thread("<div class=author p=.04 taken><a href=/u>{}</a></div>")),
    Case(
        "what is called a name",
        finder.take_authors,
        "article",
        thread("<div class=member p=.04>from {0}</div><div class='username nick-name' p=.04 taken>{0}</div>"),
    ),
]
"""Pages that are read as they are marked, and otherwise without the rule."""

SAME = [
    Case(
        "comments of a forum",
        reweight.lower_comments,
        "article",
        f"{ARTICLE}<div class=comments>{REMARKS.format('taken')}</div>",
        ("made:forum",),
    ),
    Case(
        "comments with nothing before them",
        reweight.lower_comments,
        "article",
        f"{prose('Monday')}<div class=comments>{REMARKS.format('taken')}</div>",
    ),
    Case(
        "comments of a thread",
        reweight.lower_comments,
        "forum",
        f"{ARTICLE}<div class=comments>{REMARKS.format('taken')}</div>",
    ),
    Case(
        "a label within a link",
        reweight.lower_pointers,
        "article",
        f"<div>{prose('Easter day')}<p p=.7 taken><a href=/a>Kilns: ovens of the north</a></p>{TEXT}</div>",
    ),
    Case(
        "an entry of a list that points",
        reweight.lower_pointers,
        "article",
        f"<div>{prose('Easter day')}<ul><li>{POINTER.format('taken')}</li></ul>{TEXT}</div>",
    ),
    Case("a near group", reweight.lower_far_groups, "article", f"{TEXT}{menu(4)}{VOTE.format('taken')}"),
    Case(
        "much outside of what is sure",
        reweight.lower_outskirts,
        "article",
        f"<div>{prose('Monday', 0.7)}{prose('Tuesday', 0.7)}</div><div>{TEXT}</div>",
    ),
    Case(
        "a heading before the body",
        reweight.lower_outskirts,
        "article",
        f"<header><h1 p=.6 taken>Kilns</h1></header>{ARTICLE}",
    ),
    Case("few cards", reweight.raise_cards, "listing", TEXT + cards(4)),
    Case("cards of a service", reweight.raise_cards, "service", TEXT + cards(40)),
    Case("previews", reweight.lower_reviews, "product", BOWLS + REVIEWS.format("preview-list", "taken")),
    Case("reviews of a service", reweight.lower_reviews, "service", BOWLS + REVIEWS.format("review-list", "taken")),
    Case("a page that is a review", reweight.lower_reviews, "product", f"<div class=review>{BOWLS}</div>"),
    Case(
        "the header of an article",
        reweight.lower_surroundings,
        "article",
        f"<div>{TEXT}<header>{SALE.format('taken')}</header></div>",
    ),
    Case(
        "a thread",
        reweight.lower_other_posts,
        "article",
        f"<body class='single-topic postid-7'><article id=post-7>{TEXT}</article>{OTHER.format(prose('Easter day'))}",
    ),
    *(
        Case(
            f"a page called {name}",
            reweight.lower_other_posts,
            "article",
            f"<body class='{name}'><article id=post-7>{TEXT}</article>{OTHER.format(prose('Easter day'))}",
        )
        for name in ("single", "my-postid-7", "single-question postid-7")
    ),
    Case(
        "a number without a type",
        reweight.lower_other_posts,
        "article",
        f"<body class='single postid-7'><div id=post-7>{TEXT}<div id=post-8>{prose('Easter day')}</div></div>",
    ),
    Case(
        "a post without its text",
        reweight.lower_other_posts,
        "article",
        f"<body class='single postid-7'><article id=post-7><p p=.1>-</p></article><div>{TEXT}</div>",
    ),
    Case(
        "a text about copyright",
        reweight.lower_copyright,
        "service",
        f"{BOWLS}<p p=.7 taken>All rights reserved to the heirs.</p>",
    ),
    Case("code said twice", reweight.merge_clones, "service", (f"<pre p=.9 taken>{'fire(kiln) ' * 9}</pre><hr>") * 2),
    Case(
        "few texts called the same",
        reweight.merge_clones,
        "service",
        f"{BOWLS}<div>{SAID.format('taken')}</div><div>{SAID.format('taken')}</div>",
    ),
    Case("a table at the end", finder.take_tables, "article", f"{ARTICLE}{TABLE.format('')}"),
    Case("a menu", finder.take_lists, "article", f"<div>{TEXT}<ul><li p=.15><a href=/>Home</a></li></ul>{TEXT}</div>"),
    Case(
        "a table of passages",
        finder.take_tables,
        "article",
        f"{TEXT}{TABLE.format('').replace('>b', '>b' + ' b' * 101)}{TEXT}",
    ),
    Case(
        "what stands around a short page",
        finder.take_rest,
        "documentation",
        f"<main>{NOTES}<div class=share p=.15>Send this</div></main>",
    ),
    Case(
        "a body with much more",
        finder.take_rest,
        "documentation",
        f"<main>{NOTES}<p p=.15>{'None are lost. ' * 9}</p></main>",
    ),
    Case(
        "half a series", finder.take_series, "article", posts("p=.9 taken>a", "p=.2>b", "p=.9 taken>c", "p=.2>d") + TEXT
    ),
    Case(
        "headings of a series",
        finder.take_series,
        "article",
        posts("p=.9 taken>a", "p=.9 taken>b", "p=.04>c", "p=.9 taken>d", inner="h2") + TEXT,
    ),
    Case(
        "a quotation",
        finder.leave_copies,
        "article",
        f"<section class=first>{SAID.format('taken')}<p p=.9 taken>More.</p></section><p p=.9 taken>Then.</p>"
        f"<section class=again><blockquote>{SAID.format('taken')}<p p=.9 taken>End.</p></blockquote></section>",
    ),
    Case(
        "a text repeated on purpose",
        finder.leave_copies,
        "article",
        "".join(f"<section class=plan>{SAID.format('taken')}<p p=.9 taken>Plan {at}.</p></section>" for at in "abc"),
    ),
    Case("an unlikely heading", finder.take_headings, "article", f"<h2 p=.04>Firing</h2>{TEXT}"),
    Case("a section with nothing taken", finder.take_headings, "article", f"{TEXT}<h2 p=.2>Also</h2><p p=.01>-</p>"),
    Case("titles of people", finder.take_authors, "article", thread("<div class='user-title' p=.04>{}</div>")),
    Case("one text again", finder.take_authors, "article", thread("<div class=author p=.04>{}</div>", ("Member",) * 4)),
    Case("two names", finder.take_authors, "article", thread("<div class=author p=.04>{}</div>", ("ann", "bo"))),
    Case(
        "a list of members",
        finder.take_authors,
        "article",
        TEXT + "".join(f"<div class=member p=.01>{name}</div>" for name in ("ann", "bo", "cem")),
    ),
]
"""Pages that the rule leaves as they are."""


def read(case: Case) -> tuple[list[str], list[str]]:
    """The texts that are taken, and those that are marked so."""
    root = tree.parse(case.body)
    page = PageFacts(tuple(float(name in case.signals) for name in SIGNALS), "", "", ())
    frame = to_frame(to_blocks(root), page, Words({}, {}, {}))
    assert frame is not None
    units = [frame.blocks[at] for at in frame.at.tolist()]
    chances = np.array([float(unit.element.get("p", 0.01)) for unit in units])
    chances = reweight.reweight(frame, page, {name: float(name == case.type) for name in TYPES}, chances)
    taken, _ = finder.choose(frame, chances)
    names = [f"{at} {unit.text}" for at, unit in enumerate(units)]
    marked = [unit.element.get("taken") is not None for unit in units]
    return list(compress(names, taken)), list(compress(names, marked))


def without(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (reweight, finder):
        monkeypatch.setattr(module, "RULES", tuple(other for other in module.RULES if other is not rule))


@pytest.mark.parametrize("case", CHANGED, ids=lambda case: case.name)
def test_a_page_is_read_by_a_rule_and_otherwise_without_it(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, marked = read(case)

    assert taken == marked
    without(case.rule, monkeypatch)
    assert read(case)[0] != marked


@pytest.mark.parametrize("case", SAME, ids=lambda case: case.name)
def test_a_page_that_a_rule_is_not_about_stays_as_it_is(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    taken, marked = read(case)

    assert taken == marked
    without(case.rule, monkeypatch)
    assert read(case)[0] == marked


def test_each_rule_has_a_page() -> None:
    assert {case.rule for case in CHANGED} == {*reweight.RULES, *finder.RULES}
