"""Self-promotion: a ranking that its own host wins, and the numbered lists that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.records import SelfPromotion
from specloom.domains.trust.sources.classify import find_self_promotion, find_self_ranking

RANKING = "# The 5 best help desks\n\nIntro.\n\n## 1. {}\n\nIt is great.\n\n## 2. {}\n\nIt is fine.\n"


def test_the_registered_name_is_the_brand_and_the_item_is_shown():
    found = find_self_promotion("https://blog.acme.co.uk/best", RANKING.format("Acme Desk", "Other Desk"))

    assert found == SelfPromotion(
        detected=True,
        brand_domain="acme.co.uk",
        brand_token="acme",
        rank_position=1,
        confidence="high",
        item="## 1. Acme Desk",
    )


@pytest.mark.parametrize(
    "item",
    ["Acme", "ACME: all you need", "Acme's context", "**Acme**", "[Acme](https://acme.com)", "Best overall: Acme"],
)
def test_the_brand_may_be_marked_or_labelled(item):
    assert find_self_promotion("https://acme.com/", RANKING.format(item, "Other"))


@pytest.mark.parametrize("item", ["Mail Works", "MailWorks Pro", "mailworks.com"])
def test_a_brand_of_two_words_is_one_name(item):
    assert find_self_promotion("https://mailworks.com/", RANKING.format(item, "Other"))


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://news.example.com/", RANKING.format("Acme", "Other")),
        ("https://acme.com/", RANKING.format("Other", "Acme")),
        ("https://acme.com/", RANKING.format("Acmeology", "Other")),
        ("https://acme.com/", RANKING.format("Tools by Acme", "Other")),
        ("https://acme.com/", RANKING.format("Acme Basic", "Acme Pro")),
        ("https://acme.com/", "See [all](https://acme.com/best/reviews).\n\n1. Acme\n2. Other"),
        ("https://acme.com/privacy", "1. Acme collects data.\n2. You may object."),
        ("https://acme.com/", "# The best context\n1. Acme"),
        ("https://best.example.com.best/", RANKING.format("Best overall", "Other")),
        ("https://hp.com/", RANKING.format("HP", "Other")),
        ("http://127.0.0.1/", RANKING.format("127", "Other")),
        ("", RANKING.format("Acme", "Other")),
    ],
)
def test_what_is_no_ranking_or_not_won_is_left_alone(url, text):
    assert find_self_promotion(url, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "# The best VPNs\n\n## 1. Acme VPN\n\n## 2. Beta VPN",
        "# Die besten VPN\n\n### Platz 1: Acme VPN\n\n### Platz 2: Beta VPN",
        "# Les meilleurs VPN\n\n1\\. Acme VPN\n2\\. Beta VPN",
        "# Top VPNs\n\n| 1 | Acme VPN | 9.8 |\n| 2 | Beta VPN | 9.1 |",
    ],
)
@pytest.mark.parametrize(
    "url", ["https://www.acme-vpn.example/best", "https://acme-vpn.com/", "https://acmevpn.co.uk/"]
)
def test_a_place_may_be_written_in_several_ways_on_any_site_of_the_brand(url, text):
    found = find_self_promotion(url, text)

    assert found is not None
    assert found.rank_position == 1


@pytest.mark.parametrize(
    ("url", "others"),
    [
        ("https://www.acme-vpn.example/blog/best-vpn", []),
        ("https://acmevpn.com/top-10", [("2. Beta VPN", "")]),
        ("https://acme-vpn.com/vpns", [("2. Beta VPN", "https://www.acme-vpn.com/vpns#beta")]),
    ],
)
def test_a_title_that_puts_the_brand_of_a_ranking_first_is_found(url, others):
    found = find_self_ranking("1. Acme VPN", url, others)

    assert found is not None
    assert (found.item, found.rank_position, found.confidence) == ("1. Acme VPN", 1, "medium")


@pytest.mark.parametrize(
    ("title", "url", "others"),
    [
        ("1. Acme VPN", "https://www.acme-vpn.example/", [("2. Beta VPN", "https://beta.example/")]),
        ("1. Acme VPN", "https://www.acme-vpn.example/reviews", [("2. Beta VPN", "")]),
        ("1. Acme VPN", "https://acme-vpn.com/", [("2. Acme VPN Pro", "https://acme-vpn.com/pro")]),
        ("1. Acme VPN", "https://acme-vpn.com/", [("Beta VPN", "https://acme-vpn.com/beta")]),
        ("1. Acme VPN", "https://news.example.com/best-vpn", [("2. Beta VPN", "https://news.example.com/best-vpn")]),
        ("2. Acme VPN", "https://acme-vpn.com/best-vpn", []),
        ("Acme VPN", "https://acme-vpn.com/best-vpn", []),
        ("1. Acme VPN", "http://127.0.0.1/best", []),
        ("1. Acme VPN", "", []),
    ],
)
def test_a_link_to_what_is_recommended_is_no_ranking(title, url, others):
    assert find_self_ranking(title, url, others) is None


@given(st.lists(st.sampled_from(["1. ", "2. ", "#", "Acme", "best", "\n", " ", "*", ":", "x"])).map("".join))
def test_a_finding_quotes_the_text(text):
    found = find_self_promotion("https://acme.com/", text)

    assert found is None or found.item in " ".join(text.split())
