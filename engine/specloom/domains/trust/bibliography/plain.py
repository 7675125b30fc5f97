"""A list of references in plain words, as people paste it: parted into references, and each read as an entry.

What parts a list is looked for in the list itself: numbers, labels, bullets, empty lines, hanging indents, or lines
that end before the margin. Every step goes over the lines once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import quantiles

from specloom.core import dataclass
from specloom.domains.text import find_doi, find_identifiers, strip_markup

from ..citations.reference import LONGEST_REFERENCE, parse_reference
from ..sources.classify import find_own_doi
from .entry import BibliographyEntry, from_source, normalize

# --- Lines ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line of a list: its number, how far it is indented, its words, and whether an empty line stands before it."""

    number: int
    indent: int
    text: str
    is_apart: bool


_HEADING_WORDS = (
    "references?|references cited|cited references|reference list|list of references|bibliography|works cited|sources"
    "|literature|literature cited|notes|endnotes|footnotes|notes and references|references and notes|further reading"
    "|literatur(?:verzeichnis|angaben)?|quellen(?:verzeichnis)?|bibliographie|références(?: bibliographiques)?"
    "|referencias(?: bibliográficas)?|bibliografía|referências(?: bibliográficas)?|bibliografia|riferimenti"
    "(?: bibliografici)?|literatuur(?:lijst)?|källor|referenser|litteratur(?:liste)?|kilder|lähteet|kaynaklar|kaynakça"
    "|список (?:использованной )?литературы|литература|библиография|参考文献|參考文獻|引用文献|文献|참고 ?문헌"
    "|المراجع|संदर्भ"
)
_HEADING = re.compile(rf"[#*_>\s\d.]{{0,12}}(?:{_HEADING_WORDS})[*_:.#：\s]{{0,8}}", re.IGNORECASE)
_AFTER = re.compile(
    r"[#*_\s\d.]{0,12}(?:appendix|appendices|supplementary|supporting information|acknowledge?ments?"
    r"|author contributions|about the authors?|figure legends?|tables?|anhang|annexes?|apéndice|appendice|приложение"
    r"|附录)\b[^.]{0,60}",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"(?:-{1,3}\s?)?(?:(?:page|seite|pág(?:ina)?\.?|стр\.|第)?\s?(?:[0-9]{1,4}|[ivxlc]{1,7})\s?页?)"
    r"(?:\s?(?:of|von|de|/)\s?[0-9]{1,4})?(?:\s?-{1,3})?",
    re.IGNORECASE,
)
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]")


def _to_lines(text: str) -> list[ListLine]:
    """The lines that may belong to a reference: neither empty, nor a heading, nor a number of a page."""
    lines: list[ListLine] = []
    is_apart = False
    for number, raw in _to_raw(text):
        line = _UNSEEN.sub("", raw.expandtabs(4)).rstrip()
        words = " ".join(line.replace("\\[", "[").replace("\\]", "]").split())
        if (
            not words
            or (not any(map(str.isalnum, words)) and not _SAME.match(words))
            or (len(words) < 80 and (_HEADING.fullmatch(words) or (words.startswith("#") and not _YEAR.search(words))))
        ):
            is_apart = True
        elif len(words) < 24 and _PAGE.fullmatch(words):
            # Page breaks stand between the lines of one reference as well, so that nothing is apart by them.
            continue
        else:
            lines.append(ListLine(number, len(line) - len(line.lstrip()), words, is_apart))
            is_apart = False
    return lines


def _is_heading(words: str) -> bool:
    is_marked = words.startswith("#") and not _YEAR.search(words)
    return len(words) < _LONGEST_HEADING and (is_marked or bool(_HEADING.fullmatch(words)))


_LONGEST_HEADING = 80
_INLINE = re.compile(r"(?:(?<=\s)|^)(?:\[([0-9]{1,6})\]|\(([0-9]{1,3})\)|([0-9]{1,3})\.)(?=\s[^\W\d_]|\s?[“\"«„])")
_LONG_LINE = 200


