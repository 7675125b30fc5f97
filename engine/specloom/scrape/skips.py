"""Links for those who go through a page by keyboard, past its menus: "Skip to content". They are no words of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .tree import text_of

if TYPE_CHECKING:
    from lxml import etree

    from .attributes import Attributes

LONGEST: Final = 60
"""Characters of such a link at most."""
_SKIP: Final = re.compile(
    r"skip (?:to|past|over|this|nav|navigation|main|content|links?|sections?|ads?|advertisements?|images)\b"
    r"|(?:jump|go) (?:straight |directly )?to (?:the )?(?:main |page )?(?:content|navigation|menu|search)\b"
    r"|(?:direkt )?zu[mr] (?:haupt)?(?:inhalt|navigation|menü)"
    r"|(?:aller|passer|accéder|sauter) (?:directement )?(?:au (?:contenu|menu)|à la navigation)"
    r"|(?:saltar|ir|pasar) (?:al contenido|a la navegación)"
    r"|(?:vai|salta|passa) (?:direttamente )?(?:al contenuto|alla navigazione)"
    r"|(?:pular|ir|saltar|avançar) para (?:o )?conteúdo"
    r"|(?:ga |spring |direct )*naar (?:de )?(?:hoofd)?(?:inhoud|navigatie)"
    r"|(?:gå|hoppa|hopp|hop|spring) (?:direkte? )?till? (?:huvud|hoved)?(?:innehåll|indhold|innhold)"
    r"|siirry (?:suoraan )?sisältöön|przejdź do (?:głównej )?(?:treści|zawartości)|přejít (?:na|k) (?:hlavní)?obsah"
    r"|перейти [кд]о? (?:основно\w* )?(?:содерж|контент|вмісту)|(?:ana )?içeriğe (?:geç|atla)"
    r"|(?:メイン)?コンテンツ[へに](?:スキップ|移動)|本文[へに](?:スキップ|移動|ジャンプ)|跳(?:转|轉|到|至|过|過)"
    r"|(?:본문|콘텐츠|컨텐츠)\s?(?:으로|로)?\s?(?:바로\s?가기|건너뛰기)",
    re.IGNORECASE,
)


def find_skips(attributes: Attributes) -> list[etree._Element]:
    """The links of a tree that lead past a part of their page, and stand there for nothing else.

    Such a link leads to a place on a page and has no words beside it: prose may well speak of skipping to something.
    """
    found = []
    # The parser nests no link in another, so each text is looked at once.
    for link, address in attributes.links:
        if "#" in address and link.tag == "a":
            text = " ".join((text_of(link) if len(link) else link.text or "").split())
            if len(text) <= LONGEST and _SKIP.match(text) and _stands_alone(link):
                found.append(link)
    return found


def _stands_alone(link: etree._Element) -> bool:
    before, above = link.getprevious(), link.getparent()
    said = before.tail if before is not None else above.text if above is not None else ""
    return not (said or "").strip() and not (link.tail or "").strip()
