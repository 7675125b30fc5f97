"""What a declared collection allows, as its operator has set it, and the sentences of what it refuses, in any store."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from specloom.core import Fault, parse_duration, replace
from specloom.plugins import CollectionSpec, Json, WriteConflict

TOUCH_SHARE, TOUCH_SECONDS = 16, 60.0
"""A sliding lifetime is written anew once in a sixteenth of it, at most once a minute; it is longer by as much."""


def find_spec(specs: dict[str, CollectionSpec], collection: str, space: str) -> CollectionSpec:
    """The declaration of a collection that is opened in this space, or in none."""
    spec = specs.get(collection)
    if spec is None:
        raise Fault("internal", f"There is no collection {collection!r}; known: {', '.join(specs)}.")
    if (spec.scope == "shared") != bool(space):
        wanted = "the space it lies in" if spec.scope == "shared" else "no space"
        raise Fault("internal", f"The collection {collection} is {spec.scope}, so it takes {wanted}.")
    return spec


def encode(value: Json) -> bytes:
    """A value as JSON; what is none is an `internal` fault."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Fault("internal", f"What was to be kept is not JSON data: {error}.") from None
    return text.encode("utf-8", "surrogatepass")


def check_size(spec: CollectionSpec, text: bytes) -> None:
    """Refuse a value or an event that is too large."""
    if len(text) > spec.max_value:
        raise Fault(
            "validation",
            f"A record in {spec.name} may have {spec.max_value} bytes, and this one has {len(text)}: shorten it.",
        )


def check_version(version: int, expect: int | None) -> None:
    """Refuse a write that expects another version; 0 is of no item."""
    if expect is not None and expect != version:
        raise WriteConflict(f"The record is at version {version} and not {expect}: read it again before writing.")


def check_author(spec: CollectionSpec, *, is_own: bool) -> None:
    """Refuse a change of what somebody else wrote."""
    if not is_own:
        raise Fault("validation", f"The record in {spec.name} is somebody else's, and only they may change it.")


def check_stream(spec: CollectionSpec, last: int, expect: int | None) -> None:
    """Refuse an event behind another number than is expected, or behind the last that there may be."""
    if expect is not None and expect != last:
        raise WriteConflict(f"The record has {last} entries and not {expect}: read it again before writing.")
    if last >= spec.max_events:
        raise Fault("validation", f"The record holds {spec.max_events} entries, which is the most it may.")


def check_index(spec: CollectionSpec, field: str) -> None:
    """Refuse to look by a field that is not declared for it."""
    if field not in spec.indexes:
        raise Fault("internal", f"The collection {spec.name} declares no index {field!r}.")


def missing_item(spec: CollectionSpec) -> Fault:
    """There is no item whose stream could be longer."""
    return Fault("not_found", f"There is no such record in {spec.name}, or it has expired.")


def too_many_items(spec: CollectionSpec) -> Fault:
    """There is no room for one more item."""
    return Fault("validation", f"{spec.name} holds {spec.max_items} records, which is the most it may: delete some.")


def too_many_bytes(spec: CollectionSpec, used: int) -> Fault:
    """There is no room for so many more bytes."""
    return Fault(
        "validation", f"{spec.name} holds {used} of {spec.max_bytes} bytes, and this does not fit: delete some."
    )


def damaged_item(spec: CollectionSpec) -> Fault:
    """What is stored does not open."""
    return Fault(
        "internal",
        f"A record in {spec.name} does not open: it was changed outside this program, or its key is gone. Delete it "
        "and write it anew.",
        action="inform_user",
    )


def damaged_event(spec: CollectionSpec, seq: int) -> Fault:
    """What is stored on a stream does not open."""
    return Fault(
        "internal",
        f"Entry {seq} of a record in {spec.name} does not open: it was changed outside this program.",
        action="inform_user",
    )


def touch_every(spec: CollectionSpec) -> float:
    """Seconds after which a read is written down anew."""
    return min((spec.lifetime or 0.0) / TOUCH_SHARE, TOUCH_SECONDS)


def total_lifetime(spec: CollectionSpec) -> float | None:
    """Seconds that an item is there after it was written; None where it stays."""
    if spec.lifetime is None:
        return None
    return spec.lifetime + (touch_every(spec) if spec.sliding else 0.0)


# --- The bounds of a collection as an operator sets them by environment variables -------------------------------------


_PART = re.compile(r"(?<!\d)\d++(?:\.\d++)?(?:ms|s|m|h|d)")
_LONGEST = 100 * 365 * 86_400.0


def configure(spec: CollectionSpec, environ: Mapping[str, str]) -> CollectionSpec:
    """The collection with what its variables say; a ValueError says what to write instead."""
    for field, name in spec.variables:
        text = environ.get(name, "").strip()
        if text and field == "lifetime":
            spec = replace(spec, lifetime=_read_lifetime(name, text))
        elif text:
            if not text.isdecimal() or not 0 < int(text) < 1_000_000_000:
                raise ValueError(f"{name} is {text!r}; write a whole number above 0")
            spec = replace(spec, **{field: int(text)})  # type: ignore[arg-type]
    return spec


def _read_lifetime(name: str, text: str) -> float:
    """Seconds of a text such as `90m`, `1h30m` or `30d`; a bare number is seconds."""
    parts = _PART.findall(text)
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        seconds = float(text)
    elif "".join(parts) == text:
        seconds = sum(map(parse_duration, parts))
    else:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"{name} is {text!r}; write a duration such as 4h, 90m or 30d")
    return seconds