def _to_raw(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; one that holds a numbered list is as many as that has references."""
    for number, raw in enumerate(re.split(r"\r\n|[\n\r\f\v\x85\u2028\u2029]", text), 1):
        cuts = [0]
        last = None
        for match in _INLINE.finditer(raw) if len(raw) > _LONG_LINE else ():
            count = int(next(filter(None, match.groups())))
            if last is None and not raw[: match.start()].strip():
                last = count
            elif last is not None and count == last + 1:
                cuts.append(match.start())
                last = count
        yield from ((number, raw[start:end]) for start, end in zip(cuts, [*cuts[1:], len(raw)], strict=True))


# --- Where a reference begins -----------------------------------------------------------------------------------------

_SAME = re.compile(r"(?:[—–―_-]\s?){3,8}[.,:]?\s")
_YEAR = re.compile(
    r"(?<![0-9])(?:1[5-9]|20)[0-9]{2}(?![0-9])|\bn\.\s?d\.|\bo\.\s?J\.|\bs\.\s?f\.|б\.\s?г\."
    r"|\bforthcoming\b|\bin press\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?:\[\s?([0-9]{1,6})\s?\]|［([0-9]{1,4})］|【([0-9]{1,4})】|\(([0-9]{1,4})\)|([0-9]{1,5})\s?[.):．、](?=\s|[^\W\d_])"
    r"|\^([0-9]{1,4})\^?|([0-9]{1,3})(?=\s[^\W\d_]))\s?"
)
_LABEL = re.compile(r"\[\s?(?=[^\]]{0,20}[A-Za-z])[^\s\[\]]{2,24}\s?\]\s?(?=\S)")
_BULLET = re.compile(r"[-*+•·‣▪●○◦–—]\s+(?=\S)")
# "Doe, J." "Doe J" "J. Doe" "DOE, Jane" "de la Cruz, A." "World Health Organization." "王小明" "“Title”"
_NAME_START = re.compile(
    r"(?:(?:[a-zà-ÿ’']{1,4}\s){0,3}[^\W\d_a-z][\w’'-]{1,30}(?:\s[^\W\d_a-z][\w’'-]{1,30}){0,2},\s[^\W\d_a-z]"
    r"|(?:[a-zà-ÿ’']{1,4}\s){0,3}[^\W\d_a-z][\w’'-]{1,30}(?:\s[^\W\d_a-z][\w’'-]{1,30})?\s[^\W\d_a-z]{1,3}(?:[,.;:]|\s\()"
    r"|(?:[^\W\d_a-z]\.[\s-]?){1,4}(?:[a-zà-ÿ’']{1,4}\s){0,3}[^\W\d_a-z][\w’'-]{1,30}"
    r"|[^\W\d_a-z][\w’'&-]{0,30}(?:\s[\w’'&,-]{1,30}){0,9}[.]?\s?\((?:1[5-9]|20)[0-9]{2}"
    r"|(?:[^\W\d_a-z][\w’'&-]{1,30}\s){1,9}[^\W\d_a-z][\w’'&-]{1,30}\.\s[“\"«„]"
    r"|[“\"«„《][^\W\d_]|[\u3400-\u9fff]{2,4}[,，、.．]|(?:[—–―_-]\s?){3,8}[.,])"
)
_ENDS = re.compile(r"(?:[.。．!?)\]”\"»;]|https?://\S+|\b10\.[0-9]{4,9}/\S+|[0-9]{1,5})$")
_ADDRESS_END = re.compile(r"(?:https?://\S*|www\.\S*|\bdoi:\s?\S*|\b10\.[0-9]{4,9}/\S*)$", re.IGNORECASE)
_PIECE = re.compile(r"[\w%/?=&#~.+()-]++")
_OF_ADDRESS = re.compile(r"[/0-9%?=&#_~.-]")


_SHORTEST = 50
"""Characters of a line that is a reference by itself."""


def split_list(text: str) -> Iterator[tuple[int, str]]:
    """The references of a list with the line on which each begins."""
    lines = _to_lines(text)
    starts = _find_starts(lines)
    for at, start in enumerate(starts):
        end = starts[at + 1] if at + 1 < len(starts) else len(lines)
        yield lines[start].number, _join([line.text for line in lines[start:end]])


def _find_starts(lines: Sequence[ListLine]) -> list[int]:
    """The places of the lines with which references begin, by what marks them most clearly."""
    if not lines:
        return []
    for starts in (_by_number(lines), _by_mark(lines, _LABEL), _by_mark(lines, _BULLET)):
        if starts:
            # What stands before the first mark is a reference only if it looks like one.
            before = [0] if starts[0] and _is_cited(_join([line.text for line in lines[: starts[0]]])) else []
            return [*before, *starts]
    return _by_block(lines)


def _by_number(lines: Sequence[ListLine]) -> list[int]:
    """Lines whose numbers count up one by one, as no number in a text does; () where there are none."""
    starts: list[int] = []
    last = None
    for at, line in enumerate(lines):
        match = _NUMBER.match(line.text)
        if match is None or not any(map(str.isalpha, line.text[match.end() :])):
            continue
        number = int(next(filter(None, match.groups()), "0"))
        is_next = last is not None and last < number <= last + 2
        # Where the list does not begin with a number, only the first of all may begin one.
        is_first = last is None and number <= (999 if at == 0 else 1)
        is_again = last is not None and number == 1 and line.is_apart
        if is_next or is_first or is_again:
            starts.append(at)
            last = number
    if starts and starts[0]:
        return starts if len(starts) > _FEWEST_NUMBERS else []
    # One number at the front of a list of many lines is the first word of a title.
    return starts if len(starts) > 1 or (starts and not any(line.is_apart for line in lines[1:])) else []


_FEWEST_NUMBERS = 2
"""Numbers that count up below a line without one, by chance."""


def _by_mark(lines: Sequence[ListLine], mark: re.Pattern[str]) -> list[int]:
    starts = [at for at, line in enumerate(lines) if mark.match(line.text)]
    return starts if starts and starts[0] == 0 and (len(starts) > 1 or len(lines) == 1) else []


def _by_block(lines: Sequence[ListLine]) -> list[int]:
    """Empty lines part references where most of what they part is one; what is longer is parted by its own lines."""
    bounds = [0, *(at for at, line in enumerate(lines) if at and line.is_apart), len(lines)]
    blocks = list(pairwise(bounds))
    if len(blocks) == 1:
        return _by_line(lines, 0)
    counts = [sum(bool(_YEAR.search(line.text)) for line in lines[start:end]) for start, end in blocks]
    single = sum(count <= 2 or end - start <= 4 for count, (start, end) in zip(counts, blocks, strict=True))
    starts: list[int] = []
    for start, end in blocks:
        block = lines[start:end]
        # Double-spaced lines: what an empty line cuts off goes on.
        if starts and not _begins(block[0].text) and not _ENDS.search(lines[start - 1].text):
            continue
        inner = _by_line(block, start)
        is_whole = single * 2 >= len(blocks) and not _is_several(block, inner, start)
        starts += [start] if is_whole else inner
    return starts


def _is_several(block: Sequence[ListLine], starts: Sequence[int], first: int) -> bool:
    """Whether every part of a block is a reference by itself."""
    places = [start - first for start in starts]
    if len(places) < 2:
        return False
    ends = [*places[1:], len(block)]
    parts = [_join([line.text for line in block[start:end]]) for start, end in zip(places, ends, strict=True)]
    return all(_is_cited(part) and _NAME_START.match(part) for part in parts)


def _by_line(lines: Sequence[ListLine], first: int) -> list[int]:
    """The lines that begin a reference where nothing but their form tells: by indent, or by what is whole before."""
    if len(lines) == 1:
        return [first]
    least = min(line.indent for line in lines)
    outer = [at for at, line in enumerate(lines) if line.indent == least]
    inner = [at for at, line in enumerate(lines) if line.indent > least]
    if inner and len(outer) > 1:
        # Either what hangs goes on, or what is indented begins; the first line may have lost its indent.
        hanging = outer if lines[0].indent == least else []
        indented = sorted({0, *inner})
        starts = max(hanging, indented, key=lambda places: _share_of_names(lines, places))
        return [first + at for at in starts]
    whole = sum(len(line.text) > _SHORTEST and _begins(line.text) and _is_cited(line.text) for line in lines)
    if whole * 10 >= len(lines) * 9:
        return [first + at for at in range(len(lines))]
    starts = [0]
    lengths = sorted(len(line.text) for line in lines)
    margin = quantiles(lengths, n=10)[-1] if len(lengths) > 2 else lengths[-1]
    year = bool(_YEAR.search(lines[0].text)) or bool(find_doi(lines[0].text))
    for at, line in enumerate(lines[1:], 1):
        before = lines[at - 1].text
        ends = bool(_ENDS.search(before)) and not _goes_on(before, line.text)
        is_short = len(before) < margin * 0.8
        if ends and year and _begins(line.text) and (is_short or _NAME_START.match(line.text)):
            starts.append(at)
            year = False
        year = year or bool(_YEAR.search(line.text)) or bool(_ADDRESS_END.search(line.text))
    return [first + at for at in starts]


def _share_of_names(lines: Sequence[ListLine], places: Sequence[int]) -> float:
    """How many of the lines at some places begin as references do."""
    return sum(bool(_NAME_START.match(lines[at].text)) for at in places) / len(places) if places else -1.0


def _begins(text: str) -> bool:
    """Whether a text may begin a reference: with a capital, a sign that opens a title, or a name's particle."""
    return text[0].isupper() or text[0] in '“"«„《[—–―_' or not text[0].isascii() or bool(_NAME_START.match(text))


def _goes_on(before: str, after: str) -> bool:
    """Whether an address at the end of a line goes on in the next one."""
    match = _ADDRESS_END.search(before)
    if match is None:
        return False
    piece = _PIECE.match(after)
    if (
        piece is None
        or not _OF_ADDRESS.search(piece[0])
        or after[piece.end() : piece.end() + 1] not in ("", " ", ",", ";")
    ):
        return False
    return match[0].endswith(("/", "-", "_", "=", "&", "?", "//doi.", ":")) or after[0].islower()


def _join(lines: Sequence[str]) -> str:
    """Lines as one text: an address, and a word that a hyphen parts, go on without a blank."""
    joined = lines[0]
    for line in lines[1:]:
        tail = joined[-300:]
        is_parted = len(tail) > 1 and tail[-1] in "-‐" and tail[-2].isalpha() and line[0].islower()
        glue = "" if is_parted or _goes_on(tail, line) else " "
        joined = f"{joined}{glue}{line}"
    return joined[: 2 * LONGEST_REFERENCE]


# --- One reference as an entry ----------------------------------------------------------------------------------------

_ADDRESS = re.compile(r"https?://[^\s<>\"“”«»]{3,2000}")
_BACK = re.compile(r"(?:ibid|ebd|ebenda|id|loc\.\s?cit|op\.\s?cit|a\.\s?a\.\s?O|там же|同上)\b\.?", re.IGNORECASE)
_MARKS = re.compile(r"[\[［]([A-Z]{1,2})(?:/OL)?[\]］]")
_MARKED = {
    "J": "article-journal", "M": "book", "C": "paper-conference", "D": "thesis", "R": "report", "S": "standard",
    "P": "patent", "N": "article-newspaper", "G": "book", "EB": "webpage", "DB": "dataset", "DS": "dataset",
    "CP": "software",
}  # fmt: skip
"""What GB/T 7714 marks works with."""
_THESIS = re.compile(
    r"\b(?:ph\.?\s?d\.? (?:thesis|diss)|doctoral (?:thesis|dissertation)|master[’']?s thesis|dissertation"
    r"|\[?thesis\]?)\b",
    re.IGNORECASE,
)
_IN = re.compile(r"[.”\",?!]\s(?:In|in|Dans|En|в)[:\s]\s?(?:[^\W\d_a-z]|the\b)|(?<!:)//")
_VOLUME = re.compile(
    r"(?:\bvol\.\s?|\b[^\W\d_]{2,40}[.,]?\s)([0-9]{1,4})"
    r"(?:\s?\(([0-9]{1,3}(?:[-–][0-9]{1,3})?)\)|,\s?no\.\s?([0-9]{1,4}))?"
    r"\s?(?:[:,]\s?(?:pp?\.\s?)?|\([0-9]{4}\):\s?)"
    r"((?:[eA-Z]{0,2}[0-9]{1,6})(?:[-–—]{1,2}[eA-Z]{0,2}[0-9]{1,6})?)"
)
_FEWEST_WORDS = 3


def parse_plain(text: str, before: BibliographyEntry | None = None) -> BibliographyEntry | str:
    """The entry of a reference in plain words, or a sentence that says why it is none.

    A line in place of the authors stands for those of the reference `before`. The reference itself is in `text`.
    """
    text = " ".join(strip_markup(text[: 2 * LONGEST_REFERENCE]).split())[:LONGEST_REFERENCE]
    shown = text if len(text) <= 60 else f"{text[:58]} …"
    words = _strip_mark(text)
    if _BACK.match(words):
        return f"{shown!r} refers back to another note, and is no reference by itself"
    same = _SAME.match(words)
    if same and before is not None and before.authors:
        words = f"{before.text[: _end_of_authors(before)]} {words[same.end() :]}".strip()
    address = _ADDRESS.search(words)
    # The DOI of an entry is one that it gives by itself, or that of an address which leads to the work.
    doi = find_doi(_ADDRESS.sub(" ", words)) or next(filter(None, map(find_own_doi, _ADDRESS.findall(words))), "")
    if len(words.split()) < _FEWEST_WORDS and len(words) < 20 and not doi and address is None:
        return f"{shown!r} has too few words for a reference"
    reference = parse_reference(words)
    identified = bool(doi or address or find_identifiers(words))
    if not reference.title_sign and not identified and not _is_cited(words):
        return f"{shown!r} has neither authors and a title nor a year, an address or an identifier"
    url = address[0].rstrip(".,;:)]}’'") if address else ""
    volume = _VOLUME.search(words)
    marks = [each.kind for each in find_identifiers(words)]
    isbn = next((each.value for each in find_identifiers(words) if each.kind == "isbn"), "")
    return normalize(
        BibliographyEntry(
            title=reference.title,
            authors=reference.authors,
            container=reference.venue,
            issued=(reference.years[0],) if reference.years else (),
            doi=doi,
            url=url or (f"https://doi.org/{doi}" if doi else ""),
            kind=_find_kind(words, volume is not None, bool(doi), bool(url), marks),
            volume=volume[1] if volume else "",
            issue=(volume[2] or volume[3] or "") if volume else "",
            pages=volume[4] if volume else "",
            isbn=isbn,
            text=words,
        )
    )


def _strip_mark(text: str) -> str:
    """A reference without the number, label or bullet that it has in its list."""
    if _NUMBER.match(text):
        return _NUMBER.sub("", text, count=1)
    return _LABEL.sub("", _BULLET.sub("", text, count=1), count=1)


def read_source(source: Mapping[str, str]) -> BibliographyEntry:
    """The entry of a source; a title that is a whole reference, and stands alone, is read as one."""
    entry = from_source(source)
    if entry.authors or entry.issued or not entry.title:
        return entry
    plain = parse_plain(source.get("title", ""))
    if isinstance(plain, str):
        return entry
    is_reference = bool(plain.authors and plain.issued and plain.title) or bool(plain.doi and not entry.doi)
    if not is_reference or plain.title == entry.title:
        return entry
    doi = entry.doi or plain.doi
    return replace(
        plain,
        doi=doi,
        url=entry.url or plain.url,
        container=entry.container or plain.container,
        kind=entry.kind if entry.kind != "webpage" else plain.kind,
    )


def _end_of_authors(entry: BibliographyEntry) -> int:
    """Where the authors of a reference end: before its year or its title, whichever comes first."""
    places = [entry.text.find(part) for part in (entry.title, f"({entry.issued[0]}" if entry.issued else "") if part]
    found = [place for place in places if place > 0]
    return len(entry.text[: min(found)].rstrip(" “\"‘'«")) if found else 0


def _find_kind(text: str, in_volume: bool, has_doi: bool, has_url: bool, marks: Sequence[str]) -> str:
    if (mark := _MARKS.search(text)) and mark[1] in _MARKED:
        return _MARKED[mark[1]]
    if _THESIS.search(text):
        return "thesis"
    if "arxiv" in marks:
        return "article"
    if _IN.search(text):
        return "chapter"
    if in_volume:
        return "article-journal"
    if "isbn" in marks:
        return "book"
    return "document" if has_doi or not has_url else "webpage"


def _is_cited(text: str) -> bool:
    """Whether a text has what references have: some words, and a year, an address or an identifier."""
    return len(text.split()) >= _FEWEST_WORDS and bool(_YEAR.search(text) or _ADDRESS.search(text) or find_doi(text))


def looks_like_list(text: str) -> bool:
    """Whether a text has a line that looks like a reference."""
    return any(_is_cited(line) for line in text[:50_000].splitlines() if line.strip())


# --- The references of a document -------------------------------------------------------------------------------------


def find_reference_section(text: str) -> str | None:
    """What stands below the last heading of references in a document, up to what follows them; None without one."""
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines) if len(line) < 80 and _HEADING.fullmatch(" ".join(line.split()))]
    for head in reversed(heads):
        section = "\n".join(_until_next(lines[head + 1 :]))
        if looks_like_list(section):
            return section
    return None


def _until_next(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        words = " ".join(line.split())
        is_heading = words.startswith("#") and not _YEAR.search(words) and not _HEADING.fullmatch(words)
        if len(words) < 80 and (is_heading or (_AFTER.fullmatch(words) and not _YEAR.search(words))):
            return
        yield line
