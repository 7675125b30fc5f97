"""What a session could ask next: search queries from its goal, its open questions and what its sources lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final

from specloom.core import dataclass, load_table
from specloom.domains.text import UNKNOWN, find_language, is_stop_word, load_languages
from specloom.domains.text.fold import fold

from .session import Gap
from .sources import SourceCoverage

MOST_QUERIES: Final = 6
"""Queries that are suggested."""
_GOAL, _NOVEL = 200, 150
"""Characters of a query that a goal and the words of an open question may take: web searches take 400."""
_NAMES = 4
"""Words of a proper name at most."""
_COMPLEMENTS = {"academic": "news", "paper": "news", "peer_reviewed": "news", "news": "papers"}
"""By the only type of source so far, what to look for beside it; `reviewed` for every other type."""
_QUOTED: Final = re.compile(r'"([^"]{1,200})"|“([^”]{1,200})”|„([^“”]{1,200})[“”]|«([^»]{1,200})»|「([^」]{1,200})」')
_EDGES: Final = " \t\n?!.,;:¿¡…\"“”„«»「」'‘’()[]{}<>-–—，。？！、；：·؟،؛।;"
"""What may stand around a word and belongs to none."""
_BARRED: Final = re.compile(r"-[A-Za-z]{2,12}:[^\s\"]{1,200}")
"""An operator of searches that keeps something out, as `-site:a.example`."""
_OPTION: Final = re.compile(r"--[A-Za-z][\w=.-]{0,60}|-[A-Za-z]{1,20}[A-Z0-9=_][\w=.-]{0,60}")
"""An option of a program: two dashes, or one before what is no plain word, as `-fPIC` or `-O2`."""
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")


@dataclass(frozen=True, slots=True)
class AskingWords:
    """What a language puts questions with, folded, and what is asked for beside the words of one."""

    code: str
    idle: frozenset[str]
    """Words that find nothing: of questions, and function words."""
    asking: frozenset[str]
    """Those of questions alone."""
    elided: frozenset[str]
    has_names: bool
    """Whether capitals tell names."""
    newest: str
    news: str
    papers: str
    reviewed: str


@cache
def _load() -> dict[str, AskingWords]:
    table, languages = load_table(__file__, "queries.yaml")["languages"], load_languages()
    loaded = {}
    for code, entry in table.items():
        asking = frozenset(_fold(word) for word in str(entry.get("asking", "")).split())
        loaded[code] = AskingWords(
            code=code,
            idle=asking | languages[code].stop,
            asking=asking,
            elided=frozenset(str(entry.get("elided", "")).split()),
            has_names=not entry.get("nouns"),
            **{name: str(entry[name]) for name in ("newest", "news", "papers", "reviewed")},
        )
    return loaded


@lru_cache(maxsize=256)
def _find_words(text: str, default: str = "en") -> AskingWords:
    """The words of the language of a text: of one that asks so where function words leave it open, else a default."""
    words = _load()
    language = find_language(text)
    if language is not UNKNOWN:
        return words[language.code]
    said = _folded(text)
    counts = {code: len(one.idle & said) for code, one in words.items() if one.asking & said}
    best = max(counts.values(), default=0)
    leaders = [code for code, count in counts.items() if count == best]
    return words[leaders[0] if leaders and default not in leaders else default]


def suggest_queries(goal: str, gaps: Sequence[Gap], coverage: SourceCoverage) -> list[str]:
    """Queries that would go where the session has not been: open questions first, then hosts, then types of sources.

    They have the words of a question that find something: none that only ask, no marks, and no quotes but around what
    was quoted and around proper names.
    """
    words = _find_words(" ".join([goal, *(gap.description for gap in gaps)]) if len(goal.split()) < 3 else goal)
    # A goal of idle words alone has them all.
    about = _shorten([*_split(goal, words)] or [_strip(part, words) for part in goal.split()], _GOAL)
    queries = [_ask_for(goal, about, gap.description, words) for gap in gaps]
    if about and coverage.dominant_domain:
        queries.append(f"{about} -site:{coverage.dominant_domain}")
    types = list(coverage.source_types)
    if about and len(types) == 1:
        queries.append(f"{about} {getattr(words, _COMPLEMENTS.get(types[0], 'reviewed'))}")
    return [query for query in dict.fromkeys(queries) if query][:MOST_QUERIES]


def _ask_for(goal: str, about: str, gap: str, words: AskingWords) -> str:
    known = _folded(f"{goal} {about}")
    novel = _shorten(dict.fromkeys(_split(gap, _find_words(gap, words.code), known)), _NOVEL)
    year = _YEAR.search(gap)
    since = f" after:{year[0]}" if year else ""
    if not about:
        return novel + since if novel else ""
    return f"{about} {novel}{since}" if novel else f"{about} {words.newest}{since}"


def _split(text: str, words: AskingWords, known: frozenset[str] = frozenset()) -> Iterator[str]:
    """The words of a text that find something, what is quoted and names between quotes; nothing that is known."""
    at = 0
    for quoted in _QUOTED.finditer(text):
        yield from _pick(text[at : quoted.start()], words, known)
        phrase = " ".join(next(filter(None, quoted.groups())).split())
        is_barred = text[: quoted.start()].endswith("-") and not text[: quoted.start() - 1][-1:].strip()
        if not known.issuperset(_folded(phrase)):
            yield "-" * is_barred + (f'"{phrase}"' if " " in phrase else phrase)
        at = quoted.end()
    yield from _pick(text[at:], words, known)


def _pick(text: str, words: AskingWords, known: frozenset[str]) -> Iterator[str]:
    parts = text.split()
    kept = [
        (place, word)
        for place, part in enumerate(parts)
        if (word := _strip(part, words)) and not _is_idle(word, words, is_first=not place)
    ]
    # Where every word has a capital, the text is a heading, whose capitals tell no name.
    has_names = words.has_names and (len(kept) == len(parts) or not all(part[0].isupper() for part in parts))
    at = 0
    while at < len(kept):
        end = at + 1
        while has_names and end < len(kept) and _goes_on(kept[end - 1], kept[end], parts):
            end += 1
        run = [word for _, word in kept[at:end]]
        if 1 < len(run) <= _NAMES:
            if not known.issuperset(map(_fold, run)):
                yield f'"{" ".join(run)}"'
        else:
            yield from (word for word in run if _fold(word) not in known)
        at = end


def _goes_on(before: tuple[int, str], word: tuple[int, str], parts: Sequence[str]) -> bool:
    """Whether a word goes on with the proper name in which the one before it stands."""
    is_next = word[0] == before[0] + 1 and parts[before[0]][-1] not in _EDGES
    return is_next and _is_capital(before[1]) and _is_capital(word[1])


def _is_capital(word: str) -> bool:
    return word[0].isupper() and len(word) > 1 and word[1:] != word[1:].upper()


def _is_idle(word: str, words: AskingWords, *, is_first: bool) -> bool:
    # Capitals inside of a text are an abbreviation or a letter ("US", "vitamin A").
    if word.isupper() and not is_first:
        return False
    folded = _fold(word)
    return folded in words.idle or (words.code == "en" and is_stop_word(folded))


def _strip(part: str, words: AskingWords) -> str:
    """A word without what stands around it; with its dashes where they say more than that."""
    word = part.strip(_EDGES).replace('"', "")
    begun = part.lstrip(_EDGES.replace("-", ""))
    dashes = begun[: len(begun) - len(begun.lstrip("-"))]
    if dashes and begun[len(dashes) :].startswith(word[:1] or " "):
        written = dashes + word
        if _BARRED.fullmatch(written):
            return written
        # A search would keep out what begins with a dash.
        if _OPTION.fullmatch(written):
            return f'"{written}"'
    before, mark, behind = word.replace("’", "'").partition("'")
    return behind if mark and behind and before.casefold() in words.elided else word


def _fold(word: str) -> str:
    return fold(word.strip(_EDGES))


def _folded(text: str) -> frozenset[str]:
    return frozenset(_fold(part) for part in text.split())


def _shorten(words: Iterable[str], characters: int) -> str:
    """As many of these words as fit, and of a first one that is too long its beginning; no phrase is cut open."""
    text = " ".join(words)
    if len(text) <= characters:
        return text
    cut = text[: characters + 1].rpartition(" ")[0] or text[:characters]
    return cut if cut.count('"') % 2 == 0 else cut.rpartition('"')[0].rstrip() or cut.replace('"', "")
