"""The language of a text, told by its function words, and what each language denies with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from specloom.trust.folding import find_script, fold
from specloom.trust.words import STOP_WORDS, is_stop_word, stem, to_word_set

# Words that are looked at: enough to tell a language, few enough to cost nothing.
_SAMPLE = 400
_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile("[\u3041-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_BY_SCRIPT = {"GREEK": "el", "ARABIC": "ar", "DEVANAGARI": "hi"}


@dataclass(frozen=True, slots=True)
class Language:
    """What is known of one language: its code (ISO 639-1), function words, words of every report, and cues of denial.

    `has_cues` is whether denials can be found in it. Words are folded: small letters without accents.
    """

    code: str
    stop: frozenset[str]
    generic: frozenset[str]
    negations: frozenset[str]
    not_denying: tuple[str, ...]
    refuting: tuple[str, ...]
    breaks: frozenset[str]

    @property
    def has_cues(self) -> bool:
        """Whether there is a list of cues for the language."""
        return bool(self.negations)


UNKNOWN = Language("", frozenset(), frozenset(), frozenset(), (), (), frozenset())


def find_language(text: str) -> Language:
    """The language of a text, UNKNOWN when neither its script nor its function words tell.

    A short text may hold no function word, and related languages share many: what two languages explain equally well
    is unknown.
    """
    script = find_script(text)
    languages = load_languages()
    if script == "CJK":
        code = "ja" if _KANA.search(text) else "ko" if _HANGUL.search(text) else "zh"
        return languages[code]
    if script in _BY_SCRIPT:
        return languages[_BY_SCRIPT[script]]
    words = _WORD.findall(fold(text[: _SAMPLE * 12]))[:_SAMPLE]
    counts = {code: sum(word in language.stop for word in words) for code, language in languages.items()}
    best = max(counts.values(), default=0)
    leaders = [code for code, count in counts.items() if count == best]
    if not best or len(leaders) > 1:
        return UNKNOWN
    found = languages[leaders[0]]
    # One word of two letters is an abbreviation as often as an article ("AI", "MI").
    return found if best > 1 or any(len(word) > 2 and word in found.stop for word in words) else UNKNOWN


def is_function_word(token: str, language: Language) -> bool:
    """Whether a token says nothing by itself in a language; English ones count as such everywhere."""
    return is_stop_word(token) or token in language.stop


@cache
def load_languages() -> Mapping[str, Language]:
    """Every language of the bundled data set by its code."""
    from importlib.resources import files

    import yaml

    text = files("specloom.trust").joinpath("data", "languages.yaml").read_text(encoding="utf-8")
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    return {code: _to_language(code, entry) for code, entry in data["languages"].items()}


def _to_language(code: str, entry: Mapping[str, object]) -> Language:
    phrases = entry.get("not_denying", ())
    stop = to_word_set(str(entry.get("stop", "")))
    return Language(
        code=code,
        # As words and as tokens: the stemmer takes an ending off any word in plain letters.
        stop=(stop | STOP_WORDS if code == "en" else stop) | {stem(word) for word in stop},
        generic=to_word_set(str(entry.get("generic", ""))),
        negations=to_word_set(str(entry.get("negations", ""))),
        not_denying=tuple(str(phrase) for phrase in phrases) if isinstance(phrases, list) else (),
        refuting=tuple(str(entry.get("refuting", "")).split()),
        breaks=to_word_set(str(entry.get("breaks", ""))),
    )
