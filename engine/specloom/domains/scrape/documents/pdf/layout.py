"""Lines of pages become Markdown: running heads removed, paragraphs joined, headings marked, pages numbered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import Final

from specloom.core import dataclass

from ..document import to_table
from .text import HYPHEN, Placed, TextLine, clean

# --- Headings that are no larger than the text: bold ones, and those that a number or their words tell ----------------


NUMBERED: Final = re.compile(r"(?:[1-9][0-9]?(?:\.[1-9][0-9]?){0,3}\.?|[IVX]{1,5}\.|[A-H]\.?[1-9]?)\s+[^\W\d_a-z]")
_PART: Final = re.compile(
    r"(?:abstract|summary|introduction|background|methods?|materials and methods|results(?: and discussion)?|discussion"
    r"|conclusions?|acknowledge?ments?|references|bibliography|appendix(?: [a-z])?|contents|zusammenfassung|literatur"
    r"|résumé|references cited|works cited|参考文献|摘要)",
    re.IGNORECASE,
)
ITEM: Final = re.compile(r"(?:[•◦▪▸‣●○■–—*]|-)\s+|\(?[0-9]{1,3}[.)]\s+|\[[0-9]{1,3}\]\s+|\(?[a-z][.)]\s+")
# Bold lines in the size of the text: a heading has two at most, and where more than this share is bold it means less.
_BOLD_LINES: Final = 2
_MOST_BOLD: Final = 0.25
_LONGEST_NUMBERED: Final = 80
# Letters of a line that is prose, as below a heading, and not another label.
_LEAST_PROSE: Final = 25
_CAPTION: Final = re.compile(
    r"(?:tab(?:le|elle|leau|la|ella|\.)|fig(?:ure|ura|\.)|abb(?:ildung|\.)|chart|exhibit|box|graph(?:ique)?|tafel|图|表|図)"
    r"\s*[0-9IVX]",
    re.IGNORECASE,
)


def find_bold(lines: Sequence[TextLine]) -> set[int]:
    """The numbers of lines that are headings by being bold: one or two, below and above lines that are not."""
    headings: set[int] = set()
    if sum(len(line.text) for line in lines if line.is_bold) > _MOST_BOLD * sum(len(line.text) for line in lines):
        return headings
    start = 0
    for number, line in enumerate(lines):
        if not line.is_bold:
            run = lines[start:number]
            if 0 < len(run) <= _BOLD_LINES and _is_bold_heading(run, lines[start - 1 : start], line):
                headings.update(range(start, number))
            start = number + 1
    return headings


def _is_bold_heading(run: Sequence[TextLine], before: Sequence[TextLine], after: TextLine) -> bool:
    """Whether bold lines stand alone above others, and are set as one."""
    text = clean(" ".join(line.text for line in run))
    if not (text[:1].isupper() or text[:1].isdigit()) or text.endswith((".", ",", ";", ":")):
        return False
    if ITEM.match(text) or _CAPTION.match(text) or len(after.text) < _LEAST_PROSE:
        return False
    is_beside = any(abs(one.bottom - run[0].bottom) < run[0].size for one in before)
    is_above = -0.2 * after.size <= run[-1].bottom - after.top <= 3 * after.size
    return is_above and not is_beside and sum(map(str.isalpha, text)) >= max(len(text) / 2, 4)


def is_numbered_heading(text: str) -> bool:
    """Whether a line that stands alone is a heading by its number or by being what papers call their parts."""
    if _PART.fullmatch(text):
        return True
    if len(text) > _LONGEST_NUMBERED or not NUMBERED.match(text) or text.endswith((".", ",", ";", ":")):
        return False
    return sum(map(str.isalpha, text)) >= 0.7 * len("".join(text.split()))


# --- Lists of references: a line that starts left of those below it begins an entry -----------------------------------


_REFERENCES: Final = re.compile(
    r"(?:[0-9IVX]{1,4}\.?\s)?(?:references(?: cited)?|bibliography|works cited|literature(?: cited)?"
    r"|literatur(?:verzeichnis)?|bibliographie|références(?: bibliographiques)?|referencias(?: bibliográficas)?"
    r"|bibliografía|referências|bibliografia|riferimenti bibliografici|список литературы|литература|参考文献)\W?",
    re.IGNORECASE,
)
# In sizes of letters: how far the lines below the first of an entry stand in, and how far apart columns begin.
_HANGING: Final = (0.5, 5.0)
_COLUMN: Final = 8.0
_FEWEST_HUNG: Final = 2
# By how much less than elsewhere, in sizes of letters, references stand apart.
_LOOSE: Final = 0.2


def find_entry_starts(lines: Sequence[TextLine]) -> dict[int, bool]:
    """For the lines of a list of references whether each begins an entry by its indent, by their numbers.

    Columns are looked at by themselves; nothing for one whose entries neither hang nor begin further in.
    """
    starts: dict[int, bool] = {}
    for column in _to_columns(lines):
        size = median(lines[at].size for at in column)
        edge = min(lines[at].left for at in column)
        inner = [at for at in column if lines[at].left > edge + _HANGING[0] * size]
        outer = [at for at in column if at not in set(inner)]
        is_hung = all(lines[at].left < edge + _HANGING[1] * size for at in inner)
        if len(inner) < _FEWEST_HUNG or len(outer) < _FEWEST_HUNG or not is_hung:
            continue
        # Where the first line of an entry stands in instead, it is the inner lines that begin with names.
        shares = _share_of_names(lines, outer), _share_of_names(lines, inner)
        if shares[0] != shares[1]:
            begins = set(outer if shares[0] > shares[1] else inner)
            starts |= {at: at in begins for at in column}
    return starts


def _to_columns(lines: Sequence[TextLine]) -> list[list[int]]:
    """The numbers of the lines by the columns that they stand in."""
    columns: list[list[int]] = []
    right_most = 0.0
    for at in sorted((at for at, line in enumerate(lines) if not line.cells), key=lambda at: lines[at].left):
        line = lines[at]
        if not columns or line.left > right_most + _COLUMN * line.size:
            columns.append([])
        columns[-1].append(at)
        right_most = line.left
    return columns


def _share_of_names(lines: Sequence[TextLine], places: Sequence[int]) -> float:
    """How many of the lines at some places begin as names and titles do."""
    texts = [clean(lines[at].text) for at in places]
    return sum(text[:1].isupper() or not text[:1].isascii() or text[:1] in '["—-' for text in texts) / len(texts)


# A running head is near the edge, and most pages or every other page have it.
_EDGE_LINES: Final = 3
_EDGE: Final = 0.1
_LEAST_PAGES: Final = 3
_SHARE: Final = 0.4
_DIGITS: Final = re.compile(r"[0-9]+|\b[ivxlc]+\b")
_PAGE_NUMBER: Final = re.compile(
    r"\W*+(?:(?:page|seite|p\.)\s*+)?(?:[0-9]{1,4}|[ivxlc]{1,6})(?:\s*+(?:/|of|von|de)\s*+[0-9]{1,4})?\W*+",
    re.IGNORECASE,
)

_OUTER_NUMBER: Final = re.compile(r"(?:^\W*|\b)([0-9]{1,4})(?=\W*$)|^\W*([0-9]{1,4})(?=\s)")

FEW_LETTERS: Final = 8
"""Letters a page below which nothing was written on it: a stamp or a page number."""
_PICTURE: Final = "(This page is a picture without text.)"
_REST: Final = "(The rest of this page is a picture.)"
_UNREAD: Final = "(This page was not read: what it draws is repeated too often.)"

_HEADING_SIZE: Final = 1.15
_LONGEST_HEADING: Final = 150
_BOLD_LEVEL: Final = 3
_BULLET: Final = re.compile(r"[•◦▪▸‣●○■]\s*")
_ENDED: Final = tuple('.!?:;。！？”"')
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page as its lines in reading order, its height in points, and whether it is a picture with next to no text.

    `hidden` counts the stretches of text on it that are not among its lines because nobody sees them; `fields` are what
    is filled into its form. `is_unread` is one that was not opened because it would take too long.
    """

    lines: tuple[TextLine, ...]
    height: float
    is_picture: bool = False
    hidden: int = 0
    fields: tuple[str, ...] = ()
    is_unread: bool = False

    def texts(self) -> Iterator[str]:
        """What the page says: its lines, the cells of its tables, and the fields of its form."""
        yield from self.fields
        for line in self.lines:
            yield line.text
            for row in line.cells:
                yield from row

    def count_letters(self) -> int:
        """The letters and digits on the page."""
        return sum(sum(map(str.isalnum, text)) for text in self.texts())


