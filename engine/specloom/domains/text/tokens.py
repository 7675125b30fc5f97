"""Text as comparable tokens: one canonical form for inflections, spellings, numbers, accents and scripts.

Both sides of a comparison are brought to the same form, so no lists of variants are needed: a token equals a token
or it does not. English is stemmed for inflection only (reduces = reduced, but reduces ≠ reduction), because a wrong
match is worse here than a missed one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from specloom.core import load_table

from .tables import invert, to_word_set

_ENGLISH = load_table(__file__, "english.yaml")
STOP_WORDS = to_word_set(_ENGLISH["stop"])
_NUMBER_WORDS: Mapping[str, int] = _ENGLISH["numbers"]
_UNITS = {**{word: value for word, value in _NUMBER_WORDS.items() if value < 10}, "one": 1}
_TENS = {word: value for word, value in _NUMBER_WORDS.items() if value >= 20}
_SCALES: Mapping[str, int] = _ENGLISH["scales"]
_LONGEST_NUMBER = 40

# Scripts whose words are not divided by blanks, or (Hangul) carry particles: compared by pairs of characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u1049\u1780-\u17d3\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")
_HIRAGANA_ONLY = re.compile("[\u3040-\u309f]+")
# Vowel signs of Indic scripts are marks, which \w leaves out; without them a word would fall apart.
_LETTER = f"[\\w\u0900-\u0963\u0966-\u0dff{_UNSPACED}]"
_TOKEN = re.compile(
    rf"(?<!\w)[^\W\d_](?:\.[^\W\d_])+(?!\w)"  # U.S, e.g
    rf"|[0-9]+(?:[.,][0-9]+)*"
    rf"|{_LETTER}+(?:['’]{_LETTER}+)*"
    rf"|%"
)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)


def terms(text: str) -> tuple[str, ...]:
    """The distinct tokens of a text that carry meaning, in the order of their first use."""
    shouted = text.isupper()
    return tuple(dict.fromkeys(token for token in tokens(text) if _is_term(token, shouted=shouted)))


def _is_term(token: str, *, shouted: bool) -> bool:
    if is_number(token):
        return True
    if is_stop_word(token) and (shouted or not token.isupper() or token in ("A", "I")):
        return False
    if _UNSPACED_RUN.match(token):
        return not _HIRAGANA_ONLY.fullmatch(token)
    return len(token) >= 3 or token.isupper()


def is_number(token: str) -> bool:
    """Whether a token is a number; words never start with a digit."""
    return "0" <= token[0] <= "9"


def is_stop_word(token: str) -> bool:
    """Whether a token is a function word, which says nothing by itself."""
    return token.casefold() in _STOP_TOKENS


def is_frequent_word(token: str) -> bool:
    """Whether a token, as `tokens` gives it, is a word of any question, which says little of what is asked."""
    return token in _FREQUENT_TOKENS


def tokens(text: str) -> list[str]:
    """Every token of a text in its canonical form, in order.

    Words of one or two letters that are all capitals ("US", "C") stay capitals, told apart from "us" and "c".
    """
    canonical: list[str] = []
    last_word = ""
    for match in _TOKEN.finditer(_fold(text)):
        raw = match[0]
        word = raw.casefold()
        follows_number = bool(canonical) and is_number(canonical[-1]) and len(canonical[-1]) < _LONGEST_NUMBER
        if "0" <= raw[0] <= "9":
            canonical.extend(_to_numbers(raw))
        elif word in _SCALES and follows_number:
            canonical[-1] = _scaled(canonical[-1], _SCALES[word])
        elif word in _UNITS and last_word in _TENS:
            canonical[-1] = str(_TENS[last_word] + _UNITS[word])
        elif word in _NUMBER_WORDS:
            canonical.append(str(_NUMBER_WORDS[word]))
        elif raw == "%":
            canonical.append("percent")
        else:
            canonical.extend(_to_words(raw))
        last_word = word
    return canonical


def _fold(text: str) -> str:
    """Text without accents, wide forms, other scripts' digits and underscores; case is kept."""
    if not text.isascii():
        decomposed = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", decomposed)  # puts Hangul and kana together again
        text = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
        text = _UNSPACED_RUN.sub(r" \1 ", text)  # so that no token mixes scripts
    return _PER_CENT.sub("percent", text.replace("_", " "))


