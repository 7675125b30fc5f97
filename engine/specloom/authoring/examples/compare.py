"""An example of a spec, and what differs between what it states and what came of it, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from specloom.core import Answer, Fault, Place, Report, Request, dataclass
from specloom.model import Row
from specloom.runtime import Ask, ProviderOutcome, Quota
from specloom.specs import Listing, Map, Node, Spec, to_plain


@dataclass(frozen=True, slots=True)
class Example:
    """One example as it is written, and the report for what is wrong with it."""

    node: Map
    stated: Mapping[str, Any]
    report: Report

    @property
    def name(self) -> str:
        """The sentence that it shows."""
        return str(self.stated["name"])

    @property
    def expect(self) -> Mapping[str, Any]:
        """What must come of it."""
        expect: Mapping[str, Any] = self.stated["expect"]
        return expect

    def wrong(self, key: str, sentence: str, item: int | None = None, *, hint: str = "") -> None:
        """Report a key of `expect`, or one item under it, that is not met (E401)."""
        place = place_of(self.node.get("expect") or self.node, key, item)
        self.report.add("E401", place, f"{self.name!r}: {sentence}", hint)

    def add(self, code: str, key: str, message: str, hint: str = "") -> None:
        """Report something at a key of the example."""
        self.report.add(code, place_of(self.node, key), message, hint)


@dataclass(slots=True)
class ExampleTrace:
    """What one example did: whom it asked, what it sent, and what came out."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of a tool as they were taken."""
    asked: list[Ask] = field(default_factory=list)
    sent: list[Request] = field(default_factory=list)
    quota: Quota = Quota()
    """What the last response told a provider's client of the account."""
    answer: Answer | None = None
    """Of a provider."""
    outcome: ProviderOutcome | None = None
    """Of a tool."""
    is_failure: bool = False
    """Whether the outcome is a fault in an envelope."""
    fault: Fault | None = None


def examples_of(spec: Spec, report: Report) -> list[Example]:
    """The examples of a spec, in the order in which they are written."""
    listed = spec.root.get("examples")
    items = listed.items if isinstance(listed, Listing) else ()
    return [Example(item, to_plain(item), report) for item in items if isinstance(item, Map)]


def compare_result(example: Example, rows: list[Row], fault: Fault | None, hint: str = "") -> bool:
    """Hold rows, or the fault instead of them, against the example; whether there is an answer to look at further.

    `hint` is what to try where a fault is not the one that the example states.
    """
    expect = example.expect
    if fault is None:
        if "error" in expect:
            example.wrong("error", f"gave {len(rows)} rows instead of the fault {expect['error']}")
        _compare_rows(rows, example)
        return True
    if "error" not in expect:
        detail = f" ({fault.detail})" if fault.detail else ""
        example.wrong(next(iter(expect)), f"ended with the fault {fault.kind}: {fault.message}{detail}", hint=hint)
    elif fault.kind != expect["error"]:
        example.wrong("error", f"ended with {fault.kind}: {fault.message}; expected {expect['error']}", hint=hint)
    else:
        if "message" in expect and fault.message != expect["message"]:
            example.wrong("message", f"said {fault.message!r}, not {expect['message']!r}")
        if "retry_after" in expect and fault.retry_after != expect["retry_after"]:
            message = f"may be tried again after {fault.retry_after} s, not {expect['retry_after']} s"
            example.wrong("retry_after", message)
    return False


def _compare_rows(rows: list[Row], example: Example) -> None:
    expect = example.expect
    if "count" in expect and len(rows) != expect["count"]:
        example.wrong("count", f"gave {len(rows)} rows, not {expect['count']}")
    expected = expect.get("rows")
    if expected is None:
        return
    if len(rows) != len(expected):
        example.wrong("rows", f"gave {len(rows)} rows, not {len(expected)}: {short(rows)}")
    for index, (row, stated) in enumerate(zip(rows, expected, strict=False)):
        for sentence in differing_row(row, stated):
            example.wrong("rows", f"row {index + 1} {sentence}", index)


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
    for part in ("json", "text", "base64"):
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