def to_markdown(pages: Sequence[PdfPage], outline: Mapping[int, Mapping[str, int]]) -> list[str]:
    """The Markdown of each page, its number above it. `outline` has the titles of each page's headings, with levels."""
    edges = [_find_edges(page) for page in pages]
    running = _find_running(edges)
    offset = _find_numbering(edges)
    body = _to_body_size([line for page in pages for line in page.lines])
    texts, is_list = [], False
    for number, page in enumerate(pages):
        heads = [
            line
            for line in edges[number]
            if _to_pattern(line) in running or (offset is not None and number + offset in _edge_numbers(line))
        ]
        kept = [line for line in page.lines if line not in heads]
        blocks, is_list = _to_blocks(kept, body, outline.get(number, {}), is_list=is_list)
        if page.is_picture:
            blocks.append(_REST if blocks else _PICTURE)
        if page.is_unread:
            blocks.append(_UNREAD)
        if page.fields:
            blocks.append("\n".join(["Filled in:", "", *(f"- {field}" for field in page.fields)]))
        texts.append("\n\n".join([f"--- Page {number + 1} ---", *blocks]))
    return texts


def find_title(page: PdfPage) -> str:
    """The largest text in the upper half of a first page, if it is larger than the rest and short; else ""."""
    lines = [line for line in page.lines[:40] if line.top > page.height * 0.45 and len(line.text.strip()) > 2]
    body = _to_body_size(page.lines)
    # Preprints carry their identifier sideways along the margin.
    lines = [line for line in lines if not line.text.startswith("arXiv:") and line.right > line.left]
    largest = max((line.size for line in lines), default=0.0)
    if largest < body * _HEADING_SIZE:
        return ""
    chosen = [line for line in lines if line.size > largest * 0.97]
    title = clean(" ".join(line.text for line in chosen[:4]))
    return title if 4 <= len(title) <= 300 else ""


