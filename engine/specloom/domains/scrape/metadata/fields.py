"""What a page writes in its fields becomes texts on a line, names of authors without "By", and dates in ISO 8601."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Final

from specloom.core import from_epoch, load_table, to_timestamp

VOCABULARY: Final = {
    part: {name: tuple(words.split()) for name, words in table.items()}
    for part, table in load_table(__file__, "vocabulary.yaml").items()
}
"""The words of `vocabulary.yaml` by table and name, in their order."""


def to_words(text: str) -> frozenset[str]:
    """The words of a text as a set, for tables of words."""
    return frozenset(text.split())


MOST_AUTHORS: Final = 100
_LONGEST: Final = 120

_BY: Final = re.compile(
    r"^\W*(?:(?:written|posted|published|story|words|text|reported|reviewed|edited|submitted|started|asked)\s+)?"
    r"by(?:\s*+[:：])?\s++",
    re.IGNORECASE,
)
# Also the beginnings of family names, so a first and a last name have to follow.
_BY_ELSEWHERE: Final = re.compile(r"^(?:[Vv]on|[Pp]ar|[Pp]or|[Dd]oor|[Aa]v)\s++(?=\S++\s++\S)")
_BY_LABEL: Final = re.compile(r"^\W*(?:authors?|written by|作者|автор|記者|记者|文|by)\s*+[:：]\s*+", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"(?:https?:)?//\S+|www\.\S+|(?<!\S)\S[^\s@]*+@\S[^\s.]*+\.\S+", re.IGNORECASE)
_AND: Final = re.compile(r"(?:,|(?<![\s,]))\s++(?:and|und|et|y|e|och|en|и|&)\s++", re.IGNORECASE)
_MARKS: Final = re.compile(r"(?:(?<!\s)\s++)?[;/、•·]\s*+|(?<!\s)\s++\|\s++")
# Degrees, certificates and employers behind a name: "Ann Lee, CFP®", "Bo Day, Ph.D."
_LETTERS: Final = re.compile(
    r",\s*+(?:[A-Z]{3,6}®?|M\.?D\.?|Ph\.?D\.?|R\.?[DN]\.?|J\.?D\.?|CNN)(?=\s*(?:,|;|&|and\b|$))"
)
_TAIL: Final = re.compile(
    r"(?:(?:(?<!\s)\s++)?[,|–—]|(?<!\s)\s++-)\s*+"
    r"(?>[\w .']*\b(?:editor|reporter|correspondent|writer|contributor|staff|columnist|producer|"
    r"journalist|ph\.?d|m\.?d|professor|author)\b).*$",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(r"[^\W\d_][\w.'’-]*+(?:\s++[^\W\d_][\w.'’-]*+){1,4}")
_NOBODY: Final = {name.replace("_", " ") for names in VOCABULARY["authors"].values() for name in names}


def to_text(value: object, most: int = 1000) -> str:
    """A text on one line, its character references resolved (pages often write them twice), cut after `most`."""
    if not isinstance(value, str):
        return ""
    text = value[: most * 4]
    if "&" in text:
        text = html.unescape(text)
        if "&" in text and ";" in text:
            text = html.unescape(text)
    if "<" in text:
        text = re.sub(r"</?[A-Za-z][^<>]{0,200}>", " ", text)
    return " ".join(text.replace("\x00", "").split())[:most].rstrip()


def to_names(values: Iterable[str], *, split: bool) -> tuple[str, ...]:
    """Distinct names in order, at most 100. With `split`, one value may list several of them."""
    names: dict[str, str] = {}
    for value in values:
        text = _BY.sub("", _BY_LABEL.sub("", _ADDRESS.sub(" ", to_text(value, 2000)), count=1), count=1).strip()
        for part in _split(_BY_ELSEWHERE.sub("", text)) if split else (text,):
            name = _clean(part)
            if name:
                names.setdefault(name.casefold(), name)
        if len(names) >= MOST_AUTHORS:
            break
    return tuple(names.values())[:MOST_AUTHORS]


def _split(text: str) -> Iterable[str]:
    """The names in a list of names; at commas only if every part is several words ("Ann Lee, Bo Day and Cy Fox")."""
    text = _LETTERS.sub("", _TAIL.sub("", text))
    parts = _MARKS.split(text)
    if len(parts) == 1:
        # "Center for Research and Evaluation" is one name.
        pair = [part.rpartition(", ")[2] for part in _AND.split(text)]
        parts = _AND.split(text) if all(map(_PERSON.fullmatch, pair)) else [text]
    for part in parts:
        pieces = [piece.strip() for piece in part.split(",") if piece.strip()]
        if len(pieces) > 1 and all(_PERSON.fullmatch(piece) for piece in pieces):
            yield from pieces
        else:
            yield part


def _clean(text: str) -> str:
    name = re.sub(r"(?<![\s,|•·–—:-])[\s,|•·–—:-]++$", "", _TAIL.sub("", text)).strip(' \t,;|()<>"“”')
    if not name or len(name) > _LONGEST or name.casefold() in _NOBODY or not any(map(str.isalpha, name)):
        return ""
    # A letter of the alphabet, a sentence or a line of an interface, not a name.
    return "" if len(name.split()) > 12 or (len(name) < 2 and name.isascii()) else name


# Printed matter is cited with the year it appeared; what lies outside is a default value or a slip.
_YEARS: Final = range(1400, 2200)

# 2024, 2024-05, 2024/5/7, 2024.05.07, 2024-05-07T10:30:00.5+02:00, 2024-05-07 10:30 GMT
_NUMERIC: Final = re.compile(
    r"([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2})"
    r"(?:[T ,]{1,3}([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]{1,9})?)?"
    r" ?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?(?:\[[A-Za-z_/]+\])?)?)?)?",
    re.ASCII | re.IGNORECASE,
)
# 2024年5月7日, 2024년 5월 7일
_EAST_ASIAN: Final = re.compile(
    r"([0-9]{4}) ?[年년] ?([0-9]{1,2}) ?[月월](?: ?([0-9]{1,2}) ?[日일號号]?)?"
    r"(?:[^0-9]{1,8}[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)?"
)
# 07.05.2024 and 31/05/2024: day and month are told apart by the dots or by a number above twelve
_YEAR_LAST: Final = re.compile(
    r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4})(?:[ ,]{1,2}[0-9]{1,2}[:.][0-9]{2})?", re.ASCII
)
# 7 May 2024, 7. Mai 2024, 7 de mayo de 2024, 1er mai 2024, May 2024
_DAY_FIRST: Final = re.compile(
    r"(?:[^\W\d_]{2,12},? )?(?:([0-9]{1,2})(?:st|nd|rd|th|er|\.|º)? )?(?:de |of )?"
    r"([^\W\d_]{3,12})\.?,? (?:de |del )?([0-9]{4})"
    r"(?P<rest>.{0,40})"
)
# May 7, 2024
_MONTH_FIRST: Final = re.compile(
    r"(?:[^\W\d_]{2,12},? )?([^\W\d_]{3,12})\.? ([0-9]{1,2})(?:st|nd|rd|th)?,? ([0-9]{4})"
    r"(?P<rest>.{0,40})"
)
_ZONED: Final = re.compile(r":[0-9]{2} (?:GMT|UTC|UT|Z|[+-][0-9]{2}:?[0-9]{2})\b", re.IGNORECASE)
_YEAR_MONTH: Final = re.compile(r"[0-9]{4} [A-Za-z]{3,9} [0-9]")
_COMPACT: Final = re.compile(r"([12][0-9]{3})([01][0-9])([0-3][0-9])(?:T?[0-9]{4,6}Z?)?", re.ASCII)
_EPOCH: Final = re.compile(r"[0-9]{10}(?:[0-9]{3})?", re.ASCII)
_AGO: Final = re.compile(r"ago\s*$|^[0-9]+ ?(?:mo|[smhdwy])$", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"^(?:(?:first |originally |last )?"
    r"(?:published|posted|updated|modified|created|date|on|at|am|le|el|il|vom|veröffentlicht|aktualisiert|publié|publicado"
    r"|pubblicato|gepubliceerd|опубликовано|обновлено|дата публикации)\b[\s:,]*)+"
    r"|^(?:(?:发布|發布|发表|發表|更新|创建)?(?:时间|時間|日期|于)|(?:公開|更新|投稿|掲載)日時?|(?:작성|등록|입력|수정)(?:일시?)?)[\s:：]*",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"^[\s,|@·–-]*(?:at |um |à )?[0-9]{1,2}[:.h][0-9]{2}", re.IGNORECASE)

# The first letters that tell the months apart, in the languages whose pages most often print a date and mark up none.
_MONTHS: Final = tuple(
    tuple(names.split())
    for names in (
        "jan янв ene gen", "feb fév fev фев", "mar mär mrt мар", "apr avr abr апр", "may mai mei mag май мая maj",
        "jun juin giu июн", "jul juil lug июл", "aug aoû aou ago авг", "sep set сен", "oct okt out ott окт",
        "nov ноя", "dec dez déc dic дек",
    )
)  # fmt: skip
_LONG_MONTHS: Final = {"juin": 6, "juillet": 7, "juil": 7, "maio": 5, "maggio": 5, "mayo": 5}


def to_iso(text: object) -> str:
    """`2024`, `2024-05`, `2024-05-07`, `2024-05-07T10:30:00` or the same with `Z` or an offset; "" for no certain date.

    The offset stays as it was written, so the day is the day of the publisher. Relative dates ("3 days ago") and
    dates whose day and month cannot be told apart (`05/04/2024`) give "".
    """
    if isinstance(text, bool) or not isinstance(text, str | int):
        return ""
    written = " ".join(str(text)[: _LONGEST * 2].split())
    written = _LEAD.sub("", written).strip(" .,;|")
    if not written or len(written) > _LONGEST or _AGO.search(written):
        return ""
    finders = (_find_numeric, _find_compact, _find_numbers, _find_instant, _find_words)
    return next((day for find in finders if (day := find(written))), "")


def to_seconds(iso: str) -> float | None:
    """Epoch seconds of what `to_iso` gives (a missing part is its first moment, in UTC); None for anything else."""
    padded = iso + "-01-01"[len(iso) - 4 :] if len(iso) in (4, 7) else iso
    try:
        instant = datetime.fromisoformat(padded)
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def find_in_path(path: str) -> str:
    """The day that an address names as `/2024/05/07/`, or ""."""
    match = re.search(r"/((?:19|20)[0-9]{2})[/-]([01][0-9])[/-]([0-3][0-9])(?:[/_-]|$)", path, re.ASCII)
    return _join(match[1], match[2], match[3]) if match else ""


def _find_numeric(text: str) -> str:
    match = _NUMERIC.fullmatch(text)
    if not match:
        return ""
    year, month, day, hour, minute, second, zone = match.groups()
    days = _join(year, month, day)
    if not days or hour is None:
        return days
    if int(hour) > 23 or int(minute) > 59 or int(second or 0) > 60:
        return days
    clock = f"{int(hour):02}:{minute}:{min(int(second or 0), 59):02}"
    # Midnight without a zone is a day in a field that wants an instant.
    if zone is None:
        return days if clock == "00:00:00" else f"{days}T{clock}"
    return f"{days}T{clock}{_to_offset(zone)}"


def _to_offset(zone: str) -> str:
    if zone[0] not in "+-":
        return "Z"
    digits = zone[1:].replace(":", "").ljust(4, "0")
    if int(digits[:2]) > 14 or int(digits[2:]) > 59:
        return "Z"
    return "Z" if digits == "0000" else f"{zone[0]}{digits[:2]}:{digits[2:]}"


def _find_compact(text: str) -> str:
    if match := _COMPACT.fullmatch(text):
        return _join(match[1], match[2], match[3])
    return (from_epoch(int(text[:10])) or "") if _EPOCH.fullmatch(text) else ""


def _find_numbers(text: str) -> str:
    if match := _EAST_ASIAN.fullmatch(text):
        return _join(match[1], match[2], match[3])
    if match := _YEAR_LAST.fullmatch(text):
        first, mark, second, year = match[1], match[2], match[3], match[4]
        if mark == "." or int(first) > 12:
            return _join(year, second, first)
        if int(second) > 12 or first == second:
            return _join(year, first, second)
    return ""


def _find_words(text: str) -> str:
    lowered = text.lower()
    for pattern, order in ((_DAY_FIRST, (3, 2, 1)), (_MONTH_FIRST, (3, 1, 2))):
        match = pattern.fullmatch(lowered)
        if not match:
            continue
        rest = match["rest"]
        if rest.strip(" ,.|") and not _CLOCK.match(rest):
            continue
        if month := _find_month(match[order[1]]):
            return _join(match[order[0]], str(month), match[order[2]])
    return ""


def _find_month(name: str) -> int:
    numbered = enumerate(_MONTHS, start=1)
    return _LONG_MONTHS.get(name) or next((number for number, starts in numbered if name.startswith(starts)), 0)


def _find_instant(text: str) -> str:
    """The forms of mail and of C programs, which name their zone, and a year before an English month."""
    if _ZONED.search(text) or _YEAR_MONTH.match(text):
        moment = to_timestamp(text, 0.0)
        if moment and int(moment[:4]) in _YEARS:
            return moment if ":" in text else moment[:10]
    return ""


def _join(year: str, month: str | None, day: str | None) -> str:
    """The parts as a calendar date of its precision; "" when there is no such day or it is a default value."""
    if int(year) not in _YEARS:
        return ""
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return ""
    if (year, int(month or 0), int(day or 0)) == ("1970", 1, 1):  # a clock that was never set
        return ""
    parts = [year, *(f"{int(part):02}" for part in (month, day if month else None) if part)]
    return "-".join(parts)
