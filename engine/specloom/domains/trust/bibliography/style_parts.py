"""What the styles of reference lists are put together of: names, titles, dates, pages, and how parts are joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from specloom.core import dataclass
from specloom.domains.text import Name, to_display, to_initials, to_word_set

from .entry import MONTHS, BibliographyEntry, Issued

# --- Joining ----------------------------------------------------------------------------------------------------------

_ENDS = (".", "?", "!", "…", "。", "？", "！", ".”", "?”", "!”", ".’", "?’", "!’")


def finish(text: str, mark: str = ".") -> str:
    """A text with the mark that ends it, once."""
    text = text.rstrip()
    return text if not text or text.endswith(_ENDS) else f"{text}{mark}"


def sentences(*parts: str) -> str:
    """The parts that there are, each ended by a full stop."""
    return " ".join(finish(part) for part in parts if part)


def joined(*parts: str, by: str = ", ") -> str:
    """The parts that there are, joined; a mark that ends one is not doubled."""
    text = ""
    for part in filter(None, parts):
        text = f"{text}{by}{part}" if text else part
    return text


# --- Titles -----------------------------------------------------------------------------------------------------------

_APOSTROPHE = re.compile(r"(?<=\w)'|'(?=\d\ds?\b)")
_OPENING = re.compile(r"(?:^|(?<=[\s(\[{“‘—–/-]))\"(?=\S)")
_SINGLE = re.compile(r"(?:^|(?<=[\s(\[{“—–-]))'(?=\S)")
# Words that a headline leaves small, but for the first, the last, and the one behind a colon.
_SMALL = to_word_set(
    "a an the and but or nor for so yet as at by down from in into near of off on onto out over per than till to under "
    "until up upon via vs with within without across after against along among around before behind below beneath "
    "beside between beyond despite during except inside like outside past since through throughout toward towards "
    "underneath versus de la le von van der et al"
)
_WORD = re.compile(r"(?<!\w)[^\W\d_][\w’'.]*")

_LATIN = 0x250
"""Where the letters of Latin end, which alone have headlines of their own."""


def curl(text: str) -> str:
    """A text with typographic quotation marks and apostrophes."""
    if '"' not in text and "'" not in text:
        return text
    text = _SINGLE.sub("‘", _APOSTROPHE.sub("’", text))
    return _OPENING.sub("“", text).replace('"', "”").replace("'", "’")


def quote(text: str, *, outer: str = "“”", inner: str = "‘’") -> str:
    """A title in quotation marks; those inside it become the other ones."""
    text = curl(text)
    for mark, other in zip("“”" if outer == "“”" else "‘’", inner, strict=True):
        # An apostrophe stands between letters, the mark that closes does not.
        pattern = re.escape(mark) if mark != "’" else r"’(?!\w)"
        text = re.sub(pattern, other, text)
    return f"{outer[0]}{text}{outer[1]}"


def headline(entry: BibliographyEntry, text: str) -> str:
    """A text in the case of headlines, as English titles have it; other languages and names of programs stay."""
    language = entry.language.lower()
    if (language and not language.startswith("en")) or entry.kind == "software":
        return text
    matches = list(_WORD.finditer(text))
    pieces, at = [], 0
    for place, match in enumerate(matches):
        word = match[0]
        before = text[: match.start()].rstrip()
        is_edge = place in (0, len(matches) - 1) or before.endswith((":", "?", "!", "—", ". “", "“"))
        is_hyphened = text[match.start() - 1 : match.start()] == "-"
        if (
            word.islower()
            and ord(word[0]) < _LATIN
            and "." not in word[:-1]
            and (is_edge or word.strip(".'’") not in _SMALL)
        ):
            word = word if is_hyphened and word in _SMALL else capital(word)
        pieces += [text[at : match.start()], word]
        at = match.end()
    return "".join([*pieces, text[at:]])


def capital(text: str) -> str:
    """A text with its first letter in capitals."""
    return text[:1].upper() + text[1:]


# --- Names ------------------------------------------------------------------------------------------------------------

_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_PARTICLE = re.compile(r"(?:[a-zà-ÿ’']+\s)+(?=[^\W\d_a-z])")

OTHERS = Name("et al.")
"""The last of the people of an entry where they are not all named."""

Given = Literal["whole", "spaced", "tight", "bare"]


@dataclass(frozen=True, slots=True)
class NameRule:
    """How a style writes names: given names, which are inverted, what joins the last one, and how many are named.

    Of more than `most` the first `kept` are named, and `rest` stands for the others.
    """

    given: Given
    inverted: Literal["all", "first", "none"]
    last: str
    most: int = 1000
    kept: int = 1
    rest: str = ", et al."
    comma: str = ", "
    suffix: str = ", "
    demoted: bool = False


def _to_given(given: str, form: Given) -> str:
    if form == "whole" or not given:
        return given
    initials = to_initials(given)
    if form == "spaced":
        return initials
    return re.sub(r"[.\s-]", "", initials) if form == "bare" else initials.replace(". ", ".")


def write_name(name: Name, rule: NameRule, *, inverted: bool) -> str:
    """One name; organisations and names in Chinese characters are written as they are."""
    if not name.given or _EAST_ASIAN.search(name.family):
        return to_display(name)
    family, given = name.family, _to_given(name.given, rule.given)
    if not inverted:
        return joined(f"{given} {family}", name.suffix, by=" ")
    if rule.demoted and (particle := name.particle or _particle_of(family)):
        family, given = family.removeprefix(f"{particle} "), f"{given} {particle}"
    shown = f"{family}{rule.comma}{given}"
    return joined(shown, name.suffix, by=rule.suffix)


def _particle_of(family: str) -> str:
    match = _PARTICLE.match(family)
    return match[0].strip() if match else ""


def write_names(people: Sequence[Name], rule: NameRule) -> str:
    """The names of an entry as its style lists them, "" for none; behind the last one may stand OTHERS."""
    named = people[:-1] if people[-1:] == (OTHERS,) else people
    # Those that are not named count as one: there may be no more of them.
    shown = named if len(people) <= rule.most else people[: rule.kept]
    names = [
        write_name(name, rule, inverted=rule.inverted == "all" or (rule.inverted == "first" and at == 0))
        for at, name in enumerate(shown)
    ]
    if len(people) > len(shown):
        return ", ".join(names) + rule.rest
    if len(names) < 2:
        return "".join(names)
    first_comma = rule.last.startswith(",")
    # Of two names only styles with inverted ones put a comma between them.
    last = rule.last
    if first_comma and len(names) == 2 and (rule.inverted == "none" or _EAST_ASIAN.search(names[0])):
        last = rule.last if rule.last == ", " or rule.inverted != "none" else rule.last.removeprefix(",")
    return f"{', '.join(names[:-1])}{last}{names[-1]}"


# --- Dates, pages, ordinals -------------------------------------------------------------------------------------------

SHORT_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
IEEE_MONTHS = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "Jun.", "Jul.", "Aug.", "Sep.", "Oct.", "Nov.", "Dec.")


def month_day(issued: Issued) -> str:
    """`March 12`, `March` or ""."""
    month = MONTHS[issued[1] - 1] if len(issued) > 1 else ""
    return f"{month} {issued[2]}" if len(issued) == 3 else month


def american(issued: Issued) -> str:
    """`March 12, 2019`, `March 2019`, `2019`."""
    if len(issued) == 3:
        return f"{month_day(issued)}, {issued[0]}"
    return joined(month_day(issued), str(issued[0]), by=" ") if issued else ""


def day_first(issued: Issued, months: Sequence[str] = MONTHS) -> str:
    """`12 March 2019`, with the names that a style has for months."""
    if not issued:
        return ""
    month = months[issued[1] - 1] if len(issued) > 1 else ""
    return " ".join(filter(None, (str(issued[2]) if len(issued) == 3 else "", month, str(issued[0]))))


def year_of(entry: BibliographyEntry) -> str:
    """The year, or what the date says where that is no year of ours: a range, antiquity."""
    date = entry.dated.strip("~?%")
    if date.startswith("-"):
        return f"{int(date[1:5]) + 1} B.C.E."
    first, _, last = date.partition("/")
    if last[:4].isdigit() and entry.issued and last[:4] != first[:4]:
        return f"{entry.issued[0]}–{last[:4]}"
    return str(entry.issued[0]) if entry.issued else date[:4].lstrip("0")


def pages_of(entry: BibliographyEntry, shorten: Callable[[str, str], str] | None = None, dash: str = "–") -> str:
    """The pages of an entry, ranges with the end that a style has for them."""

    def write(match: re.Match[str]) -> str:
        end = shorten(match[1], match[2]) if shorten and len(match[1]) == len(match[2]) else match[2]
        return f"{match[1]}{dash}{end}"

    return re.sub(r"(?<![0-9])([0-9]{1,9})-([0-9]{1,9})(?![0-9])", write, entry.pages).replace("-", dash)


def _common(first: str, last: str) -> int:
    return next((at for at, (one, two) in enumerate(zip(first, last, strict=True)) if one != two), len(first) - 1)


def least_end(first: str, last: str) -> str:
    """101, 119 → 19; 300, 301 → 1: only what changes."""
    return last[_common(first, last) :]


def two_end(first: str, last: str) -> str:
    """101, 119 → 19; 300, 301 → 01: two digits at least."""
    return last if int(first) < 100 else last[min(_common(first, last), len(last) - 2) :]


def chicago_end(first: str, last: str) -> str:
    """101, 108 → 8; 321, 328 → 28; 300, 301 → 301, as the Chicago Manual has it."""
    number = int(first)
    if number < 100 or number % 100 == 0:
        return last
    return least_end(first, last) if number % 100 < 10 else last[min(_common(first, last), len(last) - 2) :]


def is_plural(pages: str) -> bool:
    """Whether pages are several."""
    return bool(re.search(r"[-–,]", pages))


def ordinal(edition: str) -> str:
    """`2` → `2nd`; what is no number stays."""
    if not edition.isdigit() or len(edition) > 4:
        return edition
    number = int(edition)
    teens = 10 < number % 100 < 14
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def edition_of(entry: BibliographyEntry, word: str = "ed.") -> str:
    """`2nd ed.`; an edition that is named in words has the word once."""
    shown = ordinal(entry.edition.strip())
    if not shown or re.search(r"\b(?:ed|edn|edition|aufl|auflage)\b", shown, re.IGNORECASE):
        return shown
    return f"{shown} {word}"


def numbered(entry: BibliographyEntry) -> str:
    """What a report, a preprint or a standard is called by: its kind and its number."""
    number = entry.number or (f"arXiv:{entry.arxiv}" if entry.arxiv else "")
    genre = entry.genre
    return joined(genre, number, by=" ") if number else ""


def first(*values: str) -> str:
    """The first value that there is."""
    return next(filter(None, values), "")


def without_repeats(keys: Iterable[str]) -> list[bool]:
    """For each key whether it is the one before."""
    last = None
    repeats = []
    for key in keys:
        repeats.append(bool(key) and key == last)
        last = key
    return repeats
