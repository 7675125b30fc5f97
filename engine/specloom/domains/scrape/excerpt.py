"""The text of a page cut into what a reader wants: nothing twice, nothing past a limit, and counted.

Everything here works on Markdown with blank lines between blocks. Lengths are bytes of UTF-8, as the tool contract
counts them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, MutableSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

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
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
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


def drop_repeats(text: str, seen: MutableSet[str] | None = None) -> str:
    """The text without prose that came before, word for word: the first of equal blocks stays.

    Headings, lists, tables, quotations and code repeat for a reason and stay, as do short lines and lead-ins that end
    with a colon or a question mark; links that stand alone are dropped at any length. A heading under which nothing
    else is left goes with what it had. `seen` carries the blocks of
    earlier texts into this one and is added to, for texts that are read one after the other.
    """
    return drop_known(name_blocks(text), set() if seen is None else seen)


def drop_known(named: Iterable[tuple[str, str]], known: MutableSet[str]) -> str:
    """What `drop_repeats` leaves of a text, given as `name_blocks` names its blocks; `known` are the names seen."""
    kept: list[tuple[str, bool]] = []
    for block, key in named:
        is_new = not key or key not in known
        if key:
            known.add(key)
        kept.append((block, is_new))
    if all(is_new for _, is_new in kept):
        return "\n\n".join(block for block, _ in kept)
    return "\n\n".join(reversed(list(_drop_emptied(kept))))


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


def _drop_emptied(found: list[tuple[str, bool]]) -> Iterator[str]:
    """What is kept, the last first: without headings of sections that lost all they had."""
    # Whether what is above a level, up to the next heading that ends its section, has kept and lost something.
    has, lost = [False] * 7, [False] * 7
    for block, is_new in reversed(found):
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
    found = list(blocks(text))
    keys = [" ".join(block.split()) for block, _ in found]
    if len(set(keys)) == len(keys):
        return "\n\n".join([block for block, _ in found])
    prose = [(at, keys[at]) for at, (block, is_code) in enumerate(found) if not is_code and _is_prose(block)]
    seen: set[tuple[str, str]] = set()
    copies: set[int] = set()
    for (at, one), (after, other) in pairwise(prose):
        if one == other:
            continue
        if (one, other) in seen:
            copies |= {at, after}
        seen.add((one, other))
    return "\n\n".join(block for at, (block, _) in enumerate(found) if at not in copies)


def blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The blocks between blank lines, and whether each is fenced code, which is one block with its blank lines."""
    lines: list[str] = []
    fence = ""
    may_be_fenced = "```" in text or "~~~" in text
    for line in text.split("\n"):
        match = _FENCE.match(line) if may_be_fenced else None
        if fence:
            lines.append(line)
            if match and match[1].startswith(fence) and not line[match.end() :].strip():
                yield "\n".join(lines), True
                lines, fence = [], ""
        elif match:
            if lines:
                yield "\n".join(lines), False
            lines, fence = [line], match[1]
        elif line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines), False
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
    fence = ""
    for line in text.split("\n"):
        if match := _FENCE.match(line):
            if not fence:
                fence = match[1]
            elif match[1].startswith(fence) and not line[match.end() :].strip():
                fence = ""
    return fence