def to_key(text: str) -> str:
    """A heading for comparing: its letters and digits."""
    return "".join(filter(str.isalnum, text.casefold()))


def _find_edges(page: PdfPage) -> list[TextLine]:
    """The first and the last lines of a page, as far as they stand near its upper or lower edge."""
    outer = page.lines[:_EDGE_LINES] + page.lines[max(_EDGE_LINES, len(page.lines) - _EDGE_LINES) :]
    return [line for line in outer if line.bottom > page.height * (1 - _EDGE) or line.top < page.height * _EDGE]


def _find_running(edges: Sequence[Sequence[TextLine]]) -> frozenset[str]:
    """The lines that come again at the edges of pages, their numbers aside."""
    counts = Counter(pattern for lines in edges for pattern in set(map(_to_pattern, lines)))
    least = max(_LEAST_PAGES, len(edges) * _SHARE)
    return frozenset(pattern for pattern, count in counts.items() if pattern and count >= least)


def _find_numbering(edges: Sequence[Sequence[TextLine]]) -> int | None:
    """What the printed number of a page is more than its place in the file, when most pages carry one at an edge."""
    votes: Counter[int] = Counter()
    for number, lines in enumerate(edges):
        votes.update({printed - number for line in lines for printed in _edge_numbers(line)})
    offset, count = votes.most_common(1)[0] if votes else (0, 0)
    return offset if count >= max(_LEAST_PAGES, len(edges) * 0.5) else None


def _edge_numbers(line: TextLine) -> set[int]:
    """The numbers with which a short line begins and ends."""
    text = clean(line.text)
    if len(text) > 120:
        return set()
    return {int(match[1] or match[2]) for match in _OUTER_NUMBER.finditer(text)}