def _to_words(raw: str) -> list[str]:
    if _UNSPACED_RUN.match(raw):
        return [raw[at : at + 2] for at in range(max(len(raw) - 1, 1))]
    plain = raw.replace("’", "'").replace(".", "")
    if plain.isupper() and len(plain) <= 2:
        return [plain]
    word = plain.casefold()
    if word.endswith("n't") and len(word) > 3:
        return [word[:-3], "not"]
    article, _, noun = word.partition("'")
    if len(noun) > 1 and article in _ELIDED:
        # "l'espérance" and "d'espérance" are forms of one word.
        word = noun
    word = word.removesuffix("'s").replace("'", "")
    return [stem(to_american(word))] if word else []


# Articles, prepositions and pronouns that French and Italian put in front of a vowel.
_ELIDED = to_word_set("l d n s c j m t qu jusqu lorsqu puisqu presqu un dell all nell sull dall coll quell quest")
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]{1,2}")
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _to_numbers(raw: str) -> list[str]:
    if _THOUSANDS.fullmatch(raw):
        # With a comma in it, a dot is the decimal point; without one, the dots are the separators.
        return [_canonical(raw.replace(",", "") if "," in raw else raw.replace(".", ""))]
    if _DECIMAL_COMMA.fullmatch(raw):
        return [_canonical(raw.replace(",", "."))]
    return [_canonical(part) if _PLAIN.fullmatch(part) else part for part in raw.split(",")]


def _canonical(number: str) -> str:
    whole, _, fraction = number.partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def _scaled(number: str, places: int) -> str:
    if not _PLAIN.fullmatch(number):
        return number
    whole, _, fraction = number.partition(".")
    return _canonical(f"{whole}{fraction[:places].ljust(places, '0')}.{fraction[places:]}")


_OUR = re.compile(r"(arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|od|rig|rum|sav|tum|vap|vig)our")
_RE = re.compile(r"((?:cen|li|lus|me|spec|thea)t|(?:cali|fi|sa|som)b)re(s?)$")
_AMERICAN = invert(_ENGLISH["american"])


@lru_cache(maxsize=8192)
def to_american(word: str) -> str:
    """A lower-case word in American spelling, as far as the common families go; -ise and -yse are settled by `stem`."""
    if word in _AMERICAN:
        return _AMERICAN[word]
    for british, american in _ENGLISH["digraphs"].items():
        if british in word:
            word = word.replace(british, american)
    return _RE.sub(r"\1er\2", _OUR.sub(r"\1or", word))


_IRREGULAR = invert(_ENGLISH["irregular"])


