"""Classification: every label is reached by a signal that a reader can check, and no look-alike reaches one."""

from importlib.resources import files

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.hosts import load_reputations
from specloom.domains.trust.sources.classify import (
    AUTHORITY_TIERS,
    DOMAIN_CATEGORIES,
    SOURCE_TYPES,
    authority,
    classify,
    load_sources,
    to_tier,
)

DATA = yaml.load(
    files("specloom.domains.trust.sources").joinpath("sources.yaml").read_text(encoding="utf-8"),
    Loader=yaml.CSafeLoader,
)

# address, source type, authority tier, category, signal
BY_HOST = [
    ("https://www.nature.com/articles/1", "peer_reviewed", "high", "academic", "host"),
    ("https://arxiv.org/abs/1706.03762", "peer_reviewed", "high", "academic", "host"),
    ("https://pubmed.ncbi.nlm.nih.gov/1/", "peer_reviewed", "high", "academic", "host"),
    ("https://docs.python.org/3/", "official_docs", "high", "technical", "host"),
    ("https://docs.stripe.com/api", "official_docs", "medium", "technical", "label"),
    ("https://docs.google.com/document/d/1", "unknown", "medium", "general", "host"),
    ("https://www.nasa.gov/", "government", "high", "academic", "suffix"),
    ("https://www.gov.uk/tax", "government", "high", "general", "suffix"),
    ("https://www.interieur.gouv.fr/", "government", "high", "general", "suffix"),
    ("https://www.mofa.go.jp/", "government", "high", "general", "suffix"),
    ("https://www.courtlistener.com/opinion/1/", "government", "high", "legal", "host"),
    ("https://www.who.int/news", "government", "high", "medical", "host"),
    ("https://www.sec.gov/edgar", "government", "high", "financial", "suffix"),
    ("https://www.bbc.co.uk/news/1", "news_publication", "high", "general", "host"),
    ("https://www.ft.com/content/1", "news_publication", "high", "financial", "host"),
    ("https://someone.substack.com/p/1", "blog", "medium", "general", "host"),
    ("https://blog.acme.com/1", "blog", "medium", "general", "label"),
    ("https://stackoverflow.com/questions/1", "forum", "high", "technical", "host"),
    ("https://www.reddit.com/r/all", "forum", "medium", "general", "host"),
    ("https://de.wikipedia.org/wiki/Ei", "wiki", "high", "general", "host"),
    ("https://x.com/someone/status/1", "social_media", "medium", "general", "host"),
    ("https://people.mit.edu/~someone/", "unknown", "high", "academic", "none"),
    ("https://www.cs.ox.ac.uk/course", "unknown", "high", "academic", "none"),
    ("https://www.mayoclinic.org/x", "unknown", "high", "medical", "none"),
    ("https://babylonbee.com/news/1", "unknown", "low", "general", "none"),
    ("https://unheard-of.example/", "unknown", "medium", "general", "none"),
]


@pytest.mark.parametrize(("url", "source_type", "tier", "category", "signal"), BY_HOST)
def test_a_host_alone_gives_its_labels(url, source_type, tier, category, signal):
    found = classify(url, citation=False, types=())

    assert (found.source_type, found.authority_tier, found.domain_category, found.signal) == (
        source_type,
        tier,
        category,
        signal,
    )


def test_every_label_is_reached():
    found = [classify(url) for url, *_ in BY_HOST]

    assert {each.source_type for each in found} == set(SOURCE_TYPES)
    assert {each.authority_tier for each in found} == set(AUTHORITY_TIERS)
    assert {each.domain_category for each in found} == set(DOMAIN_CATEGORIES)


@pytest.mark.parametrize(
    "url",
    [
        "https://notnature.com/",
        "https://nature.com.evil.example/",
        "https://evil.example/nature.com",
        "https://evil.example/?u=https://www.nasa.gov",
        "https://nasa.gov@evil.example/",
        "https://gov.example.com/",
        "https://www.example.gov.example/",
        "https://edu.example.org/",
        "https://company.ac/",
        "https://docs.com/",
        "http://192.0.2.1/nature.com",
        "http://[::1]/",
        "nature.com",
        "",
    ],
)
def test_a_look_alike_is_unknown_general_and_medium(url):
    found = classify(url)

    assert (found.source_type, found.domain_category, found.authority, found.reputation) == (
        "unknown",
        "general",
        0.5,
        None,
    )


