"""The functions that know countries: by name in common languages, and by ISO 3166 code.

The names are those of Unicode's CLDR, which Babel brings along: it is imported and its tables are read when a text is
no code, 10 ms and some 3 ms a language, once in a process.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from specloom.core import dataclass
from specloom.core.tables import LateTable

from ..signatures import function
from ..types import TEXT, RecordType, maybe

_PLACES = LateTable(__file__, "places.yaml")
_WORD = re.compile(r"\w+")
_EDGES = ",;:()?!\"'’`[]"
_MOST_WORDS = 7
_LONGEST = 500
_LEAST_LETTERS = 4

_FIELDS = {"code": TEXT, "alpha2": maybe(TEXT), "alpha3": maybe(TEXT), "name": TEXT}
_COUNTRY = RecordType(_FIELDS, required=frozenset(_FIELDS))
_NAMED = RecordType({**_FIELDS, "rest": TEXT}, required=frozenset({*_FIELDS, "rest"}))


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """The names of countries as they are compared, each with its ISO 3166 code of two letters."""

    names: Mapping[str, str]
    ours: frozenset[str]
    """The names that are English, and so are known whatever their case."""


@function("nullable string", result=maybe(_COUNTRY))
def _country(text: str | None) -> dict[str, Any] | None:
    """The country that a text names, in a common language or by its ISO 3166 code: {code, alpha2, alpha3, name}, where
    `code` is alpha3, or of the European Union, the euro area and the world EU, EA and WLD, which have neither of the
    others; null for null and for what is no country."""
    if text is None or len(text) > _LONGEST:
        return None
    code = text.strip().upper()
    codes = _read_codes()
    alpha2 = code if code in codes else _read_long_codes().get(code)
    if alpha2 is None:
        alpha2 = _read_names().names.get(_to_key(text))
    return None if alpha2 is None else _describe(alpha2)


@function("nullable string", result=maybe(_NAMED))
def _country_in(text: str | None) -> dict[str, Any] | None:
    """The one country that the words of a question name, as of `country`, and the other words as `rest`; null for null,
    where none or several are named, and where nothing else is said. A name that is not English needs a capital."""
    words = [] if text is None or len(text) > _LONGEST else text.split()
    found = list(_find_places(words))
    if len({alpha2 for _, _, alpha2 in found}) != 1:
        return None
    gone: set[int] = set()
    for first, end, _ in found:
        begin = first
        while begin > 0 and words[begin - 1].lower() in _PLACES["before"]:
            begin -= 1
        gone |= {*range(begin, end)}
    rest = " ".join(word for at, word in enumerate(words) if at not in gone).strip(" ,;:-")
    return {**_describe(found[0][2]), "rest": rest} if _WORD.search(rest) else None


def _find_places(words: list[str]) -> Iterator[tuple[int, int, str]]:
    """Where a country is named, the longest name at each place: the first word, the one behind the last, its code."""
    at = 0
    while at < len(words):
        for end in range(min(len(words), at + _MOST_WORDS), at, -1):
            alpha2 = _find_place(words[at:end])
            if alpha2 is not None:
                yield at, end, alpha2
                at = end
                break
        else:
            at += 1


def _find_place(words: list[str]) -> str | None:
    text = " ".join(words).strip(_EDGES).removesuffix("'s").removesuffix("’s")
    if text in _PLACES["capitals"]:
        return _read_names().names[_to_key(text)]
    key = _to_key(text)
    gazetteer = _read_names()
    if key not in gazetteer.names or key in _PLACES["never"] or (key.isascii() and len(key) < _LEAST_LETTERS):
        return None
    # What is written without capitals is English, and nothing else than a country.
    is_plain = text == text.lower() and text != text.upper()
    return None if is_plain and (key not in gazetteer.ours or key in _PLACES["words"]) else gazetteer.names[key]


def _describe(alpha2: str) -> dict[str, Any]:
    area = _PLACES["areas"].get(alpha2)
    alpha3 = None if area else _read_codes()[alpha2]
    return {
        "code": area or alpha3,
        "alpha2": None if area else alpha2,
        "alpha3": alpha3,
        "name": _read_territories("en")[alpha2],
    }


def _to_key(name: str) -> str:
    """The name as it is compared: its words in small letters, without marks."""
    text = unicodedata.normalize("NFKD", name.replace("&", " and ").replace("'", "").replace("’", ""))
    plain = "".join(letter for letter in text if not unicodedata.combining(letter)).casefold()
    return " ".join(_WORD.findall(plain))


@cache
def _read_codes() -> Mapping[str, str]:
    """The code of three letters of each country by that of two."""
    return MappingProxyType({alpha2: alpha3 for alpha3, alpha2 in _read_long_codes().items()})


@cache
def _read_long_codes() -> Mapping[str, str]:
    """The code of two letters of each country by that of three."""
    from babel.core import get_global

    withdrawn = set(_PLACES["withdrawn"])
    aliases: Mapping[str, list[str]] = get_global("territory_aliases")
    found = {code: after for code, after in aliases.items() if len(code) == 3 and code.isalpha()}
    return MappingProxyType({code: after[0] for code, after in found.items() if code not in withdrawn})


@cache
def _read_names() -> Gazetteer:
    names: dict[str, str] = dict(_PLACES["names"])
    ours: frozenset[str] = frozenset()
    for language in ("en", *_PLACES["languages"]):
        for code, name in _read_territories(language).items():
            # "Myanmar (Burma)" is known by what stands before the brackets too.
            for part in (name, name.partition(" (")[0]):
                names.setdefault(_to_key(part), code)
        ours = ours or frozenset(names)
    return Gazetteer(MappingProxyType(names), ours)


@cache
def _read_territories(language: str) -> Mapping[str, str]:
    """The name of each country and area in a language, by code."""
    from babel import Locale

    known = {*_read_codes(), *_PLACES["areas"]}
    territories = Locale.parse(language).territories
    return MappingProxyType({code: str(name) for code, name in territories.items() if code in known})