def _to_pattern(line: TextLine) -> str:
    text = clean(line.text).casefold()
    return "#" if _PAGE_NUMBER.fullmatch(text) else _DIGITS.sub("#", text)[:120]


def _to_body_size(lines: Sequence[TextLine]) -> float:
    """The size in which most characters are set, 0 for no lines."""
    counts: Counter[float] = Counter()
    for line in lines:
        counts[round(line.size * 2) / 2] += len(line.text)
    return counts.most_common(1)[0][0] if counts else 0.0


def _to_blocks(
    lines: Sequence[TextLine], body: float, outline: Mapping[str, int], *, is_list: bool = False
) -> tuple[list[str], bool]:
    """The paragraphs, headings and items of a page, and whether it ends in a list of references, as it may begin."""
    gaps = [one.bottom - two.top for one, two in pairwise(lines) if 0 <= one.bottom - two.top < 40]
    usual = median(gaps) if gaps else 0.0
    # Where most references have one line, most gaps are those between two references.
    tight = sorted(gaps)[len(gaps) // 10] - _LOOSE * body if gaps else 0.0
    blocks: list[str] = []
    open_lines: list[TextLine] = []

    def close() -> None:
        if text := _join(open_lines):
            is_heading = len(open_lines) == 1 and is_numbered_heading(text)
            blocks.append(f"### {text}" if is_heading else text)
        open_lines.clear()

    level_before = 0
    bold = find_bold(lines)
    starts = find_entry_starts(lines) if is_list else {}
    for number, line in enumerate(lines):
        if line.cells:
            close()
            blocks.append(to_table(line.cells))
            level_before = 0
            continue
        text = clean(line.text)
        if not text:
            continue
        level = _to_level(line, text, body, outline) or (_BOLD_LEVEL if number in bold else 0)
        if level and text not in outline and open_lines and _continues(open_lines[-1], line, usual):
            level = 0
        is_head = len(text) <= _LONGEST_HEADING and _REFERENCES.fullmatch(text) is not None
        if level or is_head:
            is_list = is_head
            following = find_entry_starts(lines[number + 1 :]) if is_list else {}
            starts = {number + 1 + at: begins for at, begins in following.items()}
        if level:
            close()
            goes_on = level_before == level and blocks and not NUMBERED.match(text)
            if goes_on and len(blocks[-1]) < _LONGEST_HEADING and text not in outline:
                blocks[-1] += f" {text}"
            else:
                blocks.append(f"{'#' * level} {text}")
        else:
            begins = False if is_list and _ADDRESS_START.match(text) else starts.get(number)
            if open_lines and (
                _starts_block(open_lines, line, text, tight if is_list else usual) if begins is None else begins
            ):
                close()
            open_lines.append(line)
        level_before = level
    close()
    return blocks, is_list


def _to_level(line: TextLine, text: str, body: float, outline: Mapping[str, int]) -> int:
    """2 to 6 for a heading, 0 for other lines: what the outline names, and short lines in larger letters."""
    key = to_key(text)
    for title in filter(None, (key, key.lstrip("0123456789"))):
        if title in outline:
            return outline[title]
    if ITEM.match(text):
        return 0
    is_large = body > 0 and line.size >= body * _HEADING_SIZE
    is_short = len(text) <= _LONGEST_HEADING and not text.endswith((".", ",", ";"))
    letters = sum(map(str.isalpha, text))
    if is_large and is_short and letters >= 3 and letters * 2 >= len(text):
        return 2 if line.size >= body * 1.5 else 3
    return 0


def _continues(last: TextLine, line: TextLine, usual: float) -> bool:
    """Whether a line is set like the one right above it."""
    is_near = -0.5 * line.size <= last.bottom - line.top <= usual + 0.5 * line.size
    return is_near and abs(last.size - line.size) < 0.05 * line.size


def _starts_block(before: Sequence[TextLine], line: TextLine, text: str, usual: float) -> bool:
    last, first = before[-1], before[0]
    gap = last.bottom - line.top
    ending = last.text.rstrip()
    if _goes_on(ending, text) and abs(gap) <= usual + 0.5 * line.size:
        return False
    if ITEM.match(text) and (gap >= -line.size or ending.endswith(_ENDED)):
        return True
    if gap < -line.size:  # the top of the next column: a sentence may go on there
        return ending.endswith(_ENDED)
    if ITEM.match(first.text) and ending.endswith(_ENDED) and line.left <= first.left + 0.3 * line.size:
        return True
    if gap > usual + 0.5 * line.size or abs(line.size - last.size) > 0.12 * max(line.size, last.size):
        return True
    if ending.endswith(HYPHEN):
        return False
    widest = max(each.right for each in before)
    is_indented = line.left > min(each.left for each in before) + 0.8 * line.size and line.left > last.left
    is_short = last.right < widest - 2.5 * line.size if len(before) > 1 else False
    return ending.endswith(_ENDED) and (is_indented or is_short) and not ITEM.match(first.text)


_ADDRESS_END: Final = re.compile(r"(?:https?://|\bdoi:\s?|\b10\.[0-9]{4,9}/)[^\s<>\"]{0,300}$")
_ADDRESS_START: Final = re.compile(r"https?://|doi:|10\.[0-9]{4,9}/", re.IGNORECASE)
_ADDRESS_PIECE: Final = re.compile(r"[a-z0-9(][^\s<>\"]{0,300}")


def _goes_on(before: str, after: str) -> bool:
    """Whether an address at the end of a line goes on in the next one."""
    address, piece = _ADDRESS_END.search(before[-400:]), _ADDRESS_PIECE.match(after)
    if address is None or piece is None:
        return False
    has_digit = any(map(str.isdigit, piece[0])) or "/" in piece[0]
    return before.endswith(("/", "-", "_", "=", "&", "?", "//doi.")) or (before.endswith(".") and has_digit)


def _join(lines: Sequence[TextLine]) -> str:
    """The text of a paragraph on one line; scripts without blanks get none at line ends."""
    parts: list[str] = []
    for line in lines:
        raw = line.text
        if parts and not parts[-1].endswith(HYPHEN) and not _goes_on(parts[-1], raw.strip()):
            is_cjk = bool(_CJK.match(raw[:1]) and _CJK.match(parts[-1][-1:]))
            parts.append("" if is_cjk else " ")
        parts.append(raw.strip())
    text = clean("".join(parts).removesuffix(HYPHEN) + ("-" if parts and parts[-1].endswith(HYPHEN) else ""))
    return _BULLET.sub("- ", text, count=1) if _BULLET.match(text) else text


# --- The order of lines that run down a page, of Chinese and Japanese or of a page lying on its side: from the right --
# The reader of the file gives them from the left, as those of a text that runs up the page are read.


# In sizes of letters: how far a line runs down at least, how far aside at most, and how far for each letter at least.
_DOWN: Final = 2.5
_ASIDE: Final = 2.0
_EACH: Final = 0.3


def order_down(lines: Sequence[Placed]) -> list[Placed]:
    """The lines of a page, those next to each other that run down it from the right, one band of them after another."""
    ordered: list[Placed] = []
    for is_down, group in groupby(lines, lambda each: _runs_down(each[0])):
        run = list(group)
        rising = sum(1 if two[0].left > one[0].left else -1 for one, two in pairwise(run))
        ordered += [line for band in _to_bands(run) for line in band] if is_down and rising > 0 else run
    return ordered


def _runs_down(line: TextLine) -> bool:
    length = line.top - line.bottom
    return (
        length > _DOWN * line.size
        and length > _EACH * line.size * len(line.text)
        and abs(line.right - line.left) < _ASIDE * line.size
        and HYPHEN not in line.text
    )


def _to_bands(lines: Sequence[Placed]) -> list[list[Placed]]:
    """Lines that stand beside each other, from the right; the bands from the top."""
    bands: list[list[Placed]] = []
    bottom = 0.0
    for each in sorted(lines, key=lambda each: -each[0].top):
        line = each[0]
        if bands and line.top - line.size > bottom:
            bands[-1].append(each)
            bottom = min(bottom, line.bottom)
        else:
            bands.append([each])
            bottom = line.bottom
    return [sorted(band, key=lambda each: -each[0].left) for band in bands]