def test_metadata_of_a_paper_goes_before_markup_and_markup_before_the_host():
    blog = "https://someone.substack.com/p/1"

    assert classify(blog, citation=True, types=["NewsArticle"]).source_type == "peer_reviewed"
    assert classify(blog, types=["NewsArticle"]).source_type == "news_publication"
    assert classify(blog, types=["WebPage", "Person"]).source_type == "blog"


@pytest.mark.parametrize(
    ("name", "source_type"),
    [
        ("ScholarlyArticle", "peer_reviewed"),
        ("MedicalScholarlyArticle", "peer_reviewed"),
        ("http://schema.org/ReportageNewsArticle", "news_publication"),
        ("https://schema.org/AnalysisNewsArticle/", "news_publication"),
        ("schema:GovernmentService", "government"),
        ("GovernmentOrganization", "government"),
        ("BlogPosting", "blog"),
        ("Blog", "blog"),
        ("TechArticle", "official_docs"),
        ("APIReference", "official_docs"),
        ("DiscussionForumPosting", "forum"),
        ("QAPage", "forum"),
        ("SocialMediaPosting", "social_media"),
        ("Article", "unknown"),
        ("NotANewsArticle", "unknown"),
    ],
)
def test_a_type_of_the_markup_decides(name, source_type):
    assert classify("https://unheard-of.example/", types=[name]).source_type == source_type


def test_the_order_of_types_on_the_page_does_not_matter():
    both = ["BlogPosting", "NewsArticle"]

    assert classify("https://a.example/", types=both) == classify("https://a.example/", types=both[::-1])


def test_the_field_of_a_search_goes_before_the_host():
    assert classify("https://www.nature.com/", lens="finance").domain_category == "financial"
    assert classify("https://www.nature.com/", lens="no such lens").domain_category == "academic"
    assert classify("https://unheard-of.example/", lens="clinical").domain_category == "medical"


def test_a_paper_on_an_unknown_host_is_academic():
    assert classify("https://journal.example/", citation=True).domain_category == "academic"


def test_authority_follows_the_reputation_of_the_nearest_host():
    assert authority("https://theonion.com/") == 0.3
    assert authority("https://medium.com/") == 0.7
    assert authority("https://apnews.com/") == 0.9
    assert authority("https://academia.edu/") == 0.7
    assert authority("https://unlisted.edu/") == 0.9
    assert authority("https://www.ox.ac.uk/x") == 0.9
    assert authority("https://arxiv.org/abs/1706.03762") == 0.9
    assert authority("https://old.reddit.com/r/x") == 0.7


def test_the_bands_begin_where_they_are_documented():
    assert [to_tier(number) for number in (1.0, 0.8, 0.79, 0.5, 0.49, 0.0)] == [
        "high",
        "high",
        "medium",
        "medium",
        "low",
        "low",
    ]


@given(st.one_of(st.text(), st.text().map(lambda text: f"https://{text}")), st.booleans(), st.lists(st.text()))
def test_any_address_has_labels_of_the_closed_lists(url, citation, types):
    found = classify(url, citation=citation, types=types)

    assert found.source_type in SOURCE_TYPES
    assert found.authority_tier in AUTHORITY_TIERS
    assert found.domain_category in DOMAIN_CATEGORIES
    assert 0 <= found.authority <= 1


def test_the_data_file_uses_the_closed_lists_and_names_no_host_twice():
    assert set(DATA["kinds"]) <= set(SOURCE_TYPES)
    assert {*DATA["categories"], *DATA["lenses"].values()} <= set(DOMAIN_CATEGORIES)
    for groups in (DATA["kinds"], DATA["categories"]):
        hosts = [host for group in groups.values() for host in group]
        assert len(hosts) == len(set(hosts))
        assert all(host == host.lower() and not host.startswith(("www.", ".")) for host in hosts)


def test_the_data_file_speaks_of_bases_that_the_reputations_have():
    bases = {reputation.basis for reputation in load_reputations().values()}

    assert set(load_sources().bases) <= bases
    for labels in load_sources().bases.values():
        assert set(labels) <= {"kind", "category"}
        assert labels.get("kind", "unknown") in SOURCE_TYPES
        assert labels.get("category", "general") in DOMAIN_CATEGORIES
