"""What a page is called, and its site and day, where it says so to people only."""

from __future__ import annotations

import json

import pytest

from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.metadata.read import Metadata, to_metadata
from specloom.domains.scrape.metadata.sources import gather

URL = "https://weir.example/wiki/Bellweir"


def read(head: str, body: str = "", *, url: str = URL) -> Metadata:
    return to_metadata(gather(tree.parse(f"<html><head>{head}</head><body>{body}</body></html>")), url=url)


def work(**values: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "Article", **values})}</script>'


def test_a_description_in_the_place_of_a_headline_is_no_title() -> None:
    said = work(headline="weir in England", name="Bellweir")

    assert read(f"<title>Bellweir - Wharfpedia</title>{said}").title == "Bellweir"


def test_a_headline_is_the_title_where_the_page_is_called_so_or_in_no_way() -> None:
    said = work(headline="Nine gates", name="Bellweir")

    assert read(f"<title>Nine gates of Bellweir</title>{said}").title == "Nine gates"
    assert read(f"<title>Home</title>{said}").title == "Nine gates"


@pytest.mark.parametrize(
    ("title", "heading", "said"),
    [
        ("python - How do I count otters? - Pond Overflow", "How do I count otters?", "How do I count otters?"),
        ("On-call rota - Harbour Team - Confluence", "On-call rota", "On-call rota"),
        ("Rods - Trout - Anglers Board", "Anglers Board", "Rods - Trout - Anglers Board"),
        ("Wet | Dry", "Something else", "Wet | Dry"),
    ],
)
def test_the_heading_tells_which_part_of_a_title_is_the_page(title: str, heading: str, said: str) -> None:
    assert read(f"<title>{title}</title>", f"<h1>{heading}</h1>").title == said


def test_a_heading_that_is_the_name_of_the_site_is_not_the_title() -> None:
    site = '<meta property="og:site_name" content="Anglers Board">'

    assert read(f"<title>Anglers Board - Rods</title>{site}", "<h1>Anglers Board</h1>").title == "Rods"


@pytest.mark.parametrize("home", ["/", "https://weir.example", "https://weir.example/"])
@pytest.mark.parametrize("title", ["Opening hours - Weir Trust", "Weir Trust | Opening hours"])
def test_a_site_is_called_as_in_the_title_and_in_the_link_to_its_home_page(title: str, home: str) -> None:
    page = read(f"<title>{title}</title>", f'<a href="/x">Opening hours</a><a href="{home}"> Weir  Trust </a>')

    assert (page.site, page.title) == ("Weir Trust", "Opening hours")


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ('<a href="/">Home</a>', URL),
        ('<a href="/trust">Weir Trust</a>', URL),
        ('<a href="https://other.example/">Weir Trust</a>', URL),
        ('<a href="/">Weir Trust</a>', "https://weir.example/"),
    ],
)
def test_without_such_a_link_a_title_names_no_site(link: str, url: str) -> None:
    assert read("<title>Opening hours - Weir Trust</title>", link, url=url).site == ""


@pytest.mark.parametrize(
    ("body", "day"),
    [
        ('<span class="pubtime">发布时间：2023年4月5日 08:30</span>', "2023-04-05"),
        ('<p class="date">公開日：2022年6月1日</p>', "2022-06-01"),
        ('<p class="date">작성일 2021.03.04</p>', "2021-03-04"),
        ('<p class="date">Veröffentlicht am 3. April 2023</p>', "2023-04-03"),
        ('<p class="date">Опубликовано: 5 мая 2021</p>', "2021-05-05"),
        ('<p class="date">Publicado el 7 de mayo de 2024</p>', "2024-05-07"),
        ('<abbr class="published" title="2013-05-05T19:30:00+01:00">7:30 PM</abbr>', "2013-05-05T19:30:00+01:00"),
        (
            '<div itemscope itemtype="http://schema.org/BlogPosting"><abbr itemprop="datePublished" '
            'title="2013-05-05T19:30:00Z">7:30 PM</abbr></div>',
            "2013-05-05T19:30:00Z",
        ),
    ],
)
def test_the_day_is_read_behind_its_label_and_in_the_title_of_an_hour(body: str, day: str) -> None:
    assert read("<title>x</title>", body).published == day


@pytest.mark.parametrize(
    "text", ["Aktualisiert am 3. April 2023", "更新日：2023年4月3日", "수정 2023-04-03", "Обновлено: 3 апреля 2023"]
)
def test_the_day_of_a_change_is_not_that_of_the_page(text: str) -> None:
    page = read("<title>x</title>", f'<p class="date">{text}</p>')

    assert (page.published, page.modified) == ("", "2023-04-03")


def test_a_job_appeared_when_it_was_posted() -> None:
    said = json.dumps({"@type": "JobPosting", "title": "Lock keeper", "datePosted": "2024-05-03"})

    assert read(f'<script type="application/ld+json">{said}</script>').published == "2024-05-03"
