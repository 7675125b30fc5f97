"""What pages that are missing call themselves and say, by language, in small letters and without signs.

A blank with dots stands for up to nine words between two others, and in scripts without blanks for some characters.
"""

from __future__ import annotations

import re
from typing import Final

CODE: Final = re.compile(
    r"(?:(?:http|error|errore|erreur|fehler|fout|fel|fejl|feil|chyba|błąd|hata|virhe|ошибка|помилка|status|code) )*"
    r"4(?:04|10)"
)
"""What a page is called by the status that it should have."""
EXPLAINS: Final = re.compile(
    r"\b(?:explain(?:s|ed)|means?|indicat(?:es?|ing)|status code|response code|error message|error code|refers? to"
    r"|occurs?|happens?"
    r"|is (?:an?|the) (?:\w+ )?(?:error|http)|how to|bedeutet|signifie|significa|betekent|означает|oznacza"
    r"|i (?:am|click|get|got|have|keep|log|open|see|tried|try|use|visit)\w*"
    r"|my (?:app|blog|page|server|site|url|website))\b"
)
"""Who explains such pages, or tells of one that they came to, is not one."""

_THING: Final = (
    "(?:pages?|article|content|document|file|resource|url|address|link|post|story|topic|thread|entry|item|product"
    "|listing|job|event|video|profile|user|account|website|what you(?: are|re| were)? (?:looking|searching) for)"
)
_NOT_YET: Final = r"(?! (?:in|to|for|at|right|until|outside|on|via|through|yet)\b)"
_STATEMENTS: Final = {
    "en": (
        f"{_THING} … (?:could not|couldnt|can ?not|cant|was not|wasnt|is not|isnt|not|never)(?: be)? (?:found|located)",
        f"{_THING} … (?:does not|doesnt|do not|dont|did not|didnt)(?: seem to| appear to)? exist",
        f"{_THING} … (?:no longer (?:exists?|available|here|active|online)|not exist|isnt here|(?:gone|went) missing)",
        f"{_THING} … (?:isnt available|not available|is unavailable){_NOT_YET}",
        f"{_THING} … (?:has been|(?:may|might|must) have(?: been)?) (?:re)?(?:moved|deleted)",
        "(?<!server )(?:can ?not|cant|couldnt|could not|unable to|not able to|didnt|did not)(?: seem to)? "
        f"(?:find|locate) … {_THING}",
        "nothing (?:was |has been )?found (?:here|at this)",
        "not found on this (?:server|site)",
    ),
    "de": (
        "(?:seite|artikel|inhalt|dokument|datei|adresse|url) … nicht … (?:gefunden|verfügbar|vorhanden)",
        "(?:seite|artikel|inhalt|dokument|datei|adresse|url) … (?:existiert … nicht|nicht existiert|gibt es nicht)",
    ),
    "fr": (
        "(?:page|article|contenu|document|adresse) … (?:introuvable|n ?existe … (?:pas|plus)|non trouvée?)",
        "(?:page|article|contenu|document|adresse) … (?:pas|plus) (?:été )?(?:trouvée?|disponible)",
        "(?:page|article|contenu|document|adresse) … a été (?:supprimée?|déplacée?)",
    ),
    "es": (
        "(?:página|artículo|contenido|documento|recurso) … no … (?:encontrad[oa]|encuentra|existe|disponible)",
        "no … (?:encontramos|encontrar|encontró|encontrado) … página",
    ),
    "pt": ("(?:página|artigo|conteúdo|documento|recurso) … não … (?:encontrad[oa]|existe|disponível)",),
    "it": ("(?:pagina|articolo|contenuto|documento|risorsa) … non … (?:trovat[oa]|esiste|disponibile)",),
    "nl": ("(?:pagina|artikel|document) … (?:niet … (?:gevonden|beschikbaar)|bestaat … niet)",),
    "ca": ("pàgina … no … (?:trobat|trobada|existeix|disponible)",),
    "sv": (
        "(?:sidan|sida) … (?:inte|ej) … (?:hittas|hittades|finns)",
        "sidan (?:finns|hittades) inte",
        "hittar? inte … sidan",
    ),
    "da": (
        "(?:siden|side) … (?:ikke|ikkje) … (?:fundet|funnet|finnes|findes|eksisterer|tilgjengelig|tilgængelig)",
        "(?:siden|side) (?:finnes|findes|eksisterer) ikke",
        "(?:finder|finde|finner|finne|fant|fandt) ikke … siden",
        "ikke (?:finde|finne) siden",
    ),
    "fi": ("sivua … ei … löy\\w+", "sivua ei löy\\w+"),
    "pl": ("nie … (?:znaleziono|znaleźć) … stron\\w*", "stron[aęy] … nie … (?:istnieje|znaleziona|została)"),
    "cs": (
        "str[aá]n\\w* … (?:neexistuje|nenalezena|nebyla nalezena|nenájden\\w*|nebola nájdená)",
        "stránku … (?:nelze|nemohli|nepodařilo) … (?:najít|nalézt)",
    ),
    "hu": ("oldal … nem … (?:található|létezik)",),
    "ro": ("pagin[aă] … nu … (?:găsit[aă]?|există)",),
    "tr": ("sayfa … (?:bulunamadı|mevcut değil)",),
    "el": ("σελίδα … δεν … (?:βρέθηκε|υπάρχει)",),
    "ru": ("страниц[аыу] … не … (?:найдена|существует|найти|найдено)", "не … (?:найдена|нашли|найти) … страниц\\w*"),
    "uk": ("сторінк[аиу] … не … (?:знайдена|знайдено|знайти|існує)",),
    "bg": ("страница(?:та)? … не … (?:намерена|съществува)",),
    "ar": ("الصفحة … (?:غير موجودة|غير متوفرة)", "لم يتم العثور على … الصفحة"),
    "he": ("(?:הדף|העמוד) … לא … (?:נמצא|קיים)",),
    "fa": ("صفحه … (?:یافت نشد|پیدا نشد|وجود ندارد)",),
    "hi": ("पृष्ठ … नहीं मिला", "पेज … नहीं मिला"),
    "vi": ("không tìm thấy … trang", "trang … không … (?:tồn tại|tìm thấy)"),
    "id": ("halaman … tidak … (?:ditemukan|tersedia|ada)",),
    "th": ("ไม่พบหน้า",),
    "zh": (
        "(?:页面|頁面|网页|網頁|文章|内容|內容)…(?:不存在|未找到|找不到|无法找到|已删除|已被删除|已刪除|已被刪除)",
        "(?:找不到|未找到|没有找到|沒有找到|无法找到)…(?:页|頁)",
    ),
    "ja": ("(?:ページ|記事|コンテンツ)…(?:見つかりません|みつかりません|存在しません|ありません|削除され)",),
    "ko": ("페이지…(?:찾을 수 없|존재하지 않|없습니다)",),
}


_UNSPACED: Final = frozenset({"th", "zh", "ja", "ko"})


def _to_pattern(said: str, language: str) -> str:
    if language in _UNSPACED:
        return said.replace("…", r"[^\n]{0,16}?")
    return r"(?<!\w)" + said.replace(" … ", r" (?:\S+ ){0,9}?")


SAYS: Final = re.compile(
    "|".join(_to_pattern(said, language) for language, spoken in _STATEMENTS.items() for said in spoken)
)
"""A statement that a page is not there."""
