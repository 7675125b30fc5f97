"""Pages that say that they are not there, and come with a status that says otherwise ("soft 404").

Such a page is told by what it is called and by what it says to whoever came, where it says little else. An article
about such pages explains them, has a date, or says more. Every part that reads pages asks here, each with what it has
of one: the reader its Markdown, the checks of links the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

# --- What pages that are missing call themselves and say, by language, in small letters and without signs -------------
# A blank with dots stands for up to nine words between two others, and in scripts without blanks for some characters.


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


LITTLE: Final = 700
"""Bytes of text, links and headings left out, up to which a page may be one that is missing."""
LEAST: Final = 80
"""Bytes of the same up to which it is enough that both title and heading call a page so."""
ALONE: Final = 240
"""Bytes of the same up to which a sentence of a page without headings is believed."""
MOST: Final = 8000
"""Bytes of Markdown up to which it is looked at: below such a sentence sites link what else they have."""

_LINK: Final = re.compile(r"!?\[[^\[\]]{0,300}\]\([^()\s]{0,2000}\)")
_HEADING: Final = re.compile(r"^#{1,6} +(.{1,300})$", re.MULTILINE)
_PARTS: Final = re.compile(r"\s*[|·•»›]\s*|\s+[-–—:]+\s+|:\s+")
# What is drawn over or under letters is no sign of its own.
_SIGNS: Final = re.compile("[^\\w\\s\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]+")
_DATED: Final = re.compile(rb"article:published_time|datePublished")
_WRONG: Final = re.compile(r"(?:(?:error|page|file|document|oops|sorry|whoops|uh oh)\b ?){1,3}(?:missing|lost|gone)?$")
_CODED: Final = re.compile(r"(?!4)" + CODE.pattern)
_TITLED: Final = re.compile(r"\s*[|·•»›]\s*|\s+[-–—]+\s+")
"""Signs between a title and the name of its site; behind a colon it may go on."""
_ASIDE: Final = frozenset(("a", "nav", "header", "footer", "aside", "form", "button", "select", "dialog"))
"""Elements of a page as it was sent that are not what it says."""
_LONGEST_NAME: Final = 90
_SHARE: Final = 0.4
"""Part of a name that is the statement; the rest is an apology."""
_WHOLE: Final = 0.6
"""The same from which nothing but an apology fits beside it."""
_IN_WORDS: Final = frozenset(("label", "words", "statement"))
_OUTRIGHT: Final = frozenset(("code", "label", "statement"))


def is_missing(text: str, *, titles: Sequence[str] = (), html: bytes = b"") -> bool:
    """Whether a Markdown text says that its page does not exist, and little else.

    `titles` are what the page is called by its metadata and markup, and `html` is what the text was made of.
    """
    if not text or len(text) > MOST:
        return False
    headings = [_LINK.sub("", heading[1]) for heading in islice(_HEADING.finditer(text), 2)]
    called, named = ({_to_name(part) for each in all_ for part in _part(each)} for all_ in (titles, headings))
    if not (any(called) or any(named)) and (headings or len(text) > 2 * ALONE):
        return False
    prose = _fold(_HEADING.sub("", _LINK.sub("", text)))
    size = len(prose.encode("utf-8", "replace"))
    if size > LITTLE or EXPLAINS.search(prose):
        return False
    sure = "statement" in called and "statement" in named
    if says := SAYS.search(prose):
        told = any(called) or any(named) or (size <= ALONE and says.start() <= ALONE // 4)
    elif prose:
        both = bool(called & _IN_WORDS) and (bool(named & _IN_WORDS) or not headings)
        told = sure or (size <= LEAST and (both or (not headings and _CODED.match(prose) is not None)))
    else:
        told = any(named)
    return told and not _DATED.search(html)


def find_missing(body: bytes, content_type: str = "") -> str:
    """What a page of HTML calls itself, where it says that it does not exist, and little else; "" where it does not.

    Of a page that says nothing at all, as one that a script would fill, the title is believed.
    """
    from .visible_text import parse, to_text, to_title

    root = parse(body, content_type)
    title, text = to_title(root), to_text(root, without=_ASIDE)
    if text.strip("# \n"):
        missing = is_missing(text, titles=(title,), html=body)
    else:
        missing = is_called_missing(title) and not _DATED.search(body)
    heading = _HEADING.search(text)
    return (title or (heading[1] if heading else "") or text[:_LONGEST_NAME]) if missing else ""


def is_called_missing(title: str) -> bool:
    """Whether a title or heading, or what stands in it beside the name of a site, calls its page missing outright."""
    parts = (part for part in (title, *_TITLED.split(title)) if len(part) <= _LONGEST_NAME)
    return any(_to_name(part) in _OUTRIGHT for part in parts)


def _part(text: str) -> set[str]:
    """A title, and the parts of it between which sites put signs."""
    return {part for part in (text, *_PARTS.split(text)) if len(part) <= _LONGEST_NAME}


def _to_name(text: str) -> str:
    """How a part of a title, or a heading, says it and nothing else.

    By a `code`, a `label` ("not found"), in `words`, by a `statement` about a page with hardly a word beside it, or ""
    where it does not.
    """
    name = _fold(text)
    code = CODE.match(name)
    rest = name[code.end() :].strip() if code else name
    if code and (rest in {"", "error", "page"} or _WRONG.match(rest)):
        return "code"
    if rest == "not found" or (code and rest == "gone"):
        return "label"
    found = SAYS.search(rest)
    if not found or EXPLAINS.search(rest) or len(found[0]) < _SHARE * len(rest):
        return ""
    return "statement" if len(found[0]) >= _WHOLE * len(rest) else "words"


def _fold(text: str) -> str:
    """Small letters and single blanks, without signs; an apostrophe joins what it parts."""
    joined = text.casefold().replace("’", "'").replace("n't", "nt").replace("'re", "re")
    return " ".join(_SIGNS.sub(" ", joined).split())
