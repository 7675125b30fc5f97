"""The passages of texts that speak to a query, quoted whole, with the headings that they stand under and their place.

Ranked is by BM25 over word stems, with what the headings say counted in, and with a share of what the neighbours are
worth, because the sentence that answers often repeats no word of the question. Words that any question may have count
little, though they be rare in the text; words that begin alike count half (install, installation). Weights were set on
the half `tuned` of the questions of `bench/answers`.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from specloom.core import dataclass

from .outline import find_sections, follow_fence
from .tokens import is_frequent_word, is_stop_word, terms, tokens
from .windows import find_end, to_cost

if TYPE_CHECKING:
    from .links import Rendition

Told = Callable[[int, int], str]
"""What is told of a text between two places of it."""

SHORT, LONG = 240, 800
"""Characters below which a block is taken together with the next one under its heading, and above which it is cut."""
LEAST_REPEATED: Final = 60
"""Characters from which on a block that another text has as well is a repetition."""
LONGEST_TABLE: Final = 4_000
"""Characters of a table or of code that are one passage."""
SHARE_OF_ALL: Final = 0.5
"""Which part of a budget is shared out evenly before the best passages of all texts get the rest."""
GAP: Final = " › "
MARK: Final = "@"
"""What a line begins with that says where in its text a passage stands."""

_K1, _B = 2.0, 0.8
_HEADING_WEIGHT: Final = 0.9
_NEIGHBOUR: Final = 0.3
_LEAD: Final = 0.05
_PHRASE: Final = 0.2
_FREQUENT: Final = 0.2
_ALIKE: Final = 0.5
_ROOT, _MOST_LONGER = 5, 2
"""Letters that two words have to begin with to be alike, and how many times as long the one may be as the other."""
_LEAST_GAIN, _LEAST_OF_SEVERAL = 0.33, 0.2
"""Of what the best passage is worth, the part below which one of one text, or of several, is not worth its tokens."""
_NEEDLE: Final = 4
_MOST_TERMS: Final = 40
_WORD: Final = re.compile(r"\w{2,}")
_RULE: Final = re.compile(r"[\s|:*_=-]*")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text: from `start` to `end` in characters, under the headings of `path`."""

    start: int
    end: int
    path: str = ""


@dataclass(slots=True)
class _Ranked:
    """A passage on its way to be chosen."""

    text: int
    place: int
    passage: Passage
    score: float = 0.0
    terms: frozenset[str] = frozenset()
    cost: int = -1


@dataclass(slots=True)
class _Choice:
    """What was chosen so far, of which text, and what it says already."""

    room: int
    told: Sequence[Told] = ()
    """What is told of each text, by which passages are counted; the texts themselves where there is nothing."""
    taken: dict[int, set[int]] = field(default_factory=dict)
    said: dict[int, set[str]] = field(default_factory=dict)


def split_passages(markdown: str, without: Collection[str] = ()) -> list[Passage]:
    """The passages of a text in their order: paragraphs, lists, tables and code; short ones together, long ones cut.

    They leave out nothing but blank lines and rules, and the blocks of which `to_block_keys` gives a key that is in
    `without`. A heading goes with what follows it.
    """
    sections = find_sections(markdown)
    starts = {section.start: section for section in sections}
    passages: list[Passage] = []
    path: list[tuple[int, str]] = []
    begun = -1
    headed = False
    for start, end, is_code in _find_blocks(markdown):
        section = starts.get(start)
        if section is not None:
            if begun >= 0 and not headed:
                passages.append(Passage(begun, _trim(markdown, begun, start), _to_path(path)))
                begun = -1
            path = [(level, heading) for level, heading in path if level < section.level]
            path.append((section.level, section.heading))
            begun, headed = start if begun < 0 else begun, True
            continue
        if without and _to_key(markdown[start:end]) in without:
            if begun >= 0 and not headed:
                passages.append(Passage(begun, _trim(markdown, begun, start), _to_path(path)))
            begun = -1
            continue
        first, headed = start if begun < 0 else begun, False
        is_whole = is_code or markdown.startswith("|", start)
        begun = first if end - first < SHORT and not is_whole else -1
        if begun < 0:
            passages += _cut(markdown, first, end, _to_path(path), LONGEST_TABLE if is_whole else LONG)
    if begun >= 0:
        passages.append(Passage(begun, _trim(markdown, begun, len(markdown)), _to_path(path)))
    return passages


