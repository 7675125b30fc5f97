"""Affiliate disclosures: what a page says of itself, in nine languages, and what it says of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.sources.commissions import find_commission


@pytest.mark.parametrize(
    "sentence",
    [
        "We may earn a commission.",
        "If you click, we may earn a small affiliate commission at no extra cost to you.",
        "At no additional cost to you, we may receive a commission.",
        "As an Amazon Associate I earn from qualifying purchases.",
        "This post contains affiliate links.",
        "Some of the links on this page are affiliate links.",
        "We are a participant in the Riverside Associates Program.",
        "Beim Kauf erhalten wir eine Provision.",
        "Kaufst du darüber ein, können wir ohne Mehrkosten für dich eine Provision bekommen.",
        "Diese Seite enthält Affiliate-Links.",
        "Nous pouvons percevoir une commission sur les ventes.",
        "Cet article contient des liens d’affiliation.",
        "Podemos recibir una comisión por tu compra.",
        "Este artículo contiene enlaces de afiliados.",
        "Potremmo ricevere una commissione.",
        "Questo articolo contiene link di affiliazione.",
        "Podemos receber uma comissão pelas compras.",
        "Este artigo contém links de afiliados.",
        "Мы можем получать комиссию за покупки.",
        "Эта статья содержит партнёрские ссылки.",
        "我们可能会从您的购买中获得佣金。",
        "本文包含联盟链接。",
        "当サイトはアフィリエイト広告を利用しています。",
    ],
)
def test_a_page_that_is_paid_for_sales_is_found_with_the_sentence(sentence: str) -> None:
    text = f"# Fish finders\n\nA summer by the river.\n\n*{sentence}* More of it.\n"

    assert find_commission(text) == sentence


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We never earn a commission.",
        "We do not accept affiliate links and we don't earn commissions.",
        "This site contains no affiliate links.",
        "Shops cut affiliate commissions, and sites have to say when they earn a commission.",
        'The site says: "If you buy, we may earn a commission."',
        "The site says: “We may earn a commission.”",
        "Brokers earn a commission on every sale.",
        "The European Commission may receive a complaint.",
        "We made a complaint to the commission.",
        "This week a shop banned affiliate links.",
        "Wir erhalten keine Provision.",
        "Diese Woche verbot ein Händler Affiliate-Links.",
        "Makler erhalten eine Provision.",
        "Nous ne touchons aucune commission.",
        "La Commission peut recevoir une plainte.",
        "Recibimos la visita de la comisión del parlamento.",
        "Riceviamo notizie dalla Commissione europea.",
        "Nous recevons la visite de la Commission.",
        "Recebemos notícias da comissão.",
        "Мы получили письмо от комиссии.",
        "No recibimos ninguna comisión.",
        "Non riceviamo alcuna commissione.",
        "Não recebemos comissão.",
        "Мы не получаем комиссию.",
        "我们不会获得任何佣金。",
        "当サイトはアフィリエイト広告を利用していません。",
    ],
)
def test_denials_quotations_and_what_is_said_of_others_are_no_disclosure(text: str) -> None:
    assert find_commission(text) == ""


@given(st.lists(st.sampled_from(["we ", "may ", "earn ", "a ", "commission", ".", "\n", "not ", '"', "*", "获得佣金"])))
def test_a_finding_stands_in_the_text(parts: list[str]) -> None:
    text = "".join(parts)

    assert find_commission(text) in " ".join(text.replace("*", "").split())
