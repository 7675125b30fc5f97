"""Self-promotion: a ranking that its own host wins, and the numbered lists that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.records import SelfPromotion
from specloom.domains.trust.sources.classify import find_self_promotion

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


@given(st.lists(st.sampled_from(["1. ", "2. ", "#", "Acme", "best", "\n", " ", "*", ":", "x"])).map("".join))
def test_a_finding_quotes_the_text(text):
    found = find_self_promotion("https://acme.com/", text)

    assert found is None or found.item in " ".join(text.split())
