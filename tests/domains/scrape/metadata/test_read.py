"""What a page says about itself is read the same from every kind of markup, and so is its own DOI."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.metadata.fields import find_in_path, to_iso, to_names, to_seconds
from specloom.domains.scrape.metadata.read import Metadata, find_declared_doi, find_front_doi, to_metadata
from specloom.domains.scrape.metadata.sources import Sources, gather
from specloom.domains.text import find_doi

URL = "https://news.example/2024/harbour"


def read(head: str = "", body: str = "", *, url: str = URL, attributes: str = "") -> Metadata:
    return to_metadata(
        gather(tree.parse(f"<html {attributes}><head>{head}</head><body>{body}</body></html>")),
        url=url,
    )


def ld(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


def meta(**values: str) -> str:
    return "".join(f'<meta name="{name}" content="{value}">' for name, value in values.items())


ARTICLE = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Harbour bridge opens",
    "author": [{"@type": "Person", "name": "Ann Lee"}, {"@type": "Person", "name": "Bo Day"}],
    "datePublished": "2024-05-07T08:00:00+02:00",
    "dateModified": "2024-05-08T09:30:00Z",
    "publisher": {"@type": "Organization", "name": "Harbour News Ltd"},
    "description": "After ten years.",
    "inLanguage": "en-gb",
}


def test_an_article_in_json_ld_gives_every_field() -> None:
    found = read(ld(ARTICLE))

    assert found == Metadata(
        title="Harbour bridge opens",
        authors=("Ann Lee", "Bo Day"),
        author="Ann Lee; Bo Day",
        site="Harbour News Ltd",
        published="2024-05-07T08:00:00+02:00",
        modified="2024-05-08T09:30:00Z",
        language="en-GB",
        description="After ten years.",
        doi="",
    )


def test_a_graph_is_searched_and_its_references_are_followed() -> None:
    graph = {
        "@graph": [
            {"@type": "WebSite", "@id": "#site", "name": "Harbour News"},
            {"@type": "WebPage", "@id": URL, "name": "Harbour bridge opens - Harbour News"},
            {
                "@type": "Article",
                "headline": "Harbour bridge opens",
                "author": {"@id": "#ann"},
                "datePublished": "2024-05-07",
            },
            {"@type": "Person", "@id": "#ann", "name": "Ann Lee"},
        ]
    }

    found = read(ld(graph))

    assert (found.title, found.authors, found.site) == ("Harbour bridge opens", ("Ann Lee",), "Harbour News")
    assert found.published == "2024-05-07"


def test_of_several_articles_the_one_with_the_address_of_the_page_counts() -> None:
    other = {**ARTICLE, "headline": "Ferry sold", "author": "Cy Fox", "url": "https://news.example/ferry"}
    own = {**ARTICLE, "mainEntityOfPage": {"@id": "https://www.news.example/2024/harbour/"}}

    found = read(ld([other, own]))

    assert found.authors == ("Ann Lee", "Bo Day")


def test_a_page_of_several_articles_has_no_author() -> None:
    stories = [{**ARTICLE, "headline": f"Story {n}", "url": f"https://news.example/{n}"} for n in range(3)]

    found = read("<title>Harbour News</title>" + ld(stories), url="https://news.example/today")

    assert (found.title, found.authors, found.published) == ("Harbour News", (), "")


def test_json_ld_with_the_slips_that_pages_have_is_read() -> None:
    text = '<![CDATA[ {"@type": "Article", "headline": "Two\nlines &amp; more", "author": "By Ann Lee",} ]]>'

    found = read(f'<script type="application/ld+json">{text}</script>')

    assert (found.title, found.authors) == ("Two lines & more", ("Ann Lee",))


def test_highwire_elements_give_a_paper_and_its_journal() -> None:
    head = (
        meta(
            citation_title="On bridges",
            citation_publication_date="2019/2/7",
            citation_journal_title="Journal of Spans",
            citation_doi="doi:10.1234/Span.5",
            citation_language="en",
        )
        + '<meta name="citation_author" content="Lee, Ann"><meta name="citation_author" content="Day, Bo">'
        + '<meta property="og:site_name" content="Spans Online">'
    )

    found = read(head)

    assert found.authors == ("Lee, Ann", "Day, Bo")
    assert (found.site, found.published, found.doi) == ("Journal of Spans", "2019-02-07", "10.1234/span.5")


def test_sources_are_trusted_in_order() -> None:
    head = (
        '<meta name="citation_title" content="From Highwire"><meta name="DC.title" content="From Dublin Core">'
        '<meta property="og:title" content="From OpenGraph"><title>From the title</title>'
    )

    assert read(head + ld({"@type": "Article", "headline": "From JSON-LD"})).title == "From JSON-LD"
    assert read(head).title == "From Highwire"
    assert read(head.replace("citation_title", "x")).title == "From Dublin Core"
    assert read(head.replace("citation_title", "x").replace("DC.title", "x")).title == "From OpenGraph"
    assert read("<title>From the title</title>").title == "From the title"
    assert read(body="<h1>From a heading</h1>").title == "From a heading"


def test_dublin_core_and_article_elements_give_author_and_dates() -> None:
    head = (
        '<meta name="DC.Creator" content="Lee, Ann"><meta name="DC.Date.issued" content="2020-03">'
        '<meta property="article:modified_time" content="2021-01-02T03:04:05Z">'
    )

    found = read(head)

    assert (found.authors, found.published, found.modified) == (("Lee, Ann",), "2020-03", "2021-01-02T03:04:05Z")


def test_an_address_as_author_is_no_name() -> None:
    head = '<meta property="article:author" content="https://social.example/ann"><meta name="author" content="Ann Lee">'

    assert read(head).authors == ("Ann Lee",)


def test_microdata_of_the_article_counts_and_that_of_its_comments_does_not() -> None:
    body = """
      <article itemscope itemtype="https://schema.org/BlogPosting">
        <h1 itemprop="headline">Bridges</h1>
        <span itemprop="author" itemscope itemtype="https://schema.org/Person"><b itemprop="name">Ann Lee</b></span>
        <meta itemprop="datePublished" content="2024-05-07">
        <div itemprop="comment" itemscope itemtype="https://schema.org/Comment">
          <span itemprop="author" itemscope itemtype="https://schema.org/Person"><b itemprop="name">Troll</b></span>
          <meta itemprop="datePublished" content="2025-01-01">
        </div>
      </article>"""

    found = read(body=body)

    assert (found.title, found.authors, found.published) == ("Bridges", ("Ann Lee",), "2024-05-07")


def test_byline_and_time_of_the_article_are_read_where_nothing_is_declared() -> None:
    body = """
      <aside><time datetime="2020-01-01">another page</time></aside>
      <h1>Bridges</h1>
      <p class="post-byline">By <a href="/ann">Ann Lee</a> and <a href="/bo">Bo Day</a>, engineering correspondent</p>
      <p>Published <time datetime="2024-05-07T08:00">7 May</time>,
        updated <time class="updated" datetime="2024-05-09"></time></p>
      <div class="comments"><span class="author">Troll</span></div>"""

    found = read(body=body)

    assert found.authors == ("Ann Lee", "Bo Day")
    assert (found.published, found.modified) == ("2024-05-07T08:00:00", "2024-05-09")


def test_what_else_is_linked_in_a_byline_is_no_name() -> None:
    body = '<p class="byline">By <a href="/a">Ann Lee</a>, <a href="/b">Bo Day</a> on <a href="/f">Facebook</a></p>'

    assert read(body=body).authors == ("Ann Lee", "Bo Day")


def test_a_home_page_does_not_have_the_byline_of_what_it_leads_to() -> None:
    body = '<p class="byline">By Ann Lee</p><time datetime="2024-05-07">today</time>'

    found = read(body=body, url="https://news.example/")

    assert (found.authors, found.published) == ((), "")


def test_the_day_in_an_address_is_the_last_resort() -> None:
    assert read(url="https://news.example/2024/05/07/bridge").published == "2024-05-07"
    assert find_in_path("/archive/2024/13/40/x") == ""


def test_the_title_loses_the_name_of_the_site() -> None:
    site = '<meta property="og:site_name" content="Harbour News">'

    assert read(site + "<title>Bridge opens - on time | Harbour News</title>").title == "Bridge opens - on time"
    assert read(site + "<title>Harbour News: the podcast</title>").title == "Harbour News: the podcast"
    assert read("<title>Bridge opens - Gazette</title>", "<h1>Bridge opens</h1>").title == "Bridge opens"
    assert read("<title>Well-known facts - part 2</title>").title == "Well-known facts - part 2"


def test_a_headline_that_was_cut_gives_way_to_the_whole_title() -> None:
    head = ld({"@type": "Article", "headline": "A long title about…"})

    assert (
        read(head + '<meta property="og:title" content="A long title about bridges">').title
        == "A long title about bridges"
    )


@pytest.mark.parametrize(
    ("attributes", "head", "language"),
    [
        ('lang="de_DE"', "", "de-DE"),
        ('lang="zh-hant-tw"', "", "zh-Hant-TW"),
        ("", '<meta http-equiv="Content-Language" content="fr">', "fr"),
        ("", '<meta property="og:locale" content="pt_BR">', "pt-BR"),
        ('lang="{{lang}}"', "", ""),
    ],
)
def test_the_language_is_a_tag(attributes: str, head: str, language: str) -> None:
    assert read(head, attributes=attributes).language == language


def test_an_empty_page_says_nothing() -> None:
    assert read(url="") == Metadata()


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2019/2/7", "2019-02-07"),
        ("2024-05-07T10:30:00.5+0200", "2024-05-07T10:30:00+02:00"),
        ("2024-05-07 10:30 GMT", "2024-05-07T10:30:00Z"),
        ("2024-05-07T00:00:00", "2024-05-07"),
        ("20240507", "2024-05-07"),
        ("1589382834", "2020-05-13T15:13:54Z"),
        ("Tue, 07 May 2024 10:00:00 GMT", "2024-05-07T10:00:00Z"),
        ("Published on May 7th, 2024 at 10:15 AM", "2024-05-07"),
        ("5. Mai 2024", "2024-05-05"),
        ("7 de mayo de 2024", "2024-05-07"),
        ("1er août 2024", "2024-08-01"),
        ("7 мая 2024", "2024-05-07"),
        ("2024年5月7日 10:20", "2024-05-07"),
        ("March 2024", "2024-03"),
        ("07.05.2024", "2024-05-07"),
        ("31/05/2024", "2024-05-31"),
        ("05/04/2024", ""),
        ("3 days ago", ""),
        ("2024-02-30", ""),
        ("1970-01-01T00:00:00Z", ""),
        ("0001-01-01", ""),
        ("Spring 2024", ""),
        ("version 2024", ""),
        (True, ""),
    ],
)
def test_a_date_is_as_precise_as_it_was_written(written: object, date: str) -> None:
    assert to_iso(written) == date


@given(st.text(max_size=80) | st.from_regex(r"[0-9A-Za-z :/.+-]{4,40}", fullmatch=True))
def test_what_is_given_as_a_date_is_one_and_stays_the_same(text: str) -> None:
    date = to_iso(text)

    assert not date or to_seconds(date) is not None
    assert to_iso(date) == date


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("By Ann Lee and Bo Day", ("Ann Lee", "Bo Day")),
        ("Ann Lee, Bo Day & Cy Fox", ("Ann Lee", "Bo Day", "Cy Fox")),
        ("Ann Lee, senior reporter", ("Ann Lee",)),
        ("Ann Lee, CFP® and Bo Day, Ph.D.", ("Ann Lee", "Bo Day")),
        ("Center for Drug Evaluation and Research", ("Center for Drug Evaluation and Research",)),
        ("Von Hans Müller", ("Hans Müller",)),
        ("Von Neumann", ("Von Neumann",)),
        ("作者：王小明", ("王小明",)),
        ("admin", ()),
        ("https://example.org/ann", ()),
        ("Lee, Ann", ("Lee, Ann",)),
    ],
)
def test_names_are_told_from_what_is_around_them(written: str, names: tuple[str, ...]) -> None:
    assert to_names([written], split=True) == names


@given(st.text(alphabet='<>"=/ abmetaschrip{}[]:,@0-9\n', max_size=400))
def test_no_markup_breaks_the_reader(text: str) -> None:
    found = to_metadata(gather(tree.parse(f'<script type="application/ld+json">{text}</script>{text}')), url=URL)

    assert isinstance(found, Metadata)


def page(head: str) -> Sources:
    return gather(tree.parse(f"<html><head>{head}</head><body></body></html>"))


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="citation_doi" content="10.1234/AB.5">',
        '<meta name="citation_doi" content="https://doi.org/10.1234/ab.5">',
        '<meta name="DC.Identifier" content="doi:10.1234/ab.5">',
        '<meta name="prism.doi" content="10.1234/ab.5">',
        '<link rel="canonical" href="https://journal.example/doi/full/10.1234/AB.5">',
        '<script type="application/ld+json">{"@type": "ScholarlyArticle", "@id": "https://doi.org/10.1234/ab.5"}</script>',
        '<script type="application/ld+json">{"@type": "Dataset", "identifier":'
        ' [{"@type": "PropertyValue", "propertyID": "doi", "value": "10.1234/ab.5"}]}</script>',
    ],
)
def test_the_head_declares_it_in_many_ways(head: str) -> None:
    assert find_declared_doi(page(head)) == "10.1234/ab.5"


@pytest.mark.parametrize(
    "address", ["/doi/10.1234/ab.5", "https://journal.example/search?cites=10.1234/ab.5", "https://journal.example/1"]
)
def test_a_canonical_address_without_a_doi_of_its_own_names_none(address: str) -> None:
    assert find_declared_doi(page(f'<link rel="canonical" href="{address}">')) == ""


def test_an_identifier_that_is_no_doi_is_passed_over() -> None:
    assert find_declared_doi(page('<meta name="dc.identifier" content="urn:isbn:10.1234">')) == ""


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://journal.example/doi/full/10.1056/NEJMoa2034577", "10.1056/nejmoa2034577"),
        ("https://journal.example/doi/10.1111/j.1.x/abstract", "10.1111/j.1.x"),
        ("https://journal.example/doi/pdf/10.1111/abc.pdf", "10.1111/abc"),
        (
            "https://journal.example/article/S0140-6736(20)30183-5?doi=10.1016%2FS0140-6736(20)30183-5",
            "10.1016/s0140-6736(20)30183-5",
        ),
        ("https://preprint.example/content/10.1101/2020.01.01.123v1.full", "10.1101/2020.01.01.123"),
        ("https://host.example/10.12/short", ""),
        ("https://host.example/v10.1234/x", ""),
        ("http://[broken", ""),
    ],
)
def test_an_address_carries_it(url: str, doi: str) -> None:
    assert find_doi(url) == doi


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("(see https://doi.org/10.1234/abc).", "10.1234/abc"),
        ("doi 10.1016/S0140-6736(20)30183-5).", "10.1016/s0140-6736(20)30183-5"),
        ("10.1016/0021-9797(84) is cited", "10.1016/0021-9797(84)"),
        ("[link](https://doi.org/10.1234/abc), then", "10.1234/abc"),
        ("<https://doi.org/10.1234/abc>", "10.1234/abc"),
        ("10.1002/(SICI)1097<24::AID>3.0.CO;2-X.", "10.1002/(sici)1097<24::aid>3.0.co;2-x"),
        ("**DOI:** 10.1234/abc; received", "10.1234/abc"),
        ("version 10.1234", ""),
        ("110.1234/abc", ""),
    ],
)
def test_prose_around_it_is_left_out(text: str, doi: str) -> None:
    assert find_front_doi(text) == doi


@pytest.mark.parametrize("heading", ["## References", "Bibliography", "参考文献", "7. References", "**Works cited**"])
def test_a_reference_list_is_never_read(heading: str) -> None:
    assert find_front_doi(f"A short note.\n\n{heading}\n\n1. Lee, doi 10.1234/other") == ""


def test_only_the_front_matter_is_read_and_a_name_cut_at_its_end_is_none() -> None:
    assert find_front_doi("x" * 4100 + " 10.1234/late") == ""
    assert find_front_doi("x" * 3985 + " 10.1234/abcdefghijkl") == ""
    assert find_front_doi("é" * 2000 + " 10.1234/late") == ""


@given(st.from_regex(r"10\.[0-9]{4,9}/[a-z0-9]{3,20}(\([a-z0-9]{1,5}\)[a-z0-9]{1,5})?", fullmatch=True))
def test_a_plain_name_survives_any_usual_surroundings(name: str) -> None:
    assert find_declared_doi(page(f'<meta name="citation_doi" content="https://doi.org/{name}">')) == name
    assert find_front_doi(f"Text ({name}).") == name
    assert find_doi(f"https://host.example/doi/{name}") == name
