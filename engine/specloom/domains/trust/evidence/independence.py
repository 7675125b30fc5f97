"""Independence of sources: near-duplicate detection by shingles, and whoever shares a work, a site, authors or a wire.

Sources of one group count once. What cannot be told apart stays apart, so the number of groups is an upper bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from typing import Final

from specloom.core import dataclass, load_table
from specloom.domains.text import parse_name, same_person, to_host, to_plain, to_registrable
from specloom.domains.text.tokens import tokens

from ..citations.titles import find_sameness

SHINGLE: Final = 5
"""Words in a row that are compared."""
ALIKE: Final = 0.6
"""The share of the shorter text's shingles from which on both are one text."""
FEWEST_WORDS: Final = 40
"""Words below which what two texts share is a quotation."""
_SHARED_AUTHORS: Final = 0.5
_MOST_WORDS: Final = 4000
_HEAD, _TAIL = 600, 400


@dataclass(frozen=True, slots=True)
class Witness:
    """What of a source shows whether it is another's: empty where it is not known.

    `outlet` is the name that a search gave for who publishes it. `is_work` says that it is a scholarly work, which many
    hosts have and which is not one with what else lies there.
    """

    url: str
    title: str = ""
    doi: str = ""
    outlet: str = ""
    text: str = ""
    authors: tuple[str, ...] = ()
    day: str = ""
    is_work: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Sources that are not independent, by their places, and why."""

    members: tuple[int, ...]
    why: str


def find_groups(witnesses: Sequence[Witness]) -> list[Group]:
    """The groups of two sources and more, in the order of their first members."""
    groups = [[at] for at in range(len(witnesses))]
    of = dict(enumerate(groups))
    reasons: dict[int, list[str]] = {at: [] for at in range(len(witnesses))}
    publishers = _find_publishers(witnesses)
    shingles = [_to_shingles(each.text) for each in witnesses]
    wires = [find_wire(each.text) for each in witnesses]

    def find_reason(one: int, other: int) -> str:
        left, right = witnesses[one], witnesses[other]
        if _is_same_work(left, right):
            return "the same work"
        if publishers[one] and publishers[one] == publishers[other]:
            return f"the same publisher, {publishers[one]}"
        share = _find_share(shingles[one], shingles[other])
        if share >= ALIKE:
            return f"the same text ({share:.2f})"
        if wires[one] and wires[one] == wires[other] and (not left.day or not right.day or left.day == right.day):
            return f"both credit {wires[one]}"
        return "the same authors" if _share_authors(left, right) else ""

    for one, other in combinations(range(len(witnesses)), 2):
        if of[one] is of[other]:
            continue
        if reason := find_reason(one, other):
            kept, joined = of[one], of[other]
            reasons[kept[0]] += [*reasons[joined[0]], reason]
            kept += joined
            for at in joined:
                of[at] = kept
    distinct = {id(group): group for group in groups if len(group) > 1 and of[group[0]] is group}
    return [Group(tuple(sorted(group)), "; ".join(dict.fromkeys(reasons[group[0]]))) for group in distinct.values()]


# --- One work, one publisher ------------------------------------------------------------------------------------------


def _is_same_work(one: Witness, other: Witness) -> bool:
    if one.doi and other.doi:
        if one.doi.casefold() == other.doi.casefold():
            return True
        # A preprint and its article have a DOI each, and one title.
        return _is_same_title(one, other) and _share_authors(one, other)
    return (one.is_work or other.is_work) and bool(one.doi or other.doi) and _is_same_title(one, other)


def _is_same_title(one: Witness, other: Witness) -> bool:
    return len(one.title.split()) >= 4 and find_sameness(one.title, other.title) is not None


def _share_authors(one: Witness, other: Witness) -> bool:
    """Whether half of the authors of either of two works are the other's."""
    if not (one.is_work and other.is_work):
        return False
    left, right = ([name for each in two.authors if (name := parse_name(each))] for two in (one, other))
    if not left or not right:
        return False
    shared = sum(any(same_person(name, each) for each in right) for name in left)
    return shared >= _SHARED_AUTHORS * min(len(left), len(right)) and shared >= min(2, len(left), len(right))


def _find_publishers(witnesses: Sequence[Witness]) -> list[str]:
    """Who publishes each source: the domain that was registered; of a host with several outlets, the outlet's name."""
    domains = [to_registrable(to_host(each.url)) or to_host(each.url) for each in witnesses]
    outlets: dict[str, set[str]] = {}
    for domain, each in zip(domains, witnesses, strict=True):
        if each.outlet and "." not in each.outlet:
            outlets.setdefault(domain, set()).add(each.outlet.casefold())
    return [
        "" if each.is_work else each.outlet or each.url if len(outlets.get(domain, ())) > 1 else domain
        for domain, each in zip(domains, witnesses, strict=True)
    ]


# --- One text ---------------------------------------------------------------------------------------------------------


def _to_shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = tokens(to_plain(text))[:_MOST_WORDS]
    if len(words) < FEWEST_WORDS:
        return frozenset()
    return frozenset(tuple(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1))


def _find_share(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def find_wire(text: str) -> str:
    """The news agency or distributor of press releases that a text credits at its beginning or end; "" for none."""
    head, tail = text[:_HEAD], text[-_TAIL:]
    return next((name for name, is_credited in _load_wires() if is_credited(head) or is_credited(tail)), "")


@cache
def _load_wires() -> tuple[tuple[str, Callable[[str], object]], ...]:
    return tuple(_read_wires())


def _read_wires() -> Iterator[tuple[str, Callable[[str], object]]]:
    for name, spellings in load_table(__file__, "wires.yaml")["wires"].items():
        word = "|".join(map(re.escape, spellings))
        # "(Reuters) -", "LONDON, AP —", "dpa/ann", "Source: PR Newswire": a name alone in running text is no credit.
        credit = rf"\((?:{word})\)|(?:^|[,\n]\s?)(?:{word})\s?[-–—/]|(?:source|quelle|fuente|fonte)\s?:\s?(?:{word})\b"
        yield name, re.compile(credit, re.IGNORECASE | re.MULTILINE).search
