"""Links past the menus of a page are no words of it, in any language; prose that speaks of skipping is."""

from __future__ import annotations

import pytest

from specloom.domains.scrape.extract import extract
from specloom.domains.scrape.html import parse as tree
from specloom.domains.scrape.html import sanitise
from specloom.domains.scrape.html.parse import gather_attributes

PROSE = "<h1>Firing a kiln</h1>" + "".join(
    f"<p>The kiln was lit at dawn on day {day}, and the potter fed it with split pine for nine hours.</p>"
    for day in range(6)
)


@pytest.mark.parametrize(
    "text",
    [
        "Skip to main content",
        "SKIP NAVIGATION",
        "Skip this section",
        "Jump to content",
        "Zum Inhalt springen",
        "Direkt zum Hauptinhalt",
        "Aller au contenu principal",
        "Saltar al contenido",
        "Vai al contenuto",
        "Pular para o conteúdo",
        "Naar de hoofdinhoud",
        "Hoppa till huvudinnehåll",
        "Siirry sisältöön",
        "Przejdź do treści",
        "Перейти к основному содержанию",
        "コンテンツへスキップ",
        "跳转到主要内容",
        "본문 바로가기",
    ],
)
def test_a_link_past_the_menus_is_found(text: str) -> None:
    root = tree.parse(f"<body><div> <a href='#main' class='x'><span>{text}</span></a> </div>{PROSE}</body>")

    assert [link.get("class") for link in sanitise.find_skips(gather_attributes(root))] == ["x"]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Whoever is in a hurry may <a href='#end'>skip to the end</a> of this page.</p>",
        "<p><a href='#end'>Skip to the end</a>, if you are in a hurry.</p>",
        "<ul><li><a href='#skip-lists'>Skip lists</a></li></ul>",
        "<p><a href='#skip'>Skip Johnson</a></p>",
        "<p><a href='/main'>Skip to main street</a></p>",
        "<p><a href='#x'>Skip to what the potter said about the seventh firing of the great kiln by the river</a></p>",
    ],
)
def test_other_links_stay(html: str) -> None:
    assert sanitise.find_skips(gather_attributes(tree.parse(f"<body>{html}</body>"))) == []


def test_a_page_is_read_without_them() -> None:
    found = extract(f"<body><a class=sr-only href='#main'>Skip to content</a>{PROSE}</body>")

    assert found.markdown.startswith("# Firing a kiln")
