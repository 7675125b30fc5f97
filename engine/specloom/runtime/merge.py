"""Record linkage and rank fusion: rows of several providers that are about one thing become one row.

What makes two rows one is data of their capability (`identity`), which field is whose is data of the stage, and the
order is that of reciprocal rank fusion (Cormack 2009). Nothing here depends on the order in which answers came.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specloom.core import dataclass, field
from specloom.language import MISSING, Bindings, Layer, evaluate
from specloom.model import IdentityKey, Merge, Provider, Row, RowIdentity

RANK_CONSTANT = 60
"""What is added to every place, so that the first of one list does not outweigh the second of two (Cormack 2009)."""
PROVIDER, PLACE = "provider", "place"
"""The fields of a row that say who gave it, and as the how manieth."""


@dataclass(slots=True)
class _Record:
    """One row with what it is known by."""

    row: Row
    keys: list[Any]
    version: str
    rank: int
    """How far its version is from the one that leads."""
    name: str
    """Its keys as text."""

    @property
    def order(self) -> tuple[Any, ...]:
        """The same whatever came first."""
        return (self.rank, self.row[PLACE], self.row[PROVIDER], self.name)


@dataclass(slots=True)
class _Cluster:
    """Rows of one thing, with the deciding keys of each of its versions."""

    records: list[_Record]
    decided: dict[tuple[int, str], set[Any]] = field(default_factory=dict)

    def contradicts(self, other: _Cluster, below: int) -> bool:
        """Whether a key that is stronger than the one in question says that these are two things."""
        return any(
            at < below and (at, version) in other.decided and not values & other.decided[at, version]
            for (at, version), values in self.decided.items()
        )

    def take_in(self, other: _Cluster) -> None:
        """The rows of another one are of this thing as well."""
        self.records += other.records
        for key, values in other.decided.items():
            self.decided.setdefault(key, set()).update(values)


@dataclass(frozen=True, slots=True)
class Merged:
    """The rows, each of one thing, and what each is known by."""

    rows: list[Row]
    marks: list[str]


def merge(
    rows: Sequence[Row],
    stage: Merge,
    providers: Mapping[str, Provider],
    context: Bindings,
    seen: frozenset[str] = frozenset(),
    *,
    marked: bool = True,
) -> Merged:
    """One row for each thing, the best first; things that have one of the marks `seen` are left out.

    Where the rows are not `marked`, because no later call asks what was given before, there are no marks.
    """
    identity = stage.identity
    records = sorted((_to_record(row, identity, context) for row in rows), key=lambda one: one.order)
    ranked = []
    for cluster in _link(records, identity.keys):
        marks = _to_marks(cluster, identity.keys) if marked else []
        if seen and not seen.isdisjoint(mark for _, mark in marks):
            continue
        members = sorted(cluster.records, key=lambda one: one.order)
        score, sources = _score([one.row for one in members], providers)
        order = (-score, -sources, members[0].name, members[0].row[PROVIDER])
        # Of several marks the strongest stands for the thing.
        ranked.append((order, _to_row(members, stage), min(marks)[1] if marks else ""))
    ranked.sort(key=lambda one: one[0])
    return Merged([row for _, row, _ in ranked], [mark for _, _, mark in ranked if mark])


def _to_record(row: Row, identity: RowIdentity, context: Bindings) -> _Record:
    inside = Layer(context, row=row)
    version = str(evaluate(identity.version, inside) or "") if identity.version is not None else ""
    rank = identity.lead.index(version) if version in identity.lead else len(identity.lead)
    keys = [_to_key(evaluate(key.value, inside), key) for key in identity.keys]
    return _Record(row, keys, version, rank, repr(keys))


def _values(key: Any, of: IdentityKey) -> tuple[Any, ...]:
    """What of a row's key another row may share."""
    if key is None:
        return ()
    return key if of.is_any else (key,)


def _to_key(value: Any, of: IdentityKey) -> Any:
    """What two rows have to share; None where a part of it is missing, or all of a list of which one is enough."""
    if of.is_any:
        return tuple(sorted({part for part in value or () if part not in MISSING})) or None
    if isinstance(value, list):
        return tuple(value) if value and all(part not in MISSING for part in value) else None
    return value if value not in MISSING else None


# --- Which rows are of one thing --------------------------------------------------------------------------------------


def _link(records: list[_Record], keys: Sequence[IdentityKey]) -> list[_Cluster]:
    """The rows put together by each key, the strongest first."""
    of: dict[int, _Cluster] = {}
    for at, record in enumerate(records):
        cluster = of[at] = _Cluster([record])
        for number, key in enumerate(keys):
            if key.decides and record.keys[number] is not None:
                cluster.decided[number, record.version] = set(_values(record.keys[number], key))
    for number, key in enumerate(keys):
        buckets: dict[Any, list[int]] = {}
        for at, record in enumerate(records):
            for value in _values(record.keys[number], key):
                buckets.setdefault(value, []).append(at)
        for bucket in buckets.values():
            if len(bucket) > 1 and not ((key.near or key.is_any) and _is_ambiguous([of[at] for at in bucket], number)):
                _join(bucket, number, key, records, of)
    return list({id(cluster): cluster for cluster in of.values()}.values())