def is_irregular(word: str) -> bool:
    """Whether a word is an irregular English form: a past tense, or a plural without -s."""
    return word.lower() in _IRREGULAR


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A lower-case English word without its inflection; any other word as it is.

    These are the inflectional steps of Porter's algorithm (1a–1c and 5), changed where they part forms of one word
    (virus and viruses), with irregular forms and the adverbs in -ly.
    """
    if word in _IRREGULAR:
        return _without_silent_e(_IRREGULAR[word])
    if len(word) <= 3 or not (word.isascii() and word.isalpha()):
        return word
    for ending, replacement in _ENGLISH["adverbs"].items():
        if word.endswith(ending) and len(word) > len(ending) + 2:
            word = word.removesuffix(ending) + replacement
            break
    word = _without_tense(_without_plural(word))
    if len(word) > 2 and word[-1] == "y" and _shape(word)[-2] == "c":
        word = word[:-1] + "i"
    word = _without_silent_e(word)
    # Set here, where "raise" and "raising" have met already, -ise and -ize meet too.
    return f"{word[:-1]}z" if len(word) > 5 and word.endswith(("is", "ys")) else word


def _without_plural(word: str) -> str:
    if word.endswith("sis") and len(word) > 5:
        return word[:-2] + "e"  # analysis, analyses
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) or not word.endswith("s") else word[:-1]


def _without_tense(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    base = word.removesuffix("ed").removesuffix("ing") if word.endswith(("ed", "ing")) else word
    if base == word or "v" not in _shape(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if base[-1] == base[-2:-1] and base[-1] not in "aeioulsz":
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _is_short(base) else base


def _without_silent_e(word: str) -> str:
    if len(word) > 3 and word.endswith("e"):
        base = word[:-1]
        measure = _measure(base)
        return base if measure > 1 or (measure == 1 and not _is_short(base)) else word
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


_FREQUENT_TOKENS = frozenset(stem(word) for word in to_word_set(_ENGLISH["frequent"]))
_STOP_TOKENS = STOP_WORDS | {stem(word) for word in STOP_WORDS}


# --- Text as sentences: where one ends, in prose, snippets and lists, with or without blanks between words ---


# Marks of scripts that need no blank after a sentence, then those that do, then line breaks.
_END = re.compile(
    r"""(?P<wide>[。！？｡।॥؟۔።។။]+[」』）》”’"')\]]*)
    |(?P<mark>[.!?…]+)(?P<closed>(?:[)\]"'”’»›]|\[[0-9]{1,3}\])*)
    |(?P<line>[\n\r\u2028\u2029]\s*)""",
    re.VERBOSE,
)
_NEXT = re.compile(r"""\s*["'“‘«‹(\[]{0,4}(\w{0,20})""")
_LAST = re.compile(r"(?:\w|(?<=\w)\.(?=\w)){1,20}\Z")
_LINE_BREAKS = re.compile(r"\r\n|[\n\r\u2028\u2029]")

# A full stop after the first never ends a sentence, after the second only when the next word likes to open one, and
# after the third not before a number.
_ALWAYS_ABBREVIATED, _OFTEN_ABBREVIATED, _NUMBERED = (
    to_word_set(_ENGLISH["abbreviated"][name]) for name in ("always", "often", "numbered")
)
_OPENERS = to_word_set(_ENGLISH["openers"])


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, white space collapsed; pieces without a letter or digit are left out."""
    pieces: list[str] = []
    start = 0
    # In text without capitals, a small letter says nothing about where a sentence goes on.
    cased = text != text.lower()
    for end in _END.finditer(text):
        # A line break ends a sentence, except where a line was only wrapped.
        is_wrapped = cased and text[end.end() : end.end() + 1].islower() and len(_LINE_BREAKS.findall(end[0])) == 1
        if end["wide"] or (not is_wrapped if end["line"] else _ends_sentence(text, end, start, cased=cased)):
            _add(pieces, text[start : end.end()])
            start = end.end()
    _add(pieces, text[start:])
    return pieces


def _add(pieces: list[str], piece: str) -> None:
    if any(character.isalnum() for character in piece):
        pieces.append(" ".join(piece.split()))


def _ends_sentence(text: str, end: re.Match[str], start: int, *, cased: bool) -> bool:
    if end.end() < len(text) and not text[end.end()].isspace():
        return False
    following = _NEXT.match(text, end.end())
    follower = following[1] if following else ""
    if end["mark"] == ".":
        last = _LAST.search(text, max(start, end.start() - 20), end.start())
        word = last[0] if last else ""
        bare = word.replace(".", "").lower()
        if word.isdigit() and not text[start : last.start() if last else start].strip():
            return False  # the number of a list item
        if bare in _ALWAYS_ABBREVIATED:
            return False
        if bare in _NUMBERED and follower[:1].isdigit():
            return False
        if bare in _OFTEN_ABBREVIATED or "." in word or (len(word) == 1 and word.isupper()):
            return follower[:1].isupper() and follower.lower() in _OPENERS
    return not (cased and follower[:1].islower())
