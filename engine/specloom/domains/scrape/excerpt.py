"""The text of a page cut into what a reader wants: nothing twice, nothing past a limit, and counted.

Everything here works on Markdown with blank lines between blocks. Lengths are bytes of UTF-8, as the tool contract
counts them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, MutableSet
from itertools import pairwise
from typing import Final

from specloom.core import dataclass
from specloom.domains.text import follow_fence

NOTE: Final = "\n\n[Cut here: the page goes on.]"
FEW_WORDS: Final = 150
"""Below this a page carries too little to lean on (the tool contract's figure)."""

# Bytes below which a text has the size; the tool contract's figures.
_SIZES: Final = ((5_000, "small"), (20_000, "medium"), (50_000, "large"))

# A shorter block may come twice on purpose: "Yes.", a speaker's name, a caption.
_LONG_BLOCK: Final = 60
# Blocks that are repeated for a reason: headings, tables, quotations, list items, code, images, rules.
_STRUCTURE: Final = re.compile(r"#{1,6} |\||>|[-*+] |\d{1,9}[.)] |    |\t|!\[|(?:[-*_] ?){3,}$")
_HEADING: Final = re.compile(r"(#{1,6}) ")
_HEADING_LINE: Final = re.compile(r"(#{1,6}) ++(.*)")
_ALIKE: Final = str.maketrans("\u201c\u201d\u2018\u2019\u2013\u2014", "\"\"''--")
_LINK: Final = re.compile(r"\[([^\[\]]{0,200})\]\([^()\s]{1,2000}\)")
_LINKS_ALONE: Final = re.compile(r"(?:\[[^\[\]]{0,200}\]\([^()\s]{1,2000}\)[\s|·•,–-]*){1,20}")

# Scripts that put no blanks between words; each of their characters counts as one (the tool contract's rule).
_UNSPACED: Final = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\uaa60-\uaa7f\ua9e0-\ua9ff"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED_ONE: Final = re.compile(f"[{_UNSPACED}]")
_UNSPACED_RUN: Final = re.compile(f"([{_UNSPACED}]+)")
# Their punctuation parts words as a blank does.
_WORD: Final = re.compile(f"[{_UNSPACED}]|[^\\s{_UNSPACED}\u3001-\u3003\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20]+")

_JOINER: Final = "\u200d"
# What belongs to the character before it: joiners, forms of a sign, skin tones.
_MARKS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")

_SENTENCE_END: Final = re.compile("[.!?…][\"'”’)\\]*_]{0,3}(?=\\s)|[。！？｡][」』”’）]{0,2}|[।۔؟።](?=\\s|$)")


@dataclass(frozen=True, slots=True)
class Cut:
    """A text within a limit, and whether it was longer before."""

    text: str
    truncated: bool


def drop_repeats(named: Iterable[tuple[str, str]], seen: MutableSet[str]) -> str:
    """A text, as `name_blocks` gives it, without prose that came before, word for word: the first of equals stays.

    Headings, lists, tables, quotations and code repeat for a reason and stay, as do short lines and lead-ins that end
    with a colon or a question mark; links that stand alone are dropped at any length. A heading under which nothing
    else is left goes with what it had. `seen` has the names of blocks of earlier texts, and is added to.
    """
    marked: list[tuple[str, bool]] = []
    for block, key in named:
        marked.append((block, not key or key not in seen))
        if key:
            seen.add(key)
    if all(is_new for _, is_new in marked):
        return "\n\n".join(block for block, _ in marked)
    return "\n\n".join(reversed(list(_drop_emptied(marked))))


def name_blocks(text: str) -> list[tuple[str, str]]:
    """Every block with what copies of it have in common, "" for one that may come again for a reason.

    Where a link in prose leads does not count, since every site that prints a text links its own pages; nor do the
    forms of quotation marks and dashes.
    """
    named = []
    for block, is_code in blocks(text):
        key = ""
        if not is_code and _is_prose(block):
            plain = _LINK.sub(r"\1", block) if "](" in block and not _LINKS_ALONE.fullmatch(block) else block
            key = " ".join(plain.translate(_ALIKE).split())
        named.append((block, key))
    return named


def _drop_emptied(marked: list[tuple[str, bool]]) -> Iterator[str]:
    """What is kept, the last first: without headings of sections that lost all they had."""
    # Whether what is above a level, up to the next heading that ends its section, has kept and lost something.
    has, lost = [False] * 7, [False] * 7
    for block, is_new in reversed(marked):
        heading = _HEADING.match(block)
        level = len(heading[1]) if heading else 0
        is_kept = is_new and not (level and lost[level] and not has[level])
        if is_kept:
            yield block
        for each in range(1, 7):
            if level and each >= level:
                has[each] = lost[each] = False
            else:
                has[each] |= is_kept
                lost[each] |= not is_kept


def drop_copies(text: str) -> str:
    """The text without passages that it has twice: prose that follows the same prose as it did before.

    So pages come that have their text once for wide and once for narrow windows. One paragraph alone may be meant to
    come again: a chorus, a warning.
    """
    parts = list(blocks(text))
    keys = [" ".join(block.split()) for block, _ in parts]
    prose = [at for at, (block, is_code) in enumerate(parts) if not is_code and _is_prose(block)]
    pairs: set[tuple[str, str]] = set()
    copies: set[int] = set()
    for at, after in pairwise(prose if len(set(keys)) < len(keys) else ()):
        pair = keys[at], keys[after]
        if pair[0] != pair[1] and pair in pairs:
            copies |= {at, after}
        pairs.add(pair)
    return "\n\n".join(block for at, (block, _) in enumerate(parts) if at not in copies)


def blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The blocks between blank lines, and whether each is fenced code, which is one block with its blank lines."""
    lines: list[str] = []
    fence = ""
    may_be_fenced = "```" in text or "~~~" in text
    for line in text.split("\n"):
        before, fence = fence, follow_fence(line, fence) if may_be_fenced else ""
        if fence and not before and lines:
            yield "\n".join(lines), False
            lines = []
        if before or line.strip():
            lines.append(line)
        if lines and (not line.strip() if not before else not fence):
            yield "\n".join(lines), bool(before)
            lines = []
    if lines:
        yield "\n".join(lines), bool(fence)


def truncate(text: str, most: int, *, note: str = NOTE) -> Cut:
    """The text in at most `most` bytes, the note that says so included; a text that fits is given as it is.

    Cut at the last paragraph break, else the end of a sentence, else a line break, else a blank, each only if more
    than half of the limit stays; else between two characters as a reader sees them. A code fence that the cut leaves
    open is closed. A limit too small for the note leaves it out.
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return Cut(text, truncated=False)
    if most <= 0:
        return Cut("", truncated=True)
    if len(note.encode()) * 4 > most:
        note = ""
    room = most - len(note.encode())
    kept = _cut(data, room)
    if closing := _find_open_fence(kept):
        kept = _cut(data, room - len(closing) - 1)
        if closing := _find_open_fence(kept):
            kept = f"{kept}\n{closing}"
    return Cut(kept + note, truncated=True)


def count_bytes(text: str) -> int:
    """The length of a text in bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def count_words(text: str) -> int:
    """The words of a text: runs between blanks, and each character of a script that writes without blanks."""
    if text.isascii() or not _UNSPACED_ONE.search(text):
        return len(text.split())
    return sum(1 for _ in _WORD.finditer(text))


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script that writes without blanks."""
    return _UNSPACED_ONE.match(character) is not None


def split_unspaced(text: str) -> list[str]:
    """The runs of a text that are of scripts without blanks, and what stands between them."""
    return [run for run in _UNSPACED_RUN.split(text) if run]


def estimate_tokens(length: int) -> int:
    """About how many tokens a model sees in that many bytes: a quarter (the tool contract's rule)."""
    return length // 4


def to_size_category(length: int) -> str:
    """`small`, `medium`, `large` or `very_large` for a length in bytes."""
    return next((name for limit, name in _SIZES if length < limit), "very_large")


def to_sparsity_warning(words: int) -> str:
    """A sentence for a page of fewer than 150 words, "" for any other."""
    if words >= FEW_WORDS:
        return ""
    counted = "1 word was" if words == 1 else f"{words} words were"
    return f"Only {counted} read from this page; do not take what it leaves out as evidence of absence."


def _is_prose(block: str) -> bool:
    """Whether a second copy of a block would say nothing new."""
    if _STRUCTURE.match(block):
        return False
    if _LINKS_ALONE.fullmatch(block):
        return True
    return len(block) >= _LONG_BLOCK and not block.rstrip("*_ ").endswith((":", "：", "?", "？"))


def _cut(data: bytes, most: int) -> str:
    """At most that many bytes of a longer text, cut where a reader would."""
    whole = data[: max(most, 0)].decode("utf-8", "ignore")
    half = len(data[: max(most, 0) // 2].decode("utf-8", "ignore"))
    for end in (
        whole.rfind("\n\n"),
        max((match.end() for match in _SENTENCE_END.finditer(whole, half)), default=-1),
        whole.rfind("\n"),
        whole.rfind(" "),
    ):
        if end > half:
            return whole[:end].rstrip()
    size = len(whole.encode("utf-8", "replace"))
    return _cut_between_characters(whole, data[size : size + 4].decode("utf-8", "ignore")[:1])


def _cut_between_characters(text: str, following: str) -> str:
    """The text without a last character whose marks or joined parts come after it, going back at most 32."""
    for end in range(len(text), max(len(text) - 32, 0), -1):
        after = text[end] if end < len(text) else following
        if text[end - 1] != _JOINER and not (after and (unicodedata.combining(after) or after in _MARKS)):
            return text[:end]
    return text


def _find_open_fence(text: str) -> str:
    """The fence that is open at the end of a text, "" for none."""
    fence = ""
    for line in text.split("\n"):
        fence = follow_fence(line, fence)
    return fence


def split_sections(markdown: str) -> tuple[str, list[dict[str, str]]]:
    """The first heading of the first level, and each heading below it with the text up to the next one.

    Text before any heading but the title stands under an empty one; a heading without text is kept where another
    follows on a level below it, because it says what that one belongs to.
    """
    title, fence = "", ""
    sections: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for line in markdown.split("\n"):
        before, fence = fence, follow_fence(line, fence)
        match = None if before or fence else _HEADING_LINE.fullmatch(line)
        if match is None:
            sections[-1][2].append(line)
        elif len(match[1]) == 1 and not title:
            title = match[2].strip()
        else:
            sections.append((len(match[1]), match[2].strip(), []))
    rows: list[dict[str, str]] = []
    for (level, heading, lines), (below, *_) in zip(sections, [*sections[1:], (0, "", [])], strict=True):
        text = "\n".join(lines).strip()
        if text or (heading and below > level):
            rows.append({"heading": heading, "text": text})
    return title, rows
