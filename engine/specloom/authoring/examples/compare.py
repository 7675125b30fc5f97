"""What differs between what an example says and what came of it, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from specloom.core import Fault, Place
from specloom.model import Row
from specloom.specs import Listing, Map, Node


class Wrong(Protocol):
    """Takes the key of `expect` that is not met, the sentence, and which item under that key it is about."""

    def __call__(self, key: str, sentence: str, item: int | None = None) -> None: ...


def compare_fault(fault: Fault, expect: Mapping[str, Any], wrong: Wrong) -> None:
    if fault.kind != expect["error"]:
        wrong("error", f"ended with {fault.kind}: {fault.message}; expected {expect['error']}")
        return
    if "message" in expect and fault.message != expect["message"]:
        wrong("message", f"said {fault.message!r}, not {expect['message']!r}")
    if "retry_after" in expect and fault.retry_after != expect["retry_after"]:
        wrong("retry_after", f"may be tried again after {fault.retry_after} s, not {expect['retry_after']} s")


def compare_rows(rows: list[Row], expect: Mapping[str, Any], wrong: Wrong) -> None:
    if "count" in expect and len(rows) != expect["count"]:
        wrong("count", f"gave {len(rows)} rows, not {expect['count']}")
    wanted = expect.get("rows")
    if wanted is None:
        return
    if len(rows) != len(wanted):
        wrong("rows", f"gave {len(rows)} rows, not {len(wanted)}: {short(rows)}")
    for index, (row, one) in enumerate(zip(rows, wanted, strict=False)):
        for sentence in differing_row(row, one):
            wrong("rows", f"row {index + 1} {sentence}", index)


def differing_request(sent: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What differs between a sent request and the whole request that an example states.

    Query and body are always compared whole, headers when they are stated; null says that something is not sent.
    """
    for verb in ("get", "post"):
        if verb in wanted and sent.get(verb) != wanted[verb]:
            yield f"went to {sent.get(verb) or next(iter(sent.items()))}, not {verb} {wanted[verb]}"
    for part in ("query", "headers", "form"):
        if part in wanted or (part != "headers" and sent.get(part)):
            yield from _differing_pairs(part, sent.get(part) or {}, wanted.get(part) or {})
    for part in ("json", "text"):
        if sent.get(part) != wanted.get(part) and (part in wanted or part in sent):
            yield f"sent the {part} {short(sent.get(part))}, not {short(wanted.get(part))}"


def _differing_pairs(part: str, sent: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    if part == "headers":
        sent = {name.lower(): value for name, value in sent.items() if name.lower() != "content-type"}
        wanted = {name.lower(): value for name, value in wanted.items() if name.lower() != "content-type"}
    for name in sorted({*sent, *wanted}):
        had, should = sent.get(name), as_sent(wanted.get(name))
        if name in wanted and should is None:
            if had is not None:
                yield f"sent {part} {name!r} = {short(had)}, which should not be sent"
        elif name not in wanted:
            yield f"sent {part} {name!r} = {short(had)}, which the example does not state"
        elif had != should:
            yield f"sent {part} {name!r} = {short(had)}, not {short(should)}"


def as_sent(value: Any) -> Any:
    """An expected value as it stands on the wire: everything is text, and a list of one is that one."""
    if isinstance(value, list):
        texts = [as_sent(one) for one in value]
        return texts[0] if len(texts) == 1 else texts
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def differing_row(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What differs in the fields that an example names; null says that a field is absent."""
    for name, value in wanted.items():
        if value is None and name in row:
            yield f"has {name!r} = {short(row[name])}, which should be absent"
        elif value is not None and row.get(name) != value:
            where, had, should = first_difference(row.get(name), value, name)
            is_stated = should is not None or had is None
            other = f"not {short(should)}" if is_stated else "which the example does not have"
            yield f"has {where} = {short(had)}, {other}"


def first_difference(had: Any, wanted: Any, where: str) -> tuple[str, Any, Any]:
    """Where two values first differ, as a path, with what stands there in each."""
    if isinstance(had, dict) and isinstance(wanted, dict):
        for key in (*wanted, *(key for key in had if key not in wanted)):
            if had.get(key) != wanted.get(key):
                return first_difference(had.get(key), wanted.get(key), f"{where}.{key}")
    if isinstance(had, list) and isinstance(wanted, list) and len(had) == len(wanted):
        for index, (one, other) in enumerate(zip(had, wanted, strict=True)):
            if one != other:
                return first_difference(one, other, f"{where}[{index}]")
    return where, had, wanted


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 160 else text[:159] + "…"


def place_of(node: Node, key: str, item: int | None = None) -> Place:
    """Where a key of a mapping stands, or one of the items under it; the mapping itself where there is no such key."""
    if not isinstance(node, Map) or key not in node:
        return node.place
    entry = node.entries[key]
    if item is not None and isinstance(entry.value, Listing):
        return entry.value.items[item].place
    return entry.place
