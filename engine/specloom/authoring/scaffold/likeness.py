"""Which value of a sample could be which row field: by its name, its kind and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from specloom.core import to_timestamp
from specloom.model import Argument

from .leaves import ITEMS, Leaf
from .words import ADDRESSED, CONTAINERS, NAMED, OTHERS, SAME, in_order, joined, words_of

SURE, ENOUGH = 0.85, 0.5
"""How alike a field and a leaf are that are surely one, and from where on it is worth a question to the author."""
_FAR = 4
"""From so many names on, a value is far enough from its result to be that of something else."""


def match(fields: Mapping[str, Argument], leaves: Sequence[Leaf]) -> dict[str, Leaf | None]:
    """For each row field the leaf that is most like it, each leaf once; None where nothing is enough like it."""
    scored = (
        (likeness(field, leaf), -at, name, leaf) for name, field in fields.items() for at, leaf in enumerate(leaves)
    )
    matched: dict[str, Leaf | None] = dict.fromkeys(fields)
    for score, _, name, leaf in sorted(scored, key=lambda entry: entry[:2], reverse=True):
        if score >= ENOUGH and matched[name] is None and leaf not in matched.values():
            matched[name] = leaf
    return matched


def candidates(field: Argument, leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves that a field could be, the most likely first."""
    scored = [(likeness(field, leaf), leaf) for leaf in leaves]
    return [leaf for score, leaf in sorted(scored, key=lambda pair: -pair[0]) if score >= ENOUGH]


def likeness(field: Argument, leaf: Leaf) -> float:
    """0 when the value cannot be it; from `SURE` on it is it, from `ENOUGH` on it may be."""
    relative = field.kind == "url" and isinstance(leaf.value, str) and re.match(r"/[^/\s]\S*$", leaf.value) is not None
    year = field.name.endswith("year") and field.kind == "integer" and _has_year(leaf.value)
    first = _first_of(field, leaf)
    is_own = field.kind == "text" and isinstance(first, str) and joined(_bare(leaf.path[-1])) == joined(field.name)
    if not (relative or year or is_own or fits(field.kind, first)) or (leaf.parts and field.kind != "list"):
        return 0.0
    score = max((_by_name(field, one) for one in _meanings(leaf.path, field)), default=0.0)
    score += 0.01 * leaf.everywhere - 0.01 * (len(leaf.path) - 1)
    if "[@rel=" in "".join(leaf.path) and "[@rel='alternate']" not in "".join(leaf.path):
        score -= 0.4
    if field.kind in {"timestamp", "date"} and isinstance(leaf.value, str) and not re.search(r"\d{4}", leaf.value):
        score -= 0.15  # a distance such as "3 days ago" is less than a date
    if len([name for name in leaf.path if name != ITEMS]) >= _FAR:
        score = min(score, SURE - 0.05)
    if field.kind == "url" and (relative or _is_of_api(str(first))):
        score = min(score, SURE - 0.2)
    return score


def _first_of(field: Argument, leaf: Leaf) -> Any:
    """The value as the field would have it: of a list the first item for what is no list."""
    value = leaf.value
    if field.kind == "list" and (leaf.is_markup or leaf.is_cell):
        return [value]
    if leaf.is_cell and field.kind == "boolean":
        return value if str(value).lower() not in {"true", "false", "yes", "no"} else True
    if field.kind == "list":
        listed = next((one for one in leaf.values if isinstance(one, list)), None)
        return listed if listed is not None else [value] if leaf.path[-1:] and leaf.mixed else value
    return value[0] if isinstance(value, list) and value else value


def _has_year(value: Any) -> bool:
    return isinstance(value, str) and re.match(r"\d{4}-\d{2}(?:-\d{2})?(?!\d)", value) is not None


def _is_of_api(address: str) -> bool:
    """Whether an address is asked by programs, and not read by people."""
    return re.match(r"https?://(?:api\.|[^/?#]+/api/)", address.lower()) is not None


def _meanings(path: Sequence[str], field: Argument) -> Iterator[tuple[str, float]]:
    """The names that a leaf could go by, as joined words, each with how far it is to be trusted."""
    plain = [_bare(name) for name in path if name != ITEMS]
    if not plain:
        return
    *above, tail = plain
    outer = [name for name in above if joined(name) not in CONTAINERS and name != "_source"]
    if not outer:
        yield tail, 1.0
    generic = NAMED if field.kind != "url" else ADDRESSED
    if above and (joined(tail) in generic or (field.kind == "list" and joined(tail) in NAMED)):
        yield above[-1], 1.0
    if not outer:
        return
    yield f"{outer[-1]}_{tail}", 1.0
    if not any(_is_other(name) for name in outer):
        yield tail, 0.95 if len(outer) == 1 else 0.9


def _is_other(name: str) -> bool:
    return bool({*words_of(name), joined(name)} & OTHERS)


def _bare(name: str) -> str:
    """A name without its namespace, its `@` and what is in brackets."""
    return re.sub(r"\[.*", "", name.partition(":")[2] or name).lstrip("@")


def _by_name(field: Argument, meaning: tuple[str, float]) -> float:
    name, trust = meaning
    ours, theirs = joined(field.name), joined(name)
    if not theirs:
        return 0.0
    if ours == theirs:
        return trust
    best = 0.0
    for sure, perhaps in SAME:
        if ours in sure and theirs in sure:
            best = max(best, 0.98 - 0.005 * sure.index(theirs))
        elif ours in sure and theirs in perhaps:
            best = max(best, 0.75 - 0.01 * perhaps.index(theirs))
    *before, head = in_order(name)
    if (
        best == 0.0
        and before
        and not OTHERS.intersection(before)
        and any(ours in sure and head in sure for sure, _ in SAME)
    ):
        best = 0.65  # its last word says what it is, and the others of what
    if best == 0.0 and SequenceMatcher(None, ours, theirs).ratio() >= 0.85:
        best = 0.7
    return best * trust


def fits(kind: str, value: Any) -> bool:
    """Whether a value of a sample can become a value of this kind."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = value if isinstance(value, str) else ""
    match kind:
        case "any":
            return True
        case "url":
            return re.match(r"(?:https?:)?//\S+$", text) is not None
        case "timestamp" | "date":
            return is_epoch(value) or is_date(text)
        case "integer" | "number":
            return is_number or re.fullmatch(r"-?\d[\d,]*(?:\.\d+)?", text) is not None
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "object":
            return False  # its fields would have to be chosen one by one
    # A whole number fits a text, as an id mostly is one.
    is_text = isinstance(value, str) and not re.match(r"https?://\S+$", value)
    return is_text or (is_number and isinstance(value, int))


def is_date(text: str) -> bool:
    """Whether the text is a date or a distance in time."""
    return (
        len(text) < 60
        and any(one.isdigit() for one in text)
        and not text.isdigit()
        and to_timestamp(text, 1e9) is not None
    )


def is_epoch(value: Any) -> bool:
    """Whether a number can be an instant between 1990 and 2100, in seconds or milliseconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (631_152_000 <= value <= 4_102_444_800 or 631_152_000_000 <= value <= 4_102_444_800_000)