def to_block_keys(markdown: str) -> set[str]:
    """What makes each block of a text the same as one of another text; short ones may come again for a reason."""
    return {key for start, end, _ in _find_blocks(markdown) if (key := _to_key(markdown[start:end]))}


def _to_key(block: str) -> str:
    return " ".join(block.split()).casefold() if len(block) >= LEAST_REPEATED else ""


def _to_path(path: Sequence[tuple[int, str]]) -> str:
    return GAP.join(heading for _, heading in path)


def _trim(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def _find_blocks(markdown: str) -> Iterator[tuple[int, int, bool]]:
    """Where each block between blank lines begins and ends, and whether it is fenced code; headings are blocks."""
    at, begun, fence, last = 0, -1, "", 0
    for line in markdown.split("\n"):
        before, fence = fence, follow_fence(line, fence)
        end = at + len(line)
        is_blank = not line.strip()
        is_heading = not before and not fence and line.lstrip(" ").startswith("#")
        if begun >= 0 and not before and (is_blank or fence or is_heading):
            yield begun, last, False
            begun = -1
        if before and not fence and begun >= 0:
            yield begun, end, True
            begun = -1
        elif before or (not is_blank and not (begun < 0 and _RULE.fullmatch(line))):
            begun = at if begun < 0 else begun
            last = end
        if is_heading and begun >= 0 and not before:
            yield begun, end, False
            begun = -1
        at = end + 1
    if begun >= 0:
        yield begun, last, bool(fence)


def _cut(text: str, start: int, end: int, path: str, most: int) -> Iterator[Passage]:
    while end - start > most:
        middle = find_end(text, start, most, end=end, cost=len)
        yield Passage(start, _trim(text, start, middle), path)
        start = middle
    if text[start:end].strip():
        yield Passage(start, _trim(text, start, end), path)


# --- Ranking, and choosing within a budget ----------------------------------------------------------------------------


def choose_passages(
    texts: Sequence[str],
    query: str,
    room: int,
    *,
    weights: Sequence[float] = (),
    once: bool = True,
    cost: Callable[[str], int] = to_cost,
    told: Sequence[Told] = (),
) -> list[list[Passage]]:
    """Of each text the passages that are worth most for a query, in their order, together at most `room` tokens.

    Every text gets its best passages first, up to its part of a share of the budget; the rest goes to what is worth
    most in all of them and is not said by the others already. `weights` say how much each text is worth. With `once` a
    passage that an earlier text has word for word is left out. `told` gives
    what is told of each text between two places, where that is not the text itself.
    """
    ranked = _rank(texts, query, weights, once=once)
    choice = _Choice(room, told)
    share = int(room * SHARE_OF_ALL / max(1, len(texts)))
    part = _LEAST_GAIN if len(texts) == 1 else _LEAST_OF_SEVERAL
    for number, text in enumerate(texts):
        _take_share(text, ranked[number], share, part, choice, cost)
    _take_best(texts, ranked, part, choice, cost)
    return [
        _join(text, [one.passage for one in ranked[number] if one.place in choice.taken.get(number, ())])
        for number, text in enumerate(texts)
    ]


def _rank(texts: Sequence[str], query: str, weights: Sequence[float], *, once: bool) -> list[list[_Ranked]]:
    wanted = terms(query)[:_MOST_TERMS]
    words = [word for word in _WORD.findall(query) if not is_stop_word(word.casefold())]
    needles = re.compile("|".join(sorted({re.escape(one[:_NEEDLE]) for one in (*wanted, *words)})), re.IGNORECASE)
    split: list[list[Passage]] = []
    seen: set[str] = set()
    for text in texts:
        split.append(split_passages(text, seen))
        seen |= to_block_keys(text) if once and len(texts) > 1 else set()
    counts: list[list[Mapping[str, float]]] = []
    pairs: list[list[int]] = []
    following = set(pairwise(wanted))
    roots = {term[:_ROOT]: term for term in wanted if len(term) >= _ROOT and term.isascii() and term.isalpha()}
    for text, passages in zip(texts, split, strict=True):
        of_text, of_pairs = [], []
        for one in passages:
            said = text[one.start : one.end]
            # Most passages have no word of the query, and are not looked at any closer.
            has_any = wanted and (needles.search(said) or not said.isascii())
            heard = tokens(said) if has_any else []
            of_text.append(_count(heard, wanted, roots))
            of_pairs.append(len(following & set(pairwise(heard))))
        counts.append(of_text)
        pairs.append(of_pairs)
    known = [count for of_text in counts for count in of_text]
    total = max(1, len(known))
    having = Counter(term for count in known for term in count)
    weight = {
        term: math.log(1 + (total - having[term] + 0.5) / (having[term] + 0.5))
        * (_FREQUENT if is_frequent_word(term) else 1.0)
        for term in wanted
    }
    lengths = [one.end - one.start for passages in split for one in passages]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    of_paths: dict[str, float] = {}
    ranked: list[list[_Ranked]] = []
    for number, passages in enumerate(split):
        scores = []
        for place, one in enumerate(passages):
            found = counts[number][place]
            norm = _K1 * (1 - _B + _B * (one.end - one.start) / mean)
            score = sum(weight[term] * times * (_K1 + 1) / (times + norm) for term, times in found.items())
            score *= 1 + _PHRASE * pairs[number][place] / max(1, len(following))
            if one.path not in of_paths:
                of_path = _count(tokens(one.path), wanted, roots) if wanted else {}
                of_paths[one.path] = sum(weight[term] for term in of_path)
            scores.append(score + _HEADING_WEIGHT * of_paths[one.path])
        best = max(scores, default=0.0)
        worth = weights[number] if weights else 1.0
        rows = []
        for place, one in enumerate(passages):
            beside = (place - 1, place + 1)
            near = max((scores[at] for at in beside if _is_beside(passages, at, one)), default=0.0)
            lead = _LEAD * best / (1 + place)
            row = _Ranked(number, place, one)
            row.score = worth * (scores[place] + _NEIGHBOUR * near + lead)
            row.terms = frozenset(counts[number][place])
            rows.append(row)
        ranked.append(rows)
    return ranked


def _count(heard: Sequence[str], wanted: Collection[str], roots: Mapping[str, str]) -> Mapping[str, float]:
    """How often each word of a query is in a text; a word that only begins like one counts in part."""
    counts: dict[str, float] = {}
    for word, times in Counter(heard).items():
        if word in wanted:
            counts[word] = counts.get(word, 0.0) + times
            continue
        term = roots.get(word[:_ROOT], "")
        shorter, longer = sorted((len(word), len(term)))
        if term and longer <= _MOST_LONGER * shorter:
            counts[term] = counts.get(term, 0.0) + _ALIKE * times
    return counts


def _is_beside(passages: Sequence[Passage], at: int, one: Passage) -> bool:
    return 0 <= at < len(passages) and passages[at].path == one.path


def _take_share(
    text: str, rows: list[_Ranked], share: int, part: float, choice: _Choice, cost: Callable[[str], int]
) -> None:
    """The best passages of one text within its share; the first of them also where it is larger than that."""
    spent = 0
    least = part * max((row.score for row in rows), default=0.0)
    for row in sorted(rows, key=lambda one: (-one.score, one.place)):
        if spent and row.score < least:
            break
        size = _cost(text, row, choice, cost)
        if spent and spent + size > share:
            break
        if size > choice.room:
            if not spent:
                _take_beginning(text, row, choice, cost)
            break
        _take(row, size, choice)
        spent += size
        if not row.score and spent:
            break


def _take_beginning(text: str, row: _Ranked, choice: _Choice, cost: Callable[[str], int]) -> None:
    """As much of a passage as there is room for; with none left its text has only its place."""
    room = choice.room - _place_cost(row)
    if room < _NEEDLE:
        return
    end = find_end(text, row.passage.start, room, end=row.passage.end, cost=cost)
    row.passage = Passage(row.passage.start, _trim(text, row.passage.start, end), row.passage.path)
    _take(row, choice.room, choice)


def _take_best(
    texts: Sequence[str],
    ranked: list[list[_Ranked]],
    part: float,
    choice: _Choice,
    cost: Callable[[str], int],
) -> None:
    """The best of what is left, worth less the more of it others say already."""
    rows = [row for of_text in ranked for row in of_text if row.score > 0]
    least = part * max((row.score for row in rows), default=0.0)
    heap = [(-row.score, row.text, row.place) for row in rows if row.place not in choice.taken.get(row.text, ())]
    heapq.heapify(heap)
    while heap and choice.room > 0:
        gain, number, place = heapq.heappop(heap)
        row = ranked[number][place]
        now = row.score * (1 - 0.5 * _said_share(row, choice))
        if now < least:
            continue
        if now < -gain - 1e-9 and heap and now < -heap[0][0]:
            heapq.heappush(heap, (-now, number, place))
            continue
        size = _cost(texts[number], row, choice, cost)
        if size <= choice.room:
            _take(row, size, choice)


def _said_share(row: _Ranked, choice: _Choice) -> float:
    """Which part of the words of the query that a passage has the passages chosen of other texts have as well."""
    if not row.terms:
        return 0.0
    others: set[str] = set().union(*(said for text, said in choice.said.items() if text != row.text))
    return len(row.terms & others) / len(row.terms)


def _cost(text: str, row: _Ranked, choice: _Choice, cost: Callable[[str], int]) -> int:
    if row.cost < 0:
        start, end = row.passage.start, row.passage.end
        said = choice.told[row.text](start, end) if choice.told else text[start:end]
        row.cost = cost(said) + _place_cost(row)
    return row.cost


def _place_cost(row: _Ranked) -> int:
    return 6 + to_cost(row.passage.path)


def _take(row: _Ranked, size: int, choice: _Choice) -> None:
    choice.room -= size
    choice.taken.setdefault(row.text, set()).add(row.place)
    choice.said.setdefault(row.text, set()).update(row.terms)


def _join(text: str, passages: Sequence[Passage]) -> list[Passage]:
    """Passages with nothing but blanks between them as one."""
    joined: list[Passage] = []
    for one in passages:
        if joined and not text[joined[-1].end : one.start].strip():
            joined[-1] = Passage(joined[-1].start, one.end, joined[-1].path)
        else:
            joined.append(one)
    return joined


def quote_passages(
    text: str, passages: Sequence[Passage], *, start: int = 0, rendition: Rendition | None = None
) -> str:
    """The passages as Markdown: before each a line with its place in the text, and the headings that it stands under.

    A text that is quoted whole has no such line. `start` is where the text begins in that of which places are told, and
    of which a `rendition` is one.
    """
    from .links import Rendition

    rendition = rendition or Rendition(" " * start + text)
    if (
        not start
        and len(passages) == 1
        and not text[: passages[0].start].strip()
        and not text[passages[0].end :].strip()
    ):
        return rendition.tell(0, len(text)).strip()
    quoted, numbers, end = [], set(), start
    for one in passages:
        is_headed = text[one.start : one.end].lstrip(" ").startswith("#")
        path = one.path.rpartition(GAP)[0] if is_headed else one.path
        end = start + one.end
        said, used = rendition.tell_body(start + one.start, end)
        numbers |= used
        quoted.append(f"{MARK}{start + one.start}{f' {path}' if path else ''}\n{said}")
    return rendition.with_addresses("\n\n".join(quoted), numbers, end)