def _is_ambiguous(clusters: list[_Cluster], number: int) -> bool:
    """Whether a weak key is that of several things, so that what has nothing stronger could be of any of them."""
    return any(one.contradicts(other, number) for one in clusters for other in clusters if one is not other)


def _join(bucket: list[int], number: int, key: IdentityKey, records: list[_Record], of: dict[int, _Cluster]) -> None:
    for position, at in enumerate(bucket):
        for other in bucket[position + 1 :]:
            one, two = of[at], of[other]
            if one is two or not _is_near(records[at].row, records[other].row, key) or one.contradicts(two, number):
                continue
            one.take_in(two)
            for index, cluster in of.items():
                if cluster is two:
                    of[index] = one


def _is_near(one: Row, other: Row, key: IdentityKey) -> bool:
    if not key.near:
        return True
    left, right = one.get(key.near), other.get(key.near)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return True
    return abs(left - right) <= key.by


# --- What the one row has, and where it stands ------------------------------------------------------------------------


def _score(rows: Sequence[Row], providers: Mapping[str, Provider]) -> tuple[float, int]:
    """The sum over indexes by their best places; and how many indexes there are."""
    best: dict[str, float] = {}
    for row in rows:
        provider = providers[row[PROVIDER]]
        index = provider.index or provider.name
        best[index] = max(best.get(index, 0.0), 1 / (RANK_CONSTANT + row[PLACE]))
    return sum(best[index] for index in sorted(best)), len(best)


def _to_row(members: Sequence[_Record], stage: Merge) -> Row:
    """The row of whoever leads, filled up from the others, with the fields that are somebody else's."""
    leader = members[0].row
    merged, origin = dict(leader), {}
    if len(members) == 1:
        # Nobody else gave any field, and nothing is of another version.
        provider = leader[PROVIDER]
        for name, source in stage.all:
            value = leader.get(source)
            merged[name] = None if value in MISSING else [provider] if source == PROVIDER else {provider: value}
        if stage.origin:
            merged[stage.origin] = None
        return {name: value for name, value in merged.items() if value not in MISSING}
    for member in members[1:]:
        for name, value in member.row.items():
            if merged.get(name) in MISSING and value not in MISSING:
                merged[name], origin[name] = value, member.row[PROVIDER]
    for name, rule in stage.take:
        chosen = _choose(name, rule, members)
        if chosen is not None:
            merged[name], origin[name] = chosen[name], chosen[PROVIDER]
    for name, source in stage.all:
        told = {one.row[PROVIDER]: one.row[source] for one in reversed(members) if one.row.get(source) not in MISSING}
        merged[name] = sorted(told) if source == PROVIDER else {key: told[key] for key in sorted(told)}
    if stage.origin:
        merged[stage.origin] = {
            name: provider for name, provider in sorted(origin.items()) if provider != leader[PROVIDER]
        }
    if stage.versions:
        kinds = {one.version: one.row for one in reversed(members) if one.version}
        if len(kinds) > 1:
            merged[stage.versions] = [
                {"kind": kind, **{name: row[name] for name in stage.version_fields if row.get(name) not in MISSING}}
                for kind, row in sorted(kinds.items(), key=lambda pair: [one.version for one in members].index(pair[0]))
            ]
    return {name: value for name, value in merged.items() if value not in MISSING}


def _choose(name: str, rule: str | tuple[str, ...], members: Sequence[_Record]) -> Row | None:
    """The row whose field counts; None where nobody has it."""
    having = [one.row for one in members if one.row.get(name) not in MISSING]
    if not having:
        return None
    if rule == "longest":
        return max(having, key=lambda row: len(row[name]))
    if rule == "any":
        return next((row for row in having if row[name] is True), having[0])
    ranks = {provider: at for at, provider in enumerate(rule)}
    return min(having, key=lambda row: ranks.get(row[PROVIDER], len(ranks)))


# --- What was given in earlier rounds, as short texts -----------------------------------------------------------------


MARK = 4
"""Characters of a mark, of six bits each: of all that a cursor holds, one in fifty thousand rows has one by chance."""
MOST_MARKS = 340
"""As many as a cursor has room for."""


def _to_marks(cluster: _Cluster, keys: Sequence[IdentityKey]) -> list[tuple[int, str]]:
    """The marks of all keys of a thing, each with the place of its key."""
    return [
        (at, _mark(at, value))
        for one in cluster.records
        for at, key in enumerate(keys)
        for value in _values(one.keys[at], key)
    ]


def _mark(at: int, key: Any) -> str:
    digest = hashlib.sha256(repr((at, key)).encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest[:6])[:MARK].decode()


def split_marks(text: str) -> frozenset[str]:
    """The marks of a text."""
    return frozenset(text[at : at + MARK] for at in range(0, len(text), MARK))


def join_marks(before: str, marks: Iterable[str]) -> str:
    """The text with more marks, the latest that have room in it."""
    text = before + "".join(marks)
    return text[-MOST_MARKS * MARK :]
